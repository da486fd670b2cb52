"""An unpickler that goes on where an object cannot be built: a stand-in takes its place. In Python, and so much slower.

It is made from the library's own, whose operations it calls and whose exceptions it catches. The library's is imported
only when it is needed: few sessions need it.
"""

from typing import Any, Callable

from .records import Buffers, Damaged, Records


def patient_unpickler(records: Records, loader: Any) -> Any:
    import pickle

    library: Any = pickle
    dispatch = dict(library._Unpickler.dispatch)
    for code, operands in ((pickle.REDUCE, 2), (pickle.NEWOBJ, 2), (pickle.NEWOBJ_EX, 3)):
        dispatch[code[0]] = _making(dispatch[code[0]], operands)
    for code, operands in ((pickle.BUILD, 1), (pickle.APPEND, 1), (pickle.SETITEM, 2)):
        dispatch[code[0]] = _changing(dispatch[code[0]], operands)
    for code in (pickle.APPENDS, pickle.SETITEMS, pickle.ADDITEMS):
        dispatch[code[0]] = _changing(dispatch[code[0]], 0)

    class PatientUnpickler(library._Unpickler):
        def __init__(self) -> None:
            super().__init__(_Exact(records), buffers=Buffers(records))
            self.loader = loader

        def find_class(self, module: str, name: str) -> Any:
            return loader.find(module, name, super().find_class)

    PatientUnpickler.dispatch = dispatch
    return PatientUnpickler()


class _Exact:
    """The library's own unpickler keeps what ``read`` returns: it must be bytes."""

    def __init__(self, records: Records) -> None:
        self.readinto = records.readinto
        self.readline = records.readline
        self._read = records.read

    def read(self, size: int) -> bytes:
        return bytes(self._read(size))


def _making(step: Callable[[Any], None], operands: int) -> Callable[[Any], None]:
    """For operations that take operands off the stack and leave a new object."""

    def make(unpickler: Any) -> None:
        taken = unpickler.stack[-operands:]
        below = unpickler.stack[:-operands]
        try:
            step(unpickler)
        except (KeyboardInterrupt, Damaged, MemoryError):
            raise
        except BaseException as error:
            if id(taken[0]) in unpickler.loader.setters and isinstance(taken[1], tuple):
                unpickler.loader.give_up_on(taken[1][0], error)
            unpickler.stack[:] = [*below, unpickler.loader.stand_in(error)]

    return make


def _changing(step: Callable[[Any], None], operands: int) -> Callable[[Any], None]:
    """For operations that change the object under their operands; None of those: down to the mark."""

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
            unpickler.loader.give_up_on(unpickler.stack[-1], error)

    return change
