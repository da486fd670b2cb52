"""The source of a function, class or module, also of one that a cell defined. Must run in a fork, because looking at objects runs user
code.

The source of cells is what ``linecache`` has of them (cells.py keeps the last ones there).
"""

import linecache
import re
from functools import partial
from types import ModuleType
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .completion import Unknown, evaluate

MAX_SOURCE = 50_000
MAX_FILE = 1_000
CELLS = ("<cell ", "<block ")  # as in cells.py

Found = Tuple[List[str], int, Optional[str]]


def source(namespace: Dict[str, Any], name: str) -> Dict[str, Any]:
    """``name`` may have dots. ``source`` is None if there is no such name or no source of it."""
    try:
        lines, line, file = _find(evaluate(name, namespace))
    except (Unknown, OSError, TypeError, IndexError, SyntaxError):
        return {"source": None}
    text = "".join(lines).rstrip("\n")
    shown = {"text": text[:MAX_SOURCE], "total": len(text), "line": max(1, line), "file": (file or "")[:MAX_FILE]}
    return {"source": shown}


def _find(value: Any) -> Found:
    import inspect

    value = _inner(value)
    if isinstance(value, type):
        found = _class_in_cells(value)
        if found is not None:
            return found
    elif not isinstance(value, ModuleType) and getattr(value, "__code__", None) is None and not inspect.ismethod(value):
        raise TypeError("not a function, class or module")
    lines, line = inspect.getsourcelines(value)
    return lines, line, inspect.getsourcefile(value)


def _inner(value: Any) -> Any:
    """What a decorator, a property or a partial application stands for."""
    import inspect

    if isinstance(value, property):
        value = value.fget
    if isinstance(value, partial):
        value = value.func
    return inspect.unwrap(value) if callable(value) else value


def _class_in_cells(kind: type) -> Optional[Found]:
    """``inspect`` finds classes through the file of their module, which a session does not have."""
    import inspect

    if kind.__module__ != "__main__":
        return None
    starts = re.compile(rf"[ \t]*class[ \t]+{re.escape(kind.__name__)}\b").match
    for file in _files_of(kind):
        lines = linecache.getlines(file)
        for index in reversed(range(len(lines))):
            if starts(lines[index]):
                while index and lines[index - 1].lstrip().startswith("@"):
                    index -= 1
                return inspect.getblock(lines[index:]), index + 1, file
    return None


def _files_of(kind: type) -> Iterator[str]:
    """Where its methods are; then all cells, the newest first."""
    for member in vars(kind).values():
        code = getattr(_inner(member), "__code__", None)
        if code is not None:
            yield code.co_filename
    cells = [name for name in list(linecache.cache) if name.startswith(CELLS)]
    yield from sorted(cells, key=lambda name: int(re.sub(r"\D", "", name) or 0), reverse=True)
