"""Telling what changes in a folder, by inotify, until nobody listens any more.

Nothing here grows without a bound: while the host does not read, the kernel keeps a limited number of events and then
says that it dropped some, which is passed on as `overflow`, and so is a folder that could not be watched.
"""
from __future__ import annotations

import os
import select
import stat
import struct
from typing import NamedTuple

from .. import libc
from ..processes.jobs import MAX_LINE, Channel
from .paths import Place, Refused, Root, open_folder, status

MAX_FOLDERS = 1024
MAX_DEPTH = 64
_PAIR_MS = 20  # how long the second half of a rename may come after the first

_INIT, _ADD, _REMOVE = (294, 254, 255) if libc.X86_64 else (26, 27, 28)
_MODIFY, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x4000, 0x8000
_ONLY_FOLDERS, _EXCLUDE_UNLINKED, _IS_FOLDER = 0x01000000, 0x04000000, 0x40000000
_MASK = (_MODIFY | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
         | _ONLY_FOLDERS | _EXCLUDE_UNLINKED)
_HEADER = struct.Struct("=iIII")

_TEMPORARY = b".rlm-", b".part"


def temporary_name(unique: str) -> bytes:
    """A name that is not reported: files are written under it before they are where they belong."""
    return unique.encode().join(_TEMPORARY)


def watch(root: Root, request: dict, channel: Channel) -> None:
    """Says `ready`, then every change, until the host closes its end or the folder is gone."""
    _Watch(root, root.find(request["path"]), request["recursive"], channel).run()


class _Move(NamedTuple):
    cookie: int
    path: bytes
    is_folder: bool


class _Watch:
    def __init__(self, root: Root, place: Place, recursive: bool, channel: Channel) -> None:
        self._root = root
        self._top = place.path
        self._recursive = recursive
        self._channel = channel
        self._fd = libc.syscall(_INIT, os.O_NONBLOCK | os.O_CLOEXEC)
        self._folders: dict[int, bytes] = {}
        # The first half of a rename, until its other half has come.
        self._moved: _Move | None = None
        # Told already, because they were in a new folder before it was watched.
        self._told: set[bytes] = set()
        self._last: tuple = ()
        top = open_folder(place)
        self._top_number = self._add(top, place.path)
        if recursive:
            self._add_below(top, place.path, tell=False, depth=1)
        os.close(top)

    def run(self) -> None:
        self._channel.say({"type": "ready"})
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._channel.source, select.POLLIN)
        is_over = False
        while not is_over:
            self._channel.flush()
            ready = dict(poll.poll(_PAIR_MS if self._moved else None))
            if self._channel.source in ready:
                return  # nothing is ever sent there: it has ended
            if self._fd in ready:
                is_over = self._hear(os.read(self._fd, 65536))
            else:
                self._settle_move()
        self._channel.say({"type": "done"})

    def _hear(self, data: bytes) -> bool:
        """Whether the watched folder itself is gone."""
        at = 0
        self._last = ()
        while at < len(data):
            number, mask, cookie, length = _HEADER.unpack_from(data, at)
            name = data[at + _HEADER.size:at + _HEADER.size + length].rstrip(b"\0")
            at += _HEADER.size + length
            if mask & _OVERFLOW:
                self._say("overflow", self._top)
            elif mask & _IGNORED:
                self._folders.pop(number, None)
            elif mask & (_DELETE_SELF | _MOVE_SELF):
                if number == self._top_number:
                    self._settle_move()
                    self._say("removed", self._top)
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
            if path not in self._told:
                self._say("created", path)
            self._told.discard(path)
            if is_folder:
                self._enter(path, tell=True)
        elif mask & _MODIFY:
            self._say("modified", path)
        elif mask & _DELETE:
            self._told.discard(path)
            self._say("removed", path)

    def _arrive(self, path: bytes, is_folder: bool) -> None:
        moved, self._moved = self._moved, None
        if moved is not None and not _is_temporary(moved.path):
            self._say("renamed", path, moved.path)
        else:
            self._say("created", path)
        if is_folder:
            self._enter(path, tell=moved is None)

    def _settle_move(self) -> None:
        """Its other half has not come: it went where nobody watches."""
        if self._moved is not None:
            self._say("removed", self._moved.path)
            self._moved = None

    def _enter(self, path: bytes, tell: bool) -> None:
        if not self._recursive:
            return
        try:
            folder = open_folder(self._root.find(os.fsdecode(path), follow=False))
        except (OSError, Refused):
            return  # gone again
        self._add(folder, path)
        self._add_below(folder, path, tell, path.count(b"/") + 1)
        os.close(folder)

    def _add(self, folder: int, path: bytes) -> int:
        """Watches exactly the folder that is open here, whatever its name means by now."""
        number = libc.syscall(_ADD, self._fd, b"/proc/self/fd/%d" % folder, _MASK)
        self._folders[number] = path
        return number

    def _add_below(self, folder: int, path: bytes, tell: bool, depth: int) -> None:
        for name in sorted(os.listdir(folder)):
            below = _below(path, os.fsencode(name))
            if tell:
                self._say("created", below)
                if len(self._told) < 65536:
                    self._told.add(below)
            place = Place(folder, os.fsencode(name), below)
            try:
                if not stat.S_ISDIR(status(place).st_mode):
                    continue
                if len(self._folders) >= MAX_FOLDERS or depth >= MAX_DEPTH:
                    self._say("overflow", below)
                    continue
                child = open_folder(place)
            except OSError:
                continue
            try:
                self._add(child, below)
                self._add_below(child, below, tell, depth + 1)
            except OSError:
                self._say("overflow", below)
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

    def _say(self, change: str, path: bytes, origin: bytes | None = None) -> None:
        if _is_temporary(path) or (change, path, origin) == self._last:
            return
        if len(path) * 6 + len(origin or b"") * 6 + 1024 > MAX_LINE:
            change, path, origin = "overflow", self._top, None
        self._last = (change, path, origin)
        event = {"type": "change", "change": change, "path": os.fsdecode(path) or "."}
        if origin is not None:
            event["from"] = os.fsdecode(origin)
        self._channel.say(event)


def _is_temporary(path: bytes) -> bool:
    name = path.rpartition(b"/")[2]
    return name.startswith(_TEMPORARY[0]) and name.endswith(_TEMPORARY[1])


def _below(folder: bytes, name: bytes) -> bytes:
    return folder + b"/" + name if folder else name
