"""The worker: one session's interpreter, driven by commands, one at a time and in order.

The fork server calls ``prepare()`` once and ``run()`` in each process it forks, with the output pipes on fd 1 and 2 and
an empty fd 0. ``run`` never returns: the worker exits when its commands end, and kills itself when its channel or its own
code is broken, so that the host sees a lost worker and never a silent one.
"""

import _thread
import os
import resource
import signal
import sys
import time
from typing import Any, Callable, Dict, List, NoReturn, Optional, Set

from . import import_hooks as library_hooks, shell_lines
from .io import stdin
from .process import fork_hooks as hooks
from .inspection.requests import Asides
from .io.calls import Calls
from .io.channel import ChannelClosed, Reader, Writer, quote
from .branch.branches import Copies
from .io.descriptors import close_all, move
from .display.display import Displays
from .kernel import DONE, Kernel, Outcome
from .listener import Listener
from .process.processes import Processes
from .report import error_of, name_of, traceback_of
from .process.signals import Interrupts
from .state import State
from .outcome import status_event
from .io.streams import Streams

PROTOCOL = 1
REHEARSALS = ("0", "2 * 3", "(4, 'five')", "[6][0]", "None", "pass", "7 if 8 else 9")  # no names: nothing remains of them
BRIEF_NS = 200_000  # too short to make a process unnoticed, or to use much memory: nobody looks for either
BRIEF_COUNT = 16  # so many brief executions in a row are counted from one reading of the processor clock
LONG_NS = 5_000_000  # from here on the processor clock is used as it is: libraries may have used several cores
_MISSING = object()
_environ = os.environ
_now = time.perf_counter_ns


def prepare(asyncio: bool = False) -> None:
    """What can be done once for all workers: imports and caches. Starts no thread and touches no descriptor."""
    import getpass as _  # noqa: F401
    import traceback

    library_hooks.install()
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
    door_fd: Optional[int] = None,
    cwd: Optional[str] = None,
    alone: Optional[bool] = None,
) -> NoReturn:
    """Serves until the commands end. Takes over the descriptors.

    ``alone`` says that every process in this pid namespace, but for pid 1, belongs to the session; absent, it is
    taken to be so when the parent is pid 1.
    """
    try:
        if cwd is not None:
            os.chdir(cwd)
        worker = Worker(commands_fd, aside_fd, events_fd, door_fd, os.getppid() == 1 if alone is None else alone)
        worker.serve()
    except ChannelClosed:
        os._exit(0)
    except BaseException as error:
        die(traceback_of(error))


def die(reason: str) -> NoReturn:
    """Ends this process in a way that nobody takes for a result."""
    try:
        os.write(2, f"worker: {reason}\n".encode("utf-8", "backslashreplace")[:4096])
    except BaseException:
        pass
    os.kill(os.getpid(), signal.SIGKILL)
    os._exit(70)


