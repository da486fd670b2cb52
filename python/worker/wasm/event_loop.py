"""An asyncio event loop that waits with the session's own device: there are no sockets, and Pyodide's loop never blocks."""

import asyncio
import asyncio.base_events
import asyncio.runners
import time
from typing import Any, List

from .devices import DEVICES


class _WaitSelector:
    """A selector of nothing, which only waits."""

    def select(self, timeout: Any) -> List[Any]:
        if timeout is None or timeout > 0:
            DEVICES.wait(1e9 if timeout is None else timeout)
        return []


class WasmEventLoop(asyncio.base_events.BaseEventLoop):
    """Runs timers, tasks and futures. Whatever needs a socket, a pipe or a process raises NotImplementedError."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _WaitSelector()
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return time.monotonic()

    def _process_events(self, event_list: List[Any]) -> None:
        """Nothing comes from a selector."""

    def _write_to_self(self) -> None:
        """Messages are handled in ``select``, so the loop is awake when a call is added."""


class WasmPolicy(asyncio.events._BaseDefaultEventLoopPolicy):
    _loop_factory = WasmEventLoop


def install() -> None:
    asyncio.events._set_running_loop(None)  # Pyodide's loop calls it "running" as long as the process lives
    asyncio.events._event_loop_policy = WasmPolicy()
    asyncio.run = asyncio.runners.run  # Pyodide's needs JavaScript
    asyncio.new_event_loop = asyncio.events.new_event_loop = WasmEventLoop
