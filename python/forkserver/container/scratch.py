"""The folders of sandboxes that have no root of their own, and how a sandbox ends there.

All sandboxes of a fork server have their folders in one base folder, whose name is random. A lock on a file in it tells that it is
in use; the file holds the first of the marks that processes of these sandboxes carry (proc.py). So the next runtime of the same user
can end and remove what a killed one left.
"""
from __future__ import annotations

import fcntl
import os
import resource
import signal
import stat
import time
from dataclasses import dataclass
from typing import Callable

from .. import libc
from ..files import operations
from ..processes import proc

_PREFIX = "rlm-sandboxes-"
_LOCK = "lock"
_FOLDERS = ("work", "forks", "tmp")
_MARKS = 1 << 20
_MAX_COUNTED = 100_000
_LONGEST_PAUSE_S = 0.1


@dataclass(frozen=True)
class Scratch:
    """The folder of one sandbox, and the mark of its processes. `is_mount`: the folder is there already."""

    folder: str
    mark: int
    is_mount: bool = False


@dataclass(frozen=True)
class Base:
    """`is_mount`: the folder is that of a container with one sandbox, which has all of it. Its files end with the container."""

    folder: str
    first_mark: int
    is_mount: bool = False

    def scratch(self, number: int) -> Scratch:
        mark = self.first_mark + number % _MARKS
        return Scratch(self.folder, mark, is_mount=True) if self.is_mount else Scratch(f"{self.folder}/{number}", mark)

    def remove(self, own: list[range]) -> None:
        """Ends every sandbox and removes its folder, where no fork server uses it any more. `own` are users that nobody else has."""
        marks = self.first_mark, self.first_mark + _MARKS - 1
        _kill_once(proc.processes_marked(*marks), *marks)
        if self.is_mount:
            return
        for name in os.listdir(self.folder):
            owner = os.lstat(f"{self.folder}/{name}")
            if name.isdigit() and stat.S_ISDIR(owner.st_mode):
                scratch = self.scratch(int(name))
                is_own = any(owner.st_uid in part for part in own)
                pid = start_cleaner(scratch, owner.st_uid, owner.st_gid, is_own)
                _wait_for(pid)
                remove_emptied(scratch)
        if os.listdir(self.folder) == [_LOCK]:  # else the next start tries again, and needs the lock for it
            os.unlink(f"{self.folder}/{_LOCK}")
            os.rmdir(self.folder)


def make_base(temporary: str, others_enter: bool) -> Base:
    """Its lock is held by this process and its children that keep the descriptor."""
    folder = f"{os.path.realpath(temporary)}/{_PREFIX}{os.getuid()}-{os.urandom(6).hex()}"
    os.mkdir(folder, 0o700)
    first_mark = _choose_marks()
    fd = os.open(f"{folder}/{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.write(fd, b"%d" % first_mark)
    os.chmod(folder, 0o711 if others_enter else 0o700)
    return Base(folder, first_mark)


def use_mount(folder: str) -> Base:
    """For a fork server in a container of its own, which has one sandbox."""
    return Base(folder, _choose_marks(), is_mount=True)


def _choose_marks() -> int:
    """The first of as many as a fork server needs."""
    return (1 << 61) | int.from_bytes(os.urandom(5), "big") * _MARKS


def remove_stale(temporary: str) -> None:
    """Removes what killed runtimes of this user left."""
    mine = f"{_PREFIX}{os.getuid()}-"
    for name in os.listdir(temporary):
        if name.startswith(mine):
            try:
                _remove_if_stale(f"{temporary}/{name}")
            except (OSError, ValueError):
                continue  # another runtime removes it at the same time, or it is not ours


def _remove_if_stale(folder: str) -> None:
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return
    fd = os.open(f"{folder}/{_LOCK}", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        first_mark = int(os.read(fd, 64))
        if first_mark >> 61 != 1 or first_mark % _MARKS:
            return  # whoever may write to the temporary folder could have made it, for others to be killed
        Base(folder, first_mark).remove([])
    finally:
        os.close(fd)


def make(scratch: Scratch, uid: int, gid: int) -> None:
    folders = [f"{scratch.folder}/{name}" for name in _FOLDERS]
    if not scratch.is_mount:
        folders.insert(0, scratch.folder)
    for folder in folders:
        os.mkdir(folder, 0o700)
    if (uid, gid) != (os.getuid(), os.getgid()):
        for folder in reversed(folders):
            os.chown(folder, uid, gid)


def remove_made(scratch: Scratch) -> None:
    """The sandbox was not forked: its folders are empty, as far as they were made."""
    for folder in (*(f"{scratch.folder}/{name}" for name in _FOLDERS), scratch.folder):
        try:
            os.rmdir(folder)
        except OSError:
            continue


def start_cleaner(scratch: Scratch, uid: int, gid: int, kills_user: bool) -> int:
    """Forks a process that ends what is left of a sandbox whose init is gone, and empties its folder. It becomes the user of the
    sandbox, so that it can do no more than that. `kills_user`: nobody else has this user. Then processes of the sandbox may signal
    it once it has this user, and they are ended before."""
    pid = os.fork()
    if pid == 0:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if kills_user and uid != os.getuid():
                _kill_all(scratch.mark, lambda: _kill_user(uid, gid))
            _become(uid, gid)
            libc.set_capabilities(0)
            _kill_all(scratch.mark)
            operations.empty_all(scratch.folder)
            os._exit(0)
        finally:
            os._exit(1)
    return pid


def remove_emptied(scratch: Scratch) -> None:
    """What could not be removed stays until the next start."""
    try:
        os.rmdir(scratch.folder)
    except OSError:
        pass


def _become(uid: int, gid: int) -> None:
    if uid != os.getuid():
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)


def _kill_user(uid: int, gid: int) -> None:
    """Kills all processes of a user at once, which none can evade. They may stop or kill the process that does it, if they are fast."""
    pid = os.fork()
    if pid == 0:
        try:
            _become(uid, gid)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    _wait_for(pid)


def _wait_for(pid: int) -> None:
    """Until a child has ended. One that is stopped is killed."""
    while os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]):
        os.kill(pid, signal.SIGKILL)


def _kill_all(mark: int, kill_user: Callable[[], None] = lambda: None) -> None:
    """Returns when no process with the mark lives. Zombies are reaped by their parents."""
    pause = 0.001
    while living := [pid for pid in proc.processes_marked(mark, mark) if proc.state_of(pid) not in proc.DEAD]:
        kill_user()
        _kill_once(living, mark, mark)
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)


def _kill_once(pids: list[int], first_mark: int, last_mark: int) -> None:
    """Kills those that still have a mark: another process may have got the number. Also keeps them from forking meanwhile, where they
    have the user of this process."""
    for pid in pids:
        try:
            process = os.pidfd_open(pid)
        except OSError:
            continue
        try:
            if first_mark <= proc.sandbox_mark_of(pid) <= last_mark:
                _forbid_forks(pid)
                signal.pidfd_send_signal(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
        finally:
            os.close(process)


def _forbid_forks(pid: int) -> None:
    try:
        resource.prlimit(pid, resource.RLIMIT_NPROC, (0, 0))
    except (OSError, ValueError):
        pass


def disk_usage(folder: str) -> int:
    """What files below a folder take, of as many as can be counted in a short time."""
    total = counted = 0
    pending = [folder]
    while pending and counted < _MAX_COUNTED:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    counted += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except OSError:
            continue
    return total
