"""Private descriptors: numbered away from those that user code gets, and closed in every program it starts."""

import fcntl
import os
from typing import Iterable, Tuple

PRIVATE = 64


def duplicate(fd: int) -> int:
    """The same file under a private number."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, PRIVATE)


def move(fd: int) -> int:
    """Like duplicate, but closes the old number; a descriptor that is private by number stays."""
    if fd >= PRIVATE:
        os.set_inheritable(fd, False)
        return fd
    moved = duplicate(fd)
    os.close(fd)
    return moved


def open_private_pipe() -> Tuple[int, int]:
    """A pipe that never blocks: its read end and its write end."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    return move(reader), move(writer)


def close_all(fds: Iterable[int]) -> None:
    for fd in fds:
        try:
            os.close(fd)
        except OSError:
            pass
