"""Notebook syntax that is not Python: ``!command``, ``x = !command``, magics, and cells that are indented as a whole.

It is looked for only in source that does not compile, and only at the start of a statement, so no string or expression
is ever taken for a command. Line numbers do not change.

Session files refer to ``Lines`` by the name of this module.
"""

import builtins
import os
import re
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from .notebook import magics

RUNNER = "__rlm_shell__"  # a builtin
MAX_SOURCE = 1 << 20  # longer source is not examined: it would take too long
# Plain strings, compiled on first use: most sessions never need them.
_SIGN = r"(?m)\A(?:[ \t]*(?:#.*)?\n)*[ \t]+\S|^[ \t]*[!%]|=[ \t]*!"
_COMMAND = r"(?s)([ \t]*)(!!?)(.*)"
_ASSIGNMENT = r"(?s)([ \t]*[^\W\d][\w.,\[\]'\" \t]*?[ \t]*=[ \t]*)!(?!=)(.*)"
_MAGIC = r"([ \t]*)%%?[^\W\d]\w*"
_DOLLAR = r"\$(\$?)([^\W\d]\w*)"
_OPENING, _CLOSING = "([{", ")]}"
_BASH = ("/bin/bash", "/usr/bin/bash")
_PIPE = -1  # of subprocess, which most sessions never import


class Recovered:
    """``shown`` appears in tracebacks, ``source`` is compiled. If ``refusal`` is set, it is raised instead. ``is_timed``: the
    time of the whole cell is to be printed."""

    def __init__(self, shown: str, source: str, is_timed: bool = False, refusal: Optional[SyntaxError] = None) -> None:
        self.shown = shown
        self.source = source
        self.is_timed = is_timed
        self.refusal = refusal

    @property
    def changed(self) -> Set[int]:
        """The numbers of the lines whose columns are not those that are shown, from 1."""
        pairs = zip(self.shown.split("\n"), self.source.split("\n"))
        return {number for number, (shown, compiled) in enumerate(pairs, 1) if shown != compiled}


def recover(source: str, filename: str) -> Optional[Recovered]:
    """Rewrites source that does not compile into Python; None if it has no such syntax."""
    if len(source) > MAX_SOURCE or re.search(_SIGN, source) is None:
        return None
    lines = source.split("\n")
    shown = _dedented(lines)
    rewritten = list(shown)
    is_timed = False
    for index, end in reversed(_statements(shown)):  # a magic may stand for all lines after it
        line = "\n".join(shown[index:end])
        if re.match(_MAGIC, line) is None:
            command = _rewritten(line)
            if command is not None:
                rewritten[index:end] = _padded(command, end - index)
            continue
        is_first = not any(map(_is_code, shown[:index]))
        try:
            magic = magics.rewrite(line, "\n".join(rewritten[end:]) if is_first else None, filename, index)
        except magics.Refused as refused:
            where = (filename, index + 1 + refused.line, refused.column + 1, shown[index + refused.line])
            return Recovered(source, source, refusal=SyntaxError(str(refused), where))
        is_timed = is_timed or magic.is_timed
        end = len(shown) if magic.is_whole else end
        rewritten[index:end] = _padded(magic.code, end - index)
    if rewritten == lines:
        return None
    return Recovered("\n".join(shown), "\n".join(rewritten), is_timed)


def _padded(code: str, count: int) -> List[str]:
    """The lines of the code and empty lines: ``count`` in all."""
    found = code.split("\n")
    return found + [""] * (count - len(found))


def _rewritten(line: str) -> Optional[str]:
    match = re.match(_COMMAND, line)
    if match is not None:
        method = "run" if match[2] == "!" else "lines"
        return f"{match[1]}{RUNNER}.{method}({_pieces(_joined(match[3]))})"
    match = re.match(_ASSIGNMENT, line)
    if match is not None:
        return f"{match[1]}{RUNNER}.lines({_pieces(_joined(match[2]))})"
    return None


def _joined(command: str) -> str:
    return command.replace("\\\n", " ").strip()


def _pieces(command: str) -> str:
    """Arguments for the runner: text, and (function, text) for each place where a Python value may be inserted."""
    found: List[str] = []
    text = ""
    at = 0
    while at < len(command):
        if command.startswith(("{{", "}}"), at):
            text += command[at]
            at += 2
            continue
        end, expression = _field(command, at) if command[at] == "{" else _name(command, at)
        if expression is None:
            text += command[at:end]
        else:
            found += [repr(text), f"(lambda: {expression}, {command[at:end]!r})"]
            text = ""
        at = end
    return ", ".join([*found, repr(text)])


def _field(command: str, at: int) -> Tuple[int, Optional[str]]:
    """``{expression}`` with an optional conversion and format; a plain brace if it is not Python."""
    end = at
    while True:
        end = command.find("}", end) + 1
        if end == 0:
            return at + 1, None
        inner = command[at + 1 : end - 1]
        for expression in (f"({inner})", "f" + repr("{" + inner + "}")):
            if inner.strip() and _compiles(expression):
                return end, expression


def _name(command: str, at: int) -> Tuple[int, Optional[str]]:
    """``$name`` outside single quotes; ``$$name`` passes ``$name`` to the shell."""
    match = re.compile(_DOLLAR).match(command, at)
    if match is None or command.count("'", 0, at) % 2:
        return at + 1, None
    if match[1]:
        return match.end(), repr(f"${match[2]}")
    return match.end(), match[2] if _compiles(match[2]) else None


