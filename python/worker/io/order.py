"""The order of stdout and stderr, which are separate pipes that the host reads apart.

Before a stream writes to its pipe, and the other one was the last to do so, a *mark* goes to the host: so many bytes of
each stream come before what follows. Bytes are written after their mark, so a host that has read bytes and then reads the
event pipe knows every mark before them. It does so from the first mark of an execution on, which is why the worker waits until
the host has read that one. Executions that use one stream have no marks.

Text waits in buffers. So that it reaches the pipes in the order in which code wrote it, a stream is flushed when the other
one takes its turn. The stream that has to take the turn passes each write on at once, to a ``write`` of its buffer that does
so. The other one writes as fast as without all this.
"""

import _thread
import io
import itertools
import os
import sys
import time
from typing import Any, Callable, List, Optional

from .channel import Writer
from .descriptors import unread

# Marks of one execution: so many at once, more as time passes, and all in all no more than the host records.
BURST = 10_000
PER_SECOND = 1_000
MAX_MARKS = 50_000
HOST_LIMIT = 5.0  # seconds for the host to read the first one; after that the order may be lost
SPINS = 100  # attempts before it sleeps between them
OUT, ERR = 0, 1
NAMES = (b"stdout", b"stderr")

_write = os.write
_buffer_write = io.BufferedWriter.write
_GONE = (ValueError, OSError, RuntimeError, AttributeError)  # from a stream that code has closed or detached


