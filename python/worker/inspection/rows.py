"""A part of a table: rows and columns of a frame, an array, a list or a dict, as short texts.

What is asked of the value grows with the part, not with the value, except for sorting, which looks at one whole column.
Methods of the value run, so ``rows_of`` must run in a fork.
"""

import sys
from collections import deque
from itertools import islice
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from .inspection import MAX_NAME, describe, type_names
from .previews import MAX_DEPTH, MORE, ReprWalker

MAX_CELL = 200
MAX_CHARACTERS = 1_000_000  # of all cells together
SEQUENCES = (list, tuple, range, deque)
SETS = (set, frozenset)

Positions = Union[range, Sequence[int]]
Cells = Iterable[Iterable[Any]]


class Part(NamedTuple):
    """What was asked for, by position. ``sort_by`` is a column of the whole table."""

    start: int
    count: int
    column_start: int
    column_count: int
    sort_by: Optional[int]
    descending: bool


class Table(NamedTuple):
    """A value as a table. ``index`` and ``cells`` are asked for some rows, ``column`` for all values of one column."""

    total: int
    names: Sequence[Any]
    dtype: Callable[[int], Any]
    index: Callable[[Positions], Iterable[Any]]
    cells: Callable[[Positions, range], Cells]
    column: Callable[[int], Any]
    text: Callable[[Any], str]


def rows_of(value: Any, part: Part, emit: Callable[[Dict[str, Any]], None]) -> None:
    """Emits the columns, then the rows. An exception becomes ``error``."""
    try:
        table = _table_of(value)
        width = len(table.names)
        columns = range(width)[part.column_start : part.column_start + part.column_count]
        shown = [{"name": _cut(table.names[at], MAX_NAME), "dtype": _cut(table.dtype(at), MAX_NAME)} for at in columns]
        emit({"total": table.total, "totalColumns": width, "columns": shown})
        rows = _order(table, part)[part.start : part.start + part.count]
        cells = _texts(table.cells(rows, columns), table.text)
        emit({"index": [_label(label) for label in islice(table.index(rows), len(cells))], "rows": cells})
    except BaseException as error:
        emit({"error": describe(error)})


def _table_of(value: Any) -> Table:
    kind = type(value)
    name, module = type_names(kind)
    library = (module or "").partition(".")[0]
    if library in ("pandas", "polars"):
        table = value.to_frame() if hasattr(kind, "to_frame") else value  # of a series
        if hasattr(type(table), "iloc"):
            return _pandas(table)
        if hasattr(type(table), "get_column"):
            return _polars(table)
    if hasattr(kind, "__array_finalize__"):
        return _array(value.A if name == "matrix" else value)
    if isinstance(value, dict):
        return _items(value.values, value.keys, len(value))
    if isinstance(value, SEQUENCES + SETS):
        return _items(lambda: value, None, len(value))
    raise TypeError(f"a value of type '{name}' has no rows")


def _pandas(frame: Any) -> Table:
    """By position, because labels may repeat."""

    def cells(rows: Positions, columns: range) -> Cells:
        part = frame.iloc[_indexer(rows), columns.start : columns.stop]
        return zip(*(part.iloc[:, at] for at in range(len(columns)))) if columns else ([] for _ in rows)

    return Table(
        total=len(frame),
        names=[", ".join(map(str, name)) if isinstance(name, tuple) else name for name in frame.columns],
        dtype=lambda at: frame.dtypes.iloc[at],
        index=lambda rows: frame.index[_indexer(rows)],
        cells=cells,
        column=lambda at: frame.iloc[:, at],
        text=_text,
    )


def _polars(frame: Any) -> Table:
    """Column by column: whatever polars does in parallel would wait for threads that a fork does not have."""

    def cells(rows: Positions, columns: range) -> Cells:
        series = [frame.get_column(name) for name in frame.columns[columns.start : columns.stop]]
        if isinstance(rows, range):
            series = [one.slice(rows.start, len(rows)).to_list() for one in series]
        return ([one[at] for one in series] for at in (range(len(rows)) if isinstance(rows, range) else rows))

    return Table(
        total=frame.height,
        names=frame.columns,
        dtype=lambda at: frame.dtypes[at],
        index=lambda rows: rows,
        cells=cells,
        column=lambda at: frame.get_column(frame.columns[at]).to_list(),
        text=_text,
    )


