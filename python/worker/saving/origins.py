"""Finds code of another version of Python again, in the source that it was compiled from.

Bytecode belongs to one version of Python; running that of another one crashes. So an origin is saved beside each code
object: what its source says about it. A loader with other bytecode compiles the source and takes the code object that has
this origin. It never reads the foreign bytecode.
"""

import importlib
import warnings
from types import CodeType
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

from ..cells import FUTURES, Compiler

SIGNATURE_FLAGS = 0x04 | 0x08 | 0x20 | 0x80 | 0x200  # *args, **kwargs, generator, coroutine, asynchronous generator
ITERABLE_COROUTINE = 0x100  # set by types.coroutine, not by the compiler
SAVED_FLAGS = SIGNATURE_FLAGS | ITERABLE_COROUTINE | FUTURES
LAMBDA = "<lambda>"


class NotFound(Exception):
    """There is no such code, or there are several. The message is a clause for the report."""


class Origin(NamedTuple):
    """Saved as a plain tuple. ``qualname`` and ``column`` are None where the version of Python does not know them."""

    filename: str
    line: int
    name: str
    qualname: Optional[str]
    counts: Tuple[int, int, int]  # of parameters: without keyword-only ones, positional-only, keyword-only
    parameters: Tuple[str, ...]
    flags: int
    free: Tuple[str, ...]
    column: Optional[int]


def origin_of(code: CodeType) -> Origin:
    flags = code.co_flags
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    parameters = counts[0] + counts[2] + bool(flags & 0x04) + bool(flags & 0x08)
    return Origin(
        filename=code.co_filename,
        line=code.co_firstlineno,
        name=code.co_name,
        qualname=getattr(code, "co_qualname", None),
        counts=counts,
        parameters=code.co_varnames[:parameters],
        flags=flags & SAVED_FLAGS,
        free=code.co_freevars,
        column=_first_column(code) if code.co_name == LAMBDA else None,
    )


def parse_origin(value: Any) -> Origin:
    """Raises TypeError or ValueError for what is not an origin."""
    origin = Origin(*value)
    texts = (origin.filename, origin.name, *origin.parameters, *origin.free)
    numbers = (origin.line, origin.flags, *origin.counts)
    if not all(type(each) is str for each in texts) or not all(type(each) is int for each in numbers):
        raise TypeError("the origin of a function is not one")
    return origin


class Recompiler:
    """Compiles each source once. ``sources``: by file name; more may be added later."""

    def __init__(self, sources: Dict[str, str]) -> None:
        self._sources = sources
        self._files: Dict[Tuple[str, int], List[CodeType]] = {}
        self._modules: Dict[str, List[CodeType]] = {}

    def find(self, origin: Origin) -> CodeType:
        """The code of a function that a cell defined. The order of its free variables may differ from the origin's."""
        key = (origin.filename, origin.flags & FUTURES)
        if key not in self._files:
            self._files[key] = self._compile(*key)
        codes = [each for each in self._files[key] if each.co_firstlineno == origin.line]
        return _select(codes, origin, "its source")

    def find_in_module(self, origin: Origin, module: str) -> CodeType:
        """The same for a function that a module made. Its line may differ, because the module is that of this version."""
        if module not in self._modules:
            self._modules[module] = _codes_of_module(module)
        return _select(self._modules[module], origin, f"module {module!r} of this version")

    def _compile(self, filename: str, flags: int) -> List[CodeType]:
        if filename not in self._sources:
            raise NotFound("its source is not in the file")
        compiler = Compiler(keeps_sources=False)
        compiler.flags = flags
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were shown when the cell ran
                cell = compiler.compile(self._sources[filename], 0, filename)
        except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as error:
            raise NotFound(f"its source does not compile here: {type(error).__name__}: {error}") from None
        return _all_codes(code for code in (cell.body, cell.last) if code is not None)


def _select(codes: List[CodeType], origin: Origin, where: str) -> CodeType:
    found: List[CodeType] = []
    for code in codes:
        # The compiler repeats the code in a `finally` block.
        if code.co_name == origin.name and _signature(origin_of(code)) == _signature(origin) and code not in found:
            found.append(code)
    for key in ("qualname", "column"):
        wanted = getattr(origin, key)
        if len(found) > 1 and wanted is not None:
            found = [code for code in found if getattr(origin_of(code), key) == wanted]
    if not found:
        raise NotFound(f"{where} has no such function")
    if len(found) > 1:
        raise NotFound(f"{where} has {len(found)} functions like it in one place")
    return found[0].replace(co_flags=found[0].co_flags | origin.flags & ITERABLE_COROUTINE)


def _signature(origin: Origin) -> Tuple[Any, ...]:
    return origin.counts, origin.parameters, origin.flags & SIGNATURE_FLAGS, sorted(origin.free)


def _codes_of_module(name: str) -> List[CodeType]:
    try:
        loader: Any = importlib.import_module(name).__spec__.loader  # type: ignore[union-attr]
        code = loader.get_code(name)
    except Exception as error:
        raise NotFound(f"the code of module {name!r} is not there: {type(error).__name__}: {error}") from None
    return _all_codes([code] if isinstance(code, CodeType) else [])


def _all_codes(roots: Iterable[CodeType]) -> List[CodeType]:
    found = list(roots)
    for code in found:  # grows meanwhile
        found.extend(each for each in code.co_consts if isinstance(each, CodeType))
    return found


def _first_column(code: CodeType) -> Optional[int]:
    """Where its body starts: tells lambdas in one line apart. None before Python 3.11."""
    positions = getattr(code, "co_positions", tuple)()
    starts = [
        (line, column)
        for line, end_line, column, end_column in positions
        if None not in (line, column, end_line, end_column) and (end_line, end_column) > (line, column)
    ]
    return min(starts)[1] if starts else None
