"""Calls a function in a forked process with a time limit: user code may run there without any effect on the session.

The process has a copy of the session's memory and nothing else: no descriptors, no output, no permission to make processes
or to write files. It is a fork of a fork whose parent has exited, so that user code that waits for children does not see
it. What the function emitted before it was killed or crashed is kept.
"""

import gc
import io
import json
import os
import resource
import select
import signal
import sys
import time
from typing import Any, Callable, Dict, List, NoReturn, Optional

from ..branch.mark import set_mark
from ..io.channel import encode
from ..io.descriptors import close_all, open_private_pipe

MAX_BYTES = 16 << 20
GROWTH_BYTES = 128 << 20  # what the process may allocate; its memory counts against the limit of the session
NO_BRANCH = 0  # the mark of a process that belongs to no branch
LATE_SECONDS = 0.5  # this long after its deadline the process ends by itself, in case the worker is gone
REAP_MS = 5  # between two looks whether the outer process has exited
ATTEMPTS = 2  # an interrupt may kill the process before it is marked

Emit = Callable[[Dict[str, Any]], None]
Step = Callable[[Emit], None]

_fork, _exit, _read, _write, _waitpid = os.fork, os._exit, os.read, os.write, os.waitpid


class ForkedCall:
    """``found`` is everything that the function emitted, as one dict. ``ending`` says why that may be incomplete:
    "timeout", "crashed", "no-process", or None. Both are set once ``collect`` has returned True."""

    def __init__(self, step: Step, timeout_ms: int) -> None:
        self.found: Dict[str, Any] = {}
        self.ending: Optional[str] = None
        self._step = step
        self._timeout_ms = timeout_ms
        self._attempts = 0
        self._child = self._group = 0
        self._reader = -1
        self._start()

    def collect(self, stop_fd: int) -> bool:
        """Waits for the end. False if ``stop_fd`` became readable first; then another thread may call this again."""
        poll = select.poll()
        poll.register(stop_fd, select.POLLIN)
        while self._reader >= 0:
            poll.register(self._reader, select.POLLIN)
            left = self._deadline - time.monotonic()
            if left <= 0:
                self._finish("timeout")
                continue
            ready = dict(poll.poll(REAP_MS if self._child and self._size else max(1, left * 1000)))
            if stop_fd in ready:
                return False
            if ready:
                self._take(_read(self._reader, 65536))
            if self._child and self._size:
                self._reap(os.WNOHANG)  # the inner process has started, so its parent has exited or is about to
        return True

    def forget(self) -> None:
        """In a copy of the worker: the forked process belongs to the original."""
        os.close(self._reader)

    def _start(self) -> None:
        self._deadline = time.monotonic() + self._timeout_ms / 1000
        self._parts: List[bytes] = [b""]
        self._size = 0
        self._attempts += 1
        self.ending = "no-process"
        try:
            reader, writer = open_private_pipe()
        except OSError:
            return
        try:
            self._child = _fork()
        except OSError:
            close_all((reader, writer))
            return
        if self._child == 0:
            try:
                _become(self._step, writer, self._timeout_ms)
            finally:
                _exit(1)
        os.close(writer)
        self._reader = reader
        self._group = self._child

    def _take(self, chunk: bytes) -> None:
        self._parts.append(chunk)
        self._size += len(chunk)
        if not self._size:
            self._finish("no-process")
            if self._attempts < ATTEMPTS:
                self._start()
        elif not chunk or self._size > MAX_BYTES:
            self._finish("crashed")
        elif (self._parts[-2] + chunk).endswith(b"\n\n"):
            self._finish(None)

    def _finish(self, ending: Optional[str]) -> None:
        os.close(self._reader)
        self._reader = -1
        self._kill()
        self.ending = ending
        for line in b"".join(self._parts).split(b"\n")[:-1]:
            self.found.update(_parse(line))

    def _kill(self) -> None:
        """Kills everything that the call started."""
        try:
            os.killpg(self._group, signal.SIGKILL)
        except OSError:
            pass
        if self._child:  # a fork hook of user code delayed it
            try:
                os.kill(self._child, signal.SIGKILL)
            except OSError:
                pass
            self._reap(0)

    def _reap(self, options: int) -> None:
        try:
            if _waitpid(self._child, options)[0]:
                self._child = 0
        except OSError:
            self._child = 0  # user code waited for any child and reaped it


def _parse(line: bytes) -> Dict[str, Any]:
    """User code in the forked process may have written anything into the pipe."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if type(value) is dict else {}


def _become(step: Step, pipe: int, timeout_ms: int) -> NoReturn:
    """In the child: forks again and exits. The inner process stays in the child's process group."""
    set_mark(NO_BRANCH)
    os.setpgid(0, 0)
    _detach(pipe)
    if _fork() != 0:
        _exit(0)
    try:
        _confine(timeout_ms)

        def emit(part: Dict[str, Any]) -> None:
            data = memoryview(encode(part).encode("ascii") + b"\n")
            while data:
                data = data[_write(pipe, data) :]

        emit({})
        step(emit)
        _write(pipe, b"\n")
        _exit(0)
    except BaseException:
        _exit(1)


def _detach(pipe: int) -> None:
    """Closes descriptors and resets signals, so that user code here reaches nothing that the session has open."""
    os.set_blocking(pipe, True)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.closerange(3, pipe)
    os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # New objects, because another thread may have held the locks of the old ones at the fork.
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.FileIO(1, "wb"), "utf-8", "replace", write_through=True)
    sys.stderr = sys.__stderr__ = sys.stdout
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "rb")), "utf-8", "replace")


def _confine(timeout_ms: int) -> None:
    gc.disable()  # a collection would copy every page that it visits
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, timeout_ms / 1000 + LATE_SECONDS)
    seconds = timeout_ms // 1000 + 2
    for what, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_DATA, _data_bytes() + GROWTH_BYTES),
    ):
        hard = resource.getrlimit(what)[1]
        if hard == resource.RLIM_INFINITY or value < hard:
            resource.setrlimit(what, (value, value))


def _data_bytes() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5]) * resource.getpagesize()
