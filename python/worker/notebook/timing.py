"""Runs ``%time`` and ``%timeit``, whose lines magics.py has rewritten into calls of the builtin ``__rlm_timing__``.

The code runs here, so what is measured is Python and nothing of the host.
"""

import ast
import builtins
import gc
import math
import resource
import time
from contextlib import contextmanager
from itertools import repeat
from types import CodeType
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .syntax_trees import TIMING, hide_columns, loop_code

RUNS = 7
ENOUGH_SECONDS = 0.2  # a run is long enough to be measured
MAX_LOOPS = 1_000_000_000
SUSPICIOUS = 4  # the slowest run took so many times as long as the fastest
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
LONG_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
Started = Tuple[float, float, float]


def install(namespace: Callable[[], Dict[str, Any]]) -> None:
    """``namespace`` returns that of the session."""
    setattr(builtins, TIMING, Timing(namespace))


class Timing:
    def __init__(self, namespace: Callable[[], Dict[str, Any]]) -> None:
        self._namespace = namespace
        self._cell_started: Started = (0, 0, 0)

    def start(self) -> Started:
        user, system = _processor_seconds()
        return user, system, time.perf_counter()

    def end(self, started: Started, value: Any = None) -> Any:
        """Prints the times since ``started`` and returns the value, so that a call can stand around an expression."""
        wall = time.perf_counter() - started[2]
        user, system = (now - before for now, before in zip(_processor_seconds(), started))
        total = format_seconds(user + system)
        print(f"CPU times: user {format_seconds(user)}, sys: {format_seconds(system)}, total: {total}")
        print(f"Wall time: {format_seconds(wall)}")
        return value

    @contextmanager
    def measure(self) -> Iterator[None]:
        """For a statement."""
        started = self.start()
        yield
        self.end(started)

    def start_cell(self) -> None:
        self._cell_started = self.start()

    def end_cell(self, value: Any = None) -> Any:
        return self.end(self._cell_started, value)

    def run(self, source: str, filename: str, line: int) -> None:
        """For a statement that is a block."""
        tree = ast.parse("\n" * line + source, filename)
        hide_columns(tree, (line + 1,))
        code = compile(tree, filename, "exec")
        with self.measure():
            exec(code, self._namespace())

    def repeat(
        self,
        source: str,
        setup: str,
        filename: str,
        line: int,
        is_cell: bool,
        loops: Optional[int],
        runs: int,
        quiet: bool,
    ) -> None:
        """Runs the source in a loop, several times, and prints the mean time of one iteration.

        Names that it sets are local to the loop, as in IPython, and names of the session are global.
        """
        timed = self._timed(loop_code(source, setup, filename, line, is_cell))
        loops = _enough_loops(timed) if loops is None else loops
        seconds = [timed(loops) / loops for _ in range(runs)]
        if not quiet:
            print(describe_runs(seconds, loops))

    def _timed(self, code: CodeType) -> Callable[[int], float]:
        defined: Dict[str, Any] = {}
        exec(code, self._namespace(), defined)
        function = defined["timeit"]

        def timed(loops: int) -> float:
            """Without garbage collections, which would hit one run and not the next."""
            was_enabled = gc.isenabled()
            gc.disable()
            try:
                return function(repeat(None, loops), time.perf_counter)
            finally:
                if was_enabled:
                    gc.enable()

        return timed


def _enough_loops(timed: Callable[[int], float]) -> int:
    """1, 2, 5, 10, 20, 50, ...: until a run takes long enough."""
    scale = 1
    while True:
        for factor in (1, 2, 5):
            loops = scale * factor
            if timed(loops) >= ENOUGH_SECONDS or loops >= MAX_LOOPS:
                return loops
        scale *= 10


def describe_runs(seconds: List[float], loops: int) -> str:
    """As IPython prints it."""
    mean = math.fsum(seconds) / len(seconds)
    deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in seconds) / len(seconds))
    runs = f"{len(seconds)} run{'s' if len(seconds) > 1 else ''}"
    each = f"{loops:,} loop{'s' if loops > 1 else ''} each"
    text = f"{format_seconds(mean)} ± {format_seconds(deviation)} per loop (mean ± std. dev. of {runs}, {each})"
    slowest, fastest = max(seconds), min(seconds)
    if fastest <= 0 or slowest <= SUSPICIOUS * fastest:
        return text
    ratio = f"The slowest run took {slowest / fastest:.2f} times longer than the fastest."
    return f"{ratio} This could mean that an intermediate result is being cached.\n{text}"


def format_seconds(seconds: float) -> str:
    """With three digits and a unit: ``1.23 ms``; a minute and more as ``2min 5s``."""
    if seconds >= 60:
        parts = []
        left = int(seconds)
        for length, unit in LONG_UNITS:
            count, left = divmod(left, length)
            if count:
                parts.append(f"{count}{unit}")
        return " ".join(parts)
    scale, unit = next((pair for pair in UNITS if seconds >= pair[0]), UNITS[-1])
    number = seconds / scale
    return f"{number:.3g} {unit}" if number < 999.5 else f"{number:.0f} {unit}"


def _processor_seconds() -> Tuple[float, float]:
    """In user code and in the kernel, child processes included that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + children.ru_utime, own.ru_stime + children.ru_stime
