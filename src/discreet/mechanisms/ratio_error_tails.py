"""Tails of two noises together: what |X − m·Y| exceeds rarely, X and Y on grids.

Both bounds here hold for every scale and rise with m. ``joint_tail`` treats both noises as real
numbers, ``narrow_tail`` sums over the few values that a narrow Y takes.
"""

from __future__ import annotations

import math
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument

Floats: TypeAlias = NDArray[np.float64]
Noise: TypeAlias = Literal["laplace", "gaussian"]

NARROW: Final = 3.0  #: scales of Y up to here are summed over
_NEWTON: Final = 4
_KNOTS: Final = 256
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
    φ(d) = (1 − e^(−d))/d, so that nothing cancels, near r = 1 nor near 0:

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
    """Return q as ``joint_tail`` does, the smaller one where Y takes a few values only.

    P(|Z − m·Y| > q) is the sum over k of P(|Y| = k)·(P(Z > q − m·k) + P(Z > q + m·k)) for
    symmetric Z. With Z the normal that X is rounded from, or X plus a uniform on half a step to
    either side, Z is unimodal, so that each term rises with m; and X is within half a step.
    """
    values = m.reshape(-1)
    if values.size <= _KNOTS:
        knots, at = values, np.arange(values.size)
    else:  # q rises with m, so q at the next knot will do for all m up to it
        knots = np.append(0.0, values.max() * np.geomspace(1e-4, 1, _KNOTS - 1))
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
    from scipy.special import ndtri  # here, since `import discreet` stays light

    return -float(ndtri(miss / 2))


def _known(noise: Noise) -> Noise:
    if noise in get_args(Noise):
        return noise
    raise InvalidArgument(
        name="noise",
        expected='"laplace" or "gaussian"',
        given=InvalidArgument.describe_parameter(noise),
    )
