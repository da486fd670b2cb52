"""Watches a folder for changes, by inotify, until the host stops listening.

Memory is limited: while the host does not read, the kernel queues a limited number of events and then reports an overflow,
which is passed on as `overflow`. The same is sent for a folder that cannot be watched.
"""
from __future__ import annotations

import errno
import os
import select
import stat
import struct
import sys
from typing import NamedTuple

from .. import libc
from ..processes.jobs import MAX_LINE, Channel
from .paths import OutsideRoot, ResolvedPath, Root, open_folder, status

MAX_FOLDERS = 1024
MAX_DEPTH = 64
_PAIR_MS = 20  # how long the second event of a rename may come after the first

_INIT, _ADD, _REMOVE = (294, 254, 255) if libc.X86_64 else (26, 27, 28)
_MODIFY, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x4000, 0x8000
_ONLY_FOLDERS, _EXCLUDE_UNLINKED, _IS_FOLDER = 0x01000000, 0x04000000, 0x40000000
_MASK = (_MODIFY | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
         | _ONLY_FOLDERS | _EXCLUDE_UNLINKED)
_HEADER = struct.Struct("=iIII")

_TEMPORARY = b".rlm-", b".part"


def temporary_name(unique: str) -> bytes:
    """A name that is not reported: files are written under it and then renamed."""
    return unique.encode().join(_TEMPORARY)


def watch(root: Root, request: dict, channel: Channel) -> None:
    """Sends `ready`, then every change, until the host closes its end or the folder is gone."""
    if sys.platform != "linux":
        raise OSError(errno.EOPNOTSUPP, "the seatbelt tier does not support 'watch'")
    _Watch(root, root.find(request["path"]), request["recursive"], channel).run()


class _Move(NamedTuple):
    cookie: int
    path: bytes
    is_folder: bool


class _Watch:
    def __init__(self, root: Root, folder: ResolvedPath, recursive: bool, channel: Channel) -> None:
        self._root = root
        self._top = folder.path
        self._recursive = recursive
        self._channel = channel
        self._fd = libc.syscall(_INIT, os.O_NONBLOCK | os.O_CLOEXEC)
        self._folders: dict[int, bytes] = {}
        # The first event of a rename, until the second arrives.
        self._moved: _Move | None = None
        # Already reported, because they were found in a new folder before it was watched.
        self._reported: set[bytes] = set()
        self._last: tuple = ()
        top = open_folder(folder)
        self._top_number = self._add(top, folder.path)
        if recursive:
            self._add_below(top, folder.path, report=False, depth=1)
        os.close(top)

    def run(self) -> None:
        self._channel.send({"type": "ready"})
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._channel.source, select.POLLIN)
        is_over = False
        while not is_over:
            self._channel.flush()
            ready = dict(poll.poll(_PAIR_MS if self._moved else None))
            if self._channel.source in ready:
                return  # the host sends nothing there, so this is the end of the pipe
            if self._fd in ready:
                is_over = self._handle_events(os.read(self._fd, 65536))
            else:
                self._settle_move()
        self._channel.send({"type": "done"})

    def _handle_events(self, data: bytes) -> bool:
        """Returns whether the watched folder itself is gone."""
        at = 0
        self._last = ()
        while at < len(data):
            number, mask, cookie, length = _HEADER.unpack_from(data, at)
            name = data[at + _HEADER.size:at + _HEADER.size + length].rstrip(b"\0")
            at += _HEADER.size + length
            if mask & _OVERFLOW:
                self._report("overflow", self._top)
            elif mask & _IGNORED:
                self._folders.pop(number, None)
            elif mask & (_DELETE_SELF | _MOVE_SELF):
                if number == self._top_number:
                    self._settle_move()
                    self._report("removed", self._top)
                    return True
            elif number in self._folders:
                self._change(mask, cookie, _below(self._folders[number], name))
        return False

    def _change(self, mask: int, cookie: int, path: bytes) -> None:
        is_folder = bool(mask & _IS_FOLDER)
        if self._moved is not None and not (mask & _MOVED_TO and cookie == self._moved.cookie):
            self._settle_move()
        if mask & _MOVED_FROM:
            self._moved = _Move(cookie, path, is_folder)
            if is_folder:
                self._forget(path)
        elif mask & _MOVED_TO:
            self._arrive(path, is_folder)
        elif mask & _CREATE:
            if path not in self._reported:
                self._report("created", path)
            self._reported.discard(path)
            if is_folder:
                self._enter(path, report=True)
        elif mask & _MODIFY:
            self._report("modified", path)
        elif mask & _DELETE:
            self._reported.discard(path)
            self._report("removed", path)

    def _arrive(self, path: bytes, is_folder: bool) -> None:
        moved, self._moved = self._moved, None
        if moved is not None and not _is_temporary(moved.path):
            self._report("renamed", path, moved.path)
        else:
            self._report("created", path)
        if is_folder:
            self._enter(path, report=moved is None)

    def _settle_move(self) -> None:
        """The second event has not come: the file was moved out of the watched folders."""
        if self._moved is not None:
            self._report("removed", self._moved.path)
            self._moved = None

    def _enter(self, path: bytes, report: bool) -> None:
        if not self._recursive:
            return
        try:
            folder = open_folder(self._root.find(os.fsdecode(path), follow=False))
        except (OSError, OutsideRoot):
            return  # already gone
        self._add(folder, path)
        self._add_below(folder, path, report, path.count(b"/") + 1)
        os.close(folder)

    def _add(self, folder: int, path: bytes) -> int:
        """Watches the open folder itself, whatever its name refers to by now."""
        number = libc.syscall(_ADD, self._fd, b"/proc/self/fd/%d" % folder, _MASK)
        self._folders[number] = path
        return number

    def _add_below(self, folder: int, path: bytes, report: bool, depth: int) -> None:
        for name in sorted(os.listdir(folder)):
            below = _below(path, os.fsencode(name))
            if report:
                self._report("created", below)
                if len(self._reported) < 65536:
                    self._reported.add(below)
            entry = ResolvedPath(folder, os.fsencode(name), below)
            try:
                if not stat.S_ISDIR(status(entry).st_mode):
                    continue
                if len(self._folders) >= MAX_FOLDERS or depth >= MAX_DEPTH:
                    self._report("overflow", below)
                    continue
                child = open_folder(entry)
            except OSError:
                continue
            try:
                self._add(child, below)
                self._add_below(child, below, report, depth + 1)
            except OSError:
                self._report("overflow", below)
            finally:
                os.close(child)

    def _forget(self, path: bytes) -> None:
        for number, folder in list(self._folders.items()):
            if folder == path or folder.startswith(path + b"/"):
                del self._folders[number]
                try:
                    libc.syscall(_REMOVE, self._fd, number)
                except OSError:
                    pass

    def _report(self, change: str, path: bytes, origin: bytes | None = None) -> None:
        if _is_temporary(path) or (change, path, origin) == self._last:
            return
        if len(path) * 6 + len(origin or b"") * 6 + 1024 > MAX_LINE:
            change, path, origin = "overflow", self._top, None
        self._last = (change, path, origin)
        event = {"type": "change", "change": change, "path": os.fsdecode(path) or "."}
        if origin is not None:
            event["from"] = os.fsdecode(origin)
        self._channel.send(event)


def _is_temporary(path: bytes) -> bool:
    name = path.rpartition(b"/")[2]
    return name.startswith(_TEMPORARY[0]) and name.endswith(_TEMPORARY[1])


def _below(folder: bytes, name: bytes) -> bytes:
    return folder + b"/" + name if folder else name
