"""The fork server where bubblewrap makes the namespaces, because this process may not: each session starts a program.

The child of this process is bubblewrap, which stays until the init ends, and the init is its child. If bubblewrap is killed, the init
becomes a child of this process. The sandbox is closed when both are reaped.

Bubblewrap must not end before the init: at its start the child waits for bubblewrap without end. So bubblewrap is never killed, does not
end with its parent, and writes to no pipe of this process (--info-fd) when it starts. If this process ends, at whatever time, the init
sees the end of its socket, ends, and bubblewrap with it.
"""
from __future__ import annotations

import os
import signal
import socket
import stat
import sys
from dataclasses import dataclass

from . import bwrap_entry, init, libc, pipes
from .bwrap import first_process, layout
from .bwrap.plan import Plan
from .descriptors import close_all
from .processes.guest import Guest, kept_by
from .outbox import Outbox
from .processes import proc
from .sandbox import limits, namespaces
from .sandbox.trees import Mount
from .server import Sandbox, Server

_OOM_SCORE = b"800"
_MAX_ERROR = 4096


@dataclass(frozen=True)
class Standing:
    """`program` is bubblewrap. `is_privileged`: it is set-user-ID root. `has_user_namespace`: it can make one. `can_disable`: it can
    forbid those below it."""

    program: str
    is_privileged: bool
    has_user_namespace: bool
    can_disable: bool
    why: str | None = "it takes root or subordinate ids to give sessions users of their own"
    broker: None = None
    ranges: tuple[range, ...] = ()


@dataclass
class _Start:
    """`errors` is a pipe with what bubblewrap says if it fails."""

    errors: int
    has_answered: bool = False


def make_standing(program: str) -> Standing:
    """Where it is set-user-ID root it works without user namespaces, too."""
    limits.keep_pending_signals()
    is_privileged = bool(os.stat(program).st_mode & stat.S_ISUID)
    with open("/proc/sys/user/max_user_namespaces") as most:
        has_user_namespace = not is_privileged or int(most.read()) > 0
    return Standing(program, is_privileged, has_user_namespace, not is_privileged and b"--disable-userns" in _help_of(program))


def _help_of(program: str) -> bytes:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(write, 1)
            os.execve(program, [program, "--help"], {})
        finally:
            os._exit(127)
    os.close(write)
    with open(read, "rb") as output:
        text = output.read()
    os.waitpid(pid, 0)
    return text


