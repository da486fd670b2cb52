"""Decides on system calls of members, in a sandbox that has neither a user of its own nor a process namespace: those that name or start
another process, or change the mode or times of a file.

The filter of members (member_filter.py) stops such a call and asks the init, which answers: a named process must carry the mark of
the sandbox. The init sends signals itself, to a descriptor of the process, because its number could be given to another process
meanwhile. A new process or thread is allowed as long as the sandbox has fewer than its limit. The kernel's own limit would count all
processes of the user. One question of each member's filter is answered in a round of the init's loop, so that many cannot stall it.
"""
from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import socket
import struct
import time
from typing import Callable

from .. import libc
from ..processes import proc, process_barrier
from .file_changes import FileChanges
from .member_filter import FILE_CHANGES, NEW_PROCESSES

# struct seccomp_notif: id, thread, flags; then struct seccomp_data: number, architecture, address, six arguments.
_QUESTION = struct.Struct("=QIIiIQ6Q")
# struct seccomp_notif_resp: id, value, error, flags.
_ANSWER = struct.Struct("=QqiI")
_RECEIVE, _SEND, _IS_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_WAKE_AT_ONCE = 1
_CONTINUE = 1
_KILL, _TGKILL = (62, 234) if libc.X86_64 else (129, 131)
_SETPRIORITY, _IOPRIO_SET = (141, 251) if libc.X86_64 else (140, 30)
# Standard streams of a member replace lower ones.
_LOWEST = 16
# Of the time, at most one part in this many is for counts that refuse new processes.
_COUNT_SHARE = 4