def _array(array: Any) -> Table:
    """A row for each index of all axes but the last, which has the columns. The columns of a record array are its fields."""
    fields = array.dtype.names
    has_columns = not fields and array.ndim > 1
    axes = array.shape[:-1] if has_columns else array.shape
    total = 1
    for length in axes:
        total *= length

    def place(at: int) -> Tuple[int, ...]:
        found: List[int] = []
        for length in reversed(axes):
            at, rest = divmod(at, length)
            found.append(int(rest))
        return tuple(reversed(found))

    def cells(at: int, columns: range) -> Iterable[Any]:
        row = array[place(at)]
        if fields:
            return [row[fields[column]] for column in columns]
        return row[columns.start : columns.stop] if has_columns else [row] * len(columns)

    def column(at: int) -> Any:
        values = array[fields[at]] if fields else array[..., at] if has_columns else array
        return values.reshape(-1)

    return Table(
        total=total,
        names=fields or range(array.shape[-1] if has_columns else 1),
        dtype=lambda at: array.dtype[at] if fields else array.dtype,
        index=lambda rows: (place(at) for at in rows),
        cells=lambda rows, columns: (cells(at, columns) for at in rows),
        column=column,
        text=_text,
    )


def _items(values: Callable[[], Iterable[Any]], keys: Optional[Callable[[], Iterable[Any]]], total: int) -> Table:
    """One column, with the keys of a dict as index."""
    return Table(
        total=total,
        names=["value"],
        dtype=lambda at: "object",
        index=lambda rows: rows if keys is None else map(_preview, _pick(keys(), rows)),
        cells=lambda rows, columns: ([item] * len(columns) for item in _pick(values(), rows)),
        column=lambda at: list(values()),
        text=_preview,
    )


def _pick(values: Iterable[Any], rows: Positions) -> Iterable[Any]:
    if isinstance(values, SEQUENCES):
        return (values[at] for at in rows)
    if isinstance(rows, range):
        return islice(values, rows.start, rows.stop)
    everything = list(values)
    return (everything[at] for at in rows)


def _order(table: Table, part: Part) -> Positions:
    """The positions of all rows. What is missing comes last, and equal values keep their order."""
    if part.sort_by is None:
        return range(table.total)
    if part.sort_by >= len(table.names):
        raise IndexError(f"there is no column {part.sort_by}")
    values = table.column(part.sort_by)
    if hasattr(type(values), "sort_values"):
        values = values.reset_index(drop=True)
        ordered = values.sort_values(ascending=not part.descending, kind="stable", na_position="last")
        return ordered.index.to_numpy()
    if hasattr(type(values), "argsort"):
        return _sorted_array(values, part.descending)
    known = [at for at, value in enumerate(values) if not _is_missing(value)]
    known.sort(key=values.__getitem__, reverse=part.descending)
    return known + [at for at, value in enumerate(values) if _is_missing(value)]


def _sorted_array(values: Any, descending: bool) -> Any:
    if not descending:
        return values.argsort(kind="stable")
    order = (len(values) - 1 - values[::-1].argsort(kind="stable"))[::-1]
    missing = int((values != values).sum())  # they come first now
    return sys.modules["numpy"].roll(order, -missing)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _texts(rows: Cells, text: Callable[[Any], str]) -> List[List[str]]:
    """Fewer rows where they have too many characters, but one at least."""
    found: List[List[str]] = []
    characters = 0
    for row in rows:
        cells = [text(cell) for cell in row]
        characters += sum(map(len, cells))
        if found and characters > MAX_CHARACTERS:
            break
        found.append(cells)
    return found


def _text(value: Any) -> str:
    """A cell of a table: a str as it is, everything else as Python prints it."""
    if isinstance(value, (bytes, bytearray, list, tuple, dict, set, frozenset)):
        return _preview(value)
    return _safely(str, value)


def _preview(value: Any) -> str:
    return _safely(lambda one: ReprWalker(MAX_CELL + 1, None, MAX_DEPTH, MAX_CELL).walk(one)[0], value)


def _label(value: Any) -> str:
    return _safely(lambda one: ", ".join(map(str, one)) if isinstance(one, tuple) else str(one), value)


def _safely(function: Callable[[Any], str], value: Any) -> str:
    try:
        return _cut(function(value), MAX_CELL)
    except Exception as error:
        return _cut(f"<{describe(error)}>", MAX_CELL)


def _cut(value: Any, limit: int) -> str:
    text = str.__str__(str(value))
    return text if len(text) <= limit else text[: limit - 1] + MORE


def _indexer(rows: Positions) -> Any:
    return slice(rows.start, rows.stop) if isinstance(rows, range) else rows
