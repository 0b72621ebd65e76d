"""Building a question: a table of people, row-wise steps, groups and aggregates.

Every step returns a new value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from discreet.errors import Argument, Idiom, InvalidArgument, Phrase, RelationMismatch, one_line
from discreet.hints import spelled
from discreet.neighbors import Relation, Unit
from discreet.query.aggregates.aggregate import Aggregate
from discreet.query.contribution import Contribution, ContributionBound, contribution_of
from discreet.query.expressions import Typed, as_type, column, columns_of, typed
from discreet.query.keys import (
    KEY_TYPES,
    DiscoveredKeys,
    Keys,
    ListedKeys,
    check_key_type,
    key_types,
    read_keys,
)
from discreet.query.limits import (
    AGGREGATES,
    BINNED,
    COLUMNS,
    GROUP_COLUMNS,
    MADE,
    PUBLIC,
    TEXT,
    check,
)
from discreet.query.public import PublicTable, type_of
from discreet.query.request import Join, Mutate, Select, Step, TableSource, Where, check_steps
from discreet.query.row import Row, build
from discreet.query.schema import Field, Schema, Type
from discreet.query.suggestions import missing_step, no_rows

Condition = Callable[[Row], Any]
_FEWER: Final = "ask several smaller questions"
_SHORTER: Final = "choose a shorter one"


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table of people, and what is done to each of its rows.

    Nothing is read until a session releases an answer. Steps look at one row at a time; which rows
    of each person are kept is decided after all of them, even if ``bound`` is called earlier. Made
    by ``dp.table``; every step returns a new table.

    >>> import discreet as dp, pyarrow as pa
    >>> visits = dp.table(pa.table({"who": [1, 1, 2], "days": [3, 5, 9]}), unit="who")
    >>> visits.where(lambda row: row.days > 3).bound(max_rows=2)
    Table(an Arrow table, a person is all rows with one who, 1 step; who: integer, days: integer)
    """

    source: TableSource
    unit: Unit
    relation: Relation
    schema: Schema
    steps: tuple[Step, ...] = ()
    limit: ContributionBound | None = None

    def __repr__(self) -> str:
        columns = ", ".join(f"{field.name}: {field.type}" for field in self.schema)
        steps = f", {len(self.steps)} step{'s' * (len(self.steps) > 1)}" if self.steps else ""
        return one_line(f"Table({self.source.name}, a person is {self.unit}{steps}; {columns})")

    if not TYPE_CHECKING:  # or else a type checker would accept every name

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_step(name, self.__dict__.get("schema", ()))

        def __getitem__(self, name: object) -> NoReturn:
            raise no_rows()

    @spelled
    def where(self, condition: Condition) -> Table:
        """Keep the rows for which a condition is true; where it is missing, they are dropped.

        ``condition`` is a function of a row: ``lambda row: row.age >= 18``.
        """
        test = typed(build(condition, self.schema, argument="where"), self.schema)
        test = as_type(test, Type.BOOLEAN) if test.type is Type.RAW else test
        if test.type is not Type.BOOLEAN:
            raise InvalidArgument(
                "where",
                "given a condition, as in lambda row: row.age >= 18",
                f"a value of type {test.type}",
            )
        return self._then(Where(test), _without_null(self.schema, test))

    @spelled
    def mutate(self, /, **columns: str | Condition) -> Table:
        """Add columns computed from each row, or replace columns.

        ``columns`` are given by name, each as a function of a row, as in
        ``decade=lambda row: row.age // 10``, or as the name of another column.
        """
        made = self._made(columns)
        schema = self.schema
        for name, value in made:
            schema = schema.with_field(Field(name, value.type, value.nullable))
        return self._then(Mutate(made), schema)

    @spelled
    def select(self, /, *names: str, **columns: str | Condition) -> Table:
        """Keep only the columns ``names``, and ``columns`` computed as in ``mutate``; the unit is
        always kept."""
        kept = [(name, typed(column(self.schema[name].name), self.schema)) for name in names]
        made = (*kept, *self._made(columns))
        fields = [Field(name, value.type, value.nullable) for name, value in made]
        if self.unit.column is not None and self.unit.column not in dict(made):
            fields.append(self.schema[self.unit.column])
        step = Select(tuple(pair for pair in made if pair[0] != self.unit.column))
        return self._then(step, Schema(tuple(fields)))

    @spelled
    def join(
        self, table: PublicTable, *, on: str | Sequence[str] | Mapping[str, str], suffix: str = ""
    ) -> Table:
        """Look up columns in a public table, which has at most one row for each key.

        ``table`` is what ``dp.public`` returns for a data frame or a file: it is not protected, and
        may hold nothing about the people of this one. ``on`` names the columns that must be equal,
        or maps names here to names there; the unit cannot be one of them. Rows without a match get
        missing values; no row is dropped or duplicated. ``suffix`` is appended to the names of its
        columns, in case this table already has a column of that name; it is empty by default, and
        then such a name is refused.
        """
        public = self._public(table, name="table")
        rows, hint = public.table.num_rows, "keep those that are used"
        check(rows, PUBLIC, name="table", what="rows", hint=hint)
        join, schema = public_join(
            self.schema, public, on, suffix, unit=self.unit.column, steps=self.steps
        )
        return self._then(join, schema)

    @spelled
    def bound(
        self,
        *,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        max_rows: int | None = None,
    ) -> Table:
        """Keep at most this many rows of each person: by group, or in total.

        Give ``max_groups``, the most groups that one person stays in, and ``max_rows_per_group``,
        the most rows they keep in each (without groups, the latter alone), or ``max_rows``, the
        most rows they keep in all groups together. A table with a unit needs a bound before
        anything can be released. Which rows are kept is random, and decided after all row-wise
        steps. Smaller bounds mean less noise, but also fewer rows of people who have many.
        """
        if self.unit.column is None:
            raise InvalidArgument(
                "bound",
                "left out where a row is a person",
                "a bound",
                hint=Phrase("say {} if a person can have several rows", Idiom.UNIT),
            )
        return replace(self, limit=ContributionBound.read(max_groups, max_rows_per_group, max_rows))

    @spelled
    def group_by(self, *columns: str | Sequence[str], keys: Any = None) -> Grouped:
        """Answer for each key of the ``columns``, one name or several.

        ``keys`` is a list of keys, a dict of lists of which all combinations are taken, a table
        that ``dp.public`` returned, or "discover", which needs a delta and finds the keys that
        enough people have. It must be given, since the groups that occur would reveal people.
        """
        names: tuple[Any, ...] = tuple(
            name
            for given in columns
            for name in (given if isinstance(given, list | tuple) else [given])
        )
        check(len(names), GROUP_COLUMNS, name="group_by", what="columns", hint=_FEWER)
        for name in names:
            if not isinstance(name, str):
                raise InvalidArgument.of_data(
                    "group_by",
                    "given names of columns",
                    name,
                    hint="make a column with mutate first, as in mutate(decade=lambda row: ...)",
                )
        if not names or len(set(names)) != len(names):
            raise InvalidArgument(
                "group_by",
                "different columns",
                "none" if not names else "a twin",
                hint=Phrase("as in {}", Idiom.GROUPS),
            )
        if keys is None:
            raise InvalidArgument.missing(
                "keys",
                "given, since the groups that occur would reveal people",
                hint=Phrase(
                    'list them, as in {keys=["A", "B"]}, or say {keys="discover"} with a delta'
                ),
            )
        values = [
            typed(column(self.schema.field(n, argument="group_by").name), self.schema)
            for n in names
        ]
        for name, value in zip(names, values, strict=True):
            check_key_type(value.type, name)
        read = read_keys(names, self._listed(keys), types=tuple(value.type for value in values))
        kinds: list[Type] = [Type.TEXT if v.type is Type.RAW else v.type for v in values]
        if isinstance(read, ListedKeys):
            kinds = list(key_types(read))
        return Grouped(self, tuple(zip(names, map(as_type, values, kinds), strict=True)), read)

    @spelled
    def agg(self, /, **aggregates: Aggregate) -> Query:
        """Ask for any number of named ``aggregates`` of the whole table: ``agg(n=dp.count())``."""
        return _query(self, (), None, aggregates)

    def _listed(self, keys: Any) -> Any:
        """Keys as a list, a dict of lists, or an Arrow table; "discover" as it is."""
        if isinstance(keys, set | frozenset):
            return sorted(keys, key=lambda key: (type(key).__name__, key))
        if isinstance(keys, str | bytes):
            return keys if keys == "discover" else self._public(keys, name="keys")
        plain = type(keys).__module__ in ("numpy", "builtins") and isinstance(keys, Iterable)
        if plain or isinstance(keys, Mapping | list | tuple):
            return keys
        return self._public(keys, name="keys")

    def _then(self, step: Step, schema: Schema) -> Table:
        """The table with one more step, unless that is too many."""
        steps = (*self.steps, step)
        check_steps(steps)
        return replace(self, steps=steps, schema=schema)

    def _public(self, table: Any, *, name: str) -> PublicTable:
        """Check that a table was declared public and is not this table itself."""
        if not isinstance(table, PublicTable):
            raise InvalidArgument.of_data(
                name,
                "a table that is said to be public"
                if name == "table"
                else 'a list of keys, a table that is said to be public, or "discover"',
                table,
                hint="say dp.public(...) of a data frame or the path of a file that holds nothing "
                "about people",
            )
        _check_origin(table, self.source, name=name)
        return table

    def _made(self, columns: Mapping[str, str | Condition]) -> tuple[tuple[str, Typed], ...]:
        if self.unit.column in columns:
            raise InvalidArgument(
                str(self.unit.column),
                "left as it is: it says whose row this is",
                "another value for it",
                hint="use another name for the new column",
            )
        check(len(columns), MADE, name="a step", what="columns", hint=_FEWER)
        for name in columns:
            check(len(name), TEXT, name="the name of a column", what="characters", hint=_SHORTER)
        return tuple(
            (name, typed(build(source, self.schema, argument=name), self.schema))
            for name, source in columns.items()
        )


