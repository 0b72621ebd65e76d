"""How much noise: the least that keeps a promise over many runs, or the most within an error."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Generic, TypeVar

from discreet.errors import InvalidArgument, LooseBound, Phrase
from discreet.guarantees import GDP, Composition, Guarantee, Pure, TotalVariation, compose
from discreet.guarantees.guarantee import unit_interval
from discreet.guarantees.notion import Budget, Notion
from discreet.hints import spelled
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.poisson_sampled import Mechanism, PoissonSampled
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.numeric.exact import Number, integer, positive, probability

M = TypeVar("M", bound=Mechanism)

_FLOAT = 2.0**-46  # where a trial costs next to nothing
_COMPOSED = 2.0**-20  # about as precisely as a composition knows its ε
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

    The noise is the least up to one part in a million, or up to the width of a composition's
    bracket; where all runs together have a closed form, up to rounding.

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
            "target or error",
            "given, and only one of them",
            "none" if target is None else "both",
            hint=Phrase("say {target=} for a promise or {error=} for a width"),
        )
    if target is None:
        if integer(count, name="count", minimum=1) != 1 or rate is not None:
            raise InvalidArgument(
                "count and rate",
                Phrase("left out with {error=}"),
                "given",
                hint="how far off one answer may be does not depend on how many there are",
            )
        width, sure = positive(error, name="error"), Fraction(95, 100)
        sure = sure if confidence is None else probability(confidence, name="confidence")
        return _most_private(asked, width, sure)
    if confidence is not None:
        raise InvalidArgument.of("confidence", Phrase("left out with {target=}"), confidence)
    runs = integer(count, name="count", minimum=1)
    promise = _read_target(target)
    q = None if rate is None else unit_interval(positive(rate, name="rate"), name="rate")
    return _least_noise(asked, RunTarget(promise, runs, q))


def _least_noise(family: Family[M], goal: RunTarget) -> M:
    if isinstance(goal.target, Pure) and goal.rate is None and goal.target.epsilon0:
        # Pure ε add up, so this is exact where it holds at all.
        exact = family.make(family.unit * goal.count / goal.target.epsilon0)
        if goal.kept(exact):
            return exact
        raise _no_noise(family)
    start, slope = goal.start() * float(family.unit), 1.0
    closed = goal.is_closed(family.make(start))
    if not closed:  # get close on a coarse grid first, at a fraction of the cost
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
    # The search may have rounded differently from `kept`, and it is `kept` that must hold.
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
        raise InvalidArgument("error", f"a width that some {family.name} has", str(float(width)))
    return family.make(1 / Fraction(found.size))


def _read_target(target: Guarantee) -> Guarantee:
    if not isinstance(target, Budget | TotalVariation):
        given, hint = InvalidArgument.describe_data(target), "for several runs say count="
    elif target._point is not None and target._point[1] == 1:
        given, hint = "one that everything keeps", "delta = 1 asks for no noise at all"
    else:
        return target
    raise InvalidArgument(
        "target",
        "Pure, Approx, ZCDP, GDP or TotalVariation, such as Approx(1, 1e-6)",
        given,
        hint=hint,
    )


def _no_noise(family: Family[M]) -> InvalidArgument:
    return InvalidArgument(
        "target",
        f"a promise that {family.name} can keep",
        "one that it cannot keep with any amount of noise",
        hint="0 allows nothing, and Gaussian noise needs a delta above 0",
    )


# -- families: mechanisms that differ only in their noise ------------------------------------------


# The parameter that sets the noise of a family, and what its `error` needs besides a confidence.
_FAMILIES: Final[dict[type, tuple[str, str | None]]] = {
    Laplace: ("scale", None),
    Gaussian: ("sigma", None),
    RandomizedResponse: ("epsilon", "respondents"),
    Exponential: ("epsilon", "candidates"),
    NoisyMax: ("epsilon", "candidates"),
    AboveThreshold: ("epsilon", "queries"),
    SparseVector: ("epsilon", "queries"),
}
_NOISE: Final = ("epsilon", "delta", "scale", "sigma", "rho", "mu", "truth")


@dataclass(frozen=True)
class Family(Generic[M]):
    """A class of mechanisms with all of its parameters but the noise."""

    mechanism: type[M]
    parameters: dict[str, Any]
    noise: str  #: the parameter that is left open
    asks: dict[str, Any]  #: what `error` needs besides a confidence

    @staticmethod
    def read(mechanism: type[M], parameters: dict[str, Any]) -> Family[M]:
        """Check the class and the parameters that were passed in.

        >>> Family.read(Laplace, {"sensitivity": 1}).make(2).epsilon
        Fraction(1, 2)
        """
        if not isinstance(mechanism, type) or mechanism not in _FAMILIES:
            given = getattr(mechanism, "__name__", None)
            raise InvalidArgument(
                "family",
                f"one of {', '.join(sorted(known.__name__ for known in _FAMILIES))}",
                given or InvalidArgument.describe_parameter(mechanism),
                hint="pass the class, as in dp.calibrate(dp.Laplace, sensitivity=1, error=5)",
            )
        for name in _NOISE:
            if name in parameters:
                raise InvalidArgument.of(
                    name, "left out", parameters[name], hint="calibrate finds the noise itself"
                )
        noise, extra = _FAMILIES[mechanism]
        asks = {name: value for name, value in parameters.items() if name == extra}
        own = {name: value for name, value in parameters.items() if name != extra}
        return Family(mechanism, own, noise, asks)

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.mechanism.__name__

    def make(self, size: float | Fraction) -> M:
        """The mechanism with noise of this size, exact: its scale, its σ, or 1/ε."""
        exact = Fraction(size)
        noise = 1 / exact if self.noise == "epsilon" else exact
        return self.mechanism(**self.parameters, **{self.noise: noise})

    def error(self, size: Fraction, confidence: Fraction) -> float:
        """How far off the mechanism with noise of this size may be."""
        mechanism: Any = self.make(size)
        width: float = mechanism.error(confidence, **self.asks)
        return width

    @property
    def unit(self) -> Fraction:
        """The size of noise that goes with a privacy loss of 1."""
        if self.noise == "epsilon":
            return Fraction(1)
        mechanism: Any = self.make(1)
        sensitivity: Fraction = mechanism.sensitivity
        return sensitivity


# -- run target ------------------------------------------------------------------------------------


_ROUGH_TOLERANCE = 1e-3  # a tolerance that a composition reaches fast


@dataclass(frozen=True)
class RunTarget:
    """`count` runs, each on a new Poisson sample if there is a `rate`, within `target`."""

    target: Guarantee
    count: int
    rate: Fraction | None

    def run(self, mechanism: Mechanism) -> Guarantee:
        """What one run promises."""
        if self.rate is None:
            return mechanism.guarantee
        return PoissonSampled(mechanism, rate=self.rate).guarantee

    def kept(self, mechanism: Mechanism) -> bool:
        """Whether all runs are within the target, for certain."""
        run, n = self.run(mechanism), self.count
        if self.point is not None and self.point[0] and not self.is_closed(mechanism):
            # An ε that is enough for δ, and at most the target's, settles it: δ(ε) falls. It is
            # computed near where the answer is easy, and it is what a user would look at.
            return self._epsilon(run.repeat(n)) <= self.point[0]
        # Where one number adds up, each run may have its share of it.
        if isinstance(self.target, Notion):
            each = self.target.value / self.target.of_amount(Fraction(n)).value
            return run.within(type(self.target)(each))
        return run.repeat(n).within(self.target)

    def excess(self, mechanism: Mechanism, *, rough: bool = False) -> float:
        """At most 1 where the target is kept, more than 1 where it is not.

        For a composition it is its ε, or δ, divided by that of the target; for anything else just
        0 or infinity, because a trial costs so little.
        """
        total = self.run(mechanism).repeat(self.count)
        if self.point is None or not isinstance(total, Composition):
            return 0.0 if self.kept(mechanism) else math.inf
        epsilon, delta = self.point
        if self.is_closed(mechanism) or epsilon == 0:
            return total.delta(epsilon) / float(delta)
        # ε at the target's δ is near the answers that are easy to compute, however far off the
        # noise is; δ at the target's ε may be anything.
        return (
            self._epsilon(compose([total], tolerance=_ROUGH_TOLERANCE) if rough else total)
            / epsilon
        )

    def _epsilon(self, total: Guarantee) -> float:
        assert self.point is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LooseBound)  # a loose bound is a bound
            return total.epsilon(self.point[1])

    def is_closed(self, mechanism: Mechanism) -> bool:
        """Whether all runs together are compared with the target in closed form."""
        total = self.run(mechanism).repeat(self.count)
        if self.point is None or not isinstance(total, Composition):
            return True
        return total._closed is not None

    @property
    def point(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ), where the target is such a point with δ above 0."""
        point = self.target._point
        return point if point is not None and point[1] else None

    def start(self) -> float:
        """About the noise that a run of sensitivity 1 will need, by the central limit theorem:
        n runs have √n·μ, on samples q·√(n·(e^(μ²) − 1)) (Bu, Dong, Long and Su 2020)."""
        if self.point is None:
            return 1.0
        epsilon, delta = self.point
        try:
            total = float(GDP.greatest(epsilon=epsilon, delta=delta).mu)
        except InvalidArgument:  # below what an account can hold, but this is only a guess
            total = 2.0**-64
        if self.rate is None:
            return math.sqrt(self.count) / total
        return 1 / math.sqrt(math.log1p((total / float(self.rate)) ** 2 / self.count))


