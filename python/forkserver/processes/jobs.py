"""Jobs: short-lived processes of ours inside a sandbox, which its init forks when the host asks for one.

A job does one thing and ends. It is behind the same walls as the worker, runs beside it, never waits for it, and does not
end with it. It has two pipes of its own: the first line it reads says what to do, so nothing of that passes through the
fork server. It cannot be traced, its descriptors cannot be opened, and it carries the mark of no branch; the init knows
its process, so that code which takes the same mark is not taken for one.
"""
from __future__ import annotations

import json
import os
import resource
import signal
import time
from typing import Callable, Iterator

from .. import descriptors, libc
from .branches import mark

# What the job reads, what it says: (pages, True where the job reads).
PIPES = ((16, True), (16, False))
# The host asks for fewer at once; this holds if it ever does not.
MAX_JOBS = 48
MAX_LINE = 64 * 1024
_PIECE = 64 * 1024
_BEAT_S = 1.0
_MEMORY = 256 * 1024 * 1024
_OPEN_FILES = 1024


class Channel:
    """The two pipes of a job: lines of JSON, each with a payload of as many raw bytes as its field `bytes` says."""

    def __init__(self, source: int, sink: int) -> None:
        self.source = source
        self._sink = sink
        self._unread = b""
        self._unsaid: list[bytes] = []
        self._unsaid_bytes = 0
        self._last_said = time.monotonic()

    def line(self) -> dict:
        """The next message. EOFError: the host has gone, or does not want this any more."""
        while b"\n" not in self._unread:
            if len(self._unread) > MAX_LINE:
                raise ValueError("a line is too long")
            self._unread += self._read()
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)

    def payloads(self) -> Iterator[bytes]:
        """What comes in messages with `bytes`, until one says `end`. EOFError if none does."""
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

    def say(self, message: dict, payload: bytes = b"") -> int:
        """How many bytes it has. Kept until there is enough to send, or `flush`. BrokenPipeError: nobody listens."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        size = len(line) + len(payload)
        self._unsaid += (line, payload)
        self._unsaid_bytes += size
        if self._unsaid_bytes >= _PIECE:
            self.flush()
        return size

    def beat(self) -> None:
        """Called in the midst of long work: lets the host know now and then that it goes on."""
        if time.monotonic() - self._last_said > _BEAT_S:
            self.say({"type": "busy"})
            self.flush()

    def flush(self) -> None:
        data = memoryview(b"".join(self._unsaid))
        self._unsaid = []
        self._unsaid_bytes = 0
        self._last_said = time.monotonic()
        while data:
            data = data[os.write(self._sink, data):]

    def _read(self) -> bytes:
        chunk = os.read(self.source, _PIECE)
        if not chunk:
            raise EOFError
        return chunk


# What a job does, once it has heard which.
Work = Callable[[dict, Channel], None]


class Jobs:
    """The jobs of one sandbox, as its init sees them: `pid in jobs`. `tell` speaks to the fork server."""

    def __init__(self, disk_bytes: int, tell: Callable[[dict], None]) -> None:
        self._disk_bytes = disk_bytes
        self._tell = tell
        # By process. None: one of the init's own, of which nobody is told.
        self._numbers: dict[int, int | None] = {}

    def __contains__(self, pid: int) -> bool:
        return pid in self._numbers

    def start(self, number: int, pipes: list[int], work: Work) -> None:
        """The caller closes the pipes. A job that cannot be started is told as one that has ended."""
        try:
            if len(self._numbers) >= MAX_JOBS:
                raise OSError("too many at once")
            self._fork(number, pipes, lambda: _converse(work, Channel(*pipes)))
        except OSError as error:
            self._tell({"event": "job-end", "job": number, "why": str(error)})

    def sweep(self, work: Callable[[], None]) -> None:
        """A job that nobody talks to or waits for."""
        try:
            self._fork(None, [], work)
        except OSError:
            pass

    def kill(self, number: int) -> None:
        for pid, other in self._numbers.items():
            if other == number:
                os.kill(pid, signal.SIGKILL)

    def reaped(self, pid: int, status: int) -> None:
        """A child has ended; where it was a job, that is told."""
        number = self._numbers.pop(pid, None)
        if number is not None:
            self._tell({"event": "job-end", "job": number, "why": f"it ended with status {status}" if status else None})

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
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        descriptors.close_all_but(set(keep))
        libc.prctl(libc.PR_SET_DUMPABLE, 0)
        mark(0)  # no branch's
        for what, value in (
            (resource.RLIMIT_DATA, _MEMORY),
            (resource.RLIMIT_FSIZE, self._disk_bytes),
            (resource.RLIMIT_NOFILE, _OPEN_FILES),
            (resource.RLIMIT_CORE, 0),
        ):
            hard = resource.getrlimit(what)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(what, (bound, bound))


def _converse(work: Work, channel: Channel) -> None:
    try:
        work(channel.line(), channel)
        channel.flush()
    except (EOFError, BrokenPipeError):
        pass  # whoever asked has gone
