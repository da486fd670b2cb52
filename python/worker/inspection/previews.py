"""Text of a value up to a limit, without building the full text first.

Of built-in containers only as many items are visited as fit; a long string is sliced before it is quoted. Other objects
are formatted by their own ``__repr__``, so everything but ``plain_preview`` and ``scalar_preview`` runs user code.
"""

from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

MAX_SCALAR = 80
MAX_BITS = 1024
PLAIN_ITEMS = 8
MAX_PLAIN_TEXT = 24
MAX_PREVIEW = 1_000
PREVIEW_ITEMS = 10
PREVIEW_DEPTH = 3
PREVIEW_ROWS = 10
MAX_DEPTH = 50
MORE = "…"

BRACKETS = {list: ("[", "]"), tuple: ("(", ")"), dict: ("{", "}"), set: ("{", "}"), frozenset: ("frozenset({", "})")}
SCALARS = frozenset((int, float, bool, complex, type(None), type(Ellipsis)))
TEXTS = frozenset((str, bytes, bytearray))


def scalar_preview(value: Any) -> Optional[str]:
    """repr of a small built-in value, or of the start of a text; None for anything else. Runs no user code."""
    kind = type(value)
    if kind is int and value.bit_length() > MAX_BITS:
        return None
    if kind in SCALARS:
        return repr(value)
    if kind in TEXTS:
        return repr(value[:MAX_SCALAR]) + (MORE if len(value) > MAX_SCALAR else "")
    return None


def plain_preview(value: Any) -> Optional[str]:
    """A small built-in value, or the first items of a built-in container; None for anything else. Runs no user code."""
    kind = type(value)
    if kind not in BRACKETS:
        return scalar_preview(value)
    if not value:
        return repr(value)
    start, end = BRACKETS[kind]
    parts: List[str] = []
    left = MAX_SCALAR
    try:
        for item in value.items() if kind is dict else value:
            if len(parts) == PLAIN_ITEMS or left <= 0:
                parts.append(MORE)
                break
            parts.append(f"{_plain_item(item[0])}: {_plain_item(item[1])}" if kind is dict else _plain_item(item))
            left -= len(parts[-1])
            if parts[-1] == MORE:
                break
    except RuntimeError:  # another thread has changed it meanwhile
        return None
    return start + ", ".join(parts) + ("," if kind is tuple and len(value) == 1 else "") + end


def _plain_item(item: Any) -> str:
    kind = type(item)
    if kind in TEXTS and len(item) > MAX_PLAIN_TEXT:
        return repr(item[:MAX_PLAIN_TEXT]) + MORE
    return scalar_preview(item) or MORE


def preview_of(value: Any) -> str:
    """A short text: a few items of each container, the first rows of a table."""
    head = getattr(type(value), "head", None)
    if head is not None and isinstance(getattr(value, "shape", None), tuple):
        return _own_text(repr, value.head(PREVIEW_ROWS))[:MAX_PREVIEW]
    scalar = scalar_preview(value)
    if scalar is not None:
        return scalar
    return ReprWalker(MAX_PREVIEW, PREVIEW_ITEMS, PREVIEW_DEPTH, MAX_SCALAR).walk(value)[0]


def repr_of(value: Any, limit: int) -> Dict[str, Any]:
    """repr, truncated. ``total`` is its full length if known, ``ofFirst`` how many characters of a text were quoted."""
    kind = type(value)
    if kind in TEXTS:
        part = value[:limit]
        return _truncated(repr(part), limit, ofFirst=len(part) if len(part) < len(value) else None)
    if kind in BRACKETS:
        text, complete = ReprWalker(limit, None, MAX_DEPTH, limit).walk(value)
        return {"text": text, "total": len(text) if complete else None}
    return _truncated(_own_text(repr, value), limit)


def str_of(value: Any, limit: int) -> Dict[str, Any]:
    kind = type(value)
    if kind is str:
        return {"text": value[:limit], "total": len(value)}
    if kind in TEXTS or kind in BRACKETS:
        return repr_of(value, limit)
    return _truncated(_own_text(str, value), limit)


def _truncated(text: str, limit: int, ofFirst: Optional[int] = None) -> Dict[str, Any]:
    result: Dict[str, Any] = {"text": text[:limit], "total": len(text) if ofFirst is None else None}
    if ofFirst is not None:
        result["ofFirst"] = ofFirst
    return result


def _own_text(function: Any, value: Any) -> str:
    """An exact str, although the object may return a subclass."""
    return str.__str__(function(value))


class Full(Exception):
    """The limit is reached."""


class ReprWalker:
    """repr of nested containers, at most ``limit`` characters. ``items``, ``depth`` and ``characters`` limit each container
    and text; an ellipsis shows what is omitted."""

    def __init__(self, limit: int, items: Optional[int], depth: int, characters: int) -> None:
        self._left = limit
        self._items = items
        self._depth = depth
        self._characters = characters
        self._parts: List[str] = []
        self._above: Set[int] = set()
        self._complete = True

    def walk(self, value: Any) -> Tuple[str, bool]:
        """The text, and whether it is complete."""
        try:
            self._add(value, 0)
        except Full:
            self._complete = False
        return "".join(self._parts), self._complete

    def _put(self, text: str) -> None:
        self._parts.append(text[: self._left])
        self._left -= len(text)
        if self._left < 0:
            raise Full

    def _add(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind in TEXTS:
            shown = min(self._characters, self._left + 1)
            self._put(repr(value[:shown]))
            if len(value) > shown:
                self._omit()
        elif kind in BRACKETS:
            self._container(value, kind, depth)
        else:
            self._put(_own_text(repr, value))

    def _container(self, value: Any, kind: type, depth: int) -> None:
        start, end = BRACKETS[kind]
        if not value:
            self._put(repr(value))
        elif id(value) in self._above:
            self._put(f"{start}...{end}")
        elif depth >= self._depth:
            self._put(start)
            self._omit()
            self._put(end)
        else:
            self._above.add(id(value))
            self._put(start)
            self._contents(value.items() if kind is dict else value, kind is dict, depth + 1)
            self._put(",)" if kind is tuple and len(value) == 1 else end)
            self._above.discard(id(value))

    def _contents(self, items: Iterable[Any], paired: bool, depth: int) -> None:
        for index, item in enumerate(items):
            if index:
                self._put(", ")
            if index == self._items:
                self._omit()
                return
            if paired:
                self._add(item[0], depth)
                self._put(": ")
                item = item[1]
            self._add(item, depth)

    def _omit(self) -> None:
        self._complete = False
        self._put(MORE)
