"""A value in several representations, keyed by mime type: the display protocol of IPython.

Everything here runs user code, so it is called under guard. A representation that fails is complained about on stderr
and left out; the others stay. Libraries that do not speak the protocol well have formatters of their own
(formatters.py). All representations are strings: binary types in base64, JSON types as JSON text.
"""

import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Collection, Dict, Iterable, Optional, Tuple

from . import formatters
from ..io.channel import cut, encode, quote
from ..report import MAX_VALUE, name_of, text_of, traceback_of

# Types that have no representation but their text: nothing is looked up for them.
PLAIN = frozenset(
    (int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice, type, type(None))
    + (FunctionType, BuiltinFunctionType, ModuleType)
)
METHODS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("application/pdf", "_repr_pdf_"),
    ("text/latex", "_repr_latex_"),
    ("application/json", "_repr_json_"),
    ("application/javascript", "_repr_javascript_"),
)
OMITTED = "application/vnd.rlm.omitted+json"  # [{type, bytes}]: representations that were too large
CANARY = "_rlm_canary_that_no_object_has_"
MAX_BUNDLE = 16 << 20  # bytes, as they cross the pipe
MAX_TYPES = 64
MAX_TYPE = 128
MAX_COMPLAINT = 4_000

Presented = Tuple[str, int, Optional[Dict[str, str]]]


class Wanted:
    """Which types somebody asked for. Without ``include`` all of them; ``figures`` are the formats of figures."""

    def __init__(
        self,
        include: Optional[Collection[str]] = None,
        exclude: Optional[Collection[str]] = None,
        figures: Iterable[str] = ("png",),
        figure_options: Optional[Dict[str, Any]] = None,
    ) -> None:
        self.include = None if include is None else _names(include)
        self.exclude = _names(exclude or ())
        self.figures = tuple(figures)
        self.figure_options = figure_options or {}

    def has(self, mime: str) -> bool:
        return (self.include is None or mime in self.include) and mime not in self.exclude


def present(value: Any, wanted: Wanted) -> Presented:
    """The text, its whole length, and the other representations if there are any.

    Raises what ``repr`` raises, unless there is another representation to show.
    """
    found = _representations(value, wanted)
    given = found.pop("text/plain", None)
    rich = bounded(found) if found else None
    if given is not None:
        return cut(given, MAX_VALUE), len(given), rich
    try:
        return (*text_of(value), rich)
    except Exception as error:
        if rich is None:
            raise
        complain("repr()", error)
        text = f"<{name_of_type(value)}: repr() failed>"
        return text, len(text), rich


def take_over(value: Any) -> bool:
    """Whether the value has shown itself, in its own way (``_ipython_display_``)."""
    if _is_silent(value):
        return False
    method = _method(value, "_ipython_display_")
    if method is None or formatters.find(value) is not None:
        return False
    try:
        method()
        return True
    except NotImplementedError:
        return False
    except Exception as error:
        complain("_ipython_display_", error)
        return False


def cleaned(data: Any, wanted: Wanted) -> Dict[str, str]:
    """A bundle that user code made, as strings; what cannot be one is complained about and left out."""
    if not isinstance(data, dict):
        raise TypeError(f"a mime bundle must be a dict, not {type(data).__name__}")
    clean: Dict[str, str] = {}
    for mime, content in list(data.items()):
        if isinstance(mime, str) and len(mime) <= MAX_TYPE and len(clean) < MAX_TYPES:
            if content is not None and wanted.has(mime):
                _add(clean, str.__str__(mime), content, "a mime bundle")
    return clean


def bounded(found: Dict[str, str]) -> Dict[str, str]:
    """The representations that fit into one bundle, in their order, and the names of those that do not."""
    kept: Dict[str, str] = {}
    omitted = []
    left = MAX_BUNDLE
    for mime, content in found.items():
        size = len(content)
        if size <= left:
            size = len(quote(content))
        if size <= left:
            left -= size
            kept[mime] = content
        else:
            omitted.append({"type": mime, "bytes": size})
    if omitted:
        kept[OMITTED] = encode(omitted)
    return kept


def complain(what: str, error: BaseException) -> None:
    """Tells on stderr that a representation failed, as a traceback would."""
    _say(f"{what} failed:\n{cut(traceback_of(error), MAX_COMPLAINT)}")


def _say(text: str) -> None:
    try:
        sys.stderr.write(text)
    except Exception:  # user code may have closed or replaced it
        pass


def name_of_type(value: Any) -> str:
    return str.__str__(type.__dict__["__name__"].__get__(type(value)))


def _representations(value: Any, wanted: Wanted) -> Dict[str, str]:
    found: Dict[str, str] = {}
    if _is_silent(value):
        return found
    formatter = formatters.find(value)
    if formatter is not None:
        try:
            for mime, content in formatter.bundle(value, wanted).items():
                if wanted.has(mime):
                    _add(found, mime, content, "a formatter")
        except Exception as error:
            complain(f"showing a {name_of_type(value)}", error)
        if formatter.is_whole:
            return found
    bundle = _asked(value, "_repr_mimebundle_", include=wanted.include, exclude=wanted.exclude or None)
    if isinstance(bundle, dict):
        found.update(cleaned(bundle, wanted))
    for mime, name in METHODS:
        if mime not in found and wanted.has(mime):
            content = _asked(value, name)
            if content is not None:
                _add(found, mime, content, name)
    return found


def _is_silent(value: Any) -> bool:
    """Classes are not asked, only their instances; nor are objects that have whatever attribute one asks for."""
    if type(value) in PLAIN or issubclass(type(value), type):
        return True
    try:
        return getattr(value, CANARY, None) is not None
    except Exception:
        return True


def _method(value: Any, name: str) -> Any:
    try:
        method = getattr(value, name, None)
    except Exception:  # of a property or a __getattr__
        return None
    return method if callable(method) else None


def _asked(value: Any, name: str, **options: Any) -> Any:
    """What a method of the protocol answers; metadata that comes with it is not passed on."""
    method = _method(value, name)
    if method is None:
        return None
    try:
        answer = method(**options)
    except NotImplementedError:
        return None
    except Exception as error:
        complain(name, error)
        return None
    return answer[0] if isinstance(answer, tuple) and len(answer) == 2 else answer


def _add(found: Dict[str, str], mime: str, content: Any, source: str) -> None:
    try:
        found[mime] = _text(mime, content)
    except Exception as error:
        _say(f"{source}: {mime} is left out: {name_of(error)}: {cut(str(error), 500)}\n")


def _text(mime: str, content: Any) -> str:
    if mime == "application/json" or mime.endswith("+json"):
        return formatters.to_json_text(content)
    if isinstance(content, str):
        return str.__str__(content)
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError(f"it must be a str or bytes, not {name_of_type(content)}")
    if mime.startswith("text/") or mime.endswith(("+xml", "javascript")):
        return bytes(content).decode("utf-8")
    import binascii

    return binascii.b2a_base64(content, newline=False).decode("ascii")


def _names(types: Collection[str]) -> frozenset:
    return frozenset((types,) if isinstance(types, str) else types)
