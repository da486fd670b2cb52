"""The memory that the machine has left, and the memory that a process holds.

A sandbox is watched closely while the host says that code runs in it. The host knows that only from the worker, which may
lie. Between times the available memory of the machine is checked instead: it costs the same for any number of sandboxes.
"""
from __future__ import annotations

import os

from .proc import read_proc

NOTABLE_BYTES = 96 * 1024 * 1024
CHECK_INTERVAL_S = 1.0
CHECKS_AFTER_DROP = 5


class Machine:
    def __init__(self) -> None:
        self._file = os.open("/proc/meminfo", os.O_RDONLY | os.O_CLOEXEC)
        self._highest = self._available()
        self._checks_left = 0

    def has_less(self) -> bool:
        """Whether available memory dropped notably, in this check or in one of the last few: it may still be dropping."""
        available = self._available()
        if available <= self._highest - NOTABLE_BYTES:
            self._highest = available
            self._checks_left = CHECKS_AFTER_DROP
        self._highest = max(self._highest, available)
        self._checks_left -= 1
        return self._checks_left >= 0

    def _available(self) -> int:
        for line in os.pread(self._file, 4096, 0).splitlines():
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) * 1024
        return 0


_PAGE = os.sysconf("SC_PAGESIZE")


def resident_bytes(pid: int) -> int:
    return sum(private_and_shared_bytes(pid))


def private_and_shared_bytes(pid: int) -> tuple[int, int]:
    """Resident memory: private, and possibly shared with other processes."""
    resident, shared = _resident_and_shared(f"/proc/{pid}")
    if resident == 0:
        resident, shared = _resident_and_shared(living_thread(pid))
    return (resident - shared) * _PAGE, shared * _PAGE


def held_bytes(pids: list[int]) -> int:
    """An estimate for processes that share memory, which is computed quickly."""
    sizes = [private_and_shared_bytes(pid) for pid in pids]
    return sum(private for private, _ in sizes) + max((shared for _, shared in sizes), default=0)


def proportional_sum(pids: list[int], enough: int | None = None) -> int:
    """Shared pages count in proportion. The kernel looks at every page of every process, so this can take minutes; it stops
    once the sum is more than `enough`."""
    total = 0
    for pid in pids:
        total += _proportional_bytes(pid)
        if enough is not None and total > enough:
            break
    return total


def _proportional_bytes(pid: int) -> int:
    held = _proportional(f"/proc/{pid}")
    if not held:
        held = _proportional(living_thread(pid))
    return resident_bytes(pid) if held is None else held


def living_thread(pid: int) -> str:
    """The /proc folder of another thread, for a process whose first thread has exited and so shows no memory."""
    try:
        return max(os.scandir(f"/proc/{pid}/task"), key=lambda thread: int(thread.name)).path
    except (OSError, ValueError):
        return f"/proc/{pid}"  # it is gone


def _resident_and_shared(folder: str) -> tuple[int, int]:
    """In pages; zeros for a process that is gone."""
    fields = read_proc(f"{folder}/statm").split()
    return (int(fields[1]), int(fields[2])) if len(fields) > 2 else (0, 0)


def _proportional(folder: str) -> int | None:
    """None if it cannot be read."""
    try:
        with open(f"{folder}/smaps_rollup", "rb") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss:")), 0)
    except OSError:
        return None
