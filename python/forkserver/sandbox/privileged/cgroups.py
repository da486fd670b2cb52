"""A memory cgroup for each sandbox, where this process may make one. Then the kernel enforces the sum of all memory, also of
memory that no process shows as its own: buffers, locks, page tables, pages of files that nobody has mapped.

And a cpu cgroup: however many threads and terminal sessions code starts, the host gets a share of the processors as if they
were one. Version 1 has one for all sandboxes of a fork server, which costs nothing per sandbox; version 2 has one for each.

Version 1 as root; version 2 in a cgroup that was delegated to this process. Elsewhere there is none, and the watch of the
init is the only limit on the sum.
"""
from __future__ import annotations

import errno
import os
import re
import time
from dataclasses import dataclass
from typing import NamedTuple

# The cgroup that the processes of a delegated cgroup move to: version 2 wants them in a leaf.
LEAF = "rlm-main"
# Of the processors, where others want them too. The host's group has 1024 in version 1 and 100 in version 2.
_CPU_SHARES, _CPU_WEIGHT = 512, 50
_REMOVE_TIMEOUT_S = 1.0
# An empty cgroup of a maker in another process namespace is stale only after this long: an init may be about to enter it.
_STALE_AFTER_S = 10.0


class _Files(NamedTuple):
    entrance: str
    limit: str
    swap: str
    events: str


_FILES = {
    1: _Files("tasks", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control"),
    2: _Files("cgroup.procs", "memory.max", "memory.swap.max", "memory.events"),
}


@dataclass(frozen=True)
class Cgroup:
    """The memory cgroup of one sandbox."""

    version: int
    folder: str

    def make(self) -> None:
        """It has no limit yet."""
        os.mkdir(self.folder)
        if self.version == 2 and os.path.exists(weight := f"{self.folder}/cpu.weight"):
            _write(weight, str(_CPU_WEIGHT))

    def join(self, memory_bytes: int) -> None:
        """Makes it for the calling process, which has one thread."""
        self.make()
        self.set_limit(memory_bytes)
        _write(f"{self.folder}/{_FILES[self.version].entrance}", "0")

    def open_entrance(self) -> int:
        """A process with one thread that writes `0` to this descriptor is in the cgroup, whoever it is."""
        return os.open(f"{self.folder}/{_FILES[self.version].entrance}", os.O_WRONLY | os.O_CLOEXEC)

    def add(self, pid: int) -> None:
        """Memory that the process already has stays charged to where it was."""
        _write(f"{self.folder}/cgroup.procs", str(pid))

    def has(self, pid: int) -> bool:
        return str(pid) in _read(f"{self.folder}/cgroup.procs").split()

    def set_limit(self, memory_bytes: int) -> None:
        """Raises OSError if the memory in use cannot be brought below a lower limit."""
        files = _FILES[self.version]
        swap = f"{self.folder}/{files.swap}"
        has_swap = os.path.exists(swap)
        if self.version == 2:
            _write(f"{self.folder}/{files.limit}", str(memory_bytes))
            if has_swap:
                _write(swap, "0")
            return
        # Version 1 limits the sum of memory and swap, which must never be below the limit of memory.
        order = [files.limit, files.swap] if has_swap else [files.limit]
        if has_swap and memory_bytes > int(_read(swap)):
            order.reverse()
        for name in order:
            _write(f"{self.folder}/{name}", str(memory_bytes))

    def open_events(self) -> int:
        """A descriptor for `oom_kills`."""
        return os.open(f"{self.folder}/{_FILES[self.version].events}", os.O_RDONLY | os.O_CLOEXEC)

    def remove(self) -> bool:
        """Whether it is gone. Processes that have just been killed keep it for a moment."""
        deadline = time.monotonic() + _REMOVE_TIMEOUT_S
        while True:
            try:
                os.rmdir(self.folder)
                return True
            except FileNotFoundError:
                return True
            except OSError:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.005)


