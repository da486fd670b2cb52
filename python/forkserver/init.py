"""The init of one sandbox: process 1 of its namespaces, ours, never user code.

It starts a worker, starts another when the host asks for one after the last has ended, hands out what copies of a
worker need, passes signals on, reaps orphans, watches the memory of all processes while code runs and whenever the
machine's shrinks, and reports how a worker ended. It outlives every worker, so that whatever the session keeps (its
files, its checkpoints) survives the death of one. It ends with the fork server, and with it the whole sandbox.
"""
from __future__ import annotations

import _signal
import contextlib
import itertools
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Callable, NoReturn

from . import descriptors, libc, wakeup
from .files import operations as files
from .processes import jobs, programs
from .sandbox import limits as limits_module, namespaces as walls
from .processes.memory_limits import Allowances
from .processes.branches import Branch, end, hear, mark, mark_of, open_door, parent_of, processes
from .processes.process_barrier import no_new_processes

WATCH_INTERVAL_MS = 50
# Of the init's own processor time.
REAP_PATIENCE_S = 0.25
TURNS = 3
REAP_AT_ONCE = 256
MAX_FDS = 5
# Where programs keep what they can make anew: not among the session's files. Set only here, since these names mean
# folders of the sandbox, and the fork server sees the host's.
CACHES = {"MPLCONFIGDIR": "/tmp/.matplotlib", "XDG_CACHE_HOME": "/tmp/.cache"}

WorkerMain = Callable[[int, int, int, int], None]


