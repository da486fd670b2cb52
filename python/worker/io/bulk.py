"""Bulk bytes on the channel: as much as there is, in pieces, so that neither end holds it whole.

To the worker: behind a command with ``"bulk": true`` come pieces, each a line ``{"bytes": N}`` and N bytes, and then
``{"end": true}``, or ``{"failed": "why"}`` when the host's source failed. From the worker: ``chunk`` events.
"""

import fcntl
import time
from typing import Iterator

# The mask from there: this module may be imported after signals were given a version of it for user code.
from .channel import ALL_SIGNALS, SIG_BLOCK, SIG_SETMASK, Reader, Writer, pthread_sigmask, quote

F_SETPIPE_SZ = 1031
F_GETPIPE_SZ = 1032
LARGE_PIPE = 1024 * 1024
CHUNK = 256 * 1024


class SourceFailed(Exception):
    """The host could not read what it was to send; says why."""


class Incoming:
    """The pieces behind one command. Whatever happens, ``drain`` must be called: the next command is behind them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ended = False
        self._pipe = _LargePipe(reader.fd)

    def sizes(self) -> Iterator[int]:
        """The size of each piece; the caller takes its bytes with ``fill`` before it asks for the next one."""
        while True:
            message = self._reader.read_line()
            if "bytes" in message:
                yield message["bytes"]
                continue
            self._ended = True
            if "failed" in message:
                raise SourceFailed(message["failed"])
            return

    def fill(self, view: memoryview) -> None:
        self._reader.read_into(view)

    def piece(self) -> bytearray:
        """The next piece, empty at the end. Whole or not at all, also when signal handlers raise."""
        if self._ended:
            return bytearray()
        mask = pthread_sigmask(SIG_BLOCK, ())
        try:
            pthread_sigmask(SIG_BLOCK, ALL_SIGNALS)
            for size in self.sizes():
                data = bytearray(size)
                self.fill(memoryview(data))
                return data
            return bytearray()
        finally:
            pthread_sigmask(SIG_SETMASK, mask)

    def drain(self) -> None:
        """Reads to the end. Raises SourceFailed when that is how it ends."""
        while self.piece():
            pass
        self._pipe.restore()


class Outgoing:
    """A stream of bytes to the host, which writes them where it likes. ``restart`` begins again from nothing."""

    def __init__(self, writer: Writer, name: str) -> None:
        self._writer = writer
        self._header = f'{{"type":"chunk","id":{quote(name)},"at":'
        self._waiting = bytearray()
        self._sent = 0
        self._pipe = _LargePipe(writer.fd)

    def write(self, data: object) -> None:
        """Takes anything with bytes in it."""
        view = memoryview(data).cast("B")
        if len(view) < CHUNK // 4:
            self._waiting += view
            if len(self._waiting) >= CHUNK:
                self.flush()
            return
        self.flush()
        for start in range(0, len(view), CHUNK):
            self._send(view[start : start + CHUNK])

    def flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, bytearray()
            self._send(memoryview(waiting))

    def restart(self) -> None:
        self._waiting.clear()
        self._sent = 0

    def close(self) -> None:
        """Nothing more comes; what was not flushed is dropped."""
        self._pipe.restore()

    def _send(self, data: memoryview) -> None:
        line = f'{self._header}{self._sent},"bytes":{len(data)}}}\n'.encode("ascii")
        self._writer.send_frame(b"".join((line, data)))
        self._sent += len(data)


class _LargePipe:
    """A pipe that is large for a while. The memory of pipes is shared by all sessions, and so it is given back."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._usual = fcntl.fcntl(fd, F_GETPIPE_SZ)
        self._resize(LARGE_PIPE)

    def restore(self) -> None:
        for _ in range(20):
            if self._resize(self._usual):
                return
            time.sleep(0.001)  # it holds more than that: the host is about to take it

    def _resize(self, size: int) -> bool:
        try:
            fcntl.fcntl(self._fd, F_SETPIPE_SZ, size)
            return True
        except OSError:
            return False  # or the user's share of pipe memory is used up
