"""H11: how many numbers one person touches, where a group has several of them."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.auditor.certificate.query_check import Person
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend


def bags(groups: int, cells: int, person: Person, values: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Everything that one person's rows can add to the numbers of all groups, tried row by row."""
    found = set()
    places = list(itertools.product(range(groups), range(cells), values))
    for size in range(person.total + 1):
        for rows in itertools.combinations_with_replacement(places, size):
            by_group = [sum(row[0] == group for row in rows) for group in range(groups)]
            if max(by_group) > person.rows or sum(map(bool, by_group)) > person.groups:
                continue
            added = [0] * (groups * cells)
            for group, cell, value in rows:
                added[group * cells + cell] += value
            found.add(tuple(added))
    return found


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("values", [(0, 1), (-1, 2), (1, 2)])
@pytest.mark.parametrize(
    ("person", "groups", "cells"),
    [
        (Person(1, 1, 1), 4, 1),
        (Person(1, 1, 1, several=False), 1, 1),
        (Person(1, 3, 3, several=False), 1, 1),
        (Person(2, 2, 4), 4, 1),
        (Person(3, 3, 3), 6, 1),
        (Person(1, 2, 2, several=False), 1, 2),
        (Person(1, 3, 3, several=False), 1, 2),
        (Person(1, 2, 2), 2, 3),
        (Person(2, 1, 2), 4, 2),
        (Person(2, 2, 4), 4, 2),
        (Person(2, 3, 3), 4, 2),
    ],
)
def test_h11_nobody_moves_an_answer_farther(person, groups, cells, values, replaced):
    """Catches a way to touch more, or to move farther, than the verifier allows for, and an
    allowance that nobody can use: everything that a person can do in a small table is tried."""
    low, high = values
    changes = bags(groups, cells, person, (*values, 0))
    one = np.array(list(changes))
    moved = one if not replaced else (one[:, None, :] - one[None, :, :]).reshape(-1, one.shape[1])
    told = replace(person, replaced=replaced).moves(low, high, cells=cells)
    assert (moved != 0).sum(axis=1).max() == told.l0
    assert abs(moved).max() == told.linf
    assert abs(moved).sum(axis=1).max() == told.l1
    assert (moved**2).sum(axis=1).max() == told.square


VISITS = [(who, ward, x) for who in range(4) for ward in "ab" for x in (1, None, 2)]


def asked(rows, relation):
    """A count and a mean beside it, of a column with missing values, and a histogram."""
    columns = zip(*rows, strict=True)
    kinds = [("who", pa.int64()), ("ward", pa.string()), ("x", pa.int64())]
    arrays = {n: pa.array(c, k) for (n, k), c in zip(kinds, columns, strict=True)}
    table = dp.table(pa.table(arrays), unit="who", relation=relation)
    bounded = table.bound(max_groups=2, max_rows_per_group=3).group_by("ward", keys=["a", "b", "c"])
    return table, bounded.agg(
        n=dp.count(), m=dp.mean("x", bounds=(0, 5)), h=dp.histogram("x", edges=[0, 1, 2, 3])
    )


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_h11_replay_does_not_accuse_a_correct_release(relation):
    """Catches an l0 that counts groups where a group has several cells: somebody with a value and
    without one touches two numbers in each of two groups."""

    def released(rows):
        table, query = asked(rows, relation)
        return dp.Session(table, budget=dp.Pure(5)).release(query, epsilon=1)

    others = VISITS[6:] if relation == "add-remove" else [(0, "c", 9)] * 6 + VISITS[6:]
    finding = dp.replay(released, pair=(VISITS, others))
    assert not finding.violated, finding


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_h11_a_certificate_states_the_number_that_it_is(relation):
    """Catches a verifier that repeats the planner's formula, and confirms a wrong l0."""
    table, query = asked(VISITS, relation)
    certificate = dp.Session(table, budget=dp.Pure(5)).release(query, epsilon=1).certificate
    verdict = certificate.verify()
    assert verdict.ok and not any("(l0)" in one for one in verdict.trusted)
    told = {one["for"]: one["sensitivity"]["l0"] for one in certificate.document["mechanisms"]}
    steps = 1 if relation == "add-remove" else 2
    assert told["rows with and without x"] == str(4 * steps)
    assert told["rows in 3 bins of x"] == str(6 * steps)
    assert told["sum of x"] == str(2 * steps)


def test_h11_the_planner_and_the_verifier_agree():
    """Catches a formula that is wrong: the verifier has none. Bounds, bins and both relations."""
    for relation, groups, rows, bins in itertools.product(
        ("add-remove", "replace"), (1, 2, 5), (1, 2, 7), (1, 2, 10)
    ):
        table = dp.table(pa.table({"who": [1], "w": [1], "x": [1]}), unit="who", relation=relation)
        bounded = table.bound(max_groups=groups, max_rows_per_group=rows)
        for keys in ([1], range(9)):
            grouped = bounded.group_by("w", keys=keys)
            query = grouped.agg(h=dp.histogram("x", edges=range(bins + 1)))
            (noise,) = make_plan(query, Spend.read(epsilon=1)).bought.values()
            most = min(groups, len(keys))
            person = Person(most, rows, most * rows, relation == "replace", len(keys) > 1)
            told = person.moves(0, 1, cells=bins)
            moved = noise.sensitivity
            assert (moved.l0, moved.linf, moved.l1) == (told.l0, told.linf, told.l1)
            assert told.square <= moved.l2**2 <= told.square * (1 + 1e-15)


def test_h11_certificates_of_the_first_version_verify_and_say_so():
    """Catches an old certificate that is refused, or whose wrong number is confirmed."""
    golden = Path(__file__).parents[1] / "golden" / "1" / "certificates"
    verdict = dp.Certificate.load(golden / "plain-visits-histogram.json").verify()
    assert verdict.ok and any("(l0)" in one for one in verdict.trusted)
