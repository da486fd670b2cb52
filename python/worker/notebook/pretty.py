"""Values as text for a terminal: containers that do not fit in one line are wrapped.

Containers of the standard library and dataclasses are taken apart, unless their class has a ``__repr__`` of its own. Everything
else is shown by its ``repr``, which is called once. If line breaks and the indentation after them are replaced by a space, the
text is the ``repr`` of the value, except where items are omitted.

It costs no more than ``repr``: as soon as the text is as long as a value may be, no further item is visited. Like ``repr`` it
runs user code, so it is called under ``Interrupts.guard``.
"""

import sys
from itertools import islice
from typing import Any, Iterable, List, Optional, Set, Tuple, Union

from ..report import MAX_VALUE, truncate

MAX_ITEMS = 1_000  # of one container
MAX_DEPTH = 40
HANGING = 4  # the indentation of a value that does not fit behind its key
SCALARS = frozenset((int, float, complex, bool, str, bytes, type(None)))
WIDE = frozenset("WF")

_repr_of = type.__getattribute__
_bases_of = type.__dict__["__mro__"].__get__
_attributes_of = type.__dict__["__dict__"].__get__


class Group:
    """A container: brackets, and entries of a label (the key and a colon, or nothing) and an item."""

    __slots__ = ("opening", "entries", "closing", "width", "has_breaks", "fills")

    def __init__(self, opening: str, entries: "List[Tuple[str, Node]]", closing: str) -> None:
        self.opening = opening
        self.entries = entries
        self.closing = closing
        self.width = width_of(opening) + width_of(closing) + 2 * (len(entries) - 1)
        self.has_breaks = False
        self.fills = True  # whether a line holds several entries
        for label, item in entries:
            self.width += width_of(label) + _flat_width(item)
            self.has_breaks = self.has_breaks or _has_breaks(item)
            self.fills = self.fills and label == "" and type(item) is str
        self.fills = self.fills and not self.has_breaks


Node = Union[str, Group]


def pretty_text_of(value: Any, columns: int) -> Tuple[str, int]:
    """The text and its length, which is limited like that of ``report.text_of``. Raises what ``repr`` raises."""
    if type(value) in SCALARS:
        text = repr(value)
    else:
        text = _Layout(columns).lay_out(_Builder(MAX_VALUE).build(value, 0))
    return truncate(text, MAX_VALUE), len(text)


def width_of(text: str) -> int:
    """How many columns a terminal needs for a text of one line."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in WIDE else 1 for sign in text)


class _Builder:
    """Takes a value apart. ``limit`` is the number of characters after which items are omitted."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._above: Set[int] = set()

    def build(self, value: Any, depth: int) -> Node:
        brackets, items, count = _parts(value)
        if items is None:
            return self._text(value)
        opening, closing = brackets
        if id(value) in self._above or depth >= MAX_DEPTH:
            return self._count(f"{opening}...{closing}")
        self._above.add(id(value))
        entries: List[Tuple[str, Node]] = []
        for key, item in items:
            if self._left < 0:
                break
            entries.append((self._label(key), self.build(item, depth + 1)))
        self._above.discard(id(value))
        if len(entries) < count:
            entries.append(("", f"... {count - len(entries):,} more"))
        return Group(opening, entries, closing)

    def _label(self, key: Any) -> str:
        if key is _NO_KEY:
            return ""
        return f"{key}=" if type(key) is _Field else f"{self._text(key)}: "

    def _text(self, value: Any) -> str:
        return self._count(str.__str__(repr(value)))

    def _count(self, text: str) -> str:
        self._left -= len(text) + 2
        return text


