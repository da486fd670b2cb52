"""Enforces the memory limit of a sandbox by summing up the memory of its processes.

A worker with its descendants, the programs of its session and stray processes share one limit; the checkpoints of a session
share another. The init itself only adds up what each process has resident, which the kernel has counted already. Shared pages
count once for each process there. If that is too much, a query (queries.py) counts them in proportion.
"""
from __future__ import annotations

import time
from typing import Callable, List, NamedTuple, Tuple

from ..sandbox.limits import Limits
from .branches import Branch
from .jobs import Jobs
from .memory import held_bytes, proportional_sum, resident_bytes
from .proc import kill, processes
from .programs import Program, Programs
from .queries import Queries

_WATCH_BACKOFF_S = 0.5
_CHECKPOINTS_BACKOFF_S = 2.0
_CALM_GROWTH_BYTES = 1024 * 1024


class MemoryLimits:
    """`branches` are those that live now, by number. `kill_branch` takes a reason; `send` sends an event to the fork server."""

    def __init__(self, limits: Limits, branches: dict[int, Branch], jobs: Jobs, programs: Programs,
                 queries: Queries, kill_branch: Callable[[Branch, str], None], send: Callable[[dict], None],
                 disk_bytes_used: Callable[[], int]) -> None:
        self._limits = limits
        self._branches = branches
        self._jobs = jobs
        self._programs = programs
        self._kill_branch = kill_branch
        self._send = send
        self._disk_bytes_used = disk_bytes_used
        self._queries = queries
        # When the exact sum of a group may be computed again.
        self._next_sums: dict[tuple[int, bool], float] = {}
        # Requests for the usage that the query under way does not answer.
        self._unmeasured: list[int] = []
        # The processes at the last check, and the memory they held.
        self._seen: dict[int, int] = {}
        # Whether the last check found the same processes as the one before, with no more memory.
        self.is_calm = False

    def check(self) -> None:
        """Kills a branch that is over its limit, and the oldest checkpoint of a session whose checkpoints are over theirs."""
        groups, strays = self.groups()
        seen = {pid: resident_bytes(pid) for pids in (strays, *(group.pids for group in groups)) for pid in pids}
        self.is_calm = seen.keys() == self._seen.keys() and sum(seen.values()) <= sum(self._seen.values()) + _CALM_GROWTH_BYTES
        self._seen = seen
        program_groups = {group.number: group for group in groups if isinstance(group.first, Program)}
        self._programs.sample({number: group.pids for number, group in program_groups.items()})
        for group in groups:
            if isinstance(group.first, Program):
                continue  # counted with the worker of its session
            if group.first.frozen:
                self._check_group(group, [], [])
            else:
                programs = [pid for other in program_groups.values() if other.member == group.member for pid in other.pids]
                self._check_group(group, programs, strays)

    def _check_group(self, group: Group, programs: list[int], strays: list[int]) -> None:
        """Asks for exact sums, in this order: the group alone, with the programs of its session, with stray processes."""
        if time.monotonic() < self._next_sums.get(group.key, 0.0):
            return

        def kill_branch() -> None:
            if self._branches.get(group.number) is group.first:
                self._kill_branch(group.first, "memory")

        steps: list[Step] = [(group.pids, kill_branch)]
        if programs:
            steps.append((group.pids + programs, lambda: self._kill_largest_program(group.member)))
        if strays:
            steps.append((group.pids + programs + strays, self._kill_strays))
        self._ask(group.key, [step for step in steps if self._may_exceed(step[0])])

    def _may_exceed(self, pids: list[int]) -> bool:
        return sum(self._seen[pid] for pid in pids) > self._limits.memory_bytes

    def _ask(self, key: tuple[int, bool], steps: list[Step]) -> None:
        """Takes the steps one after the other, until one is answered with yes."""
        if not steps:
            return
        (pids, on_yes), *rest = steps
        started = time.monotonic()

        def go_on() -> None:
            if rest:
                self._ask(key, rest)
            else:  # never count more than half of the time
                now = time.monotonic()
                pause = _CHECKPOINTS_BACKOFF_S if key[1] else _WATCH_BACKOFF_S
                self._next_sums = {other: due for other, due in self._next_sums.items() if due > now}
                self._next_sums[key] = now + max(pause, now - started)

        self._queries.ask(key, lambda: self._are_over_limit(pids), on_yes, go_on)

    def _kill_largest_program(self, member: int) -> None:
        programs = [group for group in self.groups()[0] if isinstance(group.first, Program) and group.member == member]
        if programs:
            largest = max(programs, key=lambda group: held_bytes(group.pids))
            self._programs.kill(largest.number, "memory")

    def _kill_strays(self) -> None:
        for pid in self.groups()[1]:
            kill(pid)

    def _are_over_limit(self, pids: list[int]) -> bool:
        return proportional_sum(pids, self._limits.memory_bytes) > self._limits.memory_bytes

    def groups(self) -> tuple[list[Group], list[int]]:
        """The groups of processes that are counted together, and stray processes, whose mark no branch or program has.

        Strays count against every worker and are killed if they exceed its limit together with it.
        """
        if len(self._branches) == 1 and not self._programs:
            (branch,) = self._branches.values()
            pids = [pid for pid in processes() if pid not in self._jobs and pid not in self._queries]
            return [Group((branch.number, False), branch, pids)], []  # regardless of their marks
        groups: dict[tuple[int, bool], Group] = {}
        by_number: dict[int, Group] = {}
        for branch in self._branches.values():
            key = (branch.member, True) if branch.frozen else (branch.number, False)
            by_number[branch.number] = groups.setdefault(key, Group(key, branch, []))
        strays: list[int] = []
        for pid in processes():
            number = self._programs.owner(pid)
            group = by_number.get(number)
            program = self._programs.get(number) if group is None else None
            if program is not None:
                key = (number, False)
                group = by_number[number] = groups[key] = Group(key, program, [])
            if group is not None:
                group.pids.append(pid)
            elif pid not in self._jobs and pid not in self._queries:
                strays.append(pid)
        return list(groups.values()), strays

    def measure(self, id: int) -> None:
        """Sends the usage of each session."""
        self._unmeasured.append(id)
        self._measure_next()

    def _measure_next(self) -> None:
        ids = self._unmeasured
        if ids and self._queries.ask("usage", lambda: self._send_usage(ids, proportional_sum),
                                     lambda: self._estimate(ids), self._measure_next):
            self._unmeasured = []

    def _estimate(self, ids: list[int]) -> None:
        """Exact sums took too long, or code prevented them."""
        self._send_usage(ids, held_bytes)
        self._measure_next()

    def _send_usage(self, ids: list[int], count: Callable[[list[int]], int]) -> None:
        """The memory of each session, including its checkpoints, and the size of all files. Strays count for the first."""
        groups, strays = self.groups()
        sums: dict[int, int] = {}
        for group in groups:
            pids, strays = group.pids + strays, []
            sums[group.member] = sums.get(group.member, 0) + count(pids)
        disk = self._disk_bytes_used()
        for id in ids:
            self._send({"event": "usage", "id": id, "memory": sums, "disk": disk})


# Processes to count, and what to do if they hold too much.
Step = Tuple[List[int], Callable[[], None]]


class Group(NamedTuple):
    """Processes that are counted together. `first` is the branch or program they belong to, or the oldest of several."""

    key: tuple[int, bool]
    first: Branch | Program
    pids: list[int]

    @property
    def number(self) -> int:
        return self.first.number

    @property
    def member(self) -> int:
        return self.first.member
