"""What a sandbox needs in addition if it has the ids of root, as the owner of a mounted folder (owned_mounts.py).

It has no capability, but root's rights to whatever it can see. So nothing is shown that not every user may read, and /proc is read-only:
many files there can be written by root without any capability. The kernel does not hold root to RLIMIT_NPROC, so the size of the
process namespace is the limit (Linux 6.14), or the init counts.
"""
from __future__ import annotations

import errno
import json
import os
import time
from dataclasses import replace
from typing import Callable, Iterator, List, Tuple

from .namespaces import Plan
from .trees import Mount

# By folder or file: paths relative to it. An empty path is the whole.
Private = List[Tuple[str, List[bytes]]]

PROC = "/proc"
# What the kernel lets root list of the init, which others cannot look into.
_OF_THE_INIT = (b"1/fd", b"1/task")
# The init and what it starts, beside the processes of code.
_RESERVE = 16
# The kernel gives out these process numbers only once.
_FIRST = 300
_MOST_PRIVATE = 4096
_MOST_BYTES = 32_768
_KNOWN_FOR_S = 600.0


class Known:
    """What the init of another sandbox has found, which takes up to seconds. For the fork server."""

    def __init__(self) -> None:
        self._private: Private | None = None
        self._until = 0.0

    def get(self) -> Private | None:
        return self._private if time.monotonic() < self._until else None

    def keep(self, found: list) -> None:
        self._private = [(folder, [path.encode("latin-1") for path in paths]) for folder, paths in found]
        self._until = time.monotonic() + _KNOWN_FOR_S


def send_private(private: Private, send: Callable[[dict], None]) -> None:
    """For `Known.keep`, unless it is too long for a message."""
    found = [(folder, [path.decode("latin-1") for path in paths]) for folder, paths in private]
    if len(json.dumps(found)) <= _MOST_BYTES:
        send({"event": "private", "found": found})


def find_private(plan: Plan) -> Private:
    """What not every user may read in the folders that every sandbox sees, and in /proc. The caller must still be a user that owns
    nothing, and may have capabilities."""
    folders = [mount.path for mount in plan.mounts if not mount.exact and not mount.path.startswith("/dev/")]
    found = [(folder, list(_unreadable(os.fsencode(folder)))) for folder in (*folders, PROC)]
    if sum(len(paths) for _, paths in found) > _MOST_PRIVATE:
        raise OSError(errno.E2BIG, "too many files that only root may read")
    return found


def hide(plan: Plan, private: Private) -> Plan:
    hidden = dict(private)
    mounts = [_without(mount, hidden.get(mount.path, [])) for mount in plan.mounts if b"" not in hidden.get(mount.path, [])]
    return replace(plan, mounts=tuple(mounts), hidden_in_proc=(*hidden[PROC], *_OF_THE_INIT))


def _without(mount: Mount, hidden: list[bytes]) -> Mount:
    return replace(mount, hidden=tuple(hidden)) if not mount.exact else mount


def limit_processes(most: int) -> bool:
    """Limits the processes and threads of the calling process's namespace, of which it is the first. Whether the kernel does that.

    The caller must not be root yet: before Linux 6.14 this setting is the machine's, and only root can write it.
    """
    try:
        for name, value in (("ns_last_pid", _FIRST), ("pid_max", _FIRST + most + _RESERVE)):
            with open(f"/proc/sys/kernel/{name}", "r+b", buffering=0) as setting:
                setting.write(b"%d" % value)
                setting.seek(0)
                if int(setting.read()) != value:
                    return False
    except OSError:
        return False
    return True


def _unreadable(root: bytes) -> Iterator[bytes]:
    """`os.access` asks for the user without its capabilities."""
    if not os.path.isdir(root):
        if not os.access(root, os.R_OK):
            yield b""
        return
    folders = [root]
    while folders:
        folder = folders.pop()
        if not os.access(folder, os.R_OK | os.X_OK):
            yield folder[len(root) + 1:]
            continue
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_symlink() or (folder == b"/proc" and entry.name.isdigit()):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif not os.access(entry.path, os.R_OK):
                        yield entry.path[len(root) + 1:]
        except FileNotFoundError:
            continue  # it has been removed
