"""Processes that user code started: which still live, and the end of those an interrupted execution left.

Counting is left to the kernel: it numbers every new process and thread, so an unchanged last number means that there is
nothing to look at. Inside a sandbox every process with this worker's mark is the session's; outside of one only
descendants of the worker are.
"""

import os
import signal
import time
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from .branching import mark_of
from .descriptors import move

KILL_SECONDS = 0.5


class Process(NamedTuple):
    pid: int
    parent: int
    started: int


class Processes:
    """``alone``: this worker's pid namespace holds nothing but its session."""

    def __init__(self, alone: bool) -> None:
        self._alone = alone
        self._counter = _open_counter()
        self.renew()

    def renew(self) -> None:
        """Also for a copy of the process: the processes that the original started are not the copy's."""
        self._me = os.getpid()
        self._mark = mark_of(self._me)
        self._known: Set[Tuple[int, int]] = set()
        self._last = self._count()

    def changed(self) -> bool:
        """Whether there is anything to look at: a process or thread was made since the last time, or some live on."""
        last = self._count()
        if last == self._last and not self._known and last is not None:
            return False
        self._last = last
        return True

    def survivors(self) -> bool:
        """Whether processes of the session live; they are not a later execution's."""
        self._known = {(process.pid, process.started) for process in self._list()}
        return bool(self._known)

    def kill_new(self) -> None:
        """Ends every process that was not there after the execution before, with all that they started."""
        deadline = time.monotonic() + KILL_SECONDS
        while True:
            new = self._new()
            if not new or time.monotonic() > deadline:
                return
            for process in new:
                try:
                    os.kill(process.pid, signal.SIGKILL)
                except OSError:
                    pass
            time.sleep(0.001)

    def _count(self) -> Optional[bytes]:
        """The last number given to a process or thread; None where the system does not tell."""
        if self._counter is None:
            return None
        try:
            return os.pread(self._counter, 128, 0).rpartition(b" ")[2]
        except OSError:
            return None

    def _new(self) -> List[Process]:
        processes = {process.pid: process for process in self._list()}
        return [process for process in processes.values() if not self._is_old(process, processes)]

    def _is_old(self, process: Optional[Process], processes: Dict[int, Process]) -> bool:
        """Whether it, or a process above it, was there before."""
        while process is not None:
            if (process.pid, process.started) in self._known:
                return True
            process = processes.get(process.parent)
        return False

    def _list(self) -> List[Process]:
        try:
            pids = map(int, filter(str.isdigit, os.listdir("/proc"))) if self._alone else _descendants(self._me)
            found = [_read(pid) for pid in pids if pid not in (1, self._me) and self._is_mine(pid)]
        except OSError:
            return [Process(-1, self._me, 0)] if _has_children() else []
        return [process for process in found if process is not None]

    def _is_mine(self, pid: int) -> bool:
        """Whether it carries this worker's mark, as every descendant does; other branches and processes of ours do not."""
        return mark_of(pid) == self._mark


def _open_counter() -> Optional[int]:
    """A descriptor to read the kernel's count from: the short file where there is one, else the one all have."""
    for path in ("/proc/sys/kernel/ns_last_pid", "/proc/loadavg"):
        try:
            fd = move(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            os.pread(fd, 128, 0)
            return fd
        except OSError:
            continue
    return None


def _descendants(pid: int) -> List[int]:
    found: List[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children") as file:
                    children = [int(child) for child in file.read().split()]
                found += children
                waiting += children
        except OSError:
            if parent == pid:
                raise
    return found


def _read(pid: int) -> Optional[Process]:
    """None for a process that is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if fields[0] in (b"Z", b"X"):
        return None
    return Process(pid, int(fields[1]), int(fields[19]))


def _has_children() -> bool:
    """Without /proc: whether there is any child, living or not yet waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    except OSError:
        return False