class Supervisor:
    """`kept` is what a member needs to hand over its listener, after it has closed all else. The init calls `proceed` in each round of
    its loop, in which it must wait no longer than `until_due_ms`."""

    def __init__(self, mark: int, most_processes: int, files: FileChanges) -> None:
        self._mark = mark
        self._files = files
        self._most_processes = most_processes
        # How many more there may be without another count: those that end meanwhile do not matter.
        self._free = 0
        self._init = 0
        self._ours: socket.socket | None = None
        self._theirs: socket.socket | None = None
        self._listeners: set[int] = set()
        # Those whose last question was for a process too many.
        self._paused: set[int] = set()
        self._paused_until = 0.0
        self._poll: select.poll | None = None

    def open(self) -> None:
        """In the init, before it has members."""
        self._init = os.getpid()
        self._ours, self._theirs = map(_raise, socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))

    @property
    def kept(self) -> tuple[int, ...]:
        return () if self._theirs is None else (self._theirs.fileno(),)

    def hand_over(self, listener: int | None) -> None:
        """In a member. None: it has no listener, because another program supervises this container."""
        assert self._theirs is not None
        if listener is not None:
            socket.send_fds(self._theirs, [b"l"], [listener])
            os.close(listener)
        self._theirs.close()

    def register(self, poll: select.poll) -> None:
        assert self._ours is not None
        self._poll = poll
        poll.register(self._ours, select.POLLIN)

    def __contains__(self, fd: int) -> bool:
        return fd in self._listeners or (self._ours is not None and fd == self._ours.fileno())

    def handle(self, fd: int, events: int) -> None:
        assert self._poll is not None and self._ours is not None
        if fd == self._ours.fileno():
            _, fds, _, _ = socket.recv_fds(self._ours, 16, 1)
            for listener in fds:
                _ask_to_be_woken_at_once(listener)
                self._listeners.add(listener)
                self._poll.register(listener, select.POLLIN)
                process_barrier.hold_by_answers()
        elif events & select.POLLIN:
            self._answer(fd)
        else:  # the last process with this filter is gone
            self._listeners.discard(fd)
            self._poll.unregister(fd)
            os.close(fd)

    def proceed(self) -> None:
        if self._paused and time.monotonic() >= self._paused_until:
            assert self._poll is not None
            for listener in self._paused:
                self._poll.register(listener, select.POLLIN)
            self._paused.clear()

    def until_due_ms(self) -> float | None:
        """None if no question is put off."""
        return max(0.0, self._paused_until - time.monotonic()) * 1000 if self._paused else None

    def _answer(self, listener: int) -> None:
        question = bytearray(_QUESTION.size)
        try:
            fcntl.ioctl(listener, _RECEIVE, question)
        except OSError:
            return  # whoever asked is gone
        number, caller, _, call, _, _, *arguments = _QUESTION.unpack(question)
        is_in_group = False
        flags = error = 0
        try:
            if call == _KILL:
                flags, is_in_group = self._kill(_process_of(caller), libc.signed(arguments[0]), libc.signed(arguments[1]))
            elif call == _TGKILL:
                if libc.signed(arguments[0]) != _process_of(caller):
                    raise PermissionError(errno.EPERM, "not its own")
                flags = _CONTINUE  # it exists as long as the caller does
            elif call in NEW_PROCESSES:
                self._count_new(listener)
                flags = _CONTINUE
            elif call in FILE_CHANGES:
                self._files.carry_out(caller, call, arguments, lambda: _still_waits(listener, number))
            else:
                self._check(libc.signed(arguments[1 if call in (_SETPRIORITY, _IOPRIO_SET) else 0]))
                flags = _CONTINUE  # if the thread ends now, at worst the one that gets its number is scheduled in another way
        except OSError as failure:
            error = -(failure.errno or errno.EPERM)
        try:
            fcntl.ioctl(listener, _SEND, _ANSWER.pack(number, 0, error, flags))
        except OSError:
            return
        if is_in_group:  # not before the answer: a signal would make it ask again
            _ignore_gone(lambda: self._signal(_process_of(caller), libc.signed(arguments[1])))

    def _count_new(self, listener: int) -> None:
        """Raises OSError if there are as many as there may be, the init included."""
        if self._free == 0:
            started = time.monotonic()
            self._free = max(0, self._most_processes - 1 - proc.count_threads(proc.processes(), self._most_processes))
            if self._free == 0:
                assert self._poll is not None
                ended = time.monotonic()
                self._poll.unregister(listener)
                self._paused.add(listener)
                self._paused_until = ended + (ended - started) * _COUNT_SHARE
                raise BlockingIOError(errno.EAGAIN, "too many processes")
        self._free -= 1

    def _kill(self, caller: int, target: int, what: int) -> tuple[int, bool]:
        """Flags of the answer, and whether the caller is to be signalled after it."""
        if target == caller:
            return _CONTINUE, False
        if target > 0:
            self._signal(target, what)
            return 0, False
        group = [pid for pid in proc.processes() if proc.group_of(pid) == -target]
        if not group:
            raise ProcessLookupError(errno.ESRCH, "no such group")
        for pid in group:
            if pid != caller:
                _ignore_gone(lambda: self._signal(pid, what))
        return 0, caller in group

    def _signal(self, pid: int, what: int) -> None:
        try:
            process = os.pidfd_open(pid)
        except OSError:
            raise ProcessLookupError(errno.ESRCH, "no such process") from None
        try:
            self._check(pid)
            signal.pidfd_send_signal(process, what)
        finally:
            os.close(process)

    def _check(self, thread: int) -> None:
        """Raises OSError unless it is of this sandbox, and not the init's."""
        process = _process_of(thread)
        if not process:
            raise ProcessLookupError(errno.ESRCH, "no such process")
        if process == self._init or proc.sandbox_mark_of(thread) != self._mark:
            raise PermissionError(errno.EPERM, "not of this sandbox")


def _ask_to_be_woken_at_once(listener: int) -> None:
    """The kernel lets the init run where the caller waits (Linux 6.6). A signal that arrives before the init has received a question makes
    the call fail with EINTR, unless its handler restarts calls. Few programs expect that of a fork, so this time has to be short."""
    try:
        fcntl.ioctl(listener, _SET_FLAGS, _WAKE_AT_ONCE)
    except OSError:
        pass  # an older kernel


def _process_of(thread: int) -> int:
    """0 if it is gone."""
    found = proc.read_proc(f"/proc/{thread}/status").partition(b"\nTgid:\t")[2].split(None, 1)[:1]
    return int(found[0]) if found else 0


def _still_waits(listener: int, number: int) -> bool:
    try:
        fcntl.ioctl(listener, _IS_VALID, struct.pack("=Q", number))
        return True
    except OSError:
        return False


def _raise(end: socket.socket) -> socket.socket:
    number = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
    end.close()
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=number)


def _ignore_gone(work: Callable[[], None]) -> None:
    try:
        work()
    except (ProcessLookupError, PermissionError):
        pass
