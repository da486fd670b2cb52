"""Programs: command lines that the init runs for the host, each with everything that it starts.

A program is behind the same walls as the worker and has three pipes: input, output, error output. What to run comes
through the input pipe, so nothing of that passes through the fork server; what follows it is the program's own input. Its
processes carry its number as their mark, and may not change it, so that all of them can be paused, counted and ended however
they hide from their parents. When the command itself has ended, what it left running lives on with the sandbox.
"""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import time
from dataclasses import dataclass
from typing import Callable

from .. import descriptors
from ..sandbox import limits as limits_module, seccomp
from .branches import mark, parent_of, processes
from .process_barrier import no_new_processes
from .memory import private_and_shared_bytes, resident_bytes
from .proc import DEAD, HELD, cpu_seconds, send, state_of

# Input, output, error output: (pages, True where the program reads).
PIPES = ((16, True), (16, False), (16, False))
_LENGTH_DIGITS = 8
_MAX_SPEC = 8 * 1024 * 1024
# The kernel takes no longer argument; a longer command is read from a file.
_MAX_ARGUMENT = 100_000
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
# Of the init's own processor time.
_PATIENCE_S = 0.25
_TURNS = 3
_BUSY_MS, _CALM_MS = 100, 500
_NOT_STARTED = 127


@dataclass
class Program:
    """`member` is the session it belongs to, by number; `number` is its mark. `report` says why its shell could not be
    started, and ends when it was."""

    number: int
    member: int
    pid: int
    report: int
    started: float
    # None: nothing is known yet. Empty: its shell was started.
    failure: str | None = None
    # How the command ended. None: it has not.
    code: int | None = None
    is_told: bool = False
    # It is to be killed, and so is whatever comes to light of it later.
    is_doomed: bool = False
    end_reason: str | None = None
    # Processor time of those of its processes that the init buried: they count what they waited for themselves.
    buried_s: float = 0.0
    peak_bytes: int = 0

    def read_report(self) -> None:
        if self.failure is not None:
            return
        try:
            self.failure = os.read(self.report, 1024).decode("utf-8", "replace")
        except BlockingIOError:
            pass


