"""Cells: source text to code objects, the last expression split off.

A cell is compiled under the name ``<cell N>``, and its source is kept in ``linecache`` within a bound, so that
tracebacks show lines. ``from __future__`` imports stay in force for later cells, as at a prompt.
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

from .shell_lines import recover

FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag

AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
COROUTINE = 0x80  # inspect.CO_COROUTINE; inspect is slow to import
SHORT = 100  # below this many characters the syntax tree is cheap enough
MAX_CACHED = 256
MAX_CACHED_SOURCE = 4096
MAX_LINES_CELLS = 256
MAX_LINES_CHARACTERS = 1 << 20
ASSIGNMENT = re.compile(r"[\w.]+\s*[-+*/%&|^@]?=(?!=)").match  # surely no expression
MAX_CHECKED = 1 << 20  # a longer source is never called incomplete: checking means compiling it again


class Cell:
    """``body`` runs first, then the value of ``last`` is the value of the cell; either may be absent."""

    __slots__ = ("body", "last", "awaits", "filename")

    def __init__(self, body: Optional[CodeType], last: Optional[CodeType], filename: str) -> None:
        self.body = body
        self.last = last
        self.awaits = bool(((body.co_flags if body else 0) | (last.co_flags if last else 0)) & COROUTINE)
        self.filename = filename


class Compiler:
    """Compiles the cells of one session."""

    def __init__(self) -> None:
        self.flags = 0
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
        # Functions carry the name of the cell that defined them, so a cell that defines any is compiled anew.
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
        """As it is; where that is no Python, as what it was meant to be (shell_lines.py)."""
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
        return self._split_tree(recovered.source, filename)

    def _split_tree(self, source: str, filename: str) -> Cell:
        flags = self.flags | AWAIT
        tree: Any = compile(source, filename, "exec", flags | ast.PyCF_ONLY_AST, True)
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
        """A line without a semicolon is an expression, or there is none to split off. Stars are the exception: ``*a, b``
        has a value, and is no expression by itself."""
        flags = self.flags | AWAIT
        if ASSIGNMENT(source) is None:
            try:
                return Cell(None, compile(source, filename, "eval", flags, True), filename)
            except SyntaxError:
                pass  # what follows is no part of handling it, or a mistake would be told twice
            if "*" in source:
                return self._split_tree(source, filename)
        return Cell(compile(source, filename, "exec", flags, True), None, filename)

    def _split_text(self, source: str, filename: str) -> Optional[Cell]:
        """Splits a longer cell without a syntax tree, at half the cost; None where that is not certain to be right.

        When the last line begins in column 0 and is an expression, and all before it is whole by itself, then the
        two parts are the cell: an open bracket, string, block header or backslash would make the first part fail.
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
        if size > MAX_LINES_CHARACTERS:
            return
        lines = [line + "\n" for line in source.split("\n")]
        linecache.cache[filename] = (size, None, lines, filename)
        self._kept.append((filename, size))
        self._kept_characters += size
        while len(self._kept) > MAX_LINES_CELLS or self._kept_characters > MAX_LINES_CHARACTERS:
            old, old_size = self._kept.popleft()
            self._kept_characters -= old_size
            if old != filename:
                linecache.cache.pop(old, None)


def _is_one_line(source: str) -> bool:
    """And begins in column 0: before an expression alone, blanks are no mistake."""
    return not source[:1].isspace() and not any(mark in source for mark in "\n\r\f;")


def _has_code(code: Optional[CodeType]) -> bool:
    return code is not None and any(isinstance(constant, CodeType) for constant in code.co_consts)


def _ends_in_semicolon(source: str) -> bool:
    """How people who know IPython say that they do not want to see a value."""
    return source.rstrip().endswith(";") and "#" not in source.rstrip().rpartition("\n")[2]


def _ends_in_backslash(source: str) -> bool:
    return source.rstrip("\n").endswith("\\") and "#" not in source.rpartition("\n")[2]
