"""Enforces limits on objects of the kernel that no process shows as its memory, or that are counted for a user of the machine:
epoll watches, locks on files, descriptors in flight, socket buffers, page tables, mappings, and buffers of files in /proc.

The init only peeks: a few dozen links and the beginnings of a few files. If that does not show that a session is small, a query
(queries.py) counts everything. A worker, each program and the checkpoints of a session have these limits each; stray processes
together.
"""
from __future__ import annotations

import errno
import os
import re
import socket
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Callable, Iterable, Iterator

from ..sandbox.limits import Limits
from .branches import Branch
from .jobs import Jobs
from .memory import living_thread, proportional_sum
from .memory_limits import Group, MemoryLimits
from .proc import DEAD, count_threads, has_own_namespace, kill, processes, read_proc, state_of
from .programs import Program, Programs
from .queries import Queries

# As many as 128 processes have if each watches all its 512 files once.
MAX_WATCHES = 65_536
MAX_LOCKS = 16_384
# A descriptor in flight may be an epoll instance whose watches nobody can count.
MAX_IN_FLIGHT = 4

INTERVAL_S = 0.25
# Until the next count after one that took some time.
_BACKOFF_S, _BACKOFF_FACTOR, _MAX_BACKOFF_S = 1.0, 20, 3.0
_FEW_PROCESSES, _FEW_LINKS, _FEW_LOCKS, _BEGINNING, _LOCK_READS = 16, 48, 64, 4096, 5
# What is in flight or cannot be read for a moment only is no offence.
_SAMPLES, _BETWEEN_SAMPLES_S = 5, 0.4
_MAPPING_BYTES, _SOCKET_OVERHEAD, _LISTED_PROCESSES = 250, 4096, 8
# What a mapping has at most in addition if its process descends from 128 that live, each of which has changed it: 64 bytes for each.
# An open file in /proc keeps the longest line that it ever had, such as the path of a mapped file 65,536 folders deep, escaped.
_INHERITED_BYTES, _PROC_FILE_BYTES = 64 * 128, 128 * 1024 * 1024
_PF_FORKNOEXEC = 0x40
# The init's descriptor of /proc/locks, which no process of a sandbox can open by its path.
locks: int | None = None
_EPOLL, _SOCKET = "anon_inode:[eventpoll]", "socket:"


class KernelObjects:
    """`kill_branch` takes a reason. `has_cgroup`: the kernel holds the memory of the sandbox to a limit, and counts these, too."""

    def __init__(self, limits: Limits, memory: MemoryLimits, branches: dict[int, Branch], jobs: Jobs, programs: Programs,
                 queries: Queries, kill_branch: Callable[[Branch, str], None]) -> None:
        self._limits = limits
        self._memory = memory
        self._branches = branches
        self._jobs = jobs
        self._programs = programs
        self._queries = queries
        self._kill_branch = kill_branch
        self.has_cgroup = False
        # How many processes and threads all together may have, where the kernel does not limit them well (as_root.py).
        self.most_processes: int | None = None
        self._next_peek = 0.0
        # The least memory that the kernel of the machine had for itself so far.
        self._least_used: int | None = None

    def check(self) -> None:
        """Kills a branch or a program that is over a limit. Does nothing if the last call was a moment ago."""
        if self.most_processes is not None:
            self._limit_processes(self.most_processes)
        now = time.monotonic()
        if now < self._next_peek:
            return
        self._next_peek = now + INTERVAL_S
        for branch in list(self._branches.values()):
            # A worker sends the init no descriptors; there they would stay in flight, where no count can look.
            if _in_flight(f"/proc/self/fdinfo/{branch.control.fileno()}"):
                self._kill_branch(branch, "memory")
        first = (*(branch.pid for branch in self._branches.values()), *self._programs.commands())
        starting = {pid for pid in first if is_starting(pid)}
        pids = [pid for pid in processes() if not (pid in starting or pid in self._jobs or pid in self._queries)]
        grown = 0 if self.has_cgroup else self._grown()
        if grown <= self._limits.memory_bytes // 8 and is_small(pids):
            return
        self._next_peek = now + _BACKOFF_S
        groups, strays = self._memory.groups()
        for group in groups:
            self._ask(group.key, [pid for pid in group.pids if pid not in starting], grown, partial(self._end, group))
        if strays:
            self._ask("strays", strays, grown, partial(self._kill_strays, strays))

    def _grown(self) -> int:
        """By how much the kernel of the machine has more memory for itself than at its least since the first call."""
        used = machine_bytes()
        self._least_used = used if self._least_used is None else min(used, self._least_used)
        return used - self._least_used

    def _limit_processes(self, most: int) -> None:
        """Kills what has the most processes and threads, if all together are too many."""
        if count_threads(processes(), most) <= most:
            return
        groups, strays = self._memory.groups()
        largest = max(groups, key=lambda group: count_threads(group.pids), default=None)
        if largest is not None and count_threads(largest.pids) >= count_threads(strays):
            self._end(largest)
        else:
            self._kill_strays(strays)

    def _ask(self, key: object, pids: list[int], grown: int, on_yes: Callable[[], None]) -> None:
        branches = list(self._branches.values())
        own_sockets = {link for branch in branches for link in branch.links}
        # No process can raise it (seccomp.py).
        socket_bytes = branches[0].control.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) if branches else 0
        started = time.monotonic()
        self._queries.ask(("objects", key), lambda: is_over(pids, own_sockets) or self._hold_too_much(pids, socket_bytes, grown),
                          on_yes, lambda: self._wait(time.monotonic() - started))

    def _wait(self, took_s: float) -> None:
        self._next_peek = time.monotonic() + min(_MAX_BACKOFF_S, max(_BACKOFF_S, took_s * _BACKOFF_FACTOR))

    def _hold_too_much(self, pids: list[int], socket_bytes: int, grown: int) -> bool:
        if self.has_cgroup:
            return False
        limit = self._limits.memory_bytes
        held = kernel_bytes(pids, socket_bytes, grown)
        return held > limit // 8 and held + proportional_sum(pids, limit - held) > limit

    def _end(self, group: Group) -> None:
        if isinstance(group.first, Program):
            self._programs.kill(group.number, "memory")
        elif self._branches.get(group.number) is group.first:
            self._kill_branch(group.first, "memory")

    def _kill_strays(self, strays: list[int]) -> None:
        for pid in set(self._memory.groups()[1]) & set(strays):
            kill(pid)


