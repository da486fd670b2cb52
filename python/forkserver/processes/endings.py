"""The end of branches: every process of a branch is killed, and its exit is reported when none is left.

Nothing here waits. A process that was killed may take long to end, because the kernel has to take down its memory first, so
the exit is reported after a short while all the same. What is left then is still killed, however it forks.
"""
from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass, field
from typing import Callable

from .branches import Branch
from .jobs import Jobs
from .proc import has_own_namespace, kill, processes
from .process_barrier import no_new_processes
from .programs import Programs
from .queries import Queries

_REPORT_AFTER_S = 0.25
_ROUNDS_BEFORE_BARRIER = 3
# Between two rounds, where no child ends meanwhile: before the report, and after it.
_SOON_MS, _LATER_MS = 10.0, 100.0


@dataclass
class _Ending:
    branch: Branch
    report: Callable[[], None]
    since: float
    is_reported: bool = False
    rounds: int = 0
    seen: set[int] = field(default_factory=set)


class Endings:
    """`branches` are those that live now, by number. The init calls `proceed` in each round of its loop, in which it must wait
    no longer than `until_due_ms`."""

    def __init__(self, max_processes: int, branches: dict[int, Branch], jobs: Jobs, programs: Programs,
                 queries: Queries) -> None:
        self._max_processes = max_processes
        self._branches = branches
        self._jobs = jobs
        self._programs = programs
        self._queries = queries
        self._endings: list[_Ending] = []

    def kill(self, branch: Branch) -> None:
        """Kills every process of a branch. Some may escape by forking, until `add` is called."""
        if not self._kill_at_once(branch):
            for pid in self._processes_of(branch):
                kill(pid)

    def add(self, branch: Branch, report: Callable[[], None]) -> None:
        """The worker of the branch has been reaped. `report` is called when its other processes are gone, or soon."""
        self._endings.append(_Ending(branch, report, time.monotonic()))

    def proceed(self) -> None:
        for ending in list(self._endings):
            own = self._processes_of(ending.branch)
            if own:
                self._kill_again(ending, own)
            else:
                self._endings.remove(ending)
            if not ending.is_reported and (not own or time.monotonic() - ending.since > _REPORT_AFTER_S):
                ending.is_reported = True
                ending.report()

    def until_due_ms(self) -> float | None:
        """None if nothing is ending."""
        if not self._endings:
            return None
        return _LATER_MS if all(ending.is_reported for ending in self._endings) else _SOON_MS

    def _kill_again(self, ending: _Ending, own: set[int]) -> None:
        is_forking = ending.rounds >= _ROUNDS_BEFORE_BARRIER and not own <= ending.seen
        ending.rounds += 1
        ending.seen |= own
        with no_new_processes(self._max_processes) if is_forking else contextlib.nullcontext():
            self.kill(ending.branch)

    def _kill_at_once(self, branch: Branch) -> bool:
        """One system call that none of the processes can evade, where all belong to the branch. It also ends queries, which
        then count as yes; that has no effect on a branch that is ending."""
        if not (has_own_namespace() and self._is_alone(branch)) or self._programs or self._jobs:
            return False
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return True

    def _is_alone(self, branch: Branch) -> bool:
        return not any(other is not branch for other in self._branches.values())

    def _processes_of(self, branch: Branch) -> set[int]:
        """The last branch owns all processes that are not jobs or programs, regardless of their marks."""
        is_alone = self._is_alone(branch)
        return {pid for pid in processes()
                if pid not in self._jobs and pid not in self._queries and self._belongs_to(pid, branch, is_alone)}

    def _belongs_to(self, pid: int, branch: Branch, is_alone: bool) -> bool:
        if is_alone and not self._programs:
            return True
        number = self._programs.owner(pid)
        return number == branch.number or (is_alone and self._programs.get(number) is None)
