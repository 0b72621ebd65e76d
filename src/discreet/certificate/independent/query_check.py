"""Do the mechanisms answer the query, with noise for as much as one person can move it?

The checks return sentences about what does not fit: none means that every step looks at single
rows, that every aggregate has the parts it needs, and that each sensitivity is what follows from
bounds, keys and relation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Any, Final, NamedTuple, TypeAlias

from discreet.certificate.independent.reals import read
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
    cells: int = 1  # of a group
    several: bool = True  # is there more than one group at all?

    def farthest(self, low: int, high: int, *, replaced: bool) -> Moved:
        """The largest distance of neighbours, where each row adds between `low` and `high`.

        >>> Person(groups=3, rows=5, total=15).farthest(0, 1, replaced=False).l1
        Fraction(15, 1)
        """
        changes = [
            change
            for table in (self._packed(), self._spread())
            for change in self._changes(table, low, high, replaced)
        ]
        touched = max(map(Counter.total, changes))
        sizes = (
            touched if self.several else min(touched, self.cells),
            max(max(map(abs, change), default=0) for change in changes),
            max(sum(abs(by) * n for by, n in change.items()) for change in changes),
            max(sum(by * by * n for by, n in change.items()) for change in changes),
        )
        return Moved(*map(Fraction, sizes))

    def _packed(self) -> Rows:
        full, rest = divmod(self.total, self.rows)
        return Counter({self.rows: full, **({rest: 1} if rest else {})})

    def _spread(self) -> Rows:
        """As evenly as possible: some cells have one row more than others."""
        cells = min(self.total, self.groups * min(self.rows, self.cells))
        each, more = divmod(self.total, cells)
        return +Counter({each: cells - more, each + 1: more})

    def _changes(self, table: Rows, low: int, high: int, replaced: bool) -> Iterator[Change]:
        for value in (low, high):
            yield _times(table, value)
        if not replaced:
            return
        # The same cells: one end of the values leaves, the other comes; either may be missing.
        yield _times(table, max(high, 0) - min(low, 0))
        if self.several or self.cells > 1:  # other cells, as if there were always enough of them
            for value in (low, high):
                yield _times(table, value) + _times(table, -value)


def _times(table: Rows, value: int) -> Change:
    return Counter({rows * value: cells for rows, cells in table.items() if value})


# -- what one person can move, from the tree of a query --------------------------------------------


@dataclass(frozen=True)
class Presence:
    """What one person has in an answer at most."""

    groups: int
    rows: int
    total: int
    replaced: bool  # the relation
    several: bool  # is there more than one group at all?

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
        of the cells of a group."""
        person = Person(self.groups, self.rows, self.total, cells, self.several)
        return person.farthest(low, high, replaced=self.replaced)

    def counts_once(self) -> Moved:
        """What moves in counts of people: each person counts once in a group."""
        person = Person(self.groups, 1, self.groups, several=self.several)
        return person.farthest(0, 1, replaced=self.replaced)


def presence(tree: Mapping[str, Any]) -> Presence:
    """What one person has in an answer, from a query's unit, relation, bounds and keys.

    >>> tree = {"unit": "id", "relation": "add-remove", "keys": {"discovered": False, "count": 2},
    ...         "bound": {"max_groups": 3, "max_rows_per_group": 5, "max_rows": None}}
    >>> presence(tree).moves(0, 1).l1
    Fraction(10, 1)
    """
    relation, keys, bound = tree.get("relation"), tree.get("keys"), tree.get("bound")
    if relation not in ("add-remove", "replace"):
        raise _unexpected("relation")
    replaced = relation == "replace"
    count = 1 if keys is None else None if keys.get("discovered") else keys.get("count")
    if count is not None and (type(count) is not int or count < 1):
        raise _unexpected("keys")
    several = count is None or count > 1
    if tree.get("unit") is None and bound is None:
        return Presence(1, 1, 1, replaced, several)
    if tree.get("unit") is None or not isinstance(bound, Mapping):
        raise _unexpected("bound")
    by_group = (bound.get("max_groups"), bound.get("max_rows_per_group"))
    if (rows := bound.get("max_rows")) is not None:
        if by_group != (None, None):
            raise _unexpected("bound")
        rows = _whole(rows)
        return Presence(min(rows, count or rows), rows, rows, replaced, several)
    rows = _whole(bound.get("max_rows_per_group"))
    most = bound.get("max_groups")
    if most is None and several:
        raise _unexpected("bound")
    groups = 1 if most is None else min(_whole(most), count or _whole(most))
    return Presence(groups, rows, groups * rows, replaced, several)


