"""H17: outputs that differ in their residues only. The noise is wide, so that no value comes twice
and no mean tells; what differs is the residue modulo some number, a digit or a bit.

Each audit errs with a rate of at most 1e-9, at n = 20,000 outputs a side.
"""

import numpy as np
import pytest

import discreet as dp
from discreet.auditor.sampling import features
from discreet.testing import seeded

WIDE = 10**6


def wide(*shape):
    """Integers with discrete Laplace noise of scale 10⁶."""
    return dp.Laplace(sensitivity=1, scale=WIDE).release(np.zeros(shape, np.int64))


def audited(run, seed=17):
    with seeded(seed):
        return dp.audit(run, (0, 1), dp.Pure(1), samples=20_000, batched=True)


def steps(modulus):
    return lambda value, size: modulus * wide(size) + value


def more_often(value, size):
    """No support is disjoint: a residue is e³ times as likely under its own input."""
    truth = dp.RandomizedResponse(epsilon=3).release(np.full(size, value))
    return 7 * wide(size) + truth


def in_one_coordinate(value, size):
    y = wide(size, 100)
    y[:, 83] = 101 * y[:, 83] + value
    return y


def in_a_sum(value, size):
    y = wide(size, 3)
    y[:, 2] = 3 * wide(size) + value - y[:, 0] - y[:, 1]
    return y


def in_a_difference(value, size):
    y = wide(size, 3)
    y[:, 2] = y[:, 0] + 101 * wide(size) + value
    return y


def in_a_digit(value, size):
    """The thousands are even or odd; the three digits below are noise."""
    y = wide(size)
    return y - y // 1000 % 2 * 1000 + 1000 * value


def in_a_bit(value, size):
    """The 13th bit of 20 or so."""
    return (wide(size) & ~(1 << 12)) + (value << 12)


BROKEN = {
    "3k + x": steps(3),
    "101k + x": steps(101),
    "7k + x": steps(7),
    "256k + x": steps(256),
    "1000k + x": steps(1000),
    "a modulus that no scan tries": steps(1_000_003),
    "7k + randomized response": more_often,
    "one coordinate of 100": in_one_coordinate,
    "a sum of coordinates": in_a_sum,
    "a difference of coordinates": in_a_difference,
    "a decimal digit": in_a_digit,
    "a bit": in_a_bit,
    "halves": lambda value, size: (3 * wide(size) + value) / 2,
    "a grid of 2^-20": lambda value, size: np.ldexp((5 * wide(size) + value).astype(float), -20),
    "cents": lambda value, size: np.round((101 * wide(size) + value) / 100, 2),
    "cents by a product": lambda value, size: (3 * wide(size) + value) * 0.01,
    "steps of 500": lambda value, size: 500 * (7 * wide(size) + value),
    "Python's integers": lambda value, size: (101 * wide(size) + value).tolist(),
    "lists of integers": lambda value, size: (3 * wide(size, 2) + [0, value]).tolist(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_h17_outputs_that_differ_in_residues_are_accused(name):
    """Catches an auditor that looks at sizes and parities only."""
    finding = audited(BROKEN[name])
    assert finding.violated, str(finding)


CORRECT = {
    "one modulus for both": lambda value, size: 3 * (wide(size) + value),
    "the same residues": lambda value, size: 101 * (wide(size) + value) + 7,
    "residues by an honest coin": lambda value, size: (
        7 * wide(size) + dp.RandomizedResponse(epsilon=1).release(np.full(size, value))
    ),
    "integers": lambda value, size: wide(size) + value,
    "cents": lambda value, size: np.round((wide(size) + value) / 100, 2),
    "a grid of 2^-20": lambda value, size: np.ldexp((wide(size) + value).astype(float), -20),
    "vectors": lambda value, size: wide(size, 5) + value * (np.arange(5) == 3),
}


@pytest.mark.parametrize("name", CORRECT)
def test_h17_correct_ones_are_not_accused_by_their_residues(name):
    """Catches events that are tested on the outputs that suggested them: with a thousand moduli,
    one of them always looks telling."""
    for seed in range(3):
        finding = audited(CORRECT[name], seed)
        assert not finding.violated, str(finding)


def test_h17_the_event_is_said_in_words():
    """Catches a witness that nobody can read or replay."""
    run = steps(101)
    finding = audited(run)
    assert "output modulo 101: " in str(finding.witness.event)
    assert finding.one_sided
    assert finding.witness.replay(run, samples=2000, batched=True).violated
    event = finding.witness.event
    assert event(101 * -5 + finding.witness.first) and not event(101 * -5 + 50)


def test_h17_without_residues_they_pass(monkeypatch):
    """Planted: the family is left out. Catches tests that another feature would satisfy."""
    monkeypatch.setattr(features, "residues", lambda *_: iter(()))
    for name in ("3k + x", "101k + x", "7k + x", "cents"):
        assert not audited(BROKEN[name]).violated
