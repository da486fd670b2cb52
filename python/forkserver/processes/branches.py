"""The branches of one sandbox: workers and checkpoints that are copies of one another.

A session's worker is a branch; each fork of it and each checkpoint is another. Its processes carry its number as their mark
(proc.py).
"""
from __future__ import annotations

import os
import socket
import struct
from dataclasses import dataclass

_CREDENTIALS = struct.Struct("3i")


@dataclass
class Branch:
    """`pid` is 0 until the copy has reported that it is ready. `member` is the number of the session it belongs to."""

    number: int
    member: int
    control: socket.socket
    # Both ends of the control socket, as /proc names them.
    links: frozenset[str] = frozenset()
    frozen: bool = False
    pid: int = 0
    watched: bool = False
    end_reason: str | None = None

    def deliver(self, message: bytes, fds: list[int]) -> bool:
        """Sends without blocking; False if the worker is ending or does not read."""
        try:
            socket.send_fds(self.control, [message], fds)
            return True
        except OSError:
            return False

    def receive(self) -> tuple[bytes, int]:
        """A message and the pid of its sender, which the kernel attaches. Empty if the other end is closed."""
        try:
            message, ancillary, _, _ = self.control.recvmsg(1024, socket.CMSG_SPACE(_CREDENTIALS.size))
        except OSError:
            return b"", 0
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                return message, _CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0]
        return message, 0


def open_control_socket() -> tuple[socket.socket, socket.socket, frozenset[str]]:
    """The init's end, which receives the sender's credentials, the worker's end, and how /proc names both."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs, frozenset(f"socket:[{os.fstat(end.fileno()).st_ino}]" for end in (ours, theirs))
