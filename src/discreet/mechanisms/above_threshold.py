"""Above threshold: the first score in a stream that is large enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from numpy.typing import ArrayLike

from discreet.guarantees import Pure
from discreet.hints import spelled
from discreet.inputs import Stream
from discreet.laws.sparse_vector import FirstAbove
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.numeric.exact import Number


@dataclass(frozen=True, init=False)
class AboveThreshold:
    """Finds the first score at or above a threshold: ε-differential privacy, however far it looks.

    It is ``SparseVector`` with one hit; see there for the noise, for asking one score at a time,
    and for the lead of the hit. ``threshold`` is in the units of the scores, and public. One person
    can move each score by at most ``sensitivity``; say ``monotone=True`` if all scores then move
    up or all move down. ``epsilon`` is the ε of a whole run.

    Cost: ``guarantee``. Error: ``error(0.95, queries=k)`` in the units of the scores.

    >>> mechanism = AboveThreshold(sensitivity=1, epsilon=1, threshold=1000)
    >>> mechanism.release([10, 20, 5000, 30]), mechanism.release([10, 20, 30])
    (2, None)
    >>> mechanism.error(0.95, queries=100)
    36.54379608490413
    """

    sparse: SparseVector

    @spelled
    def __init__(
        self, *, sensitivity: Number, epsilon: Number, threshold: Number, monotone: bool = False
    ) -> None:
        sparse = SparseVector(
            sensitivity=sensitivity, epsilon=epsilon, threshold=threshold, hits=1, monotone=monotone
        )
        object.__setattr__(self, "sparse", sparse)

    @property
    def sensitivity(self) -> Fraction:
        """How much one person can move a score."""
        return self.sparse.sensitivity

    @property
    def epsilon(self) -> Fraction:
        """The ε of the guarantee."""
        return self.sparse.epsilon

    @property
    def threshold(self) -> Fraction:
        """What scores are compared with, before noise."""
        return self.sparse.threshold

    @property
    def monotone(self) -> bool:
        """Whether one person moves all scores up or all down."""
        return self.sparse.monotone

    def release(self, stream: ArrayLike | Iterable[int | float]) -> int | None:
        """Return the index of the first score found to be above, or None if there is none.

        ``stream`` holds the scores in order. A list or array is compared at once; any other
        iterable is read one score at a time and no further than the hit. Each call spends
        ``guarantee``.
        """
        answers = self.sparse.release(stream)
        return len(answers) - 1 if answers and answers[-1] else None

    @property
    def guarantee(self) -> Pure:
        """ε-differential privacy."""
        return self.sparse.guarantee

    def error(self, confidence: Number = Fraction(95, 100), *, queries: int) -> float:
        """Return α such that, with probability ``confidence``, the result is α-right.

        That is: the score found is at least threshold − α, all before it at most threshold + α.
        ``confidence`` is between 0 and 1; 0.95 if left out. ``queries`` is how many scores there
        are.
        """
        return self.sparse.error(confidence, queries=queries)

    @property
    def inputs(self) -> Stream:
        """What one person can do to the stream."""
        return self.sparse.inputs

    def law(self, scores: ArrayLike) -> FirstAbove:
        """Return the exact law of ``release(scores)``."""
        return FirstAbove(self.sparse.law(scores))