def _compiles(expression: str) -> bool:
    try:
        compile(expression, "<command>", "eval")
        return True
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False


def _dedented(lines: List[str]) -> List[str]:
    """Removes the indentation of the first line if all statements have it. Lines inside strings stay as they are."""
    first = next((line for line in lines if _is_code(line)), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent:
        return lines
    free = _outside_strings(lines)
    if any(_is_code(line) and index in free and not line.startswith(indent) for index, line in enumerate(lines)):
        return lines
    return [line[len(indent) :] if index in free and line.startswith(indent) else line for index, line in enumerate(lines)]


def _is_code(line: str) -> bool:
    return line.strip() != "" and not line.lstrip().startswith("#")


def _outside_strings(lines: List[str]) -> set:
    scanner = _Scanner()
    found = set()
    for index, line in enumerate(lines):
        if not scanner.string:
            found.add(index)
        if not (scanner.is_at_statement and _is_notebook_line(line)):
            scanner.take(line)
    return found


def _statements(lines: List[str]) -> List[Tuple[int, int]]:
    """The ranges of shell lines and magics. A backslash at the end of a line continues a command; open brackets and strings
    continue the code of a magic."""
    scanner = _Scanner()
    found = []
    index = 0
    while index < len(lines):
        if scanner.is_at_statement and _is_notebook_line(lines[index]):
            end = index + 1
            while end < len(lines) and lines[end - 1].endswith("\\"):
                end += 1
            if magics.is_continued(lines[index]):
                end = _end_of_code(lines, index, end)
            found.append((index, end))
            index = end
        else:
            scanner.take(lines[index])
            index += 1
    return found


def _end_of_code(lines: List[str], start: int, end: int) -> int:
    """The end of the statement in these lines; ``end`` if it does not end."""
    scanner = _Scanner()
    for index in range(start, len(lines)):
        scanner.take(lines[index])
        if index + 1 >= end and scanner.is_at_statement:
            return index + 1
    return end


def _is_notebook_line(line: str) -> bool:
    return any(re.match(pattern, line) for pattern in (_COMMAND, _ASSIGNMENT, _MAGIC))


class _Scanner:
    """Tracks strings and brackets line by line, to know where a statement can begin."""

    def __init__(self) -> None:
        self.string = ""  # the closing quotes of the open string
        self._depth = 0
        self._continued = False

    @property
    def is_at_statement(self) -> bool:
        return not self.string and self._depth == 0 and not self._continued

    def take(self, line: str) -> None:
        at = 0
        self._continued = False
        while at < len(line):
            if self.string:
                at = self._in_string(line, at)
                continue
            character = line[at]
            if character == "#":
                return
            if character in "'\"":
                self.string = character * 3 if line.startswith(character * 3, at) else character
                at += len(self.string)
                continue
            if character in _OPENING:
                self._depth += 1
            elif character in _CLOSING:
                self._depth = max(0, self._depth - 1)
            elif character == "\\" and at == len(line) - 1:
                self._continued = True
            at += 1
        if len(self.string) == 1 and not line.endswith("\\"):
            self.string = ""  # a single-quoted string ends with its line

    def _in_string(self, line: str, at: int) -> int:
        if line[at] == "\\":
            return at + 2
        if line.startswith(self.string, at):
            end = at + len(self.string)
            self.string = ""
            return end
        return at + 1


class Lines(list):
    """The lines that a command printed. ``.n`` joins them with newlines, ``.s`` with spaces."""

    @property
    def l(self) -> List[str]:  # noqa: E743
        return list(self)

    @property
    def n(self) -> str:
        return "\n".join(self)

    @property
    def s(self) -> str:
        return " ".join(self)


def install(namespace: Callable[[], Dict[str, Any]]) -> None:
    """``namespace`` returns that of the session."""
    setattr(builtins, RUNNER, Shell(namespace))


class Shell:
    """Runs commands in bash, as shell tasks are, or where there is none in /bin/sh. Their output goes to the session's output; the exit code
    becomes the variable ``_exit_code``."""

    def __init__(self, namespace: Callable[[], Dict[str, Any]]) -> None:
        self._namespace = namespace

    def run(self, *pieces: Any) -> None:
        with _start(pieces) as process:
            self._end(process, process.wait)

    def lines(self, *pieces: Any) -> Lines:
        with _start(pieces, stdout=_PIPE) as process:
            out = self._end(process, lambda: process.communicate()[0])
        return Lines(out.decode("utf-8", "replace").splitlines())

    def _end(self, process: Any, wait: Any) -> Any:
        try:
            result = wait()
        except BaseException:
            process.kill()
            raise
        self._namespace()["_exit_code"] = process.returncode
        return result


def _start(pieces: Tuple[Any, ...], **options: Any) -> Any:
    import subprocess

    bash = next((path for path in _BASH if os.access(path, os.X_OK)), None)
    return subprocess.Popen(_expanded(pieces), shell=True, executable=bash, **options)


def _expanded(pieces: Tuple[Any, ...]) -> str:
    return "".join(piece if isinstance(piece, str) else _value(*piece) for piece in pieces)


def _value(function: Any, text: str) -> str:
    """The Python value as text; the original text if evaluating it fails, for the shell to expand."""
    try:
        return str(function())
    except Exception:
        return text
