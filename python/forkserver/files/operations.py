"""What a job does with the files of a session: one operation, its answer, and its end.

Only regular files are read and written; a named pipe, a device or a socket is never opened. A file is written under a
temporary name beside its place and renamed, so nobody sees half of it. Names are bytes: those that are not UTF-8 travel
as lone surrogates, as Python has them, and come back as the same bytes.
"""
from __future__ import annotations

import errno
import os
import secrets
import stat
from typing import Callable, Iterator

from . import watch
from ..processes.jobs import MAX_LINE, Channel
from .paths import Place, Refused, Root, open_folder, status

MAX_ENTRIES = 10_000
MAX_LISTED_BYTES = 16 * 1024 * 1024
MAX_COUNTED = 1_000_000
MAX_REMOVED = 10_000_000
# A folder deeper than this is moved up before it is emptied, so that any depth needs few descriptors.
_DEEP = 64
_PIECE = 64 * 1024

_REASONS = {
    errno.ENOENT: "not-found", errno.EEXIST: "exists", errno.ENOTEMPTY: "exists", errno.ENOTDIR: "not-a-folder",
    errno.EISDIR: "is-a-folder", errno.ENOSPC: "no-space", errno.EDQUOT: "no-space", errno.EFBIG: "too-large",
}


class Failure(Exception):
    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason


def work(request: dict, channel: Channel) -> None:
    """The whole of a job."""
    try:
        _OPERATIONS[request["do"]](Root(request["folder"]), request, channel)
    except (EOFError, BrokenPipeError):
        raise
    except Refused as error:
        channel.say({"type": "error", "reason": "refused", "why": str(error)})
    except Failure as error:
        channel.say({"type": "error", "reason": error.reason, "why": str(error)})
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, "denied")
        channel.say({"type": "error", "reason": reason, "why": _lower_first(error.strerror or str(error))})
    except MemoryError:
        channel.say({"type": "error", "reason": "denied", "why": "there is too much in it"})


def remove_all(folder: str) -> None:
    """For the init: the folder of a session that has ended, with all that is in it, as far as it can be done."""
    try:
        parent, _, name = folder.rpartition("/")
        _remove_folder(Root(parent).find(name, follow=False), lambda: None)
    except (OSError, Failure, Refused):
        pass


