"""The Laplace law against its shifted self: the exact profile, on the reals and on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.guarantees.document import NUMBER, WHOLE_OR_NULL, named
from discreet.guarantees.guarantee import LossBound, N, group_size
from discreet.numeric.balls import arb, ball
from discreet.numeric.bands import UNIT, Atoms, Band, FloatArray, atoms, ends, widen
from discreet.numeric.exact import Number, integer, non_negative

_MOST_ATOMS = 4096  # with more steps, the noise is as good as real


@dataclass(frozen=True, init=False, repr=False)
class LaplacePair(LossBound):
    """Laplace noise of scale t under a shift of Δ, with ε = Δ/t: tighter than `Pure(ε)`.

    ``epsilon`` is that ε. Without ``steps`` the noise is real. With ``steps=n`` it is the discrete
    law P(k) ∝ e^(−|k|/t) on a grid where the shift is n whole steps.

    >>> LaplacePair(epsilon=2).delta(0.5)              # scale 2, Δ = 4
    0.5276334472589853
    >>> LaplacePair(epsilon=2, steps=4).delta(0.5)
    0.5420200181710241
    >>> LaplacePair(epsilon=1, steps=1).tv             # one step: that of randomized response
    0.4621171572600098
    """

    kind = "laplace"
    fields = named(epsilon=NUMBER, steps=WHOLE_OR_NULL)

    epsilon0: Fraction  #: Δ/t, exact: pure ε-differential privacy holds too
    steps: int | None  #: Δ in grid steps; None on the reals

    def __init__(self, epsilon: Number, steps: int | None = None) -> None:
        object.__setattr__(self, "epsilon0", non_negative(epsilon, name="epsilon"))
        whole = None if steps is None else integer(steps, name="steps", minimum=1)
        object.__setattr__(self, "steps", whole)

    def group(self, k: int) -> LaplacePair:
        """What is promised to k people together: the same noise under k times the shift."""
        size = group_size(k)
        return LaplacePair(self.epsilon0 * size, self.steps and self.steps * size)

    def _to(self, notion: type[N]) -> N:
        return notion._of_laplace(self.epsilon0, self.steps)

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        if self.steps is None or self.steps > _MOST_ATOMS:
            return None
        return _discrete_atoms(self.epsilon0, self.steps)

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        if x >= self.epsilon0:
            return ball(0)
        if self.steps is None:
            # Outputs up to (Δ − x·t)/2 have a loss above x: 1 − e^((x − ε₀)/2)
            return -ball((x - self.epsilon0) / 2).expm1()
        return _discrete_profile(self.epsilon0, self.steps, x)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        if self.steps is not None:
            return _discrete_band(self.epsilon0, self.steps, x)
        low, high = (-np.expm1(np.minimum(x - end, 0.0) / 2) for end in ends(self.epsilon0))
        return widen(low, high, units=16)


def _discrete_profile(epsilon: Fraction, steps: int, x: Fraction) -> arb:
    """δ(x) of the discrete Laplace law at 0 against the one at n = steps, for 0 ≤ x < ε.

    With r = e^(−1/t) = e^(−ε/n), the output k loses (|n − k| − |k|)/t, which is at least x up
    to m = ⌊(n − x·t)/2⌋. Those outputs are the best event, so with two geometric sums

        δ(x) = P(K ≤ m) − e^x·P(K ≤ m − n) = 1 − (r^(m+1) + e^x·r^(n−m))/(1 + r).
    """
    rate = epsilon / steps  # 1/t
    m = math.floor((steps - x / rate) / 2)
    r = (-ball(rate)).exp()
    above = (-ball((m + 1) * rate)).exp()
    below = ball(x - (steps - m) * rate).exp()
    return 1 - (above + below) / (1 + r)


def _discrete_band(epsilon: Fraction, steps: int, x: FloatArray) -> Band:
    """`_discrete_profile` in floats, at many x, written with y = ε − x so that nothing cancels:

        δ = ((1 − e^(m/t − y)) + r·(1 − r^m))/(1 + r),  m = ⌊y·t/2⌋.

    Any other m gives less, so a floor that is off by rounding can only cost: at a corner, next
    to nothing.
    """
    rate = float(epsilon / steps)
    r = np.exp(-rate)

    def at(end: float) -> FloatArray:
        y = np.maximum(end - x, 0.0)
        m = np.floor(y / (2 * rate))
        value: FloatArray = (-np.expm1(np.minimum(m * rate - y, 0.0)) - r * np.expm1(-m * rate)) / (
            1 + r
        )
        # m·rate and the floor are off by some units of y, and so are both terms.
        return np.where(y > 0, value + 16 * UNIT * y, 0.0)

    low, high = (at(end) for end in ends(epsilon))
    y = np.maximum(ends(epsilon)[1] - x, 0.0)
    return widen(low - 32 * UNIT * y, high, units=32)


def _discrete_atoms(epsilon: Fraction, steps: int) -> Atoms:
    """Output k from 0 to n loses ε·(1 − 2k/n); outputs below 0 and above n lose as 0 and n do."""
    rate = float(epsilon / steps)
    r = math.exp(-rate)
    k = np.arange(steps + 1, dtype=np.float64)
    masses = np.exp(-k * rate) * (-math.expm1(-rate) / (1 + r))
    masses[0], masses[-1] = 1 / (1 + r), math.exp(-steps * rate) / (1 + r)
    losses = (steps - 2 * k) * rate
    rounding = 4 * UNIT * np.abs(losses)
    return atoms(losses, masses, rounding=rounding, units=64 + 16 * float(epsilon))