class BubblewrapServer(Server):
    _standing: Standing  # type: ignore[assignment]

    def __init__(self, worker_main: init.WorkerMain, standing: Standing, home: str, tier: str,
                 most_landlock: int | None = None) -> None:
        super().__init__(worker_main, standing, home, tier, most_landlock)  # type: ignore[arg-type]
        self._landlock = self._landlock or None
        self._plan = namespaces.system_plan(self._landlock, home)
        self._starts: dict[int, _Start] = {}
        self._orphans: dict[int, int] = {}  # the sandbox of an init whose bubblewrap has ended
        self._modules = bwrap_entry.pack()
        own = standing.has_user_namespace
        self._user = namespaces.USER if own else os.getuid()
        self._group = namespaces.USER if own else os.getgid()
        libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)

    def _open(self, number: int, order: dict) -> None:
        requested = order["limits"]
        sandbox_limits = limits.Limits(
            requested["memoryBytes"], requested["diskBytes"], requested["processes"], requested["openFiles"],
            limits.other_processes(not self._standing.has_user_namespace))
        mounts = [Mount(each["path"], each["write"], exact=True, hidden=tuple(path.encode("latin-1") for path in each["hidden"]))
                  for each in order["mounts"]]
        kept: list[int] = []
        given: list[int] = []
        stage = "mount"
        try:
            system = namespaces.add_to_plan(self._plan, mounts, sandbox_limits.disk_bytes, None, False, False)
            quota = None if self._standing.is_privileged else sandbox_limits.disk_bytes  # it refuses to set one
            root = layout.build(system, quota, self._user, self._group)
            given += root.files
            stage = "make pipes"
            ours, theirs = pipes.make(pipes.OF_A_WORKER)
            kept += ours
            given += theirs
            server_end, init_end = (end.detach() for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            kept.append(server_end)
            given.append(init_end)
            errors, errors_end = os.pipe()
            kept.append(errors)
            given.append(errors_end)
            plan = Plan(self._landlock, system.filters[False], self._user, self._group, tuple(root.shown), tuple(root.identities))
            errors_of_server = os.dup(2)
            given.append(errors_of_server)
            main = self._main_for(order)
            packed = first_process.pack(plan, sandbox_limits, {
                "control": init_end, "pipes": theirs, "errors": errors_of_server, "guest": main.pack() if isinstance(main, Guest) else None})
            given.append(packed)
            arguments = self._write_arguments(root.arguments)
            given.append(arguments)
            stage = "fork"
            pid = os.fork()
        except Exception as error:
            close_all(kept + given)
            self._fail(number, stage, error)
            return
        if pid == 0:
            try:
                self._become_bubblewrap(arguments, packed, errors_end, given)
            finally:
                os._exit(127)
        close_all(given)
        os.set_blocking(errors, False)
        self._starts[number] = _Start(errors)
        server = socket.socket(fileno=server_end)
        self._add(number, Sandbox(pid, server, Outbox(server, self._epoll), ours, None, sandbox_limits), plan)

    def _write_arguments(self, root: list[bytes]) -> int:
        """Paths are not in its command line, which every user of the machine can read."""
        own = layout.namespaces(self._standing.has_user_namespace, self._standing.can_disable)
        fd = os.memfd_create("arguments")
        with open(fd, "wb", closefd=False) as file:
            file.write(b"\0".join([*own, *root]) + b"\0")
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    def _become_bubblewrap(self, arguments: int, packed: int, errors: int, given: list[int]) -> None:
        null = os.open("/dev/null", os.O_RDWR)
        for fd, target in ((null, 0), (null, 1), (errors, 2)):
            os.dup2(fd, target)
        for fd in (*given, self._modules, *kept_by(self._worker_main)):
            os.set_inheritable(fd, True)
        try:
            namespaces.write_file(namespaces.OOM_SCORE, _OOM_SCORE)  # inside, /proc is read-only
            # In a virtual environment the path of the interpreter leads to its packages.
            python = sys.executable if sys.prefix != sys.base_prefix else os.path.realpath(sys.executable)
            flags = ["-I", "-B"] if sys.dont_write_bytecode else ["-I"]
            os.execve(self._standing.program, [
                self._standing.program, "--args", str(arguments), "--", python, *flags, "-c", bwrap_entry.BOOT % bwrap_entry.__name__,
                str(self._modules), str(packed)], dict(os.environ))
        except OSError as error:
            os.write(2, f"{error}".encode())

    def _pass_on(self, message: bytes, number: int) -> None:
        self._starts[number].has_answered = True
        super()._pass_on(message, number)

    def _kill(self, sandbox: Sandbox) -> None:
        """Kills the init; if it is not there yet, it ends as soon as it is. Bubblewrap ends after it."""
        children = proc.children_of(sandbox.pid)
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        if not children:
            try:
                sandbox.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # bubblewrap has ended

    def _end(self, number: int, sandbox: Sandbox) -> None:
        start = self._starts.pop(number)
        if not start.has_answered:
            why = _read(start.errors).decode("utf-8", "replace").strip().split("\n")[-1]
            self._send({"event": "failed", "sandbox": number, "stage": "start in bubblewrap", "message": why or "it was killed"})
        os.close(start.errors)
        left = [pid for pid in proc.children_of(os.getpid()) if pid not in self._by_pid and pid not in self._orphans]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            self._orphans[pid] = number
        if not left:
            super()._end(number, sandbox)

    def _reaped_other(self, pid: int, status: int) -> None:
        number = self._orphans.pop(pid, None)
        if number is not None and number not in self._orphans.values():
            self._send({"event": "closed", "sandbox": number})


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, _MAX_ERROR)
    except BlockingIOError:
        return b""
