"""Rewrites the magics ``%time``, ``%timeit``, ``%%time`` and ``%%timeit`` into Python; timing.py runs them.

``%matplotlib`` is ignored, since figures are always shown. Other magics are refused by name. Line numbers do not change.
"""

import ast
import re
from typing import List, NamedTuple, Optional, Tuple

from .syntax_trees import TIMING
from .timing import RUNS

MAX_RUNS = 1_000_000
# Plain strings, compiled on first use: most sessions never need them.
_MAGIC = r"(?s)([ \t]*)(%%?)([^\W\d]\w*)(.*)"
_OPTION = r"-(?:([nr])\s*(\d+)|([a-zA-Z]\w*))(?=\s|\Z)\s*"
_KNOWN = "%time, %timeit, %%time and %%timeit"
_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Rewritten(NamedTuple):
    """``code`` replaces the lines of the magic. ``is_timed``: the rest of the cell is to be measured; ``is_whole``: the code
    replaces the rest of the cell too."""

    code: str
    is_timed: bool = False
    is_whole: bool = False


class Loops(NamedTuple):
    """The options of ``%timeit``. ``loops`` None: as many as are needed."""

    loops: Optional[int]
    runs: int
    quiet: bool


class Refused(Exception):
    """The reason and the place of the mistake: lines after the one of the magic, and characters in that line."""

    def __init__(self, reason: str, column: int = 0, line: int = 0) -> None:
        super().__init__(reason)
        self.column = column
        self.line = line


def is_continued(text: str) -> bool:
    """Whether the text of a magic may go on in the next lines, as code in open brackets does."""
    match = re.match(_MAGIC, text)
    return match is not None and match[2] == "%" and match[3] in ("time", "timeit")


def rewrite(text: str, body: Optional[str], filename: str, line: int) -> Rewritten:
    """``text`` is a magic that begins in this line, counted from 0. ``body`` is the rest of the cell; None if code comes before
    it. Raises Refused."""
    match = re.match(_MAGIC, text)
    if match is None:
        raise Refused("this is not a magic")
    indent, sign, name, rest = match[1], match[2], match[3], match[4]
    if name == "matplotlib":
        return Rewritten(f"{indent}pass")
    if name not in ("time", "timeit"):
        raise Refused(f"there is no magic {sign}{name} here, only {_KNOWN}; lines that start with ! run a command")
    before = len(text) - len(rest.lstrip())
    rest = rest.strip()
    if sign == "%":
        code = _time(rest, before, filename, line) if name == "time" else _timeit(rest, before, filename, line)
        return Rewritten(indent + code)
    if body is None or indent:
        raise Refused(f"%%{name} must be the first line of the code that it measures")
    if name == "time":
        if rest:
            raise Refused("%%time measures the lines that follow it: code in the same line needs %time", before)
        if not body.strip():
            raise Refused("%%time measures the lines that follow it, and there are none")
        return Rewritten("", is_timed=True)
    return _cell_timeit(rest, before, body, filename, line)


def _time(code: str, before: int, filename: str, line: int) -> str:
    if not code:
        raise Refused("%time needs code in the same line, as in %time sum(range(1000)); %%time measures a whole cell")
    expression = _as_expression(code)
    if expression is not None:
        return f"{TIMING}.end({TIMING}.start(), ({expression}))"
    _check(code, before)
    if _compiles(f"with x: {code}", "exec"):
        return f"with {TIMING}.measure(): {code}"
    return f"{TIMING}.run({code!r}, {filename!r}, {line})"


def _timeit(text: str, before: int, filename: str, line: int) -> str:
    options, code = _options(text, before)
    if not code:
        raise Refused("%timeit needs code in the same line, as in %timeit sum(range(1000)); %%timeit measures a whole cell")
    _check(code, before + len(text) - len(code))
    return _loop(code, "", filename, line, False, options)


def _cell_timeit(text: str, before: int, body: str, filename: str, line: int) -> Rewritten:
    options, setup = _options(text, before)
    _check(setup, before + len(text) - len(setup))
    if not body.strip():
        raise Refused("%%timeit measures the lines that follow it, and there are none")
    _check(body, 0, 1)
    return Rewritten(_loop(body, setup, filename, line, True, options), is_whole=True)


def _loop(code: str, setup: str, filename: str, line: int, is_cell: bool, options: Loops) -> str:
    arguments = (code, setup, filename, line, is_cell, *options)
    return f"{TIMING}.repeat({', '.join(map(repr, arguments))})"


def _options(text: str, before: int) -> Tuple[Loops, str]:
    """The options, and the code after them."""
    loops, runs, quiet, at = None, RUNS, False, 0
    for match in iter(lambda: re.compile(_OPTION).match(text, at), None):
        letter, number, other = match[1], match[2], match[3]
        if other == "q":
            quiet = True
        elif other in ("n", "r"):
            raise Refused(f"-{other} needs a whole number", before + at)
        elif other is not None:
            raise Refused(f"%timeit has no option -{other} here: it has -n LOOPS, -r RUNS and -q", before + at)
        elif not 0 < int(number) <= (MAX_RUNS if letter == "r" else 10**12):
            raise Refused(f"-{letter} {number} is out of range", before + at)
        elif letter == "n":
            loops = int(number)
        else:
            runs = int(number)
        at = match.end()
    return Loops(loops, runs, quiet), text[at:]


def _as_expression(code: str) -> Optional[str]:
    """The expression without a comment behind it; None for a statement, and for one whose value a semicolon hides."""
    ends = [len(code), *(match.start() for match in re.finditer("#", code))]
    candidates: List[str] = [code[:end] for end in ends]
    return next((one for one in candidates if _compiles(f"({one})", "eval")), None)


def _check(code: str, before: int, line: int = 0) -> None:
    """Code that begins so many lines after the magic, behind so many characters, must compile outside the loop too."""
    try:
        compile(code, "<magic>", "exec", _AWAIT)
    except SyntaxError as error:
        number, column = error.lineno or 1, (error.offset or 1) - 1
        raise Refused(error.msg, column + (before if number == 1 else 0), line + number - 1) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise Refused(str(error) or "the code is too complex", before, line) from None


def _compiles(code: str, mode: str) -> bool:
    try:
        compile(code, "<magic>", mode, _AWAIT)
        return True
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
