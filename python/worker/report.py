"""Values and exceptions as text: the repr of a value; the name, message and traceback of an exception.

Nearly everything here may run user code (``__repr__``, ``__str__``, properties of exceptions), so it is called under
``Interrupts.guard``.
"""

import errno
import os
import traceback
from typing import Any, Dict, Iterable, List, Optional, Tuple

MAX_VALUE = 16_000
MAX_TRACEBACK = 60_000
MAX_FRAMES = 5_000  # the innermost ones; endless recursion may leave millions
OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
KERNEL = OWN + "kernel.py"


def truncate(text: str, limit: int) -> str:
    """The text, or its head and tail around a line that says how many characters were omitted."""
    size = len(text)
    if size <= limit:
        return text
    half = (limit - 60) // 2
    return f"{text[:half]}\n… {size - 2 * half:,} characters omitted …\n{text[size - half:]}"


def text_of(value: Any) -> Tuple[str, int]:
    """repr() as an exact str, truncated in the middle, and its full length. Raises what repr raises."""
    text = str.__str__(repr(value))
    size = len(text)
    return (text, size) if size <= MAX_VALUE else (truncate(text, MAX_VALUE), size)


def error_of(error: BaseException, renames: Dict[str, str]) -> Dict[str, str]:
    """Name, message and traceback without the worker's frames. ``renames`` maps file names to those to show."""
    return {
        "name": name_of(error),
        "value": truncate(_message_of(error), MAX_VALUE),
        "traceback": truncate(traceback_of(error, renames), MAX_TRACEBACK) + _advice_for(error),
    }


def _advice_for(error: BaseException) -> str:
    """What to do instead, where a program that writes to /tmp meets a sandbox whose temporary folder is another."""
    own = os.environ.get("TMPDIR", "/tmp")
    if own == "/tmp" or not isinstance(error, OSError):
        return ""
    path = OSError.__dict__["filename"].__get__(error)
    if type(path) is not str or not path.startswith("/tmp/") or error.errno != errno.EACCES:
        return ""
    return f"Sessions do not share /tmp in this sandbox. Use the working folder, or tempfile.gettempdir(): {own}\n"


def plain_error(error: BaseException) -> Dict[str, str]:
    """error_of for an exception that cannot be formatted; runs no user code."""
    name = name_of(error)
    return {"name": name, "value": "", "traceback": f"{name}: <exception could not be formatted>\n"}


def name_of(error: BaseException) -> str:
    return str.__str__(type.__dict__["__name__"].__get__(type(error)))


def traceback_of(error: BaseException, renames: Optional[Dict[str, str]] = None) -> str:
    """The text that Python would print, without the worker's frames."""
    try:
        summary = traceback.TracebackException(type(error), error, _innermost(error.__traceback__), limit=-MAX_FRAMES)
        for part in _chain(summary):
            part.stack[:] = _visible(part.stack, renames or {})
        if summary.stack or summary.__cause__ or summary.__context__ or getattr(summary, "exceptions", None):
            return "".join(summary.format())
        return "".join(summary.format_exception_only())
    except KeyboardInterrupt:
        raise
    except BaseException:
        return f"{name_of(error)}: {_message_of(error)}\n"


def _innermost(first: Any) -> Any:
    """The last frames of a traceback. ``traceback`` itself would take minutes for millions of frames."""
    last = first
    for _ in range(MAX_FRAMES):
        if last is None:
            return first
        last = last.tb_next
    while last is not None:
        first, last = first.tb_next, last.tb_next
    return first


def _message_of(error: BaseException) -> str:
    try:
        return str.__str__(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "<exception str() failed>"


def _chain(summary: Any) -> Iterable[Any]:
    pending: List[Any] = [summary]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(filter(None, (part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ()))))


def _visible(stack: Any, renames: Dict[str, str]) -> List[Any]:
    """Drops the worker's frames, and asyncio's frames between them: the cell follows the last frame of the kernel."""
    frames = list(stack)
    if frames and frames[0].filename.startswith(OWN):
        last = max((index for index, frame in enumerate(frames) if frame.filename == KERNEL), default=-1)
        frames = frames[last + 1:]
    frames = [frame for frame in frames if not frame.filename.startswith(OWN)]
    for frame in frames:
        if frame.filename in renames and frame.name == "<module>":
            frame.line  # reads the source line under the old name, which linecache knows
            frame.filename = renames[frame.filename]
    return frames
