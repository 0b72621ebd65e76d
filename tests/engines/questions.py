"""Random requests on the tables of `tables`: steps, keys and measures, all from one number."""

from fractions import Fraction
from random import Random

import pyarrow as pa

from discreet.query.contribution import ContributionBound
from discreet.query.expressions import Typed, column, typed
from discreet.query.keys import DiscoveredKeys, Keys, read_keys
from discreet.query.measures import (
    AllRows,
    CategoryBins,
    EdgeBins,
    Grid,
    GridBins,
    Measure,
    Present,
    Total,
    Units,
    choose_grid,
)
from discreet.query.public import PublicTable
from discreet.query.request import Join, Mutate, Request, Select, Step, Where
from discreet.query.schema import Field, Schema, Type
from tests.engines.tables import COLUMNS, RAW, SCHEMA, VALUES, B, D, I, M, R, T
from tests.engines.trees import LITERALS, expression

TABLES = 40  # tables put below each other, told apart by a column
WITH_TABLE = Schema((*SCHEMA.fields, Field("z", I, False), Field("u", I)))
WHOLE_BOUNDS = [(0, 60), (-5, 10**18), (-(10**12), 10**12), (-1, 1), (18, 19)]
BOUNDS = [*WHOLE_BOUNDS, (-5, 10**99), (Fraction(1, 3), 7), (0, Fraction(1, 10**300))]


def value(random: Random, kind: Type, depth: int = 2) -> Typed:
    """A random expression that fits."""
    while True:
        tree = expression(random, kind, depth)
        try:
            return typed(tree, WITH_TABLE)
        except ValueError:  # a cast of a literal, say
            continue


def steps(random: Random) -> tuple[Step, ...]:
    """Up to three steps that leave every column with the type it had."""
    made: list[Step] = []
    for _ in range(random.randrange(4)):
        names = random.sample([n for n, kind in COLUMNS.items() if kind is not RAW], 3)
        fresh = tuple((name, value(random, COLUMNS[name])) for name in names)
        match random.randrange(4):
            case 0:
                made.append(Where(_mostly(random)))
            case 1:
                made.append(Mutate(fresh))
            case 2:
                others = [n for n in (*COLUMNS, "z") if n not in names]
                same = tuple((name, typed(column(name), WITH_TABLE)) for name in others)
                made.append(Select(fresh + same))
            case 3:
                made.append(_join(random))
    return tuple(made)


def _mostly(random: Random) -> Typed:
    """A condition that a good part of the rows pass."""
    either = value(random, B, 1), value(random, B, 2)
    return Typed("or", either, None, B, True)


def _join(random: Random) -> Join:
    keys = random.sample(VALUES[T], 30)
    table = pa.table(
        {
            "k": keys,
            "amount": pa.array([random.choice([*VALUES[R], None]) for _ in keys], pa.float64()),
            "day": pa.array([random.choice([*VALUES[D], None]) for _ in keys], pa.date32()),
        }
    )
    on, added = ((value(random, T, 1), "k"),), (("y", "amount"), ("d", "day"))
    return Join(table, on, added, PublicTable(table, table))


def grid(random: Random, kind: Type) -> Grid:
    lower, upper = random.choice(BOUNDS if kind is R else WHOLE_BOUNDS)
    ends = Fraction(lower), Fraction(upper)
    return choose_grid(ends, whole=kind is I, centred=random.random() < 0.5)


def numbers(random: Random, size: int) -> tuple[Measure, ...]:
    """Measures that are single numbers."""
    made: list[Measure] = [AllRows(), Units()]
    while len(made) < size:
        kind = random.choice([I, R])
        match random.randrange(4):
            case 0:
                made.append(Present(value(random, random.choice([B, I, R, T, D, M]))))
            case 1:
                made.append(Total(value(random, kind, 0), grid(random, kind)))
            case 2:
                made.append(Total(value(random, kind), grid(random, kind)))
            case 3:
                shift, offset = random.choice([0, 1, 30]), random.choice([0, 12345])
                squares = Total(value(random, kind), grid(random, kind), True, shift, offset)
                made.append(squares)
    return tuple(dict.fromkeys(made))


def bins(random: Random, which: int) -> Measure:
    """A measure that has bins."""
    kind, listed = random.choice([I, R]), random.choice([I, T, D])
    match which % 3:
        case 0:
            return GridBins(value(random, R, 1), Grid(1, -7, 40))
        case 1:
            edges = sorted(set(random.sample(LITERALS[R], 6)))
            return EdgeBins(value(random, kind, 1), tuple(edges))
    categories = random.sample(VALUES[listed], random.randrange(1, len(VALUES[listed])))
    return CategoryBins(value(random, listed, 1), tuple(categories))


def keys(random: Random, kind: Type | None) -> tuple[tuple[tuple[str, Typed], ...], Keys | None]:
    """The table's number, and maybe a column of a type: present keys, absent ones, not all."""
    number = typed(column("z"), WITH_TABLE)
    if kind is None:
        return (("z", number),), read_keys(("z",), range(-1, TABLES + 2), types=(I,))
    second = value(random, kind, 1)
    pool = LITERALS[kind] if kind is not T else [*LITERALS[T], *VALUES[T]]
    listed = list(dict.fromkeys(random.sample(pool, len(pool) // 2 + 1)))
    crossed = {"z": range(TABLES), "key": listed}
    return (("z", number), ("key", second)), read_keys(("z", "key"), crossed, types=(I, kind))


def request(seed: int, *, size: int) -> Request:
    """The request of this number; different ones have bounds, keys and bins of different kinds."""
    random = Random(seed)
    bound = (
        None,
        ContributionBound(10**6, 10**6, None),
        None,
        ContributionBound(None, None, 10**6),
    )[seed % 4]
    group, listed = keys(random, (B, T, I, None, D)[seed % 5])
    if seed % 5 == 3:
        listed = DiscoveredKeys()
    measures = (*numbers(random, size), bins(random, seed))
    unit = "u" if bound else None
    return Request(steps(random), unit, group, listed, bound, measures, random.getrandbits(64))
