"""The file operations of a session. Each runs in a job of its own: one request, its answer, and the end.

Only regular files are read and written; a named pipe, a device or a socket is never opened. A file is written under a
temporary name in the same folder and then renamed, so no reader sees a partial file. Names are bytes: those that are not UTF-8
are sent as lone surrogates (surrogateescape) and become the same bytes again.
"""
from __future__ import annotations

import errno
import os
import stat
from typing import Callable, Iterator

from ..processes.jobs import MAX_LINE, Channel
from . import watch
from .paths import OutsideRoot, ResolvedPath, Root, open_folder, status

MAX_ENTRIES = 10_000
MAX_LISTED_BYTES = 16 * 1024 * 1024
MAX_COUNTED = 1_000_000
MAX_REMOVED = 10_000_000
# A folder deeper than this is moved up before it is emptied, to limit the number of open descriptors.
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
    """Handles the request of a job."""
    try:
        _OPERATIONS[request["do"]](Root(request["folder"]), request, channel)
    except (EOFError, BrokenPipeError):
        raise
    except OutsideRoot as error:
        channel.send({"type": "error", "reason": "refused", "why": str(error)})
    except Failure as error:
        channel.send({"type": "error", "reason": error.reason, "why": str(error)})
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, "denied")
        channel.send({"type": "error", "reason": reason, "why": _lower_first(error.strerror or str(error))})
    except MemoryError:
        channel.send({"type": "error", "reason": "denied", "why": "there is too much in it"})


def remove_all(folder: str) -> None:
    """For the init: removes the folder of a session that has ended, as far as possible."""
    try:
        parent, _, name = folder.rpartition("/")
        _remove_folder(Root(parent).find(name, follow=False), lambda: None)
    except (OSError, Failure, OutsideRoot):
        pass


def empty_all(folder: str) -> None:
    """For a process that is not confined: removes what is in the folder of a sandbox that has ended, as far as possible."""
    top = Root(folder).find(".")
    try:
        os.chmod(folder, 0o700)
        _empty(open_folder(top), _Removal(open_folder(top), lambda: None, forces=True), 1)
    except (OSError, Failure):
        pass


