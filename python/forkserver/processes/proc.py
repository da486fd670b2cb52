"""What /proc says of one process."""
from __future__ import annotations

import os

_TICK = os.sysconf("SC_CLK_TCK")
_THREADS = 17

GONE = "X"
DEAD = "XZ"
HELD = "tTXZ"


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass


def state_of(pid: int) -> str:
    """The letter of the kernel. A process whose first thread has ended looks dead, and is what its other threads are."""
    fields = _stat(f"/proc/{pid}/stat")
    if not fields:
        return GONE
    state = fields[0].decode()
    return _state_of_threads(pid) if state == "Z" and int(fields[_THREADS]) > 1 else state


def _state_of_threads(pid: int) -> str:
    try:
        names = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return GONE
    states = (_stat(f"/proc/{pid}/task/{name}/stat") for name in names if int(name) != pid)
    return next((fields[0].decode() for fields in states if fields), "Z")


def cpu_seconds(pid: int) -> float:
    """Of the process and of those it has waited for."""
    return sum(map(int, _stat(f"/proc/{pid}/stat")[11:15])) / _TICK


def _stat(path: str) -> list[bytes]:
    """The fields after the name; none for a process that is gone."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        return os.read(fd, 4096).rpartition(b")")[2].split()
    except OSError:
        return []
    finally:
        os.close(fd)
