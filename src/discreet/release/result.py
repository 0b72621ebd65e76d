"""What a session returns for a private query on a table, to look at and to keep."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NoReturn
from uuid import uuid4

from discreet.errors import InternalError
from discreet.guarantees.guarantee import Guarantee
from discreet.hints import unknown
from discreet.lazy import cached_property
from discreet.numeric.exact import integer
from discreet.release import adjustment, exports
from discreet.release.column import (
    OTHER_ERROR,
    ColumnInfo,
    Released,
    error_column,
    named,
    released_column,
    row_of,
)
from discreet.release.text import text, value_and_error, with_error

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from discreet.plot import Plot


# -- one number ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """A released value and its 95 % error: at least 19 times in 20 it is this close to the truth.

    The error of a quantile is in ranks, that of a choice in counts.

    >>> print(Answer(1234, 6.0))
    1234 ± 6
    """

    value: Any
    error: float

    def __str__(self) -> str:
        return with_error(self.value, self.error)


# -- the table -------------------------------------------------------------------------------------


_FRAMES: Final = "to_pandas(), to_polars() and to_arrow() give a table: say result.to_pandas()"
#: Names that other tables have, and what to write here.
_INSTEAD: Final = {
    **dict.fromkeys(("df", "head", "iloc", "loc", "to_frame", "to_excel", "describe"), _FRAMES),
    **dict.fromkeys(("to_json", "to_dict"), "say result.to_dicts()"),
    **dict.fromkeys(("epsilon", "delta", "spent"), "say result.cost, or result.guarantee"),
    **dict.fromkeys(("values", "errors", "error"), 'name a column first, as in result["n"]'),
}


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A released table: groups, values, the 95 % error of each value, and what it cost.

    Everything here is post-processing: it costs nothing, and the guarantee still holds.

    >>> import pyarrow as pa
    >>> from discreet.guarantees import Pure
    >>> frame = pa.table({"ward": ["A", "B"], "n": [1234, -3], "n_error": [6.0, 6.0]})
    >>> columns = (
    ...     ColumnInfo("ward", "key"),
    ...     ColumnInfo("n", "value", kind="count", integer=True),
    ...     ColumnInfo("n_error", "error", of="n"),
    ... )
    >>> protects = "a row (add-remove)"
    >>> result = Result(frame, columns, guarantee=Pure(0.5), cost="ε = 0.5", protects=protects)
    >>> result
    ward         n
    ----  --------
    A     1234 ± 6
    B       -3 ± 6
    <BLANKLINE>
    ± is the 95 % error of each value
    cost ε = 0.5; protects a row (add-remove)
    >>> result.value("n", ward="A"), result["n"].sum()
    (Answer(value=1234, error=6.0), sum of n: 1231.0 ± 9.9)
    """

    frame: pa.Table
    columns: tuple[ColumnInfo, ...]
    guarantee: Guarantee = field(kw_only=True)
    cost: str = field(kw_only=True)
    protects: str = field(kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    suppressed: str | None = field(default=None, kw_only=True)
    steps: tuple[str, ...] = field(default=(), kw_only=True)  #: post-processing, in words
    record: int | None = field(default=None, kw_only=True)  #: of the ledger
    #: Writes the certificate when it is first asked for: computing ε takes longer than an answer.
    issue: Callable[[], Any] | None = field(default=None, kw_only=True)
    #: Identifies the noise: results of the same origin share it, others are independent.
    origin: str = field(default_factory=lambda: uuid4().hex, kw_only=True)
    _version: str = field(default_factory=lambda: uuid4().hex, init=False)

    def __post_init__(self) -> None:
        # Every column is described, once and in order; if not, that is our bug.
        names = [column.name for column in self.columns]
        if self.frame.column_names != names or len(set(names)) != len(names):
            raise InternalError("the columns of a result do not match its frame")
        values = {column.name for column in self.values}
        if any(column.role == "error" and column.of not in values for column in self.columns):
            raise InternalError("an error column of a result belongs to no value column")

    if not TYPE_CHECKING:  # or else a type checker would accept every name

        def __getattr__(self, name: str) -> NoReturn:
            values = [column.name for column in self.__dict__.get("columns", ())]
            hint = f'say result["{name}"]' if name in values else _INSTEAD.get(name, "")
            raise unknown("a result", name, [n for n in dir(Result) if n[0] != "_"], hint)

    @cached_property
    def certificate(self) -> Any:
        """What was released under which promise, for others to check; None without a session.

        It is about the values as they were released, before any post-processing.
        """
        return None if self.issue is None else self.issue()

    def __getstate__(self) -> dict[str, Any]:
        # What issues the certificate may hold a private key, which must not be pickled.
        return {**self.__dict__, "issue": None, "certificate": self.certificate}

    # -- export --------------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """The table as it is: keys, values, errors."""
        return self.frame

    def to_polars(self) -> pl.DataFrame:
        """The table as a Polars data frame."""
        return exports.to_polars(self.frame)

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        return exports.to_pandas(self.frame)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per row."""
        return list(self.frame.to_pylist())

    def to_csv(self, path: str | PathLike[str] | None = None) -> str | None:
        """Write the table as CSV (RFC 4180, UTF-8) to ``path``; without one, return it as text.

        A text that a spreadsheet would take for a formula, or that holds control characters, is
        written with ``'`` before it; ``verify(result=...)`` reads it back as it was.
        """
        return exports.to_csv(self.frame, path)

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write the table as Parquet to the file ``path``; guarantee, cost and notes go into its
        metadata."""
        exports.to_parquet(self, path)

    def batches(self, size: int = 65536) -> Iterator[pa.RecordBatch]:
        """The table in Arrow record batches of at most ``size`` rows; 65,536 if left out."""
        size = integer(size, name="size", minimum=1)
        return iter(self.frame.to_batches(max_chunksize=min(size, max(1, len(self)))))

    # -- what it holds -------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self.frame.num_rows)

    @property
    def keys(self) -> tuple[ColumnInfo, ...]:
        """The group columns."""
        return tuple(column for column in self.columns if column.role == "key")

    @property
    def values(self) -> tuple[ColumnInfo, ...]:
        """The columns that hold answers."""
        return tuple(column for column in self.columns if column.role == "value")

    def __getitem__(self, name: str) -> Released:
        """A column to calculate with."""
        column = named(self.columns, name, role="value", argument="column")
        return released_column(self, column)

    def value(self, column: str, /, **keys: Any) -> Answer:
        """One cell: ``result.value("n", ward="A")``; without groups ``result.value("n")``.

        ``column`` is the column of the value, and ``keys`` name the group: one key for each group
        column.
        """
        info = named(self.columns, column, role="value", argument="column")
        row, errors = row_of(self, keys), error_column(self, info)
        error = None if errors is None else self.frame[errors][row].as_py()
        return Answer(self.frame[column][row].as_py(), math.inf if error is None else float(error))

    # -- labelled post-processing --------------------------------------------------------------

    def clip(self) -> Result:
        """Counts below 0 become 0, and other values go to the nearest end of their bounds.

        The errors still hold: the truth is inside, so no answer moves away from it. But clipped
        noise no longer averages out, so sums over many groups are biased upwards.
        """
        return adjustment.clip(self)

    def round(self, digits: int = 0) -> Result:
        """Values rounded to ``digits`` decimals; each error grows by as much as its value moves.

        0, the default, rounds to whole numbers; −3 to thousands.
        """
        return adjustment.round_to(self, digits)

    def consistent(self, *, total: int | Result | Released, value: str | None = None) -> Result:
        """Counts made whole, not negative, and such that they add up to ``total``.

        ``total`` is a public number, or a released one: a result of one row, or the sum of a
        column. Of all such counts these are the nearest, in units of their errors. A new error is
        the old one plus how far the count was moved; moving a negative count to 0 adds nothing.
        ``value`` names the column of counts; it may be left out if there is only one.
        """
        return adjustment.consistent(self, total=total, value=value)

    # -- display -------------------------------------------------------------------------------

    def plot(self, value: str | None = None) -> Plot:
        """Draw one value with error bars; ``.save("x.svg")`` works offline, also for ``.png`` and
        ``.html``.

        ``value`` is the name of its column; left out, it is the first that can be drawn.
        """
        from discreet.release.plot import draw

        return draw(self, value)

    def __repr__(self) -> str:
        columns = _columns(self)
        ruled = ([c.heading, "-" * _width(c.heading), *c.cells] for c in columns)
        lines = ["  ".join(row).rstrip() for row in zip(*ruled, strict=True)]
        return "\n".join([*lines, *_more(self), "", *_footer(self)])

    def _repr_html_(self) -> str:
        """The table for a notebook; everything that comes from outside is escaped."""
        columns = _columns(self)
        align = [f'style="text-align: {"right" if c.number else "left"}"' for c in columns]

        def row(tag: str, cells: Iterable[str]) -> str:
            pairs = zip(align, cells, strict=True)
            inside = (f"<{tag} {a}>{escape(c.strip())}</{tag}>" for a, c in pairs)
            return f"<tr>{''.join(inside)}</tr>"

        head = row("th", (c.heading for c in columns))
        rows = zip(*(c.cells for c in columns), strict=True)
        body = "\n".join(row("td", cells) for cells in rows)
        below = "<br>".join(escape(line) for line in [*_more(self), *_footer(self)])
        return (
            f'<table class="discreet">\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n'
            f'</table>\n<p style="font-size: 90%">{below}</p>'
        )

    def __rich__(self) -> Any:
        """The table for a terminal, without markup from the data."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        columns = _columns(self)
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(Text(column.heading), no_wrap=column.number)
        for row in zip(*(c.cells for c in columns), strict=True):
            table.add_row(*map(Text, row))
        below = "\n".join([*_more(self), "", *_footer(self)])
        return Group(table, Text(below, style="dim"))


# -- what is shown ---------------------------------------------------------------------------------


_MOST_ROWS = 20
_MOST_COLUMNS = 12
_LONGEST = 40  # characters of a key
_MEANING = "± is the 95 % error of each value"


@dataclass(frozen=True)
class _Column:
    """A heading and its cells, all padded to the same width."""

    heading: str
    cells: list[str]
    number: bool


def _columns(result: Result) -> list[_Column]:
    shown = [column for column in result.columns if column.role != "error"]
    if len(result) == 1 and not result.keys:  # one answer per line
        answers = [_cells(result, column)[0] for column in shown]
        names = [text(column.name) for column in shown]
        return [_padded("", names, number=False), _padded("answer", answers, number=True)]
    return [
        _padded(
            _short(text(column.name)), _cells(result, column), number=_is_number(result, column)
        )
        for column in shown[:_MOST_COLUMNS]
    ]


def _cells(result: Result, column: ColumnInfo) -> list[str]:
    frame = result.frame.slice(0, _MOST_ROWS)
    values = frame[column.name].to_pylist()
    if column.role != "value":
        return [_short(text(value)) for value in values]
    name = error_column(result, column)
    errors = [None] * len(values) if name is None else frame[name].to_pylist()
    pairs = [_pair(column, *cell) for cell in zip(values, errors, strict=True)]
    # Numbers end, and errors begin, at the ± sign.
    left, right = (max((_width(pair[side]) for pair in pairs), default=0) for side in (0, 1))
    to_right = column.kind != "choice"
    return [_pad(v, left, right=to_right) + _pad(e, right, right=False) for v, e in pairs]


def _is_number(result: Result, column: ColumnInfo) -> bool:
    import pyarrow as pa

    kind = result.frame.schema.field(column.name).type
    return column.kind != "choice" and bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _padded(heading: str, cells: list[str], *, number: bool) -> _Column:
    width = max(map(_width, (heading, *cells)))
    heading, *cells = (_pad(cell, width, right=number) for cell in (heading, *cells))
    return _Column(heading, cells, number)


def _pair(column: ColumnInfo, value: object, error: float | None) -> tuple[str, str]:
    error = math.inf if error is None else float(error)
    if column.kind in OTHER_ERROR:
        _, right = value_and_error(0, math.ceil(error) if math.isfinite(error) else error)
        return _short(text(value)), f" ({OTHER_ERROR[column.kind]} ± {right})"
    value = math.nan if value is None else value
    left, right = value_and_error(value, error)
    return left, f" ± {right}"


def _more(result: Result) -> list[str]:
    rows = len(result) - _MOST_ROWS
    columns = sum(column.role != "error" for column in result.columns) - _MOST_COLUMNS
    if len(result) == 1 and not result.keys:
        columns = 0
    return [
        f"… and {more:,} more {what}{'s' if more > 1 else ''}"
        for more, what in ((rows, "row"), (columns, "column"))
        if more > 0
    ]


def _footer(result: Result) -> list[str]:
    promise = f"cost {result.cost}; protects {result.protects}"
    lines = [_MEANING, promise]
    lines += [f"suppressed: {result.suppressed}"] if result.suppressed else []
    lines += [f"note: {note}" for note in result.notes]
    lines += [f"post-processed: {step}" for step in result.steps]
    return [text(line) for line in lines]


# -- widths ----------------------------------------------------------------------------------------


def _pad(cell: str, width: int, *, right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space


def _width(cell: str) -> int:
    """How many columns of a terminal it takes: wide characters take two, combining accents none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in cell)
    return len(cell) + wide - sum(unicodedata.combining(c) != 0 for c in cell)


