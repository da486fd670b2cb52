"""The fork server: one small, single-threaded process from which every sandbox is forked.

Orders come from the host as lines of JSON on stdin, events go to stdout. It never sees user code, environment variables,
tokens or output, because a fork could read whatever its parent ever held. It makes the pipes of each worker; the host opens
its ends through /proc/<pid>/fd and then sends `taken`, so there are no files on disk. When stdin ends, the host is gone: the
server exits, and every sandbox with it.
"""
from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass, field, replace

from . import init, libc, pipes, preloading, wakeup
from .descriptors import close_all
from .processes.guest import Guest
from .outbox import Outbox
from .processes import jobs, memory, programs
from .sandbox import as_root, landlock, limits, namespaces
from .sandbox.privileged import mounts as broker_mounts, privileges, users
from .sandbox.privileged.broker import Broker, BrokerGone
from .sandbox.trees import Mount


@dataclass
class Sandbox:
    pid: int
    socket: socket.socket
    outbox: Outbox
    untaken: list[int] = field(default_factory=list)
    # The broker that adopted it. None: it has the fork server's user, and no cgroup.
    broker: Broker | None = None
    limits: limits.Limits | None = None
    # The workers and checkpoints that may live, and the most of them at a time so far.
    branches: set[int] = field(default_factory=lambda: {1})
    most_branches: int = 1


