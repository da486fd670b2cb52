"""Framing: each message is one line of JSON, followed by ``bytes`` raw bytes of payload if the line has that field.

Reading trusts the host: an invalid line is a bug in the host, raises, and ends the worker. Writing is safe from any
thread and while signal handlers raise: a frame enters the buffer whole or not at all, and if an exception interrupts
the flush, the rest stays in the buffer until the next one.
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
MAX_PARTS = 500_000  # the host ends a worker that sends more in one message: brackets that open, and commas
BUFFER = 256 * 1024
ALL_SIGNALS = frozenset(signal.valid_signals())

_scan = json.JSONDecoder().scan_once
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class ChannelClosed(Exception):
    """The other end of a pipe is gone."""


class TooLarge(ValueError):
    """The host would not take this message. ``why`` completes "it has ..."."""

    def __init__(self, why: str) -> None:
        super().__init__(f"a message is too long: it has {why}")
        self.why = why


class Reader:
    """Reads messages from a pipe. Used by one thread."""

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
        """The next message; its payload is left for ``read_into``."""
        data = self._rest or self._more()
        end = data.find(b"\n")
        if end < 0:
            data, end = self._rest_of_line(data)
        self._rest = data[end + 1 :]
        message, _ = _scan(str(data[:end], "utf-8"), 0)
        return message

    def read_into(self, view: memoryview) -> None:
        """Fills the view with the next bytes."""
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
        """Whether part of the next message is buffered already, so that polling the pipe could miss it."""
        return bool(self._rest)

    def forget(self) -> None:
        """Drops what is buffered, after another pipe has taken over the descriptor."""
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
    """Writes events to a pipe. After ``close`` every send raises ChannelClosed."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._buffer = io.BufferedWriter(io.FileIO(fd, "wb", closefd=False), BUFFER)
        self._write: Callable[[bytes], int] = self._buffer.write
        self._flush: Callable[[], None] = self._buffer.flush

    def send(self, event: Dict[str, Any]) -> None:
        """Sends one event, as header and payload if it is long. Raises TooLarge if it is too long even for that."""
        self.send_frame(frame_of(event))

    def send_frame(self, frame: bytes) -> None:
        if len(frame) < BUFFER // 2:
            self._write(frame)
            self._flush()
            return
        # A frame larger than the buffer is written in pieces, so an exception in a signal handler could split it.
        mask = pthread_sigmask(SIG_BLOCK, ())
        try:
            pthread_sigmask(SIG_BLOCK, ALL_SIGNALS)
            self._write(frame)
            self._flush()
        finally:
            pthread_sigmask(SIG_SETMASK, mask)

    def close(self) -> None:
        """For the child of a fork: sends nothing any more, not even what is buffered."""
        self._write = self._flush = _closed


def encode(value: Any) -> str:
    """Strict JSON: no NaN, ASCII only. Raises TypeError or ValueError for what JSON cannot express."""
    return _encode(value)


def frame_of(event: Dict[str, Any]) -> bytes:
    """One event as bytes on the pipe. Raises TooLarge."""
    body = _encode(event).encode("ascii")
    if len(body) <= MAX_LINE:
        return body + b"\n"
    if len(body) > MAX_PAYLOAD:
        raise TooLarge(f"{len(body):,} bytes of JSON, more than {MAX_PAYLOAD:,}")
    # The commas and brackets of texts count here, too, so this is only the most that it can be.
    if body.count(b",") + body.count(b"[") + body.count(b"{") > MAX_PARTS and count_parts(event, MAX_PARTS) > MAX_PARTS:
        raise TooLarge(f"more than {MAX_PARTS:,} JSON values")
    header = {key: event[key] for key in ("type", "id", "call") if key in event}
    header["bytes"] = len(body)
    return _encode(header).encode("ascii") + b"\n" + body


def count_parts(value: Any, limit: int) -> int:
    """Counts as the host does. Past the limit it stops. The value is JSON."""
    count = 0
    pending = [value] if isinstance(value, (dict, list, tuple)) else []
    while pending and count <= limit:
        container = pending.pop()
        count += len(container) or 1  # its bracket, and a comma between two items
        items = container.values() if isinstance(container, dict) else container
        pending.extend(item for item in items if isinstance(item, (dict, list, tuple)))
    return count


def _closed(*_: Any) -> int:
    raise ChannelClosed("the channel belongs to the parent of this process")
