"""Modules for the sessions of a recursive run, served as ``rlm_session``, ``rlm_answers`` and so on (import_hooks.py)."""