def _whole(value: object) -> int:
    if type(value) is not int or value < 1:
        raise _unexpected("bound")
    return value


def _unexpected(name: str) -> InvalidArgument:
    return InvalidArgument(
        name=f"the query's {name}", expected="one that bounds a person", given="something else"
    )


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
        read(one["step"], "step") == step
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


# -- which mechanisms an aggregate needs, and which they are ---------------------------------------


Test = Callable[[Document], bool]

_VALUE = frozenset({"kind", "name", "column", "weight"})
#: The fields of each kind of aggregate: all of them, and no others.
FIELDS: Final = {
    "count": _VALUE,
    "count units": {"kind", "name", "weight"},
    "sum": _VALUE | {"bounds"},
    "mean": _VALUE | {"bounds"},
    "variance": _VALUE | {"bounds"},
    "std": _VALUE | {"bounds"},
    "quantile": _VALUE | {"bounds", "probabilities", "step", "several"},
    "histogram": _VALUE | {"edges", "categories"},
    "top k": _VALUE | {"k", "candidates"},
    "range": {"kind", "name", "column"},
}


class Need(NamedTuple):
    """A mechanism that must be there. Where its document does not say everything it is needed for,
    `own` does: needs that differ in it take one mechanism each."""

    fits: Test
    own: str | None = None


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
        for need in _needs(aggregate, tree):
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
        place = next((i for i, one in enumerate(mechanisms) if _is_one_of(one, "keys")), None)
        if place is None:
            found.append("keys are discovered, and no mechanism discovers them")
        used |= set() if place is None else {place}
    return found, [i for i in range(len(mechanisms)) if i not in used]


def _needs(aggregate: Document, tree: Document) -> Iterator[Need]:
    kind, column = aggregate["kind"], aggregate.get("column")
    match kind:
        case "count":
            yield Need(_counted(column))
        case "count units":
            yield Need(lambda one: _counts(one, "people", None))
        case "sum" | "mean" | "variance" | "std":
            yield Need(lambda one: adds(one, aggregate, "sum"))
            if kind != "sum":
                yield Need(_counted(column))
            if kind not in ("sum", "mean"):
                yield Need(lambda one: adds(one, aggregate, "sum of squares"))
        case "histogram" | "range":
            yield _bins(aggregate)
        case "quantile":
            yield _ranks(aggregate, tree)
        case "top k":
            size, own = len(aggregate["candidates"]), [column, aggregate["candidates"]]
            yield Need(
                lambda one: (
                    _chooses(one, "top k", "commonest", column)
                    and (one["k"], one["candidates"]) == (aggregate["k"], size)
                ),
                canonical.text(["top k", aggregate["k"], *own]),
            )


def _bins(aggregate: Document) -> Need:
    column = aggregate["column"]
    if aggregate["kind"] == "range":
        bins, listed = rungs(column), []
    else:
        edges = [float(Fraction(edge)).hex() for edge in aggregate["edges"]]
        listed = [edges, aggregate["categories"]]
        bins = len(edges) - 1 if edges else len(aggregate["categories"])
    return Need(
        lambda one: _counts(one, "bins", column) and one["part"]["bins"] == bins,
        canonical.text([aggregate["kind"], column, *listed]),
    )


def _ranks(aggregate: Document, tree: Document) -> Need:
    """All quantiles of a column that are asked on the same points are chosen together."""
    column, grid = aggregate["column"], points(aggregate)
    alike = [
        one
        for one in tree["aggregates"]
        if one["kind"] == "quantile"
        and one["column"] is column
        and all(one[name] == aggregate[name] for name in ("bounds", "step"))
    ]
    asked = sorted({Fraction(p) for one in alike for p in one["probabilities"]})
    together = [str(p) for p in asked]
    return Need(
        lambda one: (
            _chooses(one, "quantiles", "quantiles", column)
            and (one["probabilities"], one["candidates"]) == (together, grid.size)
        ),
        canonical.text(["quantile", column, list(grid), together]),
    )


