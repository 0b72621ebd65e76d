"""Attacks B1 to B14 on private queries: neighbours are replayed, and what reaches the noise may
differ by no more than what was declared."""

import datetime
import math
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend

from .tables import Replay, check_neighbours, compare

WIDE = {"bounds": (-(2**63), 2**63)}


def aggregates(bounds):
    """Every aggregate of a number."""
    box = {"bounds": bounds}
    middle = (bounds[0] + bounds[1]) / 2
    return {
        "n": dp.count(),
        "there": dp.count("x"),
        "s": dp.sum("x", **box),
        "m": dp.mean("x", **box),
        "v": dp.variance("x", **box),
        "q": dp.quantile("x", [0.25, 0.5], **box),
        "h": dp.histogram("x", edges=[bounds[0], middle, bounds[1]]),
    }


def asked(x, bounds, *, relation="add-remove"):
    return dp.table(x, relation=relation).agg(**aggregates(bounds))


def column(values, dtype):
    return pa.table({"x": pa.array(values, dtype)})


INTEGERS = [pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]


def edge_values(kind):
    signed = not str(kind).startswith("u")
    bits = kind.bit_width
    return [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] if signed else [0, 2**bits - 1]


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_b1_no_sum_overflows(kind):
    """B1: neighbours at the edges of every integer type. A wrapped sum differs by 2^64."""
    low, high = edge_values(kind)
    for bounds in [(low, high), (0, min(high, 1000)), WIDE["bounds"]]:
        full = [high] * 3
        without = Replay.of(asked(column(full, kind), bounds))
        with_low = Replay.of(asked(column([*full, low], kind), bounds, relation="replace"))
        with_high = Replay.of(asked(column([*full, high], kind), bounds, relation="replace"))
        compare(with_low, with_high)
        for more in (with_low, with_high):
            compare(without, more)


def test_b1_sums_beyond_64_bits_are_exact():
    """B1: a total that no 64-bit integer holds comes back whole, and is released."""
    table = dp.table(column([2**62] * 9, pa.int64()))
    query = table.agg(s=dp.sum("x", bounds=(0, 2**62)))
    replay = Replay.of(query)
    ((part, exact),) = replay.exact.items()
    assert int(exact[0]) * part.step == 9 * 2**62
    result = dp.Session(table, budget=dp.Pure(10**6)).release(query, epsilon=10**6)
    answer = result.value("s")
    assert abs(int(answer.value) - 9 * 2**62) <= 10 * answer.error


def test_b2_no_float_sum():
    """B2 (Casacuberta et al.): M = 2^50, n = 4096; a float sum moves by 1024 where 1 is ideal."""
    m = 2.0**50
    x = [m] + [m + 0.25] * 4095
    y = [m + 1] + [m + 0.25] * 4095
    shares = check_neighbours(
        asked(column(x, pa.float64()), (0, 2.0**51), relation="replace"),
        asked(column(y, pa.float64()), (0, 2.0**51), relation="replace"),
    )
    assert max(shares) <= 1


def test_b2_fuzzed_neighbours_at_every_exponent():
    """B2: 2,000 rows of doubles at exponents 2^0 to 2^52, one replaced, 60 times."""
    draw = random.Random(2)
    for _ in range(60):
        exponent = draw.randrange(53)
        rows = [draw.choice([-1, 1]) * draw.random() * 2.0 ** draw.randrange(exponent + 1)
                for _ in range(2000)]  # fmt: skip
        other = [*rows]
        other[draw.randrange(2000)] = draw.choice([-1, 1]) * draw.random() * 2.0**exponent
        limit = 2.0**exponent
        here = dp.table(column(rows, pa.float64()), relation="replace")
        there = dp.table(column(other, pa.float64()), relation="replace")
        s = {"s": dp.sum("x", bounds=(-limit, limit))}
        check_neighbours(here.agg(**s), there.agg(**s))


def test_b3_row_order_does_not_matter():
    """B3: the same rows in 100 orders, and [2^53] + [1]·1000: exact answers are identical."""
    rows = [2.0**53, *[1.0] * 1000, math.inf, -math.inf, math.nan, -0.0, 0.1, 1e-300]
    seen = set()
    for turn in range(100):
        order = random.Random(turn).sample(rows, len(rows))
        table = dp.table(column(order, pa.float64()))
        query = table.agg(n=dp.count("x"), s=dp.sum("x", bounds=(-(2.0**60), 2.0**60)))
        exact = Replay.of(query).exact
        seen.add(str([values.tolist() for values in exact.values()]))
    assert len(seen) == 1


def test_b3_output_order_does_not_depend_on_rows():
    """B3: discovered keys come sorted, whatever order the rows have."""
    keys = [k for k in "dacbe" for _ in range(400)]
    frames = [pa.table({"k": keys}), pa.table({"k": keys[::-1]})]
    for frame in frames:
        table = dp.table(frame)
        session = dp.Session(table, budget=dp.Approx(10, 1e-3))
        query = table.group_by("k", keys="discover").agg(n=dp.count())
        found = session.release(query, epsilon=5, delta=1e-4).to_arrow()["k"].to_pylist()
        assert found == list("abcde")


