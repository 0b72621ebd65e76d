"""Grids on which the losses of a mechanism lie already."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.guarantees.approx import Approx
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.pure import Pure
from discreet.guarantees.response import ResponsePair


def lattice_of(parts: Sequence[tuple[Guarantee, int]]) -> float | None:
    """The spacing that suits the most frequent part with losses of positive probability.

    Moving a loss to its two neighbours on the grid makes the sum of many a little wider. A
    grid that holds the loss avoids it; with several such parts, the most frequent counts.
    """
    best, spacing = 0, None
    for pair, count in parts:
        match pair:
            case Pure(epsilon0) | Approx(epsilon0, _) | ResponsePair(epsilon0, _):
                own = float(epsilon0)
            case LaplacePair(epsilon0, steps):
                own = float(epsilon0 / (steps or 1))
            case _:
                continue
        if count > best and own > 0:
            best, spacing = count, own
    return spacing
