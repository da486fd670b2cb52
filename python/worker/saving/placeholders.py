"""What takes the place of an object that a session file has and that cannot be built here, until it is left out."""

from _pickle import PicklingError
from typing import Any


class StandIn:
    """Takes whatever is done to the real object while loading. It cannot be saved, which is how it is found again."""

    why = "it could not be built"

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *_: Any, **__: Any) -> "StandIn":
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
        raise PicklingError(self.why)


def stand_in(why: str) -> StandIn:
    made = StandIn()
    made.why = why
    return made


def stand_in_class(name: str, why: str) -> type:
    """For a class or a function that was to be found by name."""
    return type(name, (StandIn,), {"why": why})
