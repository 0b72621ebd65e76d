"""How much noise: the least that keeps a promise over many runs, or the most within an error."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeVar

from discreet.errors import InvalidArgument
from discreet.exact import Number, integer, positive, probability
from discreet.guarantees import GDP, ZCDP, Approx, Guarantee, Pure, TotalVariation
from discreet.guarantees.profile import unit_interval
from discreet.mechanisms.families import Family
from discreet.mechanisms.noise_search import least_noise
from discreet.mechanisms.poisson_sampled import Mechanism
from discreet.mechanisms.run_target import RunTarget
from discreet.spelling import spelled

M = TypeVar("M", bound=Mechanism)

_FLOAT = 2.0**-46  # where a trial costs next to nothing
_COMPOSED = 2.0**-20  # of the order of what a composition knows of its ε
_ROUGH = 2.0**-10
_NUDGES = 12


@spelled
def calibrate(
    family: type[M],
    *,
    target: Guarantee | None = None,
    count: int = 1,
    rate: Number | None = None,
    error: Number | None = None,
    confidence: Number | None = None,
    **parameters: Any,
) -> M:
    """Return the mechanism with the least noise that keeps a promise, or the most within an error.

    ``family`` is the class of the mechanism, such as ``dp.Gaussian``. With ``target`` it is the one
    with the least noise such that ``count`` runs of it, on the same people and one after another,
    are certain to be within that guarantee. With ``rate`` each run is on a new Poisson sample of
    that rate (see ``PoissonSampled``). With ``error`` it is the one with the least privacy loss
    whose ``error(confidence)`` is at most that, at 0.95 by default. All other ``parameters`` are
    the family's own, and what its ``error`` asks for (``candidates=``).

    The noise is the least up to one part in a million, or as far as the bracket of a composition
    is open; where all runs together have a closed form, up to rounding.

    >>> from discreet.guarantees import Approx
    >>> from discreet.mechanisms.gaussian import Gaussian
    >>> from discreet.mechanisms.laplace import Laplace
    >>> gaussian = calibrate(Gaussian, sensitivity=1, count=100, target=Approx(1, 1e-6))
    >>> round(float(gaussian.sigma), 6), gaussian.guarantee.repeat(100).epsilon(1e-6) <= 1
    (42.246789, True)
    >>> steps = calibrate(Gaussian, sensitivity=1, rate=0.01, count=100, target=Approx(1, 1e-6))
    >>> round(float(steps.sigma), 3)
    0.986
    >>> laplace = calibrate(Laplace, sensitivity=1, error=50, confidence=0.95)     # ±50 at 95 %
    >>> round(float(laplace.epsilon), 4), laplace.error(0.95)
    (0.0599, 50.0)
    """
    asked = Family.read(family, parameters)
    if (target is None) == (error is None):
        raise InvalidArgument(
            name="target or error",
            expected="given, and only one of them",
            given="none" if target is None else "both",
            hint="say target= for a promise or error= for a width",
        )
    if target is None:
        if integer(count, name="count", minimum=1) != 1 or rate is not None:
            raise InvalidArgument(
                name="count and rate",
                expected="left out with error=",
                given="given",
                hint="how far off one answer may be does not depend on how many there are",
            )
        width, sure = positive(error, name="error"), Fraction(95, 100)
        sure = sure if confidence is None else probability(confidence, name="confidence")
        return _most_private(asked, width, sure)
    if confidence is not None:
        given = InvalidArgument.describe_parameter(confidence)
        raise InvalidArgument(name="confidence", expected="left out with target=", given=given)
    runs = integer(count, name="count", minimum=1)
    return _least_noise(asked, RunTarget(_read_target(target), runs, _read_rate(rate)))


def _least_noise(family: Family[M], goal: RunTarget) -> M:
    if isinstance(goal.target, Pure) and goal.rate is None and goal.target.epsilon0:
        # Pure ε add up, so this is exact where it holds at all.
        exact = family.make(family.unit * goal.count / goal.target.epsilon0)
        if goal.kept(exact):
            return exact
        raise _no_noise(family)
    start, slope = goal.start() * float(family.unit), 1.0
    closed = goal.is_closed(family.make(start))
    if not closed:  # come near on a coarse grid, which costs a fraction
        near = least_noise(
            lambda size: goal.excess(family.make(size), rough=True), start=start, tolerance=_ROUGH
        )
        if near is None:
            raise _no_noise(family)
        start, slope = near.size, near.slope
    found = least_noise(
        lambda size: goal.excess(family.make(size)),
        start=start,
        slope=slope,
        tolerance=_FLOAT if closed else _COMPOSED,
    )
    if found is None:
        raise _no_noise(family)
    # The search may have met other roundings than whoever asks later: what counts is that.
    for nudge in range(_NUDGES):
        mechanism = family.make(found.size * (1 + (4**nudge - 1) * _FLOAT))
        if goal.kept(mechanism):
            return mechanism
    raise _no_noise(family)


def _most_private(family: Family[M], width: Fraction, confidence: Fraction) -> M:
    """The most noise within an error is the least inverse of noise."""

    def too_wide(inverse: float) -> float:
        return 0.0 if family.error(1 / Fraction(inverse), confidence) <= width else math.inf

    found = least_noise(too_wide, start=1 / float(width), tolerance=_FLOAT)
    if found is None:
        raise InvalidArgument(
            name="error",
            expected=f"a width that some {family.name} has",
            given=str(float(width)),
        )
    return family.make(1 / Fraction(found.size))


def _read_target(target: Guarantee) -> Guarantee:
    match target:
        case Approx(delta0=one) | TotalVariation(tv0=one) if one == 1:
            given, hint = "one that everything keeps", "delta = 1 asks for no noise at all"
        case Pure() | Approx() | ZCDP() | GDP() | TotalVariation():
            return target
        case _:
            given, hint = InvalidArgument.describe_data(target), "for several runs say count="
    raise InvalidArgument(
        name="target",
        expected="Pure, Approx, ZCDP, GDP or TotalVariation, such as Approx(1, 1e-6)",
        given=given,
        hint=hint,
    )


def _read_rate(rate: Number | None) -> Fraction | None:
    return None if rate is None else unit_interval(positive(rate, name="rate"), name="rate")


def _no_noise(family: Family[M]) -> InvalidArgument:
    return InvalidArgument(
        name="target",
        expected=f"a promise that {family.name} keeps with some noise",
        given="one that it does not keep with any",
        hint="0 allows nothing, and Gaussian noise needs a delta above 0",
    )
