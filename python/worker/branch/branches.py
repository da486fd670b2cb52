"""Branches: copies of this worker, made by fork, with everything in its memory.

A copy is either *live*, with pipes of its own, or *frozen*: a checkpoint that sleeps until its control socket asks for a
live copy of it. Orders and descriptors arrive on the control socket (docs/protocol.md). A copy reports to the init that it
is ready by a message to which the kernel attaches its process id.

What a fork shares and a copy must not is replaced: pipes, the control socket, the wake-up pipe, positions in open files,
the event loop's selector. Pipes, sockets and mapped files of user code stay shared.
"""

import json
import os
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from ..io.descriptors import close_all
from ..report import name_of
from .control_socket import ControlSocket
from .files import FolderMove, move_to_copy, remove_copy, reopen_files
from .fork_process import ForkRefused, fork_process, refuse_threads, wait_for_init
from .mark import set_mark

RECEIVE_SECONDS = 4.0  # from the host's command until the descriptors for it arrive

Order = Dict[str, Any]


class Branches:
    """``renew(pipes, folder)`` is called in a copy: it replaces what the worker's parts must not share with the original,
    and returns the descriptors that belong to the worker. A frozen copy has no pipes. ``folder`` is the new working folder,
    or None if it stays the same."""

    def __init__(self, control_fd: Optional[int], renew: Callable[[List[int], Optional[str]], Set[int]]) -> None:
        self._control = None if control_fd is None else ControlSocket(control_fd)
        self._renew = renew
        self._init = os.getppid()
        self.is_forking = False  # whether a fork that happens now is ours, not user code's

    def receive(self) -> Tuple[bytes, List[int]]:
        """A message that the host has announced on the command pipe."""
        if self._control is None:
            raise RuntimeError("this worker has no control socket")
        return self._control.receive(RECEIVE_SECONDS)

    def make(self, branch: int, flush: Callable[[], None]) -> bool:
        """Makes a copy; True in a live one. Raises if it would not be exact. No other thread may live.

        In a frozen copy this returns only in the live copies that are made of it.
        """
        order, fds = self._receive_order(branch)
        try:
            refuse_threads()
            flush()
            return self._fork(order, fds)
        finally:
            close_all(fds)

    def close(self) -> None:
        """For the child of a fork by user code."""
        if self._control is not None:
            self._control.close()

    def _receive_order(self, branch: int) -> Tuple[Order, List[int]]:
        """The order for this branch. Orders for branches that the host gave up are dropped."""
        while True:
            message, fds = self.receive()
            try:
                order = json.loads(message)
                if order["branch"] == branch:
                    return order, fds
            except BaseException:
                close_all(fds)  # closing the copy's control socket reports that there is no copy
                raise
            close_all(fds)

    def _fork(self, order: Order, fds: List[int]) -> bool:
        return fork_process(self._set_forking, lambda: self._become_copy(order, fds))

    def _set_forking(self, on: bool) -> None:
        self.is_forking = on

    def _become_copy(self, order: Order, fds: List[int]) -> None:
        """In the copy: takes its own descriptors and folder and reports that it is ready. A frozen copy stays in here."""
        control = self._control
        assert control is not None
        move = FolderMove(order["from"], order["folder"]) if "from" in order else None
        try:
            os.setpgid(0, 0)
            set_mark(order["branch"])
            os.dup2(fds[0], control.fd, False)
            own = self._renew(fds[1:], move and move.new)
            close_all(fds)
            fds.clear()
            if move:
                move_to_copy(move)
            reopen_files(own | {control.fd}, move)
            wait_for_init(self._init)
            control.send(b"h")
        except BaseException as error:
            try:
                if move:
                    remove_copy(move.new)
                control.send(f"e{name_of(error)}: {error}".encode("utf-8", "replace")[:1000])
            finally:
                os._exit(1)
        if order["frozen"]:
            self._sleep(control)

    def _sleep(self, control: ControlSocket) -> None:
        """The main loop of a checkpoint. Returns only in a live copy of it."""
        while True:
            message, fds = control.receive()
            if not message:
                os._exit(0)
            try:
                if self._fork(json.loads(message), fds):
                    return
            except ForkRefused:
                pass  # closing the copy's control socket reports that there is no copy
            close_all(fds)