def open_events_of_container() -> int | None:
    """A descriptor for `oom_kills` of the cgroup that the engine of a container gave it. None: it shows none."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
    return None


def oom_kills(events: int) -> int:
    """How many processes the kernel has killed at the limit, from the descriptor of `open_events`."""
    found = re.search(rb"^oom_kill (\d+)$", os.pread(events, 4096, 0), re.MULTILINE)
    return int(found[1]) if found else 0


@dataclass(frozen=True)
class Parent:
    """The cgroup below which those of the sandboxes are made. `cpu` is that of version 1, where it is another one."""

    version: int
    folder: str
    cpu: str | None = None

    def make(self, number: int) -> Cgroup:
        """A cgroup that has no limit yet."""
        cgroup = self.place(number)
        cgroup.make()
        return cgroup

    def place(self, number: int) -> Cgroup:
        """A cgroup of the calling process that is not made yet."""
        return Cgroup(self.version, f"{self.folder}/{_prefix(os.getpid())}{number}")

    def share_processors(self, fork_server: int) -> Cgroup | None:
        """Version 1: a cpu cgroup in which the fork server's children are born. None: there is none to be had."""
        if self.cpu is None:
            return None
        cgroup = Cgroup(1, f"{self.cpu}/{_prefix(os.getpid())}0")
        try:
            os.mkdir(cgroup.folder)
            _write(f"{cgroup.folder}/cpu.shares", str(_CPU_SHARES))
            cgroup.add(fork_server)
        except OSError:
            cgroup.remove()
            return None
        return cgroup

    def remove_all(self, maker: int) -> None:
        """The memory cgroups that a process has made, which has ended, and all its sandboxes."""
        for name in os.listdir(self.folder):
            if name.startswith(_prefix(maker)):
                Cgroup(self.version, f"{self.folder}/{name}").remove()


class Nursery:
    """The cgroups of the sandboxes of one fork server, for its broker.

    To move another process can take the kernel ten milliseconds, in which no process of the machine can fork. So in version 1 an init
    enters its cgroup by itself. In version 2 that is no faster: there the fork server waits in an empty cgroup, in which its next
    child is born, and moves on to another one after that. A child that is born too early for that is moved.
    """

    def __init__(self, parent: Parent, fork_server: int) -> None:
        self._parent = parent
        self._fork_server = fork_server
        self._count = 0
        self._cgroups: dict[int, Cgroup] = {}  # by pid of an init
        self._next: Cgroup | None = None
        # Those that the fork server could not leave when their sandbox ended.
        self._left: list[Cgroup] = []
        self.prepare()
        self._cpu = parent.share_processors(fork_server)

    def take_in(self, init: int, memory_bytes: int) -> Cgroup:
        """A cgroup for an init, which has no child yet. In version 1 it still has to enter it. The caller calls `prepare` next."""
        if self._next is not None and self._next.has(init):
            cgroup, self._next = self._next, None
            self._cgroups[init] = cgroup
        else:
            cgroup = self._cgroups[init] = self._make()
            if self._parent.version == 2:
                cgroup.add(init)
        cgroup.set_limit(memory_bytes)
        return cgroup

    def prepare(self) -> None:
        if self._parent.version == 2 and self._next is None:
            cgroup = self._make()
            try:
                cgroup.add(self._fork_server)
            except OSError:
                cgroup.remove()
                raise
            self._next = cgroup
        self._left = [left for left in self._left if not left.remove()]

    def set_limit(self, init: int, memory_bytes: int) -> None:
        if init in self._cgroups:
            self._cgroups[init].set_limit(memory_bytes)

    def remove(self, init: int) -> None:
        """The init and all processes of its sandbox have ended."""
        cgroup = self._cgroups.pop(init, None)
        if cgroup is not None and not cgroup.remove():
            self._left.append(cgroup)

    def end(self) -> None:
        """The fork server and all its sandboxes have ended."""
        others = (cgroup for cgroup in (self._next, self._cpu) if cgroup is not None)
        for cgroup in (*self._cgroups.values(), *self._left, *others):
            cgroup.remove()

    def _make(self) -> Cgroup:
        self._count += 1
        return self._parent.make(self._count)


