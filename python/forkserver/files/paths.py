"""Resolves paths below a folder without ever leaving it, while other processes rename and link files.

Each step opens one name relative to an open folder, and the kernel never follows a link. Links are read and resolved here: one
that leads out of the folder is refused, others are followed. An open folder stays the same folder even if it is renamed; `..`
returns to the folder that was open before.
"""
from __future__ import annotations

import errno
import os
import stat
from typing import NamedTuple

MAX_LINKS = 40
MAX_DEPTH = 256

_HAS_O_PATH = hasattr(os, "O_PATH")  # macOS has none, so it opens folders for reading
_FOLDER = (os.O_PATH if _HAS_O_PATH else os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class OutsideRoot(Exception):
    """The path leads out of the folder."""


class ResolvedPath(NamedTuple):
    """A name in an open folder; it need not exist. `path` is the resolved path below the root; empty for the root."""

    folder: int
    name: bytes
    path: bytes

    @property
    def is_root(self) -> bool:
        return not self.path


class Root:
    """The folder that no path may leave. `name` is its absolute path, which contains no link."""

    def __init__(self, name: str) -> None:
        self._name = os.fsencode(name).rstrip(b"/")
        if not _HAS_O_PATH:  # a session may not read the folders above its own, and cannot rename them
            self._fd = os.open(self._name, _FOLDER)
            return
        self._fd = os.open("/", _FOLDER)
        for part in _split(self._name):
            self._fd = os.open(part, _FOLDER, dir_fd=self._fd)

    def find(self, path: str, *, follow: bool = True, make: bool = False) -> ResolvedPath:
        """Resolves a path. `follow`: also follows a link at its end. `make`: creates missing parent folders."""
        above = [(self._fd, b"")]
        todo = _split(os.fsencode(path))[::-1]
        links = 0
        while todo:
            part = todo.pop()
            if part == b"..":
                if len(above) == 1:
                    raise OutsideRoot("it leads out of the working directory")
                os.close(above.pop()[0])
                continue
            is_last = not todo
            target = self._enter(above, part, is_last, make) if not is_last or follow else None
            if target is None:
                if is_last:
                    return ResolvedPath(above[-1][0], part, _join(above, part))
                continue
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            todo += self._redirect(above, target)
        if len(above) == 1:
            return ResolvedPath(self._fd, b".", b"")
        name = above.pop()[1]
        return ResolvedPath(above[-1][0], name, _join(above, name))

    def _enter(self, above: list[tuple[int, bytes]], part: bytes, is_last: bool, make: bool) -> bytes | None:
        """Enters a folder, unless it is the last part. For a link, returns its target instead."""
        folder = above[-1][0]
        if is_last:
            return _read_link(folder, part)
        if len(above) > MAX_DEPTH:
            raise OSError(errno.ENAMETOOLONG, f"it is more than {MAX_DEPTH} folders deep")
        try:
            above.append((_open_folder(folder, part, make), part))
        except NotADirectoryError:
            target = _read_link(folder, part)
            if target is None:
                raise
            return target
        return None

    def _redirect(self, above: list[tuple[int, bytes]], target: bytes) -> list[bytes]:
        """The target of a link as parts in reverse order, relative to the folder on top of `above`."""
        if not target.startswith(b"/"):
            return _split(target)[::-1]
        if target != self._name and not target.startswith(self._name + b"/"):
            raise OutsideRoot("a link in it leads out of the working directory")
        while len(above) > 1:
            os.close(above.pop()[0])
        return _split(target[len(self._name):])[::-1]


def open_folder(path: ResolvedPath) -> int:
    """Opens a folder for listing; fails for a link."""
    return os.open(path.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=path.folder)


def status(path: ResolvedPath) -> os.stat_result:
    return os.stat(path.name, dir_fd=path.folder, follow_symlinks=False)


def _open_folder(folder: int, part: bytes, make: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    try:
        os.mkdir(part, 0o755, dir_fd=folder)
    except FileExistsError:
        pass
    return os.open(part, _FOLDER, dir_fd=folder)


def _read_link(folder: int, part: bytes) -> bytes | None:
    """The target of a link; None for anything else, and for a missing file."""
    try:
        if not stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
            return None
        return os.readlink(part, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EINVAL:  # it was a link a moment ago
            return None
        raise


def _split(path: bytes) -> list[bytes]:
    return [part for part in path.split(b"/") if part not in (b"", b".")]


def _join(above: list[tuple[int, bytes]], last: bytes) -> bytes:
    return b"/".join([name for _, name in above[1:]] + [last])
