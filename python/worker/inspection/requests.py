"""Questions that the host asks while user code runs, and their answers.

Each is answered by a thread of its own, which user code that holds it up cannot use to deafen the listener. What may run
user code is done in a fork; what runs none is done here. An answer is a ``status`` with ``data``.
"""

import _thread
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from ..io.channel import ChannelClosed, Writer, frame_of
from .completion import complete, signature
from .forked_call import Emit, Forked, Step
from .inspection import describe, inspect_value, list_variables, plain_facts, statistics, type_names
from ..io.threads import start_raw

WAIT_SECONDS = 1.0
MISSING = object()

Message = Dict[str, Any]
Answer = Dict[str, Any]


class Look(NamedTuple):
    """A question whose answer is found in a fork; ``known`` is what can be said without."""

    message: Message
    known: Answer
    fork: Forked


class Asides:
    """``commands`` are what can be asked; ``threads`` are those that answer, whose forks are not user code's.

    The threads end when ``stop_fd`` becomes readable, for a main thread that must be alone. What they wait for goes on
    meanwhile, and so do they with ``resume``.
    """

    commands = frozenset(("statistics", "variables", "inspect", "complete", "signature"))

    def __init__(self, writer: Writer, namespace: Callable[[], Dict[str, Any]]) -> None:
        self.threads: Set[int] = set()
        self.stop_fd = -1  # set by the listener, which stops with them
        self._writer = writer
        self._namespace = namespace
        self._stopped: List[Look] = []
        self._alive: Set[object] = set()  # the threads, from before they start

    def hear(self, message: Message) -> None:
        """Called by the listener. Where no thread can be had the answer is given at once, without a fork."""
        try:
            self._start(self._begin, message)
        except RuntimeError:
            known, step = self._question(message)
            self._send(message, known if step is None else {**known, "incomplete": "no-process"})

    def wait(self) -> None:
        """Until the threads have ended; while nothing more can be heard."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self._alive and time.monotonic() < deadline:
            time.sleep(0.0002)

    def resume(self) -> None:
        looks, self._stopped = self._stopped, []
        for look in looks:
            try:
                self._start(self._follow, look)
            except RuntimeError:
                self._stopped.append(look)

    def renew(self) -> None:
        """For a copy of the process, while no thread runs: what the original was asked is not the copy's to answer."""
        for look in self._stopped:
            look.fork.forget()
        self._stopped.clear()
        self._alive.clear()

    def _start(self, work: Callable[[Any], None], about: Any) -> None:
        token = object()
        self._alive.add(token)
        try:
            start_raw(self._run, (work, about, token))
        except RuntimeError:
            self._alive.discard(token)
            raise

    def _run(self, work: Callable[[Any], None], about: Any, token: object) -> None:
        own = _thread.get_ident()
        self.threads.add(own)
        try:
            work(about)
        finally:
            self.threads.discard(own)
            self._alive.discard(token)

    def _begin(self, message: Message) -> None:
        try:
            known, step = self._question(message)
            look = None if step is None else Look(message, known, Forked(step, message["timeoutMs"]))
        except BaseException as error:
            self._send_error(message, error)
            return
        if look is None:
            self._send(message, known)
        else:
            self._follow(look)

    def _follow(self, look: Look) -> None:
        if look.fork.collect(self.stop_fd):
            self._send(look.message, {**look.known, **look.fork.found, "incomplete": look.fork.ending})
        else:
            self._stopped.append(look)

    def _question(self, message: Message) -> Tuple[Answer, Optional[Step]]:
        """What can be said at once, and what is to be done in a fork to say the rest."""
        command, namespace = message["cmd"], self._namespace()
        if command == "statistics":
            return statistics(namespace), None
        if command == "variables":
            return list_variables(namespace, message["all"]), None
        if command == "inspect":
            return _inspect(namespace, message)
        look = complete if command == "complete" else signature
        return {}, lambda emit: emit(look(namespace, message["code"], message["cursor"]))

    def _send(self, message: Message, answer: Answer) -> None:
        try:
            self._write(frame_of({"type": "status", "id": message["id"], "status": "ok", "data": answer}))
        except (TypeError, ValueError) as error:  # too long, or no JSON
            self._send_error(message, error)

    def _send_error(self, message: Message, error: BaseException) -> None:
        failure = {"name": type_names(type(error))[0], "value": describe(error), "traceback": ""}
        self._write(frame_of({"type": "status", "id": message["id"], "status": "error", "error": failure}))

    def _write(self, frame: bytes) -> None:
        try:
            self._writer.send_frame(frame)
        except (ChannelClosed, OSError):
            pass  # the host is gone; the main thread ends the worker


def _inspect(namespace: Dict[str, Any], message: Message) -> Tuple[Answer, Optional[Step]]:
    value = namespace.get(message["name"], MISSING)
    if value is MISSING:
        return {"found": False}, None

    def step(emit: Emit) -> None:
        inspect_value(value, message["maxCharacters"], emit)

    return {"found": True, **plain_facts(value)}, step
