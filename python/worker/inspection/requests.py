"""Inspection requests: the host asks about the namespace while user code runs.

Each request has its own thread, so that user code that blocks one cannot block the listener. What may run user code happens
in a forked process, the rest here. The answer is a ``status`` with ``data``.
"""

import _thread
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from ..io.channel import ChannelClosed, Writer, frame_of
from ..io.threads import start_raw
from .completion import complete, signature
from .forked_call import Emit, ForkedCall, Step
from .inspection import describe, inspect_value, list_variables, plain_facts, statistics, type_names
from .rows import Part, rows_of
from .source import source

WAIT_SECONDS = 1.0
MISSING = object()

Message = Dict[str, Any]
Answer = Dict[str, Any]


class ForkedRequest(NamedTuple):
    """A request that a forked process answers. ``known`` is the part of the answer that needs no fork."""

    message: Message
    known: Answer
    call: ForkedCall


class InspectionRequests:
    """``commands`` are the requests that exist. ``threads`` are the ids of the threads, whose forks are not user code's.

    The threads end when ``stop_fd`` becomes readable, so that the main thread can be the only one. The forked processes
    keep running meanwhile, and ``resume`` waits for them again.
    """

    commands = frozenset(("statistics", "variables", "inspect", "complete", "signature", "source", "rows"))

    def __init__(self, writer: Writer, namespace: Callable[[], Dict[str, Any]]) -> None:
        self.threads: Set[int] = set()
        self.stop_fd = -1  # set by the listener, which stops at the same time
        self._writer = writer
        self._namespace = namespace
        self._stopped: List[ForkedRequest] = []
        self._alive: Set[object] = set()  # one token per thread, from before it starts

    def start(self, message: Message) -> None:
        """Called by the listener. If no thread can be started, answers at once, without a fork."""
        try:
            self._start_thread(self._begin, message)
        except RuntimeError:
            known, step = self._question(message)
            self._send(message, known if step is None else {**known, "incomplete": "no-process"})

    def wait(self) -> None:
        """Waits until the threads have ended. The listener must not run."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self._alive and time.monotonic() < deadline:
            time.sleep(0.0002)

    def resume(self) -> None:
        stopped, self._stopped = self._stopped, []
        for request in stopped:
            try:
                self._start_thread(self._follow, request)
            except RuntimeError:
                self._stopped.append(request)

    def renew(self) -> None:
        """For a copy of the process, while no thread runs: only the original answers its requests."""
        for request in self._stopped:
            request.call.forget()
        self._stopped.clear()
        self._alive.clear()

    def _start_thread(self, work: Callable[[Any], None], argument: Any) -> None:
        token = object()
        self._alive.add(token)
        try:
            start_raw(self._run, (work, argument, token))
        except RuntimeError:
            self._alive.discard(token)
            raise

    def _run(self, work: Callable[[Any], None], argument: Any, token: object) -> None:
        own = _thread.get_ident()
        self.threads.add(own)
        try:
            work(argument)
        finally:
            self.threads.discard(own)
            self._alive.discard(token)

    def _begin(self, message: Message) -> None:
        try:
            known, step = self._question(message)
            request = None if step is None else ForkedRequest(message, known, ForkedCall(step, message["timeoutMs"]))
        except BaseException as error:
            self._send_error(message, error)
            return
        if request is None:
            self._send(message, known)
        else:
            self._follow(request)

    def _follow(self, request: ForkedRequest) -> None:
        call = request.call
        if call.collect(self.stop_fd):
            self._send(request.message, {**request.known, **call.found, "incomplete": call.ending})
        else:
            self._stopped.append(request)

    def _question(self, message: Message) -> Tuple[Answer, Optional[Step]]:
        """The part of the answer that is known at once, and the function that finds the rest in a fork."""
        command, namespace = message["cmd"], self._namespace()
        if command == "statistics":
            return statistics(namespace), None
        if command == "variables":
            return list_variables(namespace, message["all"]), None
        if command == "inspect":
            return _inspect(namespace, message)
        if command == "rows":
            return _rows(namespace, message)
        if command == "source":
            return {}, lambda emit: emit(source(namespace, message["name"]))
        find = complete if command == "complete" else signature
        return {}, lambda emit: emit(find(namespace, message["code"], message["cursor"]))

    def _send(self, message: Message, answer: Answer) -> None:
        try:
            self._write(frame_of({"type": "status", "id": message["id"], "status": "ok", "data": answer}))
        except (TypeError, ValueError) as error:  # too long, or not JSON
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


def _rows(namespace: Dict[str, Any], message: Message) -> Tuple[Answer, Optional[Step]]:
    value = namespace.get(message["name"], MISSING)
    if value is MISSING:
        return {"found": False}, None
    names = ("start", "count", "columnStart", "columnCount", "sortBy", "descending")
    part = Part(*(message[name] for name in names))
    return {"found": True, "start": part.start, "columnStart": part.column_start}, lambda emit: rows_of(value, part, emit)
