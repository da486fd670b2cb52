"""What the values in a container are like: their types, the structure of the first one, the endings of file names.

No user code runs. Keys come from the material of the user: they are quoted as JSON and shortened.
"""

import json
import re
from collections import Counter
from itertools import islice
from typing import Any, Dict, List, Optional

from rlm_totals import items_of, length_of

MAX_KINDS = 4
MAX_ITEMS = 1_000_000
MAX_KEYS = 8
MAX_KEY = 40
MAX_DEPTH = 3
MAX_SHAPE = 300
MAX_ENDINGS = 6
MAX_LIKE = 100_000
NAME = re.compile(r"[^\n]*[^/.\n](\.[A-Za-z][A-Za-z0-9_+-]{0,11})", re.ASCII)
TEXTS = (str, bytes, bytearray)


def kinds_of(value: Any) -> List[Dict[str, Any]]:
    """The types of the items with their numbers, the most frequent first. Empty: there are too many items to look at."""
    items = items_of(value)
    if items is None or (length_of(value) or 0) > MAX_ITEMS:
        return []
    return _most_common(Counter(kind.__name__ for kind in map(type, items)), MAX_KINDS)


def endings_of(value: Any) -> List[Dict[str, Any]]:
    """Of the keys of a dict of files: the endings with their numbers, the most frequent first. Empty: they are no names of files."""
    if not issubclass(type(value), dict) or not all(issubclass(type(item), TEXTS) for item in islice(dict.values(value), 100)):
        return []
    endings: Counter = Counter()
    for key in dict.keys(value):
        found = NAME.fullmatch(key, max(0, len(key) - 60)) if type(key) is str else None
        if found:
            endings[found.group(1).lower()] += 1
    return _most_common(endings, MAX_ENDINGS) if 2 * sum(endings.values()) >= dict.__len__(value) > 1 else []


def _most_common(counted: Counter, most: int) -> List[Dict[str, Any]]:
    return [{"what": what, "count": count} for what, count in counted.most_common(most)]


def shape_of(value: Any) -> Optional[str]:
    """The structure of the first item of a container, or of a small dict: ``each like {"id": int, "tags": [3 × str]}``. None: none
    of them is a container."""
    items = items_of(value)
    if items is None:
        return None
    first = next(iter(items), None)
    if items_of(first) is None and not (issubclass(type(value), dict) and _has_containers(value)):
        return None
    whole = issubclass(type(value), dict) and dict.__len__(value) <= MAX_KEYS
    text = _shape(value if whole else first, 0)
    which = "" if whole else "each " if len(set(map(type, islice(items, MAX_LIKE)))) == 1 else "the first "
    return f"{which}like {text if len(text) <= MAX_SHAPE else text[:MAX_SHAPE] + '…'}"


def _has_containers(value: Any) -> bool:
    return dict.__len__(value) <= MAX_KEYS and any(items_of(item) is not None for item in dict.values(value))


def _shape(value: Any, depth: int) -> str:
    kind = type(value)
    items = items_of(value)
    if items is None:
        return kind.__name__
    length = length_of(value) or 0
    if length == 0 or depth == MAX_DEPTH:
        return f"{kind.__name__} of {length:,}"
    if not issubclass(kind, dict):
        return f"[{length:,} × {_shape(next(iter(items)), depth + 1)}]"
    shown = [f"{_key(key)}: {_shape(item, depth + 1)}" for key, item in islice(dict.items(value), MAX_KEYS)]
    rest = length - len(shown)
    return "{" + ", ".join(shown) + (f", … {rest:,} more" if rest else "") + "}"


def _key(key: Any) -> str:
    if not issubclass(type(key), str):
        return type(key).__name__
    return json.dumps(str.__str__(key) if str.__len__(key) <= MAX_KEY else str.__getitem__(key, slice(MAX_KEY)) + "…")
