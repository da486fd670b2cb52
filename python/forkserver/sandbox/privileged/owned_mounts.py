"""Mounts in which the owner of a folder appears as the user of a sandbox. Made by root.

Some file systems cannot show another owner: overlayfs, which is the root of containers, most of FUSE, tmpfs before Linux 6.3. A sandbox
that has to use such a folder as its owner would is given the owner's ids instead.
"""
from __future__ import annotations

import errno
import os
import stat
import struct
from typing import NamedTuple

from ... import libc
from ..trees import HAS_ONLY_CLASSIC_MOUNTS, Mount, clone_tree

_ATTR_IDMAP = 0x00100000


class Ids(NamedTuple):
    """A user and a group of the machine."""

    user: int
    group: int


class OwnerNeeded(Exception):
    """Only a sandbox with the ids of the owner can use the folder."""

    def __init__(self, owner: Ids) -> None:
        super().__init__(owner)
        self.owner = owner


def owned_tree(mount: Mount, ids: Ids) -> int:
    """A detached copy of the mounts at a path, for a user and a group. Raises OwnerNeeded."""
    tree = clone_tree(mount)
    try:
        status = os.fstat(tree)
        owner = Ids(status.st_uid, status.st_gid)
        if owner != ids and not _show_owner_as(ids, tree, owner) and (mount.write or not _is_for_all(status)):
            raise OwnerNeeded(owner)
    except BaseException:
        os.close(tree)
        raise
    return tree


def _show_owner_as(ids: Ids, tree: int, owner: Ids) -> bool:
    """Whether the file system can, and the kernel: since 5.12."""
    if HAS_ONLY_CLASSIC_MOUNTS:
        return False
    namespace = user_namespace((owner.user, ids.user), (owner.group, ids.group))
    try:
        request = struct.pack("=QQQQ", _ATTR_IDMAP, 0, 0, namespace)
        libc.syscall(libc.MOUNT_SETATTR, tree, b"", 0x1000, request, len(request))
        return True
    except OSError:
        return False
    finally:
        os.close(namespace)


def _is_for_all(status: os.stat_result) -> bool:
    """Whether every user may read it. In a folder like that, a file that is its owner's alone cannot be read then."""
    wanted = 0o005 if stat.S_ISDIR(status.st_mode) else 0o004
    return status.st_mode & wanted == wanted


def user_namespace(user: tuple[int, int], group: tuple[int, int]) -> int:
    """A descriptor of a user namespace that maps one user and one group. A child that exits at once creates it."""
    ready, done = os.pipe(), os.pipe()
    try:
        child = os.fork()
    except OSError:
        for fd in (*ready, *done):
            os.close(fd)
        raise
    if child == 0:
        try:
            os.close(done[1])
            libc.unshare(libc.CLONE_NEWUSER)
            os.write(ready[1], b"x")
            os.read(done[0], 1)
        finally:
            os._exit(0)
    os.close(ready[1])
    try:
        if not os.read(ready[0], 1):
            raise OSError(errno.EPERM, "no user namespace can be made")
        for name, (inside, outside) in (("uid_map", user), ("gid_map", group)):
            with open(f"/proc/{child}/{name}", "w") as map_file:
                map_file.write(f"{inside} {outside} 1")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        for fd in (ready[0], *done):
            os.close(fd)
        os.waitpid(child, 0)
