"""The value of one variable for the host, as JSON, text or bytes, sent in pieces. The namespace does not change.

JSON is only what JavaScript can read without loss: no NaN, no integers beyond 2**53, no keys that are not strings.
"""

import json
from typing import Any, Dict, Set

from ..io.bulk import Outgoing

PIECE = 256 * 1024
SAFE = 2**53 - 1
_BRIEF = {True: 4, False: 5, None: 4}


class TooLarge(Exception):
    """The value has more bytes than the host takes."""


def get_variable(namespace: Dict[str, Any], message: Dict[str, Any], outgoing: Outgoing) -> Dict[str, Any]:
    """Raises ValueError or TypeError for a value that is not of this kind. May run user code: methods of subclasses."""
    name = message["name"]
    if name not in namespace:
        return {"found": False}
    try:
        size = _KINDS[message["kind"]](namespace[name], message["maxBytes"], outgoing)
    except TooLarge:
        return {"found": True, "tooLarge": True}
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    outgoing.flush()
    return {"found": True, "size": size}


def _send_json(value: Any, limit: int, outgoing: Outgoing) -> int:
    _Checker(limit).check(value)
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair has no UTF-8 form. Escaped, it is valid JSON, and it can only be inside a string.
    return _send_text(text, limit, outgoing, "backslashreplace")


def _send_str(value: Any, limit: int, outgoing: Outgoing) -> int:
    if not isinstance(value, str):
        raise TypeError(f"it is a {type(value).__name__}, not a str")
    try:
        return _send_text(value, limit, outgoing, "strict")
    except UnicodeEncodeError:
        raise ValueError("it has half of a surrogate pair in it, which UTF-8 cannot express. Read it as JSON") from None


def _send_text(text: str, limit: int, outgoing: Outgoing, errors: str) -> int:
    length = str.__len__(text)
    if length > limit:
        raise TooLarge
    size = 0
    for start in range(0, length, PIECE):
        data = str.__getitem__(text, slice(start, start + PIECE)).encode("utf-8", errors)
        size += len(data)
        if size > limit:
            raise TooLarge
        outgoing.write(data)
    return size


def _send_bytes(value: Any, limit: int, outgoing: Outgoing) -> int:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"it is a {type(value).__name__}, not bytes, a bytearray or a memoryview")
    with memoryview(value) as view:
        size = view.nbytes
        if size > limit:
            raise TooLarge
        is_plain = view.ndim == 1 and view.format == "B" and view.contiguous
        if size > 0:
            outgoing.write(view if is_plain else view.tobytes())
    return size


_KINDS = {"json": _send_json, "text": _send_str, "bytes": _send_bytes}


class _Checker:
    """Walks a value before it is encoded, so that one that is too large, or that contains itself, costs little memory."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._open: Set[int] = set()

    def check(self, value: Any) -> None:
        if value is None or value is True or value is False:
            self._take(_BRIEF[value])
        elif isinstance(value, str):
            self._take(str.__len__(value) + 2)
        elif isinstance(value, int):
            self._take(1)
            if not -SAFE <= int(value) <= SAFE:
                raise ValueError("it has an integer beyond 2**53, which would lose digits in JSON. Read it as text, with str()")
        elif isinstance(value, float):
            self._take(1)
            if value != value or value in (float("inf"), float("-inf")):
                raise ValueError("it has a NaN or an infinity in it, which JSON cannot express")
        elif isinstance(value, (list, tuple)):
            self._enter(value)
            for item in value:
                self.check(item)
            self._open.discard(id(value))
        elif isinstance(value, dict):
            self._enter(value)
            for key, item in value.items():
                if not isinstance(key, str):
                    raise TypeError(f"it has a {type(key).__name__} as a key, and JSON has only strings there")
                self._take(str.__len__(key) + 3)
                self.check(item)
            self._open.discard(id(value))
        else:
            raise TypeError(f"it has a {type(value).__name__} in it, which JSON cannot express")

    def _take(self, least: int) -> None:
        """Counts the fewest bytes that a part takes."""
        self._left -= least
        if self._left < 0:
            raise TooLarge

    def _enter(self, container: Any) -> None:
        if id(container) in self._open:
            raise ValueError("it contains itself")
        self._open.add(id(container))
        self._take(2 + max(0, len(container) - 1))  # brackets and commas
