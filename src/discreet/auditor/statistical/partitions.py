"""Cutting a column into cells, so that an event is a set of cells.

Floats are cut at edges, each of which is a cell of its own: a value that occurs again and again
is told apart from what lies beside it. Keys are cells, and what is rare shares one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import FloatArray
from discreet.auditor.statistical.features import Column

_KEYS = 4096
_VALUES = 700  # as many different values stay apart, if there may be as many cells


@dataclass(frozen=True)
class Partition:
    """Cells 0, 1, ... of floats: below the first edge, then the edge if it is a cell of its own,
    then what lies above it, and so on, and NaN as the last. Of keys: each, and all others."""

    edges: FloatArray | NDArray[np.int64]
    ordered: bool
    cell: NDArray[np.intp]  # of place 2i (between edges) and 2i + 1 (at an edge)

    @property
    def size(self) -> int:
        return int(self.cell[-1]) + 1

    def cells(self, column: Column) -> NDArray[np.intp]:
        """The cell of each output."""
        place = np.searchsorted(self.edges, column)  # the first edge at or above; NaN comes last
        known = np.minimum(place, len(self.edges) - 1)
        at = self.edges[known] == column
        if not self.ordered:
            return np.where(at, known, len(self.edges))
        place = 2 * place + at
        if column.dtype.kind == "f":
            place[np.isnan(column)] = len(self.cell) - 1
        found: NDArray[np.intp] = self.cell[place]
        return found

    def counts(self, column: Column) -> FloatArray:
        """How many outputs fall into each cell."""
        return np.bincount(self.cells(column), minlength=self.size).astype(np.float64)


def partition(first: Column, other: Column, *, most: int) -> Partition:
    """Cells for two columns of one feature, fine where the outputs are, and in the tails."""
    if first.dtype.kind != "f":
        return _by_keys(np.concatenate([first, other]))
    sides: list[FloatArray] = [np.sort(side[~np.isnan(side)]) for side in (first, other)]
    both = np.concatenate(sides)
    if both.size == 0:
        return _by_edges(np.zeros(1), np.ones(1, np.bool_))
    values, counts = np.unique(both, return_counts=True)
    if len(values) <= min(_VALUES, 3 * most):
        return _by_edges(values, np.ones(len(values), np.bool_))
    edges = np.unique(np.concatenate([_quantiles(side, most) for side in sides if side.size]))
    # A value that comes again and again is a cell; on a fine grid single values are not.
    often = counts[np.searchsorted(values, edges)] > max(8.0, both.size / most)
    return _by_edges(edges, often)


def _by_edges(edges: FloatArray, alone: NDArray[np.bool_]) -> Partition:
    """An edge that is not alone belongs to what lies above it."""
    starts = np.ones(2 * len(edges) + 2, np.intp)  # whether a new cell starts at this place
    starts[0] = 0
    starts[2:-1:2] = alone  # above an edge
    return Partition(edges, ordered=True, cell=np.cumsum(starts))


def _quantiles(ordered: FloatArray, most: int) -> FloatArray:
    """Evenly spread ranks, and ranks 1, 2, 4, ... from either end."""
    last = len(ordered) - 1
    even = np.linspace(0, last, most).astype(np.int64)
    steps = np.unique(np.geomspace(1, max(1, last // most + 1), 24).astype(np.int64))
    ranks = np.concatenate([even, np.minimum(steps, last), np.maximum(last - steps, 0)])
    found: FloatArray = ordered[ranks]
    return found


def _by_keys(both: NDArray[np.int64]) -> Partition:
    keys, counts = np.unique(both, return_counts=True)
    if len(keys) > _KEYS:
        keys = np.sort(keys[np.argsort(-counts, kind="stable")[:_KEYS]])
    return Partition(keys, ordered=False, cell=np.arange(len(keys) + 1))
