"""Loading: unpickles the variables of a session file into the namespace. If it fails, the namespace is unchanged.

Functions that were saved by a Python with other bytecode are compiled from their source.

Variables that need a missing module or a missing part of the standard library are skipped and reported. If code of the
saved session raises while an object is built, the stream must be read again by a slower unpickler, which puts a placeholder
in place of that object; variables that contain a placeholder are skipped and reported, too.
"""

import abc
import importlib
import json
import linecache
import marshal
import sys
from _pickle import Unpickler
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..io.bulk import Incoming
from ..report import truncate
from . import build
from .generated import generate
from .origins import NotFound, Origin, Recompiler, parse_origin
from .pickler import well_known_objects
from .placeholders import Placeholder, make_placeholder, make_placeholder_class
from .records import Buffers, Damaged, Records
from .saving import MAX_REASON, UNIQUE_NAMES, find_failing, reason_of
from .tolerant_unpickler import make_tolerant_unpickler
from .versions import difference

# Modules of one version of Python whose names are elsewhere in all others.
MOVED = {"pathlib._local": "pathlib"}


class RetryNeeded(Exception):
    """Code of the saved session raised: the host must send the stream again, for the tolerant unpickler."""


def load(
    main: ModuleType, stdlib: Dict[str, Any], incoming: Incoming, tolerant: bool, saved_by: Dict[str, str]
) -> Tuple[Dict[str, Any], int]:
    """``saved_by``: the version of the interpreter that saved it. Returns the report and the ``from __future__`` flags. If it
    raises, the namespace is unchanged."""
    namespace = main.__dict__
    before = dict(namespace)
    try:
        records = Records(incoming)
        loader = Loader(main, stdlib, records.sources, difference(saved_by))
        loaded, end = _read(records, loader, namespace, tolerant)
        loader.finish()
        skipped = {name: found.reason for name, found in loaded.items() if isinstance(found, Placeholder)}
        if loader.has_placeholders:
            rest = {name: value for name, value in loaded.items() if name not in skipped}
            skipped.update(find_failing(rest, main, stdlib, loader.broken))
        incoming.drain()
    except BaseException:
        namespace.clear()
        namespace.update(before)
        raise
    for name in loaded:
        namespace.pop(name, None)
    namespace.update(before)
    names = [name for name in end["order"] if name in loaded and name not in skipped]
    for name in names:
        namespace[name] = loaded[name]
    _restore_sources(records.sources)
    listed = [{"name": name, "why": skipped[name]} for name in end["order"] if name in skipped]
    return {"names": names, "skipped": listed}, end["flags"]


def _read(
    records: Records, loader: "Loader", namespace: Dict[str, Any], tolerant: bool
) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    unpickler: Any = (make_tolerant_unpickler if tolerant else _Unpickler)(records, loader)
    unpickler.load()  # the prelude
    loaded: Dict[str, Any] = {}
    while True:
        kind, data = records.next()
        if kind == b"E":
            return loaded, _parse_end(data)
        name = data.decode("utf-8", "surrogatepass")
        try:
            loaded[name] = namespace[name] = unpickler.load()
        except (Damaged, KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:
            if tolerant:
                raise Damaged(f"variable {name!r}: {reason_of(error)}") from error
            raise RetryNeeded(f"variable {name!r}: {reason_of(error)}") from error


def _parse_end(data: bytes) -> Dict[str, Any]:
    try:
        end = json.loads(data)
        if isinstance(end["flags"], int) and isinstance(end["order"], list):
            return end
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise Damaged("its end is not one")


def _restore_sources(sources: Dict[str, str]) -> None:
    for name, text in sources.items():
        name = _renamed(name)
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)


def _renamed(filename: str) -> str:
    """Marks cells of the saved session, because the numbers of this one start again."""
    return f"<loaded {filename[1:]}" if filename.startswith(UNIQUE_NAMES) else filename


