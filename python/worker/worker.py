"""The worker: one session's interpreter. It executes commands from the host one at a time, in order.

The fork server calls ``prepare()`` once and ``run()`` in each process it forks, with the output pipes on fd 1 and 2 and
an empty fd 0. ``run`` never returns: the worker exits when its command pipe ends. If its channel or its own code is
broken, it kills itself, so that the host sees a lost worker and never a silent one.
"""

import _thread
import os
import resource
import signal
import sys
import time
from typing import Any, Callable, Dict, List, NoReturn, Optional, Set

from . import import_hooks, shell_lines
from .branch.branches import Branches
from .display.display import Displays
from .inspection.requests import InspectionRequests
from .io import stdin
from .io.calls import Calls
from .io.channel import ChannelClosed, Reader, Writer, quote
from .io.descriptors import close_all, move
from .io.streams import Streams
from .kernel import Kernel
from .listener import Listener
from .notebook import timing
from .notebook.pretty import pretty_text_of
from .outcome import DONE, Outcome, status_event
from .process import fork_hooks
from .process.processes import Processes
from .process.signals import Interrupts
from .report import error_of, name_of, text_of, traceback_of
from .state import State

PROTOCOL = 1
WARM_UP = ("0", "(1, 'two')", "None")  # assigns no names
BRIEF_NS = 200_000  # too short to start a process unnoticed or to use much memory, so neither is checked
BRIEF_COUNT = 16  # the CPU clock is read once for this many brief executions in a row
LONG_NS = 5_000_000  # CPU time of longer executions is not capped at elapsed time: libraries may use several cores
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
_MISSING = object()
_environ = os.environ
_now = time.perf_counter_ns


def prepare(asyncio: bool = False) -> None:
    """Fills imports and caches once for all workers. Starts no thread and touches no descriptor."""
    import getpass as _  # noqa: F401
    import traceback

    import_hooks.install()
    if asyncio:
        import asyncio as _  # noqa: F401
    try:
        compile("(", "<cell>", "exec")
    except SyntaxError as error:
        "".join(traceback.TracebackException.from_exception(error).format())


def run(
    commands_fd: int,
    aside_fd: int,
    events_fd: int,
    control_fd: Optional[int] = None,
    cwd: Optional[str] = None,
    alone: Optional[bool] = None,
) -> NoReturn:
    """Serves until the command pipe ends. Takes over the descriptors.

    ``alone``: every process in this pid namespace except pid 1 belongs to the session. Default: whether the parent is
    pid 1.
    """
    try:
        if cwd is not None:
            os.chdir(cwd)
        worker = Worker(commands_fd, aside_fd, events_fd, control_fd, os.getppid() == 1 if alone is None else alone)
        worker.serve()
    except ChannelClosed:
        os._exit(0)
    except BaseException as error:
        die(traceback_of(error))


def die(reason: str) -> NoReturn:
    """Kills this process, so that the host cannot take its end for a regular exit."""
    try:
        os.write(2, f"worker: {reason}\n".encode("utf-8", "backslashreplace")[:4096])
    except BaseException:
        pass
    os.kill(os.getpid(), signal.SIGKILL)
    os._exit(70)


