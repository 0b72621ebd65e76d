"""What is audited: how it can be called, and on which neighbours if none were given."""

from functools import partial, wraps
from typing import Any

import pytest

import discreet as dp
from discreet.auditor.subject import Subject, check_call
from discreet.errors import InvalidArgument


def two(value: Any, rate: Any) -> Any:
    return value, rate


@wraps(two)
def bound(value: Any) -> Any:
    """A decorator that fills in the rest; its signature claims to be that of ``two``."""
    return two(value, 5)


class Called:
    """An object that is called."""

    def __call__(self, value: Any, *, size: int) -> Any:
        return [value] * size


@pytest.mark.parametrize(
    ("run", "batched"),
    [
        (bound, False),
        (partial(two, rate=5), False),
        (Called(), True),
        (lambda *values, **options: 0, True),
        (lambda value, size=1: 0, False),
        (lambda value, size=1: 0, True),
        (max, True),  # has no signature
    ],
)
def test_what_can_be_called_is_let_through(run: Any, batched: bool) -> None:
    """Catches a check that refuses what would have worked."""
    check_call(run, batched=batched)


@pytest.mark.parametrize(
    ("run", "batched", "told"),
    [
        (two, False, "needs value and rate; write a function"),
        (two, True, "needs value and rate; write a function"),
        (lambda: 0, False, "takes none; write a function"),
        (lambda *, value: 0, False, "needs value; write a function"),
        (Called(), False, "needs size too; say batched=True"),
        (abs, True, "without a parameter size; leave batched=True out"),
    ],
)
def test_what_cannot_be_called_is_told_in_one_sentence(run: Any, batched: bool, told: str) -> None:
    """Catches TypeErrors that are counted as outputs: the same for both inputs, so no violation."""
    with pytest.raises(InvalidArgument, match=told):
        check_call(run, batched=batched)


def test_neighbours_are_simple_far_apart_and_as_release_takes_them() -> None:
    """Catches pairs that are all alike, and the worst left out."""
    assert Subject.of(dp.Laplace(sensitivity=1, epsilon=1)).pairs(dp.Pure(1)) == [(0, 1)]
    noisy = dp.NoisyMax(sensitivity=1, epsilon=1)
    worst = ([14.0, -6.0], [15.0, -7.0])
    pairs = Subject.of(noisy).pairs(noisy.guarantee, worst)
    assert ([1.0, 0.0], [0.0, 1.0]) in pairs  # the winner changes
    assert worst in pairs
    assert 3 < len(pairs) <= 7
    keys = dp.KeyThreshold(epsilon=1, delta="1e-3")
    assert ([0], [1]) in Subject.of(keys).pairs(keys.guarantee)


def test_a_release_that_takes_other_inputs_than_its_law_has_no_pairs() -> None:
    """Catches a mechanism that is called broken since it was called with the wrong inputs."""

    class Picky(dp.RandomizedResponse):
        def release(self, value: Any) -> Any:
            return value["answer"]

    assert Subject.of(Picky(epsilon=1)).pairs(dp.Pure(1)) == []
    assert Subject.of(abs).pairs(dp.Pure(1)) == []