@dataclass(frozen=True, eq=False, repr=False)
class Grouped:
    """A table whose rows are grouped by keys."""

    table: Table
    group: tuple[tuple[str, Typed], ...]
    keys: Keys

    def __repr__(self) -> str:
        return f"Grouped({self.table!r} by {', '.join(name for name, _ in self.group)})"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_step(name, (), grouped=True)

    @spelled
    def bound(self, **limits: int | None) -> Grouped:
        """Keep at most this many rows of each person; ``limits`` are as in ``Table.bound``."""
        return replace(self, table=self.table.bound(**limits))

    @spelled
    def agg(self, /, **aggregates: Aggregate) -> Query:
        """Ask for any number of named ``aggregates`` of each group."""
        return _query(self.table, self.group, self.keys, aggregates)


@dataclass(frozen=True, eq=False, repr=False)
class Query:
    """A question about a table: what a session explains and releases. Made by ``agg``.

    >>> import discreet as dp, pyarrow as pa
    >>> people = dp.table(pa.table({"age": [34, 51, 28]}))
    >>> query = people.agg(n=dp.count(), mean_age=dp.mean("age", bounds=(0, 120)))
    >>> query
    Query(n: Count, mean_age: Mean of Table(an Arrow table, a person is a row; age: integer))
    """

    table: Table
    group: tuple[tuple[str, Typed], ...]
    keys: Keys | None
    aggregates: tuple[tuple[str, Aggregate], ...]
    contribution: Contribution

    def __repr__(self) -> str:
        asked = ", ".join(f"{name}: {type(one).__name__}" for name, one in self.aggregates)
        groups = f" by {', '.join(name for name, _ in self.group)}" if self.group else ""
        return f"Query({asked}{groups} of {self.table!r})"

    @classmethod
    def from_document(
        cls,
        document: Mapping[str, Any],
        table: Table,
        *,
        public: Mapping[str, PublicTable] | None = None,
    ) -> Query:
        """The question that a ``document`` describes, as ledgers and certificates hold it, about a
        ``table`` as ``dp.table`` returns it.

        ``public`` holds the tables that it joins, and more than 100 keys, by the SHA-256 that the
        document states for each. The question has the same document again, or it is refused: one
        about other columns, types or people, and one that says more than this version reads.

        >>> import discreet as dp, pyarrow as pa
        >>> people = dp.table(pa.table({"age": [34, 51, 28]}))
        >>> query = people.agg(n=dp.count(), mean_age=dp.mean("age", bounds=(0, 120)))
        >>> Query.from_document(query.document, people)
        Query(n: Count, mean_age: Mean of Table(an Arrow table, a person is a row; age: integer))
        """
        from discreet.query.document import read_query

        return read_query(document, table, public or {})

    @property
    def document(self) -> dict[str, Any]:
        """The question as JSON values, without floats: what ledgers and certificates hold."""
        from discreet.query.document import query_document

        return query_document(self)

    def on(self, table: Table) -> Query:
        """The same question about another table with the same columns, unit and relation: first a
        sample on a laptop, say, and then all of the data on a cluster."""
        if not isinstance(table, Table):
            raise InvalidArgument.of_data("on", "what dp.table(...) returns", table)
        here, there = self.table.source.schema, table.source.schema
        for field in here:
            other = there.field(field.name, argument="on")
            if other.type is not field.type or (other.nullable and not field.nullable):
                raise InvalidArgument(
                    f'column "{field.name}"',
                    f"{field.type}{'' if field.nullable else ', never missing'}, as in "
                    "the table that the query was built on",
                    f"{other.type}{', which may be missing' * other.nullable}",
                )
        if (table.unit, table.relation) != (self.table.unit, self.table.relation):
            raise RelationMismatch(
                f"the query protects {self.table.unit} under {self.table.relation}, and that table "
                f"{table.unit} under {table.relation}",
                remedy="open it with the same unit and relation",
            )
        if table.steps:
            raise InvalidArgument("on", "a table as dp.table returns it", "one with steps")
        origins = [step.origin for step in self.table.steps if isinstance(step, Join)]
        if isinstance(self.keys, ListedKeys) and self.keys.origin is not None:
            origins.append(self.keys.origin)
        for public in origins:
            _check_origin(public, table.source, name="on")
        return replace(self, table=replace(self.table, source=table.source))


