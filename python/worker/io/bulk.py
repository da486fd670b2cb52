"""Bulk data on the channel: any number of bytes, in pieces, so that neither end holds all of it.

To the worker: a command with ``"bulk": true`` is followed by pieces, each a line ``{"bytes": N}`` and N bytes, and then
``{"end": true}``, or ``{"failed": "why"}`` if the host could not read its source. From the worker: ``chunk`` events.
"""

import time
from typing import Iterator

# pthread_sigmask comes from channel because Interrupts.install later replaces the one in _signal.
from .channel import ALL_SIGNALS, SIG_BLOCK, SIG_SETMASK, Reader, Writer, pthread_sigmask, quote
from .descriptors import LARGE_PIPE, pipe_size, resize_pipe

CHUNK = 256 * 1024


class SourceFailed(Exception):
    """The host could not read its source; the message says why."""


class Incoming:
    """The pieces behind one command. ``drain`` must always be called: the next command follows them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ended = False
        self._left = 0  # of the piece that is being read
        self._pipe = _LargePipe(reader.fd)

    def sizes(self) -> Iterator[int]:
        """Yields the size of each piece; the caller reads its bytes with ``fill`` before it continues."""
        while True:
            message = self._reader.read_line()
            if "bytes" in message:
                self._left = message["bytes"]
                yield self._left
                continue
            self._ended = True
            if "failed" in message:
                raise SourceFailed(message["failed"])
            return

    def fill(self, view: memoryview) -> None:
        self._reader.read_into(view)
        self._left -= len(view)

    def piece(self) -> bytearray:
        """The rest of this piece, or the next one; empty at the end.

        Signals are blocked, so that a handler that raises cannot split it.
        """
        if self._ended:
            return bytearray()
        mask = pthread_sigmask(SIG_BLOCK, ())
        try:
            pthread_sigmask(SIG_BLOCK, ALL_SIGNALS)
            size = self._left or next(self.sizes(), 0)
            data = bytearray(size)
            self.fill(memoryview(data))
            return data
        finally:
            pthread_sigmask(SIG_SETMASK, mask)

    def drain(self) -> None:
        """Reads to the end. Raises SourceFailed if the host reports that."""
        while self.piece():
            pass
        self._pipe.restore()


class Outgoing:
    """A stream of bytes to the host. ``restart`` begins again at offset 0."""

    def __init__(self, writer: Writer, name: str) -> None:
        self._writer = writer
        self._header = f'{{"type":"chunk","id":{quote(name)},"at":'
        self._unsent = bytearray()
        self._sent = 0
        self._pipe = _LargePipe(writer.fd)

    def write(self, data: object) -> None:
        """Takes any object with the buffer protocol."""
        view = memoryview(data).cast("B")
        if len(view) < CHUNK // 4:
            self._unsent += view
            if len(self._unsent) >= CHUNK:
                self.flush()
            return
        self.flush()
        for start in range(0, len(view), CHUNK):
            self._send(view[start : start + CHUNK])

    def flush(self) -> None:
        if self._unsent:
            unsent, self._unsent = self._unsent, bytearray()
            self._send(memoryview(unsent))

    def restart(self) -> None:
        self._unsent.clear()
        self._sent = 0

    def close(self) -> None:
        """Ends the stream; what was not flushed is dropped."""
        self._pipe.restore()

    def _send(self, data: memoryview) -> None:
        line = f'{self._header}{self._sent},"bytes":{len(data)}}}\n'.encode("ascii")
        self._writer.send_frame(b"".join((line, data)))
        self._sent += len(data)


class _LargePipe:
    """Enlarges a pipe for a while. All sessions share one quota of pipe memory, so ``restore`` gives it back."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._usual = pipe_size(fd)
        resize_pipe(fd, LARGE_PIPE)

    def restore(self) -> None:
        for _ in range(20):
            if resize_pipe(self._fd, self._usual) >= 0:
                return
            time.sleep(0.001)  # the host has not read it yet