def adds(one: Document, aggregate: Document, kind: str) -> bool:
    """Sums are counted from zero, all others from the middle, where half the noise will do."""
    if not _counts(one, kind, aggregate["column"]):
        return False
    grid = one["part"]["grid"]
    centre = 0 if aggregate["kind"] == "sum" else (grid["lower"] + grid["upper"]) // 2
    return bool(grid["centre"] == centre) and is_grid_of(one, aggregate["bounds"])


def _counted(column: Any) -> Test:
    """Counts of rows, or of rows with a value in a column: of all rows if none is ever missing."""
    both = "rows with and without a value"
    if column is None or not column["nullable"]:
        return lambda one: (
            _is_one_of(one, "laplace", "gaussian") and one["part"]["kind"] in ("rows", both)
        )
    return lambda one: any(_counts(one, kind, column) for kind in ("rows with a value", both))


def _counts(one: Document, kind: str, column: Any) -> bool:
    return _is_one_of(one, "laplace", "gaussian") and _part(one, kind, column)


def _chooses(one: Document, mechanism: str, kind: str, column: Any) -> bool:
    return _is_one_of(one, mechanism) and _part(one, kind, column)


def _part(one: Document, kind: str, column: Any) -> bool:
    return bool(one["part"]["kind"] == kind and one["part"].get("column") is column)


def _is_one_of(one: Document, *names: str) -> bool:
    return one["mechanism"] in names


# -- what does not fit, in sentences ---------------------------------------------------------------


_TIGHT: Final = Fraction(1, 2**60)  # how far a root may be rounded up
_KIND, _COLUMN = frozenset({"kind"}), frozenset({"kind", "column"})
_CELLS: Final = ("rows with and without a value", "bins")  # several numbers per group
#: The fields of each part: all of them, and no others.
_PARTS: Final = {
    "rows": _KIND,
    "people": _KIND,
    "people by their groups": _KIND,
    "people by their rows in a group": _KIND,
    "rows with a value": _COLUMN,
    "rows with and without a value": _COLUMN,
    "quantiles": _COLUMN,
    "commonest": _COLUMN,
    "sum": _COLUMN | {"grid"},
    "sum of squares": _COLUMN | {"grid"},
    "bins": _COLUMN | {"bins"},
}


def faults(tree: Document, mechanisms: Sequence[Document]) -> list[str]:
    """What does not fit, in sentences."""
    found = [
        f"the noise for {one['for']} is for something other than it says"
        for one in mechanisms
        if "part" in one and frozenset(one["part"]) != _PARTS.get(one["part"]["kind"])
    ]
    if tree["kind"] != "query":
        return found + list(_bought_bound(tree, mechanisms))
    tree, mechanisms = shared(tree, mechanisms)
    who = presence(tree)
    if tree["contribution"] != {"groups": who.groups, "rows": who.rows, "total": who.total}:
        found.append("what one person adds does not follow from the query's bounds and keys")
    found += list(_aggregates(tree))
    found += [
        f"the noise for {one['for']} is not for as much as one person can move"
        for one in mechanisms
        if not _hides(one, who, tree)
    ]
    return found + unanswered(tree, mechanisms)[0]


def too_few(tree: Document, mechanisms: Sequence[Document]) -> list[str]:
    """The stated purposes of mechanisms whose l0 is less than one person can touch."""
    if tree["kind"] != "query":
        return []
    tree, mechanisms = shared(tree, mechanisms)
    who = presence(tree)
    noisy = [one for one in mechanisms if one["mechanism"] in ("laplace", "gaussian")]
    moved = [(one, _moved(one, who, tree)) for one in noisy]
    return [
        str(one["for"])
        for one, most in moved
        if most is not None and read(one["sensitivity"]["l0"], "l0") < most.l0
    ]


