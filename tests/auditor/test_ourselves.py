"""We point the auditor at ourselves first: every mechanism, and a whole Session.

Each audit accuses an honest mechanism with probability at most 1e-9. What the exact route says of
the same mechanisms is in test_verify*.py; that the auditor catches broken ones, in test_zoo.py.
"""

from itertools import islice

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.testing import seeded

SAMPLES = 60_000


def additive(mechanism, dtype):
    return lambda value, size: mechanism.release(np.full(size, value, dtype))


def one_by_one(mechanism):
    return lambda value, size: [mechanism.release(value) for _ in range(size)]


def asked(mechanism):
    """One statistical query a run, each to an oracle of its own."""

    def run(sample, size):
        oracles = (dp.StatisticalQueries(sample, epsilon=1) for _ in range(size))
        return [oracle.ask(lambda record: record) for oracle in oracles]

    return run


def sampled(mechanism):
    """A Poisson sample of no or one record, by our own coins, then a count with noise."""

    def run(records, size):
        kept = dp.RandomizedResponse(truth="2/5").release(np.zeros(size, np.int64))
        return mechanism.mechanism.release(kept * records)  # 1 with probability 3/10

    return run


# name: (mechanism, run, pair, how near the bound must come to its ε, samples)
MECHANISMS = {
    "laplace, integers": (
        dp.Laplace(sensitivity=1, epsilon=1),
        lambda m: additive(m, np.int64),
        (5, 6),
        0.9,
    ),
    "laplace, floats": (
        dp.Laplace(sensitivity=1, epsilon=1),
        lambda m: additive(m, np.float64),
        (0.3, 1.3),
        0.85,
    ),
    "laplace, a vector": (
        dp.Laplace(sensitivity=dp.sensitivity.Sensitivity.spread(cells=3, each=1), epsilon=1),
        lambda m: lambda value, size: m.release(np.full((size, 3), value)),
        (0, 1),
        0.8,
    ),
    "gaussian, integers": (
        dp.Gaussian(sensitivity=1, mu=1),
        lambda m: additive(m, np.int64),
        (0, 1),
        0.8,
    ),
    "gaussian, floats": (
        dp.Gaussian(sensitivity=1, rho="1/2"),
        lambda m: additive(m, np.float64),
        (0.0, 1.0),
        None,
    ),
    "gaussian, (ε, δ)": (
        dp.Gaussian(sensitivity=1, epsilon=1, delta=1e-3),
        lambda m: additive(m, np.float64),
        (0.0, 1.0),
        None,
    ),
    "randomized response": (
        dp.RandomizedResponse(epsilon=1),
        lambda m: additive(m, np.int64),
        (0, 1),
        0.9,
    ),
    "randomized response of five": (
        dp.RandomizedResponse(epsilon=1, categories=5),
        lambda m: additive(m, np.int64),
        (0, 3),
        0.85,
    ),
    "exponential": (
        dp.Exponential(sensitivity=1, epsilon=1),
        one_by_one,
        ([9, 1], [10, 0]),
        None,
    ),
    "noisy max, laplace": (
        dp.NoisyMax(sensitivity=1, epsilon=1),
        one_by_one,
        ([6, 0, 0, 0, 0], [7, -1, 1, 1, 1]),
        None,
    ),
    "noisy max, exponential": (
        dp.NoisyMax(sensitivity=1, epsilon=1, noise="exponential"),
        one_by_one,
        ([0, 0], [1, -1]),
        None,
    ),
    "noisy max with its lead": (
        dp.NoisyMax(sensitivity=1, epsilon=1, noise="laplace", gap=True),
        one_by_one,
        ([3, 1], [4, 0]),
        None,
    ),
    "above threshold": (
        dp.AboveThreshold(sensitivity=1, epsilon=1, threshold=0),
        one_by_one,
        ([0] * 9 + [1], [1] * 9 + [0]),
        None,
    ),
    "sparse vector": (
        dp.SparseVector(sensitivity=1, epsilon=1, threshold=1, hits=2),
        one_by_one,
        ([1] * 6, [2] * 3 + [0] * 3),
        None,
    ),
    "key threshold, optimal": (
        dp.KeyThreshold(epsilon=1, delta=0.01),
        lambda m: lambda value, size: m.release(np.full(size, value)),
        (1, 2),
        None,
    ),
    "key threshold, laplace, of nobody else": (
        dp.KeyThreshold(epsilon=1, delta=0.01, rule="laplace"),
        lambda m: lambda value, size: m.release(np.full(size, value)),
        (0, 1),
        None,
    ),
    "key threshold, gaussian": (
        dp.KeyThreshold(epsilon=1, delta=0.01, rule="gaussian"),
        lambda m: lambda value, size: m.release(np.full(size, value)),
        (2, 3),
        None,
    ),
    "quantiles": (
        dp.Quantiles(probabilities=[0.25, 0.75], epsilon=1),
        one_by_one,
        ([2, 0, 1, 3], [2, 0, 2, 3]),
        None,
    ),
    "statistical queries": (
        dp.StatisticalQueries([0, 1], epsilon=1),
        asked,
        ([0, 1, 0, 0], [0, 1, 0, 1]),
        None,
    ),
    "poisson sampled": (
        dp.PoissonSampled(dp.Laplace(sensitivity=1, epsilon=2), rate="3/10"),
        sampled,
        (0, 1),
        0.85,
    ),
    "top k": (
        dp.TopK(k=2, epsilon=1),
        one_by_one,
        ([3, 2, 2, 1], [3, 3, 2, 1]),
        None,
    ),
}
SLOW = {one_by_one: 1500, asked: 1500}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_of_ours_is_not_accused(name):
    """Catches noise that is less than the guarantee says, for the pair where that shows most."""
    mechanism, make, pair, near = MECHANISMS[name]
    with seeded(len(name)):
        finding = dp.audit(
            make(mechanism),
            pair,
            mechanism.guarantee,
            samples=SLOW.get(make, SAMPLES),
            batched=True,
        )
    assert not finding.violated, str(finding)
    if near is not None:
        truth = mechanism.guarantee.epsilon(0)
        truth = float(mechanism.guarantee.mu) if isinstance(mechanism.guarantee, dp.GDP) else truth
        assert near * truth < finding.lower_bound <= truth


