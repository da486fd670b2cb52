"""Interrupts: SIGINT becomes a KeyboardInterrupt in user code, and nowhere else.

``guard`` is the only place where user code runs. Inside it SIGINT raises; outside it is ignored, so no interrupt can
break the worker's own steps. Handlers that user code installs for other signals may raise too: while any exist, all
other signals are blocked whenever no user code runs.
"""

import _signal
import os
import sys
import threading
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Tuple

from ..io.channel import ALL_SIGNALS
from ..io.descriptors import open_private_pipe, renew_private_pipe

SIGINT = int(_signal.SIGINT)
OTHERS = ALL_SIGNALS - {SIGINT}


class Interrupts:
    """``hit``: a SIGINT reached user code since it was last set to False. ``missed``: one arrived while no user code ran, since it was
    last set to False. ``count``: the SIGINTs whose handler has run.
    ``wake_fd`` becomes readable when any signal arrives."""

    def __init__(self) -> None:
        self.armed = False
        self.hit = False
        self.missed = False
        self.count = 0
        self.wake_fd, self._wakeup = open_private_pipe()
        self._swallowed = False
        self._repeating = threading.Lock()
        self._touched = False
        self._foreign = False
        self._user_mask: Any = ()
        self._shielded = False
        self._is_put_off = False
        self._main = threading.main_thread().ident
        self._handler = self._on_sigint  # one object, so that it can be compared by identity
        self._signal = _signal.signal
        self._mask = _signal.pthread_sigmask

    def install(self) -> None:
        """Installs the SIGINT handler, and wraps the functions by which user code changes handlers or the mask."""
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
        """Calls ``step`` as user code. Returns its result or its exception; never raises.

        A signal may arrive after the step and before ``armed`` is False, even during the handler of an earlier one.
        Hence the three levels: an exception raised around the boundary counts as raised by the step.
        """
        failure: Optional[BaseException] = None
        with self._repeating:
            self._swallowed = False
        try:
            try:
                try:
                    self.armed = True
                    if self._shielded:
                        self._unshield()
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
            failure = None  # its traceback refers to this frame: the cycle would keep alive objects of user code

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """A SIGINT that arrives meanwhile, or before the next user code, is raised there, unless ``forget`` is called before."""
        self._user_mask = self._mask(_signal.SIG_BLOCK, (SIGINT,))
        yield
        self._shielded = self._is_put_off = True

    def forget(self) -> None:
        """Ignores a SIGINT that was put off."""
        if self._is_put_off:
            self._unshield()

    def repeat_missed(self, count: int) -> int:
        """Sends SIGINT again if it had no effect. Called by the listener when ``wake_fd`` is readable, with the last result.

        A signal that arrives just before a blocking system call is recorded by Python but does not interrupt the call.
        If ``count`` has not changed after a moment, that has happened, and the signal is repeated until it changes.
        """
        arrived = False
        for wait_ms in (4, 8, 16, 32, 64, 128, 256, 512):
            time.sleep(wait_ms / 1000)
            now = self.count  # read before the pipe is emptied: signals in it may not be counted yet
            arrived = SIGINT in self._signals() or arrived  # also empties the pipe of repeats, or they would be repeated, too
            is_missed = arrived and now == count
            if is_missed or self._swallowed:
                self._repeat(count)
            if not is_missed:
                return now
        return self.count

    def _repeat(self, count: int) -> None:
        """Sends SIGINT unless it has had its effect by now. ``guard`` takes the lock before it arms: a signal that is sent
        late arrives before the next user code, never in it."""
        with self._repeating:
            if self._swallowed or self.count == count:
                self._swallowed = False
                _signal.pthread_kill(self._main, SIGINT)

    def _signals(self) -> bytes:
        try:
            return os.read(self.wake_fd, 65536)
        except BlockingIOError:
            return b""

    @property
    def fds(self) -> Tuple[int, int]:
        return self.wake_fd, self._wakeup

    def renew(self) -> None:
        """For a copy of the process."""
        renew_private_pipe(self.fds)

    def close(self) -> None:
        """For the child of a fork."""
        self._repeating = threading.Lock()  # the listener, which does not exist here, may have held the other one
        _signal.set_wakeup_fd(-1)
        os.close(self.wake_fd)
        os.close(self._wakeup)

    def _on_sigint(self, _signum: int, _frame: Any) -> None:
        self.count += 1
        if self.armed:
            self.hit = True
            raise KeyboardInterrupt
        self.missed = True

    def guard_next(self, step: Callable[..., Any], *args: Any) -> Tuple[Any, Optional[BaseException]]:
        """As ``guard``, for a further step of the same execution: a SIGINT that arrived between the steps is raised in this one."""
        def next_step() -> Any:
            if self.missed and not self.hit:
                self.hit = True
                raise KeyboardInterrupt
            return step(*args)

        return self.guard(next_step)

    def _on_unraisable(self, args: Any) -> None:
        """Python drops exceptions in ``__del__`` and weakref callbacks. An interrupt that was dropped there is repeated."""
        if self.armed and self.hit and args.exc_type is KeyboardInterrupt and threading.get_ident() == self._main:
            self._swallowed = True
            os.write(self._wakeup, b"\0")
        else:
            sys.__unraisablehook__(args)

    def _settle(self) -> None:
        """After user code: takes SIGINT back, and blocks other signals if user code has handlers for any."""
        for _ in range(100):
            try:
                self._repair()
                return
            except BaseException:
                pass  # a handler of user code raised here; signals blocked so far stay blocked

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
        self._shielded = self._is_put_off = False
        self._mask(_signal.SIG_SETMASK, self._user_mask)
