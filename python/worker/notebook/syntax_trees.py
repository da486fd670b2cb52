"""Changes syntax trees of cells with magics: to measure a whole cell, to run code in a loop, and to hide columns."""

import ast
from types import CodeType
from typing import Any, Collection

TIMING = "__rlm_timing__"  # a builtin: see timing.py
WHOLE_LINE = 10_000  # a column beyond the end of most lines
# Its names are not those of users: what the code reads must not be a local variable of this function.
LOOP = """\
def timeit(__rlm_iterations__, __rlm_timer__):
    __rlm_start__ = __rlm_timer__()
    for __rlm_iteration__ in __rlm_iterations__:
        pass
    return __rlm_timer__() - __rlm_start__
"""


def measure_cell(tree: Any) -> None:
    """Changes a module so that it measures itself. The value of its last expression stays the same."""
    start, end = (ast.parse(f"{TIMING}.{name}()").body[0] for name in ("start_cell", "end_cell"))
    first = 0
    while first < len(tree.body) and getattr(tree.body[first], "module", None) == "__future__":
        first += 1
    last = tree.body[-1] if tree.body[first:] else None
    if isinstance(last, ast.Expr):
        end.value.args.append(last.value)
        last.value = ast.copy_location(end.value, last.value)
    else:
        tree.body.append(end)
    tree.body.insert(first, start)
    ast.fix_missing_locations(tree)


def loop_code(source: str, setup: str, filename: str, line: int, is_cell: bool) -> CodeType:
    """Defines the function ``timeit``, which runs the source in a loop. ``line``: that of the magic, counted from 0, whose code is in the
    same line or, for a cell, in the lines after it."""
    tree = ast.parse(LOOP, filename)
    function: Any = tree.body[0]
    start, loop, end = function.body
    loop.body = ast.parse("\n" * (line + is_cell) + source, filename).body
    function.body = [*ast.parse("\n" * line + setup, filename).body, start, loop, end]
    hide_columns(tree, (line + 1,))
    return compile(ast.fix_missing_locations(tree), filename, "exec")


def hide_columns(tree: Any, lines: Collection[int]) -> None:
    """In lines that were rewritten, a traceback would mark the wrong columns. It marks none for a node that fills its line."""
    for node in ast.walk(tree):
        if getattr(node, "lineno", None) in lines:
            node.col_offset, node.end_lineno, node.end_col_offset = 0, node.lineno, WHOLE_LINE
