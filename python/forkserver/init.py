"""The init of one sandbox: process 1 of its namespaces, ours, never user code.

It starts a worker, starts another when the host asks for one after the last has ended, passes signals on, reaps
orphans, watches the memory of all processes while code runs and whenever the machine's shrinks, and reports how a
worker ended. It outlives every worker, so that whatever the session keeps (its files, its clones) survives the death
of one. It ends with the fork server, and with it the whole sandbox.
"""
from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from typing import Callable, NoReturn

from . import libc, limits as limits_module, wakeup, walls

WATCH_INTERVAL_MS = 50
WATCH_BACKOFF_S = 0.5
REAP_PATIENCE_S = 0.5
PIPES_OF_WORKER = 5

WorkerMain = Callable[[int, int, int, int], None]


class Init:
    def __init__(self, server: socket.socket, limits: limits_module.Limits, worker_main: WorkerMain) -> None:
        self._server = server
        self._limits = limits
        self._worker_main = worker_main
        self._worker = 0
        self._door: socket.socket | None = None
        self._end_reason: str | None = None
        self._watching = False
        self._next_watch = 0.0

    def run(self, plan: walls.Plan, pipes: list[int]) -> NoReturn:
        try:
            self._raise_walls(plan)
            wake = wakeup.open_wake()
            self._start_worker(pipes)
            self._loop(wake)
        finally:
            os._exit(1)

    def _raise_walls(self, plan: walls.Plan) -> None:
        stages: list[str] = ["start"]
        try:
            walls.raise_walls(plan, stages.append)
            libc.prctl(libc.PR_SET_DUMPABLE, 0)
            libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
        except BaseException as error:
            self._tell({"event": "failed", "stage": stages[-1], "message": str(error)})
            raise

    def _loop(self, wake: int) -> None:
        poll = select.poll()
        poll.register(self._server, select.POLLIN)
        poll.register(wake, select.POLLIN)
        while True:
            ready = poll.poll(WATCH_INTERVAL_MS if self._watching and self._worker else None)
            for fd, _ in ready:
                if fd == wake:
                    wakeup.empty(wake)
                    self._reap()
                else:
                    self._hear()
            if self._watching and self._worker:
                self._watch()

    def _hear(self) -> None:
        message, fds, _, _ = socket.recv_fds(self._server, 4096, PIPES_OF_WORKER)
        if not message:
            os._exit(0)  # the fork server is gone
        order = json.loads(message)
        op = order["op"]
        if op == "interrupt":
            if self._worker:
                os.kill(self._worker, signal.SIGINT)
            self._tell({"event": "signalled"})
        elif op == "watch":
            self._watching = order["on"]
        elif op == "look":
            if self._worker:
                self._watch()
        elif op == "kill":
            if self._worker:
                self._end_reason = order["reason"]
                self._end_everything()
        elif op == "worker":
            if self._worker:
                self._end_everything()
                self._reap()
            self._start_worker(fds)
        elif op == "streams":
            if self._door is not None:
                try:
                    socket.send_fds(self._door, [b"s"], fds)
                except OSError:
                    pass  # the worker is ending; its exit will be reported
            for fd in fds:
                os.close(fd)

    def _start_worker(self, pipes: list[int]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        pid = os.fork()
        if pid == 0:
            try:
                self._become_worker(pipes, theirs.detach())
            finally:
                os._exit(1)
        theirs.close()
        if self._door is not None:
            self._door.close()
        self._door = ours
        self._worker = pid
        self._end_reason = None
        for fd in pipes:
            os.close(fd)

    def _become_worker(self, pipes: list[int], door: int) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        commands, aside, events, out, err = pipes
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        _close_all_but({0, 1, 2, commands, aside, events, door})
        libc.prctl(libc.PR_SET_DUMPABLE, 1)
        _reseed()
        limits_module.apply(self._limits)
        self._worker_main(commands, aside, events, door)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._worker:
                self._worker = 0
                self._watching = False
                self._end_everything()
                code = os.waitstatus_to_exitcode(status)
                ending = {"signal": -code} if code < 0 else {"code": code}
                self._tell({"event": "exit", "reason": self._end_reason, **ending})

    def _end_everything(self) -> None:
        """Kill every process of the sandbox but this one, and wait until they are gone."""
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            return
        if self._worker:
            return  # its end is reported by _reap, which comes back here for the others
        deadline = time.monotonic() + REAP_PATIENCE_S
        while time.monotonic() < deadline:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.001)
            except ChildProcessError:
                return

    def _watch(self) -> None:
        now = time.monotonic()
        if now < self._next_watch:
            return
        processes = [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        if sum(map(_resident_bytes, processes)) <= self._limits.memory_bytes:
            return
        if sum(map(_proportional_bytes, processes)) <= self._limits.memory_bytes:
            self._next_watch = now + WATCH_BACKOFF_S  # shared pages counted more than once; the exact sum is costly
            return
        self._end_reason = "memory"
        self._end_everything()

    def _tell(self, event: dict[str, object]) -> None:
        self._server.send(json.dumps(event).encode())


def start(server: socket.socket, keep: list[int], plan: walls.Plan, limits: limits_module.Limits,
          worker_main: WorkerMain) -> NoReturn:
    """Called in the child of the fork server. `keep` are the worker's ends of the five pipes."""
    trees = {mount.tree for mount in plan.mounts if mount.tree is not None}
    _close_all_but({2, server.fileno(), *keep, *trees})
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Init(server, limits, worker_main).run(plan, keep)


def _reseed() -> None:
    """Forks of a preloaded numpy would all draw the same numbers. Python's own generator looks after itself."""
    generator = sys.modules.get("numpy.random")
    if generator is not None:
        generator.seed()


def _close_all_but(keep: set[int]) -> None:
    low = 0
    for fd in sorted(keep):
        if low < fd:  # an empty range would be read as a range without end
            os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 1 << 20 if sys.version_info >= (3, 11) else os.sysconf("SC_OPEN_MAX"))


_PAGE = os.sysconf("SC_PAGESIZE")


def _resident_bytes(pid: str) -> int:
    try:
        fd = os.open(f"/proc/{pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return int(os.read(fd, 256).split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
    finally:
        os.close(fd)


def _proportional_bytes(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return _resident_bytes(pid)
    return 0
