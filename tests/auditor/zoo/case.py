"""One mechanism of the zoo: how to run it, what it claims and what is true of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import discreet as dp
from tests.auditor.zoo.laws import Laws

STATISTICS, EXACT, REPLAY = "statistics", "exact", "replay"


@dataclass(frozen=True)
class Case:
    """``draw(value, n)`` returns n outputs along the first axis, or a list of n.

    ``printed`` holds the digits of the published table, to be compared with the truth:
    "epsilon" (of the pair), "hs" and "delta" (δ at the claimed ε), "tv", "mu", "rho".
    """

    id: str
    words: str
    draw: Callable[[Any, int], Any]
    pair: tuple[Any, Any]
    claim: dp.Guarantee
    laws_of: Callable[[], Laws] | None
    broken: bool
    routes: tuple[str, ...] = (STATISTICS,)
    printed: Mapping[str, str] = field(default_factory=dict)
    batched: bool = True

    def run(self, value: Any, *, size: int | None = None) -> Any:
        """One output, or ``size`` of them."""
        return self.draw(value, 1)[0] if size is None else self.draw(value, size)

    @property
    def laws(self) -> Laws:
        """The two output laws, computed once."""
        assert self.laws_of is not None, f"{self.id} has no law: it is not random"
        return _computed(self.laws_of)

    @property
    def truth(self) -> float:
        """The least value of the claim's own parameter that is true of the pair.

        A claim that is a whole profile is reported by its ε at δ = 0.
        """
        match self.claim:
            case dp.Pure():
                return self.laws.epsilon()
            case dp.Approx(delta0=delta):
                return self.laws.epsilon(float(delta))
            case dp.TotalVariation():
                return self.laws.tv
            case dp.GDP():
                return self.laws.mu
            case dp.ZCDP():
                return self.laws.rho
        return self.laws.epsilon()

    @property
    def claimed(self) -> float:
        """The claim's own parameter."""
        match self.claim:
            case dp.Pure(epsilon0=epsilon) | dp.Approx(epsilon0=epsilon):
                return float(epsilon)
            case dp.TotalVariation(tv0=tv):
                return float(tv)
            case dp.GDP(mu=mu):
                return float(mu)
            case dp.ZCDP(rho=rho):
                return float(rho)
        return self.claim.epsilon(0)

    @property
    def delta(self) -> float:
        """The true δ of the pair at the claimed ε (at 0 for claims without one)."""
        has_epsilon = isinstance(self.claim, dp.Pure | dp.Approx)
        return self.laws.delta(self.claimed if has_epsilon else 0.0)

    @property
    def claimed_delta(self) -> float:
        return float(self.claim.delta0) if isinstance(self.claim, dp.Approx) else 0.0


@cache
def _computed(laws_of: Callable[[], Laws]) -> Laws:
    return laws_of()
