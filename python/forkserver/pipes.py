"""The pipes between the host and a worker, a job or a program."""
from __future__ import annotations

import fcntl
import os

from .descriptors import close_all

_F_SETPIPE_SZ = 1031
_PAGE = 4096
# commands, aside, events, stdout, stderr: (pages, True if the worker reads it). Small, because all pipes of one user share
# 64 MiB by default. The worker enlarges its output pipe when it prints much.
OF_A_WORKER = ((4, True), (2, True), (8, False), (16, False), (4, False))
OF_ITS_OUTPUT = OF_A_WORKER[3:]


def make(kinds: tuple) -> tuple[list[int], list[int]]:
    """Pipes as (the host's ends, the worker's ends)."""
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for pages, worker_reads in kinds:
            read, write = os.pipe()
            ours.append(write if worker_reads else read)
            theirs.append(read if worker_reads else write)
            os.fchmod(read, 0o666)  # a session with another user reopens its streams as /dev/stdout
            try:
                fcntl.fcntl(write, _F_SETPIPE_SZ, pages * _PAGE)
            except OSError:
                pass  # the user's share is used up: the pipe stays small, and works
    except OSError:
        close_all(ours + theirs)
        raise
    return ours, theirs
