"""What a sandbox without namespaces may read if it has the user of root, as the owner of a mounted folder or of the host.

It has no capability, but root's rights to whatever Landlock allows. So files in the folders of the system that not every user may read
are left out: Landlock only allows, so what is beside them is allowed one by one. Names in these folders can be listed.
"""
from __future__ import annotations

import errno
import os
from dataclasses import replace
from typing import Iterator

from ..sandbox import limits
from ..sandbox.as_root import Private
from .plan import Plan

_MOST_PRIVATE = 4096
_MOST_RULES = 20_000


def find_private(plan: Plan) -> Private:
    """In the files and folders of the system."""
    found = [(path, list(_private_in(os.fsencode(path)))) for path in _tops(plan.system)]
    if sum(len(paths) for _, paths in found) > _MOST_PRIVATE:
        raise OSError(errno.E2BIG, "too many files that only root may read")
    return found


def hide(plan: Plan, private: Private) -> Plan:
    allowed: list[bytes] = []
    listed: list[bytes] = []
    for top, hidden in private:
        _allow(os.fsencode(top), hidden, allowed, listed)
    if len(allowed) > _MOST_RULES:
        raise OSError(errno.E2BIG, "too many files beside those that only root may read")
    return replace(plan, system=tuple(map(os.fsdecode, allowed)), listed=tuple(map(os.fsdecode, listed)))


def limit_processes(_most: int) -> bool:
    return limits.holds_processes()


def _tops(paths: tuple[str, ...]) -> list[str]:
    """Without links, and without those that are in another."""
    found: list[str] = []
    for path in sorted({os.path.realpath(path) for path in paths}):
        if not any(path.startswith(top + "/") for top in found):
            found.append(path)
    return found


def _private_in(top: bytes) -> Iterator[bytes]:
    """Paths relative to it, as in `as_root.Private`. By mode, because this process may be unable to become another user."""
    if not _is_public(os.stat(top)):
        yield b""
        return
    folders = [top] if os.path.isdir(top) else []
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        continue
                    if not _is_public(entry.stat(follow_symlinks=False)):
                        yield entry.path[len(top) + 1:]
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except FileNotFoundError:
            continue  # it has been removed


def _is_public(status: os.stat_result) -> bool:
    needed = 0o5 if status.st_mode & 0o170000 == 0o040000 else 0o4
    return status.st_mode & needed == needed


def _allow(folder: bytes, hidden: list[bytes], allowed: list[bytes], listed: list[bytes]) -> None:
    """Adds a file or folder without what is hidden in it, by paths relative to it."""
    if b"" in hidden:
        return
    if not hidden:
        allowed.append(folder)
        return
    listed.append(folder)
    inner: dict[bytes, list[bytes]] = {}
    for path in hidden:
        name, _, rest = path.partition(b"/")
        inner.setdefault(name, []).append(rest)
    for name in os.listdir(folder):
        path = folder + b"/" + name
        if not os.path.islink(path):  # what it leads to has a rule of its own, or none
            _allow(path, inner.get(name, []), allowed, listed)
