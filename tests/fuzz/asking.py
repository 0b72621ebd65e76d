"""Questions from a seed: steps, joins, keys of every kind, bounds, aggregates."""

from fractions import Fraction
from random import Random
from typing import Any

from discreet.query.expressions import Expression, column
from discreet.query.schema import Type
from tests.engines.tables import B, D, I, M, R, T
from tests.engines.trees import LITERALS, expression
from tests.fuzz.case import (
    Aggregate,
    Column,
    Join,
    Keys,
    Mutate,
    Public,
    Select,
    Source,
    Step,
    Where,
)
from tests.fuzz.script import expression as code
from tests.fuzz.values import KINDS, PLAIN, few, fits

BOUNDS = [(0, 60), (0, 1), (-5, 10**18), (-(10**12), 10**12), (18, 19), (-(2**63), 2**63)]
BOUNDS += [(0, 10**9), (-(2**29), 2**28)]
REAL_BOUNDS = [*BOUNDS, (Fraction(1, 3), 7), (-1e99, 1e99), (0, 1e-90)]
ENCODED = ["plain"] * 16 + ["dictionary", "repeated", "repeated", "chunked", "sliced"] * 2
ENCODED += ["run-end", "extension"]
FORMS = ["arrow"] * 5 + ["pandas", "polars", "dict", "parquet"]
KEYS = (B, I, T, D)
LONGEST = 150  # characters of an expression: engines take seconds for those of thousands
COUNTS = ["count", "count", "count_units", "count_of"]
NUMBERS = ["sum", "sum", "mean", "mean", "variance", "std", "quantile", "median", "histogram"]
LISTED = ["histogram_of", "top_k", "most_common"]

Pools = dict[str, list[Any]]


def question(
    random: Random, kinds: dict[str, Type], pools: Pools, unit: str | None, source: Source
) -> dict[str, Any]:
    """The parts of a case that are the question."""
    nul = source.form != "postgres"
    steps = tuple(
        _step(random, i, kinds, pools, nul) for i in range(random.choice([0, 0, 1, 2, 3]))
    )
    added = {f"k{i}": T for i, step in enumerate(steps) if isinstance(step, Join)}
    keys = _keys(random, kinds, pools, added)
    count = random.choice([1, 1, 2, 3, 5])
    aggregates = tuple(_aggregate(random, f"a{i}", kinds, pools) for i in range(count))
    return {
        "steps": steps,
        "bound": _bound(random) if unit else (),
        "keys": keys,
        "aggregates": aggregates,
    }


def tree(random: Random, kind: Type, depth: int) -> Expression:
    """An expression that a lambda can say."""
    while True:
        made = expression(random, kind, depth)
        if kind is B and depth > 1:  # that a good part of the rows pass
            made = Expression("or", (expression(random, kind, 1), made))
        try:
            if len(code(made)) <= LONGEST:
                return made
        except ValueError:
            continue


def _step(random: Random, i: int, kinds: dict[str, Type], pools: Pools, nul: bool) -> Step:
    stored = [name for name in kinds if name not in ("u", "r", "q")]
    match random.randrange(5):
        case 0:
            return Where(tree(random, B, 2))
        case 1:
            names = random.sample(stored, 2)
            return Mutate(tuple((name, tree(random, kinds[name], 2)) for name in names))
        case 2:
            name = random.choice(stored)
            same = [other for other in kinds if other not in (name, "u")]
            made = (name, tree(random, kinds[name], 2))
            return Select((made, *((other, column(other)) for other in same)))
    return _join(random, i, kinds, pools, nul)


def _join(random: Random, i: int, kinds: dict[str, Type], pools: Pools, nul: bool) -> Join:
    """Up to two keys; what is looked up is a text `k{i}` and a number."""
    names = [name for name in kinds if kinds[name] in KEYS and name not in ("u", "r", "q")]
    on = tuple(random.sample(names, random.choice([1, 1, 1, 2])))
    cells = [_near(random, kinds[name], pools[name], nul) for name in on]
    size = random.choice([1, 2, 3, 6])
    keys = [tuple(random.choice(cell) for cell in cells) for _ in range(size)]
    distinct = random.random() < 0.6
    if distinct:
        keys = list(dict.fromkeys(keys))
    rows = tuple((*key, random.choice(["a", "b", "é"]), random.randrange(100)) for key in keys)
    columns = tuple(
        _public_column(random, f"p{j}", kinds[n], cells[j], odd=not distinct)
        for j, n in enumerate(on)
    )
    added = (Column(f"k{i}", "pa.string()"), Column(f"n{i}", "pa.int64()"))
    return Join(on, Public((*columns, *added), rows, random.choice(FORMS)))


def _near(random: Random, kind: Type, cells: list[Any], nul: bool) -> list[Any]:
    """Cells that are there, and others, in spellings that a careless comparison would equate."""
    more = few(random, kind, PLAIN[kind], nul=nul)
    if kind is T:
        more += [change(cell) for cell in cells for change in (str.upper, str.lower, str.title)]
    found = [cell for cell in [*cells, *more] if fits(cell, PLAIN[kind])]
    return [cell for cell in found if nul or "\0" not in str(cell)]


