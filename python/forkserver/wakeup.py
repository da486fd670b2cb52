"""A descriptor that becomes readable when a child process ends, for poll loops."""
from __future__ import annotations

import _signal
import os


def open_wake() -> int:
    """Takes over SIGCHLD for the life of the process.

    The interpreter's signal handler writes to the other end, at any time. Should that fail, ours writes again, while the process
    waits in poll.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    _write(write_end)  # the kernel keeps the page for later writes, which then need no memory
    empty(read_end)
    _signal.signal(_signal.SIGCHLD, lambda *_: _write(write_end))
    _signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    return read_end


def empty(fd: int) -> None:
    try:
        while os.read(fd, 4096):
            pass
    except BlockingIOError:
        pass


def _write(fd: int) -> None:
    try:
        os.write(fd, b"\0")
    except OSError:
        pass  # it is full, so it can be read
