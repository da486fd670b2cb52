"""What the broker reports to an init on a socket of its own: first that it has mapped a user, if the init wants one, then the
memory cgroup."""
from __future__ import annotations

import errno
import os
import socket

from . import checks

DONE = b"\n"
_GONE = "the broker is gone"


def wait_for_user(report: int) -> None:
    """Raises OSError if the broker could not map a user."""
    message, _ = _receive(report)
    if message != DONE:
        raise OSError(errno.EPERM, message.decode() or _GONE)


def join_cgroup(report: int) -> int | None:
    """Waits for it, and enters it if this process was not born there. Returns a descriptor for `cgroups.oom_kills`. None: there are no
    cgroups. Raises OSError if the broker could not make one."""
    message, fds = _receive(report)
    if message != DONE:
        raise OSError(errno.EPERM, message.decode() or _GONE)
    for entrance in fds[1:]:
        os.write(entrance, b"0")  # which is the writing process
        os.close(entrance)
        checks.check_cgroup()
    return fds[0] if fds else None


def _receive(report: int) -> tuple[bytes, list[int]]:
    with socket.socket(fileno=os.dup(report)) as peer:
        message, fds, _, _ = socket.recv_fds(peer, 4096, 2)
        return message, fds
