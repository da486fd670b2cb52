"""The branches of one sandbox: workers and checkpoints that are copies of one another, told apart by a mark.

A session's worker is a branch; a fork of it, and a checkpoint, are others. All processes of a branch carry its number as
their soft limit on file locks, which no kernel enforces and every child inherits. So a branch can be ended, and its memory
summed up, however its processes hide from their parents. Code that changes its own mark only fools its own family.
"""
from __future__ import annotations

import os
import resource
import signal
import socket
import struct
from dataclasses import dataclass

TAG = 10
_CREDENTIALS = struct.Struct("3i")


@dataclass
class Branch:
    """`pid` is 0 until the copy has said that it stands. `member` is the session it belongs to, by number."""

    number: int
    member: int
    door: socket.socket
    frozen: bool = False
    pid: int = 0
    watched: bool = False
    end_reason: str | None = None

    def deliver(self, message: bytes, fds: list[int]) -> bool:
        """Through the door, without waiting; False when the worker is ending or does not look."""
        try:
            socket.send_fds(self.door, [message], fds)
            return True
        except OSError:
            return False


def open_door() -> tuple[socket.socket, socket.socket]:
    """The init's end, which tells who writes, and the worker's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


def hear(door: socket.socket) -> tuple[bytes, int]:
    """A message and the process that sent it, which the kernel vouches for. No bytes: the other end is closed."""
    try:
        message, ancillary, _, _ = door.recvmsg(1024, socket.CMSG_SPACE(_CREDENTIALS.size))
    except OSError:
        return b"", 0
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            return message, _CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0]
    return message, 0


def mark(number: int) -> None:
    resource.setrlimit(TAG, (number, resource.RLIM_INFINITY))


def processes() -> list[int]:
    """Every process of the sandbox but the init."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def mark_of(pid: int) -> int:
    """-1 for a process that is gone, or carries no mark."""
    try:
        fd = os.open(f"/proc/{pid}/limits", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        soft = os.read(fd, 4096).partition(b"Max file locks")[2].split(None, 1)[0]
        return int(soft) if soft.isdigit() else -1
    except (OSError, IndexError):
        return -1
    finally:
        os.close(fd)


def parent_of(pid: int) -> int:
    """0 for a process that is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
