"""A coin decides which of two laws the output is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.laws.value import DiscreteLaw
from discreet.numeric.balls import arb, ball, precision
from discreet.numeric.exact import Number, positive

_BITS = 192


@dataclass(frozen=True, init=False)
class Mixture(DiscreteLaw):
    """`first` with probability `share`, else `second`.

    >>> from discreet.laws import Finite
    >>> Mixture(Finite((0, 1), (1, 0)), Finite((0, 1), (1, 1)), share="1/2").pmf(0)
    0.75
    """

    first: Any
    second: Any
    share: Fraction

    def __init__(self, first: Any, second: Any, share: Number) -> None:
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)
        object.__setattr__(self, "share", positive(share, name="share"))

    def mass(self, outcome: Any) -> arb:
        """P(X = outcome) as a ball."""
        return self._mixed(self.first.mass(outcome), self.second.mass(outcome))

    def cdf(self, x: Any) -> arb:
        """P(X ≤ x) as a ball."""
        return self._mixed(self.first.cdf(x), self.second.cdf(x))

    def above(self, x: Any) -> arb:
        """P(X ≥ x) as a ball."""
        return self._mixed(self.first.above(x), self.second.above(x))

    def __getattr__(self, name: str) -> Any:
        """`outcomes`, `tails` and `step`, where both laws have them."""
        if name not in ("outcomes", "tails", "step", "center", "sigma", "scale"):
            raise AttributeError(name)
        first, second = getattr(self.first, name), getattr(self.second, name)
        match name:
            case "outcomes":
                return tuple(dict.fromkeys([*first, *second]))
            case "tails" if first[2] == second[2]:
                return min(first[0], second[0]), max(first[1], second[1]), first[2]
            case "center":
                return self.share * first + (1 - self.share) * second
        if first != second:
            raise AttributeError(name)
        return first

    def _mixed(self, a: arb, b: arb) -> arb:
        with precision(_BITS):
            return ball(self.share) * a + ball(1 - self.share) * b
