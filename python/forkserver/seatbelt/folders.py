"""The folder in which a supervisor keeps its pipes and the files of its sessions."""
from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile

_PREFIX = "rlm-seatbelt-"
_LOCK = "lock"
_MAX_COUNTED = 100_000


def make_base(temporary: str) -> str:
    """Its lock is held while this process lives. Removes what killed supervisors of this user left. The path has no links: rules of
    a profile are about real paths."""
    temporary = os.path.realpath(temporary)
    for name in os.listdir(temporary):
        if name.startswith(_PREFIX):
            _remove_if_stale(f"{temporary}/{name}")
    base = tempfile.mkdtemp(prefix=_PREFIX, dir=temporary)
    fd = os.open(f"{base}/{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return base


def remove(folder: str) -> None:
    """As far as possible: what stays is removed at the next start. Follows no link, whatever is renamed meanwhile."""
    try:
        for _, names, _, parent in os.fwalk(folder):
            for name in names:
                _make_accessible(name, parent)
    except OSError:
        pass
    shutil.rmtree(folder, ignore_errors=True)


def disk_usage(folder: str) -> int:
    """What files below a folder take, of as many as can be counted in a short time."""
    total = counted = 0
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            try:
                total += os.lstat(f"{parent}/{name}").st_blocks * 512
            except OSError:
                continue
        counted += len(folders) + len(names)
        if counted > _MAX_COUNTED:
            break
    return total


def _make_accessible(name: str, parent: int) -> None:
    follows = os.chmod not in os.supports_follow_symlinks  # on Linux, where this is tested only
    try:
        if stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode):
            os.chmod(name, 0o700, dir_fd=parent, follow_symlinks=follows)
    except OSError:
        pass


def _remove_if_stale(folder: str) -> None:
    try:
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            return
        fd = os.open(f"{folder}/{_LOCK}", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(folder)
        finally:
            os.close(fd)
    except OSError:
        return  # it is in use
