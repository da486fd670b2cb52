"""The fork server: one small, single-threaded process from which every sandbox is forked.

Commands come from the host as lines of JSON on stdin, events go back on stdout. It never sees user code, environment
variables, tokens or output: a fork could read whatever its parent ever held. The pipes of a worker are made here; the
host opens its ends through /proc/<this process>/fd and then says `taken`, so no file ever exists on disk. The end of
stdin is the end of the host: the server leaves, and every sandbox with it.
"""
from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass, field

from . import init, libc, wakeup
from .processes import jobs, memory, programs
from .sandbox import landlock, limits, mounter as privileged, namespaces as walls, seccomp
from .outbox import Outbox

_F_SETPIPE_SZ = 1031
_PAGE = 4096
# commands, aside, events, stdout, stderr: (pages, True where the worker reads). Small on purpose: pipes of one user share
# 64 MiB by default. The worker enlarges its output pipes when it has much to say.
_PIPES = ((4, True), (2, True), (8, False), (16, False), (4, False))
_OUTPUT = _PIPES[3:]


@dataclass
class Sandbox:
    pid: int
    socket: socket.socket
    outbox: Outbox
    untaken: list[int] = field(default_factory=list)


class Server:
    def __init__(self, worker_main: init.WorkerMain, root: socket.socket | None, home: str) -> None:
        self._worker_main = worker_main
        self._root = root
        self._sandboxes: dict[int, Sandbox] = {}
        self._by_fd: dict[int, int] = {}
        self._by_pid: dict[int, int] = {}
        self._landlock = landlock.abi()
        self._plan = walls.system_plan(self._landlock, seccomp.build(), home)
        self._epoll = select.epoll()
        self._machine = memory.Machine()
        self._next_look = 0.0

    def run(self) -> None:
        wake = wakeup.open_wake()
        self._epoll.register(0, select.EPOLLIN)
        self._epoll.register(wake, select.EPOLLIN)
        self._tell({"event": "hello", "pid": os.getpid(), "python": sys.version.split()[0],
                    "executable": sys.executable, "prefix": sys.prefix, "landlock": self._landlock, "uid": os.getuid(),
                    "threads": len(os.listdir("/proc/self/task")), "modules": sorted(_preloaded)})
        pending = b""
        while True:
            for fd, events in self._epoll.poll(memory.LOOK_INTERVAL_S if self._sandboxes else None):
                if fd == 0:
                    chunk = os.read(0, 65536)
                    if not chunk:
                        return
                    *lines, pending = (pending + chunk).split(b"\n")
                    for line in lines:
                        self._try_to_obey(json.loads(line))
                elif fd == wake:
                    wakeup.empty(wake)
                    self._reap()
                else:
                    if events & select.EPOLLOUT:
                        self._flush(fd)
                    if events & ~select.EPOLLOUT:
                        self._forward(fd)
            self._look()

    def _look(self) -> None:
        """Once a second: where did memory go? Each sandbox looks at its own limits, the host at the sum."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + memory.LOOK_INTERVAL_S
        if self._machine.has_less():
            self._tell({"event": "less", "sandbox": 0})
            for sandbox in self._sandboxes.values():
                sandbox.outbox.send({"op": "look"})

    def _try_to_obey(self, order: dict) -> None:
        """One order that cannot be carried out ends one sandbox, never the fork server."""
        try:
            self._obey(order)
        except Exception as error:
            self._fail(order["sandbox"], f"{order['op']}", error)

    def _fail(self, number: int, stage: str, error: Exception) -> None:
        self._tell({"event": "failed", "sandbox": number, "stage": stage, "message": str(error)})
        sandbox = self._sandboxes.get(number)
        if sandbox is None:
            self._tell({"event": "closed", "sandbox": number})
        else:
            os.kill(sandbox.pid, signal.SIGKILL)

    def _obey(self, order: dict) -> None:
        op, number = order["op"], order["sandbox"]
        if op == "open":
            self._open(number, order)
            return
        sandbox = self._sandboxes.get(number)
        if sandbox is None:
            return  # it ended while the order was on its way; `closed` has been or will be told
        if op == "taken":
            taken = [fd for fd in sandbox.untaken if fd in order["fds"]]
            sandbox.untaken = [fd for fd in sandbox.untaken if fd not in taken]
            _close(taken)
        elif op == "close":
            os.kill(sandbox.pid, signal.SIGKILL)
        elif op == "worker" or (op == "clone" and not order["frozen"]):
            self._send_pipes(number, sandbox, _PIPES, order)
        elif op == "streams":
            self._send_pipes(number, sandbox, _OUTPUT, order)
        elif op == "job":
            self._start_beside(number, sandbox, order, jobs.PIPES, "job")
        elif op == "program":
            self._start_beside(number, sandbox, order, programs.PIPES, "program")
        else:
            sandbox.outbox.send(order)

    def _open(self, number: int, order: dict) -> None:
        asked = order["limits"]
        bounds = limits.Limits(asked["memoryBytes"], asked["diskBytes"], asked["processes"], asked["openFiles"])
        trees: list[int] = []
        ours: list[int] = []
        theirs: list[int] = []
        ends: tuple[socket.socket, ...] = ()
        stage = "mount"
        try:
            mounts = [self._mount(mount, trees) for mount in order["mounts"]]
            stage = "make pipes"
            plan = walls.add_to_plan(self._plan, mounts, bounds.disk_bytes)
            ours, theirs = _make_pipes(_PIPES)
            ends = server_end, init_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stage = "fork"
            pid = libc.fork_into(walls.NAMESPACES)
        except Exception as error:
            _close(trees + ours + theirs)
            for end in ends:
                end.close()
            self._fail(number, stage, error)
            return
        if pid == 0:
            try:
                init.start(init_end, theirs, plan, bounds, self._worker_main)
            finally:
                os._exit(1)
        init_end.close()
        _close(trees + theirs)
        self._sandboxes[number] = Sandbox(pid, server_end, Outbox(server_end, self._epoll), ours)
        self._by_fd[server_end.fileno()] = number
        self._by_pid[pid] = number
        self._epoll.register(server_end, select.EPOLLIN)
        self._tell({"event": "pipes", "sandbox": number, "branch": 1, "fds": ours})

    def _mount(self, asked: dict, trees: list[int]) -> walls.Mount:
        mount = walls.Mount(asked["path"], asked["write"], exact=True)
        if self._root is None:
            return mount
        tree = privileged.request_tree(self._root, mount)
        trees.append(tree)
        return walls.Mount(mount.path, mount.write, tree, exact=True)

    def _send_pipes(self, number: int, sandbox: Sandbox, kinds: tuple, order: dict) -> None:
        ours, theirs = _make_pipes(kinds)
        sandbox.outbox.send(order, theirs)
        sandbox.untaken += ours
        whose = next(name for name in ("job", "program", "branch") if name in order)
        self._tell({"event": "pipes", "sandbox": number, whose: order[whose], "fds": ours})

    def _start_beside(self, number: int, sandbox: Sandbox, order: dict, kinds: tuple, what: str) -> None:
        try:
            self._send_pipes(number, sandbox, kinds, order)
        except OSError as error:  # that is no reason to end the sandbox
            event = "job-end" if what == "job" else "program-exit"
            self._tell({"event": event, "sandbox": number, what: order[what], "why": str(error)})

    def _flush(self, fd: int) -> None:
        number = self._by_fd.get(fd)
        if number is not None and self._sandboxes[number].outbox.flush():
            self._epoll.modify(fd, select.EPOLLIN)

    def _forward(self, fd: int) -> None:
        """Pass an event of an init on, under the number of the socket it came from, whatever it says itself."""
        number = self._by_fd.get(fd)
        if number is None:
            return  # it has ended in this very round
        try:
            message = self._sandboxes[number].socket.recv(65536, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if message:
            self._tell({**json.loads(message), "sandbox": number})
        else:
            self._epoll.unregister(fd)  # it is ending; the signal that it has ended is on its way

    def _reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            number = self._by_pid.pop(pid, None)
            if number is None:
                continue
            sandbox = self._sandboxes[number]
            self._drain_events(number, sandbox)
            del self._sandboxes[number], self._by_fd[sandbox.socket.fileno()]
            sandbox.socket.close()
            sandbox.outbox.close()
            _close(sandbox.untaken)
            self._tell({"event": "closed", "sandbox": number})

    def _drain_events(self, number: int, sandbox: Sandbox) -> None:
        sandbox.socket.setblocking(False)
        try:
            while message := sandbox.socket.recv(65536):
                self._tell({**json.loads(message), "sandbox": number})
        except OSError:
            pass

    def _tell(self, event: dict) -> None:
        data = json.dumps(event).encode() + b"\n"
        while data:
            data = data[os.write(1, data):]


_preloaded: list[str] = []


def preload(modules: list[str]) -> None:
    """Import what sessions will want, once, so that every fork has it. A module that is absent or broken is left out."""
    for name in modules:
        try:
            importlib.import_module(name)
            _preloaded.append(name)
        except BaseException:  # a broken package may raise anything
            continue
    _remove_leftovers()


def _remove_leftovers() -> None:
    """matplotlib makes a temporary folder where it finds none to write to, and removes it at a process's regular end,
    which this process does not have."""
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is None:
        return
    import shutil
    import tempfile

    for folder in {matplotlib.get_configdir(), matplotlib.get_cachedir()}:
        if folder.startswith(os.path.join(tempfile.gettempdir(), "matplotlib-")):
            shutil.rmtree(folder, ignore_errors=True)


def serve(worker_main: init.WorkerMain, options: dict) -> None:
    """The whole life of the fork server, in a process that has just been started with these options."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    root = privileged.drop(options["uid"], options["gid"], options["home"]) if "uid" in options else None
    # Importing may take long, and nobody listens to stdin meanwhile. Dropping privileges forgets this, so it comes after.
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != options["host"]:
        os._exit(0)
    preload(options["preload"])
    # Not used here. Each worker puts others in their place, and what lets go of the last reference copies what it takes apart.
    sys.stdin = sys.__stdin__ = sys.stdout = sys.__stdout__ = None  # type: ignore[assignment,misc]
    server = Server(worker_main, root, options["home"])
    gc.collect()
    gc.freeze()
    try:
        server.run()
    finally:
        os._exit(0)


def _make_pipes(kinds: tuple) -> tuple[list[int], list[int]]:
    """Pipes as (the host's ends, the worker's ends)."""
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for pages, worker_reads in kinds:
            read, write = os.pipe()
            ours.append(write if worker_reads else read)
            theirs.append(read if worker_reads else write)
            try:
                fcntl.fcntl(write, _F_SETPIPE_SZ, pages * _PAGE)
            except OSError:
                pass  # the user's share is used up: the pipe is small and slow, and works
    except OSError:
        _close(ours + theirs)
        raise
    return ours, theirs


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
    fds.clear()
