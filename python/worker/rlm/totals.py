"""How much is in a value: the characters and the bytes of all texts in lists and dicts, at any depth.

No user code runs: subclasses are walked with the methods of their built-in type. The number of items is limited, so a total may be
too low. There is no limit on time: totals are part of prompts, which are the same whenever a run is repeated.
"""

from typing import Any, Iterable, Iterator, List, Optional

MAX_ITEMS = 1_000_000
MAX_DEPTH = 60
FREE_ITEMS = 1_000
NO_TEXT = frozenset((int, float, bool, complex, type(None)))


class Budget:
    """Of all values that are counted with it."""

    def __init__(self) -> None:
        self._items = MAX_ITEMS

    def take(self) -> bool:
        """For one item. False: the budget is used up."""
        self._items -= 1
        return self._items >= 0


class Total:
    """``whole``: everything was counted."""

    def __init__(self) -> None:
        self.characters = 0
        self.bytes = 0
        self.whole = True

    @property
    def size(self) -> int:
        return self.characters + self.bytes

    def add(self, other: "Total") -> None:
        self.characters += other.characters
        self.bytes += other.bytes
        self.whole = self.whole and other.whole


def total_of(value: Any, budget: Budget) -> Total:
    """Of a text, or of everything in a container. The first items are counted whatever is left of the budget."""
    total = Total()
    stack: List[Iterator[Any]] = [iter((value,))]
    free = FREE_ITEMS
    try:
        while stack:
            inner = None
            for item in stack[-1]:
                if free:
                    free -= 1
                elif not budget.take():
                    total.whole = False
                    return total
                kind = type(item)
                if kind is str:
                    total.characters += len(item)
                elif kind not in NO_TEXT:
                    inner = _inner(item, kind, total)
                    if inner is not None:
                        break
            if inner is None:
                stack.pop()
            elif len(stack) < MAX_DEPTH:
                stack.append(inner)
            else:
                total.whole = False
    except RuntimeError:  # another thread has changed it meanwhile
        total.whole = False
    return total


def _inner(item: Any, kind: type, total: Total) -> Optional[Iterator[Any]]:
    """The items of a container; counts a text."""
    items = items_of(item)
    if items is not None:
        return iter(items)
    if issubclass(kind, str):
        total.characters += str.__len__(item)
    elif issubclass(kind, (bytes, bytearray)):
        total.bytes += bytes.__len__(item) if issubclass(kind, bytes) else bytearray.__len__(item)
    return None


def items_of(value: Any) -> Optional[Iterable[Any]]:
    """What is in a list, tuple or set, or the values of a dict. None: it is no such container."""
    kind = type(value)
    if issubclass(kind, dict):
        return dict.values(value)
    for base in (list, tuple, set, frozenset):
        if issubclass(kind, base):
            return _Items(base, value)
    return None


def length_of(value: Any) -> Optional[int]:
    """Of a text or a built-in container. None: it is neither."""
    kind = type(value)
    for base in (str, bytes, bytearray, dict, list, tuple, set, frozenset):
        if issubclass(kind, base):
            return base.__len__(value)
    return None


class _Items:
    def __init__(self, base: Any, value: Any) -> None:
        self._base = base
        self._value = value

    def __iter__(self) -> Iterator[Any]:
        return self._base.__iter__(self._value)


def describe_total(total: Total) -> str:
    """As text: ``48,000,000 characters in all``. Empty where there is no text."""
    counted = [count_of(number, noun) for number, noun in ((total.characters, "character"), (total.bytes, "byte")) if number]
    return f"{'' if total.whole else 'at least '}{' and '.join(counted)} in all" if counted else ""


def count_of(number: Any, noun: str) -> str:
    """``1 item``, ``20,000 items``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