class Worker:
    """Puts the parts together. ``serve`` is the main loop."""

    def __init__(self, commands: int, aside: int, events: int, control: Optional[int], alone: bool) -> None:
        commands, aside, events = move(commands), move(aside), move(events)
        self._pid = os.getpid()
        self._cwd = os.getcwd()
        self._reader = Reader(commands)
        self._writer = Writer(events)
        self._branches = Branches(None if control is None else move(control), self._renew)
        self._channel = [commands, aside, events]
        self._streams = Streams(self._writer)
        self._interrupts = Interrupts()
        self._processes = Processes(alone)
        self._calls = Calls(self._writer, self._streams.threads)
        self._displays = Displays(self._calls.notify, self._streams.finish)
        self._kernel = Kernel(self._interrupts, self._streams.finish, self._displays)
        self._requests = InspectionRequests(self._writer, lambda: self._kernel.module.__dict__)
        self._listener = Listener(Reader(aside), self._streams, self._calls, self._requests, self._interrupts, die)
        self._state = State(self._kernel, self._reader, self._writer, self._guarded)
        self._peak = _peak_bytes()
        self._cpu = time.process_time_ns()
        self._children_cpu = 0.0
        self._has_survivors = False  # whether processes of earlier executions live
        self._spawned = False  # whether this execution started a process from Python
        self._brief = 0
        self._is_child = False  # True in processes that user code forks from this one
        self._calls.install()
        self._displays.install()
        shell_lines.install(lambda: self._kernel.module.__dict__)
        timing.install(lambda: self._kernel.module.__dict__)
        stdin.install(self._calls)
        fork_hooks.install(self._before_child, self._after_fork, self._streams.old_pipes)
        self._streams.threads.install()
        self._interrupts.install()
        self._streams.begin()

    def _warm_up(self) -> None:
        """Runs a few executions over a private pipe, so that the first real one does not pay for copying memory pages.

        A fork shares its memory with its parent until either writes to it, and the first write to a page costs more than
        running a line of code.
        """
        read_end, write_end = os.pipe()
        real = self._reader, self._writer
        self._reader, self._writer = Reader(read_end), Writer(write_end)
        for code in WARM_UP:
            self._writer.send({"type": "exec", "id": "", "cmd": "exec", "count": 0, "code": code})
            self._execute(*self._reader.read())
            self._reader.read()
        self._reader, self._writer = real
        close_all((read_end, write_end))

    def serve(self) -> NoReturn:
        self._listener.start()
        with self._interrupts.put_off():  # to the first execution
            self._send_ready()
            self._warm_up()  # while the host prepares the first command
        self._serve_commands()

    def _serve_commands(self) -> NoReturn:
        read = self._reader.read
        commands = {"configure": self._configure, "reset": self._reset, "streams": self._take_streams}
        commands.update(self._state.commands())
        while True:
            message, payload = read()
            if message["cmd"] == "exec":
                self._execute(message, payload)
            elif message["cmd"] == "fork":
                self._fork(message["id"], message["branch"])
            else:
                self._answer(message, commands[message["cmd"]])

    def _send_ready(self) -> None:
        python = "%d.%d.%d" % sys.version_info[:3]
        self._writer.send({"type": "ready", "id": None, "protocol": PROTOCOL, "python": python})

    def _execute(self, message: Dict[str, Any], payload: Optional[bytes]) -> None:
        name = message["id"]
        streams = self._streams
        listener = self._listener
        streams.begin()
        streams.threads.execution = name
        listener.running = name
        if streams.has_threads() or not self._brief:
            self._cpu = time.process_time_ns()
        start = _now()
        if payload is None and len(message) == 4:  # the others have more than id, cmd, count and code
            outcome = self._kernel.run(message["code"], message["count"])
        else:
            outcome = self._execute_special(message, payload)
        listener.finished.append(name)
        listener.running = None
        if os.getpid() != self._pid:
            _leave(outcome)
        elapsed = _now() - start
        if (
            elapsed > BRIEF_NS
            or outcome.status != "ok"
            or outcome.total > 2000
            or outcome.rich is not None
            or self._spawned
            or self._has_survivors
            or streams.has_threads()
        ):
            self._report(name, outcome, elapsed)
            return
        # Nearly every execution takes this path, so the event is formatted by hand.
        self._brief = (self._brief + 1) % BRIEF_COUNT
        value = "" if outcome is DONE else f',"value":{{"text/plain":{quote(outcome.value)}}}'
        pending = ',"pending":true' if streams.end() else ""
        self._writer.send_frame(
            f'{{"type":"status","id":{quote(name)},"status":"ok"{value}{pending},"cpuMs":{elapsed / 1e6:.3f},'
            f'"peakBytes":{self._peak}}}\n'.encode()
        )

    def _report(self, name: str, outcome: Outcome, elapsed: int) -> None:
        """Sends the status of an execution that took the slow path."""
        streams = self._streams
        pending = streams.end()
        streams.check()
        self._peak = _peak_bytes()
        used_ns = time.process_time_ns() - self._cpu
        cpu_ms = (used_ns if elapsed > LONG_NS else min(used_ns, elapsed)) / 1e6
        if self._processes.changed():
            if outcome.status == "interrupted":
                self._processes.kill_new()
            self._has_survivors = self._processes.survivors()
            cpu_ms += self._take_children_cpu()
        self._brief = 0
        self._spawned = False
        survivors = self._has_survivors or streams.has_threads()
        self._writer.send(status_event(name, outcome, pending, survivors, cpu_ms, self._peak))

    def _execute_special(self, message: Dict[str, Any], payload: Optional[bytes]) -> Outcome:
        """Runs code that came as a payload, has a name, or has environment variables, which are restored afterwards."""
        if message.get("apart"):
            self._streams.set_apart()
        try:
            code = message["code"] if payload is None else str(payload, "utf-8")
        except UnicodeDecodeError as error:
            return Outcome("error", error=error_of(error, {}))
        console = message.get("console")
        if console is not None:
            self._kernel.keeps_results = True
            if console:
                self._displays.text_of = lambda value: pretty_text_of(value, console)
        before = {}
        try:
            for key, value in message.get("env", {}).items():
                before[key] = _environ.get(key, _MISSING)
                _environ[key] = value
            return self._kernel.run(code, message["count"], message.get("name"))
        except (ValueError, TypeError, OSError) as error:
            return Outcome("error", error=error_of(error, {}))
        finally:
            self._kernel.keeps_results = False
            self._displays.text_of = text_of
            for key, value in before.items():
                if value is _MISSING:
                    _environ.pop(key, None)
                else:
                    _environ[key] = value

    def _answer(self, message: Dict[str, Any], step: Callable[[Dict[str, Any]], Optional[Dict[str, Any]]]) -> None:
        """Runs any command except an execution; what ``step`` returns is the data of its status."""
        event: Dict[str, Any] = {"type": "status", "id": message["id"], "status": "ok"}
        self._interrupts.forget()
        try:
            data = step(message)
            if data is not None:
                event["data"] = data
        except Exception as error:
            event.update(status="error", error=error_of(error, {}))
        self._writer.send(event)

    def _guarded(self, step: Callable[..., Any], *args: Any) -> Any:
        """Calls a function that may run user code. It can be interrupted; its exception is raised here."""
        self._streams.begin()
        result, error = self._interrupts.guard(step, *args)
        self._streams.flush()
        if error is not None:
            raise error if isinstance(error, Exception) else RuntimeError(f"it was stopped by {name_of(error)}")
        return result

    def _configure(self, message: Dict[str, Any]) -> None:
        for key, value in message.get("env", {}).items():
            _environ[key] = value
        if "argv" in message:
            sys.argv = list(message["argv"])
        for name, target in message.get("links", {}).items():
            try:
                os.symlink(target, os.path.join(self._cwd, name))
            except OSError:
                pass  # the name is taken, as after a restart, or nothing can be written
        if "cwd" in message:
            os.chdir(os.path.join(self._cwd, message["cwd"]))

    def _reset(self, _message: Dict[str, Any]) -> None:
        self._streams.begin()
        self._kernel.reset()
        self._displays.reset()
        self._state.stdlib.clear()
        self._streams.flush()

    def _take_streams(self, _message: Dict[str, Any]) -> None:
        _, fds = self._branches.receive()
        if len(fds) != 2:
            close_all(fds)
            raise RuntimeError(f"the control socket sent {len(fds)} descriptors, not 2")
        self._streams.replace(*fds)

    def _fork(self, name: str, branch: int) -> None:
        """Makes a copy. The original answers, a live copy sends ``ready``, a frozen copy does not return from ``make``."""
        event: Dict[str, Any] = {"type": "status", "id": name, "status": "ok"}
        is_copy = False
        self._interrupts.forget()
        self._listener.stop()
        try:
            is_copy = self._branches.make(branch, self._streams.flush)
        except Exception as error:
            event.update(status="error", error=error_of(error, {}))
        self._listener.start()
        if is_copy:
            self._send_ready()
        else:
            self._writer.send(event)

    def _renew(self, pipes: List[int], folder: Optional[str]) -> Set[int]:
        """In a copy: replaces everything that must not be shared with the original."""
        self._pid = os.getpid()
        self._cwd = folder or self._cwd
        for part in (self._interrupts, self._listener, self._processes, self._kernel, self._calls):
            part.renew()
        self._take_channel(pipes)
        self._children_cpu = 0.0
        self._cpu = time.process_time_ns()
        self._brief = 0
        self._has_survivors = self._spawned = False
        return {*self._channel, *self._streams.current.fds, *self._interrupts.fds, *self._listener.fds}

    def _take_channel(self, pipes: List[int]) -> None:
        """Puts new pipes under the descriptor numbers of the old ones; /dev/null for a checkpoint."""
        nothing = -1
        if not pipes:
            nothing = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
            pipes = [nothing] * 5
        for new, old in zip(pipes, self._channel):
            os.dup2(new, old, False)
        self._reader.forget()
        self._streams.rebase(*pipes[3:])
        if nothing >= 0:
            os.close(nothing)

    def _take_children_cpu(self) -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        before, self._children_cpu = self._children_cpu, (usage.ru_utime + usage.ru_stime) * 1000
        return self._children_cpu - before

    def _before_child(self) -> None:
        """Called before a process is made. If user code makes it, the execution takes the slow path, however short it is."""
        if self._branches.is_forking or _thread.get_ident() in self._requests.threads:
            return
        self._spawned = True
        self._streams.share()

    def _after_fork(self) -> None:
        """In the child of a fork by user code: only the parent talks to the host."""
        if self._branches.is_forking or self._is_child:
            return
        self._is_child = True
        self._writer.close()
        close_all(self._channel)
        self._interrupts.close()
        close_all(self._listener.fds)
        self._branches.close()
        self._streams.forget()
        self._streams.threads.forget()


def _leave(outcome: Outcome) -> NoReturn:
    """Exits a child that user code forked and that reached the end of the cell."""
    try:
        code = outcome.exit_code
        if outcome.error is not None:
            code = 1
            sys.stderr.write(outcome.error["traceback"])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT
