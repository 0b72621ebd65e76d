"""Reading both bounds of a composed profile from one transform.

**Above.** With tilted masses p(j) at the grid points j·h, tilt θ and scale M,

    δ(j·h) = M·e^(−θ·j·h)·Σ over n ≥ 1 of w(n)·p(j + n),   w(n) = e^(−θ·n·h)·(1 − e^(−n·h)).

The sum is a correlation, so its transform is the product of two, and that of w is a geometric
series. On the circle, masses from elsewhere can only add: the sum stays an upper bound.

**Below.** Connecting the dots replaced each likelihood ratio X by X·W with W in [e^(−h), e^h]
and mean 1 given X. Whatever X is, W is at most as spread out, in convex order, as a product of
two independent factors e^(±h/2) of mean 1 each. Let V be the product of all 2k of them, F the
composed profile above and C the true one, both as functions of K = e^ε. Then, with
c(v) = v·C(K/v), which is convex, and nodes v(n) = e^(n·r·h) around v(0) = 1,

    F(K) ≤ E c(V) ≤ Σ over n of u(n)·c(v(n)) ≤ u(0)·C(K) + Σ over n ≠ 0 of u(n)·v(n)·F(K/v(n)),

where u(n) are the shares of the nodes when V is split between its two neighbours. Solved for
C(K), that is a lower bound, and it is off by terms of order k·h² only, as the upper one is.
The proof that W is below the two factors is in docs/composition.md.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.guarantees.bands import UNIT, FloatArray
from discreet.guarantees.convolution.spectrum import NEGLIGIBLE, Spectrum

_NODES = 20  # on each side; V is hardly ever beyond them
_FEW = 64  # so many coefficients among N cost as much as a transform, for some hundred sums
_SPACING = 1.6  # of the nodes, in standard deviations of log V: the best for a smooth profile
_RARE = 1e-12  # nodes that add less than this share are not looked at


class Curve:
    """A composed profile at the points of the grid, from above and from below."""

    def __init__(self, spectrum: Spectrum) -> None:
        self.step, self.tilt, self.size = spectrum.step, spectrum.tilt, spectrum.size
        self.count = spectrum.count
        self._spectrum = spectrum
        kernel = _kernel(spectrum.kept, self.size, self.step, self.tilt)
        weights = np.abs(kernel) * np.exp(np.minimum(spectrum.log_bound, 1.0))
        lost = float((spectrum.error * weights).sum()) + 1e-30
        dropped = math.exp(-NEGLIGIBLE) * self.size * _largest_weight(self.step, self.tilt)
        transform = (8 * math.log2(self.size) + 80) * UNIT
        self._error = 2 * (lost + transform * float(weights.sum()) + dropped) / self.size
        ends = (spectrum.kept == 0) | (2 * spectrum.kept == self.size)
        self._terms = spectrum.values * kernel
        self._sums: FloatArray | None = None
        self._known: dict[int, float] = {}
        if spectrum.kept.size * _FEW > self.size:  # all sums at once cost less than one by one
            from scipy import fft

            row = np.zeros(self.size // 2 + 1, np.complex128)
            row[spectrum.kept] = self._terms
            self._sums = fft.irfft(row, self.size)
        else:
            self._terms = np.where(ends, 1.0, 2.0) * self._terms
        # Undoing the tilt multiplies by e^(log_scale − θ·ε): the exponent's own rounding.
        self._relative = UNIT * (64 + 8 * spectrum.count + 8 * spectrum.log_size)
        self._failing = -math.expm1(spectrum.no_failure) * (1 - 8 * UNIT)
        self.infinite = -math.expm1(spectrum.survival) * (1 + 8 * UNIT)

    def _sum(self, j: int) -> float:
        """Σ w(n)·p(j + n), by the inverse transform."""
        if self._sums is not None:
            return float(self._sums[j % self.size])
        if j not in self._known:
            places = self._spectrum.kept * (j % self.size) % self.size
            turns = np.exp(2j * np.pi / self.size * places)
            self._known[j] = float((self._terms @ turns).real) / self.size
        return self._known[j]

    def upper(self, j: int) -> float:
        """An upper bound on δ at ε = j·h, at most 1."""
        scale = self._scale(j)
        if scale > 700:
            return 1.0
        finite = math.exp(scale) * (max(self._sum(j), 0.0) + self._error)
        slack = self._relative + 4 * UNIT * abs(scale)
        return min(1.0, (finite * (1 + slack) + self.infinite) * (1 + 4 * UNIT))

    def lower(self, j: int) -> float:
        """A lower bound on δ at ε = j·h of the pairs themselves, at least 0."""
        apart, shares, rest = nodes(_rounded(self.count), self.step)
        connected, middle = self._connected(j), 1.0
        for n, share in shares:
            weight = share * math.exp(n * apart * self.step)
            if n == 0:
                middle = share
            elif weight < _RARE * connected:
                rest += weight  # as if the profile were 1 there
            else:
                rest += weight * self.upper(j - n * apart)  # u·v·F(K/v)
        bound = (connected - rest * (1 + 64 * UNIT)) / middle * (1 - 64 * UNIT)
        return max(bound, self._failing)

    # -- between the points ------------------------------------------------------------------

    def delta_above(self, x: float) -> float:
        """An upper bound on δ at any x ≥ 0: between two points the line in e^x."""
        j = math.floor(x / self.step)
        left, right = self.upper(j), self.upper(j + 1)
        share = math.expm1(max(0.0, x - j * self.step)) / math.expm1(self.step)
        line = left + min(1.0, share * (1 - 16 * UNIT)) * (right - left)
        return min(left, max(0.0, line * (1 + 16 * UNIT)))

    def epsilon_above(self, target: float, top: int) -> float:
        """A float ε ≥ 0 with δ ≤ target, the least that is found; infinite beyond `top`."""
        if self.upper(0) <= target:
            return 0.0
        low, high = 0, max(top, 1)
        if self.upper(high) > target:
            return math.inf
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.upper(middle) > target else (low, middle)
        left, right = self.upper(low), self.upper(high)
        # Where the line between the two points meets the target, as a share in e^ε.
        share = (left - target) / (left - right) if left > right else 1.0
        offset = math.log1p(min(1.0, share * (1 + 16 * UNIT)) * math.expm1(self.step))
        return (low * self.step + offset * (1 + 16 * UNIT)) * (1 + 4 * UNIT)

    def epsilon_below(self, target: float, upper: float) -> float:
        """An ε ≥ 0 that is certainly not enough for δ ≤ target; 0 if none is found."""
        j = max(0, math.floor((self._spectrum.mean if math.isinf(upper) else upper) / self.step))
        # The lower bound is a share of the upper one, which falls by about e^(−θ·h) a step.
        share = self.lower(j) / self.upper(j) if self.upper(j) > 0 else 0.0
        back = 1 if share <= 0 else math.ceil(-math.log(min(share, 1.0)) / (self.tilt * self.step))
        while j > 0 and self.lower(max(0, j - back)) < target:
            j, back = max(0, j - back), 2 * back
        low = max(0, j - back)
        here = self.lower(low)
        if here < target:
            return 0.0
        # To the right of a point the profile, convex in e^ε, falls no faster than on its left.
        slope = min((self.upper(low - m) - here) / -math.expm1(-m * self.step) for m in (1, 8, 64))
        if slope <= 0:
            return low * self.step
        return (low * self.step + math.log1p((here - target) / slope)) * (1 - 16 * UNIT)

    def _connected(self, j: int) -> float:
        """A lower bound on the profile of the connected dots, before any loss was moved."""
        s, scale = self._spectrum, self._scale(j)
        if scale > 700:
            return 0.0
        extra = s.width + math.expm1(min(s.noise, 100.0))  # what was added to be safe
        finite = self._sum(j) - self._error - self._aliased(j) - extra
        slack = self._relative + 4 * UNIT * abs(scale)
        return max(0.0, math.exp(scale) * finite * (1 - slack)) + self._failing

    def _scale(self, j: int) -> float:
        return self._spectrum.log_scale - self.tilt * j * self.step

    def _aliased(self, j: int) -> float:
        """What masses from elsewhere on the circle can have added to the sum at j.

        Those within half a circle below j come in with a weight of e^(−θ·W/2) at most, W the
        length of the circle. Others are a tail of the tilted law (Chernoff).
        """
        s, here, circle = self._spectrum, j * self.step, self.size * self.step
        faded = math.exp(-self.tilt * circle / 2)
        down, up = s.rates
        low = min(m + down * 2**i * (here - circle / 2) for i, m in enumerate(s.below))
        high = min(m - up * 2**i * (here + circle) for i, m in enumerate(s.above))
        tails = math.exp(min(0.0, low)) + math.exp(min(0.0, high))
        return (faded + tails) / -math.expm1(-self.tilt * circle)


def _kernel(kept: NDArray[np.intp], size: int, step: float, tilt: float) -> NDArray[np.complex128]:
    """The transform of the weights w(n), n ≥ 1: r·(1 − e^(−h))/((1 − r)·(1 − r′)) with
    r = e^(−θ·h + i·φ) and r′ = r·e^(−h)."""
    phase = 2j * np.pi / size * kept
    first = np.expm1(phase - tilt * step)
    second = np.expm1(phase - (tilt + 1) * step)
    result: NDArray[np.complex128] = (first + 1) * -math.expm1(-step) / (first * second)
    return result


def _largest_weight(step: float, tilt: float) -> float:
    """At least the sum of the weights w(n), which no coefficient of their transform exceeds."""
    return 1 / (-math.expm1(-tilt * step))


def _rounded(count: int) -> int:
    """The count rounded up to five binary digits: a larger one keeps the bound, and few
    different ones are remembered."""
    drop = max(0, count.bit_length() - 5)
    return -(-count >> drop) << drop


@lru_cache(maxsize=256)
def nodes(count: int, step: float) -> tuple[int, tuple[tuple[int, float], ...], float]:
    """How many steps the nodes are apart, their shares u(n), and a bound on what lies beyond.

    log V = (B − k)·h with B binomial of 2k trials and p = 1/(1 + e^(h/2)).
    """
    apart = max(1, round(_SPACING * math.sqrt(count / 2)))
    reach = min(count, _NODES * apart)
    m = np.arange(-reach, reach + 1)
    masses, doubt = _binomial(m, count, step)
    cell = np.floor_divide(m, apart)
    cell[m == _NODES * apart] -= 1
    # In a cell from v to v·e^(apart·h) the right node gets the share (V − v)/(v·(e^(…) − 1)).
    right = np.expm1((m - cell * apart) * step) / math.expm1(apart * step)
    shares = np.zeros(2 * _NODES + 1)
    np.add.at(shares, cell + _NODES, masses * (1 - right))
    np.add.at(shares, cell + _NODES + 1, masses * right)
    shares *= 1 + doubt
    # Beyond the nodes v·F ≤ v, and V tilted by itself is a binomial too. Hoeffding: the steps
    # of B deviate by more than x with probability e^(−x²/k) at most, around a mean that is at
    # most k·h/4 from k.
    slack = reach - count * step / 4
    beyond = 0.0
    if reach < count:
        beyond = 4 * math.exp(-slack * slack / count) if slack > 0 else math.inf
    return apart, tuple(enumerate(shares.tolist(), start=-_NODES)), beyond


def _binomial(m: NDArray[np.intp], count: int, step: float) -> tuple[FloatArray, float]:
    """P(B = k + m), and how far it may be off: some units of the largest logarithm in it."""
    from scipy.special import gammaln

    trials, chosen = 2 * count, m + count
    ways = gammaln(trials + 1) - gammaln(chosen + 1) - gammaln(trials - chosen + 1)
    # log p = −log(1 + e^(h/2)), and log(1 − p) = h/2 more
    logs = ways - trials * math.log1p(math.exp(step / 2)) + (trials - chosen) * (step / 2)
    doubt = 64 * UNIT * (1 + math.lgamma(trials + 2) + trials * (1 + step))
    return np.exp(logs), doubt
