"""Where to look, and how finely: the tilt, the grid and the circle for one question.

Nothing here has to be exact. Whatever tilt, step and size come out, the bounds read from them
hold; a good plan makes them tight and cheap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.guarantees.bands import FloatArray
from discreet.guarantees.convolution.grid_loss import connect
from discreet.guarantees.guarantee import Guarantee

_SKETCH = 128  # points on each side of 0 that stand for one loss
_NATS = 32.0  # the circle leaves out a share of about e^(−32) of the tilted law
_FADED = 60.0  # and is so long that e^(−θ·W) is e^(−60)
FINE_STEP = 8e-5  # finer than what other accountants take
FINE_SIZE = 2**21  # but only while it is cheap
_COARSEST = 64.0  # e^h stays a float
STEEPEST = 600.0  # e^(θ·l) stays a float


@dataclass(frozen=True, eq=False)
class Sketch:
    """Losses and masses of one or more pairs, coarsely, to find the tilt with."""

    losses: FloatArray
    masses: FloatArray
    starts: NDArray[np.intp]  #: where the next pair begins
    counts: FloatArray
    reach: float  #: the largest loss of one pair

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """log E e^(θ·L) of the sum of all losses, and its first two derivatives."""
        weights = self.masses * np.exp(tilt * self.losses)
        total = np.add.reduceat(weights, self.starts)
        first = np.add.reduceat(weights * self.losses, self.starts) / total
        second = np.add.reduceat(weights * self.losses**2, self.starts) / total
        spread = np.maximum(second - first**2, 0.0)
        log_total = np.log(total)
        return tuple(float(self.counts @ part) for part in (log_total, first, spread))  # type: ignore[return-value]


@dataclass(frozen=True)
class Plan:
    """Tilt θ, grid step h, points on the circle, rates for its tails, and the tail cut."""

    tilt: float
    step: float
    size: int
    rates: tuple[float, float]
    tail: float
    middle: float  #: where the answer is expected
    reach: float  #: the largest loss of one pair


def sketch(parts: Sequence[tuple[Guarantee, int]], *, tail: float, swapped: bool) -> Sketch:
    """Put the sketches of all parts side by side."""
    rows = [sketch_of(pair, _power_of_ten(tail), swapped) for pair, _ in parts]
    sizes = [losses.size for losses, _ in rows]
    return Sketch(
        losses=np.concatenate([losses for losses, _ in rows]),
        masses=np.concatenate([masses for _, masses in rows]),
        starts=np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.intp),
        counts=np.array([float(count) for _, count in parts]),
        reach=max(float(np.max(np.abs(losses))) for losses, _ in rows),
    )


@lru_cache(maxsize=4096)
def sketch_of(pair: Guarantee, tail: float, swapped: bool) -> tuple[FloatArray, FloatArray]:
    # Dots that are dense around 0, where a rarely sampled person leaves most of the mass.
    dense = np.linspace(0.0, 1.0, _SKETCH + 1) ** 3
    right, left = (
        max(pair._reach(tail, swapped=side), 1e-300) * dense for side in (swapped, not swapped)
    )
    loss = connect(pair, right, left, swapped=swapped)
    return np.concatenate((-left[:0:-1], right)), loss.masses


def _power_of_ten(tail: float) -> float:
    return 10.0 ** math.floor(math.log10(tail))


def tilt_for_delta(sketch: Sketch, delta: float) -> float:
    """The θ at which the saddle point approximation of δ(E_θ L) is `delta`."""

    def larger(log_moment: float, tilt: float, mean: float, variance: float) -> bool:
        log_density = log_moment - tilt * mean
        weight = tilt * (1 + tilt) * math.sqrt(2 * math.pi * variance) + 1
        return log_density - math.log(weight) > math.log(delta)

    return _bisect(sketch, larger)


def tilt_for_epsilon(sketch: Sketch, epsilon: float) -> float:
    """The θ whose tilted mean is `epsilon`."""
    return _bisect(sketch, lambda log_moment, tilt, mean, variance: mean < epsilon)


def _bisect(sketch: Sketch, too_small: Callable[[float, float, float, float], bool]) -> float:
    """The tilt where `too_small` ends: at least one deviation's worth, and not so steep that
    the tilted law shrinks to the largest loss, where there is nothing left to gain."""
    _, start, variance = sketch.cumulants(0.0)
    high = STEEPEST / sketch.reach
    if variance == 0:
        return high
    # A gentle tilt needs a long circle, so take no less than 1/σ, unless tails are so heavy
    # that this already moves the law away to them.
    deviation = math.sqrt(variance)
    low = min(1 / deviation, high)
    while sketch.cumulants(low)[1] > start + 4 * deviation:
        low /= 1.5
    for _ in range(30):
        tilt = math.sqrt(low * high)
        log_moment, mean, left = sketch.cumulants(tilt)
        if left > variance / 1000 and too_small(log_moment, tilt, mean, left):
            low = tilt
        else:
            high = tilt
    return low


def make_plan(
    sketch: Sketch, tilt: float, *, tail: float, tolerance: float | None, lattice: float | None
) -> Plan:
    """The coarsest grid that should reach the tolerance; without one, a fine and cheap grid."""
    _, mean, variance = sketch.cumulants(tilt)
    deviation = max(math.sqrt(variance), 1e-9 * sketch.reach)
    down, up, tails = _tails(sketch, tilt, deviation)
    circle = max(tails, _FADED / tilt)
    # The lower bound is off by about 2.6·½·θ·(θ+1)·k·h²/2 of δ, which is 0.64·(θ+1)·k·h² of ε.
    aim = max(mean, deviation) * (1e-3 if tolerance is None else tolerance)
    # That holds while it is a small part of δ.
    aim = min(aim, 0.3 / tilt)
    step = math.sqrt(0.5 * aim / ((tilt + 1) * float(sketch.counts.sum())))
    step = min(step, deviation / 8, 1 / (4 * tilt), _COARSEST)
    if tolerance is None:
        step = min(step, max(FINE_STEP, circle / FINE_SIZE))
    if lattice is not None and lattice >= step:
        step = lattice / math.ceil(lattice / step)  # then its losses need not be moved
    return sized(Plan(tilt, short(step), 0, (down, up), tail, mean, sketch.reach), circle)


def _tails(sketch: Sketch, tilt: float, deviation: float) -> tuple[float, float, float]:
    """Rates λ for the lower and the upper tail, and the length of a circle that has both.

    By Chernoff at λ/2, λ or 2λ, little mass lies further than half of the circle below the
    middle, or all of it above; see `Curve._aliased`.
    """
    log_moment, mean, _ = sketch.cumulants(tilt)

    def distance(rate: float) -> float:
        moment = sketch.cumulants(tilt + rate)[0] - log_moment - rate * mean
        return (moment + _NATS) / abs(rate)

    steepest = 1.1 * STEEPEST / sketch.reach
    rates = [tilt * share for share in (0.0625, 0.125, 0.25, 0.5, 1.0)]
    rates += [times / deviation for times in (1.0, 2.0, 4.0, 8.0)] + [0.02 * steepest]
    below, down = min((distance(-rate), rate) for rate in rates if rate - tilt < steepest)
    above, up = min((distance(rate), rate) for rate in rates if rate + tilt < steepest)
    return down / 2, up / 2, max(2 * below, above)


def sized(plan: Plan, circle: float) -> Plan:
    """The plan with as many points as the circle needs."""
    from scipy import fft

    size = fft.next_fast_len(max(64, math.ceil(circle / plan.step)), real=True)
    size += size % 2
    size = fft.next_fast_len(size, real=True)
    while size % 2:
        size = fft.next_fast_len(size + 1, real=True)
    return replace(plan, size=size)


def short(step: float) -> float:
    """A float of 26 digits at or just above: its multiples by up to 2²⁷ are exact.

    >>> short(0.1) - 0.1 < 2e-9, short(0.5)
    (True, 0.5)
    """
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(mantissa * 2**26) / 2**26, exponent)