def is_starting(pid: int) -> bool:
    """Whether a child of the init, as which it cannot be looked into, is not yet a worker or a command."""
    fields = read_proc(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < 7 or not int(fields[6]) & _PF_FORKNOEXEC:
        return False
    try:
        _list(f"/proc/{pid}/fd")
    except PermissionError:
        return True
    return False


def is_small(pids: list[int]) -> bool:
    """Whether a look at a few files shows that these processes, all of a sandbox, are below every limit."""
    if len(pids) > _FEW_PROCESSES or not _are_few_locks(set(pids)):
        return False
    links = 0
    for pid in pids:
        try:
            for path, link in _descriptors(pid):
                links += 1
                if links > _FEW_LINKS:
                    return False
                if link == _EPOLL and len(read_proc(path)) == _BEGINNING:
                    return False
                if link.startswith(_SOCKET) and _in_flight(path):
                    return False
        except PermissionError:
            return False
    return True


@dataclass
class Count:
    watches: int = 0
    locks: int = 0
    # Descriptors that were sent over a socket of these processes and not received yet.
    in_flight: int = 0
    # What hides others: processes whose descriptors cannot be read, and sockets that are in flight themselves.
    unreadable: set[int] = field(default_factory=set)
    flying_sockets: set[str] = field(default_factory=set)

    def may_pass(self) -> bool:
        """Whether it is too much only if it stays so."""
        return self.in_flight > MAX_IN_FLIGHT or bool(self.unreadable or self.flying_sockets)


def is_over(pids: list[int], own_sockets: set[str]) -> bool:
    """Whether a limit is exceeded. `own_sockets` are the control sockets: what is in flight there is the init's, for a worker."""
    unreadable: set[int] | None = None
    flying: set[str] = set()
    for sample in range(_SAMPLES):
        if sample:
            time.sleep(_BETWEEN_SAMPLES_S)
        seen = count(pids, own_sockets)
        if seen.watches > MAX_WATCHES or seen.locks > MAX_LOCKS:
            return True
        if unreadable is not None:  # another of each is a new one
            seen.unreadable &= unreadable
            seen.flying_sockets &= flying
        unreadable, flying = seen.unreadable, seen.flying_sockets
        if not seen.may_pass():
            return False
    return True


def count(pids: list[int], own_sockets: set[str]) -> Count:
    """Stops at the first limit."""
    total = Count(locks=_locks(set(pids)))
    sockets: set[str] = set()
    for pid in pids:
        try:
            for path, link in _descriptors(pid):
                if link == _EPOLL:
                    total.watches += _count_lines(path, b"\ntfd:")
                elif link.startswith(_SOCKET) and link not in sockets:
                    sockets.add(link)
                    total.in_flight += 0 if link in own_sockets else _in_flight(path)
                if total.watches > MAX_WATCHES:
                    return total
        except PermissionError:
            total.unreadable.add(pid)
    if total.in_flight and has_own_namespace():  # else the list has sockets of everybody
        total.flying_sockets = _all_sockets() - _sockets_of(processes()) - own_sockets
    return total


def machine_bytes() -> int:
    """What the kernel of the machine has for itself and cannot give back, but for page tables and stacks."""
    fields = dict(line.split(b":") for line in read_proc("/proc/meminfo").splitlines())
    return sum(int(fields[name].split()[0]) for name in (b"SUnreclaim", b"VmallocUsed")) * 1024


def kernel_bytes(pids: list[int], socket_bytes: int, grown: int = 0) -> int:
    """An estimate of the memory that the kernel has for these processes. A socket counts as its full buffer. What may be hidden
    behind mappings and files in /proc counts as far as the memory of the kernel has `grown`."""
    total = len(_sockets_of(pids)) * (socket_bytes + _SOCKET_OVERHEAD)
    for pid in pids:
        tables = re.search(rb"^VmPTE:\s+(\d+)", read_proc(f"{_folder(pid)}/status"), re.MULTILINE)
        total += int(tables[1]) * 1024 if tables else 0
    # To list mappings is slow, and those of a process are at most 16 MiB: it takes many processes to make them matter.
    step = -(-len(pids) // _LISTED_PROCESSES) or 1
    listed = pids[time.monotonic_ns() // 1000 % step::step]
    mappings = sum(_count_lines(f"{_folder(pid)}/maps", b"\n") for pid in listed) * len(pids) // max(1, len(listed))
    hidden = mappings * _INHERITED_BYTES
    if hidden < grown:
        hidden += _open_in_proc(pids) * _PROC_FILE_BYTES
    return total + mappings * _MAPPING_BYTES + min(hidden, grown)


def _open_in_proc(pids: list[int]) -> int:
    """Descriptors of files in /proc, and those in flight, which may be such."""
    found = 0
    for pid in pids:
        try:
            for path, link in _descriptors(pid):
                found += link.startswith("/proc/") or (_in_flight(path) if link.startswith(_SOCKET) else 0)
        except PermissionError:
            continue  # if it stays so, `is_over` is true
    return found


def _descriptors(pid: int) -> Iterator[tuple[str, str]]:
    """The file in fdinfo of each, and what it leads to. Raises PermissionError if they cannot be read. All threads have the same
    (seccomp.py), but those of the first cannot be read once it has exited. A dead process has none."""
    folder = f"/proc/{pid}"
    try:
        names = _list(f"{folder}/fd")
    except PermissionError:
        names = []
    if not names and state_of(pid) not in DEAD:
        folder = living_thread(pid)
        names = _list(f"{folder}/fd")
    for name in names:
        try:
            yield f"{folder}/fdinfo/{name}", os.readlink(f"{folder}/fd/{name}")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it is closed
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:  # a file in folders so deep that its path cannot be told
                raise


def _list(folder: str) -> list[str]:
    """Empty for a process that is gone."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError):
        return []


def _sockets_of(pids: list[int]) -> set[str]:
    found: set[str] = set()
    for pid in pids:
        try:
            found.update(link for _, link in _descriptors(pid) if link.startswith(_SOCKET))
        except OSError:
            continue
    return found


def _all_sockets() -> set[str]:
    """Of the sandbox's network namespace, in which there are no others than unix sockets."""
    with open("/proc/net/unix", "rb") as file:
        next(file)
        return {f"{_SOCKET}[{line.split(None, 7)[6].decode()}]" for line in file}


def _in_flight(path: str) -> int:
    found = re.search(rb"^scm_fds:\s*(\d+)", read_proc(path), re.MULTILINE)  # since Linux 5.6
    return int(found[1]) if found else 0


def _are_few_locks(pids: set[int]) -> bool:
    """The list has those of the sandbox's processes, and of others: of the whole machine those that belong to no process, such as the
    runtime's own, and all where the sandbox has no process namespace."""
    fd = os.open("/proc/locks", os.O_RDONLY | os.O_CLOEXEC) if locks is None else locks
    try:
        listed = b""
        for _ in range(_LOCK_READS):
            part = os.pread(fd, _BEGINNING, len(listed))
            if not part:
                return _count_owned(listed.splitlines(), pids, _FEW_LOCKS) <= _FEW_LOCKS
            listed += part
        return False
    finally:
        if locks is None:
            os.close(fd)


def _locks(pids: set[int]) -> int:
    """Record locks and others that these processes have."""
    # Opened anew, because a query must not keep the init from reading.
    with open("/proc/locks" if locks is None else f"/proc/self/fd/{locks}", "rb") as file:
        return _count_owned(file, pids, MAX_LOCKS)


def _count_owned(lines: Iterable[bytes], pids: set[int], enough: int) -> int:
    """Counts no further than to more than `enough`."""
    held = 0
    for line in lines:
        owner = line.replace(b"->", b"").split(None, 5)[4]
        held += owner.isdigit() and int(owner) in pids
        if held > enough:
            break
    return held


def _count_lines(path: str, start: bytes) -> int:
    """How often `start` is in a file, which begins with a line break; 0 if it cannot be read. Stops after MAX_WATCHES."""
    found, rest = 0, b""
    try:
        with open(path, "rb", buffering=0) as file:
            while found <= MAX_WATCHES and (chunk := file.read(1 << 16)):
                found += (rest + chunk).count(start)
                rest = (rest + chunk)[-len(start) + 1:] if len(start) > 1 else b""
    except OSError:
        pass
    return found


def _folder(pid: int) -> str:
    """Of the process, or of a thread that lives if the first does not."""
    return f"/proc/{pid}" if read_proc(f"/proc/{pid}/statm")[:2] != b"0 " else living_thread(pid)
