"""Changes modes and times of files for members of a sandbox whose user has files outside of it.

Landlock has no say on these, so the filter of members (member_filter.py) stops such calls and asks the init, which does it for files
that the sandbox may write. On others a call does nothing and succeeds, as on a file system without permissions.
"""
from __future__ import annotations

import errno
import os
import struct
import time
from dataclasses import dataclass
from typing import Callable

from .. import libc
from .member_filter import CHMOD, FCHMOD, FCHMODAT2, UTIMENSAT

_HERE = -100  # AT_FDCWD
_NO_FOLLOW, _EMPTY_PATH = 0x100, 0x1000
_TIMES = struct.Struct("=4q")
_NOW, _OMIT = 0x3FFFFFFF, 0x3FFFFFFE
_PATH_MAX = 4096
_SELF = b"/proc/self/"
_PERMISSIONS = 0o1777


@dataclass(frozen=True)
class _Request:
    """`path` is None for the file of a descriptor itself."""

    descriptor: int
    path: int | None
    flags: int = 0
    mode: int = 0
    times: int = 0


class _Hidden(Exception):
    """Nobody may look into the caller."""


class FileChanges:
    """`writable` are the files and folders that the sandbox may write."""

    def __init__(self, writable: tuple[str, ...]) -> None:
        self._writable = writable

    def carry_out(self, caller: int, call: int, arguments: list[int], is_valid: Callable[[], bool]) -> None:
        """`caller` is a thread. `is_valid`: it still waits, so that what was read was its own. Raises OSError."""
        request = _parse(call, arguments)
        try:
            times = _read(caller, request.times, _TIMES.size) if request.times else None
            fd = _open(caller, request)
        except _Hidden:
            return
        try:
            if is_valid() and any(is_in(os.readlink(f"/proc/self/fd/{fd}"), path) for path in self._writable):
                _change(f"/proc/self/fd/{fd}", call, request.mode, times)
        finally:
            os.close(fd)


def is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _parse(call: int, arguments: list[int]) -> _Request:
    first, second, third, fourth = arguments[:4]
    descriptor = libc.signed(first)
    if call == CHMOD:
        return _Request(_HERE, first, mode=second)
    if call == FCHMOD:
        return _Request(descriptor, None, mode=second)
    if call == UTIMENSAT:
        return _Request(descriptor, second or None, flags=fourth, times=third)
    return _Request(descriptor, second, flags=fourth if call == FCHMODAT2 else 0, mode=third)


def _open(caller: int, request: _Request) -> int:
    """The file that the caller means, without the right to read or write it."""
    is_here = request.descriptor == _HERE and request.path is not None
    base = f"/proc/{caller}/cwd" if is_here else f"/proc/{caller}/fd/{request.descriptor}"
    path = b"" if request.path is None else _read_path(caller, request.path)
    if not path and not (request.path is None or request.flags & _EMPTY_PATH):
        raise FileNotFoundError(errno.ENOENT, "no path")
    if path.startswith(_SELF):  # the C library changes a file by this path where it must not follow links
        path = b"/proc/%d/%s" % (caller, path[len(_SELF):])
    if path.startswith(b"/"):
        return os.open(path, _flags(request))
    try:
        opened = _open_of(base, os.O_PATH)
    except FileNotFoundError:
        raise OSError(errno.EBADF, "no such descriptor") from None
    if not path:
        return opened
    try:
        return os.open(path, _flags(request), dir_fd=opened)
    finally:
        os.close(opened)


def _open_of(path: str, flags: int) -> int:
    """A file in /proc of the caller."""
    try:
        return os.open(path, flags | os.O_CLOEXEC)
    except PermissionError:
        raise _Hidden from None


def _flags(request: _Request) -> int:
    return os.O_PATH | os.O_CLOEXEC | (os.O_NOFOLLOW if request.flags & _NO_FOLLOW else 0)


def _change(path: str, call: int, mode: int, times: bytes | None) -> None:
    if call != UTIMENSAT:
        os.chmod(path, mode & _PERMISSIONS)
    elif times is None:
        os.utime(path)
    else:
        status = os.stat(path)
        *accessed, modified, fraction = _TIMES.unpack(times)
        os.utime(path, ns=(_nanoseconds(*accessed, status.st_atime_ns), _nanoseconds(modified, fraction, status.st_mtime_ns)))


def _nanoseconds(seconds: int, fraction: int, before: int) -> int:
    if fraction == _NOW:
        return time.time_ns()
    if fraction == _OMIT:
        return before
    if not 0 <= fraction < 1_000_000_000:
        raise OSError(errno.EINVAL, "not a time")
    return seconds * 1_000_000_000 + fraction


def _read_path(caller: int, address: int) -> bytes:
    path, end, _ = _read_memory(caller, address, _PATH_MAX).partition(b"\0")
    if not end:
        raise OSError(errno.ENAMETOOLONG, "path too long")
    return path


def _read(caller: int, address: int, size: int) -> bytes:
    content = _read_memory(caller, address, size)
    if len(content) < size:
        raise OSError(errno.EFAULT, "not its memory")
    return content


def _read_memory(caller: int, address: int, size: int) -> bytes:
    """As much of it as there is."""
    fd = _open_of(f"/proc/{caller}/mem", os.O_RDONLY)
    try:
        return os.pread(fd, size, address)
    except (OSError, OverflowError):
        raise OSError(errno.EFAULT, "not its memory") from None
    finally:
        os.close(fd)
