"""The supervisor: the fork server's part on macOS, where a process that was forked and not executed is unsafe. Untested on macOS.

It speaks with the host as the fork server does (server.py), and starts each worker and each job under sandbox-exec with the profile
that the host has sent. There are no process namespaces and no inits: it ends a session by process groups and by what `ps` shows as
descendants. Copies of a worker and shell commands are not offered. When stdin ends, the host is gone, and everything ends.
"""
from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field

from .. import pipes, wakeup
from ..descriptors import close_all
from ..processes import jobs
from . import fifos, folders, process_table

_LAUNCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.py")
_CHECK_INTERVAL_S = 0.5


@dataclass
class Process:
    """A worker, or a job. Its pid is that of its process group."""

    sandbox: int
    branch: int = 0
    job: int = 0
    control: socket.socket | None = None
    watched: bool = False
    end_reason: str | None = None


@dataclass
class Sandbox:
    folder: str
    profile: str
    limits: dict
    untaken: set[int] = field(default_factory=set)
    is_closing: bool = False

    @property
    def work(self) -> str:
        return f"{self.folder}/work"


class Supervisor:
    def __init__(self, options: dict) -> None:
        self._sandbox_exec: list[str] = options["sandboxExec"]
        self._base = folders.make_base(options["scratch"])
        self._fifos = fifos.Fifos(f"{self._base}/pipes")
        self._sandboxes: dict[int, Sandbox] = {}
        self._processes: dict[int, Process] = {}
        self._next_check = 0.0

    def run(self) -> None:
        wake = wakeup.open_wake()
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(wake, select.POLLIN)
        self._send({"event": "hello", "pid": os.getpid(), "python": sys.version.split()[0], "executable": sys.executable,
                    "folders": sorted({os.path.realpath(prefix) for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)}),
                    "landlock": 0, "uid": os.getuid(), "users": {"why": "macOS has none to give"}, "cgroup": None, "threads": 1,
                    "modules": [], "scratch": self._base, "pipes": f"{self._base}/pipes"})
        pending = b""
        while True:
            for fd, _ in poll.poll(_CHECK_INTERVAL_S * 1000 if self._is_watching() else None):
                if fd == wake:
                    wakeup.empty(wake)
                    self._reap()
                    continue
                chunk = os.read(0, 65536)
                if not chunk:
                    return
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    self._handle(json.loads(line))
            self._check_memory()

    def end(self) -> None:
        """Ends every session and removes its files."""
        self._kill(set(self._processes))
        folders.remove(self._base)

    def _handle(self, order: dict) -> None:
        number = order["sandbox"]
        try:
            self._execute(order["op"], number, order)
        except Exception as error:
            self._send({"event": "failed", "sandbox": number, "stage": order["op"], "message": str(error)})
            self._close(number)

    def _execute(self, op: str, number: int, order: dict) -> None:
        if op == "open":
            self._open(number, order)
            return
        sandbox = self._sandboxes.get(number)
        if sandbox is None:
            return
        pid, worker = self._worker_of(number, order.get("branch", 0))
        if op == "taken":
            taken = sandbox.untaken.intersection(order["fds"])
            sandbox.untaken -= taken
            self._fifos.taken(taken)
        elif op == "close":
            self._close(number)
        elif op == "worker":
            self._start_worker(number, sandbox, order["branch"], order["folder"])
        elif op == "clone":
            self._send({"event": "no-clone", "sandbox": number, "branch": order["branch"], "message": "there are no copies on macOS"})
        elif op == "streams":
            self._renew_streams(number, sandbox, order["branch"], worker)
        elif op == "interrupt":
            if worker is not None:
                os.kill(pid, signal.SIGINT)
            self._send({"event": "signalled", "sandbox": number, "branch": order["branch"]})
        elif op == "watch":
            if worker is not None:
                worker.watched = order["on"]
        elif op == "kill":
            if worker is not None:
                worker.end_reason = worker.end_reason or order["reason"]
                self._kill({pid})
        elif op == "job":
            self._start_job(number, sandbox, order["job"])
        elif op == "end-job":
            self._kill({pid for pid, process in self._processes.items() if (process.sandbox, process.job) == (number, order["job"])})
        elif op == "measure":
            self._measure(number, sandbox, order["id"])

    def _open(self, number: int, order: dict) -> None:
        sandbox = Sandbox(f"{self._base}/{number}", order["profile"], order["limits"])
        self._sandboxes[number] = sandbox
        for folder in (sandbox.folder, sandbox.work, f"{sandbox.folder}/tmp"):
            os.mkdir(folder, 0o700)
        self._send({"event": "opened", "sandbox": number, "work": sandbox.work, "forks": f"{sandbox.folder}/forks"})
        self._start_worker(number, sandbox, 1, sandbox.work)

    def _start_worker(self, number: int, sandbox: Sandbox, branch: int, folder: str) -> None:
        made, theirs = self._fifos.make([worker_reads for _, worker_reads in pipes.OF_A_WORKER])
        ours, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        sandbox.untaken.update(made)
        commands, aside, events, out, err = theirs
        try:
            pid = self._launch(sandbox, folder, "worker", [commands, aside, events, control.fileno()], out, err)
        finally:
            control.close()
            close_all(theirs)
        self._processes[pid] = Process(number, branch=branch, control=ours)
        self._send({"event": "pipes", "sandbox": number, "branch": branch, "fds": made})

    def _renew_streams(self, number: int, sandbox: Sandbox, branch: int, worker: Process | None) -> None:
        if worker is None or worker.control is None:
            return
        made, theirs = self._fifos.make([worker_reads for _, worker_reads in pipes.OF_ITS_OUTPUT])
        sandbox.untaken.update(made)
        try:
            socket.send_fds(worker.control, [b"s"], theirs)
        finally:
            close_all(theirs)
        self._send({"event": "pipes", "sandbox": number, "branch": branch, "fds": made})

    def _start_job(self, number: int, sandbox: Sandbox, job: int) -> None:
        made, theirs = self._fifos.make([job_reads for _, job_reads in jobs.PIPES])
        sandbox.untaken.update(made)
        try:
            pid = self._launch(sandbox, sandbox.work, "job", theirs, subprocess.DEVNULL, subprocess.DEVNULL)
        except OSError as error:
            self._fifos.taken(made)
            self._send({"event": "job-end", "sandbox": number, "job": job, "why": str(error)})
            return
        finally:
            close_all(theirs)
        self._processes[pid] = Process(number, job=job)
        self._send({"event": "pipes", "sandbox": number, "job": job, "fds": made})

    def _launch(self, sandbox: Sandbox, folder: str, role: str, fds: list[int], out: int, err: int) -> int:
        """Starts a process in a session and process group of its own. It becomes what `launch.py` is told to be."""
        order = json.dumps({"role": role, "fds": fds, "limits": sandbox.limits})
        command = [*self._sandbox_exec, "-p", sandbox.profile, sys.executable, "-I", "-B", _LAUNCH, order]
        environment = {**os.environ, "HOME": folder, "TMPDIR": f"{sandbox.folder}/tmp", "MPLCONFIGDIR": f"{sandbox.folder}/tmp/.matplotlib"}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, pass_fds=fds, cwd=folder,
                                   env=environment, start_new_session=True)
        process.returncode = 0  # it is reaped in `_reap`
        return process.pid

    def _close(self, number: int) -> None:
        sandbox = self._sandboxes.get(number)
        if sandbox is None:
            self._send({"event": "closed", "sandbox": number})
            return
        sandbox.is_closing = True
        self._kill({pid for pid, process in self._processes.items() if process.sandbox == number})
        self._finish(number)

    def _finish(self, number: int) -> None:
        """The last process of a closing session has been reaped."""
        sandbox = self._sandboxes.get(number)
        if sandbox is None or not sandbox.is_closing or any(process.sandbox == number for process in self._processes.values()):
            return
        self._fifos.taken(sandbox.untaken)
        folders.remove(sandbox.folder)
        del self._sandboxes[number]
        self._send({"event": "closed", "sandbox": number})

    def _kill(self, pids: set[int]) -> None:
        """These, their process groups, and those of their descendants as far as `ps` shows them."""
        if not pids:
            return
        table = process_table.read()
        for group in pids | process_table.groups_below(table, pids):
            try:
                os.killpg(group, signal.SIGKILL)
            except OSError:
                continue

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            process = self._processes.pop(pid, None)
            if process is not None:
                self._report_end(pid, process, os.waitstatus_to_exitcode(status))
                self._finish(process.sandbox)

    def _report_end(self, pid: int, process: Process, code: int) -> None:
        try:
            os.killpg(pid, signal.SIGKILL)  # what it has left in its group
        except OSError:
            pass
        if process.job:
            why = f"it ended with status {code}" if code else None
            self._send({"event": "job-end", "sandbox": process.sandbox, "job": process.job, "why": why})
            return
        assert process.control is not None
        process.control.close()
        ending = {"signal": -code} if code < 0 else {"code": code}
        self._send({"event": "exit", "sandbox": process.sandbox, "branch": process.branch, "reason": process.end_reason, **ending})

    def _worker_of(self, number: int, branch: int) -> tuple[int, Process | None]:
        for pid, process in self._processes.items():
            if branch and (process.sandbox, process.branch) == (number, branch):
                return pid, process
        return 0, None

    def _is_watching(self) -> bool:
        return any(process.watched for process in self._processes.values())

    def _check_memory(self) -> None:
        """While code runs, twice a second: a worker whose processes hold too much together is ended."""
        now = time.monotonic()
        if now < self._next_check or not self._is_watching():
            return
        self._next_check = now + _CHECK_INTERVAL_S
        table = process_table.read()
        for pid, process in list(self._processes.items()):
            sandbox = self._sandboxes[process.sandbox]
            if process.watched and process_table.bytes_below(table, pid) > sandbox.limits["memoryBytes"]:
                process.end_reason = process.end_reason or "memory"
                self._kill({pid})

    def _measure(self, number: int, sandbox: Sandbox, request: int) -> None:
        table = process_table.read()
        used = sum(process_table.bytes_below(table, pid) for pid, process in self._processes.items() if process.sandbox == number)
        self._send({"event": "usage", "sandbox": number, "id": request, "memory": {"1": used}, "disk": folders.disk_usage(sandbox.folder)})

    def _send(self, event: dict) -> None:
        data = json.dumps(event).encode() + b"\n"
        while data:
            data = data[os.write(1, data):]


def serve(options: dict) -> None:
    """Runs the supervisor in a process that was started with these options. Never returns."""
    if "guest" in options:
        sys.exit("this tier starts Python of the machine only")  # else sessions would not be what their report says
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    supervisor = Supervisor(options)
    try:
        supervisor.run()
    finally:
        supervisor.end()
        os._exit(0)
