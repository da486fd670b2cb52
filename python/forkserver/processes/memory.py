"""How much memory the machine has left, and how much of it a process holds.

What is left is cheap to ask, and the same for any number of sandboxes.

A sandbox is watched closely while the host says that code runs there, and the host knows that from the worker alone, which
may lie. What a liar takes is missing from the machine, so that is what is looked at between times.
"""
from __future__ import annotations

import os

NOTABLE_BYTES = 96 * 1024 * 1024
LOOK_INTERVAL_S = 1.0
LOOKS = 5


class Machine:
    def __init__(self) -> None:
        self._file = os.open("/proc/meminfo", os.O_RDONLY | os.O_CLOEXEC)
        self._highest = self._available()
        self._looks_left = 0

    def has_less(self) -> bool:
        """Whether a notable amount has gone lately. Whoever took it may not be done: true for some looks after that."""
        available = self._available()
        if available <= self._highest - NOTABLE_BYTES:
            self._highest = available
            self._looks_left = LOOKS
        self._highest = max(self._highest, available)
        self._looks_left -= 1
        return self._looks_left >= 0

    def _available(self) -> int:
        for line in os.pread(self._file, 4096, 0).splitlines():
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) * 1024
        return 0


_PAGE = os.sysconf("SC_PAGESIZE")


def resident_bytes(pid: int) -> int:
    return sum(private_and_shared_bytes(pid))


def private_and_shared_bytes(pid: int) -> tuple[int, int]:
    """What is resident: its own, and what it may share with others."""
    resident, shared = _resident_and_shared(f"/proc/{pid}")
    if resident == 0:
        resident, shared = _resident_and_shared(_living_thread(pid))
    return (resident - shared) * _PAGE, shared * _PAGE


def proportional_bytes(pid: int) -> int:
    held = _proportional(f"/proc/{pid}")
    if not held:
        held = _proportional(_living_thread(pid))
    return resident_bytes(pid) if held is None else held


def _living_thread(pid: int) -> str:
    """Where to ask about a process whose first thread has ended, which shows nothing of what the others hold."""
    try:
        return max(os.scandir(f"/proc/{pid}/task"), key=lambda thread: int(thread.name)).path
    except (OSError, ValueError):
        return f"/proc/{pid}"  # it is gone


def _resident_and_shared(folder: str) -> tuple[int, int]:
    """In pages. Nothing for what is gone."""
    try:
        fd = os.open(f"{folder}/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0, 0
    try:
        _, resident, shared, *_ = map(int, os.read(fd, 256).split())
        return resident, shared
    except (OSError, ValueError):
        return 0, 0
    finally:
        os.close(fd)


def _proportional(folder: str) -> int | None:
    """None: it cannot be asked."""
    try:
        with open(f"{folder}/smaps_rollup", "rb") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss:")), 0)
    except OSError:
        return None