class _Layout:
    """Adds nodes at the current column."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._column = 0
        self._parts: List[str] = []

    def lay_out(self, node: Node) -> str:
        self._add(node, 0)
        return "".join(self._parts)

    def _add(self, node: Node, after: int) -> None:
        """``after`` is the width of what follows on the same line."""
        if type(node) is str:
            self._put(node)
        elif not node.has_breaks and self._column + node.width + after <= self._columns:
            self._put(_flat(node))
        else:
            self._add_entries(node, after)

    def _add_entries(self, group: Group, after: int) -> None:
        self._put(group.opening)
        indent = self._column
        last = len(group.entries) - 1
        for index, (label, item) in enumerate(group.entries):
            end = "," if index < last else group.closing
            space = width_of(end) + (0 if index < last else after)
            if index:
                needed = 1 + _flat_width(item) + space
                if group.fills and self._column + needed <= self._columns:
                    self._put(" ")
                else:
                    self._break(indent)
            self._add_label(label, item, indent, space)
            self._add(item, space)
            self._put(end)

    def _add_label(self, label: str, item: Node, indent: int, after: int) -> None:
        """A value that does not fit behind its key, and would have little space there, goes to the next line."""
        width = width_of(label)
        left = self._columns - self._column - width
        is_narrow = left < self._columns // 3 and indent + HANGING < self._column + width
        if label.endswith(": ") and is_narrow and (_has_breaks(item) or _flat_width(item) + after > left):
            self._put(label[:-1])
            self._break(indent + HANGING)
        else:
            self._put(label)

    def _put(self, text: str) -> None:
        """The lines of a ``repr`` of several lines are aligned."""
        if "\n" not in text:
            self._parts.append(text)
            self._column += width_of(text)
            return
        indent = self._column
        lines = text.split("\n")
        self._parts.append(("\n" + " " * indent).join(lines))
        self._column = indent + width_of(lines[-1])

    def _break(self, indent: int) -> None:
        self._parts.append("\n" + " " * indent)
        self._column = indent


def _flat(node: Node) -> str:
    if type(node) is str:
        return node
    return node.opening + ", ".join(label + _flat(item) for label, item in node.entries) + node.closing


def _flat_width(node: Node) -> int:
    return width_of(node) if type(node) is str else node.width


def _has_breaks(node: Node) -> bool:
    return "\n" in node if type(node) is str else node.has_breaks


class _Field(str):
    """The name of a field of a dataclass."""


_NO_KEY = object()
_ATOM: Tuple[Any, Any, int] = (None, None, 0)

Items = Iterable[Tuple[Any, Any]]
Parts = Tuple[Any, Optional[Items], int]


def _parts(value: Any) -> Parts:
    """Brackets, the first items and the number of all items; ``_ATOM`` for a value that is shown by its repr.

    Reads items as the ``__repr__`` of the base class does, whatever a subclass overrides, and copies them, because a ``__repr__``
    may change the container.
    """
    kind = type(value)
    method = _repr_of(kind, "__repr__")
    read = READERS.get(id(method))
    if read is not None:
        return read(value, kind)
    if issubclass(kind, dict):
        return _mapping_parts(value, kind, method)
    if "dataclasses" in sys.modules and _is_plain_dataclass(kind, method):
        return _dataclass_parts(value, kind)
    return _ATOM


def _list_parts(value: Any, _kind: type) -> Parts:
    return _sequence_parts("[", list.__iter__(value), "]", list.__len__(value))


def _tuple_parts(value: Any, _kind: type) -> Parts:
    count = tuple.__len__(value)
    return _sequence_parts("(", tuple.__iter__(value), ",)" if count == 1 else ")", count)


def _set_parts(value: Any, kind: type) -> Parts:
    opening, closing = ("{", "}") if kind is set else (f"{_name_of(kind)}({{", "})")
    return _sequence_parts(opening, set.__iter__(value), closing, set.__len__(value))


def _frozenset_parts(value: Any, kind: type) -> Parts:
    return _sequence_parts(f"{_name_of(kind)}({{", frozenset.__iter__(value), "})", frozenset.__len__(value))


def _dict_parts(value: Any, _kind: type) -> Parts:
    count = dict.__len__(value)
    if count == 0:
        return _ATOM
    return ("{", "}"), list(islice(dict.items(value), MAX_ITEMS)), count


def _sequence_parts(opening: str, items: Iterable[Any], closing: str, count: int) -> Parts:
    if count == 0:
        return _ATOM
    return (opening, closing), [(_NO_KEY, item) for item in islice(items, MAX_ITEMS)], count


READERS = {
    id(list.__repr__): _list_parts,
    id(tuple.__repr__): _tuple_parts,
    id(set.__repr__): _set_parts,
    id(frozenset.__repr__): _frozenset_parts,
    id(dict.__repr__): _dict_parts,
}


def _mapping_parts(value: Any, kind: type, method: Any) -> Parts:
    """Of a ``defaultdict`` or a ``Counter``."""
    import collections

    count = dict.__len__(value)
    if count == 0:
        return _ATOM
    if method is _repr_of(collections.defaultdict, "__repr__"):
        factory = str.__str__(repr(value.default_factory))
        return (f"{_name_of(kind)}({factory}, {{", "})"), list(islice(dict.items(value), MAX_ITEMS)), count
    if method is _repr_of(collections.Counter, "__repr__"):
        try:
            items = collections.Counter.most_common(value)
        except TypeError:  # counts that cannot be compared
            items = dict.items(value)
        return (f"{_name_of(kind)}({{", "})"), list(islice(items, MAX_ITEMS)), count
    return _ATOM


def _is_plain_dataclass(kind: type, method: Any) -> bool:
    """Whether ``dataclass`` made the ``__repr__``."""
    if not any("__dataclass_fields__" in _attributes_of(base) for base in _bases_of(kind)):
        return False
    made = getattr(method, "__wrapped__", None)
    return "__create_fn__" in str(getattr(made, "__qualname__", ""))


def _dataclass_parts(value: Any, kind: type) -> Parts:
    import dataclasses

    names = [field.name for field in dataclasses.fields(value) if field.repr]
    if not names:
        return _ATOM
    items = [(_Field(name), getattr(value, name)) for name in names]
    return (f"{kind.__qualname__}(", ")"), items, len(items)


def _name_of(kind: type) -> str:
    return str.__str__(type.__dict__["__name__"].__get__(kind))
