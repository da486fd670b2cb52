"""The context of a run: turns files into variables of its session, and describes them for the first prompt.

The host calls these functions, not the model's code.
"""

import base64
import json
import sys
from typing import Any, Dict

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
    facts = [_describe(name, namespace[name], size) for name in json.loads(names) if name in namespace]
    return base64.b64encode(json.dumps(facts).encode()).decode()


def _describe(name: str, value: Any, size: int) -> Dict[str, Any]:
    facts: Dict[str, Any] = {"name": name, "type": type(value).__name__}
    if hasattr(value, "__len__"):
        facts["length"] = len(value)
    if isinstance(value, str):
        facts["head"] = value[:size]
        facts["isWhole"] = len(value) <= size
        if len(value) > size:
            facts["tail"] = value[-size:]
        return facts
    if isinstance(value, dict):
        facts["columns"] = [str(key)[:100] for key in list(value)[:50]]
    shown = repr_of(value, size)
    facts["head"] = shown["text"]
    facts["isWhole"] = shown["total"] is not None and shown["total"] <= size
    return facts
