"""One order of a composition, read at the ε or δ asked for: plan, transform, refine."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from discreet.guarantees.convolution import plan as planning
from discreet.guarantees.convolution.curve import Curve
from discreet.guarantees.convolution.grid_loss import grid_loss
from discreet.guarantees.convolution.lattice import lattice_of
from discreet.guarantees.convolution.plan import Plan
from discreet.guarantees.convolution.spectrum import Spectrum
from discreet.guarantees.guarantee import Guarantee

_BYTES = 120  # for each point of the circle or of one loss, at the worst moment
_REFINEMENTS = 8
_LARGE = 2**20  # from here on a refinement has to show some use
_CUT = 1e-10  # the share of δ that tails beyond the grid may have
_TINY = 1e-60  # and what they may have in any case
_FAINT = 1e-30  # a δ below which nobody needs digits
DEFAULT_TOLERANCE = 1e-3

Parts: TypeAlias = tuple[tuple[Guarantee, int], ...]
Start: TypeAlias = tuple["Reading", Parts]  # what was read before, and what came after


class Reading:
    """Bounds on one profile of a composition; what was computed is kept for the next question."""

    def __init__(
        self,
        parts: Parts,
        swapped: bool,
        tolerance: float | None,
        memory: int,
        start: Start | None = None,
    ) -> None:
        self.parts, self.swapped = parts, swapped
        self.tolerance, self.memory = tolerance, memory
        self.start = start
        self.spectrum: Spectrum | None = None
        self.curve: Curve | None = None
        self.plan: Plan | None = None
        self._answers: dict[Fraction, tuple[float, float]] = {}

    @property
    def _aim(self) -> float:
        return DEFAULT_TOLERANCE if self.tolerance is None else self.tolerance

    # -- ε at δ ----------------------------------------------------------------------------------

    def bracket(self, delta: Fraction, *, enough: float = 0.0) -> tuple[float, float]:
        """Bounds on the least ε ≥ 0 whose δ is at most `delta`, which is above 0.

        An upper bound below `enough` need not be refined: another order has more.
        """
        if delta not in self._answers:
            found = self._bracket(delta, enough)
            if found[1] <= enough:
                return found
            self._answers[delta] = found
        return self._answers[delta]

    def _bracket(self, delta: Fraction, enough: float) -> tuple[float, float]:
        target = float(delta) * (1 - 2**-52)
        if target == 0.0:
            return 0.0, math.inf
        if self._extend():
            lower, upper = self._epsilons(target)
            if _close(lower, upper, self._aim) or upper <= enough:
                return lower, upper
        best = (0.0, math.inf)
        tail = max(_CUT * target / self._count, 1e-300)
        sketch = planning.sketch(self.parts, tail=tail, swapped=self.swapped)
        tilt = planning.tilt_for_delta(sketch, target)
        plan = self._first_plan(sketch, tilt, tail)
        for _ in range(_REFINEMENTS):
            self._compute(plan)
            lower, upper = self._epsilons(target)
            before, best = best, (max(best[0], lower), min(best[1], upper))
            if _close(*best, self._aim) or best[1] <= enough:
                return best
            if plan.size > _LARGE and _gap(*best) >= 0.7 * _gap(*before):
                break  # a finer grid does not help
            finer = self._finer(plan, *best)
            if finer is None:
                break
            plan = finer
        return best

    def _epsilons(self, target: float) -> tuple[float, float]:
        curve, plan = self._computed()
        top = round(plan.middle / plan.step) + curve.size // 2
        upper = curve.epsilon_above(target, top)
        return curve.epsilon_below(target, upper), upper

    # -- δ at ε ----------------------------------------------------------------------------------

    def delta(self, epsilon: Fraction, *, enough: float = 0.0) -> float:
        """An upper bound on δ at this ε ≥ 0; one below `enough` need not be refined."""
        x = float(epsilon)
        x = math.nextafter(x, 0) if x > epsilon else x  # reading further left is safe
        if self.curve is not None:
            found = self.curve.delta_above(x)
            if found <= max(enough, _FAINT) or self._good(x):
                return found
        sketch = planning.sketch(self.parts, tail=_TINY / self._count, swapped=self.swapped)
        _, mean, variance = sketch.cumulants(0.0)
        if x < mean - 40 - 8 * math.sqrt(variance):
            return 1.0  # where hardly any loss is below, δ is next to 1
        tilt = planning.tilt_for_epsilon(sketch, x)
        log_moment = sketch.cumulants(tilt)[0]
        # Chernoff tells about how small δ is here, and so what a tail may be.
        expected = math.exp(max(min(0.0, log_moment - tilt * x), -600.0))
        tail = max(_CUT * expected, _TINY) / self._count
        plan = self._first_plan(sketch, tilt, tail)
        best, doubt = 1.0, 1.0
        for _ in range(_REFINEMENTS):
            self._compute(plan)
            best = min(best, self._computed()[0].delta_above(x))
            before, doubt = doubt, self._doubt(x)
            if (
                self._good(x)
                or best <= max(enough, _FAINT)
                or (plan.size > _LARGE and doubt >= 0.7 * before)
            ):
                break  # or a finer grid does not help
            finer = self._finer(plan, 1.0, 1 + 4 * self._aim)
            if finer is None:
                break
            plan = finer
        return best

    def _good(self, x: float) -> bool:
        """Whether both bounds on δ at x agree to about what the tolerance on ε allows.

        A step of tolerance·ε changes δ by about θ times as much of itself.
        """
        curve, _ = self._computed()
        return self._doubt(x) <= max(10 * self._aim, min(0.5, self._aim * x * curve.tilt))

    def _doubt(self, x: float) -> float:
        """The share of the upper bound on δ at x that the lower one does not reach."""
        curve, _ = self._computed()
        j = math.floor(x / curve.step)
        upper = curve.upper(j)
        return 1 - curve.lower(j) / upper if upper > 0 else 0.0

    # -- computing ---------------------------------------------------------------------------------

    @property
    def _count(self) -> int:
        return sum(count for _, count in self.parts)

    def _computed(self) -> tuple[Curve, Plan]:
        assert self.curve is not None and self.plan is not None
        return self.curve, self.plan

    def _first_plan(self, sketch: planning.Sketch, tilt: float, tail: float) -> Plan:
        lattice = lattice_of(self.parts)
        return self._affordable(
            planning.make_plan(sketch, tilt, tail=tail, tolerance=self.tolerance, lattice=lattice)
        )

    def _affordable(self, plan: Plan) -> Plan:
        """The same circle with fewer points, if the memory would not do."""
        most = max(4096, self.memory // _BYTES)
        circle = plan.step * plan.size
        coarsest = max(circle, 2 * plan.reach) / most * 1.01
        if plan.step >= coarsest:
            return plan
        return planning.sized(replace(plan, step=planning.short(coarsest)), circle)

    def _finer(self, plan: Plan, lower: float, upper: float) -> Plan | None:
        """A plan that should close the gap, which shrinks with the square of the step."""
        gap = _gap(lower, upper)
        factor = min(0.5, 0.8 * math.sqrt(self._aim / gap)) if gap > 0 else 0.5
        factor = max(factor, 1 / 16)
        circle = plan.step * plan.size
        finer = planning.sized(replace(plan, step=planning.short(plan.step * factor)), circle)
        affordable = self._affordable(finer)
        return affordable if affordable.step < plan.step else None

    def _compute(self, plan: Plan) -> None:
        spectrum: Spectrum | None = None
        for pair, count in self.parts:
            spectrum = self._times(spectrum, plan, pair, count)
        assert spectrum is not None
        self.spectrum, self.curve, self.plan = spectrum, Curve(spectrum), plan

    def _times(
        self, spectrum: Spectrum | None, plan: Plan, pair: Guarantee, count: int
    ) -> Spectrum:
        loss = grid_loss(pair, plan.step, tail=plan.tail, swapped=self.swapped)
        if spectrum is None:
            return Spectrum.of(
                loss,
                count,
                step=plan.step,
                tilt=plan.tilt,
                rates=plan.rates,
                size=plan.size,
            )
        return spectrum.times(loss, count)

    def _extend(self) -> bool:
        """Start from what was computed for all parts but the newest, if the grid still does."""
        if self.curve is not None:
            return True
        if self.start is None:
            return False
        (before, more), self.start = self.start, None
        if before.spectrum is None or before.plan is None:
            return False
        spectrum, plan = before.spectrum, before.plan
        reach = max(
            (pair._reach(plan.tail, swapped=side) for pair, _ in more for side in (False, True)),
            default=0.0,
        )
        if reach * (plan.tilt + max(plan.rates)) > planning.STEEPEST:
            return False  # the tilt was made for smaller losses
        for pair, count in more:
            spectrum = self._times(spectrum, plan, pair, count)
        self.spectrum, self.curve = spectrum, Curve(spectrum)
        self.plan = replace(plan, middle=spectrum.mean)
        return True


def _gap(lower: float, upper: float) -> float:
    return upper / lower - 1 if lower > 0 and math.isfinite(upper) else math.inf


def _close(lower: float, upper: float, tolerance: float) -> bool:
    return upper <= lower * (1 + tolerance)
