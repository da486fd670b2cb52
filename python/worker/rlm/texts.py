"""Functions for long texts in a run: split, search, show the ends. None of them calls the host."""

import json
from typing import Any, List, Optional

from rlm_answers import LLMError
from rlm_totals import Budget, count_of, describe_total, items_of, length_of, total_of
from _rlm_worker.inspection.previews import repr_of


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
        lines = text_of(one).splitlines()
        for number, line in enumerate(lines):
            if len(found) >= limit:
                return found
            if expression.search(line):
                part = lines[max(0, number - context): number + context + 1]
                where = f"{number + 1}" if name is None else f"{name}:{number + 1}"
                found.append(f"{where}: " + "\n".join(part))
    return found


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
