"""Pickles what Python's own pickle does not: functions, classes and similar objects that a session defined.

They are saved by value: code by ``marshal`` and its origin, a class as its skeleton and then its attributes. A function's globals are not
captured, because all of ``__main__`` is saved and restored with it. What can be imported by name is saved by name, as
pickle does. The builders of ``build``, the namespace and the standard streams are known to both ends from the start: see
``well_known_objects``.
"""

import builtins
import marshal
import sys
import types
from _pickle import PickleBuffer, Pickler, PicklingError
from typing import Any, Callable, Dict, Optional, Tuple

from . import build
from .generated import generated_names
from .placeholders import Placeholder
from .reducers import DATACLASS_REDUCERS, REDUCERS, TYPING_REDUCERS, Reducer, Reduction, is_importable, singleton_reducer

CodeType, FunctionType, ModuleType, MethodType = types.CodeType, types.FunctionType, types.ModuleType, types.MethodType
HEAP_TYPE = 1 << 9
SKELETON_ATTRIBUTES = ("__module__", "__qualname__", "__slots__", "__orig_bases__")
ANNOTATIONS = ("__annotations__", "__annotations_cache__", "__annotate_func__")  # the last two since Python 3.14
COMPILER_CELLS = ("__classcell__", "__classdictcell__")  # which typing.NamedTuple copies
NEVER_SAVED = (
    "__dict__", "__weakref__", "_abc_impl", "__abstractmethods__", *SKELETON_ATTRIBUTES, *ANNOTATIONS, *COMPILER_CELLS
)  # fmt: skip
FUNCTION_STATE = ("__defaults__", "__kwdefaults__", "__doc__", "__annotations__", "__dict__", "__type_params__")
C_DESCRIPTORS = (types.MethodDescriptorType, types.ClassMethodDescriptorType, types.WrapperDescriptorType)
MAX_SUBMODULES = 2000  # of a package, imported again with it
MAX_TYPES = 4096  # types whose reducer is cached


def well_known_objects(main: ModuleType) -> Dict[str, Any]:
    """Objects that both ends know by name. The names are part of the format of session files."""
    known = {name: getattr(build, name) for name in build.__all__}
    known.update(namespace=main.__dict__, main=main, builtins=builtins.__dict__)
    known.update(stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr)
    return known


class ByValuePickler(Pickler):
    """``stdlib``: objects that are saved by their name in the standard library. ``code_callback`` takes each code object before it
    is saved, and whether it is a module's; it returns the origin. ``broken``: objects that must not be saved, by id, with reasons."""

    def __init__(
        self,
        file: Any,
        main: ModuleType,
        stdlib: Dict[str, Any],
        buffer_callback: Callable[[PickleBuffer], Any],
        code_callback: Callable[[CodeType, bool], Any],
    ) -> None:
        super().__init__(file, 5, buffer_callback=buffer_callback)
        self.origin_of = code_callback
        self.broken: Dict[int, str] = {}
        known = well_known_objects(main)
        self.memo = {id(value): (index, value) for index, value in enumerate(known.values())}
        self.prelude = _prelude(known)
        # Only what the standard library defined, not what it imported.
        made = {name: value for name, value in stdlib.items() if _quietly(getattr, value, "__module__") == "__main__"}
        self._stdlib = {id(value): name for name, value in made.items()}
        self._reducers: Dict[type, Optional[Reducer]] = {}
        self._globals: Dict[str, build.ModuleGlobals] = {}

    def reducer_override(self, obj: Any) -> Reduction:
        kind = type(obj)
        if self.broken and id(obj) in self.broken:
            raise PicklingError(self.broken[id(obj)])
        if self._stdlib and id(obj) in self._stdlib:
            return build.stdlib, (self._stdlib[id(obj)],)
        try:
            reduce = self._reducers[kind]
        except KeyError:
            reduce = _reducer_of(kind)
            if len(self._reducers) < MAX_TYPES:
                self._reducers[kind] = reduce
        return NotImplemented if reduce is None else reduce(self, obj)

    def is_of_stdlib(self, obj: Any) -> bool:
        return id(obj) in self._stdlib

    def globals_of(self, function: Any) -> Any:
        """The namespace itself, the globals of a module by its name, or the dictionary by value."""
        found = function.__globals__
        name = found.get("__name__")
        if isinstance(name, str) and name != "__main__" and vars(sys.modules.get(name, build)) is found:
            return self._globals.setdefault(name, build.ModuleGlobals(name))
        return found


def _prelude(known: Dict[str, Any]) -> bytes:
    """A pickle that, when loaded, puts each well-known object at its index in the memo."""
    return b"\x80\x05" + b"".join(b"c%s\n%s\n\x940" % (build.WELL_KNOWN, name.encode()) for name in known) + b"N."


def _reducer_of(kind: type) -> Optional[Reducer]:
    found = _REDUCERS.get(kind)
    if found is not None:
        return found
    if issubclass(kind, type):
        return _reduce_class
    if issubclass(kind, ModuleType):
        return _reduce_module
    enum = sys.modules.get("enum")
    if enum is not None and isinstance(kind, enum.EnumMeta):
        return _reduce_member
    typing = sys.modules.get("typing")
    if typing is not None and kind.__module__ in ("typing", "typing_extensions"):
        if kind.__name__ in TYPING_REDUCERS:
            return TYPING_REDUCERS[kind.__name__]
    if kind.__module__ == "dataclasses" and kind.__name__ in DATACLASS_REDUCERS:
        return DATACLASS_REDUCERS[kind.__name__]
    return singleton_reducer(kind)


