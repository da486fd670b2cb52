"""The worker in WebAssembly: the same commands and executions as ``worker.Worker``, on the devices of the guest's process."""

import os
import sys
import time
from typing import Any, Dict, NoReturn

from .. import shell_lines
from ..display.display import Displays
from ..io import stdin
from ..io.channel import Reader
from ..kernel import Kernel
from ..notebook import timing
from ..state import State
from ..worker import WARM_UP, Worker, _peak_bytes
from . import event_loop
from .calls import WasmCalls
from .devices import DEVICES, DeviceWriter
from .interrupts import WasmInterrupts
from .listener import WasmListener
from .requests import WasmRequests
from .streams import WasmStreams


class _NoProcesses:
    def changed(self) -> bool:
        return False


class _NullWriter:
    """A writer that sends nothing."""

    def send(self, _event: Dict[str, Any]) -> None: ...

    def send_frame(self, _frame: bytes) -> None: ...


class _NoBranches:
    is_forking = False

    def make(self, *_: Any) -> NoReturn:
        raise RuntimeError("the 'wasm' environment does not have the capability 'fork'")

    def receive(self) -> NoReturn:
        raise RuntimeError("the 'wasm' environment keeps its output pipes")


class WasmWorker(Worker):
    def __init__(self) -> None:
        self._pid = os.getpid()
        self._cwd = os.getcwd()
        self._reader = Reader(DEVICES.commands)
        self._writer = DeviceWriter()
        self._branches = _NoBranches()  # type: ignore[assignment]
        self._interrupts = WasmInterrupts()
        self._streams = WasmStreams(self._writer, lambda event: self._calls.notify(event))  # type: ignore[assignment]
        self._processes = _NoProcesses()  # type: ignore[assignment]
        self._calls = WasmCalls(self._writer, self._streams.threads, self._interrupts.handle_messages)
        self._displays = Displays(self._calls.notify, self._streams.finish)
        self._kernel = Kernel(self._interrupts, self._streams.finish, self._displays)
        self._requests = WasmRequests(self._writer, lambda: self._kernel.module.__dict__, self._interrupts)
        self._listener = WasmListener(self._streams, self._calls, self._requests, _die)  # type: ignore[assignment]
        self._interrupts.on_message = self._listener.receive  # type: ignore[attr-defined]
        self._state = State(self._kernel, self._reader, self._writer, self._guarded)
        self._peak = _peak_bytes()
        self._cpu = time.process_time_ns()
        self._children_cpu = 0.0
        self._has_survivors = self._spawned = self._is_child = False
        self._brief = 0
        self._calls.install()
        self._displays.install()
        shell_lines.install(lambda: self._kernel.module.__dict__)
        timing.install(lambda: self._kernel.module.__dict__)
        stdin.install(self._calls)
        event_loop.install()
        self._interrupts.install()
        self._streams.begin()

    def serve(self) -> NoReturn:
        self._listener.start()
        self._warm_up()  # before it is ready: a sandbox of the pool counts from then on, and the first command waits for it anyway
        self._send_ready()
        self._serve_commands()

    def _warm_up(self) -> None:
        """Runs a few executions whose events go nowhere: V8 compiles a function when it is first called."""
        real, self._writer = self._writer, _NullWriter()  # type: ignore[assignment]
        for code in WARM_UP * 3:
            self._execute({"id": "", "cmd": "exec", "count": 0, "code": code, "env": {}}, None)
            self._execute({"id": "", "cmd": "exec", "count": 0, "code": code}, None)
        self._writer = real

    def _fork(self, name: str, branch: int) -> None:
        self._answer({"id": name}, lambda _message: self._branches.make(branch))


def _die(reason: str) -> None:
    """Ends the process, so that the host sees a lost worker."""
    DEVICES.die(reason)


def run() -> NoReturn:
    WasmWorker().serve()


def configure(settings: Dict[str, Any]) -> None:
    """What differs between sessions, after the start from a snapshot that all of them share."""
    os.environ.clear()  # what Emscripten and Pyodide have put there
    for name, value in settings.get("env", {}).items():
        os.environ[name] = value
    if "USER" in os.environ:
        os.environ["LOGNAME"] = os.environ["USER"]
    os.chdir(settings["folder"])
    random = sys.modules.get("random")
    if random is not None:
        random.seed()
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile._name_sequence = tempfile.tempdir = None
