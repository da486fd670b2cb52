"""Contexts for children: small ones are part of the call, large ones and bytes are offered beside it (io/offers.py)."""

import json
import re
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, NoReturn, Optional

from rlm_answers import FailedCall
from _rlm_worker.io.channel import count_parts

MAX_INLINE = 2_000_000  # characters; each takes twelve bytes of a message at most
MAX_INLINE_PARTS = 50_000
MAX_FILES = 100_000
PIECE = 256 * 1024
SURROGATES = re.compile("[\ud800-\udfff]")


class Large(NamedTuple):
    """``kind`` says what the bytes are. ``files`` are the names and sizes of the texts that they consist of."""

    kind: str
    pieces: Callable[[], Iterator[Any]]
    files: Optional[Dict[str, List[Any]]] = None


def context_of(value: Any) -> Any:
    """What stands for the value in a task: itself as JSON, or a Large."""
    if isinstance(value, str):
        return value if len(value) <= MAX_INLINE else Large("text", lambda: _text_pieces(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _context_of_bytes(value)
    if isinstance(value, dict) and _is_files(value):
        return _files_of(value)
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, default=_refuse)
    except (TypeError, ValueError):
        return context_of(str(value))
    if len(text) > MAX_INLINE or count_parts(value, MAX_INLINE_PARTS) > MAX_INLINE_PARTS:
        return Large("json", lambda: _text_pieces(text))
    return json.loads(text)


def _refuse(value: Any) -> NoReturn:
    """A failed call raises its error, so that it does not become part of a text."""
    if isinstance(value, FailedCall):
        str(value)
    raise TypeError


def _context_of_bytes(value: Any) -> Any:
    """Text if it is UTF-8, like the files of a context. The host finds that out where it is long."""
    data = bytes(value) if isinstance(value, memoryview) else value
    if len(data) <= MAX_INLINE:
        try:
            return data.decode()
        except UnicodeDecodeError:
            pass
    return Large("bytes", lambda: _byte_pieces(data))


def _is_files(value: Dict[Any, Any]) -> bool:
    """Whether it is a dict from names to texts that JSON cannot express, or that is too long for it."""
    if not 0 < len(value) <= MAX_FILES or not all(isinstance(name, str) for name in value):
        return False
    contents = list(value.values())
    if not all(isinstance(content, (str, bytes, bytearray)) for content in contents):
        return False
    has_bytes = any(not isinstance(content, str) for content in contents)
    return has_bytes or sum(len(content) + 1 for content in contents) > MAX_INLINE


def _files_of(value: Dict[str, Any]) -> Large:
    contents = list(value.values())
    sizes = [_size_of(content) for content in contents]

    def pieces() -> Iterator[Any]:
        for content in contents:
            yield from _text_pieces(content) if isinstance(content, str) else _byte_pieces(content)

    return Large("files", pieces, {"names": list(value), "sizes": sizes})


def _size_of(content: Any) -> int:
    if not isinstance(content, str) or content.isascii():
        return len(content)
    return sum(map(len, _text_pieces(content)))


def _text_pieces(text: str) -> Iterator[bytes]:
    for start in range(0, len(text), PIECE):
        piece = text[start:start + PIECE]
        try:
            yield piece.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            yield SURROGATES.sub("\ufffd", piece).encode()


def _byte_pieces(data: Any) -> Iterator[bytes]:
    for start in range(0, len(data), PIECE):
        yield data[start:start + PIECE]