def _short(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else cell[: _LONGEST - 1] + "…"


# -- a result as bytes, and back -------------------------------------------------------------------
# What a ledger keeps, so that an answer is paid for only once.
#
# An Arrow stream; what is not in the table itself is in its metadata. A result that is read back
# has the same noise, so it has the same origin as the first.


_METADATA = b"discreet"


def to_bytes(result: Result) -> bytes:
    """The whole result except its certificate, which follows from it and the charge."""
    import pyarrow as pa

    facts = {
        "columns": [asdict(column) for column in result.columns],
        "cost": result.cost,
        "guarantee": result.guarantee.to_json(),
        "notes": result.notes,
        "origin": result.origin,
        "protects": result.protects,
        "suppressed": result.suppressed,
    }
    frame = result.frame.replace_schema_metadata({_METADATA: json.dumps(facts).encode()})
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, frame.schema, options=options) as stream:
        stream.write_table(frame)
    return bytes(sink.getvalue())


def from_bytes(content: bytes) -> Result:
    """The result as it was, except its certificate."""
    import pyarrow as pa

    with pa.ipc.open_stream(content) as stream:
        frame = stream.read_all()
    facts: dict[str, Any] = json.loads(frame.schema.metadata[_METADATA])
    return Result(
        frame.replace_schema_metadata(None),
        tuple(ColumnInfo(**{k: _tuple(v) for k, v in told.items()}) for told in facts["columns"]),
        guarantee=Guarantee.from_json(facts["guarantee"]),
        cost=facts["cost"],
        protects=facts["protects"],
        notes=tuple(facts["notes"]),
        suppressed=facts["suppressed"],
        origin=facts["origin"],
    )


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
