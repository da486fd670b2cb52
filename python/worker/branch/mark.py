"""The mark of a branch: a number that every process of the branch carries and every child inherits.

It is the soft limit on file locks, which no kernel enforces. The init tells the processes of one branch from those of
another by it.
"""

import resource

RLIMIT_LOCKS = 10


def set_mark(number: int) -> None:
    """Marks this process and the children it will have."""
    resource.setrlimit(RLIMIT_LOCKS, (number, resource.RLIM_INFINITY))


def mark_of(pid: int) -> bytes:
    """The mark as the kernel prints it, with that of the sandbox (forkserver/processes/proc.py); empty for a process that is gone."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            limits = file.read(4096)
        return b" ".join(limits.partition(name)[2].split(None, 1)[0] for name in (b"Max file locks", b"Max realtime timeout"))
    except (OSError, IndexError):
        return b""