def _public_column(
    random: Random, name: str, kind: Type, cells: list[Any], *, odd: bool = False
) -> Column:
    stored = random.choice(KINDS[kind])
    if not all(fits(cell, stored) for cell in cells):
        stored = PLAIN[kind]
    encoding = random.choice(
        ["plain", "dictionary", "repeated", "repeated", "run-end"] if odd else ENCODED
    )
    if kind is D and random.random() < 0.1:
        return Column(name, "pa.date64()", "unaligned")
    if "view" in stored and encoding in ("dictionary", "run-end"):
        stored = "pa.string()"
    return Column(name, stored, encoding)


def _keys(
    random: Random, kinds: dict[str, Type], pools: Pools, added: dict[str, Type]
) -> Keys | None:
    if random.random() < 0.3:
        return None
    known = {**{n: k for n, k in kinds.items() if k in KEYS and n not in ("u", "r", "q")}, **added}
    columns = tuple(random.sample(list(known), random.choice([1, 1, 2])))
    form = random.choice(["list", "list", "dict", "table", "table", "range", "discover"])
    if form == "discover":
        return Keys(columns, form)
    cells = [
        _near(random, known[name], pools.get(name, ["a", "b"]), "\0" not in str(pools))
        for name in columns
    ]
    cells = [[cell for cell in found if "\0" not in str(cell)] or found for found in cells]
    if form == "range" and known[columns[0]] is I:
        start = random.randrange(-3, 10)
        return Keys(columns[:1], "range", (tuple(range(start, start + random.randrange(1, 8))),))
    if form == "table":
        rows = list({tuple(random.choice(found) for found in cells) for _ in range(4)})
        rows.sort(key=str)
        if random.random() < 0.1:
            rows.append(rows[0])
        made = tuple(
            _public_column(random, n, known[n], c) for n, c in zip(columns, cells, strict=True)
        )
        return Keys(columns, form, table=Public(made, tuple(rows), random.choice(FORMS)))
    lists = tuple(
        tuple(dict.fromkeys(random.choice(found) for _ in range(random.choice([1, 2, 4]))))
        for found in cells
    )
    if form != "dict" and len(columns) > 1:
        size = min(map(len, lists))
        lists = tuple(values[:size] for values in lists)
    return Keys(columns, "dict" if form == "dict" else "list", lists)


def _bound(random: Random) -> tuple[tuple[str, int], ...]:
    if random.random() < 0.4:
        return (("max_rows", random.choice([1, 2, 3, 100])),)
    groups, rows = random.choice([1, 2, 100]), random.choice([1, 2, 3, 100])
    return (("max_groups", groups), ("max_rows_per_group", rows))


def _aggregate(random: Random, name: str, kinds: dict[str, Type], pools: Pools) -> Aggregate:
    function = random.choice([*COUNTS, *NUMBERS, *LISTED])
    match function:
        case "count" | "count_units":
            return Aggregate(name, function)
        case "count_of":
            kind = random.choice([B, I, R, T, D, M])
            return Aggregate(name, "count", _value(random, kind))
        case "histogram_of" | "top_k" | "most_common":
            return _listed(random, name, function, kinds, pools)
    kind = random.choice([I, R])
    value = _value(random, kind)
    if function == "histogram":
        pool = LITERALS[I] if kind is I else LITERALS[R]
        edges = sorted({float(x) for x in random.sample(pool, 4)})
        edges = edges if len(edges) > 1 else [0.0, 1.0]
        return Aggregate(name, function, value, (("edges", edges),))
    bounds = ("bounds", random.choice(BOUNDS if kind is I else REAL_BOUNDS))
    if function in ("quantile", "median"):
        low, high = random.choice([(0, 60), (-5, 20), (0, 1)])
        options: list[tuple[str, Any]] = [("bounds", (low, high))]
        if function == "quantile":
            options.insert(0, ("", random.choice([0.5, [0.25, 0.75], [0.1, 0.5, 0.9]])))
        return Aggregate(name, function, value, tuple(options))
    return Aggregate(name, function, value, (bounds,))


def _value(random: Random, kind: Type) -> Expression:
    """A column mostly, so that it meets the nasty cells as they are."""
    return tree(random, kind, random.choice([0, 0, 1, 2]))


def _listed(
    random: Random, name: str, function: str, kinds: dict[str, Type], pools: Pools
) -> Aggregate:
    here = random.choice(
        [n for n, kind in kinds.items() if kind in KEYS and n not in ("u", "r", "q")]
    )
    cells = [c for c in _near(random, kinds[here], pools[here], True) if "\0" not in str(c)]
    listed = list(dict.fromkeys(cells)) or [True]
    if kinds[here] is T and random.random() < 0.2:  # long lists are looked up in another way
        listed += [f"no {i}" for i in range(40)]
    if function == "histogram_of":
        return Aggregate(name, "histogram", column(here), (("categories", listed),))
    options: tuple[tuple[str, Any], ...] = (("candidates", listed),)
    if function == "top_k":
        options = (("", random.randrange(1, len(listed) + 1)), *options)
    return Aggregate(name, function, column(here), options)