class Order:
    """``room`` tells how many bytes a stream can write, at least, without waiting for its reader. Safe from any thread."""

    def __init__(self, writer: Writer, room: Callable[[int], int]) -> None:
        self._writer = writer
        self._room = room
        self._limits = [0, 0]  # totals up to which nobody has to ask for room
        self._lock = _thread.RLock()
        self._streams: List[io.TextIOWrapper] = []
        self._buffers: List[io.BufferedWriter] = []
        self._totals = [0, 0]  # bytes that the streams wrote
        self._starts = (0, 0)
        self._last: Optional[int] = OUT  # the stream that wrote to its pipe last; None: no marks are sent
        self._waiting: Optional[int] = None  # the stream that has to take the turn
        self._write_through = False  # as code has set it for that stream
        self._is_shared = False  # a process was started since the last mark, and may have written to the pipes
        self._is_quiet = False  # stderr may write without a step
        self._is_writing = False  # stdout is writing to its pipe
        self._is_mid_line = False  # stderr has buffered part of a line
        self.is_apart = False  # one stream may be read while the other is not, so neither may wait for the other
        self._marks = 0
        self._began = 0.0
        self.writes = (self._write_out, self._write_err)

    def attach(self, streams: List[io.TextIOWrapper]) -> None:
        """Takes over the streams on fd 1 and 2."""
        self._streams = streams
        self._buffers = [stream.buffer for stream in streams]
        self._buffers[OUT].raw.write = self._raw_write()
        self._waiting = None
        self._await(ERR)

    def hook(self) -> None:
        """Gives the buffers their ``write``, unless they have another one, which then has to call ours."""
        self._buffers[ERR].__dict__.setdefault("write", self._write_err)
        if self._waiting == OUT:
            self._buffers[OUT].__dict__.setdefault("write", self._write_out)

    def begin(self) -> None:
        """Before an execution."""
        self._marks = 0
        self.is_apart = False
        if self._is_shared or self._last is None:
            self._is_shared = False
            self._last = OUT
            self._await(ERR)

    def end(self) -> None:
        """After an execution, when everything is flushed. Marks count from here."""
        self._marks = 0
        self._starts = tuple(self._totals)

    def share(self) -> None:
        """Before a process is started, when everything is flushed: what it writes comes after that."""
        if self._last is not None and tuple(self._totals) != self._starts:
            self._mark(self._last)
        self._is_shared = True
        self._is_quiet = False

    def forget(self) -> None:
        """For the child of a fork, which does not talk to the host."""
        self._lock = _thread.RLock()
        self._last = None
        self._release()

    def _write_out(self, data: Any, /) -> int:
        """The ``write`` of stdout's buffer while it has to take the turn."""
        self._turn(OUT)
        return _buffer_write(self._buffers[OUT], data)

    def _write_err(self, data: Any, /) -> int:
        """The ``write`` of stderr's buffer. It is flushed line by line, so this is called for each."""
        if not self._is_quiet:
            self._turn(ERR)
            if self._last != ERR or self._is_shared:
                self._mark(ERR)
        self._is_mid_line = data[-1:] != b"\n"
        count = _buffer_write(self._buffers[ERR], data)
        self._totals[ERR] += count
        return count

    def _raw_write(self) -> Callable[[Any], int]:
        """The ``write`` of stdout's FileIO, which the buffer calls under its lock when it is full or flushed.

        A signal handler that raises after the bytes are written must not make the buffer write them again. So the result is
        stored without a step of Python in between, and the next call, which is for the same bytes, returns it.
        """
        written: List[int] = []

        def write(data: Any, /) -> int:
            if not written:
                if self._last != OUT or self._is_shared:
                    self._mark(OUT)
                self._is_writing = True
                try:
                    written.extend(map(_write, (1,), (data,)))
                finally:
                    self._is_writing = False
            count = written[0]
            self._totals[OUT] += count
            del written[0]
            return count

        return write

    def _turn(self, index: int) -> None:
        if self._waiting != index:
            return
        with self._lock:
            if self._waiting == index and self._flush(1 - index):
                self._await(1 - index)

    def _flush(self, index: int) -> bool:
        """False: that might have to wait for a reader, and one stream must not hold back the other."""
        if self.is_apart and (index == OUT or self._is_mid_line) and not self._has_room(index):
            return False
        try:
            replaced = sys.stderr if index else sys.stdout
            if replaced is not self._streams[index] and type(replaced) is io.TextIOWrapper:
                replaced.flush()
            self._streams[index].flush()
        except _GONE:
            pass
        return True

    def _has_room(self, index: int) -> bool:
        if index == OUT and self._is_writing:
            return False  # in another thread, which may be waiting
        if self._totals[index] >= self._limits[index]:
            room = self._room(index)
            self._limits[index] = self._totals[index] + room
            return room > 0
        return True

    def _await(self, index: int) -> None:
        """From now on this stream, which has nothing buffered, has to take the turn."""
        self._release()
        if self._last is None:
            return
        stream = self._streams[index]
        try:
            self._write_through = stream.write_through
            stream.reconfigure(write_through=True)
        except _GONE:
            return
        self._waiting = index
        self._is_quiet = False
        self.hook()

    def _release(self) -> None:
        index, self._waiting = self._waiting, None
        self._is_quiet = self._last is None
        if index is None:
            return
        if index == OUT and self._buffers[OUT].__dict__.get("write") == self._write_out:
            del self._buffers[OUT].__dict__["write"]
        try:
            self._streams[index].reconfigure(write_through=self._write_through)
        except _GONE:
            pass

    def _mark(self, index: int) -> None:
        """The stream is about to write to its pipe, after the other one did, or maybe a process."""
        if self._last is None:
            return
        self._last = index
        self._is_quiet = index == ERR and self._waiting != ERR and not self._is_shared
        out, err = self._totals[OUT] - self._starts[OUT], self._totals[ERR] - self._starts[ERR]
        if not (out or err or self._is_shared):
            return
        self._marks += 1
        if self._marks > BURST and self._is_flood():
            self._last = None  # the next turn is the last one
            return
        shared, self._is_shared = self._is_shared, False
        try:
            if shared:
                self._send(index, out, err, b',"all":true')
                self._wait_for_host()
            self._send(index, out, err)
        except RuntimeError:  # a signal handler prints while this thread sends a message
            return
        if self._marks == 1:
            self._began = time.monotonic()
        if self._marks == 1 or shared:
            self._wait_for_host()  # which has handled all marks before the one it reads

    def _send(self, index: int, out: int, err: int, more: bytes = b"") -> None:
        frame = b'{"type":"order","next":"%s","stdout":%d,"stderr":%d%s}\n' % (NAMES[index], out, err, more)
        self._writer.send_frame(frame)

    def _is_flood(self) -> bool:
        allowed = BURST + PER_SECOND * (time.monotonic() - self._began)
        return self._marks > min(allowed, MAX_MARKS)

    def _wait_for_host(self) -> None:
        """Until the host has read what was sent."""
        deadline = time.monotonic() + HOST_LIMIT
        for attempt in itertools.count():
            if not unread(self._writer.fd) or time.monotonic() > deadline:
                return
            if attempt < SPINS:
                os.sched_yield()
            else:
                time.sleep(0.0002)
