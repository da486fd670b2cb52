"""``In`` and ``Out`` of a console: the code that was typed and the values that were shown, by number. Also ``__`` and ``___``, the
values before ``_``.

They are builtins, so they are no variables of the session, are not saved with it, and a variable of the same name hides them.
Both are limited: the oldest entries go first.
"""

import builtins
from collections import deque
from itertools import chain, islice
from typing import Any, Deque, Dict, Iterable, List, Tuple

from ..inspection.inspection import kind_of, size_of

MAX_INPUTS = 1_000
MAX_INPUT_CHARACTERS = 4 << 20
MAX_OUTPUTS = 100
MAX_OUTPUT_BYTES = 64 << 20  # as far as sizes are known
SAMPLE = 20  # items of a container whose sizes are read; the others count as much on average
SAMPLE_DEPTH = 3

_builtins = builtins.__dict__


class Inputs(dict):
    def __missing__(self, number: Any) -> Any:
        raise KeyError(f"In[{number!r}] is not there: In keeps the last {MAX_INPUTS:,} inputs of this console")


class Outputs(dict):
    def __missing__(self, number: Any) -> Any:
        kept = f"the last {MAX_OUTPUTS} values, at most {MAX_OUTPUT_BYTES >> 20} MiB of them"
        raise KeyError(f"Out[{number!r}] is not there: it had no value, or is no longer kept. Out keeps {kept}")


class Results:
    def __init__(self) -> None:
        self._begin()

    def add_input(self, number: int, code: str) -> None:
        self._install()
        self._inputs.add(number, code, len(code))

    def add_output(self, number: int, value: Any) -> None:
        self._install()
        if value is self._outputs.entries or value is self._inputs.entries:
            return
        for name, older in zip(("__", "___"), self._last):
            _builtins[name] = older
        self._last = [value, *self._last[:1]]
        self._outputs.add(number, value, estimated_size(value))

    def clear(self) -> None:
        for name in ("In", "Out", "__", "___"):
            _builtins.pop(name, None)
        self._begin()

    def _begin(self) -> None:
        self._inputs = _Limited(Inputs(), MAX_INPUTS, MAX_INPUT_CHARACTERS)
        self._outputs = _Limited(Outputs(), MAX_OUTPUTS, MAX_OUTPUT_BYTES)
        self._last: List[Any] = []  # the last two values, the newest first

    def _install(self) -> None:
        _builtins["In"] = self._inputs.entries
        _builtins["Out"] = self._outputs.entries


class _Limited:
    """A dict that user code sees, and may change. The limits hold for what was added here."""

    def __init__(self, entries: Dict[int, Any], max_count: int, max_size: int) -> None:
        self.entries = entries
        self._max_count = max_count
        self._max_size = max_size
        self._sizes: Deque[Tuple[int, int]] = deque()
        self._size = 0

    def add(self, number: int, value: Any, size: int) -> None:
        """Something that is too large is not kept at all, and removes nothing."""
        if size > self._max_size:
            return
        dict.__setitem__(self.entries, number, value)
        self._sizes.append((number, size))
        self._size += size
        while len(self._sizes) > self._max_count or self._size > self._max_size:
            old, old_size = self._sizes.popleft()
            self._size -= old_size
            dict.pop(self.entries, old, None)


def estimated_size(value: Any, depth: int = 0) -> int:
    """In bytes, from a few items of each container. 0 for modules, classes and functions, and if the size is not known."""
    kind = type(value)
    if kind_of(kind) != "variable":
        return 0
    try:
        size = max(0, size_of(value, kind) or 0)
    except Exception:
        return 0
    if depth == SAMPLE_DEPTH:
        return size
    if kind in (list, tuple, set, frozenset):
        return size + _items_size(value, len(value), depth)
    if kind is dict:
        return size + _items_size(chain.from_iterable(value.items()), 2 * len(value), depth)
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except Exception:
        return size
    if type(attributes) is not dict:
        return size
    return size + _items_size(attributes.values(), len(attributes), depth)


def _items_size(items: Iterable[Any], count: int, depth: int) -> int:
    sizes = [estimated_size(item, depth + 1) for item in list(islice(items, SAMPLE))]
    return sum(sizes) * count // len(sizes) if sizes else 0
