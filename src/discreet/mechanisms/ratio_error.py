"""How far off a mean is when it is a noisy sum divided by a noisy count.

Let s be the sum of n values, each less the middle of its bounds, so that m = s/n lies in
[−h, h]. S = s + X and N = n + Y are released, with independent noise. As s = m·n,

    S − m·N = X − m·Y,     so  |S/N − m| = |X − m·Y|/N      (Fieller 1954),

whose law depends on m alone. It holds for an empty group too, with any m. If |X − m·Y| exceeds
q(m) with probability at most 5 %, then m is within q(m)/N of S/N with probability 95 %,
whatever n is; and as q rises with |m|, knowing that |m| ≤ h, or later that |m| ≤ |S/N| + w,
gives a number for it. No approximation, and nothing is assumed about n.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument
from discreet.numeric.exact import Number, positive, positive_float, probability

Floats = NDArray[np.float64]

_OUT: Final = 1 + 2.0**-40  # more than all rounding here
_ROUNDS: Final = 2
_KNOTS: Final = 255


def tail_point(
    scale_s: Number,
    scale_n: Number,
    m: ArrayLike,
    *,
    noise: Noise,
    confidence: Number = Fraction(95, 100),
    step: Number = 1,
) -> Any:
    """Return q for each |m|: |X − m·Y| ≤ q with at least this probability; it rises with |m|.

    X is noise of ``scale_s`` on multiples of ``step`` and Y of ``scale_n`` on whole numbers, both
    discrete Laplace, or both normal of that sigma and rounded.

    >>> round(float(tail_point(100, 2, 0, noise="laplace", step=0.01)), 1)        # 100·ln 20
    299.6
    >>> tail_point(100, 2, [0, 10, 100], noise="gaussian", step=0.01).round(1)
    array([196., 200., 442.])
    """
    miss = float(1 - probability(confidence, name="confidence"))
    s, n, grid = _sizes(scale_s, scale_n, step)
    size = np.abs(np.asarray(m, np.float64))
    if not size.ndim:
        return np.float64(_single(s, n, float(size), miss, grid, noise))
    return _tail(s, n, size, miss, grid, noise)


def _sizes(scale_s: Number, scale_n: Number, step: Number) -> tuple[float, float, float]:
    sizes = {"scale_s": scale_s, "scale_n": scale_n, "step": step}
    s, n, grid = (positive_float(value, name=name) for name, value in sizes.items())
    return s, n, grid


def _tail(s: float, n: float, m: Floats, miss: float, grid: float, noise: Noise) -> Floats:
    tail = narrow_tail if n <= NARROW else joint_tail
    return tail(s, n, m, miss, grid, noise) * _OUT


@lru_cache(maxsize=1024)
def _single(s: float, n: float, m: float, miss: float, grid: float, noise: Noise) -> float:
    return float(_tail(s, n, np.array([m]), miss, grid, noise)[0])


@lru_cache(maxsize=64)
def _table(
    s: float, n: float, h: float, miss: float, grid: float, noise: Noise
) -> tuple[Floats, Floats]:
    """q at knots from 0 to h: as it rises, q at the next knot will do for all m up to it."""
    knots = np.append(0.0, h * np.geomspace(1e-4, 1, _KNOTS))
    knots[-1] = h
    return knots, _tail(s, n, knots, miss, grid, noise)


def mean_error(
    S: ArrayLike,
    N: ArrayLike,
    *,
    scale_s: Number,
    scale_n: Number,
    half_width: Number,
    noise: Noise,
    confidence: Number = Fraction(95, 100),
    step: Number = 1,
) -> Floats:
    """Return w for each group: S/N, clipped to ±half_width, is within w of the mean.

    That is so with at least this probability, for each group, whatever its size and mean. No w
    is above 2·half_width, which is what is left where N is too small or below 0.

    >>> known = dict(scale_s=30, scale_n=2, half_width=10, noise="laplace")
    >>> mean_error([1200, 50], [400, -3], **known).round(3)
    array([ 0.23, 20.  ])
    """
    h = positive_float(half_width, name="half_width")
    total, size = np.broadcast_arrays(np.asarray(S, np.float64), np.asarray(N, np.float64))
    miss = float(1 - probability(confidence, name="confidence"))
    s, n, grid = _sizes(scale_s, scale_n, step)
    knots, tails = _table(s, n, h, miss, grid, noise)

    def passed(mean: Floats) -> Floats:
        return tails[np.searchsorted(knots, mean)]

    with np.errstate(divide="ignore", over="ignore"):  # a size of 0 makes ∞, and then 2h
        per_row = np.where(size > 0, _OUT / np.maximum(size, 0), np.inf)
        width = tails[-1] * per_row
        estimate = np.where(size > 0, np.abs(total) / np.where(size > 0, size, 1), h)
        for _ in range(_ROUNDS):
            width = passed(np.minimum(h, estimate + width)) * per_row
    capped: Floats = np.minimum(width, 2 * h)
    return capped


def expected_mean_error(
    n: ArrayLike,
    *,
    scale_s: Number,
    scale_n: Number,
    half_width: Number,
    noise: Noise,
    confidence: Number = Fraction(95, 100),
    step: Number = 1,
) -> Any:
    """Return w for a group of n rows, before any data: S/N is within w of its mean.

    That is so with at least this probability whatever the mean; and with that probability
    ``mean_error`` reports no more than w. It is q(half_width)/(n − y), where each of |X − m·Y| ≤
    q(half_width) and |Y| ≤ y fails with probability at most (1 − confidence)/2.

    >>> known = dict(scale_s=30, scale_n=2, half_width=10, noise="laplace")
    >>> expected_mean_error([5, 400, 4000], **known).round(3)
    array([20.   ,  0.323,  0.032])
    """
    h = positive_float(half_width, name="half_width")
    half = (1 - probability(confidence, name="confidence")) / 2
    q = tail_point(scale_s, scale_n, h, noise=noise, confidence=1 - half, step=step)
    y = single_tail(positive_float(scale_n, name="scale_n"), float(half), noise)
    left = np.asarray(n, np.float64) - y
    with np.errstate(divide="ignore"):
        width = np.where(left > 0, float(q) * _OUT / np.maximum(left, 0), np.inf)
    found = np.minimum(width, 2 * h)
    return found if np.ndim(n) else float(found)


def variance_error(
    S1: ArrayLike,
    S2: ArrayLike,
    N: ArrayLike,
    *,
    scale_s1: Number,
    scale_s2: Number,
    scale_n: Number,
    half_width: Number,
    noise: Noise,
    confidence: Number = Fraction(95, 100),
    step1: Number = 1,
    step2: Number = 1,
) -> Floats:
    """Return w for each group: the released variance is within w of the true one.

    With x the values less the middle of their bounds, S1 is the noisy sum of x and S2 that of
    x² − h²/2. What is released is S2/N + h²/2 − (S1/N)², each ratio clipped to what it can be and
    the whole to [0, h²]. The errors of both ratios hold together with at least this probability.

    >>> w = variance_error(0, -2e5, 10_000, scale_s1=60, scale_s2=300, scale_n=2, half_width=10,
    ...                    noise="laplace")
    >>> float(w.round(3))
    0.112
    """
    h = positive(half_width, name="half_width")
    each = 1 - (1 - probability(confidence, name="confidence")) / 2
    known: dict[str, Any] = {"scale_n": scale_n, "noise": noise, "confidence": each}
    first = mean_error(S1, N, scale_s=scale_s1, half_width=h, step=step1, **known)
    second = mean_error(S2, N, scale_s=scale_s2, half_width=h * h / 2, step=step2, **known)
    size = np.asarray(N, np.float64)
    mean = np.minimum(np.abs(np.asarray(S1, np.float64)) / np.where(size > 0, size, 1), float(h))
    # |a² − m²| = |a − m|·|a + m|, and |m| is at most |a| + w and at most h
    square = first * (mean + np.minimum(mean + first, float(h)))
    width: Floats = np.minimum((second + square) * _OUT, float(h) ** 2)
    return width


def std_error(variance: ArrayLike, error: ArrayLike, *, half_width: Number) -> Floats:
    """Return how far √variance may be from the standard deviation, given the variance's error.

    >>> std_error([4, 1], [0, 3], half_width=10)
    array([0., 1.])
    """
    h = positive_float(half_width, name="half_width")
    v, w = np.maximum(np.asarray(variance, np.float64), 0), np.asarray(error, np.float64)
    middle = np.sqrt(v)
    low, high = np.sqrt(np.maximum(v - w, 0)), np.sqrt(np.minimum(v + w, h * h))
    width: Floats = np.maximum(middle - low, high - middle) * _OUT
    return width


# -- tails of two noises together ------------------------------------------------------------------
# What |X − m·Y| rarely exceeds, X and Y on grids.
#
# Both bounds here hold for every scale and rise with m. ``joint_tail`` treats both noises as real
# numbers, ``narrow_tail`` sums over the few values that a narrow Y takes.


Noise: TypeAlias = Literal["laplace", "gaussian"]

NARROW: Final = 3.0  #: scales of Y up to here are summed over
_NEWTON: Final = 4
_TAIL_KNOTS: Final = 256
_BISECTIONS: Final = 48


def joint_tail(
    scale_s: float, scale_n: float, m: Floats, miss: float, step: float, noise: Noise
) -> Floats:
    """Return q with P(|X − m·Y| > q) ≤ miss, X on multiples of ``step``, Y on integers."""
    # Half a step of each comes on top of real noise. Rounded normal noise is within half a step
    # of the normal it came from. Discrete Laplace noise X plus a uniform U on ±½ has a symmetric
    # density that falls in steps, with P(|X + U| > k + u) = e^(−k/t)·(1 − 2u·tanh(1/2t)) for
    # |u| ≤ ½, so at most e^(−(k + u)/t′) with 1/t′ = 2·tanh(1/2t). It is more peaked than real
    # Laplace noise of scale t′, both are symmetric and unimodal, hence so are the differences
    # X + U − m·(Y + V) (Birnbaum 1948); and U − m·V is at most half a step of each.
    edge = (step + m) / 2
    if _known(noise) == "gaussian":
        return _normal_point(miss) * np.hypot(scale_s, m * scale_n) + edge
    a, b = step * _peaked(scale_s / step), m * _peaked(scale_n)
    return laplace_tail(np.maximum(a, b), np.minimum(a, b), miss) + edge


def _peaked(t: float) -> float:
    return 0.5 / math.tanh(0.5 / t)


def laplace_tail(larger: Floats, smaller: Floats, miss: float) -> Floats:
    """Return q with P(|difference of two Laplace noises| > q) ≤ miss, for scales A ≥ B ≥ 0.

    P(|T| > x·A) = (A²·e^(−x) − B²·e^(−x·A/B))/(A² − B²). With r = B/A, d = x·(1 − r)/r and
    φ(d) = (1 − e^(−d))/d, so that nothing cancels, neither near r = 1 nor near 0:

        −log P = x − log(1 + φ·x·r/(1 + r)),     its slope (1 + φ·x)/(1 + r + φ·x·r).

    >>> float(laplace_tail(np.float64(2), np.float64(0), 0.05)), 2 * math.log(20)
    (5.991464547107982, 5.991464547107982)
    """
    r = smaller / larger
    goal = -math.log(miss)
    # −log P is convex (the law of T is log-concave) and rises, so Newton's method comes from
    # above and stays there: every iterate is a valid answer. The start is the answer for r = 1.
    x = np.full_like(r, _equal_scales(goal))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steepness = (1 - r) / r
        for _ in range(_NEWTON):
            d = x * steepness
            mixed = x * np.where(d > 0, -np.expm1(-d) / d, 1.0)  # φ·x; 0 for infinite d
            x = x - (x - np.log1p(mixed * r / (1 + r)) - goal) * (1 + r + mixed * r) / (1 + mixed)
    return larger * x


def _equal_scales(goal: float) -> float:
    """Solve x − log(1 + x/2) = goal, from above."""
    x = 2 * goal + 1
    for _ in range(60):
        x -= (x - math.log1p(x / 2) - goal) * (2 + x) / (1 + x)
    return x * (1 + 2.0**-50)


def narrow_tail(
    scale_s: float, scale_n: float, m: Floats, miss: float, step: float, noise: Noise
) -> Floats:
    """Return q as ``joint_tail`` does, but smaller where Y takes only a few values.

    P(|Z − m·Y| > q) is the sum over k of P(|Y| = k)·(P(Z > q − m·k) + P(Z > q + m·k)) for
    symmetric Z. With Z the normal that X is rounded from, or X plus a uniform on half a step to
    either side, Z is unimodal, so that each term rises with m; and X is within half a step.
    """
    values = m.reshape(-1)
    if values.size <= _TAIL_KNOTS:
        knots, at = values, np.arange(values.size)
    else:  # q rises with m, so q at the next knot will do for all m up to it
        knots = np.append(0.0, values.max() * np.geomspace(1e-4, 1, _TAIL_KNOTS - 1))
        knots[-1] = values.max()
        at = np.searchsorted(knots, values)
    most = single_tail(scale_n, miss / 1000, noise)  # a share for the values of Y beyond
    k = np.arange(most + 1)
    likely = _survival(k - 0.5, scale_n, 1, noise) - _survival(k + 0.5, scale_n, 1, noise)
    likely = np.where(k > 0, 2 * likely, likely)  # of |Y|; Y + V is in (k − ½, k + ½) if Y is k
    shift = knots[:, None] * k
    high = joint_tail(scale_s, scale_n, knots, miss, step, noise)
    low, sure = np.zeros_like(high), high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        passed = sum(
            _survival(middle[:, None] + side * shift, scale_s, step, noise) for side in (-1, 1)
        )
        holds = passed @ likely <= miss * (1 - 1 / 1000)
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return np.minimum(high + step / 2, sure)[at].reshape(m.shape)


def _survival(u: Floats, scale: float, step: float, noise: Noise) -> Floats:
    """P(Z > u): normal, or discrete Laplace on multiples of ``step`` plus a uniform."""
    if _known(noise) == "gaussian":
        from scipy.special import ndtr

        normal: Floats = ndtr(-u / scale)
        return normal
    v = np.abs(u) / step
    k, t = np.round(v), scale / step
    half = np.exp(-k / t) * (0.5 - (v - k) * math.tanh(0.5 / t))
    return np.where(u < 0, 1 - half, half)


def single_tail(scale: float, miss: float, noise: Noise) -> float:
    """Return the least whole k with P(|noise| > k) ≤ miss, for noise on the integers.

    >>> single_tail(2, 0.05, "laplace"), single_tail(0.1, 0.05, "gaussian")
    (6.0, 0.0)
    """
    if _known(noise) == "gaussian":  # P(|round(Z)| > k) = P(|Z| > k + ½)
        real = _normal_point(miss) * scale - 0.5
    else:  # 2·e^(−(k+1)/t)/(1 + e^(−1/t))
        real = scale * (math.log(2 / miss) - math.log1p(math.exp(-1 / scale))) - 1
    return float(max(0, math.ceil(real + 1e-12 * (1 + abs(real)))))


def _normal_point(miss: float) -> float:
    """What a standard normal exceeds with this probability, on either side."""
    from scipy.special import ndtri  # imported here so that `import discreet` stays light

    return -float(ndtri(miss / 2))


def _known(noise: Noise) -> Noise:
    if noise in get_args(Noise):
        return noise
    raise InvalidArgument.of("noise", '"laplace" or "gaussian"', noise)
