"""The classic overfitting attack: noise that looks like signal once the holdout has been asked.

Features and labels are fair coins, so every classifier has a true accuracy of exactly ½. The
analyst asks the holdout for the accuracy of each feature as a classifier, turns those below ½
around, lets all of them vote, asks for the accuracy of the vote, and repeats with more features.

Only one thing matters of a feature and the label: whether they agree, a fair coin as well. So a
run is a matrix of such coins, one row a feature and one column a record.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.adaptive.ladder import Ladder
from discreet.adaptive.thresholdout import Thresholdout
from discreet.errors import Refused

Bits = NDArray[np.uint8]
TRUTH = 0.5


@dataclass(frozen=True)
class Reply:
    """What a holdout says about a classifier: a value, and the truth's stated interval."""

    value: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        return self.low <= TRUTH <= self.high


Holdout = Callable[[Bits, Bits], Reply]  # where the classifier is right, on holdout and training


class Answering(Protocol):
    """What all our guards answer."""

    @property
    def value(self) -> float: ...

    @property
    def interval(self) -> tuple[float, float]: ...


@dataclass(frozen=True)
class Outcome:
    """Of one attack: what was said about the votes, and whether every interval held the truth."""

    votes: list[Reply]
    all_hold: bool
    refused: bool  # whether the holdout gave out before the attack did


def attack(
    holdout: Holdout, *, n: int, features: int, rounds: int, coins: np.random.Generator
) -> Outcome:
    """Ask for features/rounds features, then for the vote of all so far; and so on."""
    block = features // rounds
    yes = np.zeros((2, n), np.int32)  # votes for what is right, on holdout and training
    votes: list[Reply] = []
    all_hold = True
    for round_ in range(1, rounds + 1):
        both = _coins(coins, 2 * block, n).reshape(2, block, n)
        try:
            replies = [holdout(both[0, i], both[1, i]) for i in range(block)]
            turned = np.array([reply.value < TRUTH for reply in replies], np.uint8)
            yes += (both ^ turned[:, None]).sum(axis=1, dtype=np.int32)
            # A draw is decided by a fair coin.
            lead = 2 * yes - round_ * block
            ballots = (lead > 0) | ((lead == 0) & _coins(coins, 2, n).astype(bool))
            votes.append(holdout(*ballots.view(np.uint8)))
        except Refused:
            return Outcome(votes, all_hold, True)
        all_hold &= all(reply.holds for reply in [*replies, votes[-1]])
    return Outcome(votes, all_hold, False)


def _coins(coins: np.random.Generator, rows: int, n: int) -> Bits:
    words = np.frombuffer(coins.bytes(rows * (n // 8 + 1)), np.uint8).reshape(rows, -1)
    return np.unpackbits(words, axis=1, count=n)


def naive(n: int, confidence: float) -> Holdout:
    """The holdout's own accuracy, with the interval that holds for one question (Hoeffding)."""
    radius = math.sqrt(math.log(2 / (1 - confidence)) / (2 * n))

    def reply(right: Bits, _: Bits) -> Reply:
        mean = float(right.mean())
        return Reply(mean, mean - radius, mean + radius)

    return reply


class Asking(Protocol):
    """An Analyst over the numbers of the records."""

    def ask(
        self, phi: Callable[[NDArray[np.intp]], Bits], *, vectorized: bool = False
    ) -> Answering: ...


def analyst(guard: Asking) -> Holdout:
    """Every accuracy is asked of an analyst."""

    def reply(right: Bits, _: Bits) -> Reply:
        answer = guard.ask(lambda rows: right[rows], vectorized=True)
        return Reply(answer.value, *answer.interval)

    return reply


def thresholdout(guard: Thresholdout) -> Holdout:
    """Every accuracy is asked of a reusable holdout, with that on training as the guess."""

    def reply(right: Bits, training: Bits) -> Reply:
        guess = float(training.mean())
        answer = guard.ask(lambda rows: right[rows], guess=guess, vectorized=True)
        return Reply(answer.value, *answer.interval)

    return reply


def ladder(guard: Ladder) -> Holdout:
    """Every classifier is submitted; what comes back is the leader's standing.

    Where a feature did not improve, all that is known is that it is no better than the leader.
    """

    def reply(right: Bits, _: Bits) -> Reply:
        standing = guard.submit(right)
        return Reply(standing.value, *standing.interval)

    return reply
