"""Interrupts in WebAssembly: the process writes the number of a signal into a buffer, and Python runs its handler between bytecodes.

There are two: SIGINT, and SIGUSR1 for messages that come while code runs and for the deadline of an inspection.
"""

import _signal
import sys
import threading
import time
from typing import Any, Callable, Optional, Tuple

from ..process.signals import SIGINT, Interrupts
from .devices import DEVICES

SIGUSR1 = int(_signal.SIGUSR1)
_monotonic = time.monotonic


class WasmInterrupts(Interrupts):
    """``on_message`` is called when messages have come, possibly in the midst of user code. It must not raise."""

    def __init__(self) -> None:
        self.on_message: Callable[[], None] = lambda: None
        self.armed = self.hit = self.missed = False
        self.count = 0
        self._swallowed = self._touched = self._foreign = self._shielded = self._is_put_off = False
        self._repeating = threading.Lock()
        self._user_mask = ()
        self._main = threading.get_ident()
        self._handler = self._on_sigint
        self._message_handler = self._on_sigusr1
        self._signal = _signal.signal
        self._is_handling = self._is_late = self._is_reminded = False
        self._deadline: Optional[float] = None

    def install(self) -> None:
        self._signal(SIGINT, self._handler)
        self._signal(SIGUSR1, self._message_handler)

        def set_handler(signalnum: int, handler: Any) -> Any:
            self._touched = True
            return self._signal(signalnum, handler)

        _signal.signal = set_handler
        sys.unraisablehook = self._on_unraisable

    def handle_messages(self) -> None:
        """Handles what has come. Never twice at a time: what comes meanwhile is handled by the first. Raises KeyboardInterrupt as the handler
        of SIGINT does if one has arrived meanwhile."""
        if self._is_handling:
            return
        self._is_handling = True
        try:
            self.on_message()
        finally:
            self._is_handling = False
        if self._is_late:
            self._is_late = False
            super()._on_sigint(SIGINT, None)

    def guard_until(self, deadline: float, step: Callable[..., Any], *args: Any) -> Tuple[Any, Optional[BaseException]]:
        """As ``guard``. Raises KeyboardInterrupt in the step at the deadline, a time of ``time.monotonic``, and again as long as the step
        catches it."""
        self._deadline = deadline
        DEVICES.tick("deadline", True)
        try:
            return self.guard(step, *args)
        finally:
            self._deadline = None
            DEVICES.tick("deadline", False)

    def _on_sigint(self, signum: int, frame: Any) -> None:
        if self._is_handling and self._deadline is None:  # in our own code, and not in an inspection
            self._is_late = True
            return
        self._is_late = False
        self.handle_messages()  # the buffer holds one number, and this one may have replaced the other
        super()._on_sigint(signum, frame)

    def _on_sigusr1(self, _signum: int, _frame: Any) -> None:
        self.handle_messages()
        if self._is_reminded:
            self._is_reminded = False
            DEVICES.tick("interrupt", False)
            if self._swallowed and self.armed:
                self._swallowed = False
                raise KeyboardInterrupt
        if self._deadline is not None and self.armed and _monotonic() >= self._deadline:
            raise KeyboardInterrupt

    def _on_unraisable(self, args: Any) -> None:
        """An interrupt that Python drops in ``__del__`` is raised again soon: not here, where Python would drop it as well."""
        if self.armed and args.exc_type is KeyboardInterrupt and (self.hit or self._deadline is not None):
            self._swallowed = self._is_reminded = True
            DEVICES.tick("interrupt", True)
        else:
            sys.__unraisablehook__(args)

    def _repair(self) -> None:
        for number, handler in ((SIGINT, self._handler), (SIGUSR1, self._message_handler)):
            if _signal.getsignal(number) is not handler:
                self._signal(number, handler)
        self._touched = False

    def _unshield(self) -> None:
        self._shielded = self._is_put_off = False

    def close(self) -> None:
        """There are no forks."""
