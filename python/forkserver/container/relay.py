"""Carries everything between the host and the fork server of a container over stdin and stdout, where they share no folder.

A frame is a kind (one byte), a channel (4 bytes), a length (4 bytes) and as many bytes. Channel 0 is the fork server's own stdin and stdout;
the host numbers the others when it opens pipes. A side sends what the other has room for: each channel has a window, and bytes that were
taken open it again.

The host reads what was printed before an event, and the events before what was printed, as from pipes. So frames go in batches: the host
handles a batch when it has all of it, and what belongs together is in one.

Each write to stdout passes through several processes of the engine. So a batch is one write where possible, and acknowledgements go with
the next batch, or after a short delay.
"""
from __future__ import annotations

import errno
import os
import select
import socket
import struct
import time

OPEN_READER, OPEN_ORDERED, OPEN_WRITER, DATA, ACK, CLOSE, BATCH_END = range(7)
_HEADER = struct.Struct(">BII")
_WINDOW = 1 << 20
_CHUNK = 1 << 16
# More than a pipe contains.
_MOST_BEFORE_EVENT = 2 << 20
# After that many rounds of events and output in one batch, or bytes, order between the streams may be lost.
_MAX_ROUNDS = 10_000
_MAX_BATCH = 1 << 20
_MAX_FRAME = 1 << 20
# So many bytes are acknowledged at once, fewer with the next batch, and after so many seconds in any case.
_ACK_AT_ONCE = _WINDOW // 4
_ACK_DELAY = 0.002


class _Channel:
    def __init__(self, fd: int, is_ordered: bool) -> None:
        self.fd = fd
        self.is_ordered = is_ordered
        self.window = _WINDOW
        self.taken = 0  # bytes that are not acknowledged yet
        self.waiting = bytearray()
        self.is_closing = False


