"""What every guarantee can answer."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from discreet.exact import Number


@runtime_checkable
class Guarantee(Protocol):
    """An upper bound on the privacy profile of a mechanism.

    The profile is the hockey-stick divergence between the outputs on two neighbours,

        δ(ε) = sup over events E of  P(M(S) ∈ E) − e^ε·P(M(S′) ∈ E),

    taken over all neighbours in both orders and defined for every real ε. It never increases,
    it is convex in e^ε, and at ε = 0 it is the total variation distance. Whatever a guarantee
    answers is rounded outward: never below what it promises.

    >>> from discreet.guarantees import Pure
    >>> isinstance(Pure(epsilon=1), Guarantee)
    True
    """

    def delta(self, epsilon: Number) -> float:
        """δ at this ε (any real number), rounded up."""
        ...

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 whose δ is at most this one, rounded up; infinite if there is none."""
        ...

    @property
    def tv(self) -> float:
        """Total variation distance, δ(0), rounded up."""
        ...

    @property
    def advantage(self) -> float:
        """How much better than chance anyone can tell two neighbours apart: hit rate minus
        false-alarm rate of the best test, which is the total variation distance."""
        ...
