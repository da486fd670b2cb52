"""Formatters for objects of libraries that do not support the display protocol, or not well.

A formatter is found by the module and name of a class, so no library is imported here.
"""

from typing import Any, Callable, Dict, List, Optional

from ..io.channel import encode
from . import figures

TABLE_DATA = "application/vnd.dataresource+json"
PLOTLY = "application/vnd.plotly.v1+json"
MAX_ROWS = 1_000
MAX_COLUMNS = 500
MAX_CELLS = 100_000
MAX_PIXELS = 16 << 20
MAX_IMAGE_BYTES = 8 << 20


class Formatter:
    """``bundle(value, options)`` returns representations. ``is_complete``: the object's own methods are not called."""

    def __init__(self, bundle: Callable[[Any, Any], Dict[str, Any]], is_complete: bool) -> None:
        self.bundle = bundle
        self.is_complete = is_complete


def find(value: Any) -> Optional[Formatter]:
    """The formatter of the most specific class of the value."""
    try:
        for kind in type(value).__mro__:
            known = FORMATTERS.get(kind.__module__.partition(".")[0])
            if known is not None and kind.__name__ in known:
                return known[kind.__name__]
    except Exception:  # attributes of a class may be anything
        pass
    return None


def to_json_text(content: Any) -> str:
    """JSON text of a value. A str that is already JSON is returned as it is. Raises if JSON cannot express the value."""
    if isinstance(content, (str, bytes)):
        import json

        text = str(content, "utf-8") if isinstance(content, bytes) else str.__str__(content)
        try:
            json.loads(text)
            return text
        except ValueError:
            return encode(text)
    try:
        return encode(content)
    except (TypeError, ValueError):
        return encode(_plain(content))


def _plain(value: Any) -> Any:
    """Converts to JSON types: numpy numbers and arrays, dates, and NaN, which becomes None."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if value - value == 0 else None
    if value is None or isinstance(value, (str, int)):
        return value
    for name in ("tolist", "isoformat"):
        convert = getattr(value, name, None)
        if callable(convert):
            return _plain(convert())
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _pandas_frame(frame: Any, options: Any) -> Dict[str, Any]:
    return _data(options, lambda: _pandas_data(frame))


def _pandas_series(series: Any, options: Any) -> Dict[str, Any]:
    frame = series.to_frame("values" if series.name is None else series.name)
    found = _data(options, lambda: _pandas_data(frame))
    if options.wants("text/html"):
        found["text/html"] = frame._repr_html_()
    return {mime: content for mime, content in found.items() if content is not None}


def _pandas_data(frame: Any) -> str:
    rows, columns = frame.shape
    part = frame.iloc[: _rows(columns), :MAX_COLUMNS]
    if not part.columns.is_unique or part.columns.nlevels > 1:
        part = part.copy()
        part.columns = _unique([str(name) for name in part.columns])
    try:
        text = part.to_json(orient="table", date_format="iso", default_handler=str)
    except Exception:  # the index has the name of a column, or a type is not in the table schema
        part = part.astype(str)
        part.index = range(len(part))
        text = part.to_json(orient="table")
    return f'{text[:-1]},"totalRows":{rows},"totalColumns":{columns}}}'


def _polars_frame(frame: Any, options: Any) -> Dict[str, Any]:
    return _data(options, lambda: _polars_data(frame))


def _polars_series(series: Any, options: Any) -> Dict[str, Any]:
    return _data(options, lambda: _polars_data(series.to_frame()))


def _polars_data(frame: Any) -> str:
    rows, columns = frame.shape
    names = list(frame.columns)[:MAX_COLUMNS]
    part = frame.select(names).head(_rows(columns))
    fields = [{"name": name, "type": _polars_type(str(kind))} for name, kind in zip(names, part.dtypes)]
    data = [{name: _cell(item) for name, item in row.items()} for row in part.to_dicts()]
    return encode({"schema": {"fields": fields}, "data": data, "totalRows": rows, "totalColumns": columns})


def _polars_type(kind: str) -> str:
    for prefix, name in (("Int", "integer"), ("UInt", "integer"), ("Float", "number"), ("Bool", "boolean"),
                         ("Utf8", "string"), ("String", "string"), ("Date", "datetime"), ("Duration", "duration")):
        if kind.startswith(prefix):
            return name
    return "any"


def _cell(value: Any) -> Any:
    try:
        return _plain(value)
    except TypeError:
        return str(value)


def _data(options: Any, make: Callable[[], str]) -> Dict[str, Any]:
    """The table as data; nothing if that fails, because it still has its text and HTML."""
    if not options.wants(TABLE_DATA):
        return {}
    try:
        return {TABLE_DATA: make()}
    except Exception:
        return {}


def _rows(columns: int) -> int:
    return min(MAX_ROWS, max(1, MAX_CELLS // max(1, min(columns, MAX_COLUMNS))))


def _unique(names: List[str]) -> List[str]:
    seen: Dict[str, int] = {}
    found = []
    for name in names:
        count = seen[name] = seen.get(name, 0) + 1
        found.append(name if count == 1 else f"{name} ({count})")
    return found


def _image(image: Any, options: Any) -> Dict[str, Any]:
    """PNG. A large image is scaled down; its text still has the true size."""
    if not options.wants("image/png"):
        return {}
    import io

    if image.width * image.height > MAX_PIXELS:
        image = _scaled(image, (MAX_PIXELS / (image.width * image.height)) ** 0.5)
    if image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"):
        image = image.convert("RGB")
    while True:
        file = io.BytesIO()
        image.save(file, "PNG")
        if file.tell() <= MAX_IMAGE_BYTES or image.width * image.height < 4:
            return {"image/png": file.getvalue()}
        image = _scaled(image, 0.5)


def _scaled(image: Any, factor: float) -> Any:
    if image.mode == "P":
        image = image.convert("RGBA")
    return image.resize((max(1, int(image.width * factor)), max(1, int(image.height * factor))))


def _plotly(figure: Any, options: Any) -> Dict[str, Any]:
    return {PLOTLY: figure.to_json()} if options.wants(PLOTLY) else {}


def _altair(chart: Any, options: Any) -> Dict[str, Any]:
    """The specification, with every renderer. The chart's own bundle is added to it."""
    chart_spec = chart.to_dict()
    version = str(chart_spec.get("$schema", "")).rpartition("/")[2].partition(".")[0]
    mime = f"application/vnd.vegalite.{version if version[:1] == 'v' else 'v5'}+json"
    return {mime: chart_spec} if options.wants(mime) else {}


FORMATTERS: Dict[str, Dict[str, Formatter]] = {
    "matplotlib": {"Figure": Formatter(figures.bundle, True)},
    "pandas": {"DataFrame": Formatter(_pandas_frame, False), "Series": Formatter(_pandas_series, False)},
    "polars": {"DataFrame": Formatter(_polars_frame, False), "Series": Formatter(_polars_series, False)},
    "PIL": {"Image": Formatter(_image, True)},
    "plotly": {"BaseFigure": Formatter(_plotly, True)},
    "altair": {"TopLevelMixin": Formatter(_altair, False)},
}
