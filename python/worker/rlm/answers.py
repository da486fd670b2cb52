"""What the calls of a run return: the answer of a model, or what stands in its place where a call of a batch failed."""

from typing import Any, Dict, List, NoReturn, Optional, Type

MAX_TYPES = 64
MAX_TYPE_NAME = 80  # bytes; Python's own messages cut longer names


class LLMError(Exception):
    """A model call failed. ``kind`` is the kind of error, ``retryable`` whether another attempt can help; ``text`` is what there
    is of an answer, ``finish_reason`` why it ended."""

    def __init__(
        self,
        message: str,
        kind: str = "error",
        retryable: bool = False,
        *,
        text: str = "",
        finish_reason: Optional[str] = None,
        usage: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.text = text
        self.finish_reason = finish_reason
        self.usage = usage or {}


class LimitError(LLMError):
    """A limit of the run does not allow this call. See ``budget()``."""


class Answer(str):
    """The answer of a model: a str, with ``ok``, ``finish_reason``, ``truncated``, ``usage``, ``cached``, ``degraded`` and ``data``
    (where a schema was given)."""

    ok = True
    error: Optional[LLMError] = None
    finish_reason: Optional[str] = "stop"
    truncated = False
    usage: Dict[str, Any] = {}
    cached = False
    degraded = False
    data: Any = None

    @property
    def text(self) -> str:
        """The answer as a plain str."""
        return str.__str__(self)


class FailedCall:
    """Stands in a batch for a call that failed. ``error`` says why, ``text`` is what there is of an answer.

    It is not a str, and using it as one raises ``error``, so that a failure never becomes part of a text unnoticed.
    """

    ok = False
    cached = False
    truncated = False
    degraded = False
    data: Any = None

    def __init__(self, error: LLMError, index: int, total: int) -> None:
        self.error = error
        self._index = index
        self._total = total

    @property
    def text(self) -> str:
        return self.error.text

    @property
    def finish_reason(self) -> Optional[str]:
        return self.error.finish_reason

    @property
    def usage(self) -> Dict[str, Any]:
        return self.error.usage

    def __repr__(self) -> str:
        return f"<FailedCall: {_facts_of(self.error)}: {self.error}>"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> Any:
        error = self.error
        reply = {
            "text": error.text, "finish_reason": error.finish_reason, "usage": error.usage, "degraded": self.degraded,
            "error": str(error), "kind": error.kind, "retryable": error.retryable,
        }
        return _failed_call, (reply, self._index, self._total)

    def __getattr__(self, name: str) -> Any:
        if hasattr(str, name) and not name.startswith("__"):
            self._raise()
        raise AttributeError(f"a failed call has no attribute {name!r}")

    def _raise(self, *_: Any) -> NoReturn:
        """Raises a new error each time: a traceback would grow with each use."""
        error = self.error
        message = f"item {self._index} of the batch of {self._total} failed ({_facts_of(error)}): {error}"
        raise type(error)(
            message, error.kind, error.retryable, text=error.text, finish_reason=error.finish_reason, usage=error.usage
        ) from None

    def __eq__(self, other: object) -> Any:
        return self._raise() if isinstance(other, str) else NotImplemented

    __str__ = __format__ = __hash__ = __len__ = __iter__ = __getitem__ = __contains__ = _raise  # type: ignore[assignment]
    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = _raise


def answer_of(reply: Any) -> Answer:
    """The answer of one call. Raises LLMError if it failed."""
    return _answer_of(reply) if _is_ok(reply) else _raise(_error_of(reply))


def results_of(replies: List[Any]) -> List[Any]:
    """The results of a batch, in order: an Answer or a FailedCall each."""
    total = len(replies)
    return [_answer_of(reply) if _is_ok(reply) else _failed_call(reply, index, total) for index, reply in enumerate(replies)]


def raise_failed(results: List[Any]) -> None:
    """Raises if any failed: how many, and why the first did."""
    failed = [result for result in results if not result.ok]
    if not failed:
        return
    error = failed[0].error
    first = f"item {failed[0]._index} ({_facts_of(error)}): {error}"
    retryable = all(one.error.retryable for one in failed)
    raise type(error)(f"{len(failed)} of {len(results)} calls failed; the first is {first}", error.kind, retryable)


def _is_ok(reply: Any) -> bool:
    return type(reply) is list or bool(reply.get("ok"))


def _answer_of(reply: Any) -> Answer:
    """From a dict, or from [text, input tokens, output tokens], the short form that most replies have."""
    if type(reply) is list:
        answer = Answer(reply[0])
        answer.usage = {"input_tokens": reply[1], "output_tokens": reply[2]}
        return answer
    answer = Answer(reply["text"])
    answer.usage = reply.get("usage") or {}
    answer.finish_reason = reply.get("finish_reason")
    for name in ("truncated", "cached", "degraded", "data"):
        if reply.get(name) is not None:
            setattr(answer, name, reply[name])
    return answer


def _error_of(reply: Dict[str, Any]) -> LLMError:
    kind = reply.get("kind") or "error"
    return (LimitError if kind == "limit" else LLMError)(
        reply.get("error") or "the call failed",
        kind,
        bool(reply.get("retryable")),
        text=reply.get("text") or "",
        finish_reason=reply.get("finish_reason"),
        usage=reply.get("usage"),
    )


def _failed_call(reply: Dict[str, Any], index: int, total: int) -> FailedCall:
    error = _error_of(reply)
    failed = _type_of(error)(error, index, total)
    if reply.get("degraded"):
        failed.degraded = True
    return failed


def _raise(error: LLMError) -> NoReturn:
    raise error


def _facts_of(error: LLMError) -> str:
    return f"{error.kind}, retryable" if error.retryable else error.kind


_types: Dict[str, Type[FailedCall]] = {}


def _type_of(error: LLMError) -> Type[FailedCall]:
    """A type whose name says why the call failed. ``" ".join(results)`` reads the items of a list without asking them, and its
    message has nothing of a wrong item but its index and the name of its type."""
    reason = str(error)
    if reason.startswith("Cannot "):  # our messages: "Cannot do this: the reason"
        reason = reason.partition(": ")[2] or reason
    name = _plain_name(f"FailedCall({_facts_of(error)}: {reason}", MAX_TYPE_NAME - 1) + ")"
    found = _types.get(name)
    if found is None:
        if len(_types) >= MAX_TYPES:
            _types.clear()
        found = _types[name] = type(name, (FailedCall,), {"__doc__": FailedCall.__doc__, "__module__": FailedCall.__module__})
    return found


def _plain_name(text: str, size: int) -> str:
    plain = "".join(letter if " " <= letter <= "~" else " " for letter in text[: size + 1])
    return plain if len(plain) <= size else plain[: size - 3] + "..."