class Loader:
    """The builders of ``build`` that need the session, and the record of what could not be built. ``difference``: between the
    interpreters; None if bytecode can be loaded as it is."""

    def __init__(
        self, main: ModuleType, stdlib: Dict[str, Any], sources: Dict[str, str], difference: Optional[str]
    ) -> None:
        self.has_placeholders = False
        self.broken: Dict[int, str] = {}  # objects that are only partly built, by id, with reasons
        self._kept: List[Any] = []
        self._stdlib = stdlib
        self._recompiler = Recompiler(sources)
        self._difference = difference
        self._subclass_hooks: List[Tuple[type, Any]] = []
        self._well_known = well_known_objects(main)
        own: Dict[str, Callable[..., Any]] = {
            "function": self._function, "code": self._code, "module": self._module,
            "module_globals": self._module_globals, "stdlib": self._find_stdlib, "set_class": self._set_class,
            "set_attributes": self._set_attributes,
        }  # fmt: skip
        self._well_known.update(own)
        names = ("set_function", "set_cell", "set_member", "set_class", "set_attributes", "set_slots")
        self.setters = {id(self._well_known[name]) for name in names}

    def find(self, module: str, name: str, find: Callable[[str, str], Any]) -> Any:
        if module == build.WELL_KNOWN.decode():
            return self._well_known[name]
        try:
            return find(MOVED.get(module, module), name)
        except MemoryError:
            raise
        except Exception as error:
            return self._placeholder_class(name, f"{module}.{name} is not there: {reason_of(error)}")

    def mark_broken(self, obj: Any, error: BaseException) -> None:
        """The object stays in place, partly built. Variables that contain it will be skipped."""
        reason = f"an object in it cannot be built: {reason_of(error)}"
        self._keep_broken(obj, reason)
        # The pickler that looks for broken objects does not ask about these types, but finds a placeholder in them.
        if type(obj) is list:
            obj.append(make_placeholder(reason))
        elif type(obj) is dict:
            obj[make_placeholder(reason)] = None
        elif type(obj) is set:
            obj.add(make_placeholder(reason))

    def placeholder(self, error: BaseException) -> Any:
        return self._placeholder(f"an object in it cannot be built: {reason_of(error)}")

    def finish(self) -> None:
        """Sets ``__init_subclass__`` last, so that it does not run again for subclasses of the saved session."""
        for cls, hook in self._subclass_hooks:
            type.__setattr__(cls, "__init_subclass__", hook)

    def _placeholder(self, reason: str) -> Any:
        self.has_placeholders = True
        return make_placeholder(reason)

    def _placeholder_class(self, name: str, reason: str) -> Any:
        self.has_placeholders = True
        return make_placeholder_class(name, reason)

    def _code(self, data: bytes, origin: Any) -> Any:
        if self._difference is None:
            return _rename_code(marshal.loads(data))
        found = parse_origin(origin)
        try:
            return _rename_code(self._recompiler.find(found))
        except NotFound as error:
            return self._placeholder(self._why_not_found("code", found, error))

    def _function(self, data: bytes, globals_: Any, name: str, closure: Optional[Tuple[Any, ...]], origin: Any) -> Any:
        if isinstance(globals_, Placeholder):
            return globals_
        if self._difference is None:
            return FunctionType(self._code(data, origin), globals_, name, None, closure)
        found = parse_origin(origin)
        try:
            code = self._find_code(found, globals_)
        except NotFound as error:
            return self._stand_in(self._why_not_found("function", found, error))
        cells = dict(zip(found.free, closure or ()))
        return FunctionType(_rename_code(code), globals_, name, None, tuple(cells[free] for free in code.co_freevars))

    def _find_code(self, origin: Origin, globals_: Dict[str, Any]) -> CodeType:
        module = globals_.get("__name__")
        if isinstance(module, str) and module != "__main__" and vars(sys.modules.get(module, build)) is globals_:
            return self._recompiler.find_in_module(origin, module)
        return self._recompiler.find(origin)

    def _why_not_found(self, kind: str, origin: Origin, error: NotFound) -> str:
        return truncate(f"{kind} {origin.name!r} {self._difference}, and {error}", MAX_REASON)

    def _stand_in(self, reason: str) -> Any:
        """A function that raises. Variables that contain it will be skipped."""

        def missing(*_: Any, **__: Any) -> None:
            raise RuntimeError(reason)

        self._keep_broken(missing, reason)
        return missing

    def _keep_broken(self, obj: Any, reason: str) -> None:
        self.has_placeholders = True
        self._kept.append(obj)
        self.broken[id(obj)] = reason

    def _module(self, name: str, *parts: str) -> Any:
        try:
            module = importlib.import_module(name)
            for part in parts:
                self._import_part(part)
            return module
        except Exception as error:
            return self._placeholder(f"module {name!r} cannot be imported: {reason_of(error)}")

    def _import_part(self, name: str) -> None:
        """Imports a submodule that was loaded when the session was saved. If that fails, objects that need it will fail."""
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except Exception:
                pass

    def _module_globals(self, name: str) -> Any:
        module = self._module(name)
        return module if isinstance(module, Placeholder) else module.__dict__

    def _find_stdlib(self, name: str) -> Any:
        if name in self._stdlib:
            return self._stdlib[name]
        return self._placeholder_class(name, f"the standard library of this session has no {name!r}")

    def _set_class(self, cls: Any, state: Tuple[Any, ...]) -> None:
        _, attributes, abstract, generated = state
        self._set_attributes(cls, attributes)
        if isinstance(cls, Placeholder):
            return
        if generated and self._difference is not None:
            generate(cls, generated)
        if abstract is not None:
            names, registered = abstract
            if names is not None:
                cls.__abstractmethods__ = names
            for other in registered:
                abc.ABCMeta.register(cls, other)

    def _set_attributes(self, cls: Any, attributes: Dict[str, Any]) -> None:
        if isinstance(cls, Placeholder):
            return
        hook = attributes.pop("__init_subclass__", None)
        if hook is not None:
            self._subclass_hooks.append((cls, hook))
        build.set_attributes(cls, attributes)


def _rename_code(code: CodeType) -> CodeType:
    constants = tuple(_rename_code(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=_renamed(code.co_filename), co_consts=constants)


class _Unpickler(Unpickler):
    def __init__(self, records: Records, loader: Loader) -> None:
        super().__init__(records, buffers=Buffers(records))
        self._loader = loader

    def find_class(self, module: str, name: str) -> Any:
        return self._loader.find(module, name, super().find_class)
