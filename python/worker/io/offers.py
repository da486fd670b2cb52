"""Large values of a call, which do not fit into its message: the host fetches them as bytes while the call is open.

The caller sends them itself, in the thread or coroutine that waits for the reply. So whatever encodes a value is interrupted
like other code, and nothing else has to run beside it.
"""

from typing import Any, Callable, Dict, Iterable, Iterator, List, Set

from .bulk import Outgoing
from .channel import Writer

MAX_MESSAGE = 1000
Source = Callable[[], Iterable[Any]]


class Unwanted(Exception):
    """The host no longer waits for the bytes."""


class Offer:
    """The sources of one call, each a function that yields objects with the buffer protocol. A source may be fetched again."""

    def __init__(self, writer: Writer, sources: List[Source]) -> None:
        self._writer = writer
        self._sources = sources
        self._unwanted: Set[str] = set()

    def end(self, request: str) -> None:
        """Called by the listener: stops sending for this request."""
        self._unwanted.add(request)

    def send(self, message: Dict[str, Any]) -> Iterator[None]:
        """Sends one source piece by piece, and then a status. An error of the source is told to the host alone."""
        name = message["id"]
        event: Dict[str, Any] = {"type": "status", "id": name, "status": "ok"}
        outgoing = Outgoing(self._writer, name)
        size = 0
        try:
            for piece in self._sources[message["source"]]():
                if name in self._unwanted:
                    raise Unwanted
                size += memoryview(piece).nbytes
                outgoing.write(piece)
                yield
            outgoing.flush()
            event["data"] = {"size": size}
        except BaseException as error:
            event.update(failure(error))
            if not isinstance(error, Exception):
                raise
        finally:
            outgoing.close()
            self._unwanted.discard(name)
            self._writer.send(event)


def failure(error: BaseException) -> Dict[str, Any]:
    """The fields of a status."""
    try:
        text = str(error)[:MAX_MESSAGE]
    except Exception:
        text = ""
    return {"status": "error", "error": {"name": type(error).__name__, "value": text, "traceback": ""}}
