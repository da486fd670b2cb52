"""Variables set by the host from JSON, text or bytes, inline or in bulk. Nothing is set unless all data arrived."""

import io
import json
import resource
from typing import Any, Dict, Optional

from ..io.bulk import Incoming

PIECE = 256 * 1024


def set_variable(namespace: Dict[str, Any], message: Dict[str, Any], incoming: Optional[Incoming]) -> Dict[str, Any]:
    if incoming is None:
        value = _INLINE[message["kind"]](message["value"])
    else:
        value = _BULK[message["kind"]](_receive(incoming, message["size"]))
    namespace[message["name"]] = value
    return {"type": type(value).__name__}


def _receive(incoming: Incoming, size: int) -> io.BytesIO:
    """Collects the bytes in a BytesIO, whose ``getvalue`` does not copy: the data is in memory only once.

    It grows as data arrives. Allocating a gigabyte up front would take a second.
    """
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit != resource.RLIM_INFINITY and size >= limit:
        raise MemoryError(f"{size:,} bytes do not fit into the session's {limit:,}")
    buffer = io.BytesIO()
    with memoryview(bytearray(PIECE)) as scratch:
        for length in incoming.sizes():
            for at in range(0, length, PIECE):
                part = scratch[: min(PIECE, length - at)]
                incoming.fill(part)
                buffer.write(part)
    if buffer.tell() != size:
        raise ValueError(f"{buffer.tell():,} bytes came, not {size:,}")
    return buffer


def _text(buffer: io.BytesIO) -> str:
    with buffer.getbuffer() as view:
        try:
            return str(view, "utf-8")
        except UnicodeDecodeError as error:
            byte = view[error.start]
            raise ValueError(f"it is not UTF-8: byte 0x{byte:02x} at offset {error.start:,}") from None


def _json(buffer: io.BytesIO) -> Any:
    return json.loads(_text(buffer))


_INLINE = {"json": json.loads, "text": str}
_BULK = {"json": _json, "text": _text, "bytes": io.BytesIO.getvalue}