def find(own_pids: set[int], proc: str = "/proc/self") -> Parent | None:
    """The place for cgroups of sandboxes, tried by making one. `own_pids` are the processes that may be moved to a leaf. `proc` is the
    folder that describes this process."""
    memberships, mounts = _read(f"{proc}/cgroup"), _read(f"{proc}/mountinfo")
    cpu = next((folder for version, folder in locate(memberships, mounts, "cpu") if version == 1), None)
    for version, folder in locate(memberships, mounts, "memory"):
        try:
            parent = Parent(version, folder, cpu) if version == 1 else _delegated(folder, own_pids)
            if parent is not None:
                trial = parent.make(0)
                try:
                    trial.set_limit(64 * 1024 * 1024)
                finally:
                    trial.remove()
                for place in (parent.folder, parent.cpu):
                    if place is not None:
                        _remove_stale(place)
                return parent
        except (OSError, ValueError):
            continue
    return None


def locate(memberships: str, mounts: str, controller: str) -> list[tuple[int, str]]:
    """The folders of this process's cgroups that may have a controller, with their version."""
    found: list[tuple[int, str]] = []
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = (after.split(" ") + ["", "", ""])[:3]
        root, folder = before.split(" ")[3:5]
        version = 2 if kind == "cgroup2" else 1 if kind == "cgroup" and controller in options.split(",") else 0
        for member in memberships.splitlines() if version else ():
            _, controllers, path = member.split(":", 2)
            is_this = controllers == "" if version == 2 else controller in controllers.split(",")
            inside = path == root or path.startswith(root.rstrip("/") + "/")
            if is_this and inside and "/.." not in path:
                below = path[len(root.rstrip("/")):].rstrip("/")
                found.append((version, _unescape(folder) + below))
    return sorted(found)


def _delegated(folder: str, own_pids: set[int]) -> Parent | None:
    """Version 2: controllers can be enabled only in a cgroup without processes, so ours move to a leaf first."""
    if os.path.basename(folder) == LEAF:
        folder = os.path.dirname(folder)
    if "memory" in _read(f"{folder}/cgroup.subtree_control").split():
        return Parent(2, folder)
    controllers = _read(f"{folder}/cgroup.controllers").split()
    if "memory" not in controllers or not _is_delegated(folder):
        return None
    others = {int(pid) for pid in _read(f"{folder}/cgroup.procs").split()} - own_pids
    if others:
        return None
    leaf = f"{folder}/{LEAF}"
    os.makedirs(leaf, exist_ok=True)
    for pid in _read(f"{folder}/cgroup.procs").split():
        _write(f"{leaf}/cgroup.procs", pid)
    _write(f"{folder}/cgroup.subtree_control", "+memory +cpu" if "cpu" in controllers else "+memory")
    return Parent(2, folder)


def _is_delegated(folder: str) -> bool:
    """By its owner, or by the mark that systemd leaves. Other cgroups are systemd's to change."""
    if os.stat(folder).st_uid == os.getuid() != 0:
        return True
    for name in ("trusted.delegate", "user.delegate"):
        try:
            if os.getxattr(folder, name) == b"1":
                return True
        except OSError:
            continue
    return False


def _remove_stale(folder: str) -> None:
    """Removes cgroups of a process that was killed. The kernel refuses to remove one that has processes."""
    for name in os.listdir(folder):
        owner = re.fullmatch(r"rlm-(\d+)-(\d+)-\d+", name)
        try:
            if owner and _is_gone(int(owner[1]), owner[2], f"{folder}/{name}"):
                os.rmdir(f"{folder}/{name}")
        except OSError:
            continue


def _is_gone(namespace: int, pid: str, folder: str) -> bool:
    """Whether the maker of a cgroup has ended, or may have."""
    if namespace == _process_namespace():
        return not os.path.exists(f"/proc/{pid}")
    return time.time() - os.stat(folder).st_mtime > _STALE_AFTER_S


def _prefix(maker: int) -> str:
    """Of the names of the cgroups that a process of this process namespace makes."""
    return f"rlm-{_process_namespace()}-{maker}-"


def _process_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def _unescape(path: str) -> str:
    """mountinfo writes spaces and backslashes as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), path)


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _write(path: str, text: str) -> None:
    """Without O_CREAT: a file that the kernel does not have is an error."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        if os.write(fd, text.encode()) != len(text):
            raise OSError(errno.EIO, "it was not written whole", path)
    finally:
        os.close(fd)