class Programs:
    """The programs of one sandbox, as its init sees them. `mark_of` tells whose a process is, `tell` speaks to the fork server."""

    def __init__(self, limits: limits_module.Limits, mark_of: Callable[[int], int], tell: Callable[[dict], None]) -> None:
        self._limits = limits
        self._mark_of = mark_of
        self._tell = tell
        self._programs: dict[int, Program] = {}
        # The command of each, until it has ended.
        self._by_pid: dict[int, int] = {}
        # How much a process that has run nothing yet is said to have taken: it is a copy of the init.
        self._inherited = 0
        # Whose command has ended, and of whom a process was reaped since it was last known what is left.
        self._unsettled: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._programs)

    def get(self, number: int) -> Program | None:
        return self._programs.get(number)

    def start(self, order: dict, pipes: list[int], env: dict[str, str]) -> None:
        """The caller closes the pipes. One that cannot be started is told as one that has ended."""
        number = order["program"]
        self._inherited = max(self._inherited, resident_bytes(os.getpid()))
        report = reporting = -1
        try:
            report, reporting = os.pipe()
            pid = os.fork()
        except OSError as error:
            for fd in {report, reporting} - {-1}:
                os.close(fd)
            self._tell({"event": "program-exit", "program": number, "why": error.strerror, "left": False})
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
        os.setsid()
        mark(order["program"])
        source, out, err = pipes
        os.dup2(out, 1)
        os.dup2(err, 2)
        descriptors.close_all_but({1, 2, source, reporting})
        spec = _read_spec(source)
        os.dup2(source, 0)
        os.close(source)
        if not spec["input"]:
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.chdir(os.path.join(order["folder"], spec["cwd"]))
        environment = {**os.environ, **env, "HOME": order["folder"], "SHELL": "/bin/bash", **spec["env"]}
        command = spec["command"]
        arguments = ["-c", command] if len(command.encode()) <= _MAX_ARGUMENT else [_in_file(command)]
        seccomp.install(seccomp.build_fixed_mark())
        limits_module.apply(self._limits)
        shell = next((path for path in _SHELLS if os.path.exists(path)), _SHELLS[0])
        os.execve(shell, ["bash", *arguments], environment)

    def pause(self, number: int) -> None:
        """Every process, those included that others start meanwhile."""
        is_elusive = any(map(_waits_for_us, self._living({number})))  # and may have left somebody behind
        self._reach({number}, signal.SIGSTOP, HELD, is_elusive)
        self._tell({"event": "program-signalled", "program": number})

    def resume(self, number: int) -> None:
        for pid in self._living({number}):
            send(pid, signal.SIGCONT)
        self._tell({"event": "program-signalled", "program": number})

    def ask_to_end(self, number: int) -> None:
        for pid in self._living({number}):
            send(pid, signal.SIGTERM)
            send(pid, signal.SIGCONT)

    def kill(self, number: int, reason: str | None) -> None:
        """Every process. Those that have not gone when this returns are on their way, and their going will be told."""
        self._kill({number}, reason)

    def kill_all(self, member: int) -> None:
        self._kill({program.number for program in self._programs.values() if program.member == member}, "closed")

    def _kill(self, numbers: set[int], reason: str | None) -> None:
        doomed = [program for program in self._programs.values() if program.number in numbers]
        for program in doomed:
            program.is_doomed = True
            program.end_reason = program.end_reason or reason
        if doomed:
            self._reach({program.number for program in doomed}, signal.SIGKILL, DEAD)

    def _reach(self, numbers: set[int], what: int, reached: str, is_elusive: bool = False) -> None:
        """Sends a signal until every process is in one of the states `reached`. Where others keep appearing, or may have been
        missed, in a moment in which none can."""
        deadline = time.process_time() + _PATIENCE_S  # where processes are many, little of the clock's time is ours
        sent: set[int] = set()
        with contextlib.ExitStack() as moment:
            for turn in itertools.count():
                states = {pid: state_of(pid) for pid in self._living(numbers)}
                left = {pid for pid, state in states.items() if state not in reached}
                is_elusive = is_elusive or (turn >= _TURNS and not left <= sent)
                if is_elusive:
                    moment.enter_context(no_new_processes(self._limits.processes))
                    is_elusive = False
                elif not left:
                    return
                if time.process_time() > deadline:
                    return
                for pid in left:
                    send(pid, what)
                sent |= left
                if turn >= _TURNS:
                    time.sleep(0.001)

    def buried(self, pid: int, code: int, number: int, usage: object) -> bool:
        """A process has ended and was reaped; whether it was one of these. `settle` comes next."""
        program = self._programs.get(number)
        if program is None:
            return False
        program.buried_s += usage.ru_utime + usage.ru_stime  # type: ignore[attr-defined]
        most = usage.ru_maxrss * 1024  # type: ignore[attr-defined]
        if most > self._inherited * 1.1:
            program.peak_bytes = max(program.peak_bytes, most)
        if self._by_pid.pop(pid, None) is not None:
            program.code = code
            program.read_report()
            os.close(program.report)
        if program.code is not None:
            self._unsettled.add(number)
        return True

    def settle(self) -> None:
        """Tells of commands that have ended, and of the last process of each, when no more can be reaped now.

        The dead count until they are reaped, where that is up to us: a process that forks and ends all the time leaves them
        behind, and is not to be seen where it was a moment ago.
        """
        if not self._unsettled:
            return
        states: dict[int, set[bool]] = {number: set() for number in self._unsettled}
        for pid in processes():
            number = self.owner(pid)
            if number in states:
                is_dead = state_of(pid) in DEAD
                if not is_dead or parent_of(pid) == 1:
                    states[number].add(is_dead)
        for number, are_dead in states.items():
            program = self._programs[number]
            if are_dead == {True}:
                continue  # known when they are reaped
            self._unsettled.discard(number)
            if False in are_dead and program.is_doomed:
                self._reach({number}, signal.SIGKILL, DEAD, is_elusive=True)
            if not program.is_told:
                self._tell_exit(program, bool(are_dead))
            elif not are_dead:
                self._tell({"event": "program-gone", "program": number, **self._usage(program)})
            if not are_dead:
                del self._programs[number]

    def _tell_exit(self, program: Program, is_left: bool) -> None:
        code = program.code or 0
        if program.failure:
            ending: dict = {"why": program.failure}
        else:
            ending = {"signal": -code} if code < 0 else {"code": code}
        program.is_told = True
        self._tell({"event": "program-exit", "program": program.number, "reason": program.end_reason, "left": is_left, **ending,
                    **self._usage(program)})

    def measure(self, number: int) -> None:
        program = self._programs.get(number)
        if program is not None:
            self._sample(program, self._living({number}))
            self._tell({"event": "program-usage", "program": number, **self._usage(program)})

    def sample(self, pids: dict[int, list[int]]) -> None:
        """The processes of each program, as the watch found them."""
        for number, own in pids.items():
            program = self._programs.get(number)
            if program is not None:
                self._sample(program, own)

    def next_sample_ms(self, is_calm: bool) -> int | None:
        """Soon for a young program, which may not live long; late where nothing changes. None: there is no program."""
        if not self._programs:
            return None
        now = time.monotonic()
        youngest = min(now - program.started for program in self._programs.values())
        return max(2, min(_CALM_MS if is_calm else _BUSY_MS, int(youngest * 500)))

    def _sample(self, program: Program, pids: list[int]) -> None:
        if program.code is None:
            program.read_report()
            if program.failure != "":
                return  # a copy of the init so far
        sizes = [private_and_shared_bytes(pid) for pid in pids]
        if sizes:
            held = sum(private for private, _ in sizes) + max(shared for _, shared in sizes)
            program.peak_bytes = max(program.peak_bytes, held)

    def _usage(self, program: Program) -> dict:
        living = sum(map(cpu_seconds, self._living({program.number})))
        return {"cpu": program.buried_s + living, "peak": program.peak_bytes}

    def owner(self, pid: int) -> int:
        """The mark of a process; that of a program which has not taken its own yet included."""
        number = self._by_pid.get(pid)
        return self._mark_of(pid) if number is None else number

    def _living(self, numbers: set[int]) -> list[int]:
        """Its processes, those included that are dead and not reaped."""
        return [pid for pid in processes() if self.owner(pid) in numbers]


def _waits_for_us(pid: int) -> bool:
    """Whether it is dead and the init's to reap. The dead of others may carry any mark, and stay for as long as they like."""
    return state_of(pid) in DEAD and parent_of(pid) == 1


def _read_spec(source: int) -> dict:
    """What to run; not one byte of what follows is read. EOFError: the host has gone."""
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


def _in_file(command: str) -> str:
    fd = os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600)
    data = memoryview(command.encode())
    while data:
        data = data[os.write(fd, data):]
    os.lseek(fd, 0, os.SEEK_SET)
    os.set_inheritable(fd, True)
    return f"/dev/fd/{fd}"