class Server:
    def __init__(self, worker_main: init.WorkerMain, standing: privileges.Standing, home: str, tier: str,
                 most_landlock: int | None = None) -> None:
        self._worker_main = worker_main
        self._standing = standing
        self._broker = standing.broker
        self._sandboxes: dict[int, Sandbox] = {}
        self._by_fd: dict[int, int] = {}
        self._by_pid: dict[int, int] = {}
        self._landlock = None if tier == "A-no-landlock" else landlock.abi(most_landlock)
        self._plan = self._make_plan(home)
        # For root by name only, or of a user namespace, that is root of the machine all the same.
        self._is_unlimited = not limits.holds_processes()
        self._epoll = select.epoll()
        self._private = as_root.Known()
        self._machine = memory.Machine()
        self._next_check = 0.0

    def _make_plan(self, home: str) -> namespaces.Plan:
        return namespaces.system_plan(self._landlock, home)

    def run(self) -> None:
        wake = wakeup.open_wake()
        self._epoll.register(0, select.EPOLLIN)
        self._epoll.register(wake, select.EPOLLIN)
        broker = -1 if self._broker is None else self._broker.socket.fileno()
        self._send({"event": "hello", "pid": os.getpid(), "python": sys.version.split()[0],
                    "executable": sys.executable, "prefix": sys.prefix, "landlock": self._landlock or 0, "uid": os.getuid(),
                    "users": self._users(), "cgroup": self._cgroup_version(),
                    "threads": len(os.listdir("/proc/self/task")), "modules": sorted(preloading.preloaded)})
        if self._broker is not None:
            self._epoll.register(broker, select.EPOLLIN)
        pending = b""
        while True:
            for fd, events in self._epoll.poll(memory.CHECK_INTERVAL_S if self._sandboxes else None):
                if fd == 0:
                    chunk = os.read(0, 65536)
                    if not chunk:
                        return
                    *lines, pending = (pending + chunk).split(b"\n")
                    for line in lines:
                        self._handle_order(json.loads(line))
                elif fd == wake:
                    wakeup.empty(wake)
                    self._reap()
                elif fd == broker:
                    raise BrokerGone  # it says nothing by itself
                else:
                    if events & select.EPOLLOUT:
                        self._flush(fd)
                    if events & ~select.EPOLLOUT:
                        self._forward(fd)
            self._check_memory()

    def _users(self) -> dict:
        """The first and the last of the users that sandboxes get, or why they share one."""
        why = self._standing.why if self._broker is None else self._broker.wait_until_ready()
        ranges = self._standing.ranges
        return {"why": why} if why is not None else {"first": ranges[0][0], "last": ranges[-1][-1]}

    def _cgroup_version(self) -> int | None:
        cgroups = None if self._broker is None else self._broker.cgroups
        return None if cgroups is None else cgroups.version

    def _check_memory(self) -> None:
        """Once a second: if the machine has less memory, each sandbox checks its limits, and the host the sum."""
        now = time.monotonic()
        if now < self._next_check:
            return
        self._next_check = now + memory.CHECK_INTERVAL_S
        self._reap()  # should a signal ever get lost
        if self._machine.has_less():
            self._send({"event": "less", "sandbox": 0})
            for number in self._sandboxes:
                self._handle_order({"op": "look", "sandbox": number})

    def _handle_order(self, order: dict) -> None:
        """An order that fails ends one sandbox, never the fork server. Only the end of its broker does."""
        try:
            self._execute(order)
        except Exception as error:
            self._fail(order["sandbox"], f"{order['op']}", error)

    def _fail(self, number: int, stage: str, error: Exception) -> None:
        self._send({"event": "failed", "sandbox": number, "stage": stage, "message": str(error)})
        sandbox = self._sandboxes.get(number)
        if sandbox is None:
            self._send({"event": "closed", "sandbox": number})
        else:
            self._kill(sandbox)

    def _kill(self, sandbox: Sandbox) -> None:
        """It is closed when it is reaped."""
        os.kill(sandbox.pid, signal.SIGKILL)

    def _execute(self, order: dict) -> None:
        op, number = order["op"], order["sandbox"]
        if op == "open":
            self._open(number, order)
            return
        sandbox = self._sandboxes.get(number)
        if sandbox is None:
            return  # it ended meanwhile; its `closed` event has been or will be sent
        if op in ("worker", "clone"):
            self._allow_branch(sandbox, order["branch"])
        if op == "taken":
            taken = [fd for fd in sandbox.untaken if fd in order["fds"]]
            sandbox.untaken = [fd for fd in sandbox.untaken if fd not in taken]
            pipes.close(taken)
        elif op == "close":
            self._kill(sandbox)
        elif op == "worker" or (op == "clone" and not order["frozen"]):
            self._start_process(number, sandbox, order, pipes.OF_A_WORKER, "branch")
        elif op == "streams":
            self._send_pipes(number, sandbox, pipes.OF_ITS_OUTPUT, order)
        elif op == "job":
            self._start_process(number, sandbox, order, jobs.PIPES, "job")
        elif op == "program":
            self._start_process(number, sandbox, order, programs.PIPES, "program")
        else:
            sandbox.outbox.send(order)

    def _open(self, number: int, order: dict) -> None:
        requested = order["limits"]
        sandbox_limits = limits.Limits(
            requested["memoryBytes"], requested["diskBytes"], requested["processes"], requested["openFiles"])
        trees: list[int] = []
        ours: list[int] = []
        theirs: list[int] = []
        ends: tuple[socket.socket, ...] = ()
        report: int | None = None
        user: int | None = None
        wants_user = self._has_own_user(order["mounts"])
        if not wants_user:
            sandbox_limits = replace(sandbox_limits, other_processes=limits.other_processes())
        broker = self._broker if self._broker is not None and (wants_user or self._broker.cgroups) else None
        stage = "take a user"
        try:
            if broker is not None and wants_user and order["mounts"]:  # else the broker takes one when it maps it
                user = broker.take_user()
            stage = "mount"
            mounts, owner = self._make_mounts(order["mounts"], trees, user)
            if owner is not None:
                broker, wants_user = self._broker, True
            stage = "make pipes"
            ours, theirs = pipes.make(pipes.OF_A_WORKER)
            if broker is not None:
                report, reporting = (end.detach() for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                trees += [report, reporting]
            ends = server_end, init_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            is_root = owner is not None and 0 in owner
            plan = namespaces.add_to_plan(self._plan, mounts, sandbox_limits.disk_bytes, report, wants_user, is_root)
            if not wants_user and self._is_unlimited:
                plan = replace(plan, counts_processes=True)
            stage = "fork"
            pid = libc.fork_into(namespaces.NAMESPACES)
        except Exception as error:
            close_all(trees + ours + theirs)
            for end in ends:
                end.close()
            if broker is not None and user is not None:
                broker.put_back(user)
            self._fail(number, stage, error)
            return
        if pid == 0:
            try:
                init.start(init_end, theirs, plan, sandbox_limits, self._main_for(order), self._private.get())
            finally:
                os._exit(1)
        if broker is not None:
            if owner is not None and user is not None:
                broker.put_back(user)
            broker.adopt(pid, wants_user, owner or user, sandbox_limits.cgroup_bytes(1), reporting)
        close_all([init_end.detach(), *trees, *theirs])
        self._add(number, Sandbox(pid, server_end, Outbox(server_end, self._epoll), ours, broker, sandbox_limits), plan)

    def _main_for(self, order: dict) -> init.WorkerMain:
        main = self._worker_main
        return main.with_mounts(order["mounts"]) if isinstance(main, Guest) else main

    def _add(self, number: int, sandbox: Sandbox, plan: init.Plan) -> None:
        """Its init is forked. The host learns where the session finds its files."""
        self._sandboxes[number] = sandbox
        self._by_fd[sandbox.socket.fileno()] = number
        self._by_pid[sandbox.pid] = number
        self._epoll.register(sandbox.socket, select.EPOLLIN)
        self._send({"event": "opened", "sandbox": number, "work": plan.work, "forks": plan.forks})
        self._send({"event": "pipes", "sandbox": number, "branch": 1, "fds": sandbox.untaken})

    def _has_own_user(self, mounts: list) -> bool:
        """Without a broker that makes mounts, files of the host's user cannot be those of another user."""
        broker = self._broker
        return broker is not None and broker.has_users and (broker.makes_mounts or not mounts)

    def _allow_branch(self, sandbox: Sandbox, branch: int) -> None:
        """Each worker and each checkpoint may hold as much memory as a session, so the limit of the cgroup grows with them."""
        sandbox.branches.add(branch)
        if len(sandbox.branches) > sandbox.most_branches and sandbox.broker is not None and sandbox.limits is not None:
            sandbox.most_branches = len(sandbox.branches)
            sandbox.broker.set_memory_limit(sandbox.pid, sandbox.limits.cgroup_bytes(sandbox.most_branches))

    def _make_mounts(self, requested: list[dict], trees: list[int],
                     user: int | None) -> tuple[list[Mount], broker_mounts.Ids | None]:
        """And the ids of an owner if the sandbox needs these."""
        mounts = [Mount(each["path"], each["write"], exact=True,
                                   hidden=tuple(path.encode("latin-1") for path in each["hidden"])) for each in requested]
        if self._broker is None or not self._broker.makes_mounts:
            return mounts, None
        return broker_mounts.make(self._broker, mounts, os.getuid() if user is None else user, trees)

    def _send_pipes(self, number: int, sandbox: Sandbox, kinds: tuple, order: dict) -> None:
        ours, theirs = pipes.make(kinds)
        try:
            sandbox.outbox.send(order, theirs)
        except OSError:
            pipes.close(ours)
            raise
        sandbox.untaken += ours
        owner = next(name for name in ("job", "program", "branch") if name in order)
        self._send({"event": "pipes", "sandbox": number, owner: order[owner], "fds": ours})

    def _start_process(self, number: int, sandbox: Sandbox, order: dict, kinds: tuple, what: str) -> None:
        try:
            self._send_pipes(number, sandbox, kinds, order)
        except OSError as error:  # does not end the sandbox
            event: dict = {"event": "job-end" if what == "job" else "program-exit", "why": str(error)}
            if what == "branch":
                sandbox.branches.discard(order[what])
                event = {"event": "no-clone", "message": str(error)} if order["op"] == "clone" else {
                    "event": "exit", "reason": None, "code": 1}
            self._send({**event, "sandbox": number, what: order[what]})

    def _flush(self, fd: int) -> None:
        number = self._by_fd.get(fd)
        if number is None:
            return
        try:
            if self._sandboxes[number].outbox.flush():
                self._epoll.modify(fd, select.EPOLLIN)
        except OSError as error:
            self._fail(number, "reach the init", error)

    def _forward(self, fd: int) -> None:
        """Forwards an event of an init, with the sandbox number of its socket, whatever the event says."""
        number = self._by_fd.get(fd)
        if number is None:
            return  # it ended in this round of the loop
        try:
            message = self._sandboxes[number].socket.recv(65536, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if message:
            self._pass_on(message, number)
        else:
            self._epoll.unregister(fd)
            self._kill(self._sandboxes[number])  # it is ending, or nobody hears it; SIGCHLD follows

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            number = self._by_pid.pop(pid, None)
            if number is None:
                self._reaped_other(pid, status)
                continue
            sandbox = self._sandboxes[number]
            self._drain_events(number, sandbox)
            del self._sandboxes[number], self._by_fd[sandbox.socket.fileno()]
            sandbox.socket.close()
            sandbox.outbox.close()
            pipes.close(sandbox.untaken)
            self._end(number, sandbox)

    def _end(self, number: int, sandbox: Sandbox) -> None:
        """Its init was reaped."""
        if sandbox.broker is not None:
            sandbox.broker.give_back(sandbox.pid)
        self._send({"event": "closed", "sandbox": number})

    def _reaped_other(self, pid: int, status: int) -> None:
        """A child was reaped that is no init."""

    def _drain_events(self, number: int, sandbox: Sandbox) -> None:
        sandbox.socket.setblocking(False)
        try:
            while message := sandbox.socket.recv(65536):
                self._pass_on(message, number)
        except OSError:
            pass

    def _pass_on(self, message: bytes, number: int) -> None:
        event = json.loads(message)
        if event["event"] == "private":
            self._private.keep(event["found"])
            return
        if event["event"] == "failed" and self._broker is not None and self._broker.has_ended():
            raise BrokerGone  # so that the host does not take it for a fault of the machine
        if event["event"] in ("exit", "no-clone"):
            self._sandboxes[number].branches.discard(event["branch"])
        self._send({**event, "sandbox": number})

    def _send(self, event: dict) -> None:
        data = json.dumps(event).encode() + b"\n"
        while data:
            data = data[os.write(1, data):]


def serve(worker_main: init.WorkerMain, options: dict) -> None:
    """Runs the fork server in a process that was started with these options. Never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limits.lower_share_of_processors()
    parent = options["host"]
    try:
        if options["tier"] == "C":
            from .container_server import ContainerServer
            ContainerServer._shared = tuple(options.get("shared", ()))
            ContainerServer._has_network = options.get("network", False)
            kind: type[Server] = ContainerServer
            from .container import keeper  # here, because every process of a sandbox has what this one has loaded
            parent = os.getpid()  # this process becomes the keeper
            standing = keeper.start(options["scratch"], options["host"], options.get("users"), options.get("scratchIsMount", False))
        elif options["tier"] == "B":
            from .bwrap_server import BubblewrapServer, make_standing
            kind = BubblewrapServer
            standing = make_standing(options["bwrap"])
        else:
            kind = Server
            standing = privileges.give_up(options.get("uid"), options["home"], options.get("users"))
    except users.RangeRefused as error:
        os.write(1, json.dumps({"event": "refused", "why": str(error)}).encode() + b"\n")
        os._exit(0)
    # Nobody reads stdin during a long import, so the kernel must end this process with its host. Dropping privileges resets
    # this setting, so it comes after.
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    preloading.preload(options["preload"])
    # Each worker replaces these, and dropping the last reference there would copy the pages of the objects it frees.
    sys.stdin = sys.__stdin__ = sys.stdout = sys.__stdout__ = None  # type: ignore[assignment,misc]
    server = kind(worker_main, standing, options["home"], options["tier"], options.get("landlock"))
    gc.collect()
    libc.trim_heap()
    gc.freeze()
    try:
        server.run()
    except BrokerGone:
        os.write(2, b"its broker was killed\n")
    finally:
        os._exit(0)
