"""The init of one sandbox: process 1 of its namespaces. It is trusted and never runs user code.

It starts the first worker and a new one when the host asks for it, delivers what copies of a worker need, forwards signals,
reaps orphans, checks the memory of all processes while code runs and when the machine runs low, and reports how a worker
ended. It outlives every worker, so that the session keeps its files and checkpoints. It ends with the fork server, and the
whole sandbox with it.
"""
from __future__ import annotations

import _signal
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any, Callable, Iterable, NoReturn, Protocol

from . import descriptors, libc, wakeup
from .files import operations
from .processes.branches import Branch, open_control_socket
from .processes.endings import Endings
from .processes.jobs import Jobs
from .processes import guest, kernel_objects, process_barrier
from .processes.memory_limits import MemoryLimits
from .processes.proc import is_child_of_init, lower_priority, mark_of, set_mark
from .processes.programs import Programs
from .processes.queries import Queries
from .sandbox import as_root, limits as limits_module, namespaces, seccomp
from .sandbox.privileged import cgroups

WATCH_INTERVAL_MS = 50
# Of the time, at most one part in this many is for checks, so that orders do not wait for them when the init gets little CPU time.
CHECK_SHARE = 4
REAP_AT_ONCE = 256
MAX_FDS = 5

WorkerMain = Callable[[int, int, int, int], None]


class Plan(Protocol):
    """How a sandbox is confined: namespaces.py, or container/plan.py where no namespaces can be made."""

    # Paths inside the sandbox.
    work: str
    environment: dict[str, str]
    # What `confine` needs; all others are closed.
    descriptors: Iterable[int]

    # Whether it has the ids of root (as_root.py).
    is_root: bool
    # Whether the kernel is known not to limit the number of its processes.
    counts_processes: bool
    # A container.supervisor.Supervisor, which decides on calls of members. None: they reach no process but their own.
    supervisor: Any
    # Descriptors that `become_member` needs.
    kept: tuple[int, ...]

    def confine(self, stage: Callable[[str], None]) -> namespaces.Confined:
        """Confines the init."""

    def become_member(self, session_limits: limits_module.Limits) -> None:
        """Limits a worker or a command, which the init has just forked."""

    def disk_bytes_used(self) -> int: ...

    def overflows(self, session_limits: limits_module.Limits) -> bool:
        """Whether there are more files than allowed, where no quota of the kernel prevents it."""


