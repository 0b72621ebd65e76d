"""What is kept of each person: the bound, fairness, and that order cannot matter.

Each law is tested on both ways to bound: by sorting (DuckDB) and in SQL (every engine).
"""

import math
from collections import Counter, defaultdict
from typing import Any

import ibis.expr.datatypes as dt
import numpy as np
import pyarrow as pa
import pytest

from discreet.engines import row_sampling
from discreet.engines.duckdb import DuckDb
from discreet.engines.engine import Engine, call, signed
from discreet.engines.row_sampling import Layout, kept
from discreet.engines.sources import open_source
from discreet.query.contribution import ContributionBound
from discreet.query.measures import AllRows, Grid, GridBins, Total, Units
from tests.engines.asking import ask, cell

Row = tuple[Any, Any, int]  # person, ward, mark
KEYS = ["A", "B", "C", "D"]


@pytest.fixture(params=["by sorting", "in SQL"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "in SQL":
        monkeypatch.setattr(DuckDb, "query", Engine.query)
    return str(request.param)


def table(rows: list[Row]) -> pa.Table:
    people, wards, marks = zip(*rows, strict=True) if rows else ((), (), ())
    kind = pa.string() if any(isinstance(person, str) for person in people) else pa.int64()
    columns = [pa.array(people, kind), pa.array(wards, pa.string()), pa.array(marks, pa.int64())]
    return pa.table(columns, names=["person", "ward", "mark"])


def marks(
    rows: list[Row], bound: ContributionBound, *, salt: int = 7, most: int = 40
) -> np.ndarray[Any, Any]:
    """For each ward, how often each mark is kept; checked against the other measures."""
    source = open_source(table(rows))
    bins = GridBins(cell(source, "mark"), Grid(0, 0, most))
    asked = ask(source, bins, AllRows(), Units(), keys=KEYS, unit="person", bound=bound, salt=salt)
    answer = source.measure(asked).columns
    assert answer[AllRows()].tolist() == answer[bins].sum(axis=1).tolist()
    return answer[bins]


def random_rows(rng: np.random.Generator, *, text: bool) -> list[Row]:
    """Marks tell rows apart; some people and wards are missing, some wards are not listed."""
    people = [None, *(f"P{i}" if text else i * 10**17 for i in range(6))]
    wards = [None, *KEYS, "unlisted", "also"]
    return [
        (people[rng.integers(7)], wards[rng.integers(7)], mark)
        for mark in range(int(rng.integers(0, 41)))
    ]


@pytest.mark.parametrize("text", [False, True])
def test_nobody_keeps_more_and_nobody_less_than_the_bound(way: str, text: bool) -> None:
    # Catches a bound that unlisted or missing keys use up, people that are mixed up, lost rows.
    rng = np.random.default_rng(5)
    for _ in range(6):
        rows = random_rows(rng, text=text)
        groups, each = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        had = defaultdict(Counter[str])
        for person, ward, _ in rows:
            if person is not None and ward in KEYS:
                had[person][ward] += 1
        bins = marks(rows, ContributionBound(groups, each, None))
        of = {mark: (person, ward) for person, ward, mark in rows}
        held = defaultdict(Counter[str])
        for place, mark in zip(*np.nonzero(bins), strict=True):
            person, ward = of[int(mark)]
            assert ward == KEYS[place] and bins[place, mark] == 1
            held[person][ward] += 1
        assert set(held) == set(had)
        for person, wards in had.items():
            assert len(held[person]) == min(groups, len(wards))
            for ward, count in held[person].items():
                assert count == min(each, wards[ward])
        total = marks(rows, ContributionBound(None, None, each)).sum()
        assert total == sum(min(each, wards.total()) for wards in had.values())


def test_order_does_not_matter_and_the_salt_does(way: str) -> None:
    # Catches a choice by row order, by the numbering of people, or by nothing that the salt moves.
    rng = np.random.default_rng(11)
    rows: list[Row] = [
        (int(rng.integers(8)), KEYS[rng.integers(4)], int(rng.integers(3))) for _ in range(200)
    ]
    for bound in (ContributionBound(2, 3, None), ContributionBound(None, None, 5)):
        first = marks(rows, bound)
        for _ in range(3):
            shuffled = [rows[i] for i in rng.permutation(len(rows))]
            assert np.array_equal(marks(shuffled, bound), first)
        assert any(not np.array_equal(marks(rows, bound, salt=s), first) for s in (8, 9, 2**64 - 1))


# -- fairness --------------------------------------------------------------------------------------

PEOPLE = 6000  # each test below asks for a share of that many independent choices
WIDE = 6.1  # standard deviations: with 40 shares in all, a false alarm in 10^6 runs or fewer


def is_fair(hits: int, share: float, people: int = PEOPLE) -> bool:
    return abs(hits - people * share) <= WIDE * math.sqrt(people * share * (1 - share)) + 1


def group_shares() -> np.ndarray[Any, Any]:
    """Everybody is in A, B and C, with 1 to 3 rows; one group is kept.

    Three, since bits that are merely flipped share out halves and quarters, but no thirds.
    """
    rows = [
        (person, ward, 0)
        for person in range(PEOPLE)
        for size, ward in enumerate("ABC", start=1)
        for _ in range(size)
    ]
    return marks(rows, ContributionBound(1, 1, None), most=0)[:3, 0]


def test_every_group_is_kept_equally_often(way: str) -> None:
    # Catches a group that is chosen by its size, its place, or a hash that is not fair.
    assert all(is_fair(int(hits), 1 / 3) for hits in group_shares())


def test_an_unfair_hash_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    # The planted error: DuckDB's hash of several columns, once, is what it looks like.
    def once(self: Engine, salt: int, columns: Any) -> Any:
        return call("hash", dt.uint64, signed(salt), *columns)

    monkeypatch.setattr(DuckDb, "query", Engine.query)
    monkeypatch.setattr(DuckDb, "hashed", once)
    assert not all(is_fair(int(hits), 1 / 3) for hits in group_shares())


@pytest.mark.parametrize("bound", [ContributionBound(4, 1, None), ContributionBound(None, None, 1)])
def test_every_row_is_kept_equally_often_also_among_equals(
    way: str, bound: ContributionBound
) -> None:
    # Catches copies of a row that count as one, and rows that are chosen by their contents:
    # of five rows with the marks 0, 0, 0, 1, 2 one is kept.
    rows: list[Row] = [(p, "A", mark) for p in range(PEOPLE) for mark in (0, 0, 0, 1, 2)]
    hits = marks(rows, bound, most=2)[0]
    assert hits.sum() == PEOPLE
    for mark, share in enumerate((3 / 5, 1 / 5, 1 / 5)):
        assert is_fair(int(hits[mark]), share)
    assert not is_fair(int(hits[0]), 1 / 3), "the test could not tell"


def test_pairs_of_rows_are_kept_equally_often(way: str) -> None:
    # Catches neighbours in some order that are kept together: of 4 rows, 2 are kept, so 6 pairs.
    rows: list[Row] = [(p, "A", 1 << i) for p in range(PEOPLE) for i in range(4)]
    source = open_source(table(rows))
    pairs = Counter[int]()
    # Each person is a group of their own: the sum of the marks tells the pair.
    total = Total(cell(source, "mark"), Grid(0, 0, 8))
    asked = ask(
        source,
        total,
        group=("person",),
        keys=range(PEOPLE),
        unit="person",
        bound=ContributionBound(1, 2, None),
    )
    pairs.update(source.measure(asked).columns[total].tolist())
    assert sorted(pairs) == [3, 5, 6, 9, 10, 12]
    assert all(is_fair(hits, 1 / 6) for hits in pairs.values())


def test_choices_of_different_people_and_salts_are_independent(way: str) -> None:
    # Catches one choice for everybody: who keeps A under one salt may not tell who does so under
    # another. Each keeps A half of the time, so a quarter keeps it under both.
    rows: list[Row] = [(p, ward, p % 2) for p in range(PEOPLE) for ward in "AB"]
    source = open_source(table(rows))
    both = np.ones(PEOPLE, bool)
    for salt in (1, 2):
        asked = ask(
            source,
            AllRows(),
            group=("person", "ward"),
            keys={"person": range(PEOPLE), "ward": ["A", "B"]},
            unit="person",
            bound=ContributionBound(1, 1, None),
            salt=salt,
        )
        held = source.measure(asked).columns[AllRows()].reshape(PEOPLE, 2)
        assert held.sum() == PEOPLE and is_fair(int(held[:, 0].sum()), 1 / 2)
        both &= held[:, 0] == 1
    assert is_fair(int(both.sum()), 1 / 4)


# -- the array way alone ---------------------------------------------------------------------------


def test_people_in_parts_are_kept_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches a part of the people that is counted twice or never, and a choice that depends on it.
    rng = np.random.default_rng(3)
    rows: list[Row] = [
        (f"P{rng.integers(50)}", KEYS[rng.integers(4)], int(rng.integers(5))) for _ in range(900)
    ]
    bounds = (ContributionBound(2, 2, None), ContributionBound(None, None, 3))
    at_once = [marks(rows, bound) for bound in bounds]
    monkeypatch.setattr(row_sampling, "MOST_ROWS", 100)
    for bound, wanted in zip(bounds, at_once, strict=True):
        assert np.array_equal(marks(rows, bound), wanted)


def test_more_people_than_a_key_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches a packed key whose parts run into each other: people are taken in parts.
    rows: list[Row] = [(p % 7, KEYS[p % 4], p) for p in range(40)]
    at_once = marks(rows, ContributionBound(2, 2, None))
    monkeypatch.setattr(Layout, "most_people", 2)
    assert np.array_equal(marks(rows, ContributionBound(2, 2, None)), at_once)


def test_packed_keys_at_their_limits() -> None:
    # Catches a shift or a sign that is wrong where a key fills all 64 bits.
    layout = Layout.of(2)
    assert layout.most_people == 2**39
    person = np.repeat(np.array([0, 7], np.uint64), 4) << np.uint64(25)
    keys = person | np.array([2, 2, 4, 6, 2**25 - 1, 2**25 - 2, 3, 5], np.uint64)
    mask = kept(keys, [np.arange(8)], ContributionBound(2, 1, None), layout, salt=1)
    assert mask[:2].sum() == 1 and mask[2:].tolist() == [True, False, False, False, True, True]
    assert kept(keys[:0], [], ContributionBound(2, 1, None), layout, salt=1).tolist() == []


# -- others ----------------------------------------------------------------------------------------

BOUNDS = [
    ContributionBound(2, 1, None),
    ContributionBound(2, 3, None),
    ContributionBound(None, None, 3),
]


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
@pytest.mark.parametrize("listed", [True, False], ids=["listed", "discovered"])
@pytest.mark.parametrize("stranger", [10**18, -(10**18), 3000, "Q"])
def test_b7_whoever_joins_changes_nobody_else(
    way: str, bound: ContributionBound, listed: bool, stranger: Any
) -> None:
    # Catches a choice that depends on other people: on how many there are, on how far apart their
    # ids lie, or on which keys they bring. Each mark is one row, so that all rows are compared.
    rng = np.random.default_rng(8)
    name = (lambda p: f"P{p}") if isinstance(stranger, str) else int
    rows: list[Row] = [(name(p), KEYS[rng.integers(4)], mark) for mark, p in
                       enumerate(rng.integers(0, 1024, 6000))]  # fmt: skip
    more: list[Row] = [(stranger, ward, 6000) for ward in ["@", "A", "A", "A", "A", "Bb", "0", "~"]]
    without, within = (kept_marks(r, bound, listed) for r in (rows, rows + more))
    assert without - within == Counter()
    assert set(within - without) <= {(ward, 6000) for ward in ["@", "A", "Bb", "0", "~"]}


def kept_marks(rows: list[Row], bound: ContributionBound, listed: bool) -> Counter[tuple[str, int]]:
    source = open_source(table(rows))
    bins = GridBins(cell(source, "mark"), Grid(0, 0, 6000))
    keys = KEYS if listed else "discover"
    answer = source.measure(ask(source, bins, keys=keys, unit="person", bound=bound, salt=5))
    found = KEYS if answer.keys is None else answer.keys["ward"].to_pylist()
    place, mark = np.nonzero(answer.columns[bins])
    counts = answer.columns[bins][place, mark].tolist()
    pairs = [(found[i], int(m)) for i, m in zip(place, mark, strict=True)]
    return Counter(dict(zip(pairs, counts, strict=True)))


def test_b7_one_missing_value_changes_nobody_else(way: str) -> None:
    # Catches a hash of rows that depends on whether anybody has a missing value.
    rng = np.random.default_rng(9)
    people = pa.array(np.repeat(np.arange(800), 5))
    wards = pa.array(["A"] * 4000)
    rows = pa.table({"person": people, "ward": wards, "x": pa.array(rng.random(4000) * 100)})
    one = pa.table({"person": [9999], "ward": ["A"], "x": pa.array([None], pa.float64())})
    for bound in (ContributionBound(1, 1, None), ContributionBound(None, None, 2)):
        sums = []
        for held in (rows, pa.concat_tables([rows, one])):
            source = open_source(held)
            total = Total(cell(source, "x"), Grid(10, 0, 102400))
            asked = ask(source, total, AllRows(), keys=["A"], unit="person", bound=bound, salt=7)
            columns = source.measure(asked).columns
            sums.append((int(columns[total][0]), int(columns[AllRows()][0])))
        assert sums[1] == (sums[0][0], sums[0][1] + 1)
