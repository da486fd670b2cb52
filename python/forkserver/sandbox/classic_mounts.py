"""Mounts for kernels before 5.12, in which a detached copy of mounts cannot be given attributes: bind mounts, remounted one by one.

What stands for a tree is a descriptor of the folder or file itself, opened in the mount namespace in which it is attached.
A kernel that does not do what these calls ask for is noticed afterwards (checks.py).
"""
from __future__ import annotations

import errno
import os
import re
import stat

from .. import libc

_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC = 1, 2, 4, 8, 32, 4096, 16384
# Attributes that a mount of the host has and a remount must name, or it would take them away, which the kernel refuses.
_KEPT = {b"ro": _RDONLY, b"nosuid": _NOSUID, b"nodev": _NODEV, b"noexec": _NOEXEC, b"nosymfollow": 256, b"noatime": 1024,
         b"nodiratime": 2048, b"relatime": 1 << 21}
_ESCAPED = re.compile(rb"\\([0-7]{3})")


def are_needed() -> bool:
    try:
        libc.syscall(libc.MOUNT_SETATTR, -1, b"", 0, 0, 0)
    except OSError as error:
        return error.errno != errno.EINVAL  # a kernel that has the call refuses these arguments before all else
    return False


def open_exact(path: bytes, folder: int | None = None) -> int:
    """Opens a path below a folder, or from the root, one name at a time, and follows no link."""
    fd = os.open("/", os.O_PATH | os.O_CLOEXEC) if folder is None else os.dup(folder)
    for name in path.strip(b"/").split(b"/"):
        try:
            if name in (b"", b".", b".."):
                raise OSError(errno.EINVAL, "the path is not exact")
            following = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        finally:
            os.close(fd)
        fd = following
        if stat.S_ISLNK(os.fstat(fd).st_mode):
            os.close(fd)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return fd


def attach(source: int, target: bytes, write: bool, has_devices: bool) -> None:
    """Mounts what is at `source`, and what is mounted below it."""
    libc.mount(b"/proc/self/fd/%d" % source, target, None, _BIND | _REC)
    attributes = _NOSUID | (0 if has_devices else _NODEV) | (0 if write else _RDONLY)
    for path, kept in _mounts_at(target):
        libc.mount(None, path, None, _REMOUNT | _BIND | attributes | kept)


def cover(folder: int, name: bytes, source: int) -> None:
    """Mounts what is at `source`, read-only, over something below a folder."""
    target = open_exact(name, folder)
    try:
        libc.mount(b"/proc/self/fd/%d" % source, b"/proc/self/fd/%d" % target, None, _BIND)
    finally:
        os.close(target)
    covered = open_exact(name, folder)  # the mount, where `target` is what it covers
    try:
        libc.mount(None, b"/proc/self/fd/%d" % covered, None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV)
    finally:
        os.close(covered)


def _mounts_at(path: bytes) -> list[tuple[bytes, int]]:
    """The mount that a path leads to and those below it, by their paths, with the attributes that they have. A mount that this one
    covers may have others at paths below this one."""
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        top = re.search(rb"^mnt_id:\s*(\d+)", _read(b"/proc/self/fdinfo/%d" % fd), re.MULTILINE)
    finally:
        os.close(fd)
    if top is None:
        raise OSError(errno.ENOSYS, "the kernel does not tell the mount of a file")
    ids = {top[1]}
    found = []
    lines = [line.split(b" ") for line in _read(b"/proc/self/mountinfo").rstrip(b"\n").split(b"\n")]
    new = [fields for fields in lines if fields[0] in ids]
    while new:
        found += new
        ids.update(fields[0] for fields in new)
        new = [fields for fields in lines if fields[1] in ids and fields[0] not in ids]
    return [(_ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), fields[4]),
             sum(_KEPT.get(option, 0) for option in fields[5].split(b","))) for fields in found]


def _read(path: bytes) -> bytes:
    with open(path, "rb") as file:
        return file.read()
