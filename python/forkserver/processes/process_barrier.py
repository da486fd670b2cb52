"""A barrier against new processes: while it is up, nothing in the sandbox can fork.

A process that forks and exits faster than processes can be listed is always gone when a signal arrives. RLIMIT_NPROC counts
the threads of a user, and the init is not limited by it: while the init has that many threads, no other process gets one.
Where the init is asked about each new process, there are none while it does not answer.
"""
from __future__ import annotations

import _thread
import contextlib
import time
from typing import Iterator

_MAX_THREADS = 2048
_END_TIMEOUT_S = 0.25
_means = "threads"


def cannot_hold() -> None:
    """RLIMIT_NPROC is not enforced for the user of this sandbox."""
    global _means
    _means = "nothing"


def hold_by_answers() -> None:
    """Every new process waits for an answer of the calling process."""
    global _means
    _means = "answers"


@contextlib.contextmanager
def no_new_processes(limit: int) -> Iterator[None]:
    """`limit` is the process limit of the user. If not all threads can be started, the barrier has gaps. Where it cannot hold, it
    raises RuntimeError, which ends the sandbox: so do processes that nothing else ends.

    A thread counts from its creation. `threading` would wait until each has run, which takes long if many processes are busy.
    """
    if _means == "answers":
        yield
        return
    if _means == "nothing":
        raise RuntimeError("no barrier against new processes holds for this user")
    gate = _thread.allocate_lock()
    gate.acquire()
    others = _thread._count()
    size = _thread.stack_size(65536)
    try:
        for _ in range(min(limit, _MAX_THREADS)):
            _thread.start_new_thread(_wait_for, (gate,))
    except RuntimeError:
        pass
    finally:
        _thread.stack_size(size)
    try:
        yield
    finally:
        gate.release()
        deadline = time.monotonic() + _END_TIMEOUT_S
        while _thread._count() > others and time.monotonic() < deadline:
            time.sleep(0.001)


def _wait_for(gate: _thread.LockType) -> None:
    with gate:
        pass
