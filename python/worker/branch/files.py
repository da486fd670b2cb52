"""Files in a copy of the worker: its own working folder, and its own positions in open files."""

import fcntl
import os
import shutil
import stat
import sys
from typing import NamedTuple, Optional, Set


class FolderMove(NamedTuple):
    """The working folder of the original, and the copy of it that the new branch works in."""

    old: str
    new: str

    def translate(self, path: str) -> Optional[str]:
        """The same path in the new folder; None for a path outside the old one."""
        if path == self.old or path.startswith(self.old + "/"):
            return self.new + path[len(self.old) :]
        return None


def move_to_copy(move: FolderMove) -> None:
    """Copies the working folder and changes into the copy."""
    old, new = move
    try:
        _copy_tree(old, new)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    here = move.translate(os.getcwd())
    if here is not None:
        os.chdir(here)
    if os.environ.get("HOME") == old:
        os.environ["HOME"] = new
    sys.path[:] = [move.translate(entry) or entry if isinstance(entry, str) else entry for entry in sys.path]


def remove_copy(folder: str) -> None:
    """For a copy that failed: nobody else removes its folder. The init may have tried while files were still copied."""
    shutil.rmtree(folder, ignore_errors=True)


def reopen_files(own: Set[int], move: Optional[FolderMove]) -> None:
    """Gives every open regular file a position of its own; files in a moved folder become their copies."""
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd < 3 or fd in own:
            continue
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                _reopen(fd, move)
        except OSError:
            pass  # stays shared, as after any fork


def _copy_tree(old: str, new: str) -> None:
    os.mkdir(new, 0o700)
    for entry in os.scandir(old):
        target = os.path.join(new, entry.name)
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), target)
        elif entry.is_dir():
            if os.path.ismount(entry.path):  # a folder of the host, the same for every branch
                os.symlink(entry.path, target)
            else:
                _copy_tree(entry.path, target)
        elif entry.is_file():
            shutil.copy2(entry.path, target)
    shutil.copystat(old, new)


def _reopen(fd: int, move: Optional[FolderMove]) -> None:
    path = os.readlink(f"/proc/self/fd/{fd}")
    target = move.translate(path) if move else None
    if target is None or not os.path.isfile(target):
        target = f"/proc/self/fd/{fd}"
    flags = fcntl.fcntl(fd, fcntl.F_GETFL) & ~(os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_TMPFILE | os.O_NOFOLLOW)
    position = os.lseek(fd, 0, os.SEEK_CUR)
    inheritable = os.get_inheritable(fd)
    fresh = os.open(target, flags | os.O_CLOEXEC)
    try:
        os.lseek(fresh, position, os.SEEK_SET)
        os.dup2(fresh, fd, inheritable)
    finally:
        os.close(fresh)
