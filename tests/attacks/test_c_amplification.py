"""C7: amplification by sampling holds for a new sample each time, not for one used twice."""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.testing import seeded

RATE, EPSILON = 0.1, 2
ONCE = math.log1p(RATE * math.expm1(EPSILON))


def responses(in_sample, size):
    """Two answers of a person, by randomized response, each only if they are in the sample."""
    answer = dp.RandomizedResponse(epsilon=EPSILON)
    told = [answer.release(np.where(kept, 1, 0)) for kept in in_sample]
    return np.column_stack(told).reshape(size, 2)


def coins(size):
    return dp.RandomizedResponse(truth="4/5").release(np.zeros(size, np.int64)) == 1  # 1 in 10


def one_sample(person, size):
    kept = coins(size) & bool(person)
    return responses([kept, kept], size)


def two_samples(person, size):
    return responses([coins(size) & bool(person), coins(size) & bool(person)], size)


def test_c7_one_sample_used_twice_is_not_two_samples():
    """Claimed 0.988; one sample used twice has 1.85 and is caught, two samples are not accused."""
    claim = dp.Pure(2 * ONCE)
    assert pytest.approx(0.988, abs=5e-4) == 2 * ONCE
    with seeded(7):
        shared = dp.audit(one_sample, (0, 1), claim, samples=200_000, batched=True)
        fresh = dp.audit(two_samples, (0, 1), claim, samples=200_000, batched=True)
    assert shared.violated and 1.6 < shared.lower_bound < 1.8507
    assert not fresh.violated
