"""Programs: command lines that the init runs for the host, each with everything that it starts.

A program is behind the same walls as the worker and has three pipes: input, output, error output. What to run comes
through the input pipe, so nothing of that passes through the fork server; what follows it is the program's own input. Its
processes carry its number as their mark, and may not change it, so that all of them can be paused, counted and ended however
they hide from their parents. When the command itself has ended, what it left running lives on with the sandbox.
"""
from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass
from typing import Callable

from . import descriptors, limits as limits_module, seccomp
from .branches import mark, processes
from .memory import private_and_shared_bytes, resident_bytes

# Input, output, error output: (pages, True where the program reads).
PIPES = ((16, True), (16, False), (16, False))
_LENGTH_DIGITS = 8
_MAX_SPEC = 8 * 1024 * 1024
# The kernel takes no longer argument; a longer command is read from a file.
_MAX_ARGUMENT = 100_000
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
_PATIENCE_S = 0.5
_TICK = os.sysconf("SC_CLK_TCK")
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
    has_ended: bool = False
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
        # How much a process that has run nothing yet is said to have taken: it is a copy of the init.
        self._inherited = 0

    def __bool__(self) -> bool:
        return bool(self._programs)

    def get(self, number: int) -> Program | None:
        return self._programs.get(number)

    def start(self, order: dict, pipes: list[int], env: dict[str, str]) -> None:
        """The caller closes the pipes. One that cannot be started is told as one that has ended."""
        number = order["program"]
        self._inherited = max(self._inherited, resident_bytes(os.getpid()))
        try:
            report, reporting = os.pipe()
            pid = os.fork()
        except OSError as error:
            self._tell({"event": "program-exit", "program": number, "why": error.strerror, "left": False})
            return
        if pid == 0:
            try:
                self._become(order, pipes, reporting, env)
            except OSError as error:
                os.write(reporting, f"{error.filename or 'its process'}: {error.strerror}".encode()[:1024])
            finally:
                os._exit(_NOT_STARTED)
        os.close(reporting)
        os.set_blocking(report, False)
        self._programs[number] = Program(number, order["member"], pid, report, time.monotonic())

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
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            running = [pid for pid in self._living(number) if _state(pid) not in "TtXZ"]
            if not running:
                break
            for pid in running:
                _send(pid, signal.SIGSTOP)
        self._tell({"event": "program-signalled", "program": number})

    def resume(self, number: int) -> None:
        for pid in self._living(number):
            _send(pid, signal.SIGCONT)
        self._tell({"event": "program-signalled", "program": number})

    def ask_to_end(self, number: int) -> None:
        for pid in self._living(number):
            _send(pid, signal.SIGTERM)
            _send(pid, signal.SIGCONT)

    def kill(self, number: int, reason: str | None) -> None:
        """Every process. Those that have not gone when this returns are on their way, and their going will be told."""
        program = self._programs.get(number)
        if program is None:
            return
        if program.end_reason is None:
            program.end_reason = reason
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            doomed = [pid for pid in self._living(number) if _state(pid) not in "XZ"]
            if not doomed:
                break
            for pid in doomed:  # first held fast, so that nothing new is started by those that come last
                _send(pid, signal.SIGSTOP)
            for pid in doomed:
                _send(pid, signal.SIGKILL)
        self.look(number)

    def kill_all(self, member: int) -> None:
        for program in list(self._programs.values()):
            if program.member == member:
                self.kill(program.number, "closed")

    def buried(self, pid: int, code: int, number: int, usage: object) -> bool:
        """A process has ended and was reaped; whether it was one of these."""
        program = self._programs.get(number)
        if program is None:
            return False
        program.buried_s += usage.ru_utime + usage.ru_stime  # type: ignore[attr-defined]
        most = usage.ru_maxrss * 1024  # type: ignore[attr-defined]
        if most > self._inherited * 1.1:
            program.peak_bytes = max(program.peak_bytes, most)
        if pid == program.pid:
            program.has_ended = True
            left = self._is_alive(program)
            ending: dict = {"signal": -code} if code < 0 else {"code": code}
            program.read_report()
            os.close(program.report)
            if program.failure:
                ending = {"why": program.failure}
            self._tell({"event": "program-exit", "program": number, "reason": program.end_reason, "left": left, **ending,
                        **self._usage(program)})
            if not left:
                del self._programs[number]
        elif program.has_ended:
            self.look(number)
        return True

    def look(self, number: int) -> None:
        """Tells when the last process of a program whose command has ended is gone."""
        program = self._programs.get(number)
        if program is not None and program.has_ended and not self._is_alive(program):
            del self._programs[number]
            self._tell({"event": "program-gone", "program": number, **self._usage(program)})

    def measure(self, number: int) -> None:
        program = self._programs.get(number)
        if program is not None:
            self._sample(program, self._living(number))
            self._tell({"event": "program-usage", "program": number, **self._usage(program)})

    def sample(self, pids: dict[int, list[int]]) -> None:
        """The processes of each program, as the watch found them."""
        for number, own in pids.items():
            program = self._programs.get(number)
            if program is not None:
                self._sample(program, own)

    @property
    def next_sample_ms(self) -> int | None:
        """Soon for a young program, which may not live long. None: there is no program."""
        if not self._programs:
            return None
        now = time.monotonic()
        youngest = min(now - program.started for program in self._programs.values())
        return max(2, min(100, int(youngest * 500)))

    def _sample(self, program: Program, pids: list[int]) -> None:
        if not program.has_ended:
            program.read_report()
            if program.failure != "":
                return  # a copy of the init so far
        sizes = [private_and_shared_bytes(pid) for pid in pids]
        if sizes:
            held = sum(private for private, _ in sizes) + max(shared for _, shared in sizes)
            program.peak_bytes = max(program.peak_bytes, held)

    def _usage(self, program: Program) -> dict:
        living = sum(map(_cpu_seconds, self._living(program.number)))
        return {"cpu": program.buried_s + living, "peak": program.peak_bytes}

    def _is_alive(self, program: Program) -> bool:
        return any(_state(pid) not in "XZ" for pid in self._living(program.number))

    def owner(self, pid: int) -> int:
        """The mark of a process; that of a program which has not taken its own yet included."""
        for program in self._programs.values():
            if program.pid == pid and not program.has_ended:
                return program.number
        return self._mark_of(pid)

    def _living(self, number: int) -> list[int]:
        return [pid for pid in processes() if self.owner(pid) == number]


def _read_spec(source: int) -> dict:
    """What to run; not one byte of what follows is read. EOFError: the host has gone."""
    length = int(_read_exactly(source, _LENGTH_DIGITS), 16)
    if length > _MAX_SPEC:
        raise ValueError("the command is too long")
    return json.loads(_read_exactly(source, length))


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


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass


def _stat(pid: int) -> list[bytes]:
    """The fields after the name; none for a process that is gone."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        return os.read(fd, 4096).rpartition(b")")[2].split()
    except OSError:
        return []
    finally:
        os.close(fd)


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0].decode() if fields else "X"


def _cpu_seconds(pid: int) -> float:
    """Of the process and of those it has waited for."""
    return sum(map(int, _stat(pid)[11:15])) / _TICK
