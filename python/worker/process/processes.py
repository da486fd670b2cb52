"""Processes that user code started: finds those that still live, and kills those that an interrupted execution left.

The kernel numbers every new process and thread. If the last number has not changed, there is nothing to look at. In a
sandbox every process with this worker's mark belongs to the session; elsewhere only descendants of the worker do. Without a
process namespace, a sandbox is the descendants of its init.
"""

import itertools
import os
import signal
import time
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from ..branch.mark import mark_of
from ..io.descriptors import move
from .process_barrier import ProcessBarrier

KILL_SECONDS = 0.5
# After this many rounds, processes that keep appearing are assumed to fork and exit all the time.
ROUNDS_BEFORE_BARRIER = 3
# This many empty rounds are enough, even if unrelated processes of the sandbox came and went meanwhile.
EMPTY_ROUNDS = 5
# A placeholder pid for children that cannot be listed, for example because no descriptor is left. It must never be
# signalled: kill(-1) reaches every process of the sandbox.
UNLISTED = -1


class Process(NamedTuple):
    pid: int
    parent: int
    started: int
    is_dead: bool


class Processes:
    """``alone``: every process in this sandbox except its init, the worker's parent, belongs to the session."""

    def __init__(self, alone: bool) -> None:
        self._alone = alone
        self._counter = _open_counter()
        self.renew()

    def renew(self) -> None:
        """Also for a copy of the process, which does not own the processes of the original."""
        self._me = os.getpid()
        self._mark = mark_of(self._me)
        self._known: Set[Tuple[int, int]] = set()
        self._last = self._count()

    def changed(self) -> bool:
        """Whether a process or thread was made since the last call, or survivors are known."""
        last = self._count()
        if last == self._last and not self._known and last is not None:
            return False
        self._last = last
        return True

    def survivors(self) -> bool:
        """Whether processes of the session live. They are not killed when a later execution is interrupted."""
        self._known = {(process.pid, process.started) for process in self._list()}
        return bool(self._known)

    def kill_new(self) -> None:
        """Kills every process that was started since ``survivors`` was last called, with its descendants.

        Processes that cannot be killed are left after KILL_SECONDS. If new ones keep appearing, this continues until the
        host kills the worker and all of them.
        """
        deadline = time.monotonic() + KILL_SECONDS
        seen: Set[int] = set()
        empty_rounds = 0
        with ProcessBarrier() as barrier:
            for round_number in itertools.count():
                new, is_sure = self._new()
                living = [process.pid for process in new if not process.is_dead and process.pid != UNLISTED]
                fresh = {process.pid for process in new} - seen
                empty_rounds = 0 if living or fresh else empty_rounds + 1
                if (empty_rounds and is_sure) or empty_rounds == EMPTY_ROUNDS:
                    return
                if fresh:
                    deadline = time.monotonic() + KILL_SECONDS
                    seen |= fresh
                    if round_number >= ROUNDS_BEFORE_BARRIER and self._alone:
                        barrier.fill()
                elif time.monotonic() > deadline:
                    return
                for pid in living:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except OSError:
                        pass
                time.sleep(0.001)

    def _count(self) -> Optional[bytes]:
        """The last number given to a process or thread; None if it cannot be read."""
        if self._counter is None:
            return None
        try:
            return os.pread(self._counter, 128, 0).rpartition(b" ")[2]
        except OSError:
            return None

    def _new(self) -> Tuple[List[Process], bool]:
        """The new processes, and whether the list is certain: no listed process was gone when it was looked at.

        It includes zombies, because a process that forks and exits all the time is seen only by the zombies it leaves.
        """
        is_sure = True
        processes: Dict[int, Process] = {}
        for pid, process in self._all():
            if process is None:
                is_sure = False
            else:
                processes[pid] = process
        return [process for process in processes.values() if not self._is_old(process, processes)], is_sure

    def _is_old(self, process: Optional[Process], processes: Dict[int, Process]) -> bool:
        """Whether the process or an ancestor of it was known before."""
        while process is not None:
            if (process.pid, process.started) in self._known:
                return True
            process = processes.get(process.parent)
        return False

    def _list(self) -> List[Process]:
        return [process for _, process in self._all() if process is not None and not process.is_dead]

    def _all(self) -> Iterator[Tuple[int, Optional[Process]]]:
        """The processes of this worker by pid, including zombies; None for any process that is gone by now."""
        try:
            pids = self._pids()
        except OSError:
            if _has_children():
                yield UNLISTED, Process(UNLISTED, self._me, 0, False)
            return
        for pid in pids:
            if pid in (1, self._me):
                continue
            process = _read(pid)
            mark = mark_of(pid)
            if mark == self._mark or not mark:
                yield pid, process if mark else None

    def _pids(self) -> Iterable[int]:
        if not self._alone:
            return _descendants(self._me)
        init = os.getppid()
        return map(int, filter(str.isdigit, os.listdir("/proc"))) if init == 1 else _descendants(init)


def _open_counter() -> Optional[int]:
    """A descriptor of the kernel's last pid: the short file if it exists, else /proc/loadavg."""
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
    pending = [pid]
    while pending:
        parent = pending.pop()
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children") as file:
                    children = [int(child) for child in file.read().split()]
                found += children
                pending += children
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
    """Whether there is any child, alive or a zombie. Works without /proc; Python before 3.13 cannot tell on macOS, so there may be."""
    if not hasattr(os, "waitid"):
        return True
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    except OSError:
        return False
