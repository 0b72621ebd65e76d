"""Adding up privacy losses: profile → losses on a grid → transforms → both bounds.

What the questions of a composition need, from the bottom up: the loss of one pair on a grid, the
product of transforms, both bounds read from it, and the plan of how finely to compute. The proof
is in docs/composition.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.guarantees.guarantee import Guarantee
from discreet.numeric.bands import UNIT, Atoms, FloatArray
from discreet.numeric.exact import round_down, round_up

# -- the privacy loss of one pair on a grid, never understated -------------------------------------
# The profile of a pair is a convex function of e^ε. Reading it at the points of a grid and
# connecting the dots by straight lines gives a convex function above it, hence the profile of a
# dominating pair whose losses lie on the grid: the tightest one on that grid (Doroshenko, Ghazi,
# Kamath, Kumar and Manurangsi 2022). Its masses are the bends at the dots.


# Extended precision where the machine has it; its unit is what the arithmetic can lose.
_WIDE = np.longdouble
_HULL_DOTS = 8192
_NOISE = 8 * np.finfo(_WIDE).eps  # of a slope


@dataclass(frozen=True, eq=False)
class GridLoss:
    """Masses of the loss under P at the grid points first·h, (first + 1)·h, …, rounded up."""

    first: int
    masses: FloatArray
    noise: FloatArray  #: how much of each mass is there for rounding only
    widths: FloatArray  #: how far the profile may lie below the dots, at the same points
    infinite: float  #: mass of an infinite loss: failures, and the tail beyond the last point
    failing: float  #: how much of that is certain failure, rounded down

    @property
    def points(self) -> FloatArray:
        """The indices of the grid points, as floats."""
        return np.arange(self.first, self.first + self.masses.size, dtype=np.float64)


def grid_loss(pair: Guarantee, step: float, *, tail: float, swapped: bool = False) -> GridLoss:
    """Connect the dots of the profile of P against Q (of Q against P if swapped), step by step.

    `step` is a float with few digits, so that its multiples are exact. What is more likely than
    `tail` is represented on the grid; the rest counts as an infinite loss.
    """
    atoms = pair._atoms(swapped=swapped)
    if atoms is not None:
        return _split(atoms, step, failing=pair._escape(swapped=swapped))

    def dots(side: bool) -> FloatArray:
        points = max(1, math.ceil(pair._reach(tail, swapped=side) / step))
        return np.arange(points + 1, dtype=np.float64) * step

    right, left = dots(swapped), dots(not swapped)
    if pair._convex:
        return connect(pair, right, left, swapped=swapped)
    # Only the corners of the hull carry mass: connect those, then put them back on the grid.
    right, left = _thinned(right), _thinned(left)
    corners = (
        right[lower_hull(right, pair._band(right, swapped=swapped).upper)],
        left[lower_hull(left, pair._band(left, swapped=not swapped).upper)],
    )
    return _spread(connect(pair, *corners, swapped=swapped), *corners, step)


def _thinned(dots: FloatArray) -> FloatArray:
    """A few thousand of the dots, since the hull is searched dot by dot; fewer are safe too."""
    every = -(-dots.size // _HULL_DOTS)
    return np.append(dots[:-1:every], dots[-1])


def _split(atoms: Atoms, step: float, *, failing: Fraction) -> GridLoss:
    """Move each atom to the two grid points around it, keeping its mass under P and under Q.

    With a mass m at loss l between the points g and g + h, the right one gets
    m·(1 − e^(g−l))/(1 − e^(−h)) and the left one the rest.
    """
    place = np.floor(atoms.losses / step).astype(np.intp)
    right = np.clip(np.expm1(place * step - atoms.losses) / math.expm1(-step), 0.0, 1.0)
    first = int(place.min(initial=0)) - 1
    size = int(place.max(initial=0)) + 3 - first
    masses, noise = np.zeros(size), np.zeros(size)
    # A loss that is off by a little moves mass from the left point to the right one.
    moved = (atoms.rounding + 4 * UNIT * np.abs(atoms.losses)) / step
    for shift, share in ((0, 1 - right), (1, right)):
        np.add.at(masses, place + shift - first, atoms.masses * share * (1 + 8 * UNIT))
        doubt = share * (16 + atoms.units) * UNIT + moved
        np.add.at(noise, place + shift - first, atoms.masses * doubt)
    infinite = round_up(failing)
    return GridLoss(first, masses, noise, np.zeros(size), infinite, round_down(failing))


def _spread(loss: GridLoss, right: FloatArray, left: FloatArray, step: float) -> GridLoss:
    """The same loss with its points among those of the grid."""
    place = np.rint(np.concatenate((-left[:0:-1], right)) / step).astype(np.intp)
    rows = np.zeros((3, int(place[-1] - place[0]) + 1))
    rows[:, place - place[0]] = loss.masses, loss.noise, loss.widths
    masses, noise, widths = rows
    return GridLoss(int(place[0]), masses, noise, widths, loss.infinite, loss.failing)


def connect(pair: Guarantee, right: FloatArray, left: FloatArray, *, swapped: bool) -> GridLoss:
    """Connect the dots at the losses `right` and at minus the losses `left`, both from 0 up."""
    over, under = pair._band(right, swapped=swapped), pair._band(left, swapped=not swapped)
    up, down = over.upper.astype(_WIDE), under.upper.astype(_WIDE)
    center = left.size - 1
    masses, noise = np.empty(center + right.size, _WIDE), np.empty(center + right.size, _WIDE)
    # To the right, the profile C falls by C(j) − C(j+1) over a cell of width h; as a slope in
    # e^ε, times the e^ε at the cell's left end, that is s(j). The mass at a point is the change
    # of slope there: e^h·s(j−1) − s(j).
    growth = np.expm1(np.diff(right).astype(_WIDE))
    s = np.append((up[:-1] - up[1:]) / growth, _WIDE(0))
    before = s[:-1] * (1 + growth)
    masses[center + 1 :] = before - s[1:]
    noise[center + 1 :] = before + s[1:]
    # To the left, C(−x) = 1 − e^(−x) + e^(−x)·D(x), with D the profile of the swapped pair: the
    # slope of the last part over a cell is t(i) = (e^h·D(i) − D(i+1))/(e^h − 1). Beyond the
    # last point it is the line to (0, 1).
    growth = np.expm1(np.diff(left).astype(_WIDE))
    t = np.append((down[:-1] - down[1:]) / growth + down[:-1], down[-1])
    below = np.exp(-left[1:].astype(_WIDE))
    masses[:center] = (below * (t[:-1] - t[1:]))[::-1]
    noise[:center] = (below * (t[:-1] + t[1:]))[::-1]
    masses[center] = 1 - s[0] - t[0]
    noise[center] = 1 + s[0] + t[0]
    # Neighbouring slopes are close, so their difference loses digits: the reason for the wide
    # floats. Adding mass only adds to the profile.
    rounding = (_NOISE * noise + 4 * UNIT * np.abs(masses)).astype(np.float64)
    held = np.maximum(masses, 0).astype(np.float64)
    below = np.exp(-left[1:])
    widths = np.concatenate(
        ((below * (under.upper[1:] - under.lower[1:]))[::-1], over.upper - over.lower)
    )
    # Beyond the last point the line is no part of a cell.
    widths[0] += below[-1] * under.upper[-1]
    return GridLoss(
        first=-center,
        masses=held + rounding,
        noise=2 * rounding + np.maximum(-masses, 0).astype(np.float64),
        widths=widths,
        infinite=float(over.upper[-1]),
        failing=round_down(pair._escape(swapped=swapped)),
    )


# -- the lower convex hull of a profile's upper bounds ---------------------------------------------
# Several true facts about one mechanism bound its profile from above, and so does the least of them
# at each ε. That need not be convex in e^ε, but the true profile is, so it lies below the convex
# hull of the dots as well.


def lower_hull(x: FloatArray, values: FloatArray) -> NDArray[np.intp]:
    """The places of the hull's corners, in e^x, of dots (x, values) with x increasing.

    One pass that drops the dots above a line between others (Andrew 1979). Slopes are scaled by
    the e^x of the point between, so that nothing overflows. Whichever dots are kept, the lines
    between them lie above every convex function below the dots.

    >>> lower_hull(np.log([1.0, 2.0, 3.0]), np.array([0.4, 0.3, 0.0])).tolist()
    [0, 2]
    """
    at, heights = x.tolist(), values.tolist()
    kept = [0]
    for j in range(1, len(at)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            before = (heights[b] - heights[a]) / -math.expm1(at[a] - at[b])
            after = (heights[j] - heights[b]) / math.expm1(min(at[j] - at[b], 700.0))
            if before < after:
                break
            kept.pop()
        kept.append(j)
    return np.array(kept)


# -- products of Fourier transforms, with every error counted --------------------------------------
# Losses of composed mechanisms add up, so their laws are convolved, and the transform of a
# convolution is a product. A probability of 10⁻¹⁵ would drown in the rounding of an ordinary
# transform. So the laws are *tilted* first: the mass at loss l is multiplied by e^(θ·l)/M with
# M = E e^(θ·L). Tilted laws convolve to the tilted law of the sum, and with θ chosen well the
# rare losses that decide δ are its most likely ones. Undoing the tilt is a factor.
#
# Most coefficients of a long composition are as good as zero, and one more factor never makes one
# larger. They are dropped for good, and what they could have been counts as an error.
#
# How errors add up from one step to the next is proven. How far the transform itself rounds is not:
# nothing is proven about SciPy's. It is *measured*, and charged with a margin (`TRANSFORM`).


# Measured, not proven: a transform of masses that sum to 1 errs by 5 units in a coefficient at
# N = 2²⁰ (a test measures it again); 8·log₂(N), 160 units there, are charged.
TRANSFORM = 8 * UNIT
NEGLIGIBLE = 50.0  # coefficients below e^(−50) are dropped

_LARGEST = 1e150  # its square is still a float


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The transform of a tilted law of losses on the grid of multiples of `step`, modulo `size`.

    Only the coefficients `kept` are held; the others are at most e^(−50). Each held one is off
    by at most `error` times its bound, e^(log_bound), as far as `TRANSFORM` holds.
    """

    step: float
    tilt: float
    rates: tuple[float, float]  #: λ for the lower and the upper tail
    size: int
    kept: NDArray[np.intp]
    values: NDArray[np.complex128]
    log_bound: FloatArray
    error: FloatArray
    log_scale: float = 0.0  #: log of the product of the M
    log_size: float = 0.0  #: the sum of the sizes of what was added up to it
    mean: float = 0.0  #: of the tilted law
    above: tuple[float, ...] = (0.0, 0.0, 0.0)  #: log E e^(λ·L) of the tilted law, for λ, 2λ, 4λ
    below: tuple[float, ...] = (0.0, 0.0, 0.0)  #: log E e^(−λ·L)
    survival: float = 0.0  #: log of the probability that no loss is infinite, rounded down
    no_failure: float = 0.0  #: the same for failures alone, rounded up
    count: int = 0
    width: float = 0.0  #: what the widths of the profiles add up to, relative to the scale
    noise: float = 0.0  #: tilted mass that is there for rounding only

    @staticmethod
    def empty(plan: GridPlan) -> Spectrum:
        """The transform of no loss at all: a constant 1, for which one number stands."""
        kept, none = np.arange(plan.size // 2 + 1), np.zeros(1)
        one = np.ones(1, np.complex128)
        return Spectrum(plan.step, plan.tilt, plan.rates, plan.size, kept, one, none, none)

    def times(self, loss: GridLoss, count: int) -> Spectrum:
        """Add `count` independent copies of a loss."""
        from scipy import fft

        tilted, log_mass, width, noise = _tilted(loss, self.step, self.tilt)
        z = fft.rfft(_wrapped(tilted, loss.first, self.size))
        if self.kept.size < z.size:
            z = z[self.kept]
        slack = TRANSFORM * math.log2(self.size) + 8 * UNIT
        stays = _stays(z, self.log_bound, count, slack)
        z, points = z[stays], loss.points * self.step
        bound = np.abs(z) + slack
        before = [
            part if self.count == 0 else part[stays]
            for part in (self.values, self.log_bound, self.error)
        ]
        return replace(
            self,
            kept=self.kept[stays],
            values=before[0] * _power(z, count),
            log_bound=before[1] + count * np.log(bound),
            # (a + s)^k − a^k ≤ (a + s)^k·min(1, k·s/(a + s)); logarithms add units of k.
            error=np.minimum(before[2] + count * (slack / bound + 32 * UNIT), 1.0),
            log_scale=self.log_scale + count * log_mass,
            log_size=self.log_size + count * abs(log_mass),
            mean=self.mean + count * float(tilted @ points),
            above=_added(self.above, count, tilted, np.exp(self.rates[1] * points)),
            below=_added(self.below, count, tilted, np.exp(-self.rates[0] * points)),
            survival=self.survival + count * math.log1p(-min(loss.infinite, 1 - UNIT)),
            no_failure=self.no_failure + count * math.log1p(-min(loss.failing, 1 - UNIT)),
            count=self.count + count,
            width=self.width + count * width,
            noise=self.noise + count * noise,
        )


def _tilted(loss: GridLoss, step: float, tilt: float) -> tuple[FloatArray, float, float, float]:
    """The tilted law, log M, and its widths and noise relative to M."""
    factors = np.exp(tilt * step * loss.points)
    raised = loss.masses * factors
    mass = float(raised.sum())
    # Between two dots, the line may be e^(θ·h) times as far above, relative to the tilt.
    width = math.exp(tilt * step) * float(np.max(loss.widths * factors)) / mass
    noise = float(loss.noise @ factors) / mass
    return raised / mass, math.log(mass), width, noise


def _wrapped(masses: FloatArray, first: int, size: int) -> FloatArray:
    """The masses laid around a circle of `size` points."""
    row, start = np.zeros(size), first % size
    while masses.size:
        part = masses[: size - start]
        row[start : start + part.size] += part
        masses, start = masses[part.size :], 0
    return row


def _added(
    before: tuple[float, ...], count: int, masses: FloatArray, factors: FloatArray
) -> tuple[float, ...]:
    """Log moments of one more loss, k times; the factors e^(λ·l) are squared for 2λ and 4λ."""
    moments = []
    for moment in before:
        if max(factors[0], factors[-1]) < _LARGEST:
            moments.append(moment + count * math.log(float(masses @ factors)))
            factors = factors * factors
        else:
            moments.append(math.inf)  # no bound from this rate
    return tuple(moments)


def _stays(
    z: NDArray[np.complex128], log_bound: FloatArray, count: int, slack: float
) -> NDArray[np.bool_]:
    """Which coefficients are still above e^(−50): log_bound + k·log(|z| + slack) > −50."""
    least = np.maximum(np.exp(-(NEGLIGIBLE + log_bound) / count) - slack, 0.0)
    return z.real**2 + z.imag**2 >= least * least


def _power(z: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    if count == 1:
        return z
    result: NDArray[np.complex128] = np.exp(count * np.log(np.where(z == 0, 1e-300, z)))
    return result


# -- both bounds of a composed profile, read from one transform ------------------------------------
# **Above.** With tilted masses p(j) at the grid points j·h, tilt θ and scale M,
#
#     δ(j·h) = M·e^(−θ·j·h)·Σ over n ≥ 1 of w(n)·p(j + n),   w(n) = e^(−θ·n·h)·(1 − e^(−n·h)).
#
# The sum is a correlation, so its transform is the product of two, and that of w is a geometric
# series. On the circle, masses from elsewhere can only add: the sum stays an upper bound.
#
# **Below.** Connecting the dots replaced each likelihood ratio X by X·W with W in [e^(−h), e^h]
# and mean 1 given X. Whatever X is, W is at most as spread out, in convex order, as a product of
# two independent factors e^(±h/2) of mean 1 each. Let V be the product of all 2k of them, F the
# composed profile above and C the true one, both as functions of K = e^ε. Then, with
# c(v) = v·C(K/v), which is convex, and nodes v(n) = e^(n·r·h) around v(0) = 1,
#
#     F(K) ≤ E c(V) ≤ Σ over n of u(n)·c(v(n)) ≤ u(0)·C(K) + Σ over n ≠ 0 of u(n)·v(n)·F(K/v(n)),
#
# where u(n) are the shares of the nodes when V is split between its two neighbours. Solved for
# C(K), that is a lower bound, and it is off by terms of order k·h² only, as the upper one is.
# The proof that W is below the two factors is in docs/composition.md.


_NODES = 20  # on each side; V is hardly ever beyond them
_FEW = 64  # with N/64 coefficients, some hundred single sums cost as much as one transform
_SPACING = 1.6  # of the nodes, in standard deviations of log V: the best for a smooth profile
_RARE = 1e-12  # nodes that add less than this share are skipped


class Curve:
    """A composed profile at the points of the grid, from above and from below."""

    def __init__(self, spectrum: Spectrum) -> None:
        self.step, self.tilt, self.size = spectrum.step, spectrum.tilt, spectrum.size
        self.count = spectrum.count
        self._spectrum = spectrum
        kernel = _kernel(spectrum.kept, self.size, self.step, self.tilt)
        weights = np.abs(kernel) * np.exp(np.minimum(spectrum.log_bound, 1.0))
        lost = float((spectrum.error * weights).sum()) + 1e-30
        # No coefficient of the kernel exceeds the sum of the weights w(n), which is below this.
        largest = 1 / (-math.expm1(-self.tilt * self.step))
        dropped = math.exp(-NEGLIGIBLE) * self.size * largest
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
        # The lower bound is a share of the upper one, which falls by about e^(−θ·h) per step.
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


# -- where to look, and how finely -----------------------------------------------------------------
# Nothing here has to be exact. Whatever tilt, step and size come out, the bounds read from them
# hold; a good plan makes them tight and cheap.


_SKETCH = 128  # points on each side of 0 that stand for one loss
_NATS = 32.0  # the circle leaves out a share of about e^(−32) of the tilted law
_FADED = 60.0  # and is so long that e^(−θ·W) is e^(−60)
FINE_STEP = 8e-5  # finer than what other accountants take
FINE_SIZE = 2**21  # but only while it is cheap
_COARSEST = 64.0  # e^h stays a float
STEEPEST = 600.0  # e^(θ·l) stays a float


@dataclass(frozen=True, eq=False)
class Sketch:
    """Coarse losses and masses of one or more pairs, from which the tilt is found."""

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
class GridPlan:
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
    power_of_ten = 10.0 ** math.floor(math.log10(tail))  # few different ones are remembered
    rows = [sketch_of(pair, power_of_ten, swapped) for pair, _ in parts]
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
        small = left > variance / 1000 and too_small(log_moment, tilt, mean, left)
        low, high = (tilt, high) if small else (low, tilt)
    return low


def make_plan(
    sketch: Sketch, tilt: float, *, tail: float, tolerance: float | None, lattice: float | None
) -> GridPlan:
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
    return sized(GridPlan(tilt, short_step(step), 0, (down, up), tail, mean, sketch.reach), circle)


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


def sized(plan: GridPlan, circle: float) -> GridPlan:
    """The plan with as many points as the circle needs."""
    from scipy import fft

    size = fft.next_fast_len(max(64, math.ceil(circle / plan.step)), real=True)
    while size % 2:
        size = fft.next_fast_len(size + 1, real=True)
    return replace(plan, size=size)


def short_step(step: float) -> float:
    """A float of 26 digits at or just above: its multiples by up to 2²⁷ are exact.

    >>> short_step(0.1) - 0.1 < 2e-9, short_step(0.5)
    (True, 0.5)
    """
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(mantissa * 2**26) / 2**26, exponent)
