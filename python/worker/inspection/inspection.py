"""The variables of a namespace, and facts about one value.

``list_variables``, ``statistics`` and ``plain_facts`` run while user code runs, and run none themselves: they read only
exact built-in types, through the types' own slots. ``inspect_value`` calls methods of the object and must run in a fork.
"""

import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from .previews import plain_preview, preview_of, repr_of, scalar_preview, str_of

MAX_NAMES = 10_000
MAX_STATISTICS_NAMES = 1_000
MAX_NAME = 256
MAX_COLUMNS = 200
MAX_DIMENSIONS = 32
HEAP_TYPE = 1 << 9  # the flag of a class made by Python code; types made by C code cannot be imitated

FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
SIZED = frozenset((str, bytes, bytearray, list, tuple, dict, set, frozenset, range))

_name_of = type.__dict__["__name__"].__get__
_module_of = type.__dict__["__module__"].__get__
_flags_of = type.__dict__["__flags__"].__get__


def list_variables(namespace: Dict[str, Any], everything: bool) -> Dict[str, Any]:
    """Every name with the plain facts about its value. ``total`` also counts the names beyond the limit."""
    names = _names(namespace, everything)
    shown = [{"name": name, **plain_facts(value)} for name, value in names[:MAX_NAMES] if len(name) <= MAX_NAME]
    return {"total": len(names), "variables": shown}


def statistics(namespace: Dict[str, Any]) -> Dict[str, Any]:
    names = [name for name, _ in _names(namespace, False)]
    shown = [name for name in names[:MAX_STATISTICS_NAMES] if len(name) <= MAX_NAME]
    return {"variableCount": len(names), "variables": shown}


def plain_facts(value: Any) -> Dict[str, Any]:
    """Type, kind, length, shape and a short preview, as far as they are available without running user code."""
    kind = type(value)
    name, module = type_names(kind)
    facts: Dict[str, Any] = {"type": name, "module": module, "kind": kind_of(kind)}
    if kind in SIZED:
        try:
            facts["length"] = len(value)
        except OverflowError:
            pass  # a range longer than a machine word
    preview = plain_preview(value)
    if preview is not None:
        facts["preview"] = preview
    if module == "numpy" and not _flags_of(kind) & HEAP_TYPE:
        _add_numpy_facts(value, name, facts)
    elif module is not None and module.startswith("pandas."):
        _add_pandas_facts(value, kind, name, facts)
    return facts


def kind_of(kind: type) -> str:
    if issubclass(kind, type):
        return "class"
    if issubclass(kind, ModuleType):
        return "module"
    return "function" if issubclass(kind, FUNCTIONS) else "variable"


def type_names(kind: type) -> Tuple[str, Optional[str]]:
    """The name of a type and of its module, without calling its metaclass."""
    name = str.__str__(_name_of(kind))[:MAX_NAME]
    try:
        module = _module_of(kind)
    except AttributeError:
        module = None
    return name, module[:MAX_NAME] if type(module) is str else None


def inspect_value(value: Any, limit: int, emit: Callable[[Dict[str, Any]], None]) -> None:
    """Emits facts, the cheapest first. Exceptions become entries in ``errors``."""
    emit(plain_facts(value))
    errors: Dict[str, str] = {}
    steps: List[Tuple[str, Callable[[], Dict[str, Any]]]] = [
        ("facts", lambda: _facts(value)),
        ("preview", lambda: {"preview": preview_of(value)}),
        ("repr", lambda: {"repr": repr_of(value, limit)}),
        ("str", lambda: {"str": str_of(value, limit)}),
    ]
    for name, step in steps:
        try:
            part = step()
        except BaseException as error:
            errors[name] = describe(error)
            part = {"errors": errors}
        emit(part)


def describe(error: BaseException) -> str:
    """The name of an exception and its message, as one line."""
    name = type_names(type(error))[0]
    try:
        message = str.__str__(str(error))
    except BaseException:
        message = ""
    return f"{name}: {message}"[:500] if message else name


