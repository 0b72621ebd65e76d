"""A question as a document: what ledgers keep, certificates show and idempotency keys compare.

The tree is a function of the question alone: no path, no name of a source, nothing of the data.
Numbers are exact text, as in ``"1/2"``; a real literal is the text that Python prints for it. Keys
and public tables are described by their columns, the number of their rows and a digest; keys are
also written out where they are few. A document can be read back, into the same question. There are
documents for what a plan bought too, and sentences that put a question in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, Final

from discreet.errors import InvalidArgument, Phrase, RelationMismatch, one_line
from discreet.mechanisms.quantiles import Quantiles
from discreet.numeric import canonical
from discreet.numeric.numerals import listed
from discreet.numeric.table_digest import columns_of, table_digest
from discreet.query.aggregates import KINDS, Aggregate
from discreet.query.aggregates.aggregate import Told
from discreet.query.aggregates.quantiles import quantiles_document
from discreet.query.contribution import ContributionBound
from discreet.query.expressions import Tree, Typed, plain_value, tree
from discreet.query.keys import DiscoveredKeys, Keys
from discreet.query.limits import AGGREGATES, VALUES
from discreet.query.plan import Plan
from discreet.query.purchase import promise
from discreet.query.request import Join, Mutate, Select, Step, Where
from discreet.query.row import read_literal, read_tree, unread
from discreet.query.table import Grouped, Query, Table

MOST_KEYS: Final = 100  # up to this many, the keys themselves are written


def query_document(query: Query) -> Tree:
    """The query as a tree of JSON values without floats; equal questions have equal trees.

    >>> import discreet as dp, pyarrow as pa
    >>> people = dp.table(pa.table({"age": [34, 51], "ward": ["A", "B"]}))
    >>> query = people.where(lambda row: row.age >= 18).group_by("ward", keys=["A", "B"])
    >>> document = query_document(query.agg(n=dp.count()))
    >>> document["aggregates"], document["keys"]["values"]
    ([{'kind': 'count', 'name': 'n', 'column': None, 'weight': '1'}], [['A'], ['B']])
    """
    limit, kept = query.table.limit, query.contribution
    return {
        "kind": "query",
        **_table(query.table),
        "bound": None if limit is None else {f.name: getattr(limit, f.name) for f in fields(limit)},
        "contribution": {"groups": kept.groups, "rows": kept.rows, "total": kept.total},
        "group": _columns(query.group),
        "keys": _keys(query.group, query.keys),
        "aggregates": [
            {"kind": one.kind, "name": name, **one.document} for name, one in query.aggregates
        ],
    }


def contribution_document(grouped: Grouped, *, rows: bool, coverage: Fraction, most: int) -> Tree:
    """The document of a question for a bound on contributions: how many groups a person is in, or
    how many rows they have in a group, at most, for this share of people."""
    return {
        "kind": "rows in a group" if rows else "groups a person",
        **_table(grouped.table),
        "group": _columns(grouped.group),
        "keys": _keys(grouped.group, grouped.keys),
        "coverage": str(coverage),
        "most": most,
    }


def _table(table: Table) -> Tree:
    """Who is protected, and what is done to each row."""
    return {
        "unit": table.unit.column,
        "relation": str(table.relation),
        "steps": [_step(step) for step in table.steps],
    }


def _step(step: Step) -> Tree:
    match step:
        case Where(condition=condition):
            return {"step": "where", "condition": tree(condition)}
        case Mutate(columns=columns):
            return {"step": "mutate", "columns": _columns(columns)}
        case Select(columns=columns):
            return {"step": "select", "columns": _columns(columns)}
        case Join(table=table, on=on, added=added):
            return {
                "step": "join",
                "table": {
                    "rows": int(table.num_rows),
                    "columns": columns_of(table),
                    "sha256": table_digest(table),
                },
                "on": [{"here": tree(here), "there": there} for here, there in on],
                "added": [{"here": here, "there": there} for here, there in added],
            }


def _columns(columns: tuple[tuple[str, Typed], ...]) -> list[Tree]:
    return [{"name": name, "value": tree(value)} for name, value in columns]


def _keys(group: tuple[tuple[str, Typed], ...], keys: Keys | None) -> Tree | None:
    if keys is None:
        return None
    if isinstance(keys, DiscoveredKeys):
        return {"discovered": True}
    values = None
    if len(keys) <= MOST_KEYS:
        rows = zip(*(column.to_pylist() for column in keys.table.columns), strict=True)
        values = [plain_value(row) for row in rows]
    return {
        "discovered": False,
        "count": len(keys),
        "columns": [{"name": name, "type": str(value.type)} for name, value in group],
        "sha256": keys.digest,
        "values": values,
    }


# -- and back --------------------------------------------------------------------------------------
# A question is built again by the steps that built it, so that all their checks apply: nothing that
# a document says of types, digests or contributions is believed. In the end both documents are
# compared.


_MOST_VALUES: Final = 20 * VALUES  # each list of a question is checked where it is read
_DEEPEST: Final = 300  # DEPTH operations, each with a cast, and two levels for each of them
_MOST_TEXT: Final = 10**8  # characters, all texts together
_MOST_BITS: Final = 64  # of a whole number


def read_query(document: Mapping[str, Any], table: Table, public: Mapping[str, Any]) -> Query:
    """The question that a document describes; see `Query.from_document`."""
    if not isinstance(table, Table) or table.steps or table.limit is not None:
        raise InvalidArgument(
            "table",
            "a table as dp.table returns it",
            "one with steps" if isinstance(table, Table) else InvalidArgument.describe_data(table),
        )
    _check_size(document)
    told = Told(document)
    if told["kind"] != "query":
        raise unread("a query")
    if told["unit"] is not None:
        told.text("unit")
    if (told["unit"], told["relation"]) != (table.unit.column, str(table.relation)):
        raise RelationMismatch(
            f"the document is about other people than the table, which protects {table.unit} under "
            f"{table.relation}",
            remedy="open it with the unit and the relation of the document",
        )
    asked = table
    for step in told.parts("steps"):
        asked = _stepped(asked, step, public)
    if told["bound"] is not None:
        limits = told.part("bound")
        asked = asked.bound(**{one.name: limits[one.name] for one in fields(ContributionBound)})
    group = [one.text("name") for one in told.parts("group")]
    keys = None if told["keys"] is None else _read_keys(told.part("keys"), public)
    grouped = asked if keys is None else asked.group_by(group, keys=keys)
    aggregates = told.parts("aggregates", AGGREGATES)
    query = grouped.agg(**{one.text("name"): _read_aggregate(one) for one in aggregates})
    written = query_document(query)
    for name in dict.fromkeys([*written, *document]):
        if name not in written or canonical.text(told[name]) != canonical.text(written[name]):
            raise InvalidArgument(
                "document",
                f"what this version writes for a question about this table, also in {name[:20]!r}",
                "something else",
                hint="the table may have other columns, or columns of other types",
            )
    return query


def _stepped(table: Table, step: Told, public: Mapping[str, Any]) -> Table:
    match step["step"]:
        case "where":
            return table.where(read_tree(step["condition"]))  # type: ignore[arg-type]
        case "mutate":
            return table.mutate(**_read_columns(step))
        case "select":
            return table.select(**_read_columns(step))
        case "join":
            on = [(_name_in(one["here"]), one.text("there")) for one in step.parts("on")]
            added = [(one.text("here"), one.text("there")) for one in step.parts("added")]
            suffix = added[0][0].removeprefix(added[0][1]) if added else ""
            return table.join(_public(step.part("table"), public), on=dict(on), suffix=suffix)
    raise unread("a step")


def _read_columns(step: Told) -> dict[str, Any]:
    return {one.text("name"): read_tree(one["value"]) for one in step.parts("columns")}


def _name_in(told: Any) -> str:
    """The column that is looked up: it may be cast to the type of the public table."""
    value = read_tree(told)
    return str((value.args[0] if value.op == "cast" else value).value)


def _public(told: Told, public: Mapping[str, Any]) -> Any:
    digest = told.text("sha256")
    if digest not in public:
        names = ", ".join(one.text("name") for one in told.parts("columns")[:20])
        raise InvalidArgument.missing(
            "public",
            Phrase(
                "given for the public table with columns {}, as {public=}{{{}: table}}",
                names[:200],
                repr(digest[:64]),
            ),
            hint="Query.from_document(document, table, public=...) takes what dp.public returns",
        )
    return public[digest]


def _read_keys(told: Told, public: Mapping[str, Any]) -> Any:
    if told["discovered"] is True:
        return "discover"
    if told["values"] is None:
        return _public(told, public)
    kinds = [one.text("type") for one in told.parts("columns")]
    rows = told.items("values")
    if not all(isinstance(row, list) and len(row) == len(kinds) for row in rows):
        raise unread("a value for each key column")
    read = [tuple(map(read_literal, row, kinds)) for row in rows]
    return [row[0] for row in read] if len(kinds) == 1 else read


def _read_aggregate(one: Told) -> Aggregate:
    kind = one.text("kind")
    if kind not in KINDS:
        raise unread(f"an aggregate ({', '.join(KINDS)})")
    return KINDS[kind].read(one)


def _check_size(document: object) -> None:
    """Refuse what is not JSON, too large or too deep, and references that form a circle: the work
    is limited, whatever the document is."""
    level, size, letters, fits = [document], 0, 0, type(document) is dict
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for value in level:
            match value:
                case dict():
                    size += len(value)
                    fits = fits and size <= _MOST_VALUES and {*map(type, value)} <= {str}
                    below += value.values() if fits else ()
                case list():
                    size += len(value)
                    fits = fits and size <= _MOST_VALUES
                    below += value if fits else ()
                case str():
                    letters += len(value)
                case int():
                    fits = fits and value.bit_length() <= _MOST_BITS
            fits = fits and type(value) in (dict, list, str, int, bool, type(None))
        level = below
    if level or not fits or letters > _MOST_TEXT:
        raise InvalidArgument(
            "document",
            f"a JSON object, with whole numbers of at most {_MOST_BITS} bits, at most "
            f"{_DEEPEST} levels deep, of at most {_MOST_VALUES:,} values and {_MOST_TEXT:,} "
            "characters",
            "something else",
        )


# -- what a plan bought, as documents --------------------------------------------------------------


def mechanism_documents(plan: Plan) -> list[Tree]:
    """One document for each part that was bought, in the order of the plan: each mechanism with its
    sensitivity, noise and promise."""
    return [{"for": part.words, **one.document} for part, one in plan.bought.items()]


def contribution_mechanism(mechanism: Quantiles, *, rows: bool, most: int) -> Tree:
    """The document of the choice of a bound on contributions, among 1, 2, ... ``most``."""
    return {
        "for": "a bound on rows in a group" if rows else "a bound on groups",
        **quantiles_document(mechanism, candidates=most),
        "part": {"kind": "people by their rows in a group" if rows else "people by their groups"},
        **promise(mechanism.guarantee),
    }


# -- a question in words ---------------------------------------------------------------------------


def query_in_words(query: Query) -> str:
    """What was asked, in a sentence or two.

    >>> import discreet as dp, pyarrow as pa
    >>> visits = dp.table(pa.table({"id": [1], "days": [3], "ward": ["A"]}), unit="id")
    >>> kept = visits.where(lambda row: row.days > 0).bound(max_groups=3, max_rows_per_group=5)
    >>> question = kept.group_by("ward", keys=["A", "B"]).agg(n=dp.count(), m=dp.mean("days",
    ...     bounds=(0, 60)))
    >>> print(query_in_words(question))
    The number of rows (n) and the mean of days, clamped to 0 to 60 (m), for each of 2 listed \
