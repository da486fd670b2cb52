"""Jobs: short-lived trusted processes inside a sandbox, forked by its init at the host's request.

A job performs one operation and exits. It is confined like the worker but independent of it. It has two pipes of its own: the
first line it reads is its request, so requests do not pass through the fork server. It cannot be traced, its descriptors
cannot be opened, and it has the mark of no branch. The init knows its pid, so code that takes the same mark is not mistaken
for a job.
"""
from __future__ import annotations

import json
import os
import resource
import signal
import time
from typing import Callable, Iterator

from .. import descriptors
from ..sandbox.limits import set_limits
from .proc import set_mark

# Input and output: (pages, True if the job reads it).
PIPES = ((16, True), (16, False))
# The host has a lower limit; this is a second check.
MAX_JOBS = 48
MAX_LINE = 64 * 1024
_PIECE = 64 * 1024
_HEARTBEAT_S = 1.0
_MEMORY = 256 * 1024 * 1024
_OPEN_FILES = 1024


class Channel:
    """The two pipes of a job: lines of JSON, each followed by as many raw bytes as its field `bytes` says."""

    def __init__(self, source: int, sink: int) -> None:
        self.source = source
        self._sink = sink
        self._unread = b""
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        self._last_sent = time.monotonic()

    def line(self) -> dict:
        """The next message. EOFError: the host is gone or has cancelled the job."""
        while b"\n" not in self._unread:
            if len(self._unread) > MAX_LINE:
                raise ValueError("a line is too long")
            self._unread += self._read()
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)

    def payloads(self) -> Iterator[bytes]:
        """The payloads of messages with `bytes`, until one with `end`. EOFError if the pipe ends before that."""
        while True:
            header = self.line()
            if header.get("end"):
                return
            left = header["bytes"]
            while left > 0:
                chunk = self._unread or self._read()
                self._unread = chunk[left:]
                yield chunk[:left]
                left -= min(left, len(chunk))

    def send(self, message: dict, payload: bytes = b"") -> int:
        """Returns the size of the message. Buffered until `flush` or a full buffer. BrokenPipeError: nobody reads."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        size = len(line) + len(payload)
        self._unsent += (line, payload)
        self._unsent_bytes += size
        if self._unsent_bytes >= _PIECE:
            self.flush()
        return size

    def heartbeat(self) -> None:
        """Called often during long work: tells the host once a second that the job is alive."""
        if time.monotonic() - self._last_sent > _HEARTBEAT_S:
            self.send({"type": "busy"})
            self.flush()

    def flush(self) -> None:
        data = memoryview(b"".join(self._unsent))
        self._unsent = []
        self._unsent_bytes = 0
        self._last_sent = time.monotonic()
        while data:
            data = data[os.write(self._sink, data):]

    def _read(self) -> bytes:
        chunk = os.read(self.source, _PIECE)
        if not chunk:
            raise EOFError
        return chunk


# Handles the request of a job.
Work = Callable[[dict, Channel], None]


class Jobs:
    """The jobs of one sandbox, for its init: `pid in jobs`. `send` sends an event to the fork server."""

    def __init__(self, disk_bytes: int, send: Callable[[dict], None]) -> None:
        self._disk_bytes = disk_bytes
        self._send = send
        # By pid. None: a job of the init itself, which is not reported.
        self._numbers: dict[int, int | None] = {}

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def __contains__(self, pid: int) -> bool:
        return pid in self._numbers

    def start(self, number: int, pipes: list[int], work: Work) -> None:
        """The caller closes the pipes. A job that cannot be started is reported as ended."""
        try:
            if len(self._numbers) >= MAX_JOBS:
                raise OSError("too many at once")
            self._fork(number, pipes, lambda: serve(work, Channel(*pipes)))
        except OSError as error:
            self._send({"event": "job-end", "job": number, "why": str(error)})

    def start_own(self, work: Callable[[], None]) -> None:
        """A job of the init itself, without pipes and without a report."""
        try:
            self._fork(None, [], work)
        except OSError:
            pass

    def kill(self, number: int) -> None:
        for pid, other in self._numbers.items():
            if other == number:
                os.kill(pid, signal.SIGKILL)

    def reaped(self, pid: int, status: int) -> None:
        """A child was reaped. Reports the end if it was a job."""
        number = self._numbers.pop(pid, None)
        if number is not None:
            self._send({"event": "job-end", "job": number, "why": f"it ended with status {status}" if status else None})

    def _fork(self, number: int | None, keep: list[int], run: Callable[[], None]) -> None:
        pid = os.fork()
        if pid == 0:
            try:
                self._become_job(keep)
                run()
            finally:
                os._exit(0)
        self._numbers[pid] = number

    def _become_job(self, keep: list[int]) -> None:
        """It is not dumpable, as the init is not, so code cannot look into it."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        descriptors.close_all_but(set(keep))
        set_mark(0)  # of no branch
        set_limits(
            (resource.RLIMIT_DATA, _MEMORY),
            (resource.RLIMIT_FSIZE, self._disk_bytes),
            (resource.RLIMIT_NOFILE, _OPEN_FILES),
        )


def serve(work: Work, channel: Channel) -> None:
    try:
        work(channel.line(), channel)
        channel.flush()
    except (EOFError, BrokenPipeError):
        pass  # the host is gone
