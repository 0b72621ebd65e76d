"""What a session returns for a private query on a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NoReturn
from uuid import uuid4

from discreet.guarantees.guarantee import Guarantee
from discreet.hints import unknown
from discreet.lazy import cached_property
from discreet.numeric.exact import integer
from discreet.release import cells, exports
from discreet.release.answer import Answer
from discreet.release.columns import ColumnInfo, check, named
from discreet.release.released import Released

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from discreet.plot import Plot

_FRAMES: Final = "to_pandas(), to_polars() and to_arrow() give a table: say result.to_pandas()"
#: What other tables have.
_INSTEAD: Final = {
    **dict.fromkeys(("df", "head", "iloc", "loc", "to_frame", "to_excel", "describe"), _FRAMES),
    **dict.fromkeys(("to_json", "to_dict"), "say result.to_dicts()"),
    **dict.fromkeys(("epsilon", "delta", "spent"), "say result.cost, or result.guarantee"),
    **dict.fromkeys(("values", "errors", "error"), 'name a column first, as in result["n"]'),
}


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A released table: groups, values, the 95 % error of each value, and what it cost.

    Everything here is post-processing: it costs nothing and the guarantee stays.

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
    #: Writes the certificate when it is first asked for: to compute ε takes longer than an answer.
    issue: Callable[[], Any] | None = field(default=None, kw_only=True)
    #: Names the noise: results of one origin share it, others are independent.
    origin: str = field(default_factory=lambda: uuid4().hex, kw_only=True)
    _version: str = field(default_factory=lambda: uuid4().hex, init=False)

    def __post_init__(self) -> None:
        check(self.frame, self.columns)

    if not TYPE_CHECKING:  # a checker would take every name for known

        def __getattr__(self, name: str) -> NoReturn:
            values = [column.name for column in self.__dict__.get("columns", ())]
            hint = f'say result["{name}"]' if name in values else _INSTEAD.get(name, "")
            raise unknown("a result", name, [n for n in dir(Result) if n[0] != "_"], hint)

    @cached_property
    def certificate(self) -> Any:
        """What was released under which promise, for others to check; none without a session.

        It is about the values as they were released, before any post-processing.
        """
        return None if self.issue is None else self.issue()

    def __getstate__(self) -> dict[str, Any]:
        # What issues the certificate may hold a private key, which goes nowhere.
        return {**self.__dict__, "issue": None, "certificate": self.certificate}

    # -- out of here ---------------------------------------------------------------------------

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
        """One dictionary a row."""
        return list(self.frame.to_pylist())

    def to_csv(self, path: str | PathLike[str] | None = None) -> str | None:
        """Write the table as CSV (RFC 4180, UTF-8) to ``path``; without one, return it as text.

        A text that a spreadsheet would take for a formula, or that holds control characters, is
        written with ``'`` before it; ``verify(result=...)`` reads it as what it was.
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
        return cells.released(self, column)

    def value(self, column: str, /, **keys: Any) -> Answer:
        """One cell: ``result.value("n", ward="A")``; without groups ``result.value("n")``.

        ``column`` is that of the value, and ``keys`` say which group: a key for each group column.
        """
        info = named(self.columns, column, role="value", argument="column")
        row = cells.row_of(self, keys)
        return Answer(self.frame[column][row].as_py(), cells.error_at(self, info, row))

    # -- labelled post-processing --------------------------------------------------------------

    def clip(self) -> Result:
        """Counts below 0 become 0, and other values go to the nearest end of their bounds.

        The errors still hold: the truth is inside, so no answer moves away from it. But clipped
        noise no longer averages out, so sums over many groups are biased upwards.
        """
        from discreet.release.adjusting import clip

        return clip(self)

    def round(self, digits: int = 0) -> Result:
        """Values rounded to ``digits`` decimals, errors grown by as much as each was moved.

        0, if left out, is whole numbers; −3 is thousands.
        """
        from discreet.release.adjusting import round_to

        return round_to(self, digits)

    def consistent(self, *, total: int | Result | Released, value: str | None = None) -> Result:
        """Counts made whole, not negative, and such that they add up to ``total``.

        ``total`` is a public number, or a released one: a result of one row, or the sum of a
        column. Of all such counts these are the nearest, in units of their errors. A new error
        is the old one and how far the count was moved beyond 0. ``value`` names the column of
        counts; it may be left out where there is one.
        """
        from discreet.release.adjusting import consistent

        return consistent(self, total=total, value=value)

    # -- to look at ----------------------------------------------------------------------------

    def plot(self, value: str | None = None) -> Plot:
        """Draw one value with error bars; ``.save("x.svg")``, ``.png`` or ``.html``, offline.

        ``value`` is the name of its column; it may be left out where there is one.
        """
        from discreet.release.pictures import draw

        return draw(self, value)

    def __repr__(self) -> str:
        from discreet.release.showing import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from discreet.release.showing import as_html

        return as_html(self)

    def __rich__(self) -> Any:
        from discreet.release.showing import as_rich

        return as_rich(self)
