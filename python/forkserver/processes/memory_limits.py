"""How much memory the processes of a sandbox hold, counted by whose they are, and what happens when it is too much.

A worker with what it started, the programs of its session and what is nobody's share one allowance; the checkpoints of a session
share another. What takes long to count is counted in a process of its own.
"""
from __future__ import annotations

import os
import time
from typing import Callable, NamedTuple

from ..sandbox import limits as limits_module, namespaces as walls
from .branches import Branch, end, mark, processes
from .jobs import Jobs
from .memory import proportional_bytes, resident_bytes
from .programs import Program, Programs

_WATCH_BACKOFF_S = 0.5
_CHECKPOINTS_BACKOFF_S = 2.0
_ASIDE_LIMIT_S = 20.0
_NO = 0
_LITTLE = 1024 * 1024


class Allowances:
    """`branches` are those that live now, by number; `kill` ends one of them for a reason."""

    def __init__(self, limits: limits_module.Limits, branches: dict[int, Branch], jobs: Jobs, programs: Programs,
                 kill: Callable[[Branch, str], None], tell: Callable[[dict], None]) -> None:
        self._limits = limits
        self._branches = branches
        self._jobs = jobs
        self._programs = programs
        self._kill = kill
        self._tell = tell
        self._next_sums: dict[tuple[int, bool], float] = {}
        self._asides: dict[int, Aside] = {}
        # The processes that were looked at last, and what they held.
        self._seen: dict[int, int] = {}
        # Whether they are the same as before, and held no more.
        self.is_calm = False

    def look(self) -> None:
        """Ends a branch that holds too much, and the oldest checkpoint of a session whose checkpoints do together."""
        groups, strays = self._groups()
        seen = {pid: resident_bytes(pid) for pids in (strays, *(group.pids for group in groups)) for pid in pids}
        self.is_calm = seen.keys() == self._seen.keys() and sum(seen.values()) <= sum(self._seen.values()) + _LITTLE
        self._seen = seen
        commanded = {group.number: group for group in groups if isinstance(group.first, Program)}
        self._programs.sample({number: group.pids for number, group in commanded.items()})
        for group in groups:
            if isinstance(group.first, Program):
                continue  # looked at with the worker of its session
            beside = [] if group.first.frozen else [other for other in commanded.values() if other.member == group.member]
            besides = [pid for other in beside for pid in other.pids]
            pids = group.pids if group.first.frozen else group.pids + besides + strays
            if sum(seen[pid] for pid in pids) <= self._limits.memory_bytes:
                continue
            # Pages that several processes share count in part. That is slow to know, the more so the more they share,
            # so it is not asked again for a while; and for checkpoints, which share nearly everything, not here.
            now = time.monotonic()
            if now < self._next_sums.get(group.key, 0.0):
                continue
            self._next_sums = {key: due for key, due in self._next_sums.items() if due > now}
            self._next_sums[group.key] = now + (_CHECKPOINTS_BACKOFF_S if group.first.frozen else _WATCH_BACKOFF_S)
            if group.first.frozen:
                self._suspect(group)
            elif self._hold_too_much(group.pids):
                self._kill(group.first, "memory")
            elif beside and self._hold_too_much(group.pids + besides):
                most = max(beside, key=lambda other: sum(map(proportional_bytes, other.pids)))
                self._programs.kill(most.number, "memory")
            elif self._hold_too_much(pids):
                for pid in strays:
                    end(pid)

    def _suspect(self, group: Group) -> None:
        def give_up() -> None:
            branch = self._branches.get(group.first.number)
            if branch is not None:
                self._kill(branch, "memory")

        self._ask_aside(group.key, lambda: self._hold_too_much(group.pids), give_up)

    def _hold_too_much(self, pids: list[int]) -> bool:
        return sum(map(proportional_bytes, pids)) > self._limits.memory_bytes

    def _ask_aside(self, about: object, question: Callable[[], object], on_yes: Callable[[], None]) -> None:
        """Finds an answer in a process of its own. Where code of the session keeps it from answering, that is a yes."""
        now = time.monotonic()
        for pid, aside in self._asides.items():
            if now - aside.since > _ASIDE_LIMIT_S:
                end(pid)
        if any(aside.about == about for aside in self._asides.values()):
            return
        pid = os.fork()
        if pid == 0:
            code = _NO
            try:
                mark(0)
                code = 1 if question() else _NO
            finally:
                os._exit(code)
        self._asides[pid] = Aside(about, now, on_yes)

    def _groups(self) -> tuple[list[Group], list[int]]:
        """Processes that share one allowance: each worker with what it started, and the checkpoints of each session.

        And those whose mark no branch has. They are nobody's, and the first to go where they are too much for a worker.
        """
        if len(self._branches) == 1 and not self._programs:
            (branch,) = self._branches.values()
            ours = [pid for pid in processes() if pid not in self._jobs and pid not in self._asides]
            return [Group((branch.number, False), branch, ours)], []  # whatever marks they carry
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
            elif pid not in self._jobs and pid not in self._asides:
                strays.append(pid)
        return list(groups.values()), strays

    def measure(self, id: int) -> None:
        """Tells what each session takes."""
        tell = lambda: self._tell_usage(id)
        if len(self._branches) == 1 and not self._programs:
            tell()
        else:
            self._ask_aside(("usage", id), tell, tell)

    def reaped(self, pid: int, code: int) -> None:
        aside = self._asides.pop(pid, None)
        if aside is not None and code != _NO:
            aside.on_yes()

    def _tell_usage(self, id: int) -> None:
        """What each session holds, its checkpoints included, and what all files take. What is nobody's is the first's."""
        groups, strays = self._groups()
        sums: dict[int, int] = {}
        for group in groups:
            pids, strays = group.pids + strays, []
            sums[group.member] = sums.get(group.member, 0) + sum(map(proportional_bytes, pids))
        store = os.statvfs(walls.WORK)
        disk = (store.f_blocks - store.f_bfree) * store.f_frsize
        self._tell({"event": "usage", "id": id, "memory": sums, "disk": disk})


class Aside(NamedTuple):
    """A process that finds an answer."""

    about: object
    since: float
    on_yes: Callable[[], None]


class Group(NamedTuple):
    """Processes that are counted together. `first` is the branch or the program they belong to, or the oldest of several."""

    key: tuple[int, bool]
    first: Branch | Program
    pids: list[int]

    @property
    def number(self) -> int:
        return self.first.number

    @property
    def member(self) -> int:
        return self.first.member
