"""stdout and stderr in WebAssembly: text streams on fd 1 and 2, which are devices. There are no threads, so there is one pair for good."""

import os
import sys
from typing import Any, Callable, Dict, Tuple

from ..io.channel import Writer
from ..io.order import Order
from ..io.streams import _flush_foreign, _text, _usable
from ..io.threads import Tag
from .devices import DEVICES

_GONE = (ValueError, OSError, RuntimeError)


class WasmOrder(Order):
    """The host acknowledges the first mark, because nobody here can tell what it has read. ``ask`` sends an event and waits for that."""

    def __init__(self, writer: Writer, ask: Callable[[Dict[str, Any]], None]) -> None:
        super().__init__(writer, lambda _index: 1 << 20)
        self._ask = ask

    def _send(self, index: int, out: int, err: int, more: bytes = b"") -> None:
        if self._marks > 1:
            super()._send(index, out, err, more)
            return
        self._ask({"type": "order", "next": ("stdout", "stderr")[index], "stdout": out, "stderr": err})

    def _wait_for_host(self) -> None:
        """It has acknowledged the mark."""


class _Threads:
    """The execution that output and calls belong to."""

    def __init__(self) -> None:
        self.generation = None
        self.execution = ""

    def tag(self) -> Tag:
        return Tag(self.generation, self.execution)


class WasmStreams:
    """The interface of ``io.streams.Streams``, as far as a worker without threads and processes needs it."""

    def __init__(self, writer: Writer, ask: Callable[[Dict[str, Any]], None]) -> None:
        self.threads = _Threads()
        self._order = WasmOrder(writer, ask)
        self._broken = False
        self._writes = b""
        self._open()

    def begin(self) -> None:
        if self._broken or not _is_device(1) or not _is_device(2):
            self._repair()
        self._order.begin()
        sys.stdout = sys.__stdout__ = self.out
        sys.stderr = sys.__stderr__ = self.err
        sys.stdin = sys.__stdin__

    def finish(self) -> None:
        out, err = sys.stdout, sys.stderr
        self.flush()
        if out is not self.out or err is not self.err:
            _flush_foreign(out)
            _flush_foreign(err)

    def end(self) -> bool:
        """Whether bytes may be unread. Code can bypass our streams, so the devices count all writes."""
        self.flush()
        self._order.end()
        before, self._writes = self._writes, DEVICES.writes()
        return self._writes != before

    def flush(self) -> None:
        """Also called in the midst of user code, which may be inside a write: then the next flush does it."""
        for stream in (self.out, self.err):
            try:
                stream.flush()
            except RuntimeError:
                pass
            except (ValueError, OSError):
                self._broken = True

    def set_apart(self) -> None:
        self._order.is_apart = True

    def check(self) -> None:
        self._broken = self._broken or not (_usable(self.out) and _usable(self.err))

    def has_threads(self) -> bool:
        return False

    def _open(self) -> None:
        self.out, self.err = _text(1, False), _text(2, True)
        self.out.mode = self.err.mode = "w"
        self._order.attach([self.out, self.err])

    def _repair(self) -> None:
        self._broken = False
        for fd, name in ((1, "stdout"), (2, "stderr")):
            if not _is_device(fd):
                own = os.open(f"/dev/rlm/{name}", os.O_WRONLY)
                if own != fd:
                    os.dup2(own, fd)
                    os.close(own)
        self._open()


_devices: Dict[int, Tuple[int, int]] = {}


def _is_device(fd: int) -> bool:
    """Whether user code has left the descriptor as it was."""
    try:
        status = os.fstat(fd)
    except OSError:
        return False
    return _devices.setdefault(fd, (status.st_dev, status.st_ino)) == (status.st_dev, status.st_ino)
