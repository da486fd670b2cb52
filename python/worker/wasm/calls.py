"""Calls to the host where the caller itself reads the reply."""

from typing import Any, Callable, Dict

from ..io.calls import Calls, _answer
from ..io.channel import Writer
from .devices import DEVICES


class WasmCalls(Calls):
    """``receive`` handles the messages that have come."""

    def __init__(self, writer: Writer, threads: Any, receive: Callable[[], None]) -> None:
        super().__init__(writer, threads)
        self._receive = receive

    def _ask(self, number: int, frame: bytes) -> Any:
        replies: list = []
        self._open[number] = replies.append
        try:
            self._writer.send_frame(frame)
            while not replies:
                self._receive()
                if not replies:
                    DEVICES.wait(1e9)  # a KeyboardInterrupt ends the wait
        finally:
            self._open.pop(number, None)
        return _answer(replies[0])

    def _receive_from(self, inbox: Any) -> Dict[str, Any]:
        while inbox.empty():
            self._receive()
            if inbox.empty():
                DEVICES.wait(1e9)
        return inbox.get()

    def ask_event(self, event: Dict[str, Any]) -> None:
        """Sends an event and waits until the host acknowledges it."""
        self.notify(event)
