"""What each engine keeps of a person: at most the bound, all of it, fairly, whatever the order.

Engines hash differently, so they may keep different rows; the laws are the same. How DuckDB
bounds by sorting is tested on its own (test_row_sampling).
"""

import math
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from ibis.backends import BaseBackend

from discreet.engines.sources import open_source
from discreet.query.contribution import ContributionBound
from discreet.query.measures import AllRows, CategoryBins, Units
from discreet.query.request import TableSource
from tests.engines.asking import ask, cell
from tests.engines.test_conformance import stored

PEOPLE, WARDS = 40, ["A", "B", "C", "D"]
BOUNDS = [ContributionBound(2, 3, None), ContributionBound(None, None, 4)]


def visits() -> list[tuple[int | None, str | None, int]]:
    """Up to twelve rows a person, equal ones among them, and wards that are not listed."""
    random = Random("visits")
    return [
        (random.choice([person, person, person, None]), random.choice([*WARDS, "other", None]), n)
        for person in range(PEOPLE)
        for n in (random.randrange(3) for _ in range(random.randrange(13)))
    ]


def source_of(backend: BaseBackend, rows: list[tuple[Any, ...]], parts: int = 1) -> TableSource:
    people, wards, marks = zip(*rows, strict=True)
    table = pa.table(
        [pa.array(people, pa.int64()), pa.array(wards, pa.string()), pa.array(marks, pa.int64())],
        names=["person", "ward", "mark"],
    )
    where = stored(backend, table)
    if parts > 1 and backend.name == "pyspark":
        return open_source(backend._session.table("people").repartition(parts))
    return open_source(where)


def kept(source: TableSource, bound: ContributionBound) -> np.ndarray[Any, Any]:
    """How many rows of each person are kept in each ward."""
    everybody = {"person": range(PEOPLE), "ward": WARDS}
    pairs = ("person", "ward")
    mark = CategoryBins(cell(source, "mark"), (0, 1, 2))  # so that rows differ
    asked = ask(
        source, AllRows(), Units(), mark, group=pairs, keys=everybody, unit="person", bound=bound
    )
    answer = source.measure(asked).columns
    rows = np.asarray(answer[AllRows()]).reshape(PEOPLE, 4)
    assert (np.asarray(answer[Units()]).reshape(PEOPLE, 4) == (rows > 0)).all()
    assert (answer[mark].sum(axis=1).reshape(PEOPLE, 4) == rows).all()
    return rows


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_as_much_as_the_bound_allows(engine: BaseBackend, bound: ContributionBound) -> None:
    # Catches a bound that is passed, not used up, or used up by rows that no group holds; and a
    # choice by the order of rows or the parts of a table.
    rows = visits()
    had = Counter((person, ward) for person, ward, _ in rows)
    counts = np.array([[had[person, ward] for ward in WARDS] for person in range(PEOPLE)])
    got = kept(source_of(engine, rows), bound)
    if bound.max_rows is not None:
        assert (got <= counts).all()
        assert (got.sum(axis=1) == np.minimum(counts.sum(axis=1), bound.max_rows)).all()
    else:
        groups = np.minimum((counts > 0).sum(axis=1), bound.max_groups)
        assert ((got > 0).sum(axis=1) == groups).all()
        assert (got == np.where(got > 0, np.minimum(counts, bound.max_rows_per_group), 0)).all()
    shuffled = Random(1).sample(rows, len(rows))
    assert (kept(source_of(engine, shuffled, parts=5), bound) == got).all()


# -- fairness --------------------------------------------------------------------------------------

MANY = 26_000  # people, who choose independently
WIDE = 5.6  # standard deviations: 12 shares in all, so a false alarm in 4·10^6 runs


def is_fair(hits: int, share: float) -> bool:
    return abs(hits - MANY * share) <= WIDE * math.sqrt(MANY * share * (1 - share))


@pytest.mark.parametrize("engine", ["duckdb", "spark_ansi", "postgres"])
def test_every_group_and_every_row_has_the_same_chance(
    engine: str, request: pytest.FixtureRequest
) -> None:
    # Catches a group that is chosen by its size, copies that count as one row, and a weak hash.
    # Everybody has one row in A and in B and two equal ones in C.
    backend = request.getfixturevalue(f"{engine}_backend")
    people = [(p, ward, int(ward == "C")) for p in range(MANY) for ward in "ABCC"]
    source = source_of(backend, people)
    mark = CategoryBins(cell(source, "mark"), (0, 1))
    asked = ask(source, keys=["A", "B", "C"], unit="person", bound=ContributionBound(1, 1, None))
    groups = source.measure(asked).columns[AllRows()]
    assert groups.sum() == MANY
    assert all(is_fair(int(hits), 1 / 3) for hits in groups)
    asked = ask(source, mark, group=(), unit="person", bound=ContributionBound(None, None, 1))
    ((first, second),) = source.measure(asked).columns[mark]
    assert first + second == MANY and is_fair(int(first), 1 / 2)
    # What would be seen: a chance that is 5 % too large.
    assert not is_fair(round(MANY / 3 * 1.05), 1 / 3)
