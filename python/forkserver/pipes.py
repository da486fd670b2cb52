"""The pipes between the host and a worker, a job or a program.

The host opens its ends through /proc. Where it has another /proc, as that of a container, each of its ends has a name in a folder that both
see, until the host has opened it: the number of the descriptor.
"""
from __future__ import annotations

import fcntl
import os
from typing import Iterable

from .descriptors import close_all

_F_SETPIPE_SZ = 1031
_PAGE = 4096
# commands, aside, events, stdout, stderr: (pages, True if the worker reads it). Small, because all pipes of one user share
# 64 MiB by default. The worker enlarges its output pipe when it prints much.
OF_A_WORKER = ((4, True), (2, True), (8, False), (16, False), (4, False))
OF_ITS_OUTPUT = OF_A_WORKER[3:]
_NEW = "new"

# Set once, before the first pipe is made. None: the host opens its ends through /proc.
folder: str | None = None


def make(kinds: tuple) -> tuple[list[int], list[int]]:
    """Pipes as (the host's ends, the worker's ends)."""
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for pages, worker_reads in kinds:
            read, write = os.pipe() if folder is None else _make_named(folder)
            ours.append(write if worker_reads else read)
            if folder is not None:
                os.rename(f"{folder}/{_NEW}", f"{folder}/{ours[-1]}")
            theirs.append(read if worker_reads else write)
            os.fchmod(read, 0o666)  # a session with another user reopens its streams as /dev/stdout
            try:
                fcntl.fcntl(write, _F_SETPIPE_SZ, pages * _PAGE)
            except OSError:
                pass  # the user's share is used up: the pipe stays small, and works
    except OSError:
        close_all(theirs)
        close(ours)
        raise
    return ours, theirs


def close(ours: Iterable[int]) -> None:
    """The host has opened its ends, or will not."""
    for fd in ours:
        if folder is not None:
            try:
                os.unlink(f"{folder}/{fd}")
            except OSError:
                pass
        close_all([fd])


def _make_named(where: str) -> tuple[int, int]:
    path = f"{where}/{_NEW}"
    os.mkfifo(path)
    os.chmod(path, 0o666)  # the host may have another user; the folder is closed to all others
    read = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    write = os.open(path, os.O_WRONLY | os.O_CLOEXEC)  # does not wait: there is a reader
    os.set_blocking(read, True)
    return read, write
