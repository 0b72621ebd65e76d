"""Two laws in both orders: which route fits them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.auditor.exactly.event import Event
from discreet.auditor.exactly.families import is_noise, is_ours
from discreet.auditor.exactly.gaps import in_bins
from discreet.auditor.exactly.halflines import HalfLines
from discreet.auditor.exactly.intervals import Intervals
from discreet.auditor.exactly.parts import Part, Parts, of_outcomes
from discreet.auditor.exactly.products import Together, of_product
from discreet.auditor.exactly.sides import Side
from discreet.auditor.exactly.tails import of_tails
from discreet.auditor.exactly.windows import of_window
from discreet.balls import ball
from discreet.errors import InvalidArgument
from discreet.laws.mixture import Mixture


def sides(first: Any, second: Any) -> tuple[Side, Side]:
    """P against Q and Q against P."""
    both = compare(first, second)
    return both, both.swapped


def compare(first: Any, second: Any) -> Parts | HalfLines | Intervals | Together:
    """P against Q, by a finite partition where there is one, else by half-lines.

    >>> from discreet.laws import Finite
    >>> print(compare(Finite("ab", (3, 1)), Finite("ab", (1, 3))).hockey(0).str(5, radius=False))
    0.50000
    """
    if isinstance(first, tuple) and isinstance(second, tuple):
        return _several(first, second)
    if is_ours(first) and first == second:
        return Parts((Part(Event("any output", lambda _: True), ball(1), ball(1), Fraction(0)),))
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
    if is_noise(first) and is_noise(second):
        return bool(first.shape == second.shape)
    for mixture, part in ((first, second), (second, first)):
        if type(mixture) is Mixture and part in (mixture.first, mixture.second):
            # (s·p + (1 − s)·q)/q = s·p/q + 1 − s
            return _in_order(mixture.first, mixture.second)
    return False


def _several(first: tuple[Any, ...], second: tuple[Any, ...]) -> Parts | Together:
    """Independent outputs, by all their combinations or, where those are too many, by bounds."""
    known: list[tuple[Any, Any]] = []
    kinds: list[Side] = []
    places: list[int] = []
    for p, q in zip(first, second, strict=True):
        # Coordinates that are alike are one object: their combinations are merged by that.
        ours = is_ours(p) and is_ours(q)
        place = known.index((p, q)) if ours and (p, q) in known else len(known)
        if place == len(known):
            known.append((p, q))
            kinds.append(compare(p, q))
        places.append(place)
    parts = [kind for i in places if isinstance(kind := kinds[i], Parts)]
    whole = of_product(parts) if len(parts) == len(places) else None
    return Together(tuple(kinds), tuple(places)) if whole is None else whole
