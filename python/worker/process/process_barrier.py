"""A barrier against new processes: threads that use up the process limit, so that nothing in the session can fork.

A process that forks and exits faster than processes can be listed is always gone when a signal arrives. RLIMIT_NPROC counts
threads as well: while the limit is reached, such a process cannot fork and can be killed.
"""

import _thread
import resource
import time
from types import TracebackType
from typing import List, Optional, Type

from ..io.threads import start_raw

MAX_THREADS = 2048
STACK_BYTES = 65536


class ProcessBarrier:
    """Holds no threads until ``fill``. All threads have ended when the context is left."""

    def __init__(self) -> None:
        self._gate = _thread.allocate_lock()
        self._gate.acquire()
        self._started = 0
        self._ended: List[None] = []

    def fill(self) -> None:
        """Starts threads until the limit is reached. Call it again for what other processes free later."""
        limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        most = min(limit, MAX_THREADS) if limit >= 0 else MAX_THREADS
        size = _thread.stack_size(STACK_BYTES)
        try:
            while self._started < most:
                start_raw(self._wait, ())
                self._started += 1
        except (RuntimeError, MemoryError):
            pass  # the limit is reached
        finally:
            _thread.stack_size(size)

    def _wait(self) -> None:
        with self._gate:
            self._ended.append(None)

    def __enter__(self) -> "ProcessBarrier":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self._gate.release()
        while len(self._ended) < self._started:
            time.sleep(0.0005)
