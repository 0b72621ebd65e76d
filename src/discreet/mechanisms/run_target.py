"""Many runs of one mechanism, each perhaps on a sample, and a guarantee they must stay within."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidArgument, LooseBound
from discreet.exact import sqrt_up
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    Composition,
    Guarantee,
    Pure,
    TotalVariation,
    compose,
)
from discreet.guarantees.accounts.caps import gdp_cap
from discreet.mechanisms.poisson_sampled import Mechanism, PoissonSampled

_ROUGH = 1e-3  # a tolerance that a composition reaches fast


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
        match self.target:
            case Pure(epsilon):
                return run.within(Pure(epsilon / n))
            case ZCDP(rho):
                return run.within(ZCDP(rho / n))
            case GDP(mu):
                return run.within(GDP(mu / sqrt_up(Fraction(n))))
        return run.repeat(n).within(self.target)

    def excess(self, mechanism: Mechanism, *, rough: bool = False) -> float:
        """At most 1 where the target is kept, above where it is not.

        The ε, or δ, of a composition over that of the target; of anything else just 0 or
        infinity, because it costs so little to ask.
        """
        total = self.run(mechanism).repeat(self.count)
        if self.point is None or not isinstance(total, Composition):
            return 0.0 if self.kept(mechanism) else math.inf
        epsilon, delta = self.point
        if self.is_closed(mechanism) or epsilon == 0:
            return total.delta(epsilon) / float(delta)
        # ε at the target's δ is near the answers that are easy to compute, however far off the
        # noise is; δ at the target's ε may be anything.
        return self._epsilon(compose([total], tolerance=_ROUGH) if rough else total) / epsilon

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
        match self.target:
            case Approx(epsilon, delta) if delta > 0:
                return epsilon, delta
            case TotalVariation(tv) if tv > 0:
                return Fraction(0), tv
        return None

    def start(self) -> float:
        """About the noise that a run of sensitivity 1 will need, by the central limit theorem:
        n runs have √n·μ, on samples q·√(n·(e^(μ²) − 1)) (Bu, Dong, Long and Su 2020)."""
        if self.point is None:
            return 1.0
        epsilon, delta = self.point
        try:
            total = float(gdp_cap(epsilon=epsilon, delta=delta).mu)
        except InvalidArgument:  # below what an account can hold, but a guess is all it is
            total = 2.0**-64
        if self.rate is None:
            return math.sqrt(self.count) / total
        return 1 / math.sqrt(math.log1p((total / float(self.rate)) ** 2 / self.count))
