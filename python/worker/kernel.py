"""Runs cells in one namespace, the real ``__main__`` module. Knows nothing of pipes and messages.

``run`` never raises: whatever user code does becomes an Outcome, and the namespace keeps what was set before an error.
"""

import builtins
import os
import sys
from types import FunctionType, ModuleType
from typing import Any, Callable, Dict, Optional

from .cells import COROUTINE, FUTURES, Cell, Compiler
from .display.display import Displays
from .display.figures import PYLAB
from .display.mime_bundles import PLAIN, Presented
from .event_loop import EventLoop
from .notebook.results import Results
from .outcome import DONE, Outcome
from .process.signals import Interrupts
from .report import error_of, plain_error

_modules = sys.modules
_builtins = builtins.__dict__
MAX_CHAIN = 1000
INTERRUPTED = {"name": "KeyboardInterrupt", "value": "", "traceback": ""}


class Kernel:
    """``finish`` is called at the end of every execution, as part of it: it flushes streams that user code may have replaced."""

    def __init__(self, interrupts: Interrupts, finish: Callable[[], None], displays: Displays) -> None:
        self.module = ModuleType("__main__")
        self._interrupts = interrupts
        self._finish = finish
        self._displays = displays
        self._compiler = Compiler()
        self._loop = EventLoop()
        self._renames: Dict[str, str] = {}
        self._results = Results()
        self.keeps_results = False  # whether the code and its value are kept in In and Out
        self._initialise()

    def run(self, source: str, count: int, name: Optional[str] = None) -> Outcome:
        """Compiles and runs one cell. ``name`` replaces ``<cell N>`` as its file name in tracebacks."""
        interrupts = self._interrupts
        interrupts.hit = interrupts.missed = False
        text, error = interrupts.guard(self._run, source, count, name)
        if error is None and not interrupts.hit:
            return DONE if text is None else Outcome("ok", value=text[0], total=text[1], rich=text[2])
        try:
            return self._failed(error, source)
        finally:
            error = None  # breaks the reference cycle through the traceback: see guard

    @property
    def future_flags(self) -> int:
        """Compiler flags of the ``from __future__`` imports so far, which apply to later cells."""
        return self._compiler.flags

    @future_flags.setter
    def future_flags(self, flags: int) -> None:
        self._compiler.flags = flags & FUTURES

    def reset(self) -> None:
        """Empties the namespace; the module stays the same object."""
        self._loop.close()
        self._compiler.reset()
        self.module.__dict__.clear()
        _builtins.pop("_", None)
        self._results.clear()
        self._initialise()

    def renew(self) -> None:
        """For a copy of the process."""
        self._loop.renew()

    def _run(self, source: str, count: int, name: Optional[str]) -> Optional[Presented]:
        try:
            cell = self._compiler.compile(source, count, name)
            if name is not None and name[:1] != "<":
                self._namespace["__file__"] = name
            if self._renames:
                self._renames.clear()
            if name is None and cell.filename[6:-1] != str(count):
                self._renames[cell.filename] = f"<cell {count}>"
            if self.keeps_results:
                self._results.add_input(count, source)
            value = None
            if cell.awaits:
                value = self._loop.run(self._run_async(cell))
            else:
                if cell.body is not None:
                    exec(cell.body, self._namespace)
                if cell.last is not None:
                    value = eval(cell.last, self._namespace)
            if value is None:
                return None
            _builtins["_"] = value  # as at a Python prompt; a variable named _ hides it
            displays = self._displays
            presented = (*displays.text_of(value), None) if type(value) in PLAIN else displays.value(value)
            if self.keeps_results:
                self._results.add_output(count, value)
            return presented
        finally:
            if sys.gettrace() is not None:
                sys.settrace(None)
            if sys.getprofile() is not None:
                sys.setprofile(None)
            try:
                if PYLAB in _modules:
                    self._displays.end_cell()
            finally:
                self._finish()

    async def _run_async(self, cell: Cell) -> Any:
        """Runs both parts in one asyncio task, so that the last line can await what the body created."""
        value = None
        for code in (cell.body, cell.last):
            if code is not None:
                value = eval(code, self._namespace)
                if code.co_flags & COROUTINE:
                    value = await value
        return value if cell.last is not None else None

    def _failed(self, error: Optional[BaseException], source: str) -> Outcome:
        interrupts = self._interrupts
        if error is None:
            return Outcome("interrupted", error=INTERRUPTED)
        if isinstance(error, SystemExit) and not interrupts.hit:
            code, failure = interrupts.guard_next(_exit_code, error)
            if failure is None:
                return Outcome("exit", exit_code=code)
        if interrupts.hit:
            _drop_user_messages(error)
        described, failure = interrupts.guard_next(error_of, error, self._renames)
        if failure is not None:
            described = plain_error(error)
        if interrupts.hit:
            return Outcome("interrupted", error=described)
        incomplete = False
        if isinstance(error, SyntaxError) and _is_from_cell(error):
            incomplete = bool(interrupts.guard_next(self._compiler.is_incomplete, source)[0])
        return Outcome("error", error=described, incomplete=incomplete)

    def _initialise(self) -> None:
        sys.modules["__main__"] = self.module
        self._namespace = self.module.__dict__
        self._namespace.update(
            __name__="__main__", __doc__=None, __package__=None, __loader__=None, __spec__=None, __builtins__=builtins
        )


def _drop_user_messages(error: BaseException) -> None:
    """An interrupt may arrive while another exception is handled, whose message would run user code. No second interrupt would end
    that."""
    for _ in range(MAX_CHAIN):
        context = error.__context__
        if context is None:
            return
        if type(type(context).__str__) is FunctionType:
            error.__context__ = None
            return
        error = context


def _is_from_cell(error: SyntaxError) -> bool:
    """Whether compiling the cell raised it, not code that ran: the innermost frame is the compiler's."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and last.tb_frame.f_globals.get("__name__") == Compiler.__module__


def _exit_code(error: SystemExit) -> int:
    """The exit code of a process that raised it. A message is printed to stderr, as Python does."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return int.__and__(code, 0xFF)
    print(code, file=sys.stderr)
    return 1
