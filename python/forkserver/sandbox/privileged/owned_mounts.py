"""Mounts in which the owner of a folder appears as the user of a sandbox. Made by root."""
from __future__ import annotations

import errno
import os
import stat
import struct

from ... import libc
from ..namespaces import HAS_ONLY_CLASSIC_MOUNTS, Mount, clone_tree

_ATTR_IDMAP = 0x00100000


def owned_tree(mount: Mount, user: int) -> int:
    """A detached copy of the mounts at a path, for a user and the group of the same number."""
    tree = clone_tree(mount)
    try:
        status = os.fstat(tree)
        if (status.st_uid, status.st_gid) != (user, user):
            _show_owner_as(user, tree, status, mount.write)
    except OSError:
        os.close(tree)
        raise
    return tree


def _show_owner_as(user: int, tree: int, status: os.stat_result, is_needed: bool) -> None:
    if HAS_ONLY_CLASSIC_MOUNTS:
        needed = 0o005 if stat.S_ISDIR(status.st_mode) else 0o004
        if is_needed or status.st_mode & needed != needed:
            what = "a folder for writing" if is_needed else "what others may not read"
            raise OSError(errno.EOPNOTSUPP, f"before Linux 5.12 root cannot mount {what}")
        return
    namespace = user_namespace((status.st_uid, user), (status.st_gid, user))
    try:
        request = struct.pack("=QQQQ", _ATTR_IDMAP, 0, 0, namespace)
        libc.syscall(libc.MOUNT_SETATTR, tree, b"", 0x1000, request, len(request))
    except OSError as error:
        if is_needed:
            raise OSError(error.errno, "its file system cannot show another owner, so it can only be mounted read-only")
    finally:
        os.close(namespace)


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
