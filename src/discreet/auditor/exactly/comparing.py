"""Two laws in both orders: which route fits them."""

from __future__ import annotations

from typing import Any

from discreet.auditor.exactly.gaps import in_bins
from discreet.auditor.exactly.halflines import HalfLines
from discreet.auditor.exactly.intervals import Intervals
from discreet.auditor.exactly.parts import Parts, of_outcomes, of_product, of_tails
from discreet.auditor.exactly.sides import Side
from discreet.auditor.exactly.windows import of_window
from discreet.errors import InvalidArgument
from discreet.laws.mixture import Mixture


def sides(first: Any, second: Any) -> tuple[Side, Side]:
    """P against Q and Q against P."""
    both = compare(first, second)
    return both, both.swapped


def compare(first: Any, second: Any) -> Parts | HalfLines | Intervals:
    """P against Q, by a finite partition where there is one, else by half-lines.

    >>> from discreet.laws import Finite
    >>> print(compare(Finite("ab", (3, 1)), Finite("ab", (1, 3))).hockey(0).str(5, radius=False))
    0.50000
    """
    if isinstance(first, tuple) and isinstance(second, tuple):
        parts = [compare(p, q) for p, q in zip(first, second, strict=True)]
        return of_product([_finite(part) for part in parts])
    first, second = in_bins(first), in_bins(second)
    if hasattr(first, "outcomes") and hasattr(second, "outcomes"):
        return of_outcomes(first, second)
    if hasattr(first, "tails") and hasattr(second, "tails"):
        parts_of_tails = of_tails(first, second)
        if parts_of_tails is not None:
            return parts_of_tails
    if _in_order(first, second):
        return HalfLines(first, second)
    if all(hasattr(law, "cdf") and hasattr(law, "density") for law in (first, second)):
        return Intervals(first, second)
    if all(hasattr(law, "cdf") and hasattr(law, "mass") for law in (first, second)):
        return of_window(first, second)
    raise InvalidArgument(
        name="mechanism",
        expected="a mechanism whose laws have outcomes and mass, mass and cdf, or density and cdf",
        given=f"laws of type {type(first).__name__} and {type(second).__name__}",
    )


def _in_order(first: Any, second: Any) -> bool:
    """Whether the ratio is monotone: laws of one shape, or a mixture against a part of it."""
    shape = getattr(first, "shape", None)
    if shape is not None and shape == getattr(second, "shape", None):
        return True
    for mixture, part in ((first, second), (second, first)):
        if isinstance(mixture, Mixture) and part in (mixture.first, mixture.second):
            # (s·p + (1 − s)·q)/q = s·p/q + 1 − s
            return _in_order(mixture.first, mixture.second)
    return False


def _finite(side: Parts | HalfLines | Intervals) -> Parts:
    if isinstance(side, Parts):
        return side
    raise InvalidArgument(
        name="pairs",
        expected="coordinates with finitely many parts, where there are several",
        given="noise without geometric tails, or a shift of too many steps",
    )
