"""Equal steps: what each of several selections in a row may spend of one spend."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from discreet.exact import Number, positive, round_down, sqrt_up
from discreet.guarantees import BoundedRange, to_zcdp
from discreet.mechanisms.choice import exactly_one

_ROUNDS: Final = 6
_BELOW: Final = 1 - Fraction(1, 2**48)  # room for the upward rounding of ρ


def step_epsilon(*, epsilon: Number | None, rho: Number | None, steps: int) -> Fraction:
    """Return ε₁ such that ``steps`` runs of ε₁-bounded range spend at most ε, or at most ρ.

    >>> step_epsilon(epsilon=1, rho=None, steps=3)
    Fraction(1, 3)
    >>> one = step_epsilon(epsilon=None, rho=0.5, steps=2)       # √(8·0.5/2) would be 1.414
    >>> round(float(one), 4), 0.499 < 2 * to_zcdp(BoundedRange(one)).rho <= 0.5
    (1.4339, True)
    """
    chosen, given = exactly_one(epsilon=epsilon, rho=rho)
    share = positive(given, name=chosen) / steps
    return share if chosen == "epsilon" else _largest_epsilon(share)


def _largest_epsilon(rho: Fraction) -> Fraction:
    """Return an ε₁, about as large as can be, for which bounded range is ρ-zCDP."""
    # ρ(ε) ≤ ε²/8, so √(8ρ) will do. As ρ(ε) is a concave function of ε² that starts at 0, it
    # grows at most like ε²: going from ε to ε·√(ρ/ρ(ε)) never passes the target.
    found = _root_down(8 * rho)
    for _ in range(_ROUNDS):
        larger = _root_down(rho / to_zcdp(BoundedRange(found)).rho) * found
        larger = Fraction(round_down(larger))
        if larger <= found or to_zcdp(BoundedRange(larger)).rho > rho * _BELOW:
            break
        found = larger
    return found


def _root_down(x: Fraction) -> Fraction:
    return Fraction(round_down(_BELOW / sqrt_up(1 / x)))
