"""Copies of a worker, live or frozen, as the messages at its door describe them."""

import os
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from . import branching
from ..io.descriptors import close_all
from ..report import name_of

DOOR_SECONDS = 4.0  # between the host's word that something comes through the door, and its coming

Order = Dict[str, Any]


class Copies:
    """``renew(pipes, folder)`` is called in a copy: it replaces what the worker's parts must not share with the original,
    and returns the descriptors that are the worker's own. No pipes: the copy is frozen. ``folder`` is where it works from
    now on, if not where the original does."""

    def __init__(self, door: Optional[int], renew: Callable[[List[int], Optional[str]], Set[int]]) -> None:
        self._door = None if door is None else branching.Door(door)
        self._renew = renew
        self.are_made = False  # whether a fork that happens now is one of ours

    def receive(self) -> Tuple[bytes, List[int]]:
        """What the host has announced, and the init has sent before or sends now."""
        if self._door is None:
            raise RuntimeError("this worker has no door")
        return self._door.receive(DOOR_SECONDS)

    def make(self, branch: int, settle: Callable[[], None]) -> bool:
        """Makes a copy; true in a live one. Raises where it would not be exact. Nothing but the calling thread may live.

        In a frozen copy this does not come back, but for the live copies that are made of it.
        """
        order, fds = self._receive_order(branch)
        try:
            branching.refuse_threads()
            settle()
            return self._split(order, fds)
        finally:
            close_all(fds)

    def close(self) -> None:
        """For the child of a fork by user code."""
        if self._door is not None:
            self._door.close()

    def _receive_order(self, branch: int) -> Tuple[Order, List[int]]:
        """What is needed for this copy; what was left at the door for one that was given up is let go."""
        while True:
            message, fds = self.receive()
            try:
                order = branching.parse_order(message)
                if order["branch"] == branch:
                    return order, fds
            except BaseException:
                close_all(fds)  # the closed door says that there is no copy
                raise
            close_all(fds)

    def _split(self, order: Order, fds: List[int]) -> bool:
        return branching.split(self._set_made, lambda: self._stand(order, fds))

    def _set_made(self, on: bool) -> None:
        self.are_made = on

    def _stand(self, order: Order, fds: List[int]) -> None:
        """In the copy, until it can say that it stands, and for a frozen one ever after."""
        door = self._door
        assert door is not None
        moved = (order["from"], order["folder"]) if "from" in order else None
        try:
            os.setsid()
            branching.mark(order["branch"])
            os.dup2(fds[0], door.fd, False)
            own = self._renew(fds[1:], moved and moved[1])
            close_all(fds)
            fds.clear()
            if moved:
                branching.move_into(*moved)
            branching.reopen_files(own | {door.fd}, moved)
            branching.wait_for_init()
            door.send(b"h")
        except BaseException as error:
            try:
                if moved:
                    branching.forget_folder(moved[1])
                door.send(f"e{name_of(error)}: {error}".encode("utf-8", "replace")[:1000])
            finally:
                os._exit(1)
        if order["frozen"]:
            self._sleep(door)

    def _sleep(self, door: branching.Door) -> None:
        """The life of a checkpoint. Comes back only in a live copy of it."""
        while True:
            message, fds = door.receive()
            if not message:
                os._exit(0)
            try:
                if self._split(branching.parse_order(message), fds):
                    return
            except branching.ForkRefused:
                pass  # the closed door says that there is no copy
            close_all(fds)