class Init:
    def __init__(self, server: socket.socket, plan: Plan, limits: limits_module.Limits, worker_main: WorkerMain) -> None:
        self._server = server
        self._plan = plan
        self._limits = limits
        self._worker_main = worker_main
        self._branches: dict[int, Branch] = {}
        self._by_pid: dict[int, Branch] = {}
        self._by_control: dict[int, Branch] = {}  # copies that have not reported yet, by descriptor
        self._poll = select.poll()
        self._is_reaping_due = False
        self._oom_events: int | None = None
        self._oom_kills = 0
        self._last_check = 0.0
        self._check_took_ms = 0.0
        self._jobs = Jobs(limits.disk_bytes, self._send)
        self._programs = Programs(limits, self._owner_of, self._send, plan)
        self._kept_by_queries = {server.fileno()}
        self._queries = Queries(self._kept_by_queries)
        self._endings = Endings(limits.processes, self._branches, self._jobs, self._programs, self._queries)
        self._memory = MemoryLimits(
            limits, self._branches, self._jobs, self._programs, self._queries, self._kill, self._send,
            plan.disk_bytes_used)
        self._objects = kernel_objects.KernelObjects(
            limits, self._memory, self._branches, self._jobs, self._programs, self._queries, self._kill)

    def run(self, pipes: list[int], private: as_root.Private | None) -> NoReturn:
        stages: list[str] = ["start"]
        try:
            try:
                if self._plan.counts_processes or self._plan.supervisor is not None:
                    self._count_processes()
                if self._plan.is_root:
                    self._prepare_for_root(private, stages.append)
                self._confine(stages.append)
                stages.append("start a worker")
                wake = wakeup.open_wake()
                self._start_worker({"branch": 1, "member": 1, "folder": self._plan.work}, pipes)
            except BaseException as error:
                self._send({"event": "failed", "stage": stages[-1], "message": str(error)})
                raise
            self._loop(wake)
        finally:
            os._exit(1)

    def _prepare_for_root(self, private: as_root.Private | None, stage: Callable[[str], None]) -> None:
        stage("find what only root may read")
        plan = self._plan
        ways: Any = as_root
        if not isinstance(plan, namespaces.Plan):
            from .container import root_files as ways  # the fork server has loaded it
        if private is None:
            private = ways.find_private(plan)
            as_root.send_private(private, self._send)
        if not ways.limit_processes(self._limits.processes):
            self._count_processes()
        self._plan = ways.hide(plan, private)

    def _count_processes(self) -> None:
        may_be_more = self._plan.supervisor is not None  # as long as forks that it allowed copy memory
        self._objects.most_processes = self._limits.processes * (2 if may_be_more else 1)
        process_barrier.cannot_hold()

    def _confine(self, stage: Callable[[str], None]) -> None:
        self._oom_events, locks, self._objects.has_cgroup = self._plan.confine(stage)
        if locks is not None:
            kernel_objects.locks = locks
            self._kept_by_queries.add(locks)
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)

    def _loop(self, wake: int) -> None:
        self._poll.register(self._server, select.POLLIN)
        self._poll.register(wake, select.POLLIN)
        server, supervisor = self._server.fileno(), self._plan.supervisor
        if supervisor is not None:
            supervisor.register(self._poll)
        while True:
            ready = self._poll.poll(self._timeout_ms())
            # A copy's report is read before the host's orders: the host may already know that the copy is ready.
            for fd, events in sorted(ready, key=lambda event: event[0] == server):
                if fd == wake:
                    wakeup.empty(wake)
                    self._reap()
                elif fd == server:
                    self._receive_order()
                elif fd in self._by_control:
                    self._receive_report(fd)
                elif supervisor is not None and fd in supervisor:
                    supervisor.handle(fd, events)
            if supervisor is not None:
                supervisor.proceed()
            if self._is_reaping_due:
                self._reap()
            self._endings.proceed()
            self._check_if_due()

    def _check_if_due(self) -> None:
        """Called in every round of the loop, so that a busy loop cannot postpone it. What takes longer than to list the
        processes is a question for `self._queries`."""
        self._queries.check_deadlines()
        if self._until_check_ms() == 0:
            started = time.monotonic()
            self._check()
            self._last_check = time.monotonic()
            self._check_took_ms = (self._last_check - started) * 1000

    def _check(self) -> None:
        if self._plan.overflows(self._limits):
            self._end_all()
        self._memory.check()
        self._objects.check()

    def _end_all(self) -> NoReturn:
        """Its files are memory; without them the session starts anew."""
        for branch in self._branches.values():
            self._send({"event": "exit", "branch": branch.number, "reason": "memory", "signal": signal.SIGKILL})
        os._exit(1)

    def _until_check_ms(self) -> float | None:
        """None if there is nothing to watch."""
        ms = self._programs.next_sample_ms(self._memory.is_calm)
        if any(branch.watched for branch in self._branches.values()):
            ms = WATCH_INTERVAL_MS if ms is None else min(ms, WATCH_INTERVAL_MS)
        if ms is None:
            return None
        return max(0.0, max(ms, self._check_took_ms * CHECK_SHARE) - (time.monotonic() - self._last_check) * 1000)

    def _timeout_ms(self) -> float | None:
        if self._is_reaping_due:
            return 0
        supervisor_ms = None if self._plan.supervisor is None else self._plan.supervisor.until_due_ms()
        due = (self._until_check_ms(), self._queries.until_deadline_ms(), self._endings.until_due_ms(), supervisor_ms)
        return min((ms for ms in due if ms is not None), default=None)

    def _receive_order(self) -> None:
        message, fds, _, _ = socket.recv_fds(self._server, 65536, MAX_FDS)
        if not message:
            os._exit(0)  # the fork server is gone
        order = json.loads(message)
        op = order["op"]
        branch = self._branches.get(order.get("branch", 0))
        if op == "interrupt":
            if branch is not None and branch.pid:
                os.kill(branch.pid, signal.SIGINT)
            self._send({"event": "signalled", "branch": order["branch"]})
        elif op == "watch":
            if branch is not None:
                branch.watched = order["on"]
        elif op == "look":
            self._check()
        elif op == "kill":
            if branch is not None:
                self._kill(branch, order["reason"])
        elif op == "worker":
            try:
                self._start_worker(order, fds)
            except OSError:  # the session keeps its files, and may ask again
                self._send({"event": "exit", "branch": order["branch"], "reason": None, "code": 1})
        elif op == "clone":
            self._clone(order, fds)
        elif op == "streams":
            if branch is not None:
                branch.deliver(b"s", fds)  # if it fails, the worker is ending and its exit will be reported
        elif op == "remove":
            self._jobs.start_own(lambda: operations.remove_all(order["folder"]))
        elif op == "job":
            self._jobs.start(order["job"], fds, operations.work)
        elif op == "end-job":
            self._jobs.kill(order["job"])
        elif op == "program":
            self._programs.start(order, fds, self._plan.environment)
        elif op == "end-programs":
            self._programs.kill_all(order["member"])
        elif "program" in order:
            self._control_program(op, order["program"])
        elif op == "measure":
            self._memory.measure(order["id"])
        descriptors.close_all(fds)

    def _control_program(self, op: str, number: int) -> None:
        if op == "pause-program":
            self._programs.pause(number)
        elif op == "resume-program":
            self._programs.resume(number)
        elif op == "ask-program-to-end":
            self._programs.ask_to_end(number)
        elif op == "kill-program":
            self._programs.kill(number, None)
        elif op == "measure-program":
            self._programs.measure(number)

    def _start_worker(self, order: dict, pipes: list[int]) -> None:
        """Starts a fresh worker, with an empty namespace, in the folder of its session."""
        ours, theirs, links = open_control_socket()
        pid = os.fork()
        if pid == 0:
            try:
                self._become_worker(order, pipes, theirs.detach())
            finally:
                os._exit(1)
        theirs.close()
        branch = Branch(order["branch"], order["member"], ours, links, pid=pid)
        self._branches[branch.number] = self._by_pid[pid] = branch

    def _become_worker(self, order: dict, pipes: list[int], control: int) -> None:
        signal.set_wakeup_fd(-1)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)  # `signal.signal` would create enum members, which copies 25 pages
        os.setpgid(0, 0)  # no session of its own: see limits.lower_share_of_processors
        lower_priority()
        commands, aside, events, out, err = pipes
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        descriptors.close_all_but({0, 1, 2, commands, aside, events, control, *self._plan.kept, *guest.kept_by(self._worker_main)})
        libc.prctl(libc.PR_SET_DUMPABLE, 1)
        _reseed()
        os.chdir(order["folder"])
        os.environ["HOME"] = order["folder"]
        set_mark(order["branch"])
        self._plan.become_member(self._limits)
        seccomp.install_last(is_mark_fixed=False)
        for name, folder in self._plan.environment.items():  # `update` would use the abc module and copy many pages into each worker
            os.environ[name] = folder
        self._worker_main(commands, aside, events, control)

    def _clone(self, order: dict, pipes: list[int]) -> None:
        """Delivers what a copy needs to a worker or a checkpoint, which forks when it reads its control socket."""
        original = self._branches.get(order["of"])
        ours, theirs, links = open_control_socket()
        with theirs:
            if original is None or not original.deliver(json.dumps(order).encode(), [theirs.fileno(), *pipes]):
                ours.close()
                self._send({"event": "no-clone", "branch": order["branch"], "message": "the original has ended"})
                return
        branch = Branch(order["branch"], order["member"], ours, links, frozen=order["frozen"])
        self._branches[branch.number] = self._by_control[ours.fileno()] = branch
        self._poll.register(ours, select.POLLIN)

    def _receive_report(self, fd: int) -> None:
        """The only message of a copy: that it is ready, or why not. If the socket ends without one, the copy failed."""
        branch = self._by_control.pop(fd)
        self._poll.unregister(fd)
        message, pid = branch.receive()
        if message == b"h" and pid not in self._by_pid and is_child_of_init(pid):  # whatever it claims
            branch.pid = pid
            self._by_pid[pid] = branch
            self._send({"event": "cloned", "branch": branch.number})
            return
        del self._branches[branch.number]
        branch.control.close()
        why = message[1:].decode("utf-8", "replace") or "it was refused"
        self._send({"event": "no-clone", "branch": branch.number, "message": why})

    def _kill(self, branch: Branch, reason: str) -> None:
        branch.end_reason = branch.end_reason or reason
        if branch.pid:
            self._endings.kill(branch)  # its exit is reported when it is reaped
        else:
            self._poll.unregister(branch.control)
            del self._branches[branch.number], self._by_control[branch.control.fileno()]
            branch.control.close()  # the copy exits when it cannot report
            self._send({"event": "exit", "branch": branch.number, "reason": reason, "signal": signal.SIGKILL})

    def _reap(self) -> None:
        """At most REAP_AT_ONCE at a time: processes could exit faster than they are reaped."""
        self._is_reaping_due = False
        for _ in range(REAP_AT_ONCE):
            try:
                # The mark of a process tells its program, and is gone once the process is reaped.
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if ended is None:
                    break
                owner = self._programs.owner(ended.si_pid) if self._programs else 0
                pid, status, usage = os.wait4(ended.si_pid, 0)
            except ChildProcessError:
                break
            code = os.waitstatus_to_exitcode(status)
            if owner and pid not in self._by_pid and self._programs.reaped(pid, code, owner, usage):
                continue
            if self._queries.reaped(pid, code):
                continue
            branch = self._by_pid.pop(pid, None)
            if branch is None:
                self._jobs.reaped(pid, status)
            else:
                self._report_exit(branch, code)
        else:
            self._is_reaping_due = True
        self._programs.settle()

    def _report_exit(self, branch: Branch, code: int) -> None:
        del self._branches[branch.number]
        branch.control.close()
        ending = {"signal": -code} if code < 0 else {"code": code}
        reason = branch.end_reason or ("memory" if self._was_out_of_memory() else None)
        event = {"event": "exit", "branch": branch.number, "reason": reason, **ending}
        self._endings.add(branch, lambda: self._send(event))

    def _was_out_of_memory(self) -> bool:
        """Whether the kernel has killed a process at the limit of the cgroup since this was last asked."""
        if self._oom_events is None:
            return False
        before, self._oom_kills = self._oom_kills, cgroups.oom_kills(self._oom_events)
        return self._oom_kills > before

    def _owner_of(self, pid: int) -> int:
        """The branch or program of a process by its mark. A worker is known by its pid, because it may change its mark."""
        branch = self._by_pid.get(pid)
        return mark_of(pid) if branch is None else branch.number

    def _send(self, event: dict[str, object]) -> None:
        self._server.send(json.dumps(event).encode())


def start(server: socket.socket, keep: list[int], plan: Plan, limits: limits_module.Limits,
          worker_main: WorkerMain, private: as_root.Private | None = None) -> NoReturn:
    """Called in the child of the fork server. `keep` are the worker's ends of the five pipes, `private` what another init has found."""
    descriptors.close_all_but({2, server.fileno(), *keep, *plan.descriptors, *guest.kept_by(worker_main)})
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    Init(server, plan, *guest.limited(limits, worker_main)).run(keep, private)


def _reseed() -> None:
    """All forks of a preloaded numpy would draw the same numbers. Python reseeds its own generator."""
    generator = sys.modules.get("numpy.random")
    if generator is not None:
        generator.seed()
