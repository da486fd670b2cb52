"""The clock of the processor, the end of the process, and sleep, which Emscripten does not have or only pretends to have."""

import os
import time
from types import SimpleNamespace
from typing import Any, Tuple

from .devices import DEVICES

_monotonic = time.monotonic


def getrusage(_who: int) -> Any:
    """As ``resource.getrusage`` on Linux, as far as the worker uses it."""
    if _who != 0:
        return SimpleNamespace(ru_maxrss=0, ru_utime=0.0, ru_stime=0.0)
    peak, cpu = DEVICES.usage()
    return SimpleNamespace(ru_maxrss=peak // 1024, ru_utime=cpu / 1e6, ru_stime=0.0)


def getrlimit(_what: int) -> Tuple[int, int]:
    """No limit of its own: the memory of WebAssembly ends at that of the session, with a ``MemoryError``."""
    return -1, -1


def process_time_ns() -> int:
    return DEVICES.usage()[1] * 1000


def process_time() -> float:
    return DEVICES.usage()[1] / 1e6


def sleep(seconds: float, /) -> None:
    """Waits without using the processor. An interrupt ends it."""
    seconds = float(seconds)
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    end = _monotonic() + seconds
    while (left := end - _monotonic()) > 0:
        DEVICES.wait(left)


def _exit(status: int) -> None:
    """Ends the process at once, with this exit code."""
    DEVICES.exit(status)


def install() -> None:
    time.sleep, time.process_time, time.process_time_ns = sleep, process_time, process_time_ns
    os._exit = _exit  # type: ignore[assignment]
