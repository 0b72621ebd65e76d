"""The Laplace mechanism: noise in proportion to how far one person can move the answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

from discreet import laws
from discreet.guarantees import Guarantee, LaplacePair, Pure, compose
from discreet.guarantees.composition import MOST
from discreet.hints import spelled
from discreet.inputs import Numbers
from discreet.lazy import cached_property
from discreet.mechanisms.mechanism import (
    NoisyNumbers,
    Step,
    check_noise,
    exactly_one,
    positive_sensitivity,
    read_step,
)
from discreet.noise import laplace as noise
from discreet.numeric.exact import Number, positive
from discreet.sensitivity import Sensitivity


@dataclass(frozen=True, init=False)
class Laplace(NoisyNumbers):
    """Adds Laplace noise of scale sensitivity/ε to each number: ε-differential privacy.

    ``sensitivity`` is in the L1 norm: for a vector, how much all of its coordinates together
    can move when one person's data changes. A fact from ``discreet.sensitivity`` also says how
    far one coordinate can move at most, which tightens ``guarantee``. Give the promise
    (``epsilon``) or the noise (``scale``), not both. Integers in give integers out (discrete
    Laplace noise); floats in give floats on a fine power-of-two grid, the exact rounding of the
    textbook mechanism.
    ``step`` fixes the grid: 1 for integers, "fine" for floats, or a power of two.

    Cost: ``guarantee``. Error: ``error(0.95)`` for a 95 % half-width, about 3·scale.

    >>> mechanism = Laplace(sensitivity=1, epsilon=0.5)
    >>> mechanism.scale, mechanism.error(confidence=0.95)
    (Fraction(2, 1), 6.0)
    >>> type(mechanism.release(1234)), type(mechanism.release(12.5))
    (<class 'int'>, <class 'float'>)
    """

    _samplers = (noise.DiscreteLaplaceSampler, noise.LaplaceSampler)

    sensitivity: Fraction  #: in the L1 norm
    scale: Fraction
    step: Step
    largest: Fraction  #: how far a single number moves at most

    @spelled
    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number | None = None,
        scale: Number | None = None,
        step: Number | None = None,
    ) -> None:
        size, largest = _moves(sensitivity)
        chosen, given = exactly_one(epsilon=epsilon, scale=scale)
        exact = positive(given, name=chosen)
        exact = size / exact if chosen == "epsilon" else exact
        object.__setattr__(self, "sensitivity", size)
        object.__setattr__(self, "scale", check_noise(exact, name=chosen))
        object.__setattr__(self, "step", read_step(step, noise=self.scale))
        object.__setattr__(self, "largest", largest)

    @property
    def _size(self) -> Fraction:
        return self.scale

    @property
    def epsilon(self) -> Fraction:
        """The ε of the pure guarantee, exact."""
        return self.sensitivity / self.scale

    @cached_property
    def guarantee(self) -> Guarantee:
        """ε-differential privacy, with the profile of the noise on its grid.

        Without a stated ``step`` it is the larger of those for integers and for floats.

        >>> Laplace(sensitivity=1, epsilon=2).guarantee
        Pure(epsilon=Fraction(2, 1))
        >>> from discreet.sensitivity import counts
        >>> tenfold = Laplace(sensitivity=counts(k=10, relation="add-remove"), epsilon=2)
        >>> tenfold.guarantee                                  # each of ten counts moves by one
        Composition(10 × Pure(epsilon=Fraction(1, 5)))
        >>> at_once = Laplace(sensitivity=10, epsilon=2)       # one number may move by ten
        >>> round(tenfold.guarantee.tv, 3), round(at_once.guarantee.tv, 3)
        (0.242, 0.632)
        """
        # Integers move by whole steps and floats by any amount: a fraction has no single pair.
        whole = self.sensitivity.denominator == self.largest.denominator == 1
        if self._keeps_integers and not whole:
            return Pure(self.epsilon)
        # The worst of all ways to split the L1 sensitivity is the most uneven one: as many
        # numbers as possible move by `largest`, and one by the rest; see `_pair`.
        full, rest = divmod(self.sensitivity, self.largest)
        if full > MOST:
            return self._pair(self.sensitivity)
        split = [self._pair(self.largest).repeat(full)]
        return compose([*split, self._pair(rest)] if rest else split)

    def _pair(self, move: Fraction) -> Pure | LaplacePair:
        """How well the noise on one number hides a move."""
        # Lemma: for a ≥ b ≥ c, moves of a + c and b − c are easier to see than a and b. With Y
        # Laplace of scale 1 cut to [0, a], the loss is a − 2Y, so that δ(x) = E φ(Y + Y′) with
        # φ(y) = max(0, 1 − e^(x−a−b+2y)), which falls with y and is 0 from (a + b)/2 on if
        # x ≥ 0. Cutting Y later, at a + c, changes Y + Y′ only where φ is 0 anyway; cutting Y′
        # earlier lowers Y + Y′, so φ grows. Hence δ grows at x ≥ 0, in both orders, and so at
        # all x. On integers all this holds in whole steps. Pair by pair it leads from any split
        # to the most uneven one, and domination survives composition.
        epsilon = move / self.scale
        if not self._keeps_integers:  # real noise, rounded
            return LaplacePair(epsilon)
        # The discrete law's profile is the larger one at the same ε: it connects the dots.
        if self.step is None and move == 1:
            return Pure(epsilon)  # the same
        return LaplacePair(epsilon, steps=int(move))

    @property
    def inputs(self) -> Numbers:
        """What one person can do to the numbers."""
        return Numbers(
            total=self.sensitivity,
            largest=self.largest,
            norm="l1",
            integers=self._keeps_integers,
        )

    def law(self, value: int | float | Fraction) -> laws.DiscreteLaplace | laws.RoundedLaplace:
        """Return the exact law of ``release(value)`` for one number, far from int64's edges."""
        if isinstance(value, Integral) and self._keeps_integers:
            return laws.DiscreteLaplace(center=int(value), scale=self.scale)
        return laws.RoundedLaplace(center=value, scale=self.scale, step=self._float_step)


def _moves(sensitivity: Number | Sensitivity) -> tuple[Fraction, Fraction]:
    """How far all numbers together move at most, and how far one of them."""
    size = positive_sensitivity(sensitivity, norm="l1")
    if not isinstance(sensitivity, Sensitivity):
        return size, size
    size = min(size, sensitivity.l0 * sensitivity.linf)
    return size, min(size, sensitivity.linf)
