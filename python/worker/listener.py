"""The listener: a thread that hears the host while user code runs.

It sleeps in a read, and costs nothing until a message comes. After ``flush`` it wakes every 10 ms to flush the output
of the named execution, until that ends.
"""

import _thread
import json
import threading
from _signal import SIG_BLOCK, SIG_SETMASK, pthread_sigmask
from typing import Any, Callable, Dict, Optional

from .calls import Calls
from .channel import ALL_SIGNALS, ChannelClosed, Reader
from .streams import Streams
from .threads import start_raw

FLUSH_MS = 10
STACK_BYTES = 256 * 1024


class Listener:
    """``running`` is the id of the running execution, or None; ``die`` ends the worker when the channel broke."""

    def __init__(self, reader: Reader, streams: Streams, calls: Calls, die: Callable[[str], None]) -> None:
        self.running: Optional[str] = None
        self._reader = reader
        self._streams = streams
        self._calls = calls
        self._die = die

    def start(self) -> None:
        """Starts the thread, with every signal left to the main thread."""
        size = threading.stack_size(STACK_BYTES)
        mask = pthread_sigmask(SIG_BLOCK, ALL_SIGNALS)
        try:
            start_raw(self._main, ())
        finally:
            pthread_sigmask(SIG_SETMASK, mask)
            threading.stack_size(size)

    def _main(self) -> None:
        try:
            while True:
                self._hear()
        except ChannelClosed:
            return  # the host is gone; the main thread ends the worker
        except BaseException as error:
            self._die(f"listener: {error!r}")

    def _hear(self) -> None:
        message, payload = self._reader.read()
        if message["cmd"] == "reply":
            self._reply(message, payload)
        elif message["cmd"] == "flush":
            self._flush(message["id"])

    def _flush(self, execution: str) -> None:
        while self.running == execution:
            self._streams.flush()
            if self._reader.waiting(FLUSH_MS):
                self._hear()

    def _reply(self, message: Dict[str, Any], payload: Optional[bytes]) -> None:
        if payload is not None:
            message = {**message, **json.loads(payload)}
        self._calls.reply(message)
