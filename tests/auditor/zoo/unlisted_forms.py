"""Not on the published list: choices, strings, sets, dicts, lengths, None and errors."""

from __future__ import annotations

from functools import partial
from math import e, exp
from typing import Any

import numpy as np

import discreet as dp
from tests.auditor.zoo import drawing
from tests.auditor.zoo.additive import whole_masses
from tests.auditor.zoo.case import Case
from tests.auditor.zoo.drawing import real, steps
from tests.auditor.zoo.laws import Laws, laws
from tests.auditor.zoo.responding import apart
from tests.auditor.zoo.selecting import gibbs, gibbs_laws
from tests.auditor.zoo.sparse import answers, row_laws

ONE = dp.Pure(1)
WORDS = ("ash", "birch", "cedar", "dogwood", "elm")
SETS = [frozenset(w for i, w in enumerate(WORDS) if code >> i & 1) for code in range(32)]


def one_category_raw(value: int, size: int) -> Any:
    """Five categories by randomized response, but the last is always told."""
    told = np.full(size, value)
    if value == 4:
        return told
    lies = ~drawing.gibbs_first(1, 5, size)
    other = drawing.dice(4, size)
    told[lies] = (other + (other >= value))[lies]
    return told


def one_category_laws() -> Laws:
    lie = 1 / (e + 4)
    return laws([lie, lie, lie, lie, e * lie][::-1], [0.0, 0.0, 0.0, 0.0, 1.0])


def as_long_as_the_input(value: Any, size: int) -> Any:
    bits = np.array(value, np.int8)
    return bits ^ drawing.flips(1, size * bits.size).reshape(size, -1)


def words(value: str, size: int, *, epsilon: int) -> list[str]:
    """Randomized response on five words."""
    own = WORDS.index(value)
    truth = drawing.gibbs_first(epsilon, 5, size)
    other = drawing.dice(4, size)
    place = np.where(truth, own, other + (other >= own))
    return [WORDS[i] for i in place.tolist()]


def words_laws(epsilon: float) -> Laws:
    lie = 1 / (exp(epsilon) + 4)
    p = np.full(5, lie)
    p[0] = exp(epsilon) * lie
    return laws(p, np.roll(p, 1))


def sets(value: frozenset[str], size: int, *, epsilon: int) -> list[frozenset[str]]:
    """Each of five words is in the set by a coin of its own."""
    inside = sum(1 << i for i, word in enumerate(WORDS) if word in value)
    flips = drawing.flips(epsilon, 5 * size).reshape(size, 5) @ (1 << np.arange(5))
    return [SETS[i] for i in (inside ^ flips).tolist()]


def coin_laws(epsilon: float) -> Laws:
    truth = 1 / (1 + exp(-epsilon))
    return laws([truth, 1 - truth], [1 - truth, truth])


def perhaps_none(value: int, size: int, *, least: int = 3) -> list[int | None]:
    """None where the *true* count is small, and seldom otherwise."""
    noisy = (value + drawing.discrete_laplace(1, size)).tolist()
    seldom = drawing.chance("1/10", size) if value >= least else drawing.chance("9/10", size)
    return [None if gone else n for n, gone in zip(noisy, seldom.tolist(), strict=True)]


def perhaps_none_laws() -> Laws:
    return laws(
        [0.9, *(0.1 * whole_masses(2))],
        [0.1, *(0.9 * whole_masses(3))],
    )


def keys_by_chance(value: dict[str, int], size: int) -> list[dict[str, int]]:
    """A key is named with probability 1/5, without a threshold."""
    noisy = [(word, (n + drawing.discrete_laplace(1, size)).tolist()) for word, n in value.items()]
    named = [drawing.chance("1/5", size).tolist() for _ in value]
    return [
        {word: n[i] for (word, n), keep in zip(noisy, named, strict=True) if keep[i]}
        for i in range(size)
    ]


