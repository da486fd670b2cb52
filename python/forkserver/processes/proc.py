"""The processes of a sandbox, through /proc and signals. All functions accept a process that is gone.

Every process of a branch or a program carries its number as a mark: the soft limit on file locks, which no kernel enforces
and every child inherits. So all its processes can be found, however they hide from their parents. Code that changes its own
mark deceives only its own family of sessions; a program cannot change it (seccomp.py).
"""
from __future__ import annotations

import errno
import math
import os
import resource
import signal

RLIMIT_LOCKS = 10
_RLIMIT_RTTIME = 15
_NICE = 5
_TICK = os.sysconf("SC_CLK_TCK")
_THREADS = 17

GONE = "X"
DEAD = "XZ"
STOPPED = "tTXZ"
_IS_GONE = (FileNotFoundError, ProcessLookupError)


class _Sandbox:
    """The mark of a sandbox without a process namespace, and its init. 0: everything in /proc is of the sandbox."""

    mark = 0
    init = 1


def join_sandbox(mark: int) -> None:
    """For an init without a process namespace: marks it and all processes it will have.

    The mark is a limit on processes with a real-time priority. There are none, and code cannot change it (seccomp.py).
    """
    resource.setrlimit(_RLIMIT_RTTIME, (mark, mark))
    if resource.getrlimit(_RLIMIT_RTTIME) != (mark, mark):
        raise OSError(errno.EPERM, "it cannot be marked")
    _Sandbox.mark, _Sandbox.init = mark, os.getpid()


def has_own_namespace() -> bool:
    return _Sandbox.mark == 0


def processes() -> list[int]:
    """Every process of the sandbox except the init."""
    if not has_own_namespace():
        # A look at every process of the machine takes long. It is taken only to be sure that nothing is left.
        marked = _descendants(_Sandbox.init) or processes_marked(_Sandbox.mark, _Sandbox.mark)
        return [pid for pid in marked if pid != _Sandbox.init]
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def _descendants(pid: int) -> list[int]:
    """Whoever loses its parent becomes a child of the init. Empty where the kernel does not list children."""
    found: list[int] = []
    pending = [pid]
    while pending:
        folder = f"/proc/{pending.pop()}/task"
        try:
            threads = os.listdir(folder)
        except _IS_GONE:
            continue
        for thread in threads:
            children = [int(child) for child in _read_all(f"{folder}/{thread}/children").split()]
            found += children
            pending += children
    return found


def processes_marked(first: int, last: int) -> list[int]:
    """The processes of sandboxes with these marks, inits and zombies included."""
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if first <= sandbox_mark_of(pid) <= last]


def threads_of_user(uid: int) -> int:
    """How many threads the kernel counts for a user."""
    total = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        status = read_proc(f"/proc/{name}/status")
        if status.partition(b"\nUid:\t")[2].split(None, 1)[:1] == [b"%d" % uid]:
            total += int(status.partition(b"\nThreads:\t")[2].split(None, 1)[0])
    return total


def is_child_of_init(pid: int) -> bool:
    return parent_of(pid) == _Sandbox.init


def send_signal(pid: int, number: int) -> None:
    """Any other failure ends the init, and so the sandbox: nothing may outlive a signal."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill(pid: int) -> None:
    send_signal(pid, signal.SIGKILL)


def set_mark(number: int) -> None:
    """Marks the calling process and the children it will have."""
    mark = (number, resource.RLIM_INFINITY)
    resource.setrlimit(RLIMIT_LOCKS, mark)
    if resource.getrlimit(RLIMIT_LOCKS) != mark:
        raise OSError(errno.EPERM, "it cannot be marked")


def is_mark_fixed(number: int) -> bool:
    """Whether the calling process, which has this mark, cannot set it any more."""
    try:
        set_mark(number)
        return False
    except ValueError:  # Python's error for EPERM
        return True


def lower_priority() -> None:
    """For the calling process and its children: the init and the host run before any number of them. It cannot be undone."""
    os.nice(_NICE)


def mark_of(pid: int) -> int:
    """-1 for a process that is gone or has no mark."""
    return _soft_limit(pid, b"Max file locks")


def sandbox_mark_of(pid: int) -> int:
    return _soft_limit(pid, b"Max realtime timeout")


def _soft_limit(pid: int, name: bytes) -> int:
    soft = read_proc(f"/proc/{pid}/limits").partition(name)[2].split(None, 1)[:1]
    return int(soft[0]) if soft and soft[0].isdigit() else -1


def parent_of(pid: int) -> int:
    """0 for a process that is gone."""
    fields = _stat(f"/proc/{pid}/stat")
    return int(fields[1]) if len(fields) > 1 else 0


def group_of(pid: int) -> int:
    """Its process group; 0 for a process that is gone."""
    fields = _stat(f"/proc/{pid}/stat")
    return int(fields[2]) if len(fields) > 2 else 0


def children_of(pid: int) -> list[int]:
    """Of a process with one thread."""
    listed = f"/proc/{pid}/task/{pid}/children"
    if os.path.exists(listed):
        return [int(child) for child in _read_all(listed).split()]
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(int(name)) == pid]


def threads_of(pid: int) -> int:
    """0 for a process that is gone."""
    fields = _stat(f"/proc/{pid}/stat")
    return int(fields[_THREADS]) if len(fields) > _THREADS else 0


def count_threads(pids: list[int], enough: float = math.inf) -> int:
    """Counts no further than to more than `enough`. A process that is gone for its parent only is one."""
    total = len(pids)
    for pid in pids:
        if total > enough:
            break
        total += max(0, threads_of(pid) - 1)
    return total


def state_of(pid: int) -> str:
    """The kernel's letter. A process whose first thread has exited looks like a zombie; then another thread's state counts."""
    fields = _stat(f"/proc/{pid}/stat")
    if not fields:
        return GONE
    state = fields[0].decode()
    return _state_of_threads(pid) if state == "Z" and int(fields[_THREADS]) > 1 else state


def cpu_seconds(pid: int) -> float:
    """CPU time of the process and of the children it has waited for."""
    return sum(map(int, _stat(f"/proc/{pid}/stat")[11:15])) / _TICK


def read_proc(path: str) -> bytes:
    """A short file below /proc; empty if its process is gone. Any other failure raises: a process that cannot be seen, for
    lack of descriptors or memory, must not pass for one that is gone."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except _IS_GONE:
        return b""
    try:
        return os.read(fd, 4096)
    except _IS_GONE:
        return b""
    finally:
        os.close(fd)


def _read_all(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except _IS_GONE:
        return b""


def _state_of_threads(pid: int) -> str:
    try:
        names = os.listdir(f"/proc/{pid}/task")
    except _IS_GONE:
        return GONE
    states = (_stat(f"/proc/{pid}/task/{name}/stat") for name in names if int(name) != pid)
    return next((fields[0].decode() for fields in states if fields), "Z")


def _stat(path: str) -> list[bytes]:
    """The fields after the name of the program."""
    return read_proc(path).rpartition(b")")[2].split()