values of ward; of rows where days > 0. Of each id, at most 3 groups and 5 rows in each are kept.
    """
    asked = listed([f"{one.words} ({name})" for name, one in query.aggregates])
    first = f"{asked}{_groups(query.group, query.keys)}{_steps(query.table.steps)}."
    kept = _kept(query.table.limit, query.table.unit.column)
    return one_line(first[0].upper() + first[1:] + kept)


def contribution_in_words(grouped: Grouped, *, rows: bool, coverage: Fraction, most: int) -> str:
    """What was asked where a bound on contributions is to be released, in a sentence."""
    unit = grouped.table.unit.column
    what = "rows in any one group" if rows else "groups"
    return one_line(
        f"A bound, at most {most:,}, on the {what} that a share of {float(coverage):g} of all "
        f"{unit} stays within{_groups(grouped.group, grouped.keys)}{_steps(grouped.table.steps)}."
    )


def _groups(group: tuple[tuple[str, Typed], ...], keys: Keys | None) -> str:
    if keys is None:
        return ""
    names = listed([name for name, _ in group])
    if isinstance(keys, DiscoveredKeys):
        return f", for each value of {names} that enough people have"
    return f", for each of {len(keys):,} listed values of {names}"


def _steps(steps: tuple[Step, ...]) -> str:
    words = [_step_in_words(step) for step in steps]
    return f"; of rows {', '.join(filter(None, words))}" if any(words) else ""


def _step_in_words(step: Step) -> str:
    match step:
        case Where(condition=condition):
            return f"where {condition.words}"
        case Mutate(columns=columns):
            return f"with {listed([f'{n} = {value.words}' for n, value in columns])}"
        case Select(columns=columns):
            made = [(n, v) for n, v in columns if (v.op, v.value) != ("column", n)]
            return f"with {listed([f'{n} = {v.words}' for n, v in made])}" if made else ""
        case Join(added=added, table=table):
            names = listed([here for here, _ in added]) or "nothing"
            return f"with {names} looked up in a public table of {table.num_rows:,} rows"


def _kept(limit: ContributionBound | None, unit: str | None) -> str:
    if limit is None or unit is None:
        return ""
    if limit.max_rows is not None:
        are = "is" if limit.max_rows == 1 else "are"
        return f" Of each {unit}, at most {_many(limit.max_rows, 'row')} {are} kept."
    groups = "" if limit.max_groups is None else f"{_many(limit.max_groups, 'group')} and "
    rows = _many(limit.max_rows_per_group or 1, "row")
    return f" Of each {unit}, at most {groups}{rows} in each are kept."


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"
