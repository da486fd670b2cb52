"""Messages that come while code runs. There is no thread: a signal handler reads them between bytecodes (interrupts.py)."""

import json
import os
from collections import deque
from typing import Any, Callable, Deque, Dict, Optional

from ..io.calls import Calls
from ..io.channel import Reader
from .devices import DEVICES, Devices
from .requests import WasmRequests
from .streams import WasmStreams

_read = os.read  # code of the session may replace it in its module


class _AsideReader(Reader):
    """Reads from a device that answers at once, with nothing if there is nothing. A payload comes with its line or soon after."""

    def __init__(self, devices: Devices) -> None:
        super().__init__(devices.aside)
        self._devices = devices

    def has_line(self) -> bool:
        """Reads what there is."""
        while data := _read(self.fd, 65536):
            self._rest += data
        return b"\n" in self._rest

    def _more(self) -> bytes:
        while not (data := _read(self.fd, 65536)):
            self._devices.wait(0.001)
        return data

    def read_into(self, view: memoryview) -> None:
        while len(self._rest) < len(view):
            self._rest += self._more()
        view[:] = self._rest[: len(view)]
        self._rest = self._rest[len(view) :]


class WasmListener:
    """``running`` and ``finished`` as in ``listener.Listener``."""

    def __init__(self, streams: WasmStreams, calls: Calls, requests: WasmRequests, die: Callable[[str], None]) -> None:
        self.finished: Deque[str] = deque(maxlen=16)
        self._reader: Optional[_AsideReader] = None
        self._streams = streams
        self._calls = calls
        self._requests = requests
        self._die = die
        self._running: Optional[str] = None
        self._flushed: Optional[str] = None

    @property
    def running(self) -> Optional[str]:
        return self._running

    @running.setter
    def running(self, name: Optional[str]) -> None:
        self._running = name
        self._requests.is_busy = name is not None
        if name is None and self._flushed is not None:
            self._flushed = None
            DEVICES.tick("flush", False)

    def start(self) -> None:
        self._reader = _AsideReader(DEVICES)

    def receive(self) -> None:
        """Handles all messages that have come. Runs no user code while an execution runs."""
        try:
            if self._flushed is not None:
                self._streams.flush()
            while self._reader is not None and self._reader.has_line():
                message, payload = self._reader.read()
                self._handle(message, payload)
        except BaseException as error:
            self._die(f"listener: {error!r}")

    def _handle(self, message: Dict[str, Any], payload: Optional[bytes]) -> None:
        command = message["cmd"]
        if command == "reply":
            self._calls.reply(message if payload is None else {**message, **json.loads(payload)})
        elif command == "fetch":
            self._calls.fetch(message)
        elif command == "fetch-end":
            self._calls.end_fetch(message)
        elif command == "flush":
            if message["id"] not in self.finished and self._running in (message["id"], None):
                self._flushed = message["id"]
                DEVICES.tick("flush", True)
        elif command in self._requests.commands:
            self._requests.start(message)