def _read(root: Root, request: dict, channel: Channel) -> None:
    target = root.find(request["path"])
    _check_regular(status(target))  # before opening it: opening a pipe would have an effect on its writer
    fd = os.open(target.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=target.folder)
    found = os.fstat(fd)
    _check_regular(found)
    offset = request.get("offset", 0)
    left = max(0, found.st_size - offset)  # bytes appended while it is read are not sent
    if request.get("length") is not None:
        left = min(left, request["length"])
    if request.get("maxBytes") is not None and left > request["maxBytes"]:
        raise Failure("too-large", f"it has {left} bytes to read, and at most {request['maxBytes']} are taken at once")
    version = f"{found.st_size:x}-{found.st_mtime_ns:x}-{found.st_ino:x}"  # changes with the content
    channel.send({"type": "size", "size": found.st_size, "modifiedMs": found.st_mtime_ns // 1_000_000, "version": version})
    while left > 0:
        data = os.pread(fd, min(left, _PIECE), offset)
        if not data:
            break  # it was truncated meanwhile
        channel.send({"type": "data", "bytes": len(data)}, data)
        offset += len(data)
        left -= len(data)
    channel.send({"type": "done"})


def _write(root: Root, request: dict, channel: Channel) -> None:
    if request["path"].endswith("/"):
        raise Failure("is-a-folder", "it names a folder")
    target = root.find(request["path"], make=True)
    mode = _mode_to_keep(target)
    name = watch.temporary_name(os.urandom(8).hex())
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=target.folder)
    try:
        for chunk in channel.payloads():
            data = memoryview(chunk)
            while data:
                data = data[os.write(fd, data):]
        os.fchmod(fd, mode)
        os.rename(name, target.name, src_dir_fd=target.folder, dst_dir_fd=target.folder)
    except BaseException:
        _unlink(target.folder, name)
        raise
    channel.send(_entry(target.folder, target.name, target.path, os.fstat(fd)))
    channel.send({"type": "done"})


def _mode_to_keep(target: ResolvedPath) -> int:
    """The permissions of the file that is replaced; the default for a new file."""
    if target.is_root:
        raise Failure("is-a-folder", "it is the working directory")
    try:
        found = status(target)
    except FileNotFoundError:
        return 0o644
    _check_regular(found)
    return stat.S_IMODE(found.st_mode) & 0o777


def _stat(root: Root, request: dict, channel: Channel) -> None:
    target = root.find(request["path"], follow=False)
    channel.send(_entry(target.folder, target.name, target.path, status(target)))
    channel.send({"type": "done"})


def _list(root: Root, request: dict, channel: Channel) -> None:
    target = root.find(request["path"])
    sent = sent_bytes = omitted = 0
    for folder, name, path in _walk(open_folder(target), target.path, request["depth"]):
        channel.heartbeat()
        if sent < MAX_ENTRIES and sent_bytes < MAX_LISTED_BYTES:
            try:
                entry = _entry(folder, name, path, os.stat(name, dir_fd=folder, follow_symlinks=False))
            except FileNotFoundError:
                continue  # it was removed meanwhile
            if (len(path) + len(entry.get("target", ""))) * 6 + 2048 < MAX_LINE:
                sent += 1
                sent_bytes += channel.send(entry)
                continue
        omitted += 1
        if omitted >= MAX_COUNTED:
            break
    channel.send({"type": "done", "omitted": omitted})


def _walk(folder: int, path: bytes, depth: int) -> Iterator[tuple[int, bytes, bytes]]:
    """All entries below an open folder, each with its parent folder, sorted by name. Links are not followed."""
    for name in sorted(os.fsencode(name) for name in os.listdir(folder)):
        below = path + b"/" + name if path else name
        yield folder, name, below
        if depth <= 1:
            continue
        try:
            child = open_folder(ResolvedPath(folder, name, below))
        except OSError:
            continue  # not a folder
        try:
            yield from _walk(child, below, depth - 1)
        finally:
            os.close(child)


def _make_folder(root: Root, request: dict, channel: Channel) -> None:
    target = root.find(request["path"], make=True)
    made = False
    if not target.is_root:
        try:
            os.mkdir(target.name, 0o755, dir_fd=target.folder)
            made = True
        except FileExistsError:
            if not stat.S_ISDIR(status(target).st_mode):
                raise
    channel.send({"type": "done", "made": made})


def _rename(root: Root, request: dict, channel: Channel) -> None:
    source = root.find(request["path"], follow=False)
    status(source)  # fails before parent folders are created for nothing
    target = root.find(request["to"], follow=False, make=True)
    if source.is_root or target.is_root:
        raise Failure("denied", "the working directory cannot be moved")
    os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
    channel.send(_entry(target.folder, target.name, target.path, status(target)))
    channel.send({"type": "done"})


def _remove(root: Root, request: dict, channel: Channel) -> None:
    target = root.find(request["path"], follow=False)
    if target.is_root:
        raise Failure("denied", "the working directory cannot be removed")
    if stat.S_ISDIR(status(target).st_mode):
        _remove_folder(target, channel.heartbeat)
    else:
        os.unlink(target.name, dir_fd=target.folder)
    channel.send({"type": "done"})


class _Removal:
    """The state of removing one folder."""

    def __init__(self, top: int, heartbeat: Callable[[], None], forces: bool = False) -> None:
        self.top = top
        self.device = os.fstat(top).st_dev
        self.has_mount = False  # mounts belong to the host and stay
        self.forces = forces  # also what the session has taken its own permissions away from
        self._heartbeat = heartbeat
        self._left = MAX_REMOVED  # another process may fill it as fast as it is emptied

    def count(self) -> None:
        self._heartbeat()
        self._left -= 1
        if self._left < 0:
            raise Failure("denied", "it is filled as fast as it is emptied")


def _remove_folder(target: ResolvedPath, heartbeat: Callable[[], None]) -> None:
    removal = _Removal(open_folder(target), heartbeat)
    while True:
        _empty(removal.top, removal, 1)
        if removal.has_mount:
            raise Failure("denied", "a folder of the host is mounted in it, and stays")
        try:
            os.rmdir(target.name, dir_fd=target.folder)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def _empty(folder: int, removal: _Removal, depth: int) -> None:
    """Removes the contents of a folder. If another process interferes, entries are left for the next round."""
    for entry in os.listdir(folder):
        name = os.fsencode(entry)
        removal.count()
        try:
            if removal.forces:
                _make_accessible(folder, name)
            child = open_folder(ResolvedPath(folder, name, name))
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
                os.rename(name, watch.temporary_name(os.urandom(8).hex()), src_dir_fd=folder, dst_dir_fd=removal.top)
                continue
            _empty(child, removal, depth + 1)
            os.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        finally:
            os.close(child)


def _make_accessible(folder: int, name: bytes) -> None:
    """If it is a folder that its owner cannot list or change."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{fd}", 0o700)
    finally:
        os.close(fd)


def _unlink(folder: int, name: bytes) -> bool:
    """False if a file of the host is mounted there."""
    try:
        os.unlink(name, dir_fd=folder)
    except (FileNotFoundError, IsADirectoryError):
        pass  # it was removed or replaced by a folder
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
            pass  # it is no longer a link
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
