"""Framing: one line of JSON a message, followed by a counted payload where the line has a field ``bytes``.

Reading trusts the host: a line that is no message is a bug in the host, raises, and ends the worker. Writing is safe
from any thread and while signal handlers raise: a frame enters the buffer whole or not at all, and what a raised
exception keeps from being sent stays in the buffer until the next flush.
"""

import io
import json
import os
import signal
from _signal import SIG_BLOCK, SIG_SETMASK, pthread_sigmask
from json.encoder import encode_basestring_ascii as quote
from typing import Any, Callable, Dict, Optional, Tuple

MAX_LINE = 60 * 1024
MAX_PAYLOAD = (32 << 20) - 4096
BUFFER = 256 * 1024
ALL_SIGNALS = frozenset(signal.valid_signals())

_scan = json.JSONDecoder().scan_once
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class ChannelClosed(Exception):
    """The other end of a pipe is gone."""


class Reader:
    """Messages from a pipe, in order. Used by one thread."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._rest = b""

    def read(self) -> Tuple[Dict[str, Any], Optional[bytes]]:
        """Waits for the next message and its payload; raises ChannelClosed at the end of the pipe."""
        message = self.read_line()
        if "bytes" in message:
            return message, self._payload(message["bytes"])
        return message, None

    def read_line(self) -> Dict[str, Any]:
        """The next message, its payload left for ``read_into``."""
        data = self._rest or self._more()
        end = data.find(b"\n")
        if end < 0:
            data, end = self._rest_of_line(data)
        self._rest = data[end + 1 :]
        message, _ = _scan(str(data[:end], "utf-8"), 0)
        return message

    def read_into(self, view: memoryview) -> None:
        """Fills the view with what comes next."""
        size = len(view)
        at = min(len(self._rest), size)
        view[:at] = self._rest[:at]
        self._rest = self._rest[at:]
        while at < size:
            read = os.readv(self.fd, [view[at:]])
            if not read:
                raise ChannelClosed
            at += read

    def has_begun(self) -> bool:
        """Whether part of the next message was read already, so that a wait for the pipe may be in vain."""
        return bool(self._rest)

    def forget(self) -> None:
        """Another pipe has taken the descriptor: nothing of the old one is left."""
        self._rest = b""

    def _more(self) -> bytes:
        data = os.read(self.fd, 65536)
        if not data:
            raise ChannelClosed
        return data

    def _rest_of_line(self, data: bytes) -> Tuple[bytes, int]:
        parts = [data]
        while b"\n" not in parts[-1]:
            parts.append(self._more())
        whole = b"".join(parts)
        return whole, whole.index(b"\n")

    def _payload(self, size: int) -> bytes:
        rest = self._rest
        if len(rest) >= size:
            self._rest = rest[size:]
            return rest[:size]
        payload = bytearray(size)
        with memoryview(payload) as view:
            self.read_into(view)
        return payload


class Writer:
    """Events to a pipe. ``close`` makes every later send raise ChannelClosed."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._buffer = io.BufferedWriter(io.FileIO(fd, "wb", closefd=False), BUFFER)
        self._write: Callable[[bytes], int] = self._buffer.write
        self._flush: Callable[[], None] = self._buffer.flush

    def send(self, event: Dict[str, Any]) -> None:
        """Sends one event; as header and payload when it is long. Raises ValueError when it is too long for both."""
        self.send_frame(frame_of(event))

    def send_frame(self, frame: bytes) -> None:
        if len(frame) < BUFFER // 2:
            self._write(frame)
            self._flush()
            return
        # A frame larger than the buffer is written piece by piece, where an exception of a handler would tear it.
        mask = pthread_sigmask(SIG_BLOCK, ())
        try:
            pthread_sigmask(SIG_BLOCK, ALL_SIGNALS)
            self._write(frame)
            self._flush()
        finally:
            pthread_sigmask(SIG_SETMASK, mask)

    def close(self) -> None:
        """For the child of a fork: nothing is sent any more, not even what the buffer holds."""
        self._write = self._flush = _closed


def encode(value: Any) -> str:
    """JSON as every parser reads it: no NaN, ASCII only. Raises TypeError or ValueError for what JSON cannot say."""
    return _encode(value)


def frame_of(event: Dict[str, Any]) -> bytes:
    """One event as it crosses the pipe."""
    body = _encode(event).encode("ascii")
    if len(body) <= MAX_LINE:
        return body + b"\n"
    if len(body) > MAX_PAYLOAD:
        raise ValueError(f"an event of {len(body):,} bytes is too long: the limit is {MAX_PAYLOAD:,}")
    header = {key: event[key] for key in ("type", "id", "call") if key in event}
    header["bytes"] = len(body)
    return _encode(header).encode("ascii") + b"\n" + body


def cut(text: str, limit: int) -> str:
    """The text, or its head and tail around a line that says how many characters were left out."""
    size = len(text)
    if size <= limit:
        return text
    half = (limit - 60) // 2
    return f"{text[:half]}\n… {size - 2 * half:,} characters omitted …\n{text[size - half:]}"


def _closed(*_: Any) -> int:
    raise ChannelClosed("the channel belongs to the parent of this process")
