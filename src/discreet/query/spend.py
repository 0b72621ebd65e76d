"""What an analyst offers for an answer, and how it is shared out.

A spend is given in one of the field's notions. Shares of ε and of ρ are plain fractions of it;
of μ it is the square that is shared, since Gaussian mechanisms add up in squares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from discreet.errors import InvalidArgument
from discreet.guarantees.filters import gdp_cap, zcdp_cap
from discreet.numeric.balls import ball, lower
from discreet.numeric.exact import Number, positive, probability

_FINE = 2**40


@dataclass(frozen=True, slots=True)
class Spend:
    """ε, (ε, δ), ρ or μ, the last two with a δ where keys are to be discovered."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    mu: Fraction | None = None

    @classmethod
    def read(
        cls,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> Spend:
        """Check what the caller gave: exactly one of epsilon, rho and mu.

        >>> Spend.read(epsilon=0.5)
        Spend(epsilon=Fraction(1, 2), delta=None, rho=None, mu=None)
        """
        given = {"epsilon": epsilon, "rho": rho, "mu": mu}
        names = [name for name, value in given.items() if value is not None]
        if len(names) != 1:
            raise InvalidArgument(
                name="spend",
                expected="given as epsilon=, epsilon= and delta=, rho=, mu=, or error=",
                given=" and ".join(names) or ("nothing" if delta is None else "delta alone"),
                hint="keep one of them"
                if names
                else "say how much privacy the answer may cost, as in epsilon=0.5",
            )
        exact = {name: positive(given[name], name=name) for name in names}
        return cls(**exact, delta=None if delta is None else probability(delta, name="delta"))

    def __str__(self) -> str:
        parts = [
            f"{symbol} = {float(value):.6g}"
            for symbol, value in (
                ("ε", self.epsilon),
                ("ρ", self.rho),
                ("μ", self.mu),
                ("δ", self.delta),
            )
            if value is not None
        ]
        return ", ".join(parts)


Kind = Literal["epsilon", "rho", "mu"]


@dataclass(frozen=True, slots=True)
class SpendAmount:
    """An amount of ε, ρ or μ, of which parts can be given away that add up to it."""

    kind: Kind
    amount: Fraction

    @property
    def noise(self) -> Literal["laplace", "gaussian"]:
        """The noise that this buys most of: Laplace for pure ε, Gaussian for the others."""
        return "laplace" if self.kind == "epsilon" else "gaussian"

    def share(self, share: Fraction, *, among: int = 1) -> SpendAmount:
        """This part of it, and of that one of `among` equal ones.

        >>> SpendAmount("epsilon", Fraction(1)).share(Fraction(1, 2), among=5).amount
        Fraction(1, 10)
        """
        part = share / among
        if self.kind == "mu":
            # μ² is what adds up: a root, rounded down to 40 bits
            root = Fraction(math.isqrt(int(part * _FINE**2)), _FINE)
            return SpendAmount("mu", self.amount * root)
        return SpendAmount(self.kind, self.amount * part)

    @property
    def pure(self) -> Fraction:
        """The largest ε, rounded down, whose pure promise is worth no more than this.

        - ρ: ε-differential privacy is ε²/2-zCDP (Bun and Steinke 2016).
        - μ: its trade-off curve has one kink, at (1/(1+e^ε), 1/(1+e^ε)), where a Gaussian one
          with Φ(−μ/2) = 1/(1+e^ε) meets it; between that and the ends the latter is convex, so
          it lies below the chords, which are the former.
        """
        match self.kind:
            case "epsilon":
                return self.amount
            case "rho":
                return Fraction(math.isqrt(int(2 * self.amount * _FINE**2)), _FINE)
            case "mu":
                return _epsilon_of_mu(self.amount)

    @property
    def for_choice(self) -> dict[str, Fraction]:
        """What a private choice takes: ε or ρ, and for μ the ε that is worth it."""
        return {"rho": self.amount} if self.kind == "rho" else {"epsilon": self.pure}


@lru_cache(maxsize=256)
def _epsilon_of_mu(mu: Fraction) -> Fraction:
    # ln(Φ(μ/2)/Φ(−μ/2)), with Φ(x) = erfc(−x/√2)/2
    half = ball(mu) / (2 * ball(Fraction(2)).sqrt())
    return Fraction(lower(((-half).erfc() / half.erfc()).log()))


@lru_cache(maxsize=256)
def gaussian_share(epsilon: Fraction, delta: Fraction, *, in_rho: bool) -> SpendAmount:
    """The largest μ, or ρ, that keeps (ε, δ): what Gaussian noise can be had for it."""
    if in_rho:
        return SpendAmount("rho", zcdp_cap(epsilon=epsilon, delta=delta).rho)
    return SpendAmount("mu", gdp_cap(epsilon=epsilon, delta=delta).mu)
