"""Programs: shell commands that the init runs for the host, each with all processes that it starts.

A program is confined like the worker and has three pipes: stdin, stdout, stderr. The command comes through the input pipe,
so it does not pass through the fork server; what follows it is the program's input. Its processes carry its number as their
mark and cannot change it, so all of them can be paused, counted and killed, however they hide from their parents. When the
command itself has ended, processes it left running stay until the sandbox ends.
"""
from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import signal
import time
from dataclasses import dataclass
from typing import Callable, Protocol

from .. import descriptors
from ..sandbox import limits as limits_module, seccomp
from .memory import held_bytes, resident_bytes
from .proc import (
    DEAD, STOPPED, cpu_seconds, is_child_of_init, is_mark_fixed, lower_priority, processes, send_signal, set_mark, state_of)
from .process_barrier import no_new_processes

# stdin, stdout, stderr: (pages, True if the program reads it).
PIPES = ((16, True), (16, False), (16, False))
_LENGTH_DIGITS = 8
_MAX_SPEC = 8 * 1024 * 1024
# The kernel limits the length of one argument; a longer command is passed as a file.
_MAX_ARGUMENT = 100_000
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
# In CPU time of the init, because with many processes it gets little of the wall clock; and in all.
_SIGNAL_CPU_S, _SIGNAL_TIMEOUT_S = 0.25, 1.0
_ROUNDS_BEFORE_BARRIER = 3
_BUSY_MS, _CALM_MS = 100, 500
_NOT_STARTED = 127


@dataclass
class Program:
    """`number` is its mark, `member` the number of its session. `report` is a pipe: it has the reason why the shell could not
    be started, or ends when it was started."""

    number: int
    member: int
    pid: int
    report: int
    started: float
    # None: not known yet. Empty: the shell was started.
    failure: str | None = None
    # How the command ended; None while it runs.
    code: int | None = None
    is_reported: bool = False
    # All its processes are to be killed, including those that are found later.
    is_killed: bool = False
    end_reason: str | None = None
    # CPU time of its processes that the init reaped, including the children they waited for.
    reaped_cpu_s: float = 0.0
    peak_bytes: int = 0

    def read_report(self) -> None:
        if self.failure is not None:
            return
        try:
            self.failure = os.read(self.report, 1024).decode("utf-8", "replace")
        except BlockingIOError:
            pass


class MemberPlan(Protocol):
    kept: tuple[int, ...]

    def become_member(self, session_limits: limits_module.Limits) -> None: ...


