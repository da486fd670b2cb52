"""MIME bundles: the representations of a value by MIME type, according to IPython's display protocol.

Everything here runs user code, so it is called under ``Interrupts.guard``. If a representation fails, the error is printed
to stderr and the others are kept. Libraries that do not support the protocol well have formatters (formatters.py). All
representations are strings: binary types in base64, JSON types as JSON text.
"""

import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Callable, Collection, Dict, Iterable, Optional, Tuple

from ..io.channel import encode, quote
from ..report import MAX_VALUE, name_of, traceback_of, truncate
from . import formatters

# Types that only have their text: no methods are looked up for them.
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
MAX_BUNDLE = 16 << 20  # bytes on the pipe
MAX_TYPES = 64
MAX_TYPE = 128
MAX_FAILURE = 4_000

Presented = Tuple[str, int, Optional[Dict[str, str]]]
TextOf = Callable[[Any], Tuple[str, int]]


class DisplayOptions:
    """The MIME types to produce; without ``include`` all of them. ``figures`` are the formats of figures."""

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

    def wants(self, mime: str) -> bool:
        return (self.include is None or mime in self.include) and mime not in self.exclude


def present(value: Any, options: DisplayOptions, text_of: TextOf) -> Presented:
    """The text, its full length, and the other representations if there are any.

    Raises what ``repr`` raises, unless there is another representation.
    """
    found = _representations(value, options)
    plain = found.pop("text/plain", None)
    rich = limit_size(found) if found else None
    if plain is not None:
        return truncate(plain, MAX_VALUE), len(plain), rich
    try:
        return (*text_of(value), rich)
    except Exception as error:
        if rich is None:
            raise
        print_failure("repr()", error)
        text = f"<{name_of_type(value)}: repr() failed>"
        return text, len(text), rich


def display_itself(value: Any) -> bool:
    """Calls ``_ipython_display_`` if the value has it; whether that displayed it."""
    if _has_only_text(value):
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
        print_failure("_ipython_display_", error)
        return False


def clean(data: Any, options: DisplayOptions) -> Dict[str, str]:
    """A bundle from user code, as strings. Invalid entries are reported on stderr and omitted."""
    if not isinstance(data, dict):
        raise TypeError(f"a mime bundle must be a dict, not {type(data).__name__}")
    cleaned: Dict[str, str] = {}
    for mime, content in list(data.items()):
        if isinstance(mime, str) and len(mime) <= MAX_TYPE and len(cleaned) < MAX_TYPES:
            if content is not None and options.wants(mime):
                _add(cleaned, str.__str__(mime), content, "a mime bundle")
    return cleaned


def limit_size(found: Dict[str, str]) -> Dict[str, str]:
    """The representations that fit into one bundle, in their order, and a list of those that do not."""
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


def print_failure(what: str, error: BaseException) -> None:
    """Prints to stderr that a representation failed, with the traceback."""
    _print_error(f"{what} failed:\n{truncate(traceback_of(error), MAX_FAILURE)}")


def _print_error(text: str) -> None:
    try:
        sys.stderr.write(text)
    except Exception:  # user code may have closed or replaced it
        pass


def name_of_type(value: Any) -> str:
    return str.__str__(type.__dict__["__name__"].__get__(type(value)))


def _representations(value: Any, options: DisplayOptions) -> Dict[str, str]:
    found: Dict[str, str] = {}
    if _has_only_text(value):
        return found
    formatter = formatters.find(value)
    if formatter is not None:
        try:
            for mime, content in formatter.bundle(value, options).items():
                if options.wants(mime):
                    _add(found, mime, content, "a formatter")
        except Exception as error:
            print_failure(f"showing a {name_of_type(value)}", error)
        if formatter.is_complete:
            return found
    bundle = _call_method(value, "_repr_mimebundle_", include=options.include, exclude=options.exclude or None)
    if isinstance(bundle, dict):
        found.update(clean(bundle, options))
    for mime, name in METHODS:
        if mime not in found and options.wants(mime):
            content = _call_method(value, name)
            if content is not None:
                _add(found, mime, content, name)
    return found


def _has_only_text(value: Any) -> bool:
    """True for plain types, for classes, and for objects whose ``__getattr__`` returns something for every name."""
    if type(value) in PLAIN or issubclass(type(value), type):
        return True
    try:
        return getattr(value, CANARY, None) is not None
    except Exception:
        return True


def _method(value: Any, name: str) -> Any:
    try:
        method = getattr(value, name, None)
    except Exception:  # raised by a property or a __getattr__
        return None
    return method if callable(method) else None


def _call_method(value: Any, name: str, **arguments: Any) -> Any:
    """The result of a method of the protocol, without metadata; None if there is no method or it fails."""
    method = _method(value, name)
    if method is None:
        return None
    try:
        result = method(**arguments)
    except NotImplementedError:
        return None
    except Exception as error:
        print_failure(name, error)
        return None
    return result[0] if isinstance(result, tuple) and len(result) == 2 else result


def _add(found: Dict[str, str], mime: str, content: Any, source: str) -> None:
    try:
        found[mime] = _text(mime, content)
    except Exception as error:
        _print_error(f"{source}: {mime} is left out: {name_of(error)}: {truncate(str(error), 500)}\n")


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
