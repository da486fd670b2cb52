"""The context of a run: turns files into variables of its session, and describes them for the first prompt.

The host calls these functions, not the model's code.
"""

import base64
import json
import sys
from itertools import islice
from typing import Any, Dict

from rlm_totals import Budget, Total, items_of, length_of, total_of
from _rlm_worker.inspection.previews import repr_of


def namespace_of_session() -> Dict[str, Any]:
    return sys.modules["__main__"].__dict__


def _decode(data: memoryview) -> Any:
    """A str if the data is UTF-8, else the bytes."""
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        return bytes(data)


def place(name: str, key: str) -> None:
    """Moves ``_rlm_file`` to an item of a variable."""
    namespace = namespace_of_session()
    namespace[name][key] = namespace.pop("_rlm_file")


def unpack(name: str) -> None:
    """Splits ``_rlm_files`` into items of a variable: four bytes with the length of the names and sizes, these as JSON, the contents."""
    namespace = namespace_of_session()
    data = memoryview(namespace.pop("_rlm_files"))
    start = 4 + int.from_bytes(data[:4], "little")
    items = namespace[name]
    for key, size in json.loads(bytes(data[4:start])):
        items[key] = _decode(data[start:start + size])
        start += size


def describe(names: str, size: int) -> str:
    """Facts about variables for the first prompt, as base64 of JSON, so that displaying it changes nothing."""
    namespace = namespace_of_session()
    budget = Budget()
    facts = [_describe(name, namespace[name], size, budget) for name in json.loads(names) if name in namespace]
    return base64.b64encode(json.dumps(facts).encode()).decode()


def _describe(name: str, value: Any, size: int, budget: Budget) -> Dict[str, Any]:
    facts: Dict[str, Any] = {"name": name, "type": type(value).__name__}
    length = length_of(value)
    if length is not None:
        facts["length"] = length
    if isinstance(value, str):
        facts["head"] = value[:size]
        facts["isWhole"] = len(value) <= size
        if len(value) > size:
            facts["tail"] = value[-size:]
        return facts
    if isinstance(value, dict):
        facts["columns"] = [str(key)[:100] for key in islice(dict.keys(value), 50)]
    if items_of(value) is not None:
        facts["contents"] = _contents(value, budget)
    shown = repr_of(value, size)
    facts["head"] = shown["text"]
    facts["isWhole"] = shown["total"] is not None and shown["total"] <= size
    return facts


def _contents(value: Any, budget: Budget) -> Dict[str, Any]:
    from rlm_shapes import endings_of, kinds_of, shape_of  # not every context needs it

    total, largest, key_of_largest = Total(), 0, None
    for key, item in dict.items(value) if isinstance(value, dict) else enumerate(items_of(value)):
        one = total_of(item, budget)
        total.add(one)
        total.whole = budget.take() and total.whole
        if one.size > largest:
            largest, key_of_largest = one.size, key
        if not total.whole:
            break
    contents: Dict[str, Any] = {
        "characters": total.characters,
        "bytes": total.bytes,
        "isWhole": total.whole,
        "kinds": kinds_of(value),
        "endings": endings_of(value),
    }
    if largest and total.whole and length_of(value) > 1:
        contents["largest"] = {"size": largest}
        if isinstance(key_of_largest, str):
            contents["largest"]["key"] = key_of_largest[:100]
    shape = shape_of(value)
    if shape is not None:
        contents["shape"] = shape
    return contents
