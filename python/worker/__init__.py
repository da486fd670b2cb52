"""The program inside the sandbox: runs a session's code and talks to the host (docs/protocol.md).

Loaded under the name ``_rlm_worker``, so that user code may have a module called ``worker``. Standard library only.
``worker.prepare()`` is called once before forking, ``worker.run()`` in the process of each session. A sandbox cannot
read these files, so everything is imported before the fork; import_hooks.py keeps the code of modules that run later.
"""
