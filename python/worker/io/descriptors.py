"""Private descriptors, with numbers above those that user code gets and closed in every program it starts; pipe sizes."""

import fcntl
import os
import sys
import termios
from typing import Iterable, Tuple

PRIVATE = 64
F_SETPIPE_SZ = 1031
F_GETPIPE_SZ = 1032
LARGE_PIPE = 1024 * 1024


def duplicate(fd: int) -> int:
    """The same file under a private number."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, PRIVATE)


def move(fd: int) -> int:
    """Like duplicate, but closes the old number. A descriptor that already has a private number keeps it."""
    if fd >= PRIVATE:
        os.set_inheritable(fd, False)
        return fd
    moved = duplicate(fd)
    os.close(fd)
    return moved


def open_private_pipe() -> Tuple[int, int]:
    """A non-blocking pipe: its read end and its write end."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    return move(reader), move(writer)


def renew_private_pipe(fds: Tuple[int, int]) -> None:
    """For a copy of the process: puts a new pipe under the same numbers."""
    for new, old in zip(open_private_pipe(), fds):
        os.dup2(new, old, False)
        os.close(new)


def pipe_size(fd: int) -> int:
    """The capacity of a pipe; -1 if it is not one."""
    try:
        return fcntl.fcntl(fd, F_GETPIPE_SZ)
    except OSError:
        return -1


def resize_pipe(fd: int, size: int) -> int:
    """The new capacity; -1 if the pipe holds more than that, or the user's share of pipe memory is used up."""
    try:
        return fcntl.fcntl(fd, F_SETPIPE_SZ, size)
    except OSError:
        return -1


def unread(fd: int) -> int:
    """How many bytes a pipe contains; 0 if it is not one."""
    count = bytearray(4)
    try:
        fcntl.ioctl(fd, termios.FIONREAD, count)
    except OSError:
        return 0
    return int.from_bytes(count, sys.byteorder)


def close_all(fds: Iterable[int]) -> None:
    for fd in fds:
        try:
            os.close(fd)
        except OSError:
            pass
