"""Loading: the variables of a session file, unpickled into the namespace. All of it, or the namespace is as it was.

What needs a module or a part of the standard library that is not there is left out and listed. Where code of the saved
session raises while an object is built, the stream has to be read once more, by a slower reader that puts a stand-in
in the place of such an object; what contains a stand-in is left out and listed, too.
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

from . import build
from ..io.bulk import Incoming
from .pickler import seeds
from .tolerant_unpickler import patient_unpickler
from .records import Buffers, Damaged, Records
from .saving import find_failing, version, why
from .placeholders import StandIn, stand_in, stand_in_class


class Again(Exception):
    """Code of the saved session raised: the stream is to be sent once more, for a patient reader."""


def check_version(saved: Dict[str, str]) -> None:
    """Raises RuntimeError where this interpreter cannot read what that one saved."""
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
    main: ModuleType, stdlib: Dict[str, Any], incoming: Incoming, patient: bool
) -> Tuple[Dict[str, Any], int]:
    """Returns the report, and the ``from __future__`` flags. The namespace changes only if it returns."""
    namespace = main.__dict__
    before = dict(namespace)
    try:
        records = Records(incoming)
        loader = Loader(main, stdlib)
        loaded, end = _read(records, loader, namespace, patient)
        loader.finish()
        skipped = {name: found.why for name, found in loaded.items() if isinstance(found, StandIn)}
        if loader.incomplete:
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
    _remember(end["sources"])
    listed = [{"name": name, "why": skipped[name]} for name in end["order"] if name in skipped]
    return {"names": names, "skipped": listed}, end["flags"]


def _read(
    records: Records, loader: "Loader", namespace: Dict[str, Any], patient: bool
) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    unpickler: Any = (patient_unpickler if patient else _Unpickler)(records, loader)
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
            if patient:
                raise Damaged(f"variable {name!r}: {why(error)}") from error
            raise Again(f"variable {name!r}: {why(error)}") from error


def _parse_end(data: bytes) -> Dict[str, Any]:
    try:
        end = json.loads(data)
        if isinstance(end["flags"], int) and isinstance(end["order"], list) and isinstance(end["sources"], dict):
            return end
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise Damaged("its end is not one")


def _remember(sources: Dict[str, str]) -> None:
    for name, text in sources.items():
        if isinstance(text, str):
            name = _renamed(name)
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)


def _renamed(filename: str) -> str:
    """Cells of the saved session are not those of this one, whose numbers begin again."""
    return f"<loaded {filename[1:]}" if filename.startswith(("<cell ", "<loaded ")) else filename


class Loader:
    """What the builders of ``build`` need to know of the session."""

    def __init__(self, main: ModuleType, stdlib: Dict[str, Any]) -> None:
        self.incomplete = False  # whether anything stands in for something else
        self.broken: Dict[int, str] = {}  # objects that are there but were not finished, by id, and why
        self._kept: List[Any] = []
        self._stdlib = stdlib
        self._subclass_hooks: List[Tuple[type, Any]] = []
        self._seeds = seeds(main)
        own: Dict[str, Callable[..., Any]] = {
            "function": self._function, "code": self._code, "module": self._module,
            "module_globals": self._module_globals, "stdlib": self._find_stdlib, "set_class": self._set_class,
            "set_attributes": self._set_attributes,
        }  # fmt: skip
        self._seeds.update(own)
        names = ("set_function", "set_cell", "set_member", "set_class", "set_attributes")
        self.setters = {id(self._seeds[name]) for name in names}

    def find(self, module: str, name: str, find: Callable[[str, str], Any]) -> Any:
        if module == build.SEED.decode():
            return self._seeds[name]
        try:
            return find(module, name)
        except (ImportError, AttributeError) as error:
            return self._stand_in_class(name, f"{module}.{name} is not there: {why(error)}")

    def give_up_on(self, obj: Any, error: BaseException) -> None:
        """The object stays where it is, half built, and whatever contains it is left out."""
        self.incomplete = True
        self._kept.append(obj)
        self.broken[id(obj)] = f"an object in it cannot be built: {why(error)}"

    def stand_in(self, error: BaseException) -> Any:
        return self._stand_in(f"an object in it cannot be built: {why(error)}")

    def finish(self) -> None:
        """Only now, so that no class of the saved session hears again of subclasses that it has heard of."""
        for cls, hook in self._subclass_hooks:
            type.__setattr__(cls, "__init_subclass__", hook)

    def _stand_in(self, text: str) -> Any:
        self.incomplete = True
        return stand_in(text)

    def _stand_in_class(self, name: str, text: str) -> Any:
        self.incomplete = True
        return stand_in_class(name, text)

    def _code(self, data: bytes) -> Any:
        return _rename_code(marshal.loads(data))

    def _function(self, data: bytes, globals_: Any, name: str, closure: Optional[Tuple[Any, ...]]) -> Any:
        if isinstance(globals_, StandIn):
            return globals_
        return FunctionType(self._code(data), globals_, name, None, closure)

    def _module(self, name: str, *parts: str) -> Any:
        try:
            module = importlib.import_module(name)
            for part in parts:
                self._import_part(part)
            return module
        except Exception as error:
            return self._stand_in(f"module {name!r} cannot be imported: {why(error)}")

    def _import_part(self, name: str) -> None:
        """A part of a package that was there when it was saved; what needs it and misses it will say so."""
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except Exception:
                pass

    def _module_globals(self, name: str) -> Any:
        module = self._module(name)
        return module if isinstance(module, StandIn) else module.__dict__

    def _find_stdlib(self, name: str) -> Any:
        if name in self._stdlib:
            return self._stdlib[name]
        return self._stand_in_class(name, f"the standard library of this session has no {name!r}")

    def _set_class(self, cls: Any, state: Tuple[Any, ...]) -> None:
        _, attributes, abstract = state
        self._set_attributes(cls, attributes)
        if abstract is not None and not isinstance(cls, StandIn):
            names, registered = abstract
            if names is not None:
                cls.__abstractmethods__ = names
            for other in registered:
                abc.ABCMeta.register(cls, other)

    def _set_attributes(self, cls: Any, attributes: Dict[str, Any]) -> None:
        if isinstance(cls, StandIn):
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
