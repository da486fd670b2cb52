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
    try:
        fd = os.open(f"/proc/{pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0, 0
    try:
        _, resident, shared, *_ = os.read(fd, 256).split()
        return (int(resident) - int(shared)) * _PAGE, int(shared) * _PAGE
    except (OSError, ValueError):
        return 0, 0
    finally:
        os.close(fd)


def proportional_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return resident_bytes(pid)
    return 0