def _read(root: Root, request: dict, channel: Channel) -> None:
    place = root.find(request["path"])
    _check_regular(status(place))  # before it is opened, since opening a pipe is felt by its writer
    fd = os.open(place.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=place.folder)
    found = os.fstat(fd)
    _check_regular(found)
    offset = request.get("offset", 0)
    left = max(0, found.st_size - offset)  # what is appended while it is read is not waited for
    if request.get("length") is not None:
        left = min(left, request["length"])
    if request.get("maxBytes") is not None and left > request["maxBytes"]:
        raise Failure("too-large", f"it has {left} bytes to read, and at most {request['maxBytes']} are taken at once")
    channel.say({"type": "size", "size": found.st_size, "modifiedMs": found.st_mtime_ns // 1_000_000})
    while left > 0:
        data = os.pread(fd, min(left, _PIECE), offset)
        if not data:
            break  # it was cut short meanwhile
        channel.say({"type": "data", "bytes": len(data)}, data)
        offset += len(data)
        left -= len(data)
    channel.say({"type": "done"})


def _write(root: Root, request: dict, channel: Channel) -> None:
    place = root.find(request["path"], make=True)
    mode = _mode_to_keep(place)
    name = watch.temporary_name(secrets.token_hex(8))
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=place.folder)
    try:
        for chunk in channel.payloads():
            data = memoryview(chunk)
            while data:
                data = data[os.write(fd, data):]
        os.fchmod(fd, mode)
        os.rename(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        _unlink(place.folder, name)
        raise
    channel.say(_entry(place.folder, place.name, place.path, os.fstat(fd)))
    channel.say({"type": "done"})


def _mode_to_keep(place: Place) -> int:
    """The permissions of the file that is replaced, if there is one."""
    if place.is_root:
        raise Failure("is-a-folder", "it is the working directory")
    try:
        found = status(place)
    except FileNotFoundError:
        return 0o644
    _check_regular(found)
    return stat.S_IMODE(found.st_mode) & 0o777


def _stat(root: Root, request: dict, channel: Channel) -> None:
    place = root.find(request["path"], follow=False)
    channel.say(_entry(place.folder, place.name, place.path, status(place)))
    channel.say({"type": "done"})


def _list(root: Root, request: dict, channel: Channel) -> None:
    place = root.find(request["path"])
    said = said_bytes = omitted = 0
    for folder, name, path in _walk(open_folder(place), place.path, request["depth"]):
        channel.beat()
        if said < MAX_ENTRIES and said_bytes < MAX_LISTED_BYTES:
            try:
                entry = _entry(folder, name, path, os.stat(name, dir_fd=folder, follow_symlinks=False))
            except FileNotFoundError:
                continue  # it was removed meanwhile
            if (len(path) + len(entry.get("target", ""))) * 6 + 2048 < MAX_LINE:
                said += 1
                said_bytes += channel.say(entry)
                continue
        omitted += 1
        if omitted >= MAX_COUNTED:
            break
    channel.say({"type": "done", "omitted": omitted})


def _walk(folder: int, path: bytes, depth: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Everything below an open folder, each with the folder it is in; sorted by name, links not followed."""
    for name in sorted(os.fsencode(name) for name in os.listdir(folder)):
        below = path + b"/" + name if path else name
        yield folder, name, below
        if depth <= 1:
            continue
        try:
            child = open_folder(Place(folder, name, below))
        except OSError:
            continue  # not a folder, or not any more
        try:
            yield from _walk(child, below, depth - 1)
        finally:
            os.close(child)


def _make_folder(root: Root, request: dict, channel: Channel) -> None:
    place = root.find(request["path"], make=True)
    made = False
    if not place.is_root:
        try:
            os.mkdir(place.name, 0o755, dir_fd=place.folder)
            made = True
        except FileExistsError:
            if not stat.S_ISDIR(status(place).st_mode):
                raise
    channel.say({"type": "done", "made": made})


def _rename(root: Root, request: dict, channel: Channel) -> None:
    source = root.find(request["path"], follow=False)
    status(source)  # before folders are made for nothing
    target = root.find(request["to"], follow=False, make=True)
    if source.is_root or target.is_root:
        raise Failure("denied", "the working directory itself stays where it is")
    os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
    channel.say(_entry(target.folder, target.name, target.path, status(target)))
    channel.say({"type": "done"})


def _remove(root: Root, request: dict, channel: Channel) -> None:
    place = root.find(request["path"], follow=False)
    if place.is_root:
        raise Failure("denied", "the working directory itself stays where it is")
    if stat.S_ISDIR(status(place).st_mode):
        _remove_folder(place, channel.beat)
    else:
        os.unlink(place.name, dir_fd=place.folder)
    channel.say({"type": "done"})


class _Removal:
    """One folder that is being emptied."""

    def __init__(self, top: int, beat: Callable[[], None]) -> None:
        self.top = top
        self.device = os.fstat(top).st_dev
        self.has_mount = False  # what is mounted is the host's, and stays
        self._beat = beat
        self._left = MAX_REMOVED  # somebody may fill it as fast as it is emptied

    def count(self) -> None:
        self._beat()
        self._left -= 1
        if self._left < 0:
            raise Failure("denied", "it is filled as fast as it is emptied")


def _remove_folder(place: Place, beat: Callable[[], None]) -> None:
    removal = _Removal(open_folder(place), beat)
    while True:
        _empty(removal.top, removal, 1)
        if removal.has_mount:
            raise Failure("denied", "a folder of the host is mounted in it, and stays")
        try:
            os.rmdir(place.name, dir_fd=place.folder)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def _empty(folder: int, removal: _Removal, depth: int) -> None:
    """Removes what is in a folder. Where somebody interferes something is left, for the next round."""
    for entry in os.listdir(folder):
        name = os.fsencode(entry)
        removal.count()
        try:
            child = open_folder(Place(folder, name, name))
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                removal.has_mount |= not _unlink(folder, name)
            elif error.errno != errno.ENOENT:
                raise
            continue
        try:
            if os.fstat(child).st_dev != removal.device:
                removal.has_mount = True
                continue
            if depth >= _DEEP:
                os.rename(name, watch.temporary_name(secrets.token_hex(8)), src_dir_fd=folder, dst_dir_fd=removal.top)
                continue
            _empty(child, removal, depth + 1)
            os.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        finally:
            os.close(child)


def _unlink(folder: int, name: bytes) -> bool:
    """False: a file of the host is mounted there."""
    try:
        os.unlink(name, dir_fd=folder)
    except (FileNotFoundError, IsADirectoryError):
        pass  # it has become something else
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


def _entry(folder: int, name: bytes, path: bytes, found: os.stat_result) -> dict:
    kind = stat.S_IFMT(found.st_mode)
    entry = {
        "type": "entry",
        "name": os.fsdecode(name),
        "path": os.fsdecode(path) or ".",
        "kind": {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}.get(kind, "other"),
        "size": found.st_size if kind == stat.S_IFREG else 0,
        "modifiedMs": found.st_mtime_ns // 1_000_000,
        "mode": stat.S_IMODE(found.st_mode),
    }
    if kind == stat.S_IFLNK:
        try:
            entry["target"] = os.fsdecode(os.readlink(name, dir_fd=folder))
        except OSError:
            pass  # it is no longer one
    return entry


def _check_regular(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise Failure("is-a-folder", "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise Failure("not-a-file", "it is neither a file nor a folder")


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


_OPERATIONS: dict[str, Callable[[Root, dict, Channel], None]] = {
    "read": _read, "write": _write, "stat": _stat, "list": _list, "make-folder": _make_folder, "rename": _rename,
    "remove": _remove, "watch": watch.watch,
}
