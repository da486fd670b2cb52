"""Reads the records that ``saving`` wrote, as they arrive from the host."""

import json
from collections import deque
from typing import Any, Deque, Dict, Tuple

from ..io.bulk import Incoming

MAX_NAME = 64 * 1024
MAX_END = 64 << 20
STEP = 64 << 20
MAX_SOURCES = 16 << 20  # as JSON, in total


class Damaged(Exception):
    """The stream is not one that ``saving`` wrote."""


class Records:
    """Splits the stream into records. For the unpickler it is a file with the pieces of the pickle. ``sources``: those that came so
    far, by file name."""

    def __init__(self, incoming: Incoming) -> None:
        self._incoming = incoming
        self._piece = memoryview(b"")
        self._left = 0  # bytes left of the current piece of the pickle
        self._buffers: Deque[bytearray] = deque()
        self._sources_size = 0
        self.sources: Dict[str, str] = {}

    def next(self) -> Tuple[bytes, bytes]:
        """The next ``V`` or ``E``."""
        if self._left:
            raise Damaged("a variable ends too early")
        kind, size = self._header()
        if kind not in (b"V", b"E") or size > (MAX_NAME if kind == b"V" else MAX_END):
            raise Damaged("a record is not what is expected")
        return kind, bytes(self._take(size))

    def read(self, size: int) -> Any:
        """The next bytes of the pickle, without a copy if they are buffered."""
        if size <= self._left:
            self._left -= size
            return self._take(size)
        data = bytearray()
        while len(data) < size:  # in steps: a damaged size must not take more memory than there is data
            step = bytearray(min(size - len(data), STEP))
            self.readinto(step)
            data += step
        return data

    def readinto(self, target: Any) -> int:
        with memoryview(target).cast("B") as view:
            at = 0
            while at < len(view):
                self._find_piece()
                some = min(self._left, len(view) - at)
                self._fill(view[at : at + some])
                self._left -= some
                at += some
            return at

    def readline(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            line += bytes(self.read(1))
        return line

    def buffer(self) -> Any:
        if not self._buffers:
            raise Damaged("a buffer is not there")
        return self._buffers.popleft()

    def _find_piece(self) -> None:
        while not self._left:
            kind, size = self._header()
            if kind == b"P":
                self._left = size
            elif kind == b"B":
                self._buffers.append(self._take_buffer(size))
            elif kind == b"S":
                self._take_source(size)
            else:
                raise Damaged("a variable ends too early")

    def _take_buffer(self, size: int) -> bytearray:
        data = bytearray(size)
        with memoryview(data) as view:
            self._fill(view)
        return data

    def _take_source(self, size: int) -> None:
        self._sources_size += size
        if self._sources_size > MAX_SOURCES:
            raise Damaged("it has too many sources")
        try:
            name, text = json.loads(bytes(self._take(size)))
        except (ValueError, TypeError, RecursionError):
            name = text = None
        if not isinstance(name, str) or not isinstance(text, str):
            raise Damaged("a source is not one")
        self.sources[name] = text

    def _header(self) -> Tuple[bytes, int]:
        data = bytes(self._take(9))
        return data[:1], int.from_bytes(data[1:], "little")

    def _take(self, size: int) -> Any:
        if size <= len(self._piece):
            taken, self._piece = self._piece[:size], self._piece[size:]
            return taken
        data = bytearray(size)
        with memoryview(data) as view:
            self._fill(view)
        return data

    def _fill(self, view: memoryview) -> None:
        at = 0
        while at < len(view):
            if not self._piece:
                self._piece = memoryview(self._incoming.piece())
                if not self._piece:
                    raise Damaged("it ends too early")
            some = min(len(self._piece), len(view) - at)
            view[at : at + some] = self._piece[:some]
            self._piece = self._piece[some:]
            at += some


class Buffers:
    """The iterator from which the unpickler takes its out-of-band buffers."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def __iter__(self) -> "Buffers":
        return self

    def __next__(self) -> Any:
        return self._records.buffer()
