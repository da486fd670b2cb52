"""Modules that the fork server imports for all sandboxes."""
from __future__ import annotations

import importlib
import os
import sys

preloaded: list[str] = []


def preload(modules: list[str]) -> None:
    """Imports modules once, so that every fork has them. A module that is absent or broken is skipped.

    What a module prints goes to stderr: events go to stdout.
    """
    events = os.dup(1)
    os.dup2(2, 1)
    for name in modules:
        try:
            importlib.import_module(name)
            preloaded.append(name)
        except BaseException:  # a broken package may raise anything
            continue
    sys.stdout.flush()
    os.dup2(events, 1)
    os.close(events)
    _remove_leftovers()


def _remove_leftovers() -> None:
    """matplotlib creates a temporary folder if it has no writable one, and removes it at interpreter exit, which never
    happens here."""
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is None:
        return
    import shutil
    import tempfile

    for folder in {matplotlib.get_configdir(), matplotlib.get_cachedir()}:
        if folder.startswith(os.path.join(tempfile.gettempdir(), "matplotlib-")):
            shutil.rmtree(folder, ignore_errors=True)
