"""Methods that the standard library generates: those of data classes and named tuples.

They have no source in a cell, and their code differs between versions of Python. So a version with other bytecode generates
them again, from the fields.
"""

import sys
from types import FunctionType
from typing import Any, Dict, Tuple

GENERATED_FILE = "<string>"  # what ``exec`` and ``eval`` call source without a file
FIELDS = "__dataclass_fields__"
PARAMETERS = "__dataclass_params__"


def generated_names(cls: Any, attributes: Any) -> Tuple[str, ...]:
    """The methods of a class that the standard library generated."""
    if PARAMETERS in attributes:
        return tuple(name for name, value in attributes.items() if _is_of_dataclass(name, value))
    if issubclass(cls, tuple) and isinstance(attributes.get("_fields"), tuple):
        return tuple(name for name, value in attributes.items() if _is_of_named_tuple(value))
    return ()


def generate(cls: Any, names: Tuple[str, ...]) -> None:
    """Generates these methods again. Raises what the standard library raises for fields that it refuses."""
    if PARAMETERS in cls.__dict__:
        _generate_dataclass(cls, names)
    else:
        _generate_named_tuple(cls, names)


def _is_of_dataclass(name: str, value: Any) -> bool:
    if name == "__replace__" and getattr(value, "__module__", None) == "dataclasses":
        return True
    for _ in range(4):  # ``__repr__`` is wrapped
        value = getattr(value, "__wrapped__", value)
    return isinstance(value, FunctionType) and value.__code__.co_filename == GENERATED_FILE


def _is_of_named_tuple(value: Any) -> bool:
    value = getattr(value, "__func__", value)
    module = value.__globals__.get("__name__") if isinstance(value, FunctionType) else None
    return isinstance(module, str) and (module == "collections" or module.startswith("namedtuple_"))


def _generate_dataclass(cls: Any, names: Tuple[str, ...]) -> None:
    """Applies the decorator again, with the fields and annotations as they were before it was first applied."""
    import dataclasses

    params = cls.__dict__[PARAMETERS]
    options = {key: getattr(params, key) for key in ("init", "repr", "eq", "order", "unsafe_hash", "frozen")}
    if sys.version_info >= (3, 10):
        options["match_args"] = "__match_args__" in cls.__dict__
    for name in names:
        if name in cls.__dict__:
            type.__delattr__(cls, name)
    fields = _own_fields(cls)
    attributes = {name: cls.__dict__[name] for name in fields if name in cls.__dict__}
    annotations = _own_annotations(cls)
    type.__setattr__(cls, "__annotations__", {name: field.type for name, field in fields.items()})
    for name, field in fields.items():
        type.__setattr__(cls, name, field)
    dataclasses.dataclass(**options)(cls)
    for name in fields:
        if name in attributes:
            type.__setattr__(cls, name, attributes[name])
        elif name in cls.__dict__:
            type.__delattr__(cls, name)
    type.__setattr__(cls, "__annotations__", annotations)


def _own_fields(cls: Any) -> Dict[str, Any]:
    inherited = [base.__dict__[FIELDS] for base in cls.__mro__[1:] if FIELDS in base.__dict__]
    fields = cls.__dict__[FIELDS].items()
    return {name: field for name, field in fields if all(each.get(name) is not field for each in inherited)}


def _own_annotations(cls: Any) -> Dict[str, Any]:
    if sys.version_info >= (3, 10):
        return cls.__annotations__  # never a base class's
    return cls.__dict__.get("__annotations__", {})


def _generate_named_tuple(cls: Any, names: Tuple[str, ...]) -> None:
    import collections

    defaults = list(cls._field_defaults.values())
    made = collections.namedtuple(cls.__name__, cls._fields, defaults=defaults, module=cls.__module__)
    for name in names:
        if name in made.__dict__:
            type.__setattr__(cls, name, made.__dict__[name])
