"""What quantiles are asked of: probabilities, and rows counted at each candidate."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any, Final

import numpy as np

from discreet.errors import InvalidArgument
from discreet.exact import probability
from discreet.mechanisms.quantiles_tree import Counts
from discreet.mechanisms.values import read

MOST_CANDIDATES: Final = 1 << 20
MOST_ASKED: Final = 1000
# Distances are whole numbers below 2^62, so counts are cut at 2^62/(denominator·candidates).
# With this limit on the product that is at least 2^32 rows at one candidate. A cut never moves
# neighbours apart, and a refusal would depend on the data.
LONGEST: Final = 1 << 30


def read_probabilities(given: object) -> tuple[Fraction, ...]:
    """Read distinct probabilities strictly between 0 and 1, in any order.

    >>> read_probabilities([0.5, "1/3"])
    (Fraction(1, 2), Fraction(1, 3))
    """
    if not isinstance(given, tuple | list) or not 1 <= len(given) <= MOST_ASKED:
        raise InvalidArgument(
            name="probabilities",
            expected=f"a list or tuple of 1 to {MOST_ASKED} numbers",
            given=_how_many(given),
            hint="for the median, probabilities=[0.5]",
        )
    exact = tuple(probability(p, name="probabilities") for p in given)
    if len(set(exact)) == len(exact):
        return exact
    raise InvalidArgument(name="probabilities", expected="distinct", given="some of them twice")


def read_groups(counts: Any, probabilities: tuple[Fraction, ...]) -> tuple[Counts, tuple[int, ...]]:
    """Return counts as groups × candidates, and the shape they came in."""
    if isinstance(counts, np.ndarray) and counts.ndim == 2 and len(counts) == 0:
        return np.zeros(counts.shape, np.int64), counts.shape  # no groups: an answer too
    values = read(counts, name="counts")
    shape = values.shape or ()
    if not values.whole or len(shape) not in (1, 2):
        raise InvalidArgument(
            name="counts",
            expected="whole numbers, one for each candidate, in one row or one row a group",
            given=InvalidArgument.describe_data(counts),
            hint="count the values at each candidate",
        )
    groups = values.flat.reshape(-1, shape[-1])
    return np.clip(groups, 0, largest_count(shape[-1], probabilities)), shape


def largest_count(candidates: int, probabilities: tuple[Fraction, ...]) -> int:
    if candidates > MOST_CANDIDATES:
        raise InvalidArgument(
            name="counts",
            expected=f"those of at most {MOST_CANDIDATES} candidates",
            given=str(candidates),
            hint="take a coarser grid",
        )
    denominator = lcm(*(p.denominator for p in probabilities))
    if denominator * candidates > LONGEST:
        raise InvalidArgument(
            name="probabilities",
            expected=f"multiples of 1/d with d up to {LONGEST // candidates} "
            f"for {candidates} candidates",
            given=f"multiples of 1/{denominator}" if denominator < 10**20 else "finer ones",
            hint="round them, for example to three digits",
        )
    return (1 << 62) // (denominator * candidates)


def _how_many(given: object) -> str:
    if isinstance(given, tuple | list):
        return f"{len(given)} of them"
    return InvalidArgument.describe_parameter(given)
