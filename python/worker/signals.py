"""Interrupts: SIGINT becomes a KeyboardInterrupt in user code, and nowhere else.

``guard`` is the only place where user code runs. Inside it SIGINT raises; outside it is ignored, so no interrupt can
break the worker's own steps. Handlers that user code installs for other signals may raise too: while any exist, all
other signals wait while no user code runs.
"""

import _signal
from typing import Any, Callable, Optional, Tuple

from .channel import ALL_SIGNALS

SIGINT = int(_signal.SIGINT)
OTHERS = ALL_SIGNALS - {SIGINT}


class Interrupts:
    """State of one worker. ``hit`` says that a SIGINT reached user code since it was last set to False."""

    def __init__(self) -> None:
        self.armed = False
        self.hit = False
        self._touched = False
        self._foreign = False
        self._user_mask: Any = ()
        self._shielded = False
        self._handler = self._on_sigint  # one object, so that it can be compared by identity
        self._signal = _signal.signal
        self._mask = _signal.pthread_sigmask

    def install(self) -> None:
        """Takes SIGINT, and learns from now on when user code changes handlers or the mask."""
        _signal.signal(SIGINT, self._handler)

        def set_handler(signalnum: int, handler: Any) -> Any:
            self._touched = True
            return self._signal(signalnum, handler)

        def set_mask(how: int, mask: Any) -> Any:
            self._touched = True
            return self._mask(how, mask)

        _signal.signal, _signal.pthread_sigmask = set_handler, set_mask

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
                    if self._touched or self._foreign:
                        self._repair()
                    return result, None
                except BaseException as error:
                    self.armed = False
                    failure = error
                    if self._touched or self._foreign:
                        self._repair()
            except BaseException as error:
                self.armed = False
                failure = error
        except BaseException as error:
            self.armed = False
            failure = error
        return None, failure

    def _on_sigint(self, _signum: int, _frame: Any) -> None:
        if self.armed:
            self.hit = True
            raise KeyboardInterrupt

    def _repair(self) -> None:
        """SIGINT is ours again; signals with handlers of the user's wait for the next execution."""
        self._touched = False
        if _signal.getsignal(SIGINT) is not self._handler:
            self._signal(SIGINT, self._handler)
        self._foreign = any(callable(_signal.getsignal(number)) for number in OTHERS)
        if not self._foreign:
            self._mask(_signal.SIG_UNBLOCK, (SIGINT,))
            return
        self._user_mask = self._mask(_signal.SIG_BLOCK, OTHERS) - {SIGINT}
        self._mask(_signal.SIG_UNBLOCK, (SIGINT,))
        self._shielded = True

    def _unshield(self) -> None:
        self._shielded = False
        self._mask(_signal.SIG_SETMASK, self._user_mask)
