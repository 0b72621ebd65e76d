"""Cases from a seed: sources, tables and their neighbours. `asking` draws the questions."""

from random import Random
from typing import Any

from discreet.query.schema import Type
from tests.engines.tables import COLUMNS, RAW, D, I, M, T
from tests.fuzz.asking import question
from tests.fuzz.case import Case, Column, Neighbour, Row, Source
from tests.fuzz.values import KINDS, NEAR, PLAIN, few

ENCODED = ["plain"] * 20 + ["dictionary", "repeated", "chunked", "sliced"] * 3
ENCODED += ["run-end", "extension"]
FRAMES = ["arrow"] * 5 + ["dataset", "pandas", "pandas-nullable", "polars", "lazy", "relation"]
FRAMES += ["ibis", "memtable", "records"]
PATTERNS = {
    "one": ("{0}",),
    "star": ("*.{end}",),
    "all": ("{0}", "{1}"),
    "overlap": ("a*.{end}", "{1}"),
    "twice": ("{0}", "{0}", "{1}"),
    "dot": ("{0}", "./{0}", "{1}"),
    "link": ("{0}", "link.{end}", "{1}"),
    "linked": ("*.{end}", "link.{end}"),
}
CONFUSED = {"pa.uint64()": [2**63 - 1, 2**63, 2**63 + 1], "pa.timestamp('ns')": NEAR}
COLLATIONS = ["", "", "C", "anycase", "plain_letters", "numeric_order"]


def draw(seed: object, engine: str) -> Case:
    """The case of this seed."""
    random = Random(f"{engine} {seed}")
    source = _source(random, engine)
    unit = random.choice([None, "u", "u"])
    relation = random.choice(["add-remove", "add-remove", "replace"])
    kinds = {**{n: T if k is RAW else k for n, k in COLUMNS.items()}, "u": _unit(random)}
    columns = tuple(_column(random, name, kind, source) for name, kind in kinds.items())
    nul = source.form != "postgres"
    pools = {c.name: few(random, kinds[c.name], c.kind, nul=nul) for c in columns}
    pools["u"] = _people(random, kinds["u"], columns[-1].kind, pools["u"])
    rows, base, others = _tables(random, source, columns, pools, unit, relation)
    asked = question(random, kinds, pools, unit, source)
    spend = random.choice(
        [
            (("epsilon", 1),),
            (("epsilon", 1), ("delta", 1e-6)),
            (("rho", 0.5), ("delta", 1e-6)),
            (("mu", 1), ("delta", 1e-6)),
        ]
    )
    if asked["keys"] is None or asked["keys"].form != "discover":
        spend = spend[: 1 if spend[0][0] != "epsilon" else 2]
    elif len(spend) == 1:
        spend = (*spend, ("delta", 1e-6))
    return Case(
        source=source,
        columns=columns,
        rows=rows,
        base=base,
        others=others,
        unit=unit,
        relation=relation,
        spend=spend,
        salt=random.getrandbits(64),
        **asked,
    )


def _source(random: Random, engine: str) -> Source:
    if engine == "spark":
        return Source("spark")
    if engine == "postgres":
        database = random.choice(["", "", "other_order"])
        return Source("postgres", collation=random.choice(COLLATIONS), database=database)
    if random.random() < 0.6:
        return Source(random.choice(FRAMES))
    form = random.choice(["csv", "parquet"])
    files = (f"a.{form}", f"ab.{form}")
    name = random.choice(list(PATTERNS))
    if name == "one":
        files = files[:1]
    patterns = tuple(p.format(*files, *files, end=form) for p in PATTERNS[name])
    return Source(form, files, patterns, declared=form == "csv" and random.random() < 0.8)


def _unit(random: Random) -> Type:
    return random.choice([I, I, I, I, T, T, D, M])


def _column(random: Random, name: str, kind: Type, source: Source) -> Column:
    if source.form in ("csv", "records", "pandas-nullable", "postgres", "spark"):
        return Column(name, PLAIN[kind])
    stored = random.choice(KINDS[kind])
    encoding = "plain"
    if source.form in ("arrow", "dataset"):
        encoding = random.choice(ENCODED)
    elif source.form in ("polars", "lazy", "parquet", "relation", "ibis"):
        encoding = random.choice(["plain", "plain", "dictionary", "chunked"])
    if "view" in stored and (encoding in ("dictionary", "run-end") or source.form != "arrow"):
        stored = "pa.string()"
    nullable = random.random() < 0.7 or encoding in ("sliced", "unaligned")
    return Column(name, stored, encoding, nullable)


def _people(random: Random, kind: Type, stored: str, pool: list[Any]) -> list[Any]:
    """Few people; some that a query might take for each other, since its types are narrower."""
    if stored in CONFUSED:
        return [*pool[:2], *CONFUSED[stored]]
    if kind is I and random.random() < 0.6:
        return list(range(random.choice([2, 4, 8])))
    return pool


def _tables(
    random: Random,
    source: Source,
    columns: tuple[Column, ...],
    pools: dict[str, list[Any]],
    unit: str | None,
    relation: str,
) -> tuple[tuple[Row, ...], tuple[int, ...], tuple[Neighbour, ...]]:
    """Rows, the numbers of those in the table, and the neighbours."""
    missing = {c.name: c.nullable and random.random() < 0.5 for c in columns}

    def row(**cells: Any) -> Row:
        made = [
            None if missing[c.name] and random.random() < 0.2 else random.choice(pools[c.name])
            for c in columns
        ]
        for name, cell in cells.items():
            made[[c.name for c in columns].index(name)] = cell
        return (*made, random.randrange(len(source.files))) if source.files else tuple(made)

    rows: list[Row] = []
    for _ in range(random.choice([0, 1, 2, 4, 8, 12])):
        twin = rows and random.random() < 0.15
        rows.append(random.choice(rows) if twin else row())
    base = tuple(range(len(rows)))
    others: list[Neighbour] = []
    for _ in range(random.choice([4, 5, 6, 8])):
        who = random.choice(pools["u"])
        size = 1 if unit is None else random.choice([1, 1, 2, 5])
        cells = {} if unit is None else {unit: who}
        nobody = unit is not None and missing[unit] and random.random() < 0.15
        if nobody:
            cells = {"u": None}
        place = [c.name for c in columns].index("u")
        if unit is None or nobody:
            mine = []
        else:
            mine = [n for n in base if rows[n][place] == who and type(rows[n][place]) is type(who)]
        fresh = tuple(range(len(rows), len(rows) + size))
        leaves = mine or (unit is None and base and random.random() < 0.7)
        if leaves:  # without them; replaced, somebody else or the same person comes
            gone = mine if unit is not None else [random.choice(base)]
            stay = tuple(n for n in base if n not in gone)
            if relation == "replace":
                if unit is not None and random.random() < 0.5:
                    strangers = [p for p in pools["u"] if not _is_there(rows, stay, place, p)]
                    cells = {unit: random.choice(strangers or [who])}
                rows += [row(**cells) for _ in fresh]
                stay = (*fresh, *stay) if random.random() < 0.5 else (*stay, *fresh)
            others.append(Neighbour(stay))
        elif relation == "add-remove" or nobody:
            rows += [row(**cells) for _ in fresh]
            others.append(Neighbour((*base, *fresh), "nobody" if nobody else "person"))
    return tuple(rows), base, tuple(others)


def _is_there(rows: list[Row], numbers: tuple[int, ...], place: int, person: Any) -> bool:
    return any(rows[number][place] == person for number in numbers)
