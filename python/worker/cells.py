"""Compiles cells: source text becomes code objects, with the last expression split off.

A cell is compiled under the file name ``<cell N>``. Its source is kept in ``linecache`` up to a limit, so that
tracebacks show lines. ``from __future__`` imports apply to later cells too, as at a Python prompt.
"""

import __future__
import ast
import codeop
import linecache
import re
import warnings
from collections import deque
from types import CodeType
from typing import Any, Deque, Dict, Optional, Tuple

from .notebook.syntax_trees import hide_columns, measure_cell
from .shell_lines import Recovered, recover

CELLS = ("<cell ", "<block ")  # how the names begin; blocks are the cells of recursive runs
FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag

AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
COROUTINE = 0x80  # inspect.CO_COROUTINE; inspect is slow to import
SHORT = 100  # characters; below that, splitting by syntax tree is cheap enough
MAX_CACHED = 256
MAX_CACHED_SOURCE = 4096
MAX_KEPT_CELLS = 256
MAX_KEPT_CHARACTERS = 1 << 20
ASSIGNMENT = re.compile(r"[\w.]+\s*[-+*/%&|^@]?=(?!=)").match  # matches only what is certainly not an expression
MAX_CHECKED = 1 << 20  # a longer source is never reported as incomplete: the check compiles it again


class Cell:
    """``body`` runs first; the value of ``last`` is the value of the cell. Either may be absent."""

    __slots__ = ("body", "last", "awaits", "filename")

    def __init__(self, body: Optional[CodeType], last: Optional[CodeType], filename: str) -> None:
        self.body = body
        self.last = last
        self.awaits = bool(((body.co_flags if body else 0) | (last.co_flags if last else 0)) & COROUTINE)
        self.filename = filename


