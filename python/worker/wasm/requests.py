"""Inspection requests in WebAssembly, where no process can be forked.

While code runs, only what runs no user code is answered, and the host asks for no more. While none runs, the rest is found in this
process, and interrupted at the time limit of the request. Code that catches every interrupt goes on: then the host ends the worker.
"""

import time
from typing import Any, Callable, Dict

from ..inspection.requests import InspectionRequests
from ..io.channel import Writer
from .interrupts import WasmInterrupts

_monotonic = time.monotonic


class WasmRequests(InspectionRequests):
    def __init__(self, writer: Writer, namespace: Callable[[], Dict[str, Any]], interrupts: WasmInterrupts) -> None:
        super().__init__(writer, namespace)
        self.is_busy = False
        self._interrupts = interrupts

    def start(self, message: Dict[str, Any]) -> None:
        try:
            known, step = self._question(message)
        except BaseException as error:
            self._send_error(message, error)
            return
        if step is None:
            self._send(message, known)
            return
        found: Dict[str, Any] = {}
        ending = "no-process"
        if not self.is_busy:
            deadline = _monotonic() + message["timeoutMs"] / 1000
            _, error = self._interrupts.guard_until(deadline, step, found.update)
            if _monotonic() >= deadline:  # a step may catch the interrupt, and go on without what it looked for
                ending = "timeout"
            else:
                ending = None if error is None else "crashed"
        self._send(message, {**known, **found, "incomplete": ending})
