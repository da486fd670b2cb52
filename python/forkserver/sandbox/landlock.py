"""Landlock: a second layer of protection for files, abstract sockets and signals, inside the private root.

The root is already private and read-only; this applies if a mistake or a kernel bug shows a process more than that. A kernel
without Landlock does not have this tier.
"""
from __future__ import annotations

import errno
import os
import stat
import struct
from typing import Iterable

from .. import libc

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_SCOPE_ABSTRACT_UNIX_AND_SIGNALS = 3
_TCP_BIND_AND_CONNECT = 3


def abi(most: int | None = None) -> int:
    """The kernel's Landlock version, or 0. Uses the system call, because securityfs may be absent. `most`: newer ones are not used."""
    try:
        version = libc.syscall(libc.LANDLOCK_CREATE_RULESET, 0, 0, 1)
        return version if most is None else min(version, most)
    except OSError:
        return 0


def restrict(version: int, writable: list[bytes], devices: list[bytes], readable: Iterable[bytes] = (b"/",),
             listed: Iterable[bytes] = (), has_network: bool = False) -> None:
    """Allows reading below `readable`, everything below `writable`, writing to `devices`, and to list folders at and below `listed`.
    `has_network`: TCP is not restricted. Needs no_new_privs."""
    if version == 0:
        raise OSError(errno.EOPNOTSUPP, "this kernel has no Landlock")
    handled = (1 << 13) - 1  # the thirteen rights of the first version
    if version >= 2:
        handled |= _REFER
    if version >= 3:
        handled |= _TRUNCATE
    if version >= 5:
        handled |= _IOCTL_DEV
    attributes = struct.pack("=Q", handled)
    if version >= 4:
        attributes += struct.pack("=Q", 0 if has_network else _TCP_BIND_AND_CONNECT)
    if version >= 6:
        attributes += struct.pack("=Q", _SCOPE_ABSTRACT_UNIX_AND_SIGNALS)
    ruleset = libc.syscall(libc.LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    for path in readable:
        _allow(ruleset, path, _READ)
    for path in listed:
        _allow(ruleset, path, _READ_DIR)
    for path in writable:
        _allow(ruleset, path, handled)
    for path in devices:
        _allow(ruleset, path, handled & (_READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV))
    libc.syscall(libc.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: bytes, access: int) -> None:
    if not stat.S_ISDIR(os.stat(path).st_mode):
        access &= _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    libc.syscall(libc.LANDLOCK_ADD_RULE, ruleset, 1, struct.pack("=Qi", access, fd), 0)
    os.close(fd)
