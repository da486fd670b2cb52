"""Placeholders for objects of a session file that cannot be built here, until the variables with them are skipped."""

from _pickle import PicklingError
from typing import Any


class Placeholder:
    """Accepts every operation that loading performs on the real object. It cannot be pickled, which is how it is found."""

    reason = "it could not be built"

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *_: Any, **__: Any) -> "Placeholder":
        return self

    def __setstate__(self, _: Any) -> None:
        pass

    def __setitem__(self, _: Any, __: Any) -> None:
        pass

    def append(self, _: Any) -> None:
        pass

    def extend(self, _: Any) -> None:
        pass

    def add(self, _: Any) -> None:
        pass

    def __reduce_ex__(self, _: Any) -> Any:
        raise PicklingError(self.reason)


def make_placeholder(reason: str) -> Placeholder:
    made = Placeholder()
    made.reason = reason
    return made


def make_placeholder_class(name: str, reason: str) -> type:
    """For a class or function that is looked up by name."""
    return type(name, (Placeholder,), {"reason": reason})
