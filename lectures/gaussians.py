"""Claims 11 to 13: the Gaussian's tail, how much of it is enough, and where it wins."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from discreet import bounds, sensitivity
from discreet.errors import Refused
from discreet.guarantees import Approx, Pure
from discreet.laws.gaussian import RealGaussian
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.numeric.balls import ball, lower, sharp, upper, upper_normal
from lectures.claim import Check, ClaimReport, Measured, shown
from lectures.trial import FromLaw, divergence, holds, proven, verified, witnessed

if TYPE_CHECKING:
    from flint import arb

SMALL: Final = Fraction(1, 10**5)
LARGE: Final = (Fraction(10), SMALL)  # an ε far outside the range of the classic formula
IN_RANGE: Final = tuple(
    (Fraction(epsilon), Fraction(delta))
    for epsilon in ("1/10", "1/2", "1")
    for delta in ("1e-6", "1e-3", "1/2")
)


def tail(*, bound: Callable[[Fraction], float] = bounds.gaussian_tail) -> ClaimReport:
    """Claim 11: how rarely a Gaussian strays far."""

    def exact(t: Fraction) -> arb:
        return sharp(lambda: 2 * upper_normal(t))

    far = [Fraction(k, 10) for k in range(1, 301)]
    return ClaimReport(
        number=11,
        source="lecture 001, lemma 4.1",
        statement="For z ~ N(μ, σ²) and t > 0: P(|z − μ| > tσ) ≤ 2/(t·√(2π))·e^(−t²/2).",
        checks=(
            Check(
                "the bound is above the exact tail at t = 0.1, 0.2, …, 30",
                all(upper(exact(t)) <= bound(t) for t in far),
            ),
            Check(
                "far out it is nearly reached: at t = 30 it is at most 0.2 % too large",
                bound(far[-1]) <= lower(exact(far[-1])) * 1.002,
            ),
        ),
        numbers=tuple(
            Measured(
                f"exact tail at t = {t}",
                shown(upper(exact(Fraction(t)))),
                f"erfc in ball arithmetic; the bound is {shown(bound(Fraction(t)))}",
            )
            for t in (1, 2, 5)
        ),
        note="Errors that this package states come from exact tails, not from this bound.",
    )


def formula(constant: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """√(2·ln(constant/δ))/ε for a sensitivity of 1, to a relative error of 2⁻⁵²."""
    return Fraction(float(sharp(lambda: (2 * ball(constant / delta).log()).sqrt()))) / epsilon


def classic(*, constant: Fraction = Fraction(2)) -> ClaimReport:
    """Claim 12: the classic calibration, where it is proved and where it fails."""

    def noise(constant: Fraction, epsilon: Fraction, delta: Fraction) -> FromLaw:
        sigma = formula(constant, epsilon, delta)
        return FromLaw(lambda x: RealGaussian(x, sigma**2))

    def true_delta(constant: Fraction) -> float:
        return divergence(noise(constant, *LARGE), LARGE[0], (0, 1))

    beyond = verified(noise(Fraction(2), *LARGE), Approx(*LARGE), (0, 1))
    return ClaimReport(
        number=12,
        source="lecture 001, claim 4.2",
        statement="f plus N(0, σ²) with σ² = 2Δ²·ln(2/δ)/ε² is (ε, δ)-DP for 0 < ε ≤ 1 and "
        "0 < δ ≤ ½.",
        checks=(
            Check(
                "the verifier, from the laws alone: (ε, δ) holds for ε = 0.1, 0.5, 1 and "
                "δ = 1e-6, 1e-3, ½",
                all(holds(noise(constant, eps, d), Approx(eps, d), (0, 1)) for eps, d in IN_RANGE),
            ),
            Check(
                "outside that range the formula fails: at (10, 1e-5) the verifier finds an event "
                "that breaks the claim",
                beyond.violated,
            ),
            Check(
                "Gaussian.classic is (1, 1e-5)-DP for all neighbours, and refuses (10, 1e-5)",
                proven(Gaussian.classic(sensitivity=1, epsilon=1, delta=SMALL), Approx(1, SMALL))
                and _refused(*LARGE),
            ),
        ),
        numbers=(
            Measured("true δ at (10, 1e-5)", shown(true_delta(Fraction(2))), "the two laws"),
            Measured(
                "the same with ln(1.25/δ)",
                shown(true_delta(Fraction(5, 4))),
                "the variant of Dwork and Roth, outside its range too",
            ),
            *witnessed(beyond, "(10, 1e-5)"),
            Measured(
                "classic σ at (1, 1e-6)",
                shown(float(formula(constant, Fraction(1), Fraction(1, 10**6)))),
                "the lecture's formula, Δ = 1",
            ),
            Measured(
                "least σ at (1, 1e-6)",
                shown(float(Gaussian(sensitivity=1, epsilon=1, delta="1e-6").sigma)),
                "exact calibration, which holds for every ε",
            ),
        ),
        note="Outside its range it is refused, not used: the default calibration is exact. The "
        "lecture writes 0 ≤ ε and 0 ≤ δ; at 0 the formula has no value.",
    )


def _refused(epsilon: Fraction, delta: Fraction) -> bool:
    try:
        Gaussian.classic(sensitivity=1, epsilon=epsilon, delta=delta)
    except Refused:
        return True
    return False


def _l2(d: int) -> Fraction:
    return sensitivity.counts(k=d, relation="add-remove").l2


def many_numbers(*, l2: Callable[[int], Fraction] = _l2) -> ClaimReport:
    """Claim 13: in many dimensions, and in many answers, a small δ pays."""

    def gaussian(d: int) -> float:
        return math.sqrt(Gaussian(sensitivity=l2(d), epsilon=1, delta=SMALL).variance)

    def laplace(d: int) -> float:
        l1 = sensitivity.counts(k=d, relation="add-remove").l1
        return math.sqrt(Laplace(sensitivity=l1, epsilon=1).variance)

    sizes = (10, 100, 1000)
    first = next((d for d in range(1, 21) if gaussian(d) < laplace(d)), None)
    tenth = Pure(Fraction(1, 10))
    together = tenth.repeat(100)
    return ClaimReport(
        number=13,
        source="lecture 001, notes after claim 4.2",
        statement="In d dimensions Gaussian noise follows the L2 sensitivity and Laplace noise L1, "
        "so Gaussian noise can be much smaller; a small δ also buys better composition.",
        checks=(
            Check(
                "d counts that all move by 1, at (1, 1e-5): the Gaussian's sd is below Laplace's "
                f"for d = 10, 100, 1000, and first at d = {first}",
                all(gaussian(d) < laplace(d) for d in sizes),
            ),
            Check(
                "the ratio grows like √d: from d = 100 to d = 10,000 tenfold, to 1 %",
                abs(_gain(gaussian, laplace, 10_000) / _gain(gaussian, laplace, 100) / 10 - 1)
                < 0.01,
            ),
            Check(
                "100 answers of ε = 0.1 cost ε = 10 at δ = 0, and less than half of it at δ = 1e-5",
                round(together.epsilon(0), 9) == 10 and together.epsilon(SMALL) < 5,
            ),
        ),
        numbers=(
            *(
                Measured(
                    f"sd of the noise, d = {d}",
                    f"{shown(gaussian(d))} against {shown(laplace(d))}",
                    "Gaussian against Laplace",
                )
                for d in (1, *sizes)
            ),
            Measured(
                "ε of 100 answers of ε = 0.1 at δ = 1e-5",
                shown(together.epsilon(SMALL)),
                "their privacy losses, convolved",
            ),
        ),
        note="For one number Laplace noise is smaller: the gain begins with the dimension.",
    )


def _gain(gaussian: Callable[[int], float], laplace: Callable[[int], float], d: int) -> float:
    return laplace(d) / gaussian(d)
