"""Loading: unpickles the variables of a session file into the namespace. If it fails, the namespace is unchanged.

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
from . import build
from .pickler import well_known_objects
from .placeholders import Placeholder, make_placeholder, make_placeholder_class
from .records import Buffers, Damaged, Records
from .saving import find_failing, reason_of, version
from .tolerant_unpickler import make_tolerant_unpickler


class RetryNeeded(Exception):
    """Code of the saved session raised: the host must send the stream again, for the tolerant unpickler."""


def check_version(saved: Dict[str, str]) -> None:
    """Raises RuntimeError if this interpreter cannot load what the other one saved."""
    here = version()
    ours, theirs = (each["python"].rpartition(".")[0] for each in (here, saved))
    if theirs != ours or saved["implementation"] != here["implementation"]:
        raise RuntimeError(
            f"it was saved by {_named(saved, theirs)}, and this session runs {_named(here, ours)}"
        )
    if saved["bytecode"] != here["bytecode"]:
        raise RuntimeError(f"it was saved by another build of Python {theirs}, whose code is not this one's")


def _named(of: Dict[str, str], number: str) -> str:
    return f"{'Python' if of['implementation'] == 'cpython' else of['implementation']} {number}"


def load(
    main: ModuleType, stdlib: Dict[str, Any], incoming: Incoming, tolerant: bool
) -> Tuple[Dict[str, Any], int]:
    """Returns the report and the ``from __future__`` flags. If it raises, the namespace is unchanged."""
    namespace = main.__dict__
    before = dict(namespace)
    try:
        records = Records(incoming)
        loader = Loader(main, stdlib)
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
    _restore_sources(end["sources"])
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
        if isinstance(end["flags"], int) and isinstance(end["order"], list) and isinstance(end["sources"], dict):
            return end
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise Damaged("its end is not one")


def _restore_sources(sources: Dict[str, str]) -> None:
    for name, text in sources.items():
        if isinstance(text, str):
            name = _renamed(name)
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)


def _renamed(filename: str) -> str:
    """Marks cells of the saved session, because the numbers of this one start again."""
    return f"<loaded {filename[1:]}" if filename.startswith(("<cell ", "<loaded ")) else filename


class Loader:
    """The builders of ``build`` that need the session, and the record of what could not be built."""

    def __init__(self, main: ModuleType, stdlib: Dict[str, Any]) -> None:
        self.has_placeholders = False
        self.broken: Dict[int, str] = {}  # objects that are only partly built, by id, with reasons
        self._kept: List[Any] = []
        self._stdlib = stdlib
        self._subclass_hooks: List[Tuple[type, Any]] = []
        self._well_known = well_known_objects(main)
        own: Dict[str, Callable[..., Any]] = {
            "function": self._function, "code": self._code, "module": self._module,
            "module_globals": self._module_globals, "stdlib": self._find_stdlib, "set_class": self._set_class,
            "set_attributes": self._set_attributes,
        }  # fmt: skip
        self._well_known.update(own)
        names = ("set_function", "set_cell", "set_member", "set_class", "set_attributes")
        self.setters = {id(self._well_known[name]) for name in names}

    def find(self, module: str, name: str, find: Callable[[str, str], Any]) -> Any:
        if module == build.WELL_KNOWN.decode():
            return self._well_known[name]
        try:
            return find(module, name)
        except (ImportError, AttributeError) as error:
            return self._placeholder_class(name, f"{module}.{name} is not there: {reason_of(error)}")

    def mark_broken(self, obj: Any, error: BaseException) -> None:
        """The object stays in place, partly built. Variables that contain it will be skipped."""
        self.has_placeholders = True
        self._kept.append(obj)
        self.broken[id(obj)] = f"an object in it cannot be built: {reason_of(error)}"

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

    def _code(self, data: bytes) -> Any:
        return _rename_code(marshal.loads(data))

    def _function(self, data: bytes, globals_: Any, name: str, closure: Optional[Tuple[Any, ...]]) -> Any:
        if isinstance(globals_, Placeholder):
            return globals_
        return FunctionType(self._code(data), globals_, name, None, closure)

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
        _, attributes, abstract = state
        self._set_attributes(cls, attributes)
        if abstract is not None and not isinstance(cls, Placeholder):
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