@pytest.mark.parametrize("bounds", [(0, 1), (0, 3), (-2, 1), (5, 6), (1, 256), (-1, 0), (0, 100)])
@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.float32(), pa.float64()], ids=str)
def test_b4_and_b10_bounds_of_odd_width_and_off_centre(bounds, kind):
    """B4: half of an odd width is not rounded down. B10: (0, 100), (-1, 0), (5, 6) use both ends,
    and no sensitivity is 0. The measured distance reaches what is declared for sums."""
    reached = 0.0
    ends = [v for v in bounds if kind != pa.int8() or -128 <= v < 128]
    nobody = Replay.of(asked(column([], kind), bounds))
    for more in ends:
        shares = compare(nobody, Replay.of(asked(column([more], kind), bounds)))
        reached = max(reached, *shares)
    assert reached == 1
    bought = nobody.plan.bought.values()
    assert all(one.sensitivity.l1 > 0 for one in bought if hasattr(one, "noise"))


NASTY = {
    "x": [math.nan, -math.nan, math.inf, -math.inf, -0.0, None, 5e-324, 2.0**53 + 1, 1e308, -1e308],
    "k": [None, "", "A", "unlisted", "a" * 10_000, "ü\u202e", "'; DROP TABLE", "\x00"],
    "d": [None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
}


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_b5_one_nasty_record(relation):
    """B5: NaN, infinities, −0.0, null, subnormal, out of range, empty text as the one record that
    differs: same plan, same shapes, no more than the declared distance, and a released answer
    with no NaN in it."""
    base = {"x": [1.0, 2.0, 3.0], "k": ["A", "B", "A"], "d": [datetime.date(2026, 1, 1)] * 3}
    schema = pa.schema([("x", pa.float64()), ("k", pa.string()), ("d", pa.date32())])

    def query(rows):
        table = dp.table(pa.table(rows, schema=schema), relation=relation)
        table = table.mutate(
            y=lambda row: row.x / (row.x - 1), year=lambda row: row.d.year(), k2=lambda row: row.k
        )
        kept = table.where(lambda row: (row.x < 1e9) | row.k.is_null() | row.x.is_null())
        box = {"bounds": (0, 10)}
        return kept.group_by("k", keys=["A", "B", "C"]).agg(
            n=dp.count(),
            m=dp.mean("x", **box),
            s=dp.sum("y", **box),
            v=dp.std("x", **box),
            q=dp.median("y", **box),
            y=dp.sum("year", bounds=(0, 3000)),
            t=dp.most_common("k2", candidates=["A", "B"]),
            h=dp.histogram("x", edges=[0, 5, 10]),
        )

    normal = query({name: [*values, values[0]] for name, values in base.items()})
    without = query(base)
    usual = Replay.of(normal if relation == "replace" else without)
    records = [{"x": x} for x in NASTY["x"]] + [{"k": k} for k in NASTY["k"]]
    records += [{"d": d} for d in NASTY["d"]]
    for record in records:
        one = {"x": 1.0, "k": "A", "d": datetime.date(2026, 1, 1)} | record
        nasty = query({name: [*values, one[name]] for name, values in base.items()})
        there = Replay.of(nasty)
        compare(usual, there)
        outputs = there.plan.outputs(there.plan.draw(there.columns))
        for output in outputs:
            assert len(output.values) == len(output.error) == 3
            assert all(v is not None and v == v for v in [*output.values, *output.error])


def test_b6_the_true_number_of_rows_never_reaches_an_unnoised_path():
    """B6: {0} against {0, 1}: the noise of a mean is the same, and what is released is a function
    of noisy numbers alone."""
    few, more = column([0.0], pa.float64()), column([0.0, 1.0], pa.float64())
    queries = [dp.table(x).agg(m=dp.mean("x", bounds=(0, 1))) for x in (few, more)]
    plans = [make_plan(query, Spend.read(epsilon=1)) for query in queries]
    sizes = [[float(one.size) for one in plan.bought.values()] for plan in plans]
    assert sizes[0] == sizes[1]
    replay = Replay.of(queries[0])
    drawn = {part: np.array([5]) for part in replay.plan.bought}
    same = [plan.outputs(drawn) for plan in plans]
    assert same[0][0].values == same[1][0].values and same[0][0].error == same[1][0].error


@pytest.mark.parametrize("rows", [2, 3, 4])  # the bound is 3: one below, at, one above
@pytest.mark.parametrize("bound", [{"max_rows": 3}, {"max_groups": 3, "max_rows_per_group": 3}])
def test_b7_and_b8_sizes_around_the_bound(rows, bound):
    """B7, B8: with one row fewer, as many, or one more than the bound, another person's rows stay
    what they were, in any order: only the person who changes moves the answer."""
    others = [("b", "A", 1), ("b", "B", 2), ("b", "A", 2), ("b", "A", 2), ("c", "B", 9)]
    mine = [("a", key, value) for key, value in [("A", 1), ("B", 2), ("A", 3), ("A", 3)][:rows]]

    def query(people):
        names = ("id", "k", "x")
        kinds = (pa.string(), pa.string(), pa.int64())
        lists = zip(*people, strict=True)
        data = {n: pa.array(v, t) for n, v, t in zip(names, lists, kinds, strict=True)}
        table = dp.table(pa.table(data), unit="id").bound(**bound)
        return table.group_by("k", keys=["A", "B"]).agg(
            n=dp.count(), u=dp.count_units(), s=dp.sum("x", bounds=(0, 10))
        )

    with_me = [*others, *mine]
    check_neighbours(query(others), query(with_me))
    check_neighbours(query(with_me), query(with_me[::-1]))
    a, b = Replay.of(query(with_me)).exact, Replay.of(query(with_me[::-1])).exact
    assert [v.tolist() for v in a.values()] == [v.tolist() for v in b.values()]


def test_b9_all_cells_move_at_once():
    """B9: a person in every group: the measured l2 is what Gaussian noise was scaled to."""
    keys = list("ABCDEFGH")
    rows = {"id": ["me"] * 16, "k": keys * 2, "x": [1] * 16}
    table = dp.table(pa.table(rows), unit="id").bound(max_groups=8, max_rows_per_group=2)
    empty = dp.table(pa.table(rows).slice(0, 0), unit="id").bound(
        max_groups=8, max_rows_per_group=2
    )
    queries = [t.group_by("k", keys=keys).agg(n=dp.count()) for t in (empty, table)]
    assert check_neighbours(*queries, rho=1) == [1.0]
    (noise,) = make_plan(queries[0], Spend.read(rho=1)).bought.values()
    assert float(noise.sensitivity.l2) == pytest.approx(2 * math.sqrt(8), rel=1e-12)


@pytest.mark.parametrize(
    "aggregate",
    [
        lambda: dp.sum("x"),
        lambda: dp.mean("x"),
        lambda: dp.variance("x"),
        lambda: dp.std("x"),
        lambda: dp.quantile("x", 0.5),
        lambda: dp.median("x"),
        lambda: dp.histogram("x"),
    ],
)
def test_b11_no_bounds_no_answer(aggregate):
    """B11: unknown sensitivity is an error before any data is read."""
    with pytest.raises(InvalidArgument, match=r"bounds|edges"):
        dp.table(pa.table({"x": [1.0]})).agg(a=aggregate())


def test_b12_the_clamped_value_is_the_one_that_is_summed():
    """B12: an outlier of 1e9 counts as the bound, in every aggregate."""
    rows = [1.0, 2.0, 3.0]
    for outlier in (1e9, -1e9, 1e300):
        check_neighbours(
            asked(column(rows, pa.float64()), (0, 10)),
            asked(column([*rows, outlier], pa.float64()), (0, 10)),
        )


def test_b13_a_key_that_is_rewritten_after_the_bound():
    """B13: truncate by (id, group), then redefine the group: the engine still keeps one person
    within the bound, over the groups as they are then."""
    rows = {"id": [1] * 100, "g": ["same"] * 100, "x": list(range(100))}
    table = dp.table(pa.table(rows), unit="id").bound(max_groups=2, max_rows_per_group=1)
    table = table.mutate(g=lambda row: row.x)
    query = table.group_by("g", keys=range(100)).agg(n=dp.count())
    empty = dp.table(pa.table(rows).slice(0, 0), unit="id").bound(
        max_groups=2, max_rows_per_group=1
    )
    empty = empty.mutate(g=lambda row: row.x)
    other = empty.group_by("g", keys=range(100)).agg(n=dp.count())
    assert check_neighbours(other, query) == [1.0]


def test_b14_listed_keys_do_not_depend_on_the_data():
    """B14: a key of one person that is not listed, and one that is listed and nobody has."""
    for rows in ({"k": ["A", "rare"]}, {"k": ["A"]}, {"k": pa.array([], pa.string())}):
        table = dp.table(pa.table(rows))
        session = dp.Session(table, budget=dp.Pure(1))
        query = table.group_by("k", keys=["B", "A"]).agg(n=dp.count())
        assert session.release(query, epsilon=1).to_arrow()["k"].to_pylist() == ["B", "A"]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_b14_a_discovered_key_of_one_person_is_shown_with_delta_at_most(relation):
    """B14: the exact probability that any of one person's keys is shown is at most δ."""
    rows = {"id": [1, 1, 1], "k": ["a", "b", "c"]}
    table = dp.table(pa.table(rows), unit="id", relation=relation)
    table = table.bound(max_groups=3, max_rows_per_group=1)
    query = table.group_by("k", keys="discover").agg(n=dp.count())
    plan = make_plan(query, Spend.read(epsilon=1, delta=1e-3))
    one = plan.finder.mechanism.law(1).pmf(True)
    assert 3 * one * (2 if relation == "replace" else 1) <= 1e-3 * (1 + 1e-12)
    assert plan.finder.mechanism.law(0).pmf(True) == 0


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_b14_types_come_from_metadata(make):
    """B14: whatever holds the rows, the schema is that of the columns, not of the values."""
    few, more = make({"x": [1, 2]}), make({"x": [1, 2, 3]})
    assert dp.table(few).schema == dp.table(more).schema
