"""Threads that take up the room for processes, so that nothing of the session can start one for a moment.

Processes that fork and end faster than they can be listed are always elsewhere when a signal comes. The limit on processes
counts threads as well: while there is no room left, whoever would fork stays where it is.
"""

import _thread
import resource
import time
from types import TracebackType
from typing import List, Optional, Type

from ..io.threads import start_raw

MOST = 2048
STACK_BYTES = 65536


class Crowd:
    """Empty at first. Its threads are gone when it is left."""

    def __init__(self) -> None:
        self._gate = _thread.allocate_lock()
        self._gate.acquire()
        self._started = 0
        self._ended: List[None] = []

    def fill(self) -> None:
        """Takes the room that there is now. What others leave later is taken the next time."""
        limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        most = min(limit, MOST) if limit >= 0 else MOST
        size = _thread.stack_size(STACK_BYTES)
        try:
            while self._started < most:
                start_raw(self._wait, ())
                self._started += 1
        except (RuntimeError, MemoryError):
            pass  # it is full
        finally:
            _thread.stack_size(size)

    def _wait(self) -> None:
        with self._gate:
            self._ended.append(None)

    def __enter__(self) -> "Crowd":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self._gate.release()
        while len(self._ended) < self._started:
            time.sleep(0.0005)
