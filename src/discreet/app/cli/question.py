"""The question: options that name a table and say what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.app.cli.spending import Spending
    from discreet.query.aggregates import Aggregate
    from discreet.query.table import Grouped, Query, Table

_TABLE, _GROUPS, _ASKED = "The table", "Groups and people", "What is asked"
_BOUNDS = "COLUMN:LOWER:UPPER"
_DISCOVER = "discover"


@dataclass(frozen=True)
class Question:
    """A table, what is kept of it, groups, aggregates."""

    data: Annotated[
        str,
        Argument(
            help="A CSV or Parquet file, or a pattern in quotes such as 'visits/*.parquet'.",
            metavar="DATA",
        ),
    ]
    unit: Annotated[
        str | None,
        Option(
            help="The column that says whose row it is; without it, a row is a person.",
            metavar="COLUMN",
            rich_help_panel=_TABLE,
        ),
    ] = None
    relation: Annotated[
        str,
        Option(
            help="What stays hidden: whether a person is there at all (add-remove), or what "
            "their rows say (replace).",
            metavar="add-remove|replace",
            rich_help_panel=_TABLE,
        ),
    ] = "add-remove"
    schema: Annotated[
        list[str] | None,
        Option(
            help="Fix the type of a column: boolean, integer, real, text, date or timestamp. "
            "Cells of a CSV file take the type they are used as. Repeat for more.",
            metavar="COLUMN=TYPE",
            rich_help_panel=_TABLE,
        ),
    ] = None
    delimiter: Annotated[
        str,
        Option(
            help="What stands between the cells of a CSV file.",
            metavar="CHARACTER",
            rich_help_panel=_TABLE,
        ),
    ] = ","
    where: Annotated[
        list[str] | None,
        Option(
            help='Keep rows for which this is true, as in "age >= 18", "city = \'A\'", "city in '
            "('A', 'B')\" or \"income is not null\". Repeat to demand several.",
            metavar="CONDITION",
            rich_help_panel=_TABLE,
        ),
    ] = None
    group_by: Annotated[
        list[str] | None,
        Option(
            help="Answer for each value of this column. Repeat to cross several.",
            metavar="COLUMN",
            rich_help_panel=_GROUPS,
        ),
    ] = None
    keys: Annotated[
        list[str] | None,
        Option(
            help="The values to answer for, with commas, once for each --group-by in the same "
            "order. Or discover, once for all of them: it needs --delta and finds the groups that "
            "enough people are in.",
            metavar="A,B,...|discover",
            rich_help_panel=_GROUPS,
        ),
    ] = None
    public_keys: Annotated[
        str | None,
        Option(
            help="A CSV or Parquet file with the group columns, one row for each group. It is "
            "public: it holds nothing about people, and all of it may be seen in the answer.",
            metavar="FILE",
            rich_help_panel=_GROUPS,
        ),
    ] = None
    max_groups: Annotated[
        int | None,
        Option(
            help="Keep each person in at most so many groups.",
            metavar="N",
            rich_help_panel=_GROUPS,
        ),
    ] = None
    max_rows_per_group: Annotated[
        int | None,
        Option(
            help="Keep at most so many rows of each person in a group.",
            metavar="N",
            rich_help_panel=_GROUPS,
        ),
    ] = None
    max_rows: Annotated[
        int | None,
        Option(
            help="Keep at most so many rows of each person in all. With --unit and none of the "
            "three, it is 1.",
            metavar="N",
            rich_help_panel=_GROUPS,
        ),
    ] = None
    count: Annotated[bool, Option("--count", help="How many rows: n.", rich_help_panel=_ASKED)] = (
        False
    )
    count_units: Annotated[
        bool, Option("--count-units", help="How many people: people.", rich_help_panel=_ASKED)
    ] = False
    sum: Annotated[
        list[str] | None, Option(help="The sum.", metavar=_BOUNDS, rich_help_panel=_ASKED)
    ] = None
    mean: Annotated[
        list[str] | None, Option(help="The mean.", metavar=_BOUNDS, rich_help_panel=_ASKED)
    ] = None
    median: Annotated[
        list[str] | None, Option(help="The median.", metavar=_BOUNDS, rich_help_panel=_ASKED)
    ] = None
    quantile: Annotated[
        list[str] | None,
        Option(
            help="The value below which this share of rows lies, or several shares with commas.",
            metavar="COLUMN:SHARE:LOWER:UPPER",
            rich_help_panel=_ASKED,
        ),
    ] = None
    variance: Annotated[
        list[str] | None, Option(help="The variance.", metavar=_BOUNDS, rich_help_panel=_ASKED)
    ] = None
    std: Annotated[
        list[str] | None,
        Option(help="The standard deviation.", metavar=_BOUNDS, rich_help_panel=_ASKED),
    ] = None
    histogram: Annotated[
        list[str] | None,
        Option(
            help="How many rows in each bin, by edges; for a column without numbers, by "
            "categories.",
            metavar="COLUMN:E1,E2,...",
            rich_help_panel=_ASKED,
        ),
    ] = None
    top_k: Annotated[
        list[str] | None,
        Option(
            help="Which K of the candidates are commonest.",
            metavar="COLUMN:K:A,B,...",
            rich_help_panel=_ASKED,
        ),
    ] = None
    most_common: Annotated[
        list[str] | None,
        Option(
            help="Which of the candidates is commonest.",
            metavar="COLUMN:A,B,...",
            rich_help_panel=_ASKED,
        ),
    ] = None

    # -- to a query --------------------------------------------------------------------------------

    def check_delta(self, spending: Spending) -> None:
        """What discovered keys need, said before anything is opened."""
        discovers = set(self.keys or ()) == {_DISCOVER}
        if discovers and spending.delta is None and not spending.error:
            raise InvalidArgument(
                name="--delta",
                expected="given with --keys discover, which may tell a key of one person with "
                "that probability",
                given="nothing",
                hint="add it, as in --delta 1e-6, or list the keys",
            )

    def table(self) -> Table:
        """The table as it is, without steps: what a session is opened with. Reads no rows."""
        import discreet as dp
        from discreet.app.cli.tables import check_data, delimiter_hinted

        check_data(self.data)
        with delimiter_hinted(self.data, self._delimiter):
            return dp.table(
                self.data,
                unit=self.unit,
                relation=self.relation,
                schema=self._schema(),
                delimiter=self._delimiter,
            )

    def query(self, table: Table) -> Query:
        """What is asked of it."""
        from discreet.app.cli.conditions import condition
        from discreet.app.cli.tables import delimiter_hinted

        with delimiter_hinted(self.data, self._delimiter):
            aggregates = self._aggregates(table)
            for text in self.where or ():
                table = table.where(condition(text, table.schema))
            return self._grouped(self._bounded(table)).agg(**aggregates)

    @property
    def _delimiter(self) -> str:
        return "\t" if self.delimiter in ("\\t", "tab") else self.delimiter

    def _schema(self) -> dict[str, str] | None:
        pairs = [text.rpartition("=") for text in self.schema or ()]
        for text, (column, _, kind) in zip(self.schema or (), pairs, strict=True):
            if not column or not kind:
                raise InvalidArgument(
                    name="--schema",
                    expected="column=type, as in --schema age=integer",
                    given=InvalidArgument.describe_parameter(text),
                )
        return {column.strip(): kind.strip() for column, _, kind in pairs} or None

    def _bounded(self, table: Table) -> Table:
        limits = {
            "max_groups": self.max_groups,
            "max_rows_per_group": self.max_rows_per_group,
            "max_rows": self.max_rows,
        }
        given = {name: limit for name, limit in limits.items() if limit is not None}
        if given or self.unit is None:
            return table.bound(**given) if given else table
        return table.bound(max_rows=1)  # safe whatever the data are, and said in every answer

    @property
    def unsaid(self) -> tuple[str, ...]:
        """What is to be said first where nobody said how many rows of a person are kept."""
        if self.unit is None or (self.max_groups, self.max_rows_per_group, self.max_rows) != (
            None,
            None,
            None,
        ):
            return ()
        return (
            f"1 row of each {self.unit} is kept, since no --max-rows was given (nor --max-groups "
            "with --max-rows-per-group): counts of rows and sums are of one row a person",
        )

    def _grouped(self, table: Table) -> Table | Grouped:
        if self.group_by:
            return table.group_by(*self.group_by, keys=self._keys(table, self.group_by))
        if self.keys or self.public_keys:
            raise InvalidArgument(
                name="--keys",
                expected="given with --group-by",
                given="without it",
                hint="say which column they belong to, as in --group-by city --keys A,B",
            )
        return table

    def _keys(self, table: Table, columns: list[str]) -> Any:
        from pathlib import Path

        import discreet as dp
        from discreet.app.cli.dialect import called
        from discreet.app.cli.values import listed, typed

        lists = self.keys or []
        if self.public_keys is not None and not lists:
            with called("--public-keys", "source"):
                return dp.public(Path(self.public_keys))
        if lists and set(lists) == {_DISCOVER} and self.public_keys is None:
            return _DISCOVER
        if len(lists) != len(columns) or self.public_keys is not None:
            raise InvalidArgument(
                name="--keys",
                expected="given once for each --group-by, since the groups that occur would reveal "
                "people",
                given="--keys and --public-keys" if self.public_keys else f"{len(lists)} of them",
                hint="list them, as in --keys A,B,C, name a public file with --public-keys, or say "
                "--keys discover with --delta",
            )
        found = {}
        for column, text in zip(columns, lists, strict=True):
            kind = table.schema.field(column, argument="--group-by").type
            values = listed(text, option="--keys")
            if _DISCOVER in values:
                raise InvalidArgument(
                    name="--keys",
                    expected="keys for every --group-by, or discover once for all of them",
                    given="discover beside keys",
                    hint="if a group is really called discover, name it in a file of --public-keys",
                )
            found[column] = [typed(value, kind, option="--keys") for value in values]
        return found

    def _aggregates(self, table: Table) -> dict[str, Aggregate]:
        import discreet as dp
        from discreet.app.cli import aggregates

        schema = table.schema
        pairs: list[tuple[str, Aggregate]] = [("n", dp.count())] if self.count else []
        pairs += [("people", dp.count_units())] if self.count_units else []
        for name in ("sum", "mean", "median"):
            pairs += aggregates.bounded(name, getattr(self, name) or [])
        pairs += aggregates.quantiles(self.quantile or [])
        for name in ("variance", "std"):
            pairs += aggregates.bounded(name, getattr(self, name) or [])
        pairs += aggregates.histograms(self.histogram or [], schema)
        pairs += aggregates.commonest("--top-k", self.top_k or [], schema)
        pairs += aggregates.commonest("--most-common", self.most_common or [], schema)
        if not pairs:
            raise InvalidArgument(
                name="the question",
                expected="at least one aggregate",
                given="none",
                hint="say what to compute, as in --count or --mean income:0:200000",
            )
        return aggregates.once(pairs)
