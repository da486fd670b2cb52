"""Modules for the sessions of a recursive run, served as ``rlm_session``, ``rlm_context`` and ``rlm_texts`` (import_hooks.py)."""