class Compiler:
    """Compiles the cells of one session. ``keeps_sources``: in ``linecache``."""

    def __init__(self, keeps_sources: bool = True) -> None:
        self.flags = 0
        self._keeps_sources = keeps_sources
        self._cache: Dict[Tuple[str, int], Cell] = {}
        self._kept: Deque[Tuple[str, int]] = deque()
        self._kept_characters = 0

    def compile(self, source: str, count: int, name: Optional[str] = None) -> Cell:
        """Raises what ``compile`` raises: SyntaxError, ValueError, MemoryError, RecursionError, UnicodeError."""
        key = (source, self.flags)
        cell = self._cache.get(key)
        if cell is not None and name is None:
            return cell
        filename = name or f"<cell {count}>"
        cell = self._build(source, filename)
        if cell.body is not None:
            self.flags |= cell.body.co_flags & FUTURES
        # Functions carry the file name of their cell, so a cell that defines any is never cached.
        if name is None and len(source) <= MAX_CACHED_SOURCE and not _has_code(cell.body) and not _has_code(cell.last):
            if len(self._cache) >= MAX_CACHED:
                del self._cache[next(iter(self._cache))]
            self._cache[key] = cell
        return cell

    def is_incomplete(self, source: str) -> bool:
        """Whether a source that failed to compile ends in the middle of a statement."""
        if len(source) > MAX_CHECKED:
            return False
        recovered = recover(source, "<cell>")
        if recovered is not None:
            source = recovered.source
        compiler = codeop.CommandCompiler()
        compiler.compiler.flags |= self.flags | AWAIT
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return compiler(source, "<cell>", "exec") is None
            except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
                return _ends_in_backslash(source)

    def reset(self) -> None:
        self.flags = 0
        self._cache.clear()

    def _build(self, source: str, filename: str) -> Cell:
        """Compiles the source; if it is not Python, tries again with shell lines rewritten (shell_lines.py)."""
        self._keep(filename, source)
        try:
            if _is_one_line(source):
                return self._compile_line(source, filename)
            return self._split_text(source, filename) or self._split_tree(source, filename)
        except SyntaxError:
            recovered = recover(source, filename)
            if recovered is None:
                raise
        if recovered.refusal is not None:
            raise recovered.refusal
        self._keep(filename, recovered.shown)
        return self._split_tree(recovered.source, filename, recovered)

    def _split_tree(self, source: str, filename: str, recovered: Optional[Recovered] = None) -> Cell:
        flags = self.flags | AWAIT
        tree: Any = compile(source, filename, "exec", flags | ast.PyCF_ONLY_AST, True)
        if recovered is not None:
            hide_columns(tree, recovered.changed)
            if recovered.is_timed:
                measure_cell(tree)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not _ends_in_semicolon(source):
            last = ast.Expression(tree.body.pop().value)
        body = compile(tree, filename, "exec", flags, True) if tree.body else None
        if last is None:
            return Cell(body, None, filename)
        if body is not None:
            flags |= body.co_flags & FUTURES
        return Cell(body, compile(last, filename, "eval", flags, True), filename)

    def _compile_line(self, source: str, filename: str) -> Cell:
        """A line without a semicolon is either one expression or has none to split off. The exception is ``*a, b``, which has
        a value although it does not compile as an expression."""
        flags = self.flags | AWAIT
        if ASSIGNMENT(source) is None:
            try:
                return Cell(None, compile(source, filename, "eval", flags, True), filename)
            except SyntaxError:
                pass  # compiled again outside the handler, or the traceback would show both errors
            if "*" in source:
                return self._split_tree(source, filename)
        return Cell(compile(source, filename, "exec", flags, True), None, filename)

    def _split_text(self, source: str, filename: str) -> Optional[Cell]:
        """Splits a longer cell without a syntax tree, at half the cost; None if that is not certain to be correct.

        It is correct if the last line starts in column 0 and is an expression, and everything before it compiles by
        itself: an open bracket, string, block header or backslash would make the first part fail.
        """
        if len(source) < SHORT or "\r" in source or "\f" in source:
            return None
        text = source.rstrip("\n ")
        start = text.rfind("\n") + 1
        line = text[start:]
        if not start or line[:1] in " \t#@)]}" or source.endswith("\\\n", 0, start):
            return None
        flags = self.flags | AWAIT
        line = "\n" * source.count("\n", 0, start) + line
        try:
            last = compile(line, filename, "eval", flags, True)
            body = compile(source[:start], filename, "exec", flags, True)
            if body.co_flags & FUTURES & ~flags:
                last = compile(line, filename, "eval", flags | body.co_flags & FUTURES, True)
            return Cell(body, last, filename)
        except (SyntaxError, ValueError):
            return None

    def _keep(self, filename: str, source: str) -> None:
        size = len(source)
        if size > MAX_KEPT_CHARACTERS or not self._keeps_sources:
            return
        lines = [line + "\n" for line in source.split("\n")]
        linecache.cache[filename] = (size, None, lines, filename)
        self._kept.append((filename, size))
        self._kept_characters += size
        while len(self._kept) > MAX_KEPT_CELLS or self._kept_characters > MAX_KEPT_CHARACTERS:
            old, old_size = self._kept.popleft()
            self._kept_characters -= old_size
            if old != filename:
                linecache.cache.pop(old, None)


def _is_one_line(source: str) -> bool:
    """Also requires column 0: ``eval`` mode would accept leading blanks, which are an error in a cell."""
    return not source[:1].isspace() and not any(mark in source for mark in "\n\r\f;")


def _has_code(code: Optional[CodeType]) -> bool:
    return code is not None and any(isinstance(constant, CodeType) for constant in code.co_consts)


def _ends_in_semicolon(source: str) -> bool:
    """A trailing semicolon hides the value, as in IPython."""
    return source.rstrip().endswith(";") and "#" not in source.rstrip().rpartition("\n")[2]


def _ends_in_backslash(source: str) -> bool:
    return source.rstrip("\n").endswith("\\") and "#" not in source.rpartition("\n")[2]