# -- the least noise that is enough, with as few trials as possible --------------------------------
# A trial may cost a whole composition. Privacy loss is nearly a power of the noise, so on
# logarithmic scales the next trial is where a straight line through the last two meets the limit.
# Whatever is tried, both ends are kept: noise that was enough, and less noise that was not.


_MOST_TRIALS = 400
_FARTHEST = 200.0  # nobody wants e^200 times the first guess, or e^−200 times
_LONGEST = 1.0  # a line through one trial is not trusted further than this
_TOO_NEAR = 1e-9  # trials closer together than this say nothing about a slope


@dataclass(frozen=True)
class Found:
    """Noise that is enough, and how the excess falls with it: excess ∝ size^(−slope)."""

    size: float
    slope: float


def least_noise(
    excess: Callable[[float], float], *, start: float, tolerance: float, slope: float = 1.0
) -> Found | None:
    """The least size with excess(size) ≤ 1, up to a factor of 1 + tolerance.

    None if all sizes are enough, or none is. `excess` never increases with the size. Where it is
    0 or infinite, which says no more than whether the size is enough, the search bisects.

    >>> found = least_noise(lambda size: 7 / size**2, start=1, tolerance=1e-12)
    >>> round(found.size, 9), round(found.slope, 6)
    (2.645751311, 2.0)
    >>> enough = lambda size: 0.0 if size**2 >= 7 else math.inf
    >>> round(least_noise(enough, start=1, tolerance=1e-12).size, 9)
    2.645751311
    """
    x = 0.0  # sizes are start·e^x
    low, high = -math.inf, math.inf  # not enough, and enough
    stride, before = 0.5, None
    for _ in range(_MOST_TRIALS):
        ratio = excess(start * math.exp(x))
        low, high = (low, x) if ratio <= 1 else (x, high)
        if high - low <= tolerance or abs(x) > _FARTHEST:
            break
        y = math.nan
        if 0 < ratio < math.inf:
            here = (x, math.log(ratio))
            slope = _slope(before, here, slope)
            # A little to the other side of the limit, so that both ends close in on it.
            step = here[1] / slope + math.copysign(tolerance / 3, here[1])
            y = x + max(-_LONGEST, min(step, _LONGEST))
            before = here
        if not low < y < high:
            y, stride = _halfway(x, low, high, stride)
        x = y
    if math.isinf(low) or math.isinf(high):
        return None
    return Found(start * math.exp(high), slope)


def _slope(before: tuple[float, float] | None, here: tuple[float, float], slope: float) -> float:
    """The slope of the line through the last two trials, unless they say nothing sensible."""
    if before is None or abs(before[0] - here[0]) < _TOO_NEAR:
        return slope
    measured = (before[1] - here[1]) / (here[0] - before[0])
    return measured if 1e-2 < measured < 1e4 else slope


def _halfway(x: float, low: float, high: float, stride: float) -> tuple[float, float]:
    """Halfway between both ends, or a longer stride while one of them is still missing."""
    if math.isfinite(low) and math.isfinite(high):
        return (low + high) / 2, stride
    return (x + stride if math.isinf(high) else x - stride), 2 * stride
