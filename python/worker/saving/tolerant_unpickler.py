"""An unpickler that puts a placeholder in place of an object that cannot be built, and continues.

It wraps the operations of the standard library's Python unpickler, and so is much slower than the one in C. ``pickle`` is
imported on first use: few sessions need it.
"""

from typing import Any, Callable

from .records import Buffers, Damaged, Records


def make_tolerant_unpickler(records: Records, loader: Any) -> Any:
    import pickle

    library: Any = pickle
    dispatch = dict(library._Unpickler.dispatch)
    for code, operands in ((pickle.REDUCE, 2), (pickle.NEWOBJ, 2), (pickle.NEWOBJ_EX, 3)):
        dispatch[code[0]] = _wrap_make(dispatch[code[0]], operands)
    for code, operands in ((pickle.BUILD, 1), (pickle.APPEND, 1), (pickle.SETITEM, 2)):
        dispatch[code[0]] = _wrap_change(dispatch[code[0]], operands)
    dispatch[pickle.FROZENSET[0]] = _wrap_frozenset(dispatch[pickle.FROZENSET[0]])
    for code in (pickle.APPENDS, pickle.SETITEMS, pickle.ADDITEMS):
        dispatch[code[0]] = _wrap_change(dispatch[code[0]], 0)

    class TolerantUnpickler(library._Unpickler):
        def __init__(self) -> None:
            super().__init__(_BytesFile(records), buffers=Buffers(records))
            self.loader = loader

        def find_class(self, module: str, name: str) -> Any:
            return loader.find(module, name, super().find_class)

    TolerantUnpickler.dispatch = dispatch
    return TolerantUnpickler()


class _BytesFile:
    """``read`` returns bytes, which the Python unpickler requires."""

    def __init__(self, records: Records) -> None:
        self.readinto = records.readinto
        self.readline = records.readline
        self._read = records.read

    def read(self, size: int) -> bytes:
        return bytes(self._read(size))


def _wrap_make(step: Callable[[Any], None], operands: int) -> Callable[[Any], None]:
    """For operations that pop operands off the stack and push a new object."""

    def make(unpickler: Any) -> None:
        taken = unpickler.stack[-operands:]
        below = unpickler.stack[:-operands]
        try:
            step(unpickler)
        except (KeyboardInterrupt, Damaged, MemoryError):
            raise
        except BaseException as error:
            if id(taken[0]) in unpickler.loader.setters and isinstance(taken[1], tuple):
                unpickler.loader.mark_broken(taken[1][0], error)
            unpickler.stack[:] = [*below, unpickler.loader.placeholder(error)]

    return make


def _wrap_frozenset(step: Callable[[Any], None]) -> Callable[[Any], None]:
    """Fails if the code of a member cannot make its hash. The members are off the stack then."""

    def make(unpickler: Any) -> None:
        try:
            step(unpickler)
        except (KeyboardInterrupt, Damaged, MemoryError):
            raise
        except BaseException as error:
            unpickler.stack.append(unpickler.loader.placeholder(error))

    return make


def _wrap_change(step: Callable[[Any], None], operands: int) -> Callable[[Any], None]:
    """For operations that change the object below their operands; 0 operands means everything above the mark."""

    def change(unpickler: Any) -> None:
        inner = unpickler.stack
        below = inner[:-operands] if operands else None
        try:
            step(unpickler)
        except (KeyboardInterrupt, Damaged, MemoryError):
            raise
        except BaseException as error:
            if below is not None:
                unpickler.stack[:] = below
            unpickler.loader.mark_broken(unpickler.stack[-1], error)

    return change
