"""Inspection requests in WebAssembly, where no process can be forked.

While code runs, only what runs no user code is answered. While none runs, the rest is found in this process, within the time limit of
the request.
"""

import _signal
from typing import Any, Callable, Dict

from ..inspection.requests import InspectionRequests
from ..io.channel import Writer
from ..process.signals import Interrupts


class WasmRequests(InspectionRequests):
    """``guard`` calls user code and returns its result and its exception."""

    def __init__(self, writer: Writer, namespace: Callable[[], Dict[str, Any]], interrupts: Interrupts) -> None:
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
            _, error = self._interrupts.guard(step, found.update)
            ending = None if error is None else "crashed"
        self._send(message, {**known, **found, "incomplete": ending})