class Init:
    def __init__(self, server: socket.socket, limits: limits_module.Limits, worker_main: WorkerMain) -> None:
        self._server = server
        self._limits = limits
        self._worker_main = worker_main
        self._branches: dict[int, Branch] = {}
        self._by_pid: dict[int, Branch] = {}
        self._by_door: dict[int, Branch] = {}
        self._poll = select.poll()
        self._is_reaping_due = False
        self._last_look = 0.0
        self._jobs = jobs.Jobs(limits.disk_bytes, self._tell)
        self._programs = programs.Programs(limits, self._branch_of, self._tell)
        self._allowances = Allowances(limits, self._branches, self._jobs, self._programs, self._kill, self._tell)

    def run(self, plan: walls.Plan, pipes: list[int]) -> NoReturn:
        try:
            self._raise_walls(plan)
            wake = wakeup.open_wake()
            self._start_worker({"branch": 1, "member": 1, "folder": walls.WORK}, pipes)
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
        self._poll.register(self._server, select.POLLIN)
        self._poll.register(wake, select.POLLIN)
        server = self._server.fileno()
        while True:
            ready = self._poll.poll(self._patience_ms())
            # The host may know from a copy that it stands before this does: its word comes before orders about it.
            for fd, _ in sorted(ready, key=lambda event: event[0] == server):
                if fd == wake:
                    wakeup.empty(wake)
                    self._reap()
                elif fd == server:
                    self._hear()
                elif fd in self._by_door:
                    self._hear_copy(fd)
            if self._is_reaping_due:
                self._reap()
            self._watch()

    def _watch(self) -> None:
        """Looks when it is due, however often something else happens."""
        if self._until_look_ms() == 0:
            self._allowances.look()
            self._last_look = time.monotonic()

    def _until_look_ms(self) -> float | None:
        """None: there is nothing to watch."""
        ms = self._programs.next_sample_ms(self._allowances.is_calm)
        if any(branch.watched for branch in self._branches.values()):
            ms = WATCH_INTERVAL_MS if ms is None else min(ms, WATCH_INTERVAL_MS)
        return None if ms is None else max(0.0, ms - (time.monotonic() - self._last_look) * 1000)

    def _patience_ms(self) -> float | None:
        return 0 if self._is_reaping_due else self._until_look_ms()

    def _hear(self) -> None:
        message, fds, _, _ = socket.recv_fds(self._server, 65536, MAX_FDS)
        if not message:
            os._exit(0)  # the fork server is gone
        order = json.loads(message)
        op = order["op"]
        branch = self._branches.get(order.get("branch", 0))
        if op == "interrupt":
            if branch is not None and branch.pid:
                os.kill(branch.pid, signal.SIGINT)
            self._tell({"event": "signalled", "branch": order["branch"]})
        elif op == "watch":
            if branch is not None:
                branch.watched = order["on"]
        elif op == "look":
            self._allowances.look()
        elif op == "kill":
            if branch is not None:
                self._kill(branch, order["reason"])
        elif op == "worker":
            self._start_worker(order, fds)
        elif op == "clone":
            self._clone(order, fds)
        elif op == "streams":
            if branch is not None:
                branch.deliver(b"s", fds)  # a worker that is ending does not need it; its exit will be reported
        elif op == "remove":
            self._jobs.sweep(lambda: files.remove_all(order["folder"]))
        elif op == "job":
            self._jobs.start(order["job"], fds, files.work)
        elif op == "end-job":
            self._jobs.kill(order["job"])
        elif op == "program":
            self._programs.start(order, fds, CACHES)
        elif op == "end-programs":
            self._programs.kill_all(order["member"])
        elif "program" in order:
            self._obey_about_program(op, order["program"])
        elif op == "measure":
            self._allowances.measure(order["id"])
        for fd in fds:
            os.close(fd)

    def _obey_about_program(self, op: str, number: int) -> None:
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
        """A fresh worker, with an empty namespace, in the folder of its session."""
        ours, theirs = open_door()
        pid = os.fork()
        if pid == 0:
            try:
                self._become_worker(order, pipes, theirs.detach())
            finally:
                os._exit(1)
        theirs.close()
        branch = Branch(order["branch"], order["member"], ours, pid=pid)
        self._branches[branch.number] = self._by_pid[pid] = branch

    def _become_worker(self, order: dict, pipes: list[int], door: int) -> None:
        signal.set_wakeup_fd(-1)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)  # `signal.signal` makes an enumeration's member of it, at 25 pages
        os.setsid()
        commands, aside, events, out, err = pipes
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        descriptors.close_all_but({0, 1, 2, commands, aside, events, door})
        libc.prctl(libc.PR_SET_DUMPABLE, 1)
        _reseed()
        os.chdir(order["folder"])
        os.environ["HOME"] = order["folder"]
        mark(order["branch"])
        limits_module.apply(self._limits)
        for name, place in CACHES.items():  # `update` asks what a mapping is, and so copies many pages into each worker
            os.environ[name] = place
        self._worker_main(commands, aside, events, door)

    def _clone(self, order: dict, pipes: list[int]) -> None:
        """Hands a worker or a checkpoint what a copy of it needs. It forks when it looks at its door."""
        original = self._branches.get(order["of"])
        ours, theirs = open_door()
        with theirs:
            if original is None or not original.deliver(json.dumps(order).encode(), [theirs.fileno(), *pipes]):
                ours.close()
                self._tell({"event": "no-clone", "branch": order["branch"], "message": "the original has ended"})
                return
        branch = Branch(order["branch"], order["member"], ours, frozen=order["frozen"])
        self._branches[branch.number] = self._by_door[ours.fileno()] = branch
        self._poll.register(ours, select.POLLIN)

    def _hear_copy(self, fd: int) -> None:
        """The first and last message of a copy: that it stands, or why not. An end without one means that it fell."""
        branch = self._by_door.pop(fd)
        self._poll.unregister(fd)
        message, pid = hear(branch.door)
        if message == b"h" and pid not in self._by_pid and parent_of(pid) == 1:  # ours to reap, whoever it is
            branch.pid = pid
            self._by_pid[pid] = branch
            self._tell({"event": "cloned", "branch": branch.number})
            return
        del self._branches[branch.number]
        branch.door.close()
        why = message[1:].decode("utf-8", "replace") or "it was refused"
        self._tell({"event": "no-clone", "branch": branch.number, "message": why})

    def _kill(self, branch: Branch, reason: str) -> None:
        branch.end_reason = reason
        if branch.pid:
            self._end_processes(branch)  # its exit is reported when it is reaped
        else:
            self._poll.unregister(branch.door)
            del self._branches[branch.number], self._by_door[branch.door.fileno()]
            branch.door.close()  # nobody will hear that it stands, and it ends
            self._tell({"event": "exit", "branch": branch.number, "reason": reason, "signal": signal.SIGKILL})

    def _reap(self) -> None:
        """Not more than so many at once: others could end faster than they are reaped."""
        self._is_reaping_due = False
        for _ in range(REAP_AT_ONCE):
            try:
                # A program's processes are known by their marks, which are gone when they are reaped.
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if ended is None:
                    break
                owner = self._programs.owner(ended.si_pid) if self._programs else 0
                pid, status, usage = os.wait4(ended.si_pid, 0)
            except ChildProcessError:
                break
            code = os.waitstatus_to_exitcode(status)
            if owner and pid not in self._by_pid and self._programs.buried(pid, code, owner, usage):
                continue
            self._allowances.reaped(pid, code)
            branch = self._by_pid.pop(pid, None)
            if branch is None:
                self._jobs.reaped(pid, status)
            else:
                self._bury(branch, code)
        else:
            self._is_reaping_due = True
        self._programs.settle()

    def _bury(self, branch: Branch, code: int) -> None:
        del self._branches[branch.number]
        branch.door.close()
        self._end_processes(branch)
        ending = {"signal": -code} if code < 0 else {"code": code}
        self._tell({"event": "exit", "branch": branch.number, "reason": branch.end_reason, **ending})

    def _end_processes(self, branch: Branch) -> None:
        """Kills every process of a branch; where others keep appearing, in a moment in which none can. Those of the last one are
        all that there are but jobs and programs, whatever marks they carry."""
        deadline = time.process_time() + REAP_PATIENCE_S
        seen: set[int] = set()
        is_crowded = False
        with contextlib.ExitStack() as moment:
            for turn in itertools.count():
                alone = not any(other is not branch for other in self._branches.values())
                others = [pid for pid in processes() if pid not in self._jobs]
                doomed = {pid for pid in others if self._is_of(pid, branch, alone)}
                if not doomed or time.process_time() > deadline:
                    return
                if turn >= TURNS and not is_crowded and not doomed <= seen:
                    moment.enter_context(no_new_processes(self._limits.processes))
                    is_crowded = True
                for pid in doomed:
                    end(pid)
                if branch.pid in self._by_pid:
                    return  # comes back when it is reaped, for those it leaves behind
                seen |= doomed
                self._reap()
                time.sleep(0.001)

    def _is_of(self, pid: int, branch: Branch, alone: bool) -> bool:
        if alone and not self._programs:
            return True
        number = self._programs.owner(pid)
        return number == branch.number or (alone and self._programs.get(number) is None)

    def _branch_of(self, pid: int) -> int:
        """By its mark, of a branch or a program; a worker may change its own, and stays what it is."""
        branch = self._by_pid.get(pid)
        return mark_of(pid) if branch is None else branch.number

    def _tell(self, event: dict[str, object]) -> None:
        self._server.send(json.dumps(event).encode())


def start(server: socket.socket, keep: list[int], plan: walls.Plan, limits: limits_module.Limits,
          worker_main: WorkerMain) -> NoReturn:
    """Called in the child of the fork server. `keep` are the worker's ends of the five pipes."""
    trees = {mount.tree for mount in plan.mounts if mount.tree is not None}
    descriptors.close_all_but({2, server.fileno(), *keep, *trees})
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    Init(server, limits, worker_main).run(plan, keep)


def _reseed() -> None:
    """Forks of a preloaded numpy would all draw the same numbers. Python's own generator looks after itself."""
    generator = sys.modules.get("numpy.random")
    if generator is not None:
        generator.seed()
