"""Saving: writes every variable of a session that can be saved, as one stream of records.

All variables go through one pickler, so that objects they share are saved once and are shared again after loading. If a
variable cannot be saved, all variables that cannot be saved are found first, and the stream starts again without them: a
variable is saved completely or not at all.

A record is a letter, a length in 8 bytes (little endian) and that many bytes: ``V`` the name of the next variable, ``P`` a
piece of the pickle, ``B`` an out-of-band buffer, in the order in which the pickle uses them, ``S`` the source of a cell, as
JSON, before the first piece with code of it, ``E`` the end, with a JSON object of what is saved besides variables.
"""

import json
import linecache
from _pickle import PickleBuffer, PickleError
from types import CodeType, FunctionType, ModuleType
from typing import Any, Dict, Optional, Tuple

from ..cells import CELLS
from ..io.bulk import Outgoing
from ..report import name_of, truncate
from .origins import NotFound, Origin, Recompiler, origin_of
from .pickler import ByValuePickler
from .versions import version

IN_BAND = 64 * 1024  # a shorter buffer is saved inside the pickle
ATTEMPTS = 4
MAX_REASON = 300
MAX_SOURCES = 1 << 20  # characters
UNIQUE_NAMES = (*CELLS, "<loaded ")  # of files whose source never changes
INITIAL = frozenset(("__name__", "__doc__", "__package__", "__loader__", "__spec__", "__builtins__", "__file__", "__warningregistry__"))


def save(main: ModuleType, stdlib: Dict[str, Any], flags: int, outgoing: Outgoing) -> Dict[str, Any]:
    """Returns the names, what was skipped and why, and the modules. Runs user code, such as ``__reduce__``."""
    variables = {
        name: value
        for name, value in list(main.__dict__.items())
        if name not in INITIAL and not (name in stdlib and stdlib[name] is value)
    }
    order = list(variables)
    skipped: Dict[str, str] = {}
    for _ in range(ATTEMPTS):
        saver = _Saver(main, stdlib, outgoing)
        failed = saver.run(variables, flags)
        if not failed:
            break
        rest = {name: value for name, value in variables.items() if name not in failed}
        failed.update(find_failing(rest, main, stdlib, {}))
        skipped.update(failed)
        for name in failed:
            del variables[name]
        outgoing.restart()
    else:
        raise RuntimeError("variables change while they are saved")
    return {
        **version(),
        "names": [name for name in order if name in variables],
        "skipped": [{"name": name, "why": skipped[name]} for name in order if name in skipped],
        "modules": sorted({value.__name__ for value in variables.values() if isinstance(value, ModuleType)}),
    }


def find_failing(
    variables: Dict[str, Any], main: ModuleType, stdlib: Dict[str, Any], broken: Dict[int, str]
) -> Dict[str, str]:
    """The variables that cannot be saved or refer to a broken object, with reasons. Shared objects are visited once."""
    failing: Dict[str, str] = {}
    pickler: Optional[ByValuePickler] = None
    for name, value in variables.items():
        if pickler is None:
            pickler = ByValuePickler(_NullFile(), main, stdlib, lambda _: None, lambda _, __: None)
            pickler.broken = broken
        try:
            pickler.dump(value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failing[name] = reason_of(error)
            pickler = None  # its memo contains unfinished objects
    return failing


def reason_of(error: BaseException) -> str:
    """An exception as one line for the report."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    try:
        text = str.__str__(str(error))
    except Exception:
        text = ""
    text = " ".join(text.split()) or name_of(error)
    if not isinstance(error, (TypeError, PickleError)):
        text = f"{name_of(error)}: {text}"
    return truncate(text, MAX_REASON)


class _Saver:
    """One attempt. It is also the file of its pickler: ``write`` takes a piece of the pickle."""

    def __init__(self, main: ModuleType, stdlib: Dict[str, Any], outgoing: Outgoing) -> None:
        self._outgoing = outgoing
        self._pickler = ByValuePickler(self, main, stdlib, self._take_buffer, self._take_code)
        self._filenames: Dict[str, None] = {}
        self._sources: Dict[str, str] = {}
        self._sources_size = 0
        self._recompiler = Recompiler(self._sources)

    def write(self, data: Any) -> int:
        self._record(b"P", data)
        return len(data)

    def run(self, variables: Dict[str, Any], flags: int) -> Dict[str, str]:
        """Writes the whole stream; returns the first variable that could not be saved, if any."""
        self._record(b"P", self._pickler.prelude)
        for name, value in sorted(variables.items(), key=_rank):
            self._record(b"V", name.encode("utf-8", "surrogatepass"))
            try:
                self._pickler.dump(value)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                return {name: reason_of(error)}
        end = {"flags": flags, "order": list(variables)}
        self._record(b"E", json.dumps(end).encode("ascii"))
        self._outgoing.flush()
        return {}

    def _take_buffer(self, buffer: PickleBuffer) -> bool:
        """False: the buffer is saved out of band, before the piece that refers to it."""
        data = buffer.raw()
        if data.nbytes < IN_BAND:
            return True
        self._record(b"B", data)
        return False

    def _record(self, kind: bytes, data: Any) -> None:
        self._outgoing.write(kind + len(data).to_bytes(8, "little"))
        self._outgoing.write(data)

    def _take_code(self, code: CodeType, is_of_module: bool) -> Tuple[Any, ...]:
        """Saves the source of the code, once, if it is still in linecache. Returns the origin of the code."""
        origin = origin_of(code)
        if is_of_module:
            return tuple(origin)
        filename = code.co_filename
        if filename not in self._filenames:
            self._filenames[filename] = None
            self._save_source(filename)
        if filename in self._sources and not filename.startswith(UNIQUE_NAMES) and not self._is_current(code, origin):
            origin = origin._replace(filename="")
        return tuple(origin)

    def _save_source(self, filename: str) -> None:
        lines = linecache.cache[filename][2] if len(linecache.cache.get(filename, ())) == 4 else []
        text = "".join(lines)
        if text and self._sources_size + len(text) <= MAX_SOURCES:
            self._sources_size += len(text)
            self._sources[filename] = text
            self._record(b"S", json.dumps([filename, text]).encode("ascii"))

    def _is_current(self, code: CodeType, origin: Origin) -> bool:
        """False if another source was executed under the same name since."""
        try:
            return self._recompiler.find(origin) == code
        except NotFound:
            return False


class _NullFile:
    def write(self, data: Any) -> int:
        return len(data)


def _rank(item: Tuple[str, Any]) -> int:
    """Modules first, then functions and classes, because the code that builds the rest may use them."""
    value = item[1]
    if isinstance(value, ModuleType):
        return 0
    return 1 if isinstance(value, (FunctionType, type)) else 2
