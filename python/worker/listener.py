"""The listener: a thread that reads messages from the host while user code runs.

It sleeps until a message or a signal arrives. After a ``flush`` message it wakes every 10 ms to flush the output of the
named execution, until that ends.
"""

import _thread
import json
import os
import select
import threading
from _signal import SIG_BLOCK, SIG_SETMASK, pthread_sigmask
from collections import deque
from typing import Any, Callable, Deque, Dict, Optional, Tuple

from .inspection.requests import InspectionRequests
from .io.calls import Calls
from .io.channel import ALL_SIGNALS, ChannelClosed, Reader
from .io.descriptors import open_private_pipe, renew_private_pipe
from .io.streams import Streams
from .io.threads import start_raw
from .process.signals import Interrupts

FLUSH_MS = 10
SHRINK_AFTER_MS = 100
STACK_BYTES = 256 * 1024


class Stopped(BaseException):
    """The main thread asked the listener to stop."""


class Listener:
    """``running`` is the id of the running execution, or None; ``finished`` are the last ones that ended. The main thread
    sets both. ``die`` ends the worker if the channel is broken."""

    def __init__(
        self,
        reader: Reader,
        streams: Streams,
        calls: Calls,
        requests: InspectionRequests,
        interrupts: Interrupts,
        die: Callable[[str], None],
    ) -> None:
        self.running: Optional[str] = None
        self.finished: Deque[str] = deque(maxlen=16)
        self._reader = reader
        self._streams = streams
        self._calls = calls
        self._requests = requests
        self._interrupts = interrupts
        self._interrupts_seen = 0
        self._die = die
        self._stop_reader, self._stop_writer = open_private_pipe()
        self._requests.stop_fd = self._stop_reader
        self._ended = _thread.allocate_lock()

    @property
    def fds(self) -> Tuple[int, int]:
        return self._stop_reader, self._stop_writer

    def renew(self) -> None:
        """For a copy of the process, while the thread does not run."""
        renew_private_pipe(self.fds)
        self._requests.renew()

    def stop(self) -> None:
        """Stops this thread and those of inspection requests. ``start`` continues where it stopped."""
        os.write(self._stop_writer, b"\0")
        self._ended.acquire()
        self._ended.release()
        self._requests.wait()
        os.read(self._stop_reader, 1)

    def start(self) -> None:
        """Starts the thread with all signals blocked, so that the main thread gets them."""
        self._ended.acquire()
        size = threading.stack_size(STACK_BYTES)
        mask = pthread_sigmask(SIG_BLOCK, ALL_SIGNALS)
        try:
            start_raw(self._main, ())
        finally:
            pthread_sigmask(SIG_SETMASK, mask)
            threading.stack_size(size)

    def _main(self) -> None:
        try:
            self._poll = select.poll()
            self._poll.register(self._reader.fd, select.POLLIN)
            self._poll.register(self._interrupts.wake_fd, select.POLLIN)
            self._poll.register(self._stop_reader, select.POLLIN)
            self._requests.resume()
            while True:
                if self._wait(None):
                    self._receive()
        except (ChannelClosed, Stopped):
            return  # the host is gone and the main thread ends the worker, or the main thread asked for it
        except BaseException as error:
            self._die(f"listener: {error!r}")
        finally:
            self._ended.release()

    def _wait(self, timeout_ms: Optional[int]) -> bool:
        """Whether a message has arrived. None waits forever."""
        if self._reader.has_begun():
            return True
        ready = dict(self._poll.poll(timeout_ms))
        if ready.pop(self._stop_reader, None):
            raise Stopped
        if ready.pop(self._interrupts.wake_fd, None):
            self._interrupts_seen = self._interrupts.repeat_missed(self._interrupts_seen)
        return bool(ready)

    def _receive(self) -> None:
        message, payload = self._reader.read()
        if message["cmd"] == "reply":
            self._reply(message, payload)
        elif message["cmd"] == "fetch":
            self._calls.fetch(message)
        elif message["cmd"] == "fetch-end":
            self._calls.end_fetch(message)
        elif message["cmd"] == "flush":
            self._flush(message["id"])
        elif message["cmd"] in self._requests.commands:
            self._requests.start(message)

    def _flush(self, execution: str) -> None:
        """Flushes until the execution ends. It may not have started yet: the two pipes are not ordered with each other."""
        while execution not in self.finished and self.running in (execution, None):
            self._streams.enlarge()
            self._streams.flush()
            if self._wait(FLUSH_MS):
                self._receive()
        if not self._wait(SHRINK_AFTER_MS):
            self._streams.shrink()

    def _reply(self, message: Dict[str, Any], payload: Optional[bytes]) -> None:
        if payload is not None:
            message = {**message, **json.loads(payload)}
        self._calls.reply(message)
