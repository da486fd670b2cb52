"""Interrupts: SIGINT becomes a KeyboardInterrupt in user code, and nowhere else.

``guard`` is the only place where user code runs. Inside it SIGINT raises; outside it is ignored, so no interrupt can
break the worker's own steps. Handlers that user code installs for other signals may raise too: while any exist, all
other signals wait while no user code runs.
"""

import _signal
import os
import sys
import threading
import time
from typing import Any, Callable, Optional, Tuple

from ..io.channel import ALL_SIGNALS
from ..io.descriptors import open_private_pipe

SIGINT = int(_signal.SIGINT)
OTHERS = ALL_SIGNALS - {SIGINT}


class Interrupts:
    """State of one worker. ``hit`` says that a SIGINT reached user code since it was last set to False; ``count`` is
    the number of SIGINTs that Python has taken notice of, and ``wake_fd`` becomes readable when any signal comes."""

    def __init__(self) -> None:
        self.armed = False
        self.hit = False
        self.count = 0
        self.wake_fd, self._wakeup = open_private_pipe()
        self._swallowed = False
        self._touched = False
        self._foreign = False
        self._user_mask: Any = ()
        self._shielded = False
        self._main = threading.main_thread().ident
        self._handler = self._on_sigint  # one object, so that it can be compared by identity
        self._signal = _signal.signal
        self._mask = _signal.pthread_sigmask

    def install(self) -> None:
        """Takes SIGINT, and learns from now on when user code changes handlers or the mask."""
        _signal.signal(SIGINT, self._handler)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (SIGINT,))
        _signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)

        def set_handler(signalnum: int, handler: Any) -> Any:
            self._touched = True
            return self._signal(signalnum, handler)

        def set_mask(how: int, mask: Any) -> Any:
            self._touched = True
            return self._mask(how, mask)

        _signal.signal, _signal.pthread_sigmask = set_handler, set_mask
        sys.unraisablehook = self._on_unraisable

    def guard(self, step: Callable[..., Any], *args: Any) -> Tuple[Any, Optional[BaseException]]:
        """Calls the step as user code. Returns its result, or what it raised; never raises.

        A signal may strike after the step and before ``armed`` is False, even in the handler of an earlier one,
        hence the three levels: whatever is raised around the boundary belongs to the step.
        """
        failure: Optional[BaseException] = None
        try:
            try:
                try:
                    if self._shielded:
                        self._unshield()
                    self.armed = True
                    result = step(*args)
                    self.armed = False
                except BaseException as error:
                    self.armed = False
                    failure = error
                if self._touched or self._foreign:
                    self._settle()
                if failure is None:
                    return result, None
            except BaseException as error:
                self.armed = False
                failure = error
                if self._touched or self._foreign:
                    self._settle()
        except BaseException as error:
            self.armed = False
            failure = error
            if self._touched or self._foreign:
                self._settle()
        try:
            return None, failure
        finally:
            failure = None  # its traceback holds this frame: a cycle would keep alive what user code let go

    def missed(self, count: int) -> int:
        """Called by the listener when ``wake_fd`` is readable, with what this returned the last time.

        A signal that comes in the last instant before a system call is noted by Python but does not end the call. When
        ``count`` has not moved after a moment that has happened, and the main thread is nudged until it has.
        """
        came = False
        for wait_ms in (4, 8, 16, 32, 64, 128, 256, 512):
            time.sleep(wait_ms / 1000)
            if self._swallowed:
                self._swallowed = False
                _signal.pthread_kill(self._main, SIGINT)
            now = self.count  # before the pipe is emptied: signals left in it have not been counted yet
            came = came or SIGINT in self._signals()
            if now != count or not came:
                return now
            _signal.pthread_kill(self._main, SIGINT)
        return self.count

    def _signals(self) -> bytes:
        try:
            return os.read(self.wake_fd, 65536)
        except BlockingIOError:
            return b""

    @property
    def fds(self) -> Tuple[int, int]:
        return self.wake_fd, self._wakeup

    def renew(self) -> None:
        """For a copy of the process: a wake-up pipe of its own, under the same numbers."""
        pair = open_private_pipe()
        for new, old in zip(pair, self.fds):
            os.dup2(new, old, False)
            os.close(new)

    def close(self) -> None:
        """For the child of a fork."""
        _signal.set_wakeup_fd(-1)
        os.close(self.wake_fd)
        os.close(self._wakeup)

    def _on_sigint(self, _signum: int, _frame: Any) -> None:
        self.count += 1
        if self.armed:
            self.hit = True
            raise KeyboardInterrupt

    def _on_unraisable(self, args: Any) -> None:
        """Python drops what is raised in a ``__del__`` or a weakref callback; an interrupt dropped there is repeated."""
        if self.armed and self.hit and args.exc_type is KeyboardInterrupt and threading.get_ident() == self._main:
            self._swallowed = True
            os.write(self._wakeup, b"\0")
        else:
            sys.__unraisablehook__(args)

    def _settle(self) -> None:
        """SIGINT is ours again; other signals wait for user code where it has handlers for any."""
        for _ in range(100):
            try:
                self._repair()
                return
            except BaseException:
                pass  # a handler of the user's raised here; what is blocked by now stays so

    def _repair(self) -> None:
        if not self._shielded:
            self._user_mask = self._mask(_signal.SIG_BLOCK, ()) - {SIGINT}
            self._shielded = True
        self._mask(_signal.SIG_BLOCK, OTHERS)
        if _signal.getsignal(SIGINT) is not self._handler:
            self._signal(SIGINT, self._handler)
        self._mask(_signal.SIG_UNBLOCK, (SIGINT,))
        _signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)
        self._foreign = any(callable(_signal.getsignal(number)) for number in OTHERS)
        self._touched = False
        if not self._foreign:
            self._unshield()

    def _unshield(self) -> None:
        self._shielded = False
        self._mask(_signal.SIG_SETMASK, self._user_mask)
