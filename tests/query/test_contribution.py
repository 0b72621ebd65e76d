"""How far one person can move an answer: the formulas against every pair of small people."""

import itertools
from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.neighbors import Relation
from discreet.query.contribution import Contribution, ContributionBound, contribution_of
from discreet.query.expressions import Typed
from discreet.query.measures import Grid, Total
from discreet.query.schema import Type

GROUPS = 3


def people(one: Contribution, values: tuple[int, ...], groups: int):
    """Every person within the bounds: for each group a list of at most `rows` values."""
    per_group = [
        rows
        for n in range(one.rows + 1)
        for rows in itertools.combinations_with_replacement(values, n)
    ]
    for person in itertools.product(per_group, repeat=groups):
        held = sum(map(len, person))
        if sum(bool(rows) for rows in person) <= one.groups and held <= one.total:
            yield person


def sums(person) -> tuple[int, ...]:
    return tuple(map(sum, person))


def norms(change: tuple[int, ...]) -> tuple[int, int, int, int]:
    sizes = [abs(x) for x in change]
    return sum(x > 0 for x in sizes), max(sizes), sum(sizes), sum(x * x for x in sizes)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize(
    "limit", [(1, 1, 1), (2, 1, 2), (1, 2, 2), (2, 2, 4), (2, 2, 2), (3, 3, 3)]
)
@pytest.mark.parametrize("values", [(0, 1), (1,), (-2, 1), (-1, 0, 1), (3, 5), (-5, -3)])
def test_sums_move_by_what_the_worst_pair_of_people_moves_them(relation, grouped, limit, values):
    """Catches a formula that is too small for some pair, and one that none reaches."""
    many = GROUPS if grouped else 1
    groups, rows, total = limit
    if not grouped:
        groups, total = 1, rows
    one = Contribution(groups, rows, total, relation, grouped)
    low, high = min(values), max(values)
    largest, reach = max(abs(low), abs(high)), max(high, 0) - min(low, 0)
    moved = one.moves(largest=Fraction(largest), reach=Fraction(reach))
    found = [0, 0, 0, 0]
    nobody = tuple(() for _ in range(many))
    here = {sums(person) for person in people(one, values, many)}
    others = here if relation is Relation.REPLACE else {sums(nobody)}
    for a, b in itertools.product(here, others):
        change = norms(tuple(x - y for x, y in zip(a, b, strict=True)))
        found = [max(old, new) for old, new in zip(found, change, strict=True)]
    assert found[0] <= moved.l0
    assert found[1] <= moved.linf
    assert found[2] <= moved.l1
    assert found[3] <= moved.l2**2
    enough = 2 * groups if relation is Relation.REPLACE else groups
    if many >= enough and total == groups * rows:  # room for two people in different groups
        assert found[2] == moved.l1
        assert moved.l2**2 - found[3] < Fraction(1, 10**9)


def test_an_understated_bound_would_be_seen():
    """The planted error: counts under replace that move one group only."""
    one = Contribution(1, 1, 1, Relation.REPLACE, True)
    wrong = Contribution(1, 1, 1, Relation.ADD_REMOVE, True)
    moved = one.moves(largest=Fraction(1), reach=Fraction(1))
    assert wrong.moves(largest=Fraction(1), reach=Fraction(1)).l1 < moved.l1 == 2


@pytest.mark.parametrize(
    ("bound", "groups", "expected"),
    [
        (ContributionBound(3, 5), 100, (3, 5, 15)),
        (ContributionBound(3, 5), 2, (2, 5, 10)),  # no more groups than there are
        (ContributionBound(None, 5), 1, (1, 5, 5)),
        (ContributionBound(max_rows=7), 100, (7, 7, 7)),
        (ContributionBound(max_rows=7), 4, (4, 7, 7)),
        (ContributionBound(3, 5), None, (3, 5, 15)),  # discovered keys
    ],
)
def test_bounds_as_declared(bound, groups, expected):
    """Catches a bound that is read as another one."""
    one = contribution_of(bound, unit="id", relation=Relation.ADD_REMOVE, groups=groups)
    assert (one.groups, one.rows, one.total) == expected


@pytest.mark.parametrize(
    ("bound", "groups", "name"),
    [
        (None, 2, "bound"),
        (ContributionBound(3, None), 2, "max_rows_per_group"),
        (ContributionBound(None, 3), 2, "max_groups"),
        (ContributionBound(None, 3), None, "max_groups"),
    ],
)
def test_b11_a_missing_bound_is_refused(bound, groups, name):
    """Attack B11: an unknown bound means unknown sensitivity, so an error before data is read."""
    with pytest.raises(InvalidArgument) as caught:
        contribution_of(bound, unit="id", relation=Relation.ADD_REMOVE, groups=groups)
    assert caught.value.name == name


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"max_rows": 3, "max_groups": 1},
        {"max_rows": 0},
        {"max_groups": -1, "max_rows_per_group": 1},
        {"max_groups": True, "max_rows_per_group": 1},
        {"max_groups": 1.5, "max_rows_per_group": 1},
    ],
)
def test_senseless_bounds_are_refused(limits):
    """Catches a bound of 0, a fraction, or two kinds at once."""
    full = {"max_groups": None, "max_rows_per_group": None, "max_rows": None} | limits
    with pytest.raises(InvalidArgument):
        ContributionBound.read(**full)


@pytest.mark.parametrize(("grid", "apart"), [((5, 7, 0), 7), ((-3, 7, 0), 10), ((5, 7, 6), 2)])
def test_a_sum_allows_for_people_without_a_value(grid, apart):
    """Catches a sensitivity under replace that forgets someone who adds nothing to the sum."""
    low, high, centre = grid
    value = Typed("column", (), "x", Type.INTEGER, True)
    part = Total(value, Grid(0, low, high, centre))
    assert part.moves(Contribution(1, 1, 1, Relation.REPLACE, False)).l1 == apart
