"""Branches: a live copy of this worker, made by fork, with everything in its memory.

A copy is either *live*, with pipes of its own, or *frozen*: a checkpoint that sleeps at its door until it is asked for a
live copy of itself. Orders and descriptors come through the door, a socket to the sandbox's init. A copy tells the init
that it stands by a message that carries its process number, attached by the kernel.

What a fork shares and a copy must not is replaced here: pipes, the door, the wake-up pipe, positions in open files, the
event loop's selector. What cannot be told apart stays shared: pipes, sockets and mapped files of user code.
"""

import _socket
import array
import fcntl
import json
import os
import resource
import shutil
import stat
import sys
import time
from typing import Any, Dict, List, Optional, Set, Tuple

from . import double_fork as siblings

# The soft limit on file locks, which no kernel enforces, marks the processes of a branch: it is inherited by all of them.
TAG = 10
MAX_FDS = 6
SETTLE_SECONDS = 0.05
NO_PROCESS = "it may not make another process: the limit on processes is reached"


class ForkRefused(Exception):
    """Why a copy cannot be exact."""


Order = Dict[str, Any]


class Door:
    """This worker's end of the socket to its init."""

    def __init__(self, fd: int) -> None:
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, fd)

    @property
    def fd(self) -> int:
        return self._socket.fileno()

    def receive(self, seconds: Optional[float] = None) -> Tuple[bytes, List[int]]:
        """The next message and its descriptors; no bytes at the end. Raises TimeoutError when none comes in time."""
        self._socket.settimeout(seconds)
        fds = array.array("i")
        space = _socket.CMSG_SPACE(MAX_FDS * fds.itemsize)
        message, ancillary, _, _ = self._socket.recvmsg(16384, space, _socket.MSG_CMSG_CLOEXEC)
        for level, kind, data in ancillary:
            if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
        return message, list(fds)

    def send(self, message: bytes) -> None:
        self._socket.send(message)

    def close(self) -> None:
        self._socket.close()


def split(before: Any, become: Any) -> bool:
    """Makes a copy of this process that is not its child, so that user code never waits for it. True in the copy.

    ``become`` turns the copy into what it is to be; where that fails the copy ends, and its closed door says so.
    """
    state = _random_state()
    before(True)
    try:
        is_copy = siblings.fork()
    except OSError as error:
        raise ForkRefused(NO_PROCESS) from error
    finally:
        before(False)
    if is_copy:
        _restore_random(state)
        become()
    return is_copy


def mark(number: int) -> None:
    """Says which branch this process and its descendants belong to."""
    resource.setrlimit(TAG, (number, resource.RLIM_INFINITY))


def mark_of(pid: int) -> bytes:
    """As the kernel writes it; empty for a process that is gone."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            return file.read(4096).partition(b"Max file locks")[2].split(None, 1)[0]
    except (OSError, IndexError):
        return b""


def refuse_threads() -> None:
    """Raises where threads live besides the calling one: a fork would lose them, and keep the locks they hold."""
    deadline = time.monotonic() + SETTLE_SECONDS
    me = str(os.getpid())
    while True:  # a thread that has just ended may still be listed
        others = [task for task in os.listdir("/proc/self/task") if task != me]
        if not others:
            return
        if time.monotonic() > deadline:
            break
        time.sleep(0.001)
    names = _python_threads() or sorted({_comm(task) for task in others})
    alive = "a thread of it is alive" if len(others) == 1 else f"{len(others)} threads of it are alive"
    raise ForkRefused(f"{alive}: {', '.join(names[:8])}")


def wait_for_init() -> None:
    """Until the process in the middle has gone and the init is the parent: from then on it is the one that reaps."""
    while os.getppid() != 1:
        time.sleep(0.0002)


def reopen_files(own: Set[int], moved: Optional[Tuple[str, str]]) -> None:
    """Gives regular files that are open a position of their own; those of a copied folder become the copies."""
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd < 3 or fd in own:
            continue
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                _reopen(fd, moved)
        except OSError:
            pass  # stays shared, as it is after any fork


def move_into(old: str, new: str) -> None:
    """Copies the working folder, and goes to the same place in the copy."""
    try:
        _copy_tree(old, new)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    here = _inside(os.getcwd(), old, new)
    if here is not None:
        os.chdir(here)
    if os.environ.get("HOME") == old:
        os.environ["HOME"] = new
    sys.path[:] = [_inside(entry, old, new) or entry if isinstance(entry, str) else entry for entry in sys.path]


def forget_folder(folder: str) -> None:
    """There is no copy: nobody else will remove its files, which may have been removed once while they were copied."""
    shutil.rmtree(folder, ignore_errors=True)


def parse_order(message: bytes) -> Order:
    return json.loads(message)


def _copy_tree(old: str, new: str) -> None:
    os.mkdir(new, 0o700)
    for entry in os.scandir(old):
        target = os.path.join(new, entry.name)
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), target)
        elif entry.is_dir():
            if os.path.ismount(entry.path):  # the host's, and the same for all
                os.symlink(entry.path, target)
            else:
                _copy_tree(entry.path, target)
        elif entry.is_file():
            shutil.copy2(entry.path, target)
    shutil.copystat(old, new)


def _inside(path: str, old: str, new: str) -> Optional[str]:
    """The same place in the new folder, of a path in the old one."""
    if path == old or path.startswith(old + "/"):
        return new + path[len(old) :]
    return None


def _reopen(fd: int, moved: Optional[Tuple[str, str]]) -> None:
    path = os.readlink(f"/proc/self/fd/{fd}")
    place = _inside(path, *moved) if moved else None
    if place is None or not os.path.isfile(place):
        place = f"/proc/self/fd/{fd}"
    flags = fcntl.fcntl(fd, fcntl.F_GETFL) & ~(os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_TMPFILE | os.O_NOFOLLOW)
    position = os.lseek(fd, 0, os.SEEK_CUR)
    inheritable = os.get_inheritable(fd)
    fresh = os.open(place, flags | os.O_CLOEXEC)
    try:
        os.lseek(fresh, position, os.SEEK_SET)
        os.dup2(fresh, fd, inheritable)
    finally:
        os.close(fresh)


def _random_state() -> Any:
    random = sys.modules.get("random")
    try:
        return random.getstate() if random is not None else None
    except Exception:
        return None


def _restore_random(state: Any) -> None:
    """Python gives every fork new random numbers; a copy goes on where the original was."""
    if state is not None:
        try:
            sys.modules["random"].setstate(state)
        except Exception:
            pass


def _python_threads() -> List[str]:
    threading = sys.modules.get("threading")
    if threading is None:
        return []
    return [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]


def _comm(task: str) -> str:
    try:
        with open(f"/proc/self/task/{task}/comm", "rb") as file:
            return file.read().strip().decode("utf-8", "replace")
    except OSError:
        return task
