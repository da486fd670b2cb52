"""The counterpart of ``pickler``: builds functions, classes and similar objects from what was saved.

The names in ``__all__`` are part of the format of session files. Those at the end need the session that is being loaded, so
the loader replaces them with its own functions.
"""

import functools
import types
import weakref
from typing import Any, Dict, Optional, Tuple

WELL_KNOWN = b"rlm"  # the module under which pickles refer to the well-known objects

__all__ = [
    "function", "set_function", "cell", "set_cell", "code", "module", "module_globals", "stdlib", "class_",
    "set_class", "set_attributes", "member", "set_member", "cached", "type_variable", "weak_reference",
    "dataclass_field", "dataclass_parameters", "set_slots",
]  # fmt: skip


class ModuleGlobals:
    """Pickled in place of the globals of a module that is imported by name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> Any:
        return module_globals, (self._name,)


class Attributes:
    """Pickled to set attributes of a class before the objects that follow are built."""

    def __init__(self, cls: type, attributes: Dict[str, Any]) -> None:
        self._args = (cls, attributes)

    def __reduce__(self) -> Any:
        return set_attributes, self._args


def set_function(made: Any, state: Dict[str, Any]) -> None:
    made.__dict__.update(state.pop("__dict__", {}))
    for key, value in state.items():
        setattr(made, key, value)


def cell() -> Any:
    return types.CellType()


def set_cell(made: Any, contents: Tuple[Any, ...]) -> None:
    if contents:
        made.cell_contents = contents[0]


def class_(meta: type, name: str, bases: Tuple[type, ...], skeleton: Dict[str, Any]) -> type:
    """Bypasses the metaclass's ``__new__``, which has already run when the class was first made."""
    made: Any = type.__new__(meta, name, bases, skeleton)
    abc = __import__("abc")
    if issubclass(meta, abc.ABCMeta):
        __import__("_abc")._abc_init(made)
    return made


def set_attributes(cls: type, attributes: Dict[str, Any]) -> None:
    for name, value in attributes.items():
        type.__setattr__(cls, name, value)


def member(base: type, cls: type, *args: Any) -> Any:
    return base.__new__(cls, *args)


def set_member(made: Any, state: Dict[str, Any]) -> None:
    for name, value in state.items():
        object.__setattr__(made, name, value)


def cached(wrapped: Any, maxsize: Optional[int], typed: bool) -> Any:
    return functools.lru_cache(maxsize=maxsize, typed=typed)(wrapped)


def weak_reference(target: Any) -> Any:
    return weakref.ref(target)


def type_variable(kind: Any, args: Tuple[Any, ...], keywords: Dict[str, Any], module_: Optional[str]) -> Any:
    made = kind(*args, **keywords)
    try:
        made.__module__ = module_
    except AttributeError:
        pass
    return made


def dataclass_field() -> Any:
    return __import__("dataclasses").field()


def dataclass_parameters() -> Any:
    return object.__new__(__import__("dataclasses")._DataclassParams)


def set_slots(made: Any, state: Dict[str, Any]) -> None:
    """Leaves out slots that this version of Python does not have."""
    for name in type(made).__slots__:
        if name in state:
            setattr(made, name, state[name])


def _needs_loader(*_: Any) -> Any:
    raise RuntimeError("only a session file that is being loaded can build this")


def function(data: bytes, globals_: Any, name: str, closure: Any, origin: Any) -> Any:
    return _needs_loader(data, globals_, name, closure, origin)


def code(data: bytes, origin: Any) -> Any:
    return _needs_loader(data, origin)


def module(name: str, *parts: str) -> Any:
    return _needs_loader(name, parts)


def module_globals(name: str) -> Any:
    return _needs_loader(name)


def stdlib(name: str) -> Any:
    return _needs_loader(name)


def set_class(cls: type, state: Tuple[Any, ...]) -> None:
    _needs_loader(cls, state)
