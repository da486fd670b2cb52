"""The program inside the sandbox: runs a session's code and talks to the host (docs/protocol.md).

Loaded under the name ``_rlm_worker``, so that user code may have a module called ``worker`` of its own. Standard
library only. ``worker.prepare()`` is called once before forking, ``worker.run()`` in the process of the session.
"""
