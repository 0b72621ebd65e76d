"""How a claim that was found to be false is named."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from discreet.guarantees import GDP, ZCDP, Approx, Guarantee, Pure, TotalVariation

_PARAMETERS = {
    Pure: {"epsilon0": "epsilon"},
    Approx: {"epsilon0": "epsilon", "delta0": "delta"},
    TotalVariation: {"tv0": "tv"},
    ZCDP: {"rho": "rho"},
    GDP: {"mu": "mu"},
}


def accused(claim: Guarantee) -> str:
    """The claim with its parameters rounded down: whoever breaks it breaks what is printed.

    A guarantee prints itself rounded up, which is safe for a promise and not for an accusation.

    >>> claim = Pure("1.0986122886681098")
    >>> print(claim, accused(claim))
    Pure(epsilon=1.1) Pure(epsilon=1.098612288)
    """
    if type(claim) not in _PARAMETERS:
        return str(claim)
    told = ", ".join(
        f"{word}={_ten_digits(getattr(claim, name))}"
        for name, word in _PARAMETERS[type(claim)].items()
    )
    return f"{type(claim).__name__}({told})"


def _ten_digits(x: Fraction) -> str:
    """x to ten digits, rounded down."""
    with localcontext(prec=10, rounding=ROUND_FLOOR):
        return f"{float(Decimal(x.numerator) / Decimal(x.denominator)):.10g}"
