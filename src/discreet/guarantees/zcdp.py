"""Zero-concentrated differential privacy: Rényi divergence at most ρ·α at every order α."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.guarantees.document import NUMBER, named
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import N, group_size
from discreet.guarantees.notion import Notion
from discreet.hints import spelled
from discreet.numeric.balls import arb, ball, certainly_at_most, least_float, sharp
from discreet.numeric.bands import UNIT, Band, FloatArray, ends, widen
from discreet.numeric.exact import Number, round_up, sqrt_up
from discreet.numeric.short_fractions import ball_up, bound_up

if TYPE_CHECKING:
    from discreet.guarantees.loss_distribution import Outcomes

_NONE = Fraction(0)
_RATIO = 2.0**-11  # between neighbouring orders: how far ρ may be above the least one
_SAFE = 1 + 1e-9  # far more than the rounding below


@dataclass(frozen=True, init=False, repr=False)
class ZCDP(Notion):
    """ρ-zCDP (Bun and Steinke 2016). Gaussian noise has ρ = (Δ/σ)²/2; ρ adds up.

    ``rho`` is ρ, 0 or above.

    >>> promise = ZCDP(rho=0.5)
    >>> round(promise.epsilon("1e-5"), 6)
    4.728387
    >>> promise.group(2)
    ZCDP(rho=Fraction(2, 1))
    """

    kind = "zcdp"
    fields = named(rho=NUMBER)
    parameter, symbol, sum_symbol = "rho", "ρ", "ρ"
    closed = gaussian = True
    _convex = False  # the least of three bounds

    rho: Fraction

    @spelled
    def __init__(self, rho: Number) -> None:
        super().__init__(rho)

    def bracket(self, delta: Number) -> tuple[float, float]:
        """Bounds (lower, upper) on the least ε ≥ 0 at ``delta``: the ε of Gaussian noise of this ρ,
        and what is proved for all mechanisms."""
        if self.rho == 0:
            return 0.0, 0.0
        mu = 2 * self.rho / sqrt_up(2 * self.rho)  # at most √(2ρ)
        upper = self.epsilon(delta)
        return min(GDP(mu).bracket(delta)[0], upper), upper

    def group(self, k: int) -> ZCDP:
        """What is promised to k people together: k²·ρ (Bun and Steinke 2016, Prop. 1.9)."""
        return ZCDP(self.rho * group_size(k) ** 2)

    # -- the least ρ of a mechanism ----------------------------------------------------------------
    # The supremum over orders α > 1 of D_α/α, one theorem per function. Each rounds up, by at most
    # an ulp.
    #
    # All pairs here but the bounded range are symmetric, and then with τ = α − ½
    #
    #     D_α = log(G(τ)/G(½))/(α − 1)  for an even function G,   and   α·(α − 1) = τ² − ¼,
    #
    # so D_α/α is the slope of a chord of log G, as a function of s = τ², from s = ¼ on. Where log G
    # is concave in s, the steepest chord is the tangent at ¼: α → 1, the Kullback-Leibler
    # divergence. If G(τ) = Σ mₙ·τ²ⁿ/(2n)!, it is concave whenever mₙ₊₁/((2n + 1)·mₙ) never
    # increases with n, since log G has the slope G′/(2τG) in s, and a quotient of power series with
    # positive coefficients moves the way their quotients do (Biernacki and Krzyż 1955).

    @classmethod
    def _of_gaussian(cls, mu: Fraction) -> ZCDP:
        """ρ = ``mu``²/2, as D_α = α·μ²/2 between two Gaussians (Bun and Steinke 2016, Prop. 1.6).

        >>> ZCDP._of_gaussian(Fraction(1))
        ZCDP(rho=Fraction(1, 2))
        """
        return cls(bound_up(mu**2 / 2))

    @classmethod
    def _of_pure(cls, epsilon: Fraction) -> ZCDP:
        """ρ = ε·tanh(ε/2) at ``epsilon``: less than ε²/2, exact for randomized response, the worst
        pair.

        Here G = cosh(ετ) and mₙ = ε²ⁿ, so the supremum is at α → 1.

        >>> round(float(ZCDP._of_pure(Fraction(1)).rho), 12)
        0.46211715726
        """
        e = epsilon
        return cls._up(e, lambda: ball(e) * (ball(e) / 2).tanh())

    @classmethod
    def _of_laplace(cls, epsilon: Fraction, steps: int | None) -> ZCDP:
        """For real noise ρ = ε + e^(−ε) − 1 at ``epsilon``; with ``steps`` and b = ε/steps it is
        ρ = ε − b/sinh(b)·(1 − e^(−ε)) (both Harrison and Manurangsi 2026).

        Here G = 2·cosh(ετ) + sinh(ετ)/τ and mₙ = ε²ⁿ·(2 + ε/(2n + 1)), or with steps
        mₙ = ε²ⁿ·(2 + (1 − e^(−b))·Σ|1 − 2k/steps|²ⁿ) with k from 1 to steps − 1: α → 1 again,
        and the Kullback-Leibler divergence is (E|K − steps| − E|K|)/t for noise K of scale t. At
        one step it is ε·tanh(ε/2), with many it falls to the ρ of real noise.

        >>> round(float(ZCDP._of_laplace(Fraction(1), None).rho), 12)
        0.367879441171
        >>> ZCDP._of_laplace(Fraction(1), 1) == ZCDP._of_pure(Fraction(1))
        True
        """
        e = epsilon
        if steps is None:
            return cls._up(e, lambda: ball(e) + (-ball(e)).expm1())
        if steps == 1:
            return cls._of_pure(e)
        b = e / steps

        # b/sinh(b) = 2b·e^(−b)/(1 − e^(−2b)): nothing overflows.
        def formula() -> arb:
            small = 2 * ball(b) * (-ball(b)).exp() / (-ball(2 * b)).expm1()
            return ball(e) - small * (-ball(e)).expm1()

        return cls._up(e, formula)

    @classmethod
    def _of_bounded_range(cls, epsilon: Fraction) -> ZCDP:
        """ρ = log((e^ε − 1)/ε) + ε/(e^ε − 1) − 1 at ``epsilon``, at most ε²/8 (Cesar and Rogers
        2021).

        The worst pairs have two losses, t and t − ε. With λ(x) = log(sinh(xε/2)/(xε/2)), the best t
        at each α makes (α − 1)·D_α = ν(α) − ν(α − 1) − ν(1) where ν(x) = x·λ(x). As ν′ is a concave
        function of x², from 0 up, that is at most α·(α − 1)·ν′(1) (it holds for each min(x², c), of
        which ν′ is a mixture), and ρ = ν′(1) = λ(1) + λ′(1), reached as α → 1: the Kullback-Leibler
        divergence at the worst t (also Harrison and Manurangsi 2026).

        >>> [round(float(ZCDP._of_bounded_range(Fraction(e)).rho), 12) for e in ("1", "0.01")]
        [0.123301561482, 1.2499983e-05]
        """
        e = epsilon

        # With r = 1 − e^(−ε):  ε + log(r/ε) + ε·e^(−ε)/r − 1
        def formula() -> arb:
            r = -(-ball(e)).expm1()
            return ball(e) + (r / ball(e)).log() + ball(e) * (-ball(e)).exp() / r - 1

        return cls._up(e, formula)

    @classmethod
    def _of_response(cls, epsilon: Fraction, categories: int) -> ZCDP:
        """ρ of k-ary randomized response at ``epsilon``, for k ``categories``; see below.

        >>> [round(float(ZCDP._of_response(Fraction(1), k).rho), 12) for k in (6, 1000)]
        [0.222624914022, 0.039074657904]
        """
        e, k = epsilon, categories
        if e == 0 or k <= 6 or _concave_from(e, k, e / 2):
            # ε·(1 − e^(−ε))/(1 + (k − 1)·e^(−ε))
            return cls._up(
                e, lambda: -ball(e) * (-ball(e)).expm1() / (1 + (k - 1) * (-ball(e)).exp())
            )
        y = _before_touching(e, k)
        if not (_concave_from(e, k, y) and _passes_below(e, k, y)):
            return cls._of_pure(e)  # holds for every k; this case has not come up so far
        return cls._up(e, lambda: ball(e) ** 2 / 2 * _share(e, k, y))

    @classmethod
    def _of_outcomes(cls, outcomes: Outcomes) -> ZCDP:
        """The supremum over orders α > 1 of D_α/α, in both orders of the laws over the
        ``outcomes``; at most 0.05 % more.

        D_α never decreases with α, so on an interval of orders from a to b, D_α/α ≤ D_b/a. Beyond
        the order where D_∞/α falls below what was found, nothing larger can come.

        >>> from discreet.guarantees.loss_distribution import read_outcomes
        >>> coin = read_outcomes([0.75, 0.25], [0.25, 0.75])       # randomized response, ε = log 3
        >>> round(float(ZCDP._of_outcomes(coin).rho), 3)            # ε·tanh(ε/2)
        0.55
        """
        return cls(bound_up(Fraction(max(_rho(outcomes), _rho(outcomes.swapped)) * _SAFE)))

    @classmethod
    def _up(cls, e: Fraction, formula: Callable[[], arb]) -> ZCDP:
        """The formula rounded up; nothing is spent where ε is 0, which formulas divide by."""
        return cls(ball_up(sharp(formula)) if e else 0)

    def _to(self, notion: type[N]) -> N:
        return notion._of_zcdp(self.rho) if self.rho else notion(0)

    # -- the profile -------------------------------------------------------------------------------

    @property
    def _bounded(self) -> bool:
        return self.rho == 0

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        # Bun and Steinke 2016, Proposition 1.3: ρ + 2·√(ρ·ln(1/δ)).
        rho = float(self.rho)
        return rho + 2 * math.sqrt(-rho * math.log(tail))

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        return zcdp_profile(self.rho, x)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        return zcdp_band(self.rho, x)


def zcdp_profile(rho: Fraction, x: Fraction) -> arb:
    """An upper bound on δ(x) for x ≥ 0 under ρ-zCDP: the least of

    - √(ρ/2), by Pinsker's inequality, as the KL divergence is at most ρ and δ(x) ≤ δ(0) = TV;
    - √(1 − e^(−ρ)) likewise, by Bretagnolle and Huber (1979), better for large ρ;
    - exp((α−1)(αρ−x))/(α−1)·(1−1/α)^α for any α > 1 (Canonne, Kamath and Steinke 2020,
      Proposition 12). We take the best α in floating point: whichever it is, the bound holds.
    """
    if rho == 0:
        return ball(0)
    pinsker = (ball(rho) / 2).sqrt()
    bretagnolle_huber = (-(-ball(rho)).expm1()).sqrt()
    tv = pinsker.min(bretagnolle_huber)
    u = _best_order(rho, x)  # α − 1
    # log of the third: u·((1+u)·ρ − x) + u·log(u) − (1+u)·log(1+u)
    renyi = ball(u * ((1 + u) * rho - x)) + ball(u) * ball(u).log() - ball(1 + u) * ball(u).log1p()
    return tv.min(renyi.exp()) if renyi < 0 else tv


def _best_order(rho: Fraction, x: Fraction) -> Fraction:
    """The α − 1 = u that makes the Rényi bound least, nearly: the derivative of its logarithm,

        (2u + 1)·ρ − x + log(u/(1 + u)),

    increases with u, so its root is found by bisection on log u.
    """
    slope, shift = min(round_up(rho), 1e300), min(round_up(x), 1e300)
    low, high = -300.0, 300.0
    for _ in range(64):
        middle = (low + high) / 2
        u = math.exp(middle)
        rising = (2 * u + 1) * slope - shift - math.log1p(1 / u) > 0
        low, high = (low, middle) if rising else (middle, high)
    return Fraction(math.exp(low))


def zcdp_band(rho: Fraction, x: FloatArray) -> Band:
    """`zcdp_profile` in floats, at many x; the best orders by the same bisection, all at once."""
    if rho == 0:
        return Band(np.zeros_like(x), np.zeros_like(x))
    slope = round_up(rho)
    left, right = np.full_like(x, -40.0), np.full_like(x, 40.0)
    for _ in range(50):
        middle = (left + right) / 2
        u = np.exp(middle)
        rising = (2 * u + 1) * slope - x - np.log1p(1 / u) > 0
        left, right = np.where(rising, left, middle), np.where(rising, middle, right)
    u = np.exp(left)

    def at(r: float, side: int) -> FloatArray:
        cost, gain = u * ((1 + u) * r), u * x
        log_u, log_1u = u * np.log(u), (1 + u) * np.log1p(u)
        error = 16 * UNIT * (cost + gain + np.abs(log_u) + log_1u)
        renyi = np.exp(np.minimum(cost - gain + log_u - log_1u + side * error, 0.0))
        tv = min(math.sqrt(r / 2), math.sqrt(-math.expm1(-r)))
        value: FloatArray = np.minimum(renyi, tv)
        return value

    low, high = ends(rho)
    return widen(at(low, -1), at(high, 1), units=32)


# -- the least ρ of k-ary randomized response, for every k -----------------------------------------
# In the notation above, G(τ) = cosh(ετ) + C with C = (k − 2)·e^(−ε/2)/2. With y = ετ, the slope
# of log G in s = τ² is
#
#     S(y) = ε²·sinh(y)/(2y·(cosh(y) + C)),
#
# and it rises while M(y) = (sinh(y)·cosh(y) − y)/(y·cosh(y) − sinh(y)) is below C and falls from
# there on: M increases from M(0) = 2, as the quotients 4ⁿ/(2n) of its coefficients do. So log G
# is first convex and then concave, and the steepest chord from s = ¼ (y = ε/2) on is
#
# - the tangent at ¼ itself, α → 1, if M(ε/2) ≥ C already: always up to six categories, as
#   Harrison and Manurangsi (2026) found, and ρ = ε·(e^ε − 1)/(e^ε + k − 1);
# - else the tangent at the y* in the concave part whose tangent passes through s = ¼.
#
# For a y a little before y* the tangent is a little steeper, so S(y) is an upper bound as soon as
# two facts are certain: M(y) ≥ C, and the tangent at y is at or below log G at s = ¼.


def _constant(e: Fraction, k: int) -> arb:
    return ball(Fraction(k - 2, 2)) * (-ball(e / 2)).exp()


def _share(e: Fraction, k: int, y: Fraction) -> arb:
    """sinh(y)/(y·(cosh(y) + C))"""
    b = ball(y)
    return b.sinh() / (b * (b.cosh() + _constant(e, k)))


def _concave_from(e: Fraction, k: int, y: Fraction) -> bool:
    """Whether M(y) ≥ C for certain: C·(y·cosh − sinh) − (sinh·cosh − y) ≤ 0."""

    def excess() -> arb:
        b = ball(y)
        return _constant(e, k) * (b * b.cosh() - b.sinh()) - (b.sinh() * b.cosh() - b)

    return certainly_at_most(excess, _NONE)


def _passes_below(e: Fraction, k: int, y: Fraction) -> bool:
    """Whether log G(y) − (s − ¼)·S(y) ≤ log G(ε/2) for certain, with s − ¼ = (y² − ε²/4)/ε²."""

    def excess() -> arb:
        c = _constant(e, k)
        rise = ((ball(y).cosh() + c) / (ball(e / 2).cosh() + c)).log()
        return rise - ball((y * y - e * e / 4) / 2) * _share(e, k, y)

    return certainly_at_most(excess, _NONE)


def _before_touching(e: Fraction, k: int) -> Fraction:
    """A y just before the first float above ε/2 whose tangent is not certain to pass below."""
    first = least_float(lambda y: y > e / 2 and not _passes_below(e, k, y))
    return Fraction(first) * (1 - Fraction(1, 2**51))


# -- the least ρ of a table of outcomes ------------------------------------------------------------


def _rho(outcomes: Outcomes) -> float:
    p, losses = outcomes.losses
    largest = outcomes.largest_loss
    best, order = 0.0, 1.0
    while order == 1.0 or largest / order > best:
        orders = order * (1 + _RATIO) ** np.arange(257)
        # e^((α−1)·D_α) = Σ p·e^((α−1)·l), with the largest loss taken out.
        powers = np.exp(np.outer(orders[1:] - 1, losses - largest))
        divergence = np.log(powers @ p) / (orders[1:] - 1) + largest
        best = max(best, float(np.max(divergence / orders[:-1])))
        order = float(orders[-1])
    return best
