"""Reducers for objects of the standard library that pickle refuses: wrappers, weak references, type variables, singletons."""

import functools
import gc
import sys
import types
import weakref
from _pickle import PicklingError
from typing import Any, Callable, Dict, Optional

from . import build

Reduction = Any  # what __reduce__ may return, or NotImplemented for pickle's default
Reducer = Callable[[Any, Any], Reduction]  # takes the pickler and the object


def _reduce_wrapped(_: Any, wrapper: Any) -> Reduction:
    """functools.lru_cache and functools.cache. The cache is empty after loading."""
    if is_importable(wrapper):
        return NotImplemented
    parameters = wrapper.cache_parameters()
    state = {key: value for key, value in vars(wrapper).items() if key != "cache_parameters"}
    return build.cached, (wrapper.__wrapped__, parameters["maxsize"], parameters["typed"]), state


def _reduce_mapping_proxy(_: Any, proxy: Any) -> Reduction:
    return types.MappingProxyType, (gc.get_referents(proxy)[0],)


def _reduce_property(_: Any, prop: Any) -> Reduction:
    return property, (prop.fget, prop.fset, prop.fdel, prop.__doc__)


def _reduce_wrapper(_: Any, wrapper: Any) -> Reduction:
    return type(wrapper), (wrapper.__func__,)


def _reduce_cached_property(_: Any, prop: Any) -> Reduction:
    state = {key: value for key, value in vars(prop).items() if key not in ("lock", "func")}
    return functools.cached_property, (prop.func,), state


def _reduce_weak_reference(_: Any, reference: Any) -> Reduction:
    target = reference()
    if target is None:
        raise PicklingError("cannot save a weak reference to an object that is gone")
    return build.weak_reference, (target,)


def _reduce_weak_dictionary(_: Any, dictionary: Any) -> Reduction:
    return type(dictionary), (dict(dictionary.items()),)


def _reduce_weak_set(_: Any, members: Any) -> Reduction:
    return type(members), (list(members),)


def _reduce_type_variable(_: Any, variable: Any) -> Reduction:
    if _is_importable_variable(variable):
        return NotImplemented
    keywords = {"covariant": variable.__covariant__, "contravariant": variable.__contravariant__}
    if getattr(variable, "__infer_variance__", False):
        keywords = {"infer_variance": True}
    if variable.__bound__ is not None:
        keywords["bound"] = variable.__bound__
    keywords.update(_default_of(variable))
    constraints = getattr(variable, "__constraints__", ())
    return build.type_variable, (type(variable), (variable.__name__, *constraints), keywords, variable.__module__)


def _reduce_type_variable_tuple(_: Any, variable: Any) -> Reduction:
    if _is_importable_variable(variable):
        return NotImplemented
    return build.type_variable, (type(variable), (variable.__name__,), _default_of(variable), variable.__module__)


def _reduce_new_type(_: Any, kind: Any) -> Reduction:
    if is_importable(kind):
        return NotImplemented
    return build.type_variable, (type(kind), (kind.__name__, kind.__supertype__), {}, kind.__module__)


def _reduce_alias(_: Any, alias: Any) -> Reduction:
    if _is_importable_variable(alias):
        return NotImplemented
    return type(alias), (alias.__name__, alias.__value__), None, None, None


def _reduce_dataclass_field(_: Any, field: Any) -> Reduction:
    return build.dataclass_field, (), _slots_of(field), None, None, build.set_slots


def _reduce_dataclass_parameters(_: Any, parameters: Any) -> Reduction:
    return build.dataclass_parameters, (), _slots_of(parameters), None, None, build.set_slots


def _slots_of(obj: Any) -> Dict[str, Any]:
    return {name: getattr(obj, name) for name in type(obj).__slots__ if hasattr(obj, name)}


def singleton_reducer(kind: type) -> Optional[Reducer]:
    """For a class whose module has instances of it as globals, compared by identity: those are saved by name."""
    module = sys.modules.get(kind.__module__) if isinstance(kind.__module__, str) else None
    if module is None or kind.__module__ in ("__main__", "builtins"):
        return None
    names = {id(value): name for name, value in list(vars(module).items()) if type(value) is kind}
    if not names:
        return None

    def reduce(_: Any, obj: Any) -> Reduction:
        name = names.get(id(obj))
        return NotImplemented if name is None or getattr(module, name, None) is not obj else (getattr, (module, name))

    return reduce


def is_importable(obj: Any) -> bool:
    """Whether the object can be found by its qualified name in an importable module."""
    module, found = getattr(obj, "__module__", None), None
    if isinstance(module, str) and module != "__main__" and module in sys.modules:
        found = sys.modules[module]
        for part in obj.__qualname__.split("."):
            found = getattr(found, part, None)
    return found is obj


def _is_importable_variable(variable: Any) -> bool:
    module = variable.__module__
    return module != "__main__" and getattr(sys.modules.get(module), variable.__name__, None) is variable


def _default_of(variable: Any) -> Dict[str, Any]:
    has_default = getattr(variable, "has_default", None)
    return {"default": variable.__default__} if has_default is not None and has_default() else {}


REDUCERS: Dict[type, Reducer] = {
    types.MappingProxyType: _reduce_mapping_proxy,
    property: _reduce_property,
    staticmethod: _reduce_wrapper,
    classmethod: _reduce_wrapper,
    type(functools.lru_cache(maxsize=1)(len)): _reduce_wrapped,
    functools.cached_property: _reduce_cached_property,
    weakref.ref: _reduce_weak_reference,
    weakref.WeakKeyDictionary: _reduce_weak_dictionary,
    weakref.WeakValueDictionary: _reduce_weak_dictionary,
    weakref.WeakSet: _reduce_weak_set,
}
TYPING_REDUCERS: Dict[str, Reducer] = {
    "TypeVar": _reduce_type_variable,
    "ParamSpec": _reduce_type_variable,
    "TypeVarTuple": _reduce_type_variable_tuple,
    "NewType": _reduce_new_type,
    "TypeAliasType": _reduce_alias,
}
DATACLASS_REDUCERS: Dict[str, Reducer] = {
    "Field": _reduce_dataclass_field,
    "_DataclassParams": _reduce_dataclass_parameters,
}
