"""Do the mechanisms answer the query, with noise for as much as one person can move it?

The checks return sentences about what does not fit: none means that every step looks at single
rows, that every aggregate has the parts it needs, and that each sensitivity is what follows from
bounds, keys and relation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor
from typing import Any, Final, NamedTuple, TypeAlias

from discreet.errors import InvalidArgument
from discreet.numeric import canonical

# -- steps -----------------------------------------------------------------------------------------
# Does every step look at one row at a time, without changing whose row it is? An operation over
# several rows, or another owner for a row, would let one person move more than is counted. The list
# of operations is written here a second time, and what is not on it is refused.


Document = Mapping[str, Any]

_LEAVES: Final = ("column", "literal")
_LOGIC: Final = ("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "is_null", "is_in", "case")
_NUMBERS: Final = ("add", "sub", "mul", "div", "floordiv", "neg", "abs", "floor", "clip")
_CASTS: Final = ("cast", "fill_null")
_LETTERS: Final = ("lower", "upper", "strip", "length", "substring", "concat")
_FOUND: Final = ("startswith", "endswith", "contains")
_DATES: Final = ("year", "month", "day", "weekday", "hour")
OPERATIONS: Final = frozenset((*_LEAVES, *_LOGIC, *_NUMBERS, *_CASTS, *_LETTERS, *_FOUND, *_DATES))
TYPES: Final = frozenset(
    ("boolean", "integer", "real", "text", "date", "timestamp", "raw", "other")
)
_DEEPEST: Final = 200


def row_faults(tree: Document) -> Iterator[str]:
    """What does not fit, in sentences.

    >>> age = {"op": "column", "value": "age", "type": "integer", "nullable": False}
    >>> step = {"step": "mutate", "columns": [{"name": "id", "value": age}]}
    >>> list(row_faults({"unit": "id", "steps": [step], "group": []}))
    ['a step changes the column that says whose row it is']
    """
    unit, steps, group = tree["unit"], tree["steps"], tree["group"]
    if unit is not None and any(unit in _defined(step) for step in steps):
        yield "a step changes the column that says whose row it is"
    if not all(_is_known(one) for one in _expressions(tree)):
        yield "a value is computed by an operation or of a type that this version does not know"
    if not all(_is_column(one["value"], one["name"]) for one in group):
        yield "a group is not the column that it is called after"
    names = [one["name"] for one in group]
    if len(set(names)) != len(names):
        yield "a column is grouped by twice"


def _defined(step: Document) -> list[str]:
    """The names that a step gives a value; a select keeps the unit without naming it."""
    match step["step"]:
        case "mutate" | "select":
            return [column["name"] for column in step["columns"]]
        case "join":
            return [column["here"] for column in step["added"]]
    return []


def _expressions(tree: Document) -> Iterator[Document]:
    for step in tree["steps"]:
        match step["step"]:
            case "where":
                yield step["condition"]
            case "join":
                yield from (pair["here"] for pair in step["on"])
            case _:
                yield from (column["value"] for column in step["columns"])
    yield from (column["value"] for column in tree["group"])
    for aggregate in tree.get("aggregates", ()):
        if aggregate.get("column") is not None:
            yield aggregate["column"]


def _is_known(expression: Document, depth: int = 0) -> bool:
    args = expression.get("args", ())
    leaf = expression["op"] in _LEAVES
    return (
        depth < _DEEPEST
        and expression["op"] in OPERATIONS
        and expression["type"] in TYPES
        and leaf != bool(args)
        and (expression["op"] != "column" or isinstance(expression.get("value"), str))
        and all(_is_known(arg, depth + 1) for arg in args)
    )


def _is_column(expression: Document, name: str) -> bool:
    """The column itself, or read as the type of its keys."""
    if expression["op"] == "cast":
        (expression,) = expression["args"]
    return bool(expression["op"] == "column" and expression["value"] == name)


# -- how far one person can move an answer ---------------------------------------------------------
# A certificate states sensitivities. Here they are not computed by the planner's formulas: the
# worst that a person can do is laid out, row by row, and the numbers of the two tables are
# compared.
#
# A person has at most `rows` rows in each of `groups` groups, `total` in all. Each row falls in
# one of the `cells` of its group, and adds between `low` and `high` there, or nothing. Sums grow
# fastest in few cells and spread widest in many, so that two tables of theirs decide: all rows
# *packed* into one cell of a group, group after group, and all rows *spread* over as many cells as
# there are. (Sizes are convex, and are largest at the corners of what a person can do; the tests
# try everything that a person can do in small tables.) A person who is replaced leaves such a
# table, and another brings one: in the same cells with the other end of the values, or in other
# cells.


Rows: TypeAlias = Counter[int]  # of one person: how many cells hold this many of them
Change: TypeAlias = Counter[int]  # how many numbers of the answer change by this much


@dataclass(frozen=True)
class Moved:
    """The most that numbers can move: how many do, one of them, all together, and in squares."""

    l0: Fraction
    linf: Fraction
    l1: Fraction
    square: Fraction  # of l2


@dataclass(frozen=True)
class Person:
    """What one person has in an answer at most."""

    groups: int
    rows: int
    total: int
    replaced: bool = False  # the relation
    several: bool = True  # is there more than one group at all?

    @property
    def steps(self) -> int:
        """How many people come or go between neighbours."""
        return 2 if self.replaced else 1

    @property
    def choices(self) -> int:
        """How many choices a person can influence with `rows` rows each."""
        return -(-self.total // self.rows)

    def moves(self, low: int, high: int, *, cells: int = 1) -> Moved:
        """What moves in sums over rows that each add between `low` and `high`, or nothing, to one
        of the cells of a group.

        >>> Person(groups=3, rows=5, total=15).moves(0, 1).l1
        Fraction(15, 1)
        """
        changes = [
            change
            for table in (self._packed(), self._spread(cells))
            for change in self._changes(table, low, high, elsewhere=self.several or cells > 1)
        ]
        touched = max(map(Counter.total, changes))
        sizes = (
            touched if self.several else min(touched, cells),
            max(max(map(abs, change), default=0) for change in changes),
            max(sum(abs(by) * n for by, n in change.items()) for change in changes),
            max(sum(by * by * n for by, n in change.items()) for change in changes),
        )
        return Moved(*map(Fraction, sizes))

    def counts_once(self) -> Moved:
        """What moves in counts of people: each person counts once in a group."""
        return replace(self, rows=1, total=self.groups).moves(0, 1)

    def _packed(self) -> Rows:
        full, rest = divmod(self.total, self.rows)
        return +Counter({self.rows: full, rest: 1 if rest else 0})

    def _spread(self, cells: int) -> Rows:
        """As evenly as possible: some cells have one row more than others."""
        cells = min(self.total, self.groups * min(self.rows, cells))
        each, more = divmod(self.total, cells)
        return +Counter({each: cells - more, each + 1: more})

    def _changes(self, table: Rows, low: int, high: int, *, elsewhere: bool) -> Iterator[Change]:
        for value in (low, high):
            yield _times(table, value)
        if not self.replaced:
            return
        # The same cells: one end of the values leaves, the other comes; either may be missing.
        yield _times(table, max(high, 0) - min(low, 0))
        if elsewhere:  # other cells, as if there were always enough of them
            for value in (low, high):
                yield _times(table, value) + _times(table, -value)


def _times(table: Rows, value: int) -> Change:
    return Counter({rows * value: cells for rows, cells in table.items() if value})


def person_of(tree: Document) -> Person:
    """What one person has in an answer, from a query's unit, relation, bounds and keys.

    >>> tree = {"unit": "id", "relation": "add-remove", "keys": {"discovered": False, "count": 2},
    ...         "bound": {"max_groups": 3, "max_rows_per_group": 5, "max_rows": None}}
    >>> person_of(tree).moves(0, 1).l1
    Fraction(10, 1)
    """
    keys, bound, replaced = tree["keys"], tree["bound"], tree["relation"] == "replace"
    count = 1 if keys is None else None if keys["discovered"] else keys["count"]
    several = count is None or count > 1
    if tree["unit"] is None and bound is None:
        return Person(1, 1, 1, replaced, several)
    if tree["unit"] is not None and bound is not None:
        names = ("max_groups", "max_rows_per_group", "max_rows")
        match tuple(bound[name] for name in names):
            case None, None, int(rows):
                return Person(min(rows, count or rows), rows, rows, replaced, several)
            case int(most), int(rows), None:
                groups = min(most, count or most)
                return Person(groups, rows, groups * rows, replaced, several)
            case None, int(rows), None if not several:
                return Person(1, rows, rows, replaced, several)
    raise InvalidArgument("the query's bound", "one that bounds a person", "something else")


# -- the points that a column is added up on or chosen from ----------------------------------------
# They follow from its bounds alone. Values between lower and upper are counted in steps of
# 2^(−exponent), rounded to whole ones.


_POINTS: Final = 1024  # of a quantile whose step is not given
_HIGHEST, _LOWEST = 62, -20  # powers of two on the ladder of a range; from 0 for whole numbers


class Points(NamedTuple):
    """The multiples of 2^(−exponent) from low to high, among which a quantile is chosen."""

    exponent: int
    low: int
    high: int

    @property
    def size(self) -> int:
        """How many there are."""
        return self.high - self.low + 1

    @property
    def whole(self) -> bool:
        """Are they integers of 64 bits?"""
        largest = max(abs(self.low), abs(self.high))
        return self.exponent <= 0 and largest.bit_length() - self.exponent < 63


def points(aggregate: Document) -> Points:
    """The points of a quantile: the step is a power of two, at most the one that is asked for.

    >>> column = {"type": "integer"}
    >>> points({"bounds": ["-3", "60"], "step": None, "column": column}).size
    64
    """
    lower, upper = (Fraction(end) for end in aggregate["bounds"])
    if aggregate["step"] is not None:
        step = Fraction(aggregate["step"])
    else:
        step = (upper - lower) / _POINTS
        step = max(step, Fraction(1)) if aggregate["column"]["type"] == "integer" else step
    exponent = step.denominator.bit_length() - step.numerator.bit_length()
    exponent += Fraction(2) ** -exponent > step
    fine = Fraction(2) ** exponent
    return Points(exponent, ceil(lower * fine), floor(upper * fine))


def rungs(column: Document) -> int:
    """The bins of a range: between 0 and powers of two, on both sides."""
    return 2 * (_HIGHEST - (0 if column["type"] == "integer" else _LOWEST) + 1)


def extent(part: Document) -> tuple[int, int]:
    """The least and the most that a row adds to a sum, in steps."""
    grid = part["grid"]
    low, high = grid["lower"] - grid["centre"], grid["upper"] - grid["centre"]
    if part["kind"] == "sum":
        return low, high
    return -grid["offset"], _largest_square(grid) - grid["offset"]


def is_grid_of(one: Document, bounds: Sequence[str]) -> bool:
    """Whether values between these bounds lie on a sum's grid, and a step is worth what it says.

    Squares are counted from the middle of what they can be, which halves what a row moves."""
    grid, squared = one["part"]["grid"], one["part"]["kind"] == "sum of squares"
    if not _is_between(grid, *bounds):
        return False
    fine = Fraction(2) ** grid["exponent"]
    step = 2 ** grid["shift"] / fine**2 if squared else 1 / fine
    offset = _largest_square(grid) // 2 if squared else 0
    return bool(
        Fraction(one["step"]) == step
        and grid["offset"] == offset
        and (squared or grid["shift"] == 0)
    )


def _is_between(grid: Document, lower: str, upper: str) -> bool:
    """Whether the ends are ⌈lower·2^e⌉ and ⌊upper·2^e⌋; in whole numbers, for speed, since every
    aggregate is compared with every sum."""
    exponent = grid["exponent"]
    up, down = max(exponent, 0), max(-exponent, 0)
    (n, d), (m, c) = _ratio(lower), _ratio(upper)
    return bool(
        -((-n << up) // (d << down)) == grid["lower"] and (m << up) // (c << down) == grid["upper"]
    )


@lru_cache(maxsize=4096)
def _ratio(number: str) -> tuple[int, int]:
    return Fraction(number).as_integer_ratio()


def _largest_square(grid: Document) -> int:
    largest = max(abs(grid["lower"] - grid["centre"]), abs(grid["upper"] - grid["centre"]))
    return int((largest**2 + (1 << grid["shift"] >> 1)) >> grid["shift"])


# -- each kind of aggregate: its fields, the mechanisms it needs, its columns ----------------------


Test = Callable[[Document], bool]


class Need(NamedTuple):
    """A mechanism that must be there. Where its document does not say everything it is needed for,
    `own` does: needs that differ in it take one mechanism each."""

    fits: Test
    own: str | None = None


@dataclass(frozen=True)
class AggregateRule:
    """All that is checked of one kind of aggregate.

    `needs` takes the aggregate and the query, `kind` of its columns the aggregate and the
    mechanisms: a type, or several separated by spaces where version 0.1.0 decided by the values.
    """

    fields: frozenset[str]  # all of them, and no others
    needs: Callable[[Document, Document], Iterable[Need]]
    kind: Callable[[Document, Sequence[Document]], str] = lambda aggregate, mechanisms: "real"
    names: Callable[[Document], Iterable[str]] = lambda aggregate: [aggregate["name"]]
    error: str = "error"  # how the column of errors ends


def shared(tree: Document, mechanisms: Sequence[Document]) -> tuple[Document, list[Document]]:
    """The same documents, with equal columns as one object: `is` compares them at no cost."""
    known: dict[str, Any] = {}

    def one_of(document: Any) -> Any:
        if document.get("column") is None:
            return document
        column = known.setdefault(canonical.text(document["column"]), document["column"])
        return {**document, "column": column}

    asked = [one_of(aggregate) for aggregate in tree.get("aggregates", ())]
    bought = [{**one, "part": one_of(one["part"])} if "part" in one else one for one in mechanisms]
    return ({**tree, "aggregates": asked} if asked else tree), bought


def unanswered(tree: Document, mechanisms: Sequence[Document]) -> tuple[list[str], list[int]]:
    """Sentences about what is missing, and the places of mechanisms that nothing needs."""
    found: list[str] = []
    used: set[int] = set()
    taken: dict[str, int] = {}
    for aggregate in tree["aggregates"]:
        for need in AGGREGATES[aggregate["kind"]].needs(aggregate, tree):
            places = (i for i, one in enumerate(mechanisms) if need.fits(one))
            if need.own is None:
                place = next(places, None)
            elif need.own in taken:
                place = taken[need.own]
            else:
                place = next((i for i in places if i not in taken.values()), None)
                taken |= {} if place is None else {need.own: place}
            if place is None:
                found.append(f"no mechanism answers all of {aggregate['name']}")
                break
            used.add(place)
    if tree["keys"] is not None and tree["keys"]["discovered"]:
        place = next((i for i, one in enumerate(mechanisms) if one["mechanism"] == "keys"), None)
        if place is None:
            found.append("keys are discovered, and no mechanism discovers them")
        used |= set() if place is None else {place}
    return found, [i for i in range(len(mechanisms)) if i not in used]


def _added(*kinds: str, alone: bool = False) -> Callable[[Document, Document], list[Need]]:
    """Sums of these kinds; alone from zero, or with a count of the rows that have a value."""

    def needs(aggregate: Document, tree: Document) -> list[Need]:
        def sums(kind: str) -> Need:
            return Need(lambda one: _adds(one, aggregate, kind, centred=not alone))

        return [*map(sums, kinds), *([] if alone else _counted(aggregate, tree))]

    return needs


def _bins(aggregate: Document, tree: Document) -> Iterator[Need]:
    column = aggregate["column"]
    if aggregate["kind"] == "range":
        bins, listed = rungs(column), []
    else:
        edges = [float(Fraction(edge)).hex() for edge in aggregate["edges"]]
        listed = [edges, aggregate["categories"]]
        bins = len(edges) - 1 if edges else len(aggregate["categories"])
    yield Need(
        lambda one: _is_for(one, _NOISE, "bins", column) and one["part"]["bins"] == bins,
        canonical.text([aggregate["kind"], column, *listed]),
    )


def _ranks(aggregate: Document, tree: Document) -> Iterator[Need]:
    """All quantiles of a column that are asked on the same points are chosen together."""
    column, grid = aggregate["column"], points(aggregate)
    alike = [
        one
        for one in tree["aggregates"]
        if one["kind"] == "quantile"
        and one["column"] is column
        and all(one[name] == aggregate[name] for name in ("bounds", "step"))
    ]
    asked = {Fraction(p) for one in alike for p in one["probabilities"]}
    together = [str(p) for p in sorted(asked)]
    yield Need(
        lambda one: (
            _is_for(one, ("quantiles",), "quantiles", column)
            and (one["probabilities"], one["candidates"]) == (together, grid.size)
        ),
        canonical.text(["quantile", column, list(grid), together]),
    )


def _commonest(aggregate: Document, tree: Document) -> Iterator[Need]:
    column, k, listed = aggregate["column"], aggregate["k"], aggregate["candidates"]
    yield Need(
        lambda one: (
            _is_for(one, ("top k",), "commonest", column)
            and (one["k"], one["candidates"]) == (k, len(listed))
        ),
        canonical.text(["top k", k, column, listed]),
    )


def _adds(one: Document, aggregate: Document, kind: str, *, centred: bool) -> bool:
    """Sums alone are counted from zero, others from the middle, where half the noise will do."""
    if not _is_for(one, _NOISE, kind, aggregate["column"]):
        return False
    grid = one["part"]["grid"]
    centre = (grid["lower"] + grid["upper"]) // 2 if centred else 0
    return bool(grid["centre"] == centre) and is_grid_of(one, aggregate["bounds"])


def _counted(aggregate: Document, tree: Document) -> Iterator[Need]:
    """Counts of rows, or of rows with a value in a column: of all rows if none is ever missing."""
    column, both = aggregate["column"], "rows with and without a value"
    if column is None or not column["nullable"]:
        yield Need(lambda one: one["mechanism"] in _NOISE and one["part"]["kind"] in ("rows", both))
    else:
        kinds = ("rows with a value", both)
        yield Need(lambda one: any(_is_for(one, _NOISE, kind, column) for kind in kinds))


def _is_for(one: Document, mechanisms: Sequence[str], kind: str, column: Any) -> bool:
    """Whether it is one of these mechanisms, for such a part of this column."""
    if one["mechanism"] not in mechanisms:
        return False
    return bool(one["part"]["kind"] == kind and one["part"].get("column") is column)


def _sum_kind(aggregate: Document, mechanisms: Sequence[Document]) -> str:
    """In steps of 1 it is a whole number, if 64 bits surely hold it."""
    grids = [
        one["part"]["grid"] for one in mechanisms if _adds(one, aggregate, "sum", centred=False)
    ]
    if not any(grid["exponent"] == 0 for grid in grids):
        return "real"
    large = any(max(abs(grid["lower"]), abs(grid["upper"])) > 2**23 for grid in grids)
    return "real integer" if large else "integer"


def _whole(aggregate: Document, mechanisms: Sequence[Document]) -> str:
    return "integer"


def _bin_names(aggregate: Document) -> Iterable[str]:
    ends = [f"{float(Fraction(edge)):g}" for edge in aggregate["edges"]]
    bins = [f"{low}_to_{high}" for low, high in pairwise(ends)] or aggregate["categories"]
    return [f"{aggregate['name']}_{one}" for one in bins]


def _rank_names(aggregate: Document) -> Iterable[str]:
    asked = aggregate["probabilities"] if aggregate["several"] else ()
    name = aggregate["name"]
    return [f"{name}_{float(Fraction(p)):g}" for p in asked] or [name]


def _place_names(aggregate: Document) -> Iterable[str]:
    name, k = aggregate["name"], aggregate["k"]
    return (f"{name}_{rank}" for rank in range(1, k + 1)) if k > 1 else [name]


_NOISE: Final = ("laplace", "gaussian")
_VALUE: Final = frozenset({"kind", "name", "column", "weight"})
_BOUNDED: Final = _VALUE | {"bounds"}
_SQUARES: Final = AggregateRule(_BOUNDED, _added("sum", "sum of squares"))
#: A new kind of aggregate is a new line here, and one in the schema.
AGGREGATES: Final = {
    "count": AggregateRule(_VALUE, _counted, _whole),
    "count units": AggregateRule(
        _VALUE - {"column"},
        lambda _, tree: [Need(lambda one: _is_for(one, _NOISE, "people", None))],
        _whole,
    ),
    "sum": AggregateRule(_BOUNDED, _added("sum", alone=True), _sum_kind),
    "mean": AggregateRule(_BOUNDED, _added("sum")),
    "variance": _SQUARES,
    "std": _SQUARES,
    "quantile": AggregateRule(
        _BOUNDED | {"probabilities", "step", "several"},
        _ranks,
        lambda one, _: "integer" if points(one).whole else "real",
        _rank_names,
        "rank_error",
    ),
    "histogram": AggregateRule(_VALUE | {"edges", "categories"}, _bins, _whole, _bin_names),
    "top k": AggregateRule(
        _VALUE | {"k", "candidates"},
        _commonest,
        lambda one, _: str(one["column"]["type"]),
        _place_names,
        "count_error",
    ),
    "range": AggregateRule(
        _VALUE - {"weight"}, _bins, names=lambda _: ["lower", "upper"], error="rank_error"
    ),
}


# -- each kind of part that noise is added to, or that is chosen -----------------------------------


class PartRule(NamedTuple):
    """The fields of a part, all of them and no others; and how far one person moves it."""

    fields: frozenset[str]
    moves: Callable[[Person, Document], Moved | None] = lambda who, part: None


_KIND, _COLUMN = frozenset({"kind"}), frozenset({"kind", "column"})
_SUM: Final = PartRule(_COLUMN | {"grid"}, lambda who, part: who.moves(*extent(part)))
PARTS: Final = {
    "rows": PartRule(_KIND, lambda who, part: who.moves(0, 1)),
    "rows with a value": PartRule(_COLUMN, lambda who, part: who.moves(0, 1)),
    "rows with and without a value": PartRule(_COLUMN, lambda who, part: who.moves(0, 1, cells=2)),
    "bins": PartRule(_COLUMN | {"bins"}, lambda who, part: who.moves(0, 1, cells=part["bins"])),
    "people": PartRule(_KIND, lambda who, part: who.counts_once()),
    "sum": _SUM,
    "sum of squares": _SUM,
    "quantiles": PartRule(_COLUMN),
    "commonest": PartRule(_COLUMN),
    "people by their groups": PartRule(_KIND),
    "people by their rows in a group": PartRule(_KIND),
}


# -- what does not fit, in sentences ---------------------------------------------------------------


_TIGHT: Final = Fraction(1, 2**60)  # how far a root may be rounded up


class QueryFindings(NamedTuple):
    """What does not fit, in sentences; and the stated purposes of mechanisms whose l0 is less than
    one person can touch, and of those that no aggregate needs."""

    faults: list[str]
    too_few: Sequence[str] = ()
    unneeded: Sequence[str] = ()


def look_at(tree: Document, mechanisms: Sequence[Document]) -> QueryFindings:
    """Hold the mechanisms against the query."""
    found = [
        f"the noise for {one['for']} is for something other than it says"
        for one in mechanisms
        if "part" in one and not _is_part(one["part"])
    ]
    if tree["kind"] != "query":
        return QueryFindings(found + list(_bought_bound(tree, mechanisms)))
    tree, mechanisms = shared(tree, mechanisms)
    who = person_of(tree)
    if tree["contribution"] != {"groups": who.groups, "rows": who.rows, "total": who.total}:
        found.append("what one person adds does not follow from the query's bounds and keys")
    found += _aggregates(tree)
    moved = [_moved(one, who, tree) if one["mechanism"] in _NOISE else None for one in mechanisms]
    found += [
        f"the noise for {one['for']} is not for as much as one person can move"
        for one, most in zip(mechanisms, moved, strict=True)
        if not _hides(one, most, who)
    ]
    missing, unneeded = unanswered(tree, mechanisms)
    touched = [
        str(one["for"])
        for one, most in zip(mechanisms, moved, strict=True)
        if most is not None and Fraction(one["sensitivity"]["l0"]) < most.l0
    ]
    return QueryFindings(found + missing, touched, [str(mechanisms[i]["for"]) for i in unneeded])


def _is_part(part: Document) -> bool:
    return part["kind"] in PARTS and part.keys() == PARTS[part["kind"]].fields


def _aggregates(tree: Document) -> Iterator[str]:
    for one in tree["aggregates"]:
        if one.keys() != AGGREGATES[one["kind"]].fields:
            yield f"{one['name']} is described with more or less than such an aggregate has"
            continue
        if one["kind"] == "histogram" and bool(one["edges"]) == bool(one["categories"]):
            yield f"{one['name']} has edges and categories, or neither"
        for name in ("categories", "candidates"):
            listed = [(type(value), value) for value in one.get(name, ())]
            if len(set(listed)) != len(listed):
                yield f"{one['name']} lists a value twice, and counts it twice"


def _hides(one: Document, moved: Moved | None, who: Person) -> bool:
    """Whether a mechanism allows for as much as one person can do."""
    size = {norm: Fraction(told) for norm, told in one["sensitivity"].items()}
    match one["mechanism"]:
        case "quantiles":
            return size["rows"] == who.rows * who.steps and one["times"] == who.choices
        case "top k":
            fits = one["monotone"] is not who.replaced
            return fits and size["rows"] == who.rows and one["times"] == who.choices
        case "keys":
            return one["times"] == 1 and size["groups"] == who.groups * who.steps
    if moved is None or one["times"] != 1:
        return False
    # Version 0.1.0 counted all cells of a group as one. No noise ever rested on it.
    cells = one["part"]["kind"] in ("rows with and without a value", "bins")
    return (
        size["l0"] in (moved.l0, who.groups * who.steps if cells else moved.l0)
        and (size["linf"], size["l1"]) == (moved.linf, moved.l1)
        and moved.square <= size["l2"] ** 2 <= moved.square * (1 + _TIGHT)
    )


def _moved(one: Document, who: Person, tree: Document) -> Moved | None:
    part = one["part"]
    if "grid" in part:
        asked = [a for a in tree["aggregates"] if a.get("column") is part["column"]]
        fits = any(is_grid_of(one, a["bounds"]) for a in asked if "bounds" in a)
    else:
        fits = Fraction(one["step"]) == 1  # people and rows are whole
    return PARTS[part["kind"]].moves(who, part) if fits and _is_part(part) else None


def _bought_bound(tree: Document, mechanisms: Sequence[Document]) -> Iterator[str]:
    """A bound on contributions that is purchased: each person is one value among 1, 2, ... `most`;
    replacing is removing and adding one."""
    kinds = {"groups a person": "people by their groups"}
    kinds["rows in a group"] = "people by their rows in a group"
    needed = {
        "mechanism": "quantiles",
        "part": {"kind": kinds[tree["kind"]]},
        "sensitivity": {"rows": {"add-remove": "1", "replace": "2"}[tree["relation"]]},
        "times": 1,
        "probabilities": [tree["coverage"]],
        "candidates": tree["most"],
    }
    if len(mechanisms) != 1 or not needed.items() <= mechanisms[0].items():
        yield "the mechanism is not that of a bound on what one person adds"