def _check_origin(public: PublicTable, source: TableSource, *, name: str) -> None:
    if source.holds(public):
        raise InvalidArgument(
            name,
            "a public table",
            "the table of people itself",
            hint=Phrase(
                'list the keys from what is known without it, or say {keys="discover"}, which '
                "needs a delta"
            ),
        )


def _query(
    table: Table,
    group: tuple[tuple[str, Typed], ...],
    keys: Keys | None,
    aggregates: Mapping[str, Aggregate],
) -> Query:
    if not aggregates:
        raise InvalidArgument(
            "agg", "given at least one aggregate", "none", hint="as in agg(n=dp.count())"
        )
    check(len(aggregates), AGGREGATES, name="a question", what="aggregates", hint=_FEWER)
    taken = {name for name, _ in group}
    for name, aggregate in aggregates.items():
        check(len(name), TEXT, name="the name of an aggregate", what="characters", hint=_SHORTER)
        if not isinstance(aggregate, Aggregate):
            raise InvalidArgument.of_data(
                name, "an aggregate such as dp.count() or dp.mean(...)", aggregate
            )
        if name in taken:
            raise InvalidArgument(name, "another name than that of a group column", "the same")
    typed_ones = [one.resolve(table.schema) for one in aggregates.values()]
    resolved = [one.together(typed_ones) for one in typed_ones]
    columns = [*taken]
    for name, one in zip(aggregates, resolved, strict=True):
        for made in one.names(name):
            columns += (made, f"{made}_{one.error_of}error")
        check(len(columns) // 2, COLUMNS, name="an answer", what="columns", hint=_FEWER)
    twice = sorted(column for column, times in Counter(columns).items() if times > 1)
    check_steps(table.steps, *(one.column for one in resolved))
    parts = {part for one in resolved if one.binned for part in one.parts}
    hint = "each histogram, quantile and choice is a query of its own: ask them one by one"
    check(len(parts), BINNED, name="a question", what="such aggregates", hint=hint)
    if twice:
        raise InvalidArgument(
            twice[0],
            "the name of one column of the answer",
            "a name that two of them would have",
            hint="errors are called like their column with _error; choose other names",
        )
    groups = None if isinstance(keys, DiscoveredKeys) else 1 if keys is None else len(keys)
    contribution = contribution_of(
        table.limit, unit=table.unit.column, relation=table.relation, groups=groups
    )
    return Query(table, group, keys, tuple(zip(aggregates, resolved, strict=True)), contribution)


def _without_null(schema: Schema, test: Typed) -> Schema:
    """The schema of rows that pass the test: columns it asks for with ``row.x.is_not_null()``, also
    in parts joined by ``&``, cannot be missing there."""
    if test.op == "and":
        return _without_null(_without_null(schema, test.args[0]), test.args[1])
    if test.op == "not" and test.args[0].op == "is_null" and test.args[0].args[0].op == "column":
        field = schema[str(test.args[0].args[0].value)]
        return schema.with_field(replace(field, nullable=False))
    return schema


# -- joins with public tables ----------------------------------------------------------------------
# Each row matches at most one row of the public table, so nobody's rows multiply.


#: Operations whose results many people share.
_COARSE: Final = frozenset(
    [
        *("length", "year", "month", "day", "weekday", "hour", "startswith", "endswith"),
        *("contains", "is_in", "is_null", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"),
    ]
)
_SHORT: Final = 3  # so few characters of an id are shared by many people


def public_join(
    schema: Schema,
    public: PublicTable,
    on: str | Sequence[str] | Mapping[str, str],
    suffix: str,
    *,
    unit: str | None,
    steps: tuple[Step, ...],
) -> tuple[Join, Schema]:
    """The step, and the schema after it; `steps` are those before it."""
    pairs, table = _pairs(on), public.table
    for here in pairs:
        if unit is not None and _is_unit(here, unit, steps):
            raise InvalidArgument(
                "on",
                "columns that say nothing of whose row it is: a table by person is about "
                "people, and not public",
                f'"{here}", which is the unit',
                hint="join the two tables before dp.table, whose unit then protects both",
            )
    for there in pairs.values():
        if there not in table.column_names:
            raise InvalidArgument(
                "on",
                f"columns of the public table: {', '.join(table.column_names[:20])}",
                f'"{there}"',
                hint=Phrase(
                    "if it has another name there, as in {}", Argument("on", {there: "name"})
                ),
            )
    keys = list(pairs.values())
    table = table.select([*keys, *(name for name in table.column_names if name not in keys)])
    _check_distinct(table, keys)
    values = []
    for here, there in pairs.items():
        kind = type_of(table.schema.field(there).type)
        if kind not in KEY_TYPES:
            raise InvalidArgument("on", "columns of booleans, integers, text or dates", str(kind))
        value = typed(column(schema.field(here, argument="on").name), schema)
        value = as_type(value, kind) if value.type is Type.RAW else value
        if value.type is not kind:
            raise InvalidArgument(
                f'on "{here}"',
                f"of the type it has in the public table, {kind}",
                str(value.type),
                hint=f'cast it first, as in mutate({here}=lambda row: row.{here}.cast("{kind}"))',
            )
        values.append((value, there))
    added = []
    for name in table.column_names[len(keys) :]:
        new = f"{name}{suffix}"
        if new in schema or new == unit:
            raise InvalidArgument(
                "join",
                f'a public table without a column "{new}", which is here already',
                "one with it",
                hint=Phrase('say {suffix="_public"}, or drop the column from the public table'),
            )
        added.append((new, name))
        schema = schema.with_field(Field(new, type_of(table.schema.field(name).type)))
    return Join(table, tuple(values), tuple(added), public), schema


def joined_in_words(join: Join) -> str:
    """What a join looks up, in words."""
    on = ", ".join(sorted({name for value, _ in join.on for name in columns_of(value)}))
    added = ", ".join(name for name, _ in join.added)
    if not added:
        return f"rows are matched by {on} with another table"
    return f"{added}: looked up by {on} in another table"


def _is_unit(name: str, unit: str, steps: tuple[Step, ...]) -> bool:
    """Is the column the unit, under this or another name, or just another way to write it?"""
    for i in reversed(range(len(steps))):
        step = steps[i]
        if isinstance(step, Mutate | Select) and name in (made := dict(step.columns)):
            return _spells_unit(made[name], unit, steps[:i])
        if isinstance(step, Join) and name in dict(step.added):
            return False
    return name == unit


def _spells_unit(value: Typed, unit: str, steps: tuple[Step, ...]) -> bool:
    if value.op == "column":
        return _is_unit(str(value.value), unit, steps)
    if value.op in _COARSE or _is_coarse(value):
        return False
    return any(_spells_unit(arg, unit, steps) for arg in value.args)


def _is_coarse(value: Typed) -> bool:
    match value.op:
        case "floordiv":
            divisor = value.args[1].value
            return isinstance(divisor, float) and abs(divisor) >= 2
        case "substring":
            return cast(tuple[int, int], value.value)[1] <= _SHORT
    return False


def _pairs(on: str | Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    if isinstance(on, str):
        return {on: on}
    if isinstance(on, Mapping) and on:
        return dict(on)
    if not isinstance(on, Sequence) or not on:
        raise InvalidArgument.of_data(
            "on", "a column, a list of columns, or a dict of names here and there", on
        )
    return {name: name for name in on}


def _check_distinct(table: Any, keys: list[str]) -> None:
    distinct = table.group_by(keys).aggregate([]).num_rows
    if distinct != table.num_rows or any(table[key].null_count for key in keys):
        raise InvalidArgument(
            "join",
            "a public table with each key once, none missing",
            "one with a key twice or missing",
            hint="a second row would count people twice: keep one row for each key",
        )
