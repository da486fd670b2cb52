"""Carries everything between the host and the fork server of a container over stdin and stdout, where they share no folder.

A frame is a kind (one byte), a channel (4 bytes), a length (4 bytes) and as many bytes. Channel 0 is the fork server's own stdin and stdout;
others are its pipes, by their numbers. A side sends what the other has room for: each channel has a window, and bytes that were taken open it
again. What was printed before an event goes before it, so that the host sees both in the order in which they happened.
"""
from __future__ import annotations

import errno
import os
import select
import socket
import struct

OPEN_READER, OPEN_ORDERED, OPEN_WRITER, DATA, TAKEN, CLOSE = range(6)
_HEADER = struct.Struct(">BII")
_WINDOW = 1 << 20
_CHUNK = 1 << 16
# More than a pipe contains.
_MOST_BEFORE_EVENT = 2 << 20
_MAX_FRAME = 1 << 20


class _Channel:
    def __init__(self, fd: int, is_ordered: bool) -> None:
        self.fd = fd
        self.is_ordered = is_ordered
        self.window = _WINDOW
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
        self._add(0, _Channel(control.fileno(), True), self._readers, select.EPOLLIN)
        self._writers[0] = _Channel(control.fileno(), True)
        self._poll.register(0, select.EPOLLIN)

    def run(self) -> None:
        """Returns when the host or the fork server has ended."""
        while True:
            ready = self._poll.poll()
            ordered: list[tuple[int, _Channel]] = []
            for fd, events in ready:
                if fd == 0:
                    if not self._receive():
                        return
                    continue
                found = self._by_fd.get(fd)
                if found is None:
                    continue
                if events & select.EPOLLOUT:
                    self._write(*((0, self._writers[0]) if fd == self._control.fileno() else found))
                if events & ~select.EPOLLOUT and found[0] in self._readers and self._readers[found[0]] is found[1]:
                    if found[1].is_ordered:
                        ordered.append(found)
                    else:
                        self._read(*found)
            for number, channel in ordered:
                if not self._read_ordered(number, channel) and number == 0:
                    return

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
            self._open(kind, number)
        elif kind == DATA and number in self._writers:
            channel = self._writers[number]
            channel.waiting += data
            self._write(number, channel)
        elif kind == TAKEN and number in self._readers:
            channel = self._readers[number]
            was_shut = channel.window <= 0
            channel.window += struct.unpack(">I", data)[0]
            if was_shut and channel.window > 0:
                self._poll.modify(channel.fd, select.EPOLLIN)
        elif kind == CLOSE:
            self._close_from_host(number)

    def _open(self, kind: int, number: int) -> None:
        flags = os.O_WRONLY if kind == OPEN_WRITER else os.O_RDONLY
        try:
            fd = os.open(f"{self._folder}/{number}", flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
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
        except OSError:  # nobody reads it
            if number != 0:
                self._remove(number, channel, self._writers)
                self._send(CLOSE, number)
            return
        if taken and number != 0:
            self._send(TAKEN, number, struct.pack(">I", taken))
        if not channel.waiting and channel.is_closing:
            self._remove(number, channel, self._writers)
        else:
            events = select.EPOLLOUT if channel.waiting else 0
            self._poll.modify(channel.fd, events | select.EPOLLIN if number == 0 else events)

    def _read(self, number: int, channel: _Channel) -> None:
        data = self._try_read(channel, min(_CHUNK, channel.window))
        if data is None:
            return
        if not data:
            self._remove(number, channel, self._readers)
            self._send(CLOSE, number)
            return
        self._send_data(number, channel, data)

    def _read_ordered(self, number: int, channel: _Channel) -> bool:
        """Reads an event, and sends what was printed before it first. False: there are no more."""
        data = self._try_read(channel, min(_CHUNK, channel.window))
        if data is None:
            return True
        for other, printed in [*self._readers.items()]:
            if printed.is_ordered:
                continue
            total = 0
            while total < _MOST_BEFORE_EVENT and (chunk := self._try_read(printed, _CHUNK)):
                total += len(chunk)
                self._send_data(other, printed, chunk)
        if data:
            self._send_data(number, channel, data)
            return True
        if number != 0:
            self._remove(number, channel, self._readers)
            self._send(CLOSE, number)
        return False

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
            channel.window -= len(data)
            if channel.window <= 0:
                self._poll.modify(channel.fd, 0)
        self._send(DATA, number, data)

    def _send(self, kind: int, number: int, data: bytes = b"") -> None:
        rest = memoryview(_HEADER.pack(kind, number, len(data)) + data)
        while rest:
            rest = rest[os.write(1, rest):]


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