class Programs:
    """The programs of one sandbox, for its init. `mark_of` returns the owner of a process; `send` sends an event to the fork
    server; `plan` limits a command."""

    def __init__(self, limits: limits_module.Limits, mark_of: Callable[[int], int], send: Callable[[dict], None],
                 plan: MemberPlan) -> None:
        self._limits = limits
        self._plan = plan
        self._mark_of = mark_of
        self._send = send
        self._programs: dict[int, Program] = {}
        # The number of each program by the pid of its command, until that ends.
        self._by_pid: dict[int, int] = {}
        # The peak memory that a process inherits as a copy of the init, before it runs the shell.
        self._inherited = 0
        # Programs whose command has ended and of which a process was reaped since `settle` last looked.
        self._unsettled: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._programs)

    def get(self, number: int) -> Program | None:
        return self._programs.get(number)

    def start(self, order: dict, pipes: list[int], env: dict[str, str]) -> None:
        """The caller closes the pipes. A program that cannot be started is reported as ended."""
        number = order["program"]
        self._inherited = max(self._inherited, resident_bytes(os.getpid()))
        report = reporting = -1
        try:
            report, reporting = os.pipe()
            pid = os.fork()
        except OSError as error:
            for fd in {report, reporting} - {-1}:
                os.close(fd)
            self._send({"event": "program-exit", "program": number, "why": error.strerror, "left": False})
            return
        if pid == 0:
            try:
                self._become(order, pipes, reporting, env)
            except BaseException as error:
                os.write(reporting, _explain(error).encode("utf-8", "replace")[:1024])
            finally:
                os._exit(_NOT_STARTED)
        os.close(reporting)
        os.set_blocking(report, False)
        self._programs[number] = Program(number, order["member"], pid, report, time.monotonic())
        self._by_pid[pid] = number

    def _become(self, order: dict, pipes: list[int], reporting: int, env: dict[str, str]) -> None:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.setpgid(0, 0)  # no session of its own: see limits.lower_share_of_processors
        lower_priority()
        set_mark(order["program"])
        source, out, err = pipes
        os.dup2(out, 1)
        os.dup2(err, 2)
        descriptors.close_all_but({1, 2, source, reporting, *self._plan.kept})
        spec = _read_spec(source)
        os.dup2(source, 0)
        os.close(source)
        if not spec["input"]:
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        cwd = os.path.join(order["folder"], spec["cwd"])
        os.chdir(cwd)
        # With PWD, the shell calls a folder that is reached by a link as its caller does.
        environment = {**os.environ, **env, "HOME": order["folder"], "PWD": cwd, "SHELL": "/bin/bash", **spec["env"]}
        command = spec["command"]
        arguments = ["-c", command] if len(command.encode()) <= _MAX_ARGUMENT else [_command_file(command, env.get("TMPDIR", "/tmp"))]
        self._plan.become_member(self._limits)
        seccomp.install_last(is_mark_fixed=True)
        if not is_mark_fixed(order["program"]):
            raise OSError(errno.EPERM, "it could change its mark")
        shell = next((path for path in _SHELLS if os.path.exists(path)), _SHELLS[0])
        os.execve(shell, ["bash", *arguments], environment)

    def pause(self, number: int) -> None:
        """Stops every process, including those that are started meanwhile."""
        is_forking = any(map(_is_zombie_of_init, self._processes_of({number})))  # its children may not be listed
        self._signal_all({number}, signal.SIGSTOP, STOPPED, is_forking)
        self._send({"event": "program-signalled", "program": number})

    def resume(self, number: int) -> None:
        for pid in self._processes_of({number}):
            send_signal(pid, signal.SIGCONT)
        self._send({"event": "program-signalled", "program": number})

    def ask_to_end(self, number: int) -> None:
        for pid in self._processes_of({number}):
            send_signal(pid, signal.SIGTERM)
            send_signal(pid, signal.SIGCONT)

    def kill(self, number: int, reason: str | None) -> None:
        """Kills every process. Some may still be ending when this returns; `settle` reports their end."""
        self._kill({number}, reason)

    def kill_all(self, member: int) -> None:
        self._kill({program.number for program in self._programs.values() if program.member == member}, "closed")

    def _kill(self, numbers: set[int], reason: str | None) -> None:
        killed = [program for program in self._programs.values() if program.number in numbers]
        for program in killed:
            program.is_killed = True
            program.end_reason = program.end_reason or reason
        if killed:
            self._signal_all({program.number for program in killed}, signal.SIGKILL, DEAD)

    def _signal_all(self, numbers: set[int], what: int, wanted: str, is_forking: bool = False) -> None:
        """Sends a signal until every process is in one of the `wanted` states. If new processes keep appearing, or may have
        been missed, it does so behind a process barrier."""
        cpu_limit = time.process_time() + _SIGNAL_CPU_S
        deadline = time.monotonic() + _SIGNAL_TIMEOUT_S
        sent: set[int] = set()
        with contextlib.ExitStack() as barrier:
            for round_number in itertools.count():
                states = {pid: state_of(pid) for pid in self._processes_of(numbers)}
                left = {pid for pid, state in states.items() if state not in wanted}
                is_forking = is_forking or (round_number >= _ROUNDS_BEFORE_BARRIER and not left <= sent)
                if is_forking:
                    barrier.enter_context(no_new_processes(self._limits.processes))
                    is_forking = False
                elif not left:
                    return
                if time.process_time() > cpu_limit or time.monotonic() > deadline:
                    return
                for pid in left:
                    send_signal(pid, what)
                sent |= left
                if round_number >= _ROUNDS_BEFORE_BARRIER:
                    time.sleep(0.001)

    def reaped(self, pid: int, code: int, number: int, usage: object) -> bool:
        """A process was reaped; whether it belonged to a program. The caller calls `settle` next."""
        program = self._programs.get(number)
        if program is None:
            return False
        program.reaped_cpu_s += usage.ru_utime + usage.ru_stime  # type: ignore[attr-defined]
        peak = usage.ru_maxrss * 1024  # type: ignore[attr-defined]
        if peak > self._inherited * 1.1:
            program.peak_bytes = max(program.peak_bytes, peak)
        if self._by_pid.pop(pid, None) is not None:
            program.code = code
            program.read_report()
            os.close(program.report)
        if program.code is not None:
            self._unsettled.add(number)
        return True

    def settle(self) -> None:
        """Reports commands that have ended, and the end of the last process of each. Called when nothing is left to reap.

        Zombies of the init count until they are reaped: a process that forks and exits all the time is seen only by the
        zombies it leaves.
        """
        if not self._unsettled:
            return
        states: dict[int, set[bool]] = {number: set() for number in self._unsettled}
        for pid in processes():
            number = self.owner(pid)
            if number in states:
                is_dead = state_of(pid) in DEAD
                if not is_dead or is_child_of_init(pid):
                    states[number].add(is_dead)
        for number, are_dead in states.items():
            program = self._programs[number]
            if are_dead == {True}:
                continue  # decided when they are reaped
            self._unsettled.discard(number)
            if False in are_dead and program.is_killed:
                self._signal_all({number}, signal.SIGKILL, DEAD, is_forking=True)
            if not program.is_reported:
                self._report_exit(program, bool(are_dead))
            elif not are_dead:
                self._send({"event": "program-gone", "program": number, **self._usage(program)})
            if not are_dead:
                del self._programs[number]

    def _report_exit(self, program: Program, is_left: bool) -> None:
        code = program.code or 0
        if program.failure:
            ending: dict = {"why": program.failure}
        else:
            ending = {"signal": -code} if code < 0 else {"code": code}
        program.is_reported = True
        self._send({"event": "program-exit", "program": program.number, "reason": program.end_reason, "left": is_left, **ending,
                    **self._usage(program)})

    def measure(self, number: int) -> None:
        program = self._programs.get(number)
        if program is not None:
            self._sample(program, self._processes_of({number}))
            self._send({"event": "program-usage", "program": number, **self._usage(program)})

    def sample(self, pids: dict[int, list[int]]) -> None:
        """Updates the peak memory of programs from their processes, by number."""
        for number, own in pids.items():
            program = self._programs.get(number)
            if program is not None:
                self._sample(program, own)

    def next_sample_ms(self, is_calm: bool) -> int | None:
        """Short for a young program, which may end soon; long if nothing changes. None if there is no program."""
        if not self._programs:
            return None
        now = time.monotonic()
        youngest = min(now - program.started for program in self._programs.values())
        return max(2, min(_CALM_MS if is_calm else _BUSY_MS, int(youngest * 500)))

    def _sample(self, program: Program, pids: list[int]) -> None:
        if program.code is None:
            program.read_report()
            if program.failure != "":
                return  # still a copy of the init
        program.peak_bytes = max(program.peak_bytes, held_bytes(pids))

    def _usage(self, program: Program) -> dict:
        living = sum(map(cpu_seconds, self._processes_of({program.number})))
        return {"cpu": program.reaped_cpu_s + living, "peak": program.peak_bytes}

    def commands(self) -> list[int]:
        """The first process of each program, while it lives."""
        return list(self._by_pid)

    def owner(self, pid: int) -> int:
        """The mark of a process, also of a command that has not set its mark yet."""
        number = self._by_pid.get(pid)
        return self._mark_of(pid) if number is None else number

    def _processes_of(self, numbers: set[int]) -> list[int]:
        """Their processes, including zombies."""
        return [pid for pid in processes() if self.owner(pid) in numbers]


def _is_zombie_of_init(pid: int) -> bool:
    """Zombies of other processes do not count: they may have any mark and stay as long as their parent likes."""
    return state_of(pid) in DEAD and is_child_of_init(pid)


def _read_spec(source: int) -> dict:
    """What to run. Reads not one byte more than that. EOFError: the host is gone."""
    length = int(_read_exactly(source, _LENGTH_DIGITS), 16)
    if length > _MAX_SPEC:
        raise ValueError("its command and environment are too long")
    return json.loads(_read_exactly(source, length))


def _explain(error: BaseException) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'its process'}: {error.strerror}"
    if isinstance(error, UnicodeError):
        return "half a character (a lone surrogate) is in it"
    return str(error) or type(error).__name__


def _read_exactly(source: int, length: int) -> bytes:
    parts: list[bytes] = []
    while length > 0:
        part = os.read(source, length)
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _command_file(command: str, folder: str) -> str:
    fd = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    data = memoryview(command.encode())
    while data:
        data = data[os.write(fd, data):]
    os.lseek(fd, 0, os.SEEK_SET)
    os.set_inheritable(fd, True)
    return f"/dev/fd/{fd}"
