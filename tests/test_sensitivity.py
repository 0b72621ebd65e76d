"""Sensitivity facts against a search over all small datasets."""

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from discreet import sensitivity
from discreet.errors import InvalidArgument, RelationMismatch
from discreet.neighbors import Relation, distance
from discreet.sensitivity import Sensitivity

# Attack B10: a bound used twice shows only where the bounds are not symmetric.
ALL_BOUNDS = [(0, 1), (0, 100), (-1, 0), (5, 6), (-3, 1), (-7, -2), (Fraction(-1, 2), 0.1)]


def search(f, records, relation, sizes=range(4)):
    """The sensitivity of f by definition: the largest change over all pairs of neighbours."""
    datasets = [d for size in sizes for d in combinations_with_replacement(records, size)]
    changes = [
        [abs(a - b) for a, b in zip(f(x), f(y), strict=True)]
        for x, y in product(datasets, repeat=2)
        if distance(x, y, relation) == 1
    ]
    return (
        max(sum(c != 0 for c in change) for change in changes),
        max(max(change) for change in changes),
        max(sum(change) for change in changes),
        max(sum(c * c for c in change) for change in changes),
    )


def assert_is_exactly(fact, found):
    """The fact equals what the search found: not below (no privacy), not above (lost accuracy)."""
    l0, linf, l1, l2_squared = found
    assert (fact.l0, fact.linf, fact.l1) == (l0, linf, l1)
    assert l2_squared <= fact.l2**2 <= l2_squared * (1 + Fraction(1, 2**98))


@pytest.mark.parametrize("relation", Relation)
def test_claim_09_sensitivity_of_a_count(relation):
    found = search(lambda d: [sum(d)], (0, 1), relation)
    assert_is_exactly(sensitivity.count(relation=relation), found)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("bounds", ALL_BOUNDS, ids=str)
def test_claim_09_sensitivity_of_a_bounded_sum(bounds, relation):
    """Catches attack B10 (one bound used twice) and the width used under add-remove."""
    lower, upper = (Fraction(str(bound)) for bound in bounds)
    records = (lower, (lower + upper) / 2, upper)
    found = search(lambda d: [sum(d)], records, relation)
    assert_is_exactly(sensitivity.bounded_sum(bounds=bounds, relation=relation), found)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("bounds", ALL_BOUNDS, ids=str)
def test_claim_09_sensitivity_of_a_bounded_mean(bounds, n):
    lower, upper = (Fraction(str(bound)) for bound in bounds)
    records = (lower, (lower + upper) / 2, upper)
    found = search(lambda d: [sum(d) / n], records, "replace", sizes=[n])
    assert_is_exactly(sensitivity.bounded_mean(bounds=bounds, n=n, relation="replace"), found)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_claim_18_proportion_sensitivity(n):
    found = search(lambda d: [Fraction(sum(d), n)], (0, 1), "replace", sizes=[n])
    fact = sensitivity.proportion(n=n, relation="replace")
    assert_is_exactly(fact, found)
    assert fact.l1 == Fraction(1, n)


@pytest.mark.parametrize(("relation", "l1"), [("add-remove", 1), ("replace", 2)])
def test_claim_18_histogram_sensitivity(relation, l1):
    """Catches a replaced record counted once; the number of cells does not matter."""
    fact = sensitivity.histogram(relation=relation)
    assert fact.l1 == l1
    for cells in (2, 3, 4):
        found = search(lambda d, n=cells: [d.count(i) for i in range(n)], range(cells), relation)
        assert_is_exactly(fact, found)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_claim_19_k_counts_sensitivity(k, relation):
    """A record may have all k properties, under either relation."""
    records = list(product((0, 1), repeat=k))
    found = search(lambda d: [sum(r[i] for r in d) for i in range(k)], records, relation, range(3))
    assert_is_exactly(sensitivity.counts(k=k, relation=relation), found)


@pytest.mark.parametrize(("k", "lecture"), [(2 * 10**6, "4.08e+06"), (10, "20.4")])
def test_claim_19_noise_of_a_genome_study(k, lecture):
    """The lecture's numbers: Laplace noise at ε = ln 2 has standard deviation √2·Δ₁/ε."""
    l1 = sensitivity.counts(k=k, relation="add-remove").l1
    assert f"{math.sqrt(2) * l1 / math.log(2):.3g}" == lecture


@pytest.mark.parametrize("cells", [1, 2, 4, 7])
def test_spread_is_the_norm_of_equal_steps(cells):
    fact = Sensitivity.spread(cells=cells, each="1/3")
    assert_is_exactly(fact, (cells, Fraction(1, 3), Fraction(cells, 3), Fraction(cells, 9)))


def test_mean_and_proportion_are_refused_where_n_is_protected():
    """Catches (upper − lower)/n claimed under add-remove, where n itself tells on a person."""
    with pytest.raises(RelationMismatch, match="number of rows is protected"):
        sensitivity.bounded_mean(bounds=(0, 1), n=10, relation="add-remove")
    with pytest.raises(RelationMismatch, match="number of rows is protected"):
        sensitivity.proportion(n=10, relation="add-remove")


@pytest.mark.parametrize(
    "bounds",
    [(0, 0), (5, 5), (1, 0), (0, math.inf), (math.nan, 1), (0,), (0, 1, 2), "01", None, 3],
    ids=str,
)
def test_bad_bounds_are_refused(bounds):
    """Catches attack B10's end: sensitivity zero, and so no noise, or infinite."""
    for relation in Relation:
        with pytest.raises(InvalidArgument, match=r"^bounds must be "):
            sensitivity.bounded_sum(bounds=bounds, relation=relation)
        with pytest.raises(InvalidArgument, match=r"^bounds must be "):
            sensitivity.bounded_mean(bounds=bounds, n=3, relation=relation)


def test_unknown_relations_are_refused_by_every_fact():
    """Catches a fact that ignores the relation because its value does not depend on it."""
    facts = [
        lambda r: sensitivity.count(relation=r),
        lambda r: sensitivity.counts(k=2, relation=r),
        lambda r: sensitivity.histogram(relation=r),
        lambda r: sensitivity.proportion(n=2, relation=r),
        lambda r: sensitivity.bounded_sum(bounds=(0, 1), relation=r),
        lambda r: sensitivity.bounded_mean(bounds=(0, 1), n=2, relation=r),
    ]
    for fact in facts:
        with pytest.raises(InvalidArgument, match=r"^relation must be "):
            fact("substitute")


@pytest.mark.parametrize("number", [0, -1, 1.5, True])
def test_sizes_must_be_positive_whole_numbers(number):
    for call in (
        lambda: sensitivity.counts(k=number, relation="replace"),
        lambda: sensitivity.proportion(n=number, relation="replace"),
        lambda: Sensitivity.spread(cells=number, each=1),
    ):
        with pytest.raises(InvalidArgument):
            call()


def test_sensitivity_is_exact_positive_and_frozen():
    """Catches zero (no noise), a float that slipped in, and a fact that is changed afterwards."""
    fact = Sensitivity(l0=1, linf=0.1, l1=0.1, l2=0.1)
    assert fact.l1 == Fraction(1, 10)
    assert fact == Sensitivity.spread(cells=1, each=0.1)
    for name in ("l0", "linf", "l1", "l2"):
        with pytest.raises(InvalidArgument, match=f"^{name} must be "):
            Sensitivity(**{"l0": 1, "linf": 1, "l1": 1, "l2": 1, name: 0})
    with pytest.raises(FrozenInstanceError):
        fact.l1 = Fraction(0)
