"""A barrier against new processes: while it is up, nothing in the sandbox can fork.

A process that forks and exits faster than processes can be listed is always gone when a signal arrives. RLIMIT_NPROC counts
the threads of a user, and the init is not limited by it: while the init has that many threads, no other process gets one.
"""
from __future__ import annotations

import contextlib
import threading
from typing import Iterator

_MAX_THREADS = 2048


@contextlib.contextmanager
def no_new_processes(limit: int) -> Iterator[None]:
    """`limit` is the process limit of the user. If not all threads can be started, the barrier has gaps."""
    end = threading.Event()
    threads = []
    size = threading.stack_size(65536)
    try:
        for _ in range(min(limit, _MAX_THREADS)):
            thread = threading.Thread(target=end.wait)
            thread.start()
            threads.append(thread)
    except RuntimeError:
        pass
    try:
        yield
    finally:
        threading.stack_size(size)
        end.set()
        for thread in threads:
            thread.join()
