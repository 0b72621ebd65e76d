"""What neighbouring inputs of a mechanism look like: the facts an auditor needs to search them.

The ``inputs`` of a mechanism say what it takes and how far one person can move that. Nothing here
computes anything: searching is left to the auditor.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Numbers that one person moves by at most `total` together, and each by at most `largest`.

    `norm` says how the moves add up. `integers` and `reals` say which kinds of numbers there are.

    >>> Numbers(total=Fraction(2), largest=Fraction(1), norm="l1").together
    False
    """

    total: Fraction
    largest: Fraction
    norm: Literal["l1", "l2"]
    integers: bool = True
    reals: bool = True

    @property
    def together(self) -> bool:
        """Whether a single number may take all of the move."""
        return self.largest >= self.total


@dataclass(frozen=True)
class Categories:
    """One of the categories 0 … count − 1; any of them may become any other."""

    count: int


@dataclass(frozen=True)
class Scores:
    """One score per candidate, each moved by at most `sensitivity`; all one way if `monotone`."""

    sensitivity: Fraction
    monotone: bool
    least: int = 1  #: the least number of candidates


@dataclass(frozen=True)
class Stream:
    """Scores that come one after another and are compared with a threshold."""

    sensitivity: Fraction
    monotone: bool
    threshold: Fraction


@dataclass(frozen=True)
class UnitCounts:
    """How many units hold a key; one unit more or less is in at most `max_groups` keys."""

    max_groups: int


@dataclass(frozen=True)
class RowCounts:
    """How many rows each candidate has; one person adds or removes at most `rows` rows."""

    rows: int


@dataclass(frozen=True)
class BoundedMean:
    """A mean of n values in [0, 1], one of which is replaced."""

    n: int


@dataclass(frozen=True)
class Sampled:
    """Pairs (input without the person, input with them); None as the second if they are absent.

    Neighbours are (x, y) and (x, None), for x and y that are neighbours in `inputs`.
    """

    inputs: Any


Inputs: TypeAlias = (
    Numbers | Categories | Scores | Stream | UnitCounts | RowCounts | BoundedMean | Sampled
)
