"""Functions for long texts in a run: split, search, show the ends. None of them calls the host."""

import json
from collections import deque
from itertools import islice
from typing import Any, Deque, Iterator, List, Optional, Tuple

from rlm_answers import LLMError
from rlm_totals import Budget, count_of, describe_total, items_of, length_of, total_of
from _rlm_worker.inspection.previews import repr_of

BLOCK = 1 << 20  # characters of a text that are split into lines at once


def chunk(text: str, size: int = 50_000, overlap: int = 0) -> List[str]:
    """Splits a text into pieces of at most ``size`` characters, at line ends if possible."""
    if size <= 0 or overlap < 0 or overlap >= size:
        raise ValueError("size must be positive, and overlap less than it")
    pieces: List[str] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + size)
        if end < len(text):
            line = text.rfind("\n", start + size // 2, end)
            if line != -1:
                end = line + 1
        pieces.append(text[start:end])
        if end == len(text):
            break
        start = max(start + 1, end - overlap)
    return pieces


def grep(pattern: str, text: Any, *, context: int = 0, limit: int = 100, flags: int = 0) -> List[str]:
    """The matching lines of a text, or of each text in a list or dict, with line numbers; at most ``limit``."""
    import re

    expression = re.compile(pattern, flags)
    found: List[str] = []
    several = text.items() if isinstance(text, dict) else enumerate(text) if isinstance(text, (list, tuple)) else [(None, text)]
    for name, one in several:
        for number, part in islice(_matches(expression, text_of(one), context), max(0, limit - len(found))):
            where = f"{number}" if name is None else f"{name}:{number}"
            found.append(f"{where}: " + "\n".join(part))
        if len(found) >= limit:
            break
    return found


def _matches(expression: Any, text: str, context: int) -> Iterator[Tuple[int, List[str]]]:
    """The numbers of matching lines, from 1, each with the lines around it."""
    before: Deque[str] = deque(maxlen=context)
    open_matches: Deque[Tuple[int, List[str]]] = deque()  # lacking lines behind them
    for number, line in enumerate(_lines(text), 1):
        for _, part in open_matches:
            part.append(line)
        if open_matches and number == open_matches[0][0] + context:
            yield open_matches.popleft()
        if expression.search(line):
            match = (number, [*before, line])
            if context:
                open_matches.append(match)
            else:
                yield match
        before.append(line)
    yield from open_matches


def _lines(text: str) -> Iterator[str]:
    """As ``splitlines``, without all of them in memory."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + BLOCK) + 1 or len(text)
        yield from text[start:end].splitlines()
        start = end


def peek(value: Any, size: int = 1000) -> str:
    """The beginning and the end of something, with its type and length."""
    text = value if isinstance(value, str) else repr_of(value, 2 * size)["text"]
    kind = f"{type(value).__name__}, {size_of(value)}"
    if len(text) <= 2 * size:
        return f"[{kind}]\n{text}"
    return f"[{kind}]\n{text[:size]}\n… {len(text) - 2 * size:,} characters omitted …\n{text[-size:]}"


def text_of(value: Any) -> str:
    """A value as text for a model: text unchanged, data as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return value.decode("utf-8", "replace")
    if isinstance(value, (dict, list, tuple)):
        try:
            return json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError):  # keys that JSON does not allow, or a value that contains itself
            pass
        except LLMError as error:  # a failed call is in it
            raise error.with_traceback(None) from None  # without the frames of json
    return str(value)


def size_of(value: Any, budget: Optional[Budget] = None) -> str:
    """The length of a value as text, and how much text there is in a list or dict. ``budget``: of several values together."""
    length = length_of(value)
    if items_of(value) is not None:
        total = describe_total(total_of(value, budget or Budget()))
        return count_of(length, "item") + (f", {total}" if total else "")
    if length is not None:
        return count_of(length, "character" if isinstance(value, str) else "byte")
    try:
        return count_of(len(value), "item")
    except Exception:
        return "no length"
