"""Yes-or-no questions about a sandbox that take long, each answered in a forked process of the init.

Code of the session decides how long the kernel needs to count what it holds, and can kill or stop a process of its own user.
So every question has a deadline, and one that is not answered counts as yes: a session must not gain by hiding. A session must not
lose by a busy machine either: the deadline is put off while the process waits for a processor that other programs have.
The init asks, goes on, and learns the answer when the process is reaped or its time is up, whichever comes first.
"""
from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import Callable

from .. import descriptors
from .proc import DEAD, cpu_seconds, kill, processes, set_mark, state_of

# The kernel needs about 40 ms to count a GiB of small pages in one process. So this is enough for 2 GiB that 64 processes share,
# or for a quarter of that on a busy machine. Nothing else limits what a session without a cgroup can take meanwhile.
TIMEOUT_S = 5.0
# A process that has used less of a processor by then, and waits for one, gets more time, until all processes of the sandbox together
# have used this much more: what code can take meanwhile depends on the processor time that it gets. Code can hide some of that.
_CPU_S, _MOST_S = 1.0, 60.0
_EXTENSION_S = 0.25
_WAITING = "RD"
_RETRY_MS = 50.0
_YES, _NO = 1, 0


@dataclass
class _Query:
    question: Callable[[], object]
    on_yes: Callable[[], None]
    on_no: Callable[[], None]
    started: float
    deadline: float
    # What the processes of the sandbox may have used of the processors until its time is up, once its deadline was put off.
    most_cpu_s: float | None = None
    # 0 until it can be forked.
    pid: int = 0
    # Its time was up. It is kept until it is reaped, so that there are never two with one key.
    is_late: bool = False


class Queries:
    """The questions of one init, at most one per key: `pid in queries`. `keep` are the descriptors that questions use; their
    processes have no others. Code cannot look into them, because they are not dumpable, as the init is not.

    The init calls `reaped` for each child, and `check_deadlines` in each round of its loop, in which it must wait no longer
    than `until_deadline_ms`.
    """

    def __init__(self, keep: set[int]) -> None:
        self._keep = keep
        self._by_key: dict[object, _Query] = {}

    def __contains__(self, pid: int) -> bool:
        return any(query.pid == pid for query in self._by_key.values())

    def ask(self, key: object, question: Callable[[], object], on_yes: Callable[[], None],
            on_no: Callable[[], None] = lambda: None) -> bool:
        """Whether it was asked; not if another question with this key is open. `question` runs in a forked process. It may take
        long, and it may raise, which counts as yes. `on_yes` and `on_no` run in the init; the sandbox may have changed by
        then."""
        if key in self._by_key:
            return False
        now = time.monotonic()
        query = self._by_key[key] = _Query(question, on_yes, on_no, now, now + TIMEOUT_S)
        self._start(query)
        return True

    def reaped(self, pid: int, code: int) -> bool:
        """Whether this child was one of the processes that answer questions."""
        for key, query in self._by_key.items():
            if query.pid == pid:
                del self._by_key[key]
                if not query.is_late:
                    query.on_no() if code == _NO else query.on_yes()
                return True
        return False

    def check_deadlines(self) -> None:
        """Answers yes for questions whose time is up. One that could not be forked is tried again until then."""
        now = time.monotonic()
        for key, query in list(self._by_key.items()):
            if query.is_late:
                continue
            if now < query.deadline:
                if query.pid == 0:
                    self._start(query)
                continue
            if query.pid and _may_still_answer(query, now):
                query.deadline = now + _EXTENSION_S
                continue
            query.is_late = True
            if query.pid:
                kill(query.pid)  # the kernel may still be counting for a while
            else:
                del self._by_key[key]
            query.on_yes()

    def until_deadline_ms(self) -> float | None:
        """None if no question is open."""
        open_ones = [query for query in self._by_key.values() if not query.is_late]
        if not open_ones:
            return None
        if any(query.pid == 0 for query in open_ones):
            return _RETRY_MS
        return max(0.0, min(query.deadline for query in open_ones) - time.monotonic()) * 1000

    def _start(self, query: _Query) -> None:
        try:
            pid = os.fork()
        except OSError:
            return
        if pid == 0:
            code = _YES
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                descriptors.close_all_but({2, *self._keep})
                set_mark(0)  # of no branch
                code = _YES if query.question() else _NO
            finally:
                os._exit(code)
        query.pid = pid


def _may_still_answer(query: _Query, now: float) -> bool:
    """Whether it has answered and is not reaped yet, or waits for a processor for which its own sandbox does not compete much."""
    state = state_of(query.pid)
    if state in DEAD:
        return True
    if state not in _WAITING or now > query.started + _MOST_S:
        return False
    used = _cpu_of_sandbox()
    if query.most_cpu_s is None:
        query.most_cpu_s = used + _CPU_S
        return cpu_seconds(query.pid) < _CPU_S
    return used < query.most_cpu_s


def _cpu_of_sandbox() -> float:
    """Processor time of its processes, and of those that were reaped."""
    return sum(os.times()[:4]) + sum(map(cpu_seconds, processes()))