class Worker:
    """Puts the parts together; ``serve`` is the main loop."""

    def __init__(self, commands: int, aside: int, events: int, door: Optional[int], alone: bool) -> None:
        commands, aside, events = move(commands), move(aside), move(events)
        self._pid = os.getpid()
        self._cwd = os.getcwd()
        self._reader = Reader(commands)
        self._writer = Writer(events)
        self._copies = Copies(None if door is None else move(door), self._renew)
        self._channel = [commands, aside, events]
        self._streams = Streams()
        self._interrupts = Interrupts()
        self._processes = Processes(alone)
        self._calls = Calls(self._writer, self._streams.threads)
        self._displays = Displays(self._calls.tell, self._streams.finish)
        self._kernel = Kernel(self._interrupts, self._streams.finish, self._displays)
        self._asides = Asides(self._writer, lambda: self._kernel.module.__dict__)
        self._listener = Listener(Reader(aside), self._streams, self._calls, self._asides, self._interrupts, die)
        self._state = State(self._kernel, self._reader, self._writer, self._guarded)
        self._peak = _peak_bytes()
        self._cpu = time.process_time_ns()
        self._children_cpu = 0.0
        self._known = False  # whether processes of earlier executions live
        self._spawned = False  # whether this execution has made any, by way of Python
        self._brief = 0
        self._is_child = False  # true in whatever user code forks from this process
        self._calls.install()
        self._displays.install()
        shell_lines.install(lambda: self._kernel.module.__dict__)
        stdin.install(self._calls)
        hooks.install(self._before_child, self._after_fork, self._streams.old_pipes)
        self._streams.threads.install()
        self._interrupts.install()
        self._streams.begin()

    def _rehearse(self) -> None:
        """Goes through executions that nobody hears of: what they touch is copied into this process before it counts.

        A fork shares its memory with its parent until either writes to it, and each first write to a page costs more
        than running a line of code does.
        """
        read_end, write_end = os.pipe()
        real = self._reader, self._writer
        self._reader, self._writer = Reader(read_end), Writer(write_end)
        for code in REHEARSALS:
            self._writer.send({"type": "exec", "id": "", "cmd": "exec", "count": 0, "code": code})
            self._execute(*self._reader.read())
            self._reader.read()
        self._reader, self._writer = real
        close_all((read_end, write_end))

    def serve(self) -> NoReturn:
        self._listener.start()
        self._rehearse()
        self._greet()
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

    def _greet(self) -> None:
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
        if payload is None and "env" not in message and "name" not in message:
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
            or self._known
            or streams.has_threads()
        ):
            self._report(name, outcome, elapsed)
            return
        # Nearly every execution ends here, so the event is written by hand.
        self._brief = (self._brief + 1) % BRIEF_COUNT
        value = "" if outcome is DONE else f',"value":{{"text/plain":{quote(outcome.value)}}}'
        pending = ',"pending":true' if streams.end() else ""
        self._writer.send_frame(
            f'{{"type":"status","id":{quote(name)},"status":"ok"{value}{pending},"cpuMs":{elapsed / 1e6:.3f},'
            f'"peakBytes":{self._peak}}}\n'.encode()
        )

    def _report(self, name: str, outcome: Outcome, elapsed: int) -> None:
        """The status of an execution that may have done anything."""
        streams = self._streams
        pending = streams.end()
        streams.check()
        self._peak = _peak_bytes()
        used_ns = time.process_time_ns() - self._cpu
        cpu_ms = (used_ns if elapsed > LONG_NS else min(used_ns, elapsed)) / 1e6
        if self._processes.changed():
            if outcome.status == "interrupted":
                self._processes.kill_new()
            self._known = self._processes.survivors()
            cpu_ms += self._take_children_cpu()
        self._brief = 0
        self._spawned = False
        survivors = self._known or streams.has_threads()
        self._writer.send(status_event(name, outcome, pending, survivors, cpu_ms, self._peak))

    def _execute_special(self, message: Dict[str, Any], payload: Optional[bytes]) -> Outcome:
        """Code as a payload, with a name, or with environment variables, which are put back afterwards."""
        try:
            code = message["code"] if payload is None else str(payload, "utf-8")
        except UnicodeDecodeError as error:
            return Outcome("error", error=error_of(error, {}))
        before = {}
        try:
            for key, value in message.get("env", {}).items():
                before[key] = _environ.get(key, _MISSING)
                _environ[key] = value
            return self._kernel.run(code, message["count"], message.get("name"))
        except (ValueError, TypeError, OSError) as error:
            return Outcome("error", error=error_of(error, {}))
        finally:
            for key, value in before.items():
                if value is _MISSING:
                    _environ.pop(key, None)
                else:
                    _environ[key] = value

    def _answer(self, message: Dict[str, Any], step: Callable[[Dict[str, Any]], Optional[Dict[str, Any]]]) -> None:
        """Any command but an execution: what the step returns is the data of its status."""
        event: Dict[str, Any] = {"type": "status", "id": message["id"], "status": "ok"}
        try:
            data = step(message)
            if data is not None:
                event["data"] = data
        except Exception as error:
            event.update(status="error", error=error_of(error, {}))
        self._writer.send(event)

    def _guarded(self, step: Callable[..., Any], *args: Any) -> Any:
        """For steps that run user code: may be interrupted, and raises what it raised."""
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
        if "cwd" in message:
            os.chdir(os.path.join(self._cwd, message["cwd"]))

    def _reset(self, _message: Dict[str, Any]) -> None:
        self._streams.begin()
        self._kernel.reset()
        self._displays.reset()
        self._state.stdlib.clear()
        self._streams.flush()

    def _take_streams(self, _message: Dict[str, Any]) -> None:
        _, fds = self._copies.receive()
        if len(fds) != 2:
            close_all(fds)
            raise RuntimeError(f"the door gave {len(fds)} descriptors, not 2")
        self._streams.replace(*fds)

    def _fork(self, name: str, branch: int) -> None:
        """Makes a copy. Both go on here: this one answers, a live copy greets, and a frozen one never comes back."""
        event: Dict[str, Any] = {"type": "status", "id": name, "status": "ok"}
        is_copy = False
        self._listener.stop()
        try:
            is_copy = self._copies.make(branch, self._streams.flush)
        except Exception as error:
            event.update(status="error", error=error_of(error, {}))
        self._listener.start()
        if is_copy:
            self._greet()
        else:
            self._writer.send(event)

    def _renew(self, pipes: List[int], folder: Optional[str]) -> Set[int]:
        """In a copy: everything that must not be shared with the original is replaced."""
        self._pid = os.getpid()
        self._cwd = folder or self._cwd
        for part in (self._interrupts, self._listener, self._processes, self._kernel, self._calls):
            part.renew()
        self._take_channel(pipes)
        self._children_cpu = 0.0
        self._cpu = time.process_time_ns()
        self._brief = 0
        self._known = self._spawned = False
        return {*self._channel, *self._streams.current.fds, *self._interrupts.fds, *self._listener.fds}

    def _take_channel(self, pipes: List[int]) -> None:
        """The host's pipes under the numbers of the old ones; none at all for a checkpoint."""
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
        """Before user code makes a process: this execution is not brief, however short it is."""
        if self._copies.are_made or _thread.get_ident() in self._asides.threads:
            return
        self._spawned = True
        self._streams.flush()

    def _after_fork(self) -> None:
        """In the child of a fork by user code: the conversation with the host is its parent's alone."""
        if self._copies.are_made or self._is_child:
            return
        self._is_child = True
        self._writer.close()
        close_all(self._channel)
        self._interrupts.close()
        close_all(self._listener.fds)
        self._copies.close()
        self._streams.forget()
        self._streams.threads.forget()


def _leave(outcome: Outcome) -> NoReturn:
    """The end of a child that user code forked and that ran off the end of the cell."""
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
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