def seldom_fails(value: int, size: int) -> list[int]:
    """One run in twenty fails, if the value is 1. Not batched: a failure is one output."""
    if value == 1 and drawing.chance("1/20", 1)[0]:
        raise ZeroDivisionError("division by zero")
    return [int(x) for x in value + drawing.discrete_laplace(1, size)]


def lead(value: Any, size: int, *, scale: Any) -> Any:
    """The better of two and by how much, as (index, lead)."""
    apart_by = steps(value[0]) + drawing.laplace(scale, size)
    apart_by -= steps(value[1]) + drawing.laplace(scale, size)
    return np.stack([(apart_by < 0).astype(float), real(abs(apart_by))], axis=1)


def lead_laws(scale: float) -> Laws:
    """The difference of two Laplace draws: P(D > d) = (2 + d/b)·e^(−d/b)/4 for d ≥ 0.

    Scores (0, 1) against (1, 0) move it by 2: the loss tends to 2/b in the tails.
    """
    edges = np.linspace(-30, 30, 6001)

    def above(d: Any) -> Any:
        tail = (2 + abs(d) / scale) * np.exp(-abs(d) / scale) / 4
        return np.where(d >= 0, tail, 1 - tail)

    def around(shift: float) -> Any:
        low, high = above(shift - edges), above(edges - shift)
        inner = np.where(low[1:] < 0.5, np.diff(low), -np.diff(high))
        return np.concatenate([low[:1], inner, high[-1:]])

    return laws(around(-1.0), around(1.0), limit=2 / scale)


def chen(value: Any, size: int) -> Any:
    """SVT after Chen and others: Lap(2/ε) on threshold and queries, no cutoff."""
    return answers(value, size, threshold=0, rho=2, nu=2, hits=None)


FIVES = ((0,) * 5 + (1,) * 5, (1,) * 5 + (0,) * 5)

CASES = [
    Case(
        "U30",
        "five categories, one never flipped",
        one_category_raw,
        (0, 4),
        ONE,
        one_category_laws,
        True,
    ),
    Case(
        "U31",
        "randomized response as long as the input",
        as_long_as_the_input,
        ((1, 0, 1), (1, 0, 1, 1)),
        ONE,
        apart,
        True,
    ),
    Case(
        "U32",
        "exponential mechanism e^(q/2), scores of sensitivity 2",
        partial(gibbs, half=2),
        ((6, 2), (8, 0)),
        ONE,
        partial(gibbs_laws, (6, 2), (8, 0), 2),
        True,
    ),
    Case(
        "U33",
        "noisy max with its lead, half the noise",
        partial(lead, scale=1),
        ((0, 1), (1, 0)),
        ONE,
        partial(lead_laws, 1.0),
        True,
    ),
    Case(
        "U34",
        "words by randomized response at ε = 2, claimed 1",
        partial(words, epsilon=2),
        ("ash", "birch"),
        ONE,
        partial(words_laws, 2.0),
        True,
    ),
    Case(
        "U35",
        "a set whose members flip at ε = 2, claimed 1",
        partial(sets, epsilon=2),
        (frozenset({"ash", "elm"}), frozenset({"ash"})),
        ONE,
        partial(coin_laws, 2.0),
        True,
    ),
    Case(
        "U36",
        "None for small true counts",
        perhaps_none,
        (2, 3),
        ONE,
        perhaps_none_laws,
        True,
    ),
    Case(
        "U37",
        "a key of the data, named one time in five",
        keys_by_chance,
        ({"flu": 40, "rare": 1}, {"flu": 40}),
        ONE,
        lambda: laws([0.2, 0.8], [0.0, 1.0]),
        True,
    ),
    Case(
        "U38",
        "fails one time in twenty on one input",
        seldom_fails,
        (0, 1),
        ONE,
        lambda: laws([0.0, 1.0], [0.05, 0.95]),
        True,
        batched=False,
    ),
    Case(
        "U39",
        "SVT after Chen and others: no cutoff",
        chen,
        FIVES,
        ONE,
        partial(row_laws, *FIVES, 0.0, 2.0, 2.0, None),
        True,
    ),
]
