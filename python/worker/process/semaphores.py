"""Locks of ``multiprocessing`` where the sandbox has no /dev/shm, in which the C library keeps semaphores.

A counter of the kernel without a name (eventfd) serves as well: processes share it over a fork. Other ways to start processes would
need its name.
"""

import errno
import os
import select
import threading
import time
from types import ModuleType
from typing import Any, Optional

_RECURSIVE_MUTEX = 0
_ONE = (1).to_bytes(8, "little")
_NOT_FORKED = "in this sandbox locks of multiprocessing work with the start method 'fork' only: multiprocessing.get_context('fork')"


def replace_semaphores(module: ModuleType) -> None:
    """Makes ``_multiprocessing.SemLock`` fall back to a counter. Before Python 3.10, which cannot make one, it stays."""
    original = module.SemLock
    if not hasattr(os, "eventfd"):
        return

    class SemLock:
        SEM_VALUE_MAX = original.SEM_VALUE_MAX
        _rebuild = original._rebuild

        def __new__(cls, kind: int, value: int, maxvalue: int, name: str, unlink: bool) -> Any:
            try:
                return original(kind, value, maxvalue, name, unlink)
            except PermissionError:
                if not unlink:
                    raise OSError(errno.EACCES, _NOT_FORKED) from None
            return _Counter(kind, value, maxvalue)

    module.SemLock = SemLock  # type: ignore[attr-defined]


class _Counter:
    """The same interface. `_held` is how often this process has acquired it and not released."""

    name = None

    def __init__(self, kind: int, value: int, maxvalue: int) -> None:
        self.kind = kind
        self.maxvalue = maxvalue
        self.handle = os.eventfd(value, os.EFD_SEMAPHORE | os.EFD_NONBLOCK | os.EFD_CLOEXEC)  # type: ignore[attr-defined]
        self._held = 0
        self._owner = 0

    def __del__(self) -> None:
        os.close(self.handle)

    def acquire(self, block: bool = True, timeout: Optional[float] = None) -> bool:
        if self.kind == _RECURSIVE_MUTEX and self._is_mine():
            self._held += 1
            return True
        deadline = None if timeout is None else time.monotonic() + max(0.0, timeout)
        while not self._take():
            left = None if deadline is None else deadline - time.monotonic()
            if not block or (left is not None and left <= 0):
                return False
            waiting = select.poll()
            waiting.register(self.handle, select.POLLIN)
            waiting.poll(None if left is None else left * 1000)
        self._held += 1
        self._owner = threading.get_ident()
        return True

    def release(self) -> None:
        if self.kind == _RECURSIVE_MUTEX:
            if not self._is_mine():
                raise AssertionError("attempt to release recursive lock not owned by thread")
            if self._held > 1:
                self._held -= 1
                return
        elif self._get_value() >= self.maxvalue:
            raise ValueError("semaphore or lock released too many times")
        self._held -= 1
        os.write(self.handle, _ONE)

    def _take(self) -> bool:
        try:
            return len(os.read(self.handle, 8)) == 8
        except BlockingIOError:
            return False

    def _count(self) -> int:
        return self._held

    def _is_mine(self) -> bool:
        return self._held > 0 and self._owner == threading.get_ident()

    def _get_value(self) -> int:
        with open(f"/proc/self/fdinfo/{self.handle}") as info:
            return next(int(line.split()[1], 16) for line in info if line.startswith("eventfd-count:"))

    def _is_zero(self) -> bool:
        return self._get_value() == 0

    def _after_fork(self) -> None:
        self._held = 0

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_error: Any) -> None:
        self.release()
