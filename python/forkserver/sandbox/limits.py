"""Resource limits of a worker and its descendants, by setrlimit. They apply to each process; the init watches the sum."""
from __future__ import annotations

import resource
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    memory_bytes: int
    disk_bytes: int
    processes: int
    open_files: int


def apply(limits: Limits) -> None:
    # The address space limit is generous, because threads and libraries reserve far more than they use. It is there for
    # shared anonymous memory, which RLIMIT_DATA does not count.
    set_limits(
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_AS, limits.memory_bytes * 4),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.disk_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    )


def set_limits(*limits: tuple[int, int]) -> None:
    """Sets soft and hard limits of the calling process, never above the hard limits it has."""
    for what, value in limits:
        hard = resource.getrlimit(what)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(what, (value, value))