WARDS = [f"ward {i}" for i in range(400)]


def counts_of(people):
    """Counts of so many people, each of them in 400 wards, at ε = 400 for all wards: each count
    has noise for ε = 1."""
    rows = [(person, ward) for person in range(people) for ward in WARDS]
    visits = pa.table({"person": [p for p, _ in rows], "ward": [w for _, w in rows]})
    table = dp.table(visits, unit="person").bound(max_groups=len(WARDS), max_rows_per_group=1)
    query = table.group_by("ward", keys=WARDS).agg(n=dp.count())
    while True:
        session = dp.Session(table, budget=dp.Pure(len(WARDS)))
        yield from session.release(query, epsilon=len(WARDS)).to_arrow()["n"].to_numpy()


def released_counts():
    """As a black box for one audit, which uses every count of a release before the next one."""
    sources = {people: counts_of(people) for people in (2, 3)}
    return lambda people, size: np.array(list(islice(sources[people], size)))


def test_a_whole_session_is_not_accused_and_its_epsilon_is_reached():
    """Catches a plan, engine or draw that gives a person less noise than is charged: from the
    table to the released frame, as a black box."""
    with seeded(6):
        finding = dp.audit(released_counts(), (2, 3), dp.Pure(1), samples=16_000, batched=True)
    assert not finding.violated, str(finding)
    assert 0.75 < finding.lower_bound <= 1


def test_a_session_that_charges_half_is_accused():
    """The planted error: what is released at ε = 1 a count is claimed as ½."""
    with seeded(7):
        finding = dp.audit(released_counts(), (2, 3), dp.Pure("1/2"), samples=16_000, batched=True)
    assert finding.violated, str(finding)
