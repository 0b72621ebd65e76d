"""The two output laws along what a witness looks at, as bars of a picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.finding import Bar
from discreet.auditor.region import FloatArray
from discreet.auditor.statistical.events import Event
from discreet.auditor.statistical.outputs import Outputs

_BARS: Final = 48
_FEW: Final = 16  # different values, or kinds, that get a bar each
_TAIL: Final = 0.002  # on each side, put together into the outermost bars


def bars(event: Event, first: Outputs, other: Outputs) -> tuple[Bar, ...]:
    """Shares of both inputs' outputs in each bar, and how much of it the event takes."""
    found = _ranges if event.partition.ordered else _kinds
    return tuple(found(event, first, other))


def _kinds(event: Event, first: Outputs, other: Outputs) -> Iterator[Bar]:
    """The commonest, where they are many: half of them of the event, half of the rest."""
    cut, naming = event.partition, event.feature.words or str
    p, q = (cut.counts(event.feature.column(side)) / max(1, len(side)) for side in (first, other))
    order = np.argsort(-(p + q), kind="stable")
    order = order[(p + q)[order] > 0]
    shown = order
    if len(order) > _FEW:
        held, half = event.inside[order], _FEW // 2
        shown = np.concatenate([order[held][:half], order[~held][:half]])
    for cell in np.sort(shown).tolist():
        words = "anything rarer" if cell == cut.size - 1 else naming(int(cut.edges[cell]))
        yield Bar(words, None, None, (float(p[cell]), float(q[cell])), float(event.inside[cell]))


def _ranges(event: Event, first: Outputs, other: Outputs) -> Iterator[Bar]:
    columns = [np.asarray(event.feature.column(side), np.float64) for side in (first, other)]
    both = np.concatenate(columns)
    finite = both[np.isfinite(both)]
    if finite.size == 0:
        return
    held = event.inside[event.partition.cells(finite)]
    values = np.unique(finite)
    apart = len(values) <= _FEW  # each value a bar of its own
    edges = values if apart else _edges(finite, held)
    size = len(edges) - (not apart)
    places = np.clip(np.searchsorted(edges, finite, "right") - 1, 0, size - 1)
    members, all_of_it = np.bincount(places[held], minlength=size), np.bincount(places)
    ends = np.cumsum([np.isfinite(column).sum() for column in columns])
    p = np.bincount(places[: ends[0]], minlength=size) / max(1, len(first))
    q = np.bincount(places[ends[0] :], minlength=size) / max(1, len(other))
    for i in range(size):
        start, end = float(edges[i]), float(edges[i if apart else i + 1])
        words = f"{start:.6g}" if apart else f"{start:.6g} to {end:.6g}"
        inside = float(members[i] / all_of_it[i]) if i < len(all_of_it) and all_of_it[i] else 0.0
        yield Bar(words, start, end, (float(p[i]), float(q[i])), inside)


def _edges(finite: FloatArray, held: NDArray[np.bool_]) -> NDArray[Any]:
    """Equal bars between the tails: whole numbers in their middle; for others, an edge is where
    the event begins or ends."""
    low, high = np.quantile(finite, [_TAIL, 1 - _TAIL])
    if low == high:
        low, high = finite.min(), finite.max()
    if (finite == np.floor(finite)).all() and high - low < 2**50:
        width = max(1.0, float(np.ceil((high - low + 1) / _BARS)))
        low = np.floor(low) - 0.5
        return np.asarray(low + width * np.arange(np.ceil((high + 0.5 - low) / width) + 1))
    order = np.argsort(finite)
    cuts = finite[order][1:][np.diff(held[order])]
    inner = cuts[(low < cuts) & (cuts < high)]
    width = high / _BARS - low / _BARS
    low -= (low - inner[0]) % width if len(inner) else 0.0
    return np.asarray(low + width * np.arange(_BARS + 2))
