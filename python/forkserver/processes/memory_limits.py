"""Enforces the memory limit of a sandbox by summing up the memory of its processes.

A worker with its descendants, the programs of its session and stray processes share one limit; the checkpoints of a session
share another. Sums that take long are computed in a forked process.
"""
from __future__ import annotations

import os
import time
from typing import Callable, NamedTuple

from ..sandbox import namespaces
from ..sandbox.limits import Limits
from .branches import Branch
from .jobs import Jobs
from .memory import proportional_bytes, resident_bytes
from .proc import kill, processes
from .programs import Program, Programs
from .queries import Queries

_WATCH_BACKOFF_S = 0.5
_CHECKPOINTS_BACKOFF_S = 2.0
_CALM_GROWTH_BYTES = 1024 * 1024


class MemoryLimits:
    """`branches` are those that live now, by number. `kill_branch` takes a reason; `send` sends an event to the fork server."""

    def __init__(self, limits: Limits, branches: dict[int, Branch], jobs: Jobs, programs: Programs,
                 queries: Queries, kill_branch: Callable[[Branch, str], None], send: Callable[[dict], None]) -> None:
        self._limits = limits
        self._branches = branches
        self._jobs = jobs
        self._programs = programs
        self._kill_branch = kill_branch
        self._send = send
        self._next_sums: dict[tuple[int, bool], float] = {}
        self._queries = queries
        # The processes at the last check, and the memory they held.
        self._seen: dict[int, int] = {}
        # Whether the last check found the same processes as the one before, with no more memory.
        self.is_calm = False

    def check(self) -> None:
        """Kills a branch that is over its limit, and the oldest checkpoint of a session whose checkpoints are over theirs."""
        groups, strays = self._groups()
        seen = {pid: resident_bytes(pid) for pids in (strays, *(group.pids for group in groups)) for pid in pids}
        self.is_calm = seen.keys() == self._seen.keys() and sum(seen.values()) <= sum(self._seen.values()) + _CALM_GROWTH_BYTES
        self._seen = seen
        program_groups = {group.number: group for group in groups if isinstance(group.first, Program)}
        self._programs.sample({number: group.pids for number, group in program_groups.items()})
        for group in groups:
            if isinstance(group.first, Program):
                continue  # counted with the worker of its session
            programs = [] if group.first.frozen else [
                other for other in program_groups.values() if other.member == group.member]
            program_pids = [pid for other in programs for pid in other.pids]
            pids = group.pids if group.first.frozen else group.pids + program_pids + strays
            if sum(seen[pid] for pid in pids) <= self._limits.memory_bytes:
                continue
            # The exact sum counts shared pages in proportion. It is slow, the more so the more is shared, so it is computed
            # at most once per backoff, and for checkpoints, which share nearly everything, in a forked process.
            now = time.monotonic()
            if now < self._next_sums.get(group.key, 0.0):
                continue
            self._next_sums = {key: due for key, due in self._next_sums.items() if due > now}
            self._next_sums[group.key] = now + (_CHECKPOINTS_BACKOFF_S if group.first.frozen else _WATCH_BACKOFF_S)
            if group.first.frozen:
                self._check_checkpoints(group)
            elif self._are_over_limit(group.pids):
                self._kill_branch(group.first, "memory")
            elif programs and self._are_over_limit(group.pids + program_pids):
                largest = max(programs, key=lambda other: sum(map(proportional_bytes, other.pids)))
                self._programs.kill(largest.number, "memory")
            elif self._are_over_limit(pids):
                for pid in strays:
                    kill(pid)

    def _check_checkpoints(self, group: Group) -> None:
        def kill_oldest() -> None:
            branch = self._branches.get(group.first.number)
            if branch is not None:
                self._kill_branch(branch, "memory")

        self._queries.ask(group.key, lambda: self._are_over_limit(group.pids), kill_oldest)

    def _are_over_limit(self, pids: list[int]) -> bool:
        return sum(map(proportional_bytes, pids)) > self._limits.memory_bytes

    def _groups(self) -> tuple[list[Group], list[int]]:
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
        send = lambda: self._send_usage(id)
        if len(self._branches) == 1 and not self._programs:
            send()
        else:
            self._queries.ask(("usage", id), send, send)

    def _send_usage(self, id: int) -> None:
        """The memory of each session, including its checkpoints, and the size of all files. Strays count for the first."""
        groups, strays = self._groups()
        sums: dict[int, int] = {}
        for group in groups:
            pids, strays = group.pids + strays, []
            sums[group.member] = sums.get(group.member, 0) + sum(map(proportional_bytes, pids))
        store = os.statvfs(namespaces.WORK)
        disk = (store.f_blocks - store.f_bfree) * store.f_frsize
        self._send({"event": "usage", "id": id, "memory": sums, "disk": disk})


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
