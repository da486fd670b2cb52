"""Calls from user code to the host: the module ``rlm_host``.

Many calls may be open at once, from any thread or coroutine. The listener thread delivers the replies, and what the host
asks of a call that offers large values (offers.py).
"""

import _thread
import itertools
import sys
from _queue import SimpleQueue  # queue imports more
from types import ModuleType
from typing import Any, Callable, Dict, List

from .channel import TooLarge, Writer, frame_of
from .offers import Offer, Source, failure
from .threads import Threads

ADVICE = "Pass long data as one text, such as json.dumps(data), or in several calls"
MAX_DEPTH = 56  # the host refuses messages nested deeper than 64


class HostCallError(Exception):
    """The host refused a call or failed. ``name`` is the kind of error, ``value`` its message."""

    def __init__(self, name: str, value: str) -> None:
        super().__init__(name, value)
        self.name = name
        self.value = value

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"


HostCallError.__module__ = "rlm_host"


class Calls:
    """The open calls of one worker."""

    def __init__(self, writer: Writer, threads: Threads) -> None:
        self._writer = writer
        self._threads = threads
        self._numbers = itertools.count(1)
        self._open: Dict[int, Callable[[Dict[str, Any]], None]] = {}
        self._offers: Dict[int, Offer] = {}

    def install(self) -> None:
        """Makes ``import rlm_host`` work."""
        module = ModuleType("rlm_host", "Calls to the host: call(name, **args), and acall to await.")
        module.call, module.acall, module.HostCallError = self.call, self.acall, HostCallError
        module._call_with, module._acall_with = self.call_with, self.acall_with
        sys.modules["rlm_host"] = module

    def call(self, name: str, /, **args: Any) -> Any:
        """Calls the host and waits for its reply. Raises HostCallError, or TypeError or ValueError if the arguments are not JSON or too much
        for one message; nothing was sent then."""
        number = next(self._numbers)
        return self._ask(number, self._frame(number, name, args))

    def notify(self, event: Dict[str, Any]) -> None:
        """Sends an event of the calling thread's execution and waits until the host acknowledges it."""
        number = next(self._numbers)
        self._ask(number, frame_of({**event, "id": self._threads.tag().execution, "call": number}))

    def _ask(self, number: int, frame: bytes) -> Any:
        replies: list = []
        answered = _thread.allocate_lock()
        answered.acquire()

        def deliver(reply: Dict[str, Any]) -> None:
            replies.append(reply)
            answered.release()

        self._open[number] = deliver
        try:
            self._writer.send_frame(frame)
            answered.acquire()  # a KeyboardInterrupt ends the wait
        finally:
            self._open.pop(number, None)
        return _answer(replies[0])

    async def acall(self, name: str, /, **args: Any) -> Any:
        """``call`` for coroutines."""
        import asyncio

        number = next(self._numbers)
        frame = self._frame(number, name, args)
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def settle(reply: Dict[str, Any]) -> None:
            if not future.done():
                future.set_result(reply)

        def deliver(reply: Dict[str, Any]) -> None:
            try:
                loop.call_soon_threadsafe(settle, reply)
            except RuntimeError:  # the loop was closed, so nobody waits any more
                pass

        self._open[number] = deliver
        try:
            self._writer.send_frame(frame)
            return _answer(await future)
        finally:
            self._open.pop(number, None)

    def call_with(self, sources: List[Source], name: str, /, **args: Any) -> Any:
        """``call``, while the host may fetch the sources by their index."""
        number = next(self._numbers)
        frame = self._frame(number, name, args)
        inbox: Any = SimpleQueue()
        self._open[number] = inbox.put
        offer = self._offers[number] = Offer(self._writer, sources)
        try:
            self._writer.send_frame(frame)
            while True:
                message = self._receive_from(inbox)
                if message.get("cmd") != "fetch":
                    return _answer(message)
                for _ in offer.send(message):
                    pass
        finally:
            self._close(number, inbox)

    async def acall_with(self, sources: List[Source], name: str, /, **args: Any) -> Any:
        """``call_with`` for coroutines. Others run between two pieces."""
        import asyncio

        number = next(self._numbers)
        frame = self._frame(number, name, args)
        loop = asyncio.get_running_loop()
        inbox: Any = asyncio.Queue()

        def deliver(message: Dict[str, Any]) -> None:
            try:
                loop.call_soon_threadsafe(inbox.put_nowait, message)
            except RuntimeError:  # the loop was closed, so nobody waits any more
                pass

        self._open[number] = deliver
        offer = self._offers[number] = Offer(self._writer, sources)
        try:
            self._writer.send_frame(frame)
            while True:
                message = await inbox.get()
                if message.get("cmd") != "fetch":
                    return _answer(message)
                for _ in offer.send(message):
                    await asyncio.sleep(0)
        finally:
            self._close(number, inbox)

    def fetch(self, message: Dict[str, Any]) -> None:
        """The host asks for a source of an open call."""
        deliver = self._open.get(message["call"])
        if deliver is not None and message["call"] in self._offers:
            deliver(message)
        else:
            self._refuse(message)

    def end_fetch(self, message: Dict[str, Any]) -> None:
        """The host does not wait for it any more."""
        offer = self._offers.get(message["call"])
        if offer is not None:
            offer.end(message["id"])

    def reply(self, message: Dict[str, Any]) -> None:
        """Delivers a reply. One that nobody waits for is dropped."""
        deliver = self._open.pop(message["call"], None)
        if deliver is not None:
            deliver(message)

    def renew(self) -> None:
        """For a copy of the process: fails the open calls, because their replies go to the original."""
        for deliver in list(self._open.values()):
            deliver({"error": {"name": "SessionForked", "value": "the answer to this call went to the original session"}})
        self._open.clear()
        self._offers.clear()

    def _receive_from(self, inbox: Any) -> Dict[str, Any]:
        return inbox.get()  # a KeyboardInterrupt ends the wait

    def _close(self, number: int, inbox: Any) -> None:
        """The call is over: what the host asked for, and was not sent yet, is refused."""
        self._open.pop(number, None)
        self._offers.pop(number, None)
        while not inbox.empty():
            message = inbox.get_nowait()
            if message.get("cmd") == "fetch":
                self._refuse(message)

    def _refuse(self, message: Dict[str, Any]) -> None:
        self._writer.send({"type": "status", "id": message["id"], **failure(LookupError("the call does not offer it"))})

    def _frame(self, number: int, name: str, args: Dict[str, Any]) -> bytes:
        if not isinstance(name, str):
            raise TypeError(f"the name of a call must be a str, not {type(name).__name__}")
        try:
            frame = frame_of({"type": "call", "id": self._threads.tag().execution, "call": number, "name": name, "args": args})
        except TooLarge as error:
            raise ValueError(f"{name}: the call is too long: it has {error.why}. {ADVICE}") from None
        if frame.count(b"{") + frame.count(b"[") > MAX_DEPTH and _is_deeper(args, MAX_DEPTH):
            raise ValueError(f"arguments of a call may be nested {MAX_DEPTH} deep at most")
        return frame


def _answer(reply: Dict[str, Any]) -> Any:
    error = reply.get("error")
    if error is not None:
        raise HostCallError(str(error.get("name", "Error")), str(error.get("value", "")))
    return reply.get("value")


def _is_deeper(value: Any, limit: int) -> bool:
    if not isinstance(value, (dict, list, tuple)):
        return False
    if limit == 0:
        return True
    items = value.values() if isinstance(value, dict) else value
    return any(_is_deeper(item, limit - 1) for item in items)
