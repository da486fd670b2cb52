"""Processes that user code started: which still live, and the end of those an interrupted execution left.

Counting is left to the kernel: it numbers every new process and thread, so an unchanged last number means that there is
nothing to look at. Inside a sandbox every process with this worker's mark is the session's; outside of one only
descendants of the worker are.
"""

import itertools
import os
import signal
import time
from typing import Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from ..branch.branching import mark_of
from .process_barrier import Crowd
from ..io.descriptors import move

KILL_SECONDS = 0.5
# After so many looks, processes that keep appearing are held to be of a kind that forks and ends all the time.
TURNS = 3
# So many looks that find nothing are enough, although others of the sandbox come and go meanwhile.
QUIET_LOOKS = 5
# Stands for children that cannot be listed, as where code has used up its descriptors. A signal to this number would reach
# every process of the sandbox: tasks, checkpoints, and what earlier executions left.
UNSEEN = -1


class Process(NamedTuple):
    pid: int
    parent: int
    started: int
    is_dead: bool


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
        """Ends every process that was not there after the execution before, with all that they started. Those that cannot be
        ended are left after a while; where others keep appearing, this goes on until the host ends the worker and all of them."""
        deadline = time.monotonic() + KILL_SECONDS
        seen: Set[int] = set()
        quiet = 0
        with Crowd() as crowd:
            for turn in itertools.count():
                new, is_sure = self._new()
                living = [process.pid for process in new if not process.is_dead and process.pid != UNSEEN]
                fresh = {process.pid for process in new} - seen
                quiet = 0 if living or fresh else quiet + 1
                if (quiet and is_sure) or quiet == QUIET_LOOKS:
                    return
                if fresh:
                    deadline = time.monotonic() + KILL_SECONDS
                    seen |= fresh
                    if turn >= TURNS and self._alone:
                        crowd.fill()
                elif time.monotonic() > deadline:
                    return
                for pid in living:
                    try:
                        os.kill(pid, signal.SIGKILL)
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

    def _new(self) -> Tuple[List[Process], bool]:
        """Those that were not there before, and the dead of them that nobody has reaped: a process that forks and ends is not to
        be seen where it was, and leaves them behind. And whether none was listed that had gone when it was looked at."""
        is_sure = True
        processes: Dict[int, Process] = {}
        for pid, process in self._all():
            if process is None:
                is_sure = False
            else:
                processes[pid] = process
        return [process for process in processes.values() if not self._is_old(process, processes)], is_sure

    def _is_old(self, process: Optional[Process], processes: Dict[int, Process]) -> bool:
        """Whether it, or a process above it, was there before."""
        while process is not None:
            if (process.pid, process.started) in self._known:
                return True
            process = processes.get(process.parent)
        return False

    def _list(self) -> List[Process]:
        return [process for _, process in self._all() if process is not None and not process.is_dead]

    def _all(self) -> Iterator[Tuple[int, Optional[Process]]]:
        """Those of this worker by number, the dead included; None for what is gone, whoever's it was."""
        try:
            pids = map(int, filter(str.isdigit, os.listdir("/proc"))) if self._alone else _descendants(self._me)
        except OSError:
            if _has_children():
                yield UNSEEN, Process(UNSEEN, self._me, 0, False)
            return
        for pid in pids:
            if pid in (1, self._me):
                continue
            process = _read(pid)
            mark = mark_of(pid)
            if mark == self._mark or not mark:
                yield pid, process if mark else None


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
    """None for a process that is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return Process(pid, int(fields[1]), int(fields[19]), fields[0] in (b"Z", b"X"))


def _has_children() -> bool:
    """Without /proc: whether there is any child, living or not yet waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    except OSError:
        return False