def unneeded(tree: Document, mechanisms: Sequence[Document]) -> list[str]:
    """The stated purposes of mechanisms that no aggregate needs."""
    if tree["kind"] != "query":
        return []
    places = unanswered(*shared(tree, mechanisms))[1]
    return [str(mechanisms[place]["for"]) for place in places]


def _aggregates(tree: Document) -> Iterator[str]:
    for one in tree["aggregates"]:
        if set(one) != FIELDS[one["kind"]]:
            yield f"{one['name']} is described with more or less than such an aggregate has"
            continue
        if one["kind"] == "histogram" and bool(one["edges"]) == bool(one["categories"]):
            yield f"{one['name']} has edges and categories, or neither"
        for name in ("categories", "candidates"):
            listed = [(type(value), value) for value in one.get(name, ())]
            if len(set(listed)) != len(listed):
                yield f"{one['name']} lists a value twice, and counts it twice"


# -- sensitivities ---------------------------------------------------------------------------------


def _hides(one: Document, who: Presence, tree: Document) -> bool:
    """Whether a mechanism allows for as much as one person can do."""
    match one["mechanism"]:
        case "laplace" | "gaussian":
            moved = _moved(one, who, tree)
            return one["times"] == 1 and moved is not None and _is_sensitivity(one, moved, who)
        case "quantiles":
            return _rows(one) == who.rows * who.steps and one["times"] == who.choices
        case "top k":
            fits = one["monotone"] is not who.replaced
            return fits and _rows(one) == who.rows and one["times"] == who.choices
        case "keys":
            groups = read(one["sensitivity"]["groups"], "groups")
            return one["times"] == 1 and groups == who.groups * who.steps
    return False


def _moved(one: Document, who: Presence, tree: Document) -> Moved | None:
    part = one["part"]
    if part["kind"] in ("sum", "sum of squares"):
        asked = [a for a in tree["aggregates"] if a.get("column") is part["column"]]
        fits = any(is_grid_of(one, a["bounds"]) for a in asked if "bounds" in a)
        return who.moves(*extent(part)) if fits else None
    if read(one["step"], "step") != 1:  # people and rows are whole
        return None
    match part["kind"]:
        case "rows" | "rows with a value":
            return who.moves(0, 1)
        case "rows with and without a value":
            return who.moves(0, 1, cells=2)
        case "bins":
            return who.moves(0, 1, cells=part["bins"])
        case "people":
            return who.counts_once()
    return None


def _is_sensitivity(one: Document, moved: Moved, who: Presence) -> bool:
    told = {norm: read(one["sensitivity"][norm], norm) for norm in ("l0", "linf", "l1", "l2")}
    # Version 0.1.0 counted all cells of a group as one. No noise ever rested on it.
    before = who.groups * who.steps if one["part"]["kind"] in _CELLS else moved.l0
    return (
        told["l0"] in (moved.l0, before)
        and (told["linf"], told["l1"]) == (moved.linf, moved.l1)
        and moved.square <= told["l2"] ** 2 <= moved.square * (1 + _TIGHT)
    )


def _rows(one: Document) -> Fraction:
    return read(one["sensitivity"]["rows"], "rows")


# -- bounds on contributions that are purchased ----------------------------------------------------


def _bought_bound(tree: Document, mechanisms: Sequence[Document]) -> Iterator[str]:
    """Each person is one value among 1, 2, ... `most`; replacing is removing and adding one."""
    steps = {"add-remove": 1, "replace": 2}[tree["relation"]]
    kinds = {"groups a person": "people by their groups"}
    kinds["rows in a group"] = "people by their rows in a group"
    fits = (
        len(mechanisms) == 1
        and mechanisms[0]["mechanism"] == "quantiles"
        and mechanisms[0]["part"]["kind"] == kinds[tree["kind"]]
        and _rows(mechanisms[0]) == steps
        and mechanisms[0]["times"] == 1
        and mechanisms[0]["probabilities"] == [tree["coverage"]]
        and mechanisms[0]["candidates"] == tree["most"]
    )
    if not fits:
        yield "the mechanism is not that of a bound on what one person adds"
