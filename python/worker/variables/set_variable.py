"""Variables set by the host from JSON, text or bytes, inline or in bulk. Nothing is set unless all data arrived."""

import io
import json
import resource
from codecs import utf_8_decode
from sys import getsizeof
from typing import Any, Dict, Iterator, Optional

from ..io.bulk import Incoming

PIECE = 256 * 1024
MAX_BLOCK = 32 << 20
_LARGE = 1024  # characters of a str whose header is small in comparison


def set_variable(namespace: Dict[str, Any], message: Dict[str, Any], incoming: Optional[Incoming]) -> Dict[str, Any]:
    if incoming is None:
        value = _INLINE[message["kind"]](message["value"])
    else:
        value = _BULK[message["kind"]](incoming, message["size"])
    namespace[message["name"]] = value
    return {"type": type(value).__name__}


def _bytes(incoming: Incoming, size: int) -> bytes:
    """Collects the data in a BytesIO, whose ``getvalue`` does not copy: it is in memory only once.

    It grows as data arrives. Allocating a gigabyte up front would take a second.
    """
    buffer = io.BytesIO()
    try:
        _check_room(size)
        for block in _blocks(incoming, size, PIECE):
            buffer.write(block)
    except MemoryError:
        buffer.close()  # before the rest is read
        raise MemoryError(f"{size:,} bytes do not fit into {_limit()}") from None
    return buffer.getvalue()


def _text(incoming: Incoming, size: int) -> str:
    """Decodes the data as it arrives: in memory is only the text, once.

    CPython enlarges a local str in place for ``+=``. Before it has specialized the loop, and when wider characters come,
    it copies. The size of the blocks limits that to 16 times the text, even where it always copies.
    """
    text = ""
    width, length, at, rest = 1, 0, 0, b""
    try:
        _check_room(size // 2)  # a character that takes one byte in memory takes at most two in UTF-8
        for block in _blocks(incoming, size, max(PIECE, min(MAX_BLOCK, size // 32))):
            data = rest + block if rest else block
            part, used = utf_8_decode(data, "strict", False)
            width, length, at = max(width, _width(part)), length + len(part), at + used
            rest = bytes(data[used:])
            text += part  # where this fails, CPython has freed the text already
        utf_8_decode(rest, "strict", True)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise UnicodeError(f"it is not UTF-8: byte 0x{byte:02x} at offset {at + error.start:,}") from None
    except MemoryError:
        text = part = ""  # before the rest is read
        why = f": with {width} bytes for each character it takes {width * length * size // at:,}" if width > 1 else ""
        raise MemoryError(f"a text of {size:,} bytes does not fit into {_limit()}{why}") from None
    return text


def _width(text: str) -> int:
    """The bytes for each character of it in memory: 1, 2 or 4."""
    if len(text) >= _LARGE:
        return getsizeof(text) // len(text)
    return (getsizeof(text + text) - getsizeof(text)) // len(text) if text else 1


def _blocks(incoming: Incoming, size: int, block_size: int) -> Iterator[memoryview]:
    """Blocks of this size, and a shorter one at the end. Each is valid until the next one is requested."""
    block = memoryview(bytearray(block_size))
    filled = total = 0
    for length in incoming.sizes():
        total += length
        while length:
            part = min(length, block_size - filled)
            incoming.fill(block[filled : filled + part])
            filled += part
            length -= part
            if filled == block_size:
                yield block
                filled = 0
    if total != size:
        raise ValueError(f"{total:,} bytes came, not {size:,}")
    if filled:
        yield block[:filled]


def _check_room(least: int) -> None:
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit != resource.RLIM_INFINITY and least >= limit:
        raise MemoryError


def _limit() -> str:
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return "the memory of the session" if limit == resource.RLIM_INFINITY else f"the session's {limit:,}"


def _json(incoming: Incoming, size: int) -> Any:
    text = _text(incoming, size)
    try:
        return json.loads(text)
    except MemoryError:
        raise MemoryError(f"the value of {size:,} bytes of JSON does not fit into {_limit()}") from None


_INLINE = {"json": json.loads, "text": str}
_BULK = {"json": _json, "text": _text, "bytes": _bytes}
