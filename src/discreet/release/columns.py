"""What each column of a released table is: a key, a value, the error of a value, or a note."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Literal

from discreet.errors import InternalError, InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa

Role = Literal["key", "value", "error", "note"]

#: Values to which noise was added as it is, so that their errors add like those of noise.
ADDITIVE: Final = frozenset({"count", "sum", "bin"})
#: Values whose error is not one of the value: of its rank, or of the count behind it.
OTHER_ERROR: Final = {"quantile": "rank", "choice": "count"}
#: Values that are never below 0, whatever the data.
COUNTS: Final = frozenset({"count", "bin"})
#: A note, of values that have bounds.
CLAMPED: Final = "values beyond their bounds count as the nearer bound"


@dataclass(frozen=True)
class ColumnInfo:
    """One column of a released table.

    >>> ColumnInfo("n", "value", kind="count", integer=True).additive
    True
    """

    name: str  #: in the frame
    role: Role
    of: str | None = None  #: for an error, the value's column; for a bin, its histogram
    kind: str = ""  #: of a value: count, sum, mean, variance, std, quantile, choice, bin
    bounds: tuple[float, float] | None = None  #: declared range of a value
    independent: bool = True  #: noise independent between rows and of every other source
    sources: tuple[str, ...] = ()  #: noise it was computed from; none stands for its own
    integer: bool = False  #: noise on the whole numbers, with a step of 1

    @property
    def additive(self) -> bool:
        """Whether the error is that of independent Laplace or Gaussian noise, cell by cell."""
        return self.kind in ADDITIVE and self.independent

    @property
    def least(self) -> float:
        """The smallest value that can be true."""
        if self.kind in COUNTS:
            return 0.0
        return -float("inf") if self.bounds is None else float(self.bounds[0])

    @property
    def greatest(self) -> float:
        """The largest value that can be true; a count has none."""
        no_limit = self.bounds is None or self.kind in COUNTS
        return float("inf") if no_limit or self.bounds is None else float(self.bounds[1])


def check(frame: pa.Table, columns: tuple[ColumnInfo, ...]) -> None:
    """Whoever builds a result must describe every column, once, in order: else it is our bug."""
    names = [column.name for column in columns]
    if frame.column_names != names or len(set(names)) != len(names):
        raise InternalError("the columns of a result do not match its frame")
    values = {column.name for column in columns if column.role == "value"}
    if any(column.role == "error" and column.of not in values for column in columns):
        raise InternalError("an error column of a result belongs to no value column")


def named(
    columns: tuple[ColumnInfo, ...], name: object, *, role: Role, argument: str
) -> ColumnInfo:
    """The column of this name and role, or an error that says which there are.

    >>> named((ColumnInfo("ward", "key"),), "word", role="key", argument="key")
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: key must be one of ward, got 'word' (str); did you mean "ward"?
    """
    there = {column.name: column for column in columns if column.role == role}
    if isinstance(name, str) and name in there:
        return there[name]
    near = get_close_matches(name, there, n=1) if isinstance(name, str) else []
    raise InvalidArgument(
        name=argument,
        expected=f"one of {', '.join(there)}" if there else f"left out: there is no {role} column",
        given=InvalidArgument.describe_parameter(name),
        hint=f'did you mean "{near[0]}"?' if near else "",
    )
