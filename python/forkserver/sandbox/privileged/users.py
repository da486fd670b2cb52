"""The kernel's users that sandboxes run as, one for each.

The kernel counts many resources for each user of the machine, whatever namespace a process is in: epoll watches, pipe buffers,
descriptors in flight. A session that runs as a user of its own can use up nobody's share but its own. The users come from a
range of ids that no account has. A lock on one byte of a file, at the offset of the id, keeps two runtimes from sharing one.
"""
from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import stat
import struct
import time
from typing import Iterable

# Above what SSSD and FreeIPA allot (to 2,000,200,000), below 2^31, and in no range that systemd uses.
DEFAULT = range(2_100_000_000, 2_100_065_536)
# Where a container maps 65,536 ids. The reserved user is the one before; 65534 is nobody.
SMALL = range(64_002, 65_534)
ANY = range(1_000, 65_534)
# As many as the sandboxes of one runtime with the default limits.
FEWEST = 128
_WAIT_S = 0.01
_NOT_USERS = {65_534, 65_535}


class RangeRefused(ValueError):
    """The configured range cannot be used."""


def parse_map(text: str) -> list[range]:
    """The ids that exist in a user namespace, by the content of its uid_map or gid_map."""
    lines = [[int(field) for field in line.split()] for line in text.splitlines()]
    return [range(first, first + length) for first, _, length in lines]


def ids_here() -> list[range]:
    """The ids that are both users and groups in this user namespace."""
    maps = []
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/self/{name}") as map_file:
            maps.append(parse_map(map_file.read()))
    return intersect(*maps)


def choose(usable: list[range], configured: tuple[int, int] | None, accounts: set[int]) -> list[range]:
    """The ids that sandboxes get. Empty if there are too few. Raises RangeRefused for a configured range."""
    if configured is not None:
        wanted = range(configured[0], configured[1] + 1)
        taken = sorted(number for number in accounts if number in wanted)
        if taken:
            raise RangeRefused(f"an account has the id {taken[0]}")
        if count(intersect(usable, [wanted])) < len(wanted):
            raise RangeRefused("not all of these ids exist here (see /proc/self/uid_map, /etc/subuid and /etc/subgid)")
        if len(wanted) < FEWEST:
            raise RangeRefused(f"it has {len(wanted)} ids, and at least {FEWEST} are needed")
        return [wanted]
    for wanted in (DEFAULT, SMALL, ANY):
        free = without(intersect(usable, [wanted]), accounts)
        if count(free) >= FEWEST:
            return free
    return []


def account_ids() -> set[int]:
    """The ids of the users and groups in /etc. Accounts of a directory service are not listed there."""
    ids = set(_NOT_USERS)
    for path, columns in (("/etc/passwd", (2, 3)), ("/etc/group", (2,))):
        try:
            with open(path, errors="replace") as accounts:
                lines = [line.rstrip("\n").split(":") for line in accounts]
        except FileNotFoundError:
            continue
        for fields in lines:
            ids.update(int(fields[at]) for at in columns if at < len(fields) and fields[at].isdigit())
    return ids


def intersect(some: list[range], others: list[range]) -> list[range]:
    both = [range(max(a.start, b.start), min(a.stop, b.stop)) for a in some for b in others]
    return [part for part in both if part]


def without(ranges: list[range], ids: Iterable[int]) -> list[range]:
    for number in ids:
        ranges = [part for whole in ranges
                  for part in ((range(whole.start, number), range(number + 1, whole.stop)) if number in whole else (whole,))]
    return [part for part in ranges if part]


def count(ranges: list[range]) -> int:
    return sum(len(part) for part in ranges)


def open_lock_file() -> int:
    """A file that only this user can open, the same for all its runtimes. Raises OSError if no folder can hold it."""
    user = os.geteuid()
    places = ("/run/rlm-runtime", "/dev/shm/rlm-runtime-0") if user == 0 else (f"/run/user/{user}/rlm-runtime",)
    for path in (*places, f"/tmp/rlm-runtime-{user}"):
        try:
            return _open_in_own_folder(path, user)
        except OSError:
            continue
    raise OSError(errno.EACCES, "no folder can hold the lock file of users")