def _names(namespace: Dict[str, Any], everything: bool) -> List[Tuple[str, Any]]:
    """In the order of definition. Copied first, because the main thread may change the namespace meanwhile."""
    pairs = list(namespace.items())
    return [pair for pair in pairs if type(pair[0]) is str and (everything or pair[0][:1] != "_")]


def _add_numpy_facts(value: Any, name: str, facts: Dict[str, Any]) -> None:
    if name == "ndarray":
        facts["shape"] = list(value.shape)
        facts["dtype"] = _dtype_name(value.dtype)
        if value.shape:
            facts["length"] = value.shape[0]
        facts["sizeBytes"] = int(value.nbytes)
    elif hasattr(type(value), "dtype") and hasattr(type(value), "item"):  # a scalar
        facts["dtype"] = _dtype_name(value.dtype)
        preview = scalar_preview(value.item())
        if preview is not None:
            facts["preview"] = preview


def _add_pandas_facts(value: Any, kind: type, name: str, facts: Dict[str, Any]) -> None:
    """Only for the classes that pandas defines: a subclass may override ``shape``."""
    for module, known in (("pandas.core.frame", "DataFrame"), ("pandas.core.series", "Series")):
        loaded = sys.modules.get(module)
        if name == known and type(loaded) is ModuleType and loaded.__dict__.get(known) is kind:
            facts["shape"] = _shape(value.shape)
            facts["length"] = facts["shape"][0]
            if known == "Series":
                facts["dtype"] = str(value.dtype)[:MAX_NAME]


KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def _dtype_name(dtype: Any) -> str:
    """The name as numpy gives it; ``dtype.name`` is slow."""
    kind = KINDS.get(dtype.kind)
    if kind == "bool":
        return kind
    if kind is not None:
        return f"{kind}{dtype.itemsize * 8}"
    return "object" if dtype.kind == "O" else dtype.str[:MAX_NAME]


def _facts(value: Any) -> Dict[str, Any]:
    """Facts that come from methods and properties of the object."""
    kind = type(value)
    if kind_of(kind) != "variable":
        return {}
    facts: Dict[str, Any] = {}
    size = size_of(value, kind)
    if size is not None:
        facts["sizeBytes"] = size
    if kind in SIZED:
        return facts
    if hasattr(kind, "__len__") and getattr(value, "shape", None) != ():
        facts["length"] = len(value)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and all(_is_count(part) for part in shape):
        facts["shape"] = _shape(shape)
        dtype = getattr(value, "dtype", None)
        if dtype is not None:
            facts["dtype"] = str.__str__(str(dtype))[:MAX_NAME]
        columns = getattr(value, "columns", None)
        if columns is not None and len(shape) == 2:
            facts["columnCount"] = len(columns)
            facts["columns"] = _columns(columns, getattr(value, "dtypes", ()))
    return facts


def size_of(value: Any, kind: type) -> Optional[int]:
    """The size of the value without what it refers to; for a table or an array the size of its data."""
    usage = getattr(kind, "memory_usage", None)
    if usage is not None and (type_names(kind)[1] or "").startswith("pandas."):
        used = value.memory_usage(deep=False)
        return int(used.sum() if hasattr(used, "sum") else used)
    estimate = getattr(kind, "estimated_size", None)
    if estimate is not None:
        return int(value.estimated_size())
    if hasattr(kind, "nbytes"):
        return int(value.nbytes)
    return sys.getsizeof(value)


def _columns(names: Any, dtypes: Any) -> List[Dict[str, str]]:
    """The first columns. Types are looked up by position, because two columns may have the same name."""
    types = list(getattr(dtypes, "iloc", dtypes)[:MAX_COLUMNS])
    found = []
    for index, name in enumerate(names[:MAX_COLUMNS]):
        dtype = str(types[index]) if index < len(types) else ""
        found.append({"name": str.__str__(str(name))[:MAX_NAME], "dtype": dtype[:MAX_NAME]})
    return found


def _shape(shape: Iterable[Any]) -> List[int]:
    return [int(part) for part in shape][:MAX_DIMENSIONS]


def _is_count(value: Any) -> bool:
    return hasattr(type(value), "__index__") and value >= 0