class Relay:
    def __init__(self, folder: str, control: socket.socket) -> None:
        self._folder = folder
        self._control = control
        self._readers: dict[int, _Channel] = {}
        self._writers: dict[int, _Channel] = {}
        self._by_fd: dict[int, tuple[int, _Channel]] = {}
        self._poll = select.epoll()
        self._input = bytearray()
        self._output = bytearray()  # frames that are not written yet
        self._sent = 0  # bytes since the last batch ended
        self._unacknowledged: dict[int, _Channel] = {}
        self._ack_time = 0.0  # when these are acknowledged at the latest
        self._add(0, _Channel(control.fileno(), True), self._readers, select.EPOLLIN)
        self._writers[0] = _Channel(control.fileno(), True)
        self._poll.register(0, select.EPOLLIN)

    def run(self) -> None:
        """Returns when the host or the fork server has ended."""
        while True:
            ready = self._poll.poll(_ACK_DELAY if self._unacknowledged else None)
            if self._unacknowledged and (not ready or time.monotonic() >= self._ack_time):
                self._acknowledge()
            # 0 comes last: the host may close a pipe and open another, which gets the same descriptor.
            for fd, events in sorted(ready, reverse=True):
                if fd == 0:
                    if not self._receive():
                        return
                elif (found := self._by_fd.get(fd)) is not None:
                    self._wake(*found, events)
            if not self._send_batch():
                return

    def _wake(self, number: int, channel: _Channel, events: int) -> None:
        """A pipe can be written, or nobody reads it. What can be read is read for the next batch."""
        if events & select.EPOLLOUT:
            self._write(number, self._writers[number])
        elif events & select.EPOLLERR and number in self._writers and number != 0:
            self._lose_reader(number, channel)

    def _send_batch(self) -> bool:
        """Sends what was printed and the events. False: the fork server has ended."""
        is_alive = True
        for _ in range(_MAX_ROUNDS):
            events = [(number, channel, data) for number, channel in [*self._readers.items()]
                      if channel.is_ordered and (data := self._try_read(channel, min(_CHUNK, channel.window))) is not None]
            has_printed = False
            for number, channel in [*self._readers.items()]:
                if not channel.is_ordered:
                    has_printed |= self._read(number, channel, bool(events))
            for number, channel, data in events:
                if data:
                    self._send_data(number, channel, data)
                elif number == 0:
                    is_alive = False
                else:
                    self._end(number, channel)
            if not events and not has_printed or not is_alive or self._sent > _MAX_BATCH:
                break
        if self._sent:
            self._acknowledge()
            self._send(BATCH_END, 0)
            self._flush()
            self._sent = 0
        return is_alive

    def _receive(self) -> bool:
        chunk = os.read(0, _CHUNK)
        if not chunk:
            return False
        self._input += chunk
        while len(self._input) >= _HEADER.size:
            kind, number, length = _HEADER.unpack_from(self._input)
            if length > _MAX_FRAME:
                raise ValueError("a frame is too long")
            end = _HEADER.size + length
            if len(self._input) < end:
                break
            data = bytes(self._input[_HEADER.size:end])
            del self._input[:end]
            self._handle(kind, number, data)
        return True

    def _handle(self, kind: int, number: int, data: bytes) -> None:
        if kind in (OPEN_READER, OPEN_ORDERED, OPEN_WRITER):
            self._open(kind, number, struct.unpack(">I", data)[0])
        elif kind == DATA and number in self._writers:
            channel = self._writers[number]
            channel.waiting += data
            self._write(number, channel)
        elif kind == ACK and number in self._readers:
            channel = self._readers[number]
            was_shut = channel.window <= 0
            channel.window += struct.unpack(">I", data)[0]
            if was_shut and channel.window > 0:
                self._poll.register(channel.fd, select.EPOLLIN)
        elif kind == CLOSE:
            self._close_from_host(number)

    def _open(self, kind: int, number: int, pipe: int) -> None:
        flags = os.O_WRONLY if kind == OPEN_WRITER else os.O_RDONLY
        try:
            fd = os.open(f"{self._folder}/{pipe}", flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            self._send(CLOSE, number)
            return
        if kind == OPEN_WRITER:
            self._add(number, _Channel(fd, False), self._writers, 0)
        else:
            self._add(number, _Channel(fd, kind == OPEN_ORDERED), self._readers, select.EPOLLIN)

    def _add(self, number: int, channel: _Channel, table: dict[int, _Channel], events: int) -> None:
        table[number] = channel
        self._by_fd[channel.fd] = number, channel
        self._poll.register(channel.fd, events)

    def _remove(self, number: int, channel: _Channel, table: dict[int, _Channel]) -> None:
        del table[number]
        del self._by_fd[channel.fd]
        if channel.window > 0:
            self._poll.unregister(channel.fd)
        os.close(channel.fd)

    def _close_from_host(self, number: int) -> None:
        if number == 0:
            self._control.shutdown(socket.SHUT_WR)
        elif number in self._readers:
            self._remove(number, self._readers[number], self._readers)
        elif number in self._writers:
            channel = self._writers[number]
            if channel.waiting:
                channel.is_closing = True
            else:
                self._remove(number, channel, self._writers)

    def _write(self, number: int, channel: _Channel) -> None:
        taken = 0
        try:
            while channel.waiting:
                written = os.write(channel.fd, channel.waiting[:_CHUNK])
                del channel.waiting[:written]
                taken += written
        except BlockingIOError:
            pass
        except OSError:
            if number != 0:
                self._lose_reader(number, channel)
            return
        if taken and number != 0:
            if not self._unacknowledged:
                self._ack_time = time.monotonic() + _ACK_DELAY
            channel.taken += taken
            self._unacknowledged[number] = channel
            if channel.taken >= _ACK_AT_ONCE:
                self._acknowledge()
        if not channel.waiting and channel.is_closing:
            self._remove(number, channel, self._writers)
        else:
            events = select.EPOLLOUT if channel.waiting else 0
            self._poll.modify(channel.fd, events | select.EPOLLIN if number == 0 else events)

    def _lose_reader(self, number: int, channel: _Channel) -> None:
        """Nobody reads the pipe any more. The host takes for lost what is not acknowledged by then."""
        self._acknowledge()
        self._remove(number, channel, self._writers)
        self._send(CLOSE, number)

    def _read(self, number: int, channel: _Channel, is_before_event: bool) -> bool:
        """Sends what was printed; all of it, whatever the window, before an event. True: there was something."""
        total = 0
        most = _MOST_BEFORE_EVENT if is_before_event else min(_CHUNK, channel.window)
        while total < most:
            data = self._try_read(channel, min(_CHUNK, most - total))
            if data is None:
                break
            if not data:
                self._end(number, channel)
                return True
            total += len(data)
            self._send_data(number, channel, data)
        return total > 0

    def _end(self, number: int, channel: _Channel) -> None:
        self._remove(number, channel, self._readers)
        self._send(CLOSE, number)

    def _try_read(self, channel: _Channel, most: int) -> bytes | None:
        """None: nothing is there now."""
        if most <= 0:
            return None
        try:
            return os.read(channel.fd, most)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno == errno.ECONNRESET:
                return b""
            raise

    def _send_data(self, number: int, channel: _Channel, data: bytes) -> None:
        if number != 0:  # the host always takes events of the fork server
            was_shut = channel.window <= 0
            channel.window -= len(data)
            if channel.window <= 0 and not was_shut:
                self._poll.unregister(channel.fd)  # the end of its writer would wake this process again and again
        self._send(DATA, number, data)

    def _send(self, kind: int, number: int, data: bytes = b"") -> None:
        self._output += _HEADER.pack(kind, number, len(data)) + data
        self._sent += _HEADER.size + len(data)
        if len(self._output) >= _CHUNK:
            self._flush()

    def _flush(self) -> None:
        rest = memoryview(bytes(self._output))
        self._output.clear()
        while rest:
            rest = rest[os.write(1, rest):]

    def _acknowledge(self) -> None:
        """Leaves out channels that were closed meanwhile: the host has forgotten them."""
        for number, channel in self._unacknowledged.items():
            if self._writers.get(number) is channel:
                self._send(ACK, number, struct.pack(">I", channel.taken))
            channel.taken = 0
        self._unacknowledged.clear()


def serve(folder: str) -> socket.socket:
    """Returns in a child, with the connection that stands for its stdin and stdout. This process becomes the relay."""
    os.mkdir(folder, 0o700)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    if os.fork() == 0:
        ours.close()
        return theirs
    theirs.close()
    try:
        ours.setblocking(False)
        Relay(folder, ours).run()
    finally:
        os._exit(0)
