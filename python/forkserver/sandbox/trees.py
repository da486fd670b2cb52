"""Mounts of files and folders of the host, as detached trees that are attached in the root of a sandbox."""
from __future__ import annotations

import errno
import os
import stat
import struct
from dataclasses import dataclass

from .. import libc
from . import classic_mounts

_PRIVATE = 1 << 18
_OPEN_TREE_CLONE, _AT_EMPTY_PATH, _AT_RECURSIVE, _CLOEXEC = 1, 0x1000, 0x8000, os.O_CLOEXEC
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 4, 8
HAS_ONLY_CLASSIC_MOUNTS = classic_mounts.are_needed()


@dataclass(frozen=True)
class Mount:
    """A folder or file of the host, visible at the same path in the sandbox.

    `tree` is a detached mount that a privileged process has prepared; without it the init makes one itself.
    `exact`: the path was checked and contains no symbolic link; if one appeared since, the mount fails.
    `hidden` are files and folders in it that cannot be opened, as relative paths without symbolic links.
    """

    path: str
    write: bool
    tree: int | None = None
    exact: bool = False
    hidden: tuple[bytes, ...] = ()


def clone_tree(mount: Mount) -> int:
    """A detached copy of the mounts at a path, read-only unless it may be written. It is private: what the host mounts below
    the path later does not appear, with attributes of its own. With classic mounts only, a descriptor of what is at the path."""
    if HAS_ONLY_CLASSIC_MOUNTS:
        return _open_source(mount)
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | _CLOEXEC
    tree = -1
    try:
        tree = _open_exact_tree(mount.path, flags) if mount.exact else libc.syscall(
            libc.OPEN_TREE, -100, os.fsencode(mount.path), flags)
        attributes = _ATTR_NOSUID | (0 if mount.path.startswith("/dev/") else _ATTR_NODEV)
        if not mount.write:
            attributes |= _ATTR_RDONLY
        request = struct.pack("=QQQQ", attributes, 0, _PRIVATE, 0)
        libc.syscall(libc.MOUNT_SETATTR, tree, b"", _AT_EMPTY_PATH | _AT_RECURSIVE, request, len(request))
    except OSError as error:
        if tree >= 0:
            os.close(tree)
        raise OSError(error.errno, error.strerror, mount.path) from None
    return tree


def _open_source(mount: Mount) -> int:
    try:
        path = os.fsencode(mount.path)
        return classic_mounts.open_exact(path) if mount.exact else os.open(path, os.O_PATH | os.O_CLOEXEC)
    except PermissionError as error:
        raise OSError(error.errno, "before Linux 5.12 root cannot mount what others may not reach", mount.path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, mount.path) from None


def _open_exact_tree(path: str, flags: int) -> int:
    fd = open_exact(path)
    try:
        return libc.syscall(libc.OPEN_TREE, fd, b"", flags | _AT_EMPTY_PATH)
    finally:
        os.close(fd)


def open_exact(path: str) -> int:
    """A descriptor for a path that was checked. If it has a symbolic link by now, this fails."""
    return _open_path(-100, os.fsencode(path), _RESOLVE_NO_SYMLINKS)


def _open_path(folder: int, path: bytes, resolve: int) -> int:
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, resolve)
    return libc.syscall(libc.OPENAT2, folder, path, how, len(how))


def attach(mount: Mount, tree: int, path: str) -> None:
    target = path[1:]
    make_target(tree, target)
    attach_tree(mount, tree, target)


def make_target(tree: int, path: str) -> None:
    """A folder or an empty file, as the tree needs it."""
    os.makedirs(os.path.dirname(path) or ".", 0o755, exist_ok=True)
    if os.path.isdir(f"/proc/self/fd/{tree}"):
        os.makedirs(path, exist_ok=True)
    elif not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def attach_tree(mount: Mount, tree: int, target: str) -> None:
    """Attaches what `clone_tree` returned, and closes it."""
    if HAS_ONLY_CLASSIC_MOUNTS:
        classic_mounts.attach(tree, os.fsencode(target), mount.write, mount.path.startswith("/dev/"))
    else:
        libc.syscall(libc.MOVE_MOUNT, tree, b"", -100, os.fsencode(target), 4)  # 4: the source is the descriptor itself
    os.close(tree)


def hide(path: str, hidden: tuple[bytes, ...]) -> None:
    """Covers files and folders below a path with ones that exist and cannot be opened."""
    if not hidden:
        return
    os.mkdir("hidden-folder")
    write_file("hidden-file", b"", create=True)
    for name in ("hidden-folder", "hidden-file"):
        os.chmod(name, 0)
    root = os.open(path[1:], os.O_PATH | os.O_CLOEXEC)
    for name in hidden:
        try:
            target = open_below(root, name)
        except (FileNotFoundError, NotADirectoryError):
            continue  # it has been removed
        except PermissionError:
            if not HAS_ONLY_CLASSIC_MOUNTS:
                raise
            continue  # it is in a folder that the user of the sandbox cannot enter
        cover = clone_tree(Mount("hidden-folder" if stat.S_ISDIR(os.fstat(target).st_mode) else "hidden-file", write=False))
        if HAS_ONLY_CLASSIC_MOUNTS:
            classic_mounts.cover(root, name, cover)
        else:
            libc.syscall(libc.MOVE_MOUNT, cover, b"", target, b"", 0x44)  # both are the descriptors themselves
        os.close(cover)
        os.close(target)
    os.close(root)
    os.rmdir("hidden-folder")
    os.unlink("hidden-file")


def open_below(folder: int, path: bytes) -> int:
    if HAS_ONLY_CLASSIC_MOUNTS:
        return classic_mounts.open_exact(path, folder)
    return _open_path(folder, path, _RESOLVE_NO_SYMLINKS | _RESOLVE_BENEATH)


def make_parents(path: str) -> None:
    parent = os.path.dirname(path)[1:]
    if parent and not os.path.isdir(parent):
        os.makedirs(parent, 0o755)


def write_file(path: str, content: bytes, create: bool = False) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o644)
    try:
        if os.write(fd, content) != len(content):
            raise OSError(errno.EIO, "it was not written whole", path)
    finally:
        os.close(fd)