def _reduce_function(pickler: ByValuePickler, function: Any) -> Reduction:
    if is_importable(function):
        return NotImplemented
    code, globals_ = function.__code__, pickler.globals_of(function)
    origin = pickler.origin_of(code, isinstance(globals_, build.ModuleGlobals))
    args = (marshal.dumps(code), globals_, function.__name__, function.__closure__, origin)
    state: Dict[str, Any] = {"__qualname__": function.__qualname__, "__module__": function.__module__}
    for key in FUNCTION_STATE:
        value = _annotations_of(function) if key == "__annotations__" else getattr(function, key, None)
        if value:
            state[key] = value
    return build.function, args, state, None, None, build.set_function


def _reduce_cell(_: ByValuePickler, cell: Any) -> Reduction:
    try:
        contents = (cell.cell_contents,)
    except ValueError:
        contents = ()
    return build.cell, (), contents, None, None, build.set_cell


def _reduce_code(pickler: ByValuePickler, code: Any) -> Reduction:
    return build.code, (marshal.dumps(code), pickler.origin_of(code, False))


def _reduce_method(_: ByValuePickler, method: Any) -> Reduction:
    return MethodType, (method.__func__, method.__self__)


def _reduce_module(_: ByValuePickler, module: Any) -> Reduction:
    name = module.__name__
    if sys.modules.get(name) is not module:
        raise PicklingError(f"cannot save module {name!r}: it cannot be imported by that name")
    # `import a.b` sets the variable `a`: its submodules must be imported with it.
    parts = [each for each in list(sys.modules) if each.startswith(f"{name}.")] if hasattr(module, "__path__") else []
    return build.module, (name, *parts[:MAX_SUBMODULES])


def _reduce_class(_: ByValuePickler, cls: Any) -> Reduction:
    if type.__subclasscheck__(Placeholder, cls):
        raise PicklingError(cls.reason)
    if id(cls) in _OF_TYPES:
        return getattr, (types, _OF_TYPES[id(cls)])
    if is_importable(cls) or not _is_made_by_python(cls):
        return NotImplemented
    attributes = type.__dict__["__dict__"].__get__(cls)
    skeleton = {key: attributes[key] for key in SKELETON_ATTRIBUTES if key in attributes}
    skeleton["__qualname__"] = cls.__qualname__
    slots = skeleton.get("__slots__")
    if slots is not None and not isinstance(slots, (str, tuple, list, dict)):
        skeleton["__slots__"] = tuple(key for key, value in attributes.items() if _is_slot(value, cls))
    methods: Dict[str, Any] = {}
    others: Dict[str, Any] = {}
    if any(attributes.get(key) is not None for key in ANNOTATIONS):
        others["__annotations__"] = _annotations_of(cls)
    for key, value in attributes.items():
        if key not in NEVER_SAVED and not _is_slot(value, cls):
            (methods if isinstance(value, _METHODS) else others)[key] = value
    # Methods are set before other attributes are built, because those may be instances of this class.
    state = (build.Attributes(cls, methods), others, _abstract(cls, attributes), generated_names(cls, attributes))
    args = (type(cls), cls.__name__, cls.__bases__, skeleton)
    return build.class_, args, state, None, None, build.set_class


def _abstract(cls: Any, attributes: Any) -> Optional[Tuple[Any, Tuple[Any, ...]]]:
    """For an abstract base class: the names of abstract methods and the registered classes."""
    if "_abc_impl" not in attributes:
        return None
    import _abc

    registered = [reference() for reference in _abc._get_dump(cls)[0]]
    return attributes.get("__abstractmethods__"), tuple(other for other in registered if other is not None)


def _is_slot(value: Any, cls: Any) -> bool:
    return isinstance(value, types.MemberDescriptorType) and value.__objclass__ is cls


def _is_made_by_python(cls: Any) -> bool:
    if not cls.__flags__ & HEAP_TYPE:
        return False
    attributes = type.__dict__["__dict__"].__get__(cls)
    return cls.__module__ == "__main__" or not any(
        isinstance(value, C_DESCRIPTORS) and value.__objclass__ is cls for value in attributes.values()
    )


def _reduce_member(pickler: ByValuePickler, member: Any) -> Reduction:
    """A member of an enumeration that is saved by value: restored directly, without calling the class."""
    cls = type(member)
    if is_importable(cls) or pickler.is_of_stdlib(cls):
        return NotImplemented
    _, args, state = object.__reduce_ex__(member, 4)[:3]
    if isinstance(state, tuple):  # there are slots too
        state = {**(state[0] or {}), **(state[1] or {})}
    return build.member, (cls._member_type_, *args), state, None, None, build.set_member


def _annotations_of(obj: Any) -> Any:
    """Since Python 3.14 reading annotations evaluates them. If that fails, they are saved as text."""
    found = _quietly(getattr, obj, "__annotations__")
    if found is None and sys.version_info >= (3, 14):
        import annotationlib

        return _quietly(lambda: annotationlib.get_annotations(obj, format=annotationlib.Format.STRING))
    return found


def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    """None if it raises."""
    try:
        return function(*args)
    except Exception:
        return None


_OF_TYPES: Dict[int, str] = {
    id(value): name
    for name, value in vars(types).items()
    if isinstance(value, type) and value.__module__ == "builtins" and not hasattr(builtins, value.__name__)
}
_METHODS: Tuple[type, ...] = (
    FunctionType,
    staticmethod,
    classmethod,
    property,
    types.BuiltinFunctionType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
)
_REDUCERS: Dict[type, Reducer] = {
    **REDUCERS,
    FunctionType: _reduce_function,
    types.CellType: _reduce_cell,
    types.CodeType: _reduce_code,
    MethodType: _reduce_method,
}
