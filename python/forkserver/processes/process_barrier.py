"""A moment in which nothing in the sandbox can start a process.

Processes that fork and end faster than they can be listed are always elsewhere when a signal comes. The number of processes
that a user may have counts threads, and the init is not bound by it: while it has that many threads, nobody else gets another.
"""
from __future__ import annotations

import contextlib
import threading
from typing import Iterator

_MAX_THREADS = 2048


@contextlib.contextmanager
def no_new_processes(limit: int) -> Iterator[None]:
    """`limit` is how many processes the user may have. Where there is no room for so many threads, the moment is not perfect."""
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
