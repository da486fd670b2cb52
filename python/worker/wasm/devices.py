"""The devices that the guest's process provides (wasm/devices.cjs): the pipes of the session, and a way to wait.

They are opened after the start, because a memory snapshot has no open files.
"""

import os
import struct
import time
from typing import Set, Tuple

from ..io.channel import Writer

FOREVER = 1e15
_WRITE_ONLY = ("events", "wait", "exit", "die", "tick")
# Code of the session may replace or delete them in their modules.
_read, _write, _pack, _monotonic = os.read, os.write, struct.pack, time.monotonic


class Devices:
    """``open`` must be called once before anything else."""

    def __init__(self) -> None:
        self.commands = self.aside = self.events = self._wait = self._usage = self._writes = self._exit = self._die = self._tick = -1
        self._tickers: Set[str] = set()

    def open(self, folder: str) -> None:
        for name in ("commands", "aside", "events", "wait", "usage", "writes", "exit", "die", "tick"):
            fd = os.open(f"{folder}/{name}", os.O_WRONLY if name in _WRITE_ONLY else os.O_RDONLY)
            setattr(self, name if name in ("commands", "aside", "events") else f"_{name}", fd)

    def wait(self, seconds: float) -> None:
        """Returns when the time is over, and when a message has come since the last wait. Signal handlers run meanwhile."""
        until = FOREVER if seconds >= 1e9 else _monotonic() * 1000 + seconds * 1000
        _write(self._wait, _pack("<d", until))

    def writes(self) -> bytes:
        """A counter that changes with each write to stdout or stderr, whatever path or descriptor it uses."""
        return _read(self._writes, 4)

    def usage(self) -> Tuple[int, int]:
        """The most memory that this process had, in bytes, and its time of the processor, in microseconds."""
        peak, cpu = _read(self._usage, 64).split()
        return int(peak), int(cpu)

    def tick(self, who: str, is_on: bool) -> None:
        """While it is on for anybody, the handler of messages is called every few milliseconds."""
        (self._tickers.add if is_on else self._tickers.discard)(who)
        _write(self._tick, b"\1" if self._tickers else b"\0")

    def exit(self, code: int) -> None:
        _write(self._exit, bytes([code & 0xFF]))

    def die(self, reason: str) -> None:
        """Ends the process as lost: the host does not take it for an exit."""
        _write(self._die, reason.encode("utf-8", "backslashreplace"))


DEVICES = Devices()


class DeviceWriter(Writer):
    """Writes each frame with one system call, during which no handler runs: one that sends a frame itself could not do so in the midst
    of another."""

    def __init__(self) -> None:
        self.fd = DEVICES.events

    def send_frame(self, frame: bytes) -> None:
        _write(self.fd, frame)