def _open_in_own_folder(path: str, user: int) -> int:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(folder)
        if status.st_uid != user or stat.S_IMODE(status.st_mode) & 0o077:
            raise PermissionError(errno.EACCES, "it belongs to others", path)
        return os.open("users.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    finally:
        os.close(folder)


def open_init(pid: int, folder: int) -> int:
    """A descriptor for `Users.bind`: a pidfd, or where there is none, before Linux 5.3, the folder of the process in /proc."""
    return os.pidfd_open(pid) if _HAS_PIDFD else os.dup(folder)


def _has_pidfd() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
        return True
    except (AttributeError, OSError):  # this Python may have been built without it
        return False


_HAS_PIDFD = _has_pidfd()


def _ended(process: int, timeout_ms: int | None) -> bool:
    if not _HAS_PIDFD:
        while not (ended := _is_gone(process)) and timeout_ms is None:
            time.sleep(_WAIT_S)
        return ended
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(timeout_ms))


def _is_gone(folder: int) -> bool:
    """Whether the process of a folder in /proc was reaped. Another one with its number has another folder."""
    try:
        os.close(os.open("stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder))
        return False
    except (FileNotFoundError, ProcessLookupError):
        return True


class Users:
    """The users that are taken for sandboxes of one fork server. Their locks end with this process."""

    def __init__(self, ranges: list[range], lock_file: int) -> None:
        self._ranges = ranges
        self._size = count(ranges)
        self._lock_file = lock_file
        # Containers that share ids do not see each other's locks: they seldom begin at the same place.
        self._next = int.from_bytes(os.urandom(8), "big") % self._size
        # Users that have no init yet.
        self._taken: set[int] = set()
        # By pid of an init: its user, and what `open_init` returned.
        self._inits: dict[int, tuple[int, int]] = {}

    def take(self) -> int:
        for _ in range(self._size):
            number = self._at(self._next)
            self._next = (self._next + 1) % self._size
            if not self._is_used(number) and self._lock(number, fcntl.F_WRLCK):
                self._taken.add(number)
                return number
        raise OSError(errno.EAGAIN, f"all {self._size} users for sandboxes are taken")

    def is_taken(self, number: int) -> bool:
        """Whether the user was taken and has no process yet."""
        return number in self._taken

    def put_back(self, number: int) -> None:
        """Frees a user that has no process."""
        if number in self._taken:
            self._taken.remove(number)
            self._lock(number, fcntl.F_UNLCK)

    def bind(self, number: int, pid: int, init: int) -> None:
        self._taken.remove(number)
        self._inits[pid] = number, init

    def give_back(self, pid: int) -> None:
        """Frees the user of an init, unless that is alive. An init outlives every process of its sandbox."""
        number, init = self._inits.get(pid, (0, -1))
        if init >= 0 and _ended(init, 0):
            del self._inits[pid]
            os.close(init)
            self._lock(number, fcntl.F_UNLCK)

    def end(self) -> None:
        """Ends every init. The locks are held until the last process is gone."""
        inits = [init for _, init in self._inits.values()]
        for init in inits if _HAS_PIDFD else ():  # else they end by themselves, with the fork server
            try:
                signal.pidfd_send_signal(init, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for init in inits:
            _ended(init, None)

    def _is_used(self, number: int) -> bool:
        """A lock does not keep its own holder out."""
        return number in self._taken or any(number == user for user, _ in self._inits.values())

    def _at(self, index: int) -> int:
        for part in self._ranges:
            if index < len(part):
                return part[index]
            index -= len(part)
        raise IndexError(index)

    def _lock(self, number: int, kind: int) -> bool:
        request = struct.pack("hhqqi4x", kind, os.SEEK_SET, number, 1, 0)
        try:
            fcntl.fcntl(self._lock_file, fcntl.F_OFD_SETLK, request)
            return True
        except (BlockingIOError, PermissionError):
            return False
