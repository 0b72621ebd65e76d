"""Likelihood ratios learned from vectors: more columns on which events can be built.

They are fitted to one part of the outputs and judged on others, so what they overlook or
imagine costs power, never correctness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import FloatArray
from discreet.auditor.statistical.features import Feature, telling, telling_pairs
from discreet.auditor.statistical.outputs import Outputs
from discreet.auditor.statistical.partitions import Partition, partition

_MOST = 32  # coordinates
_JOINED = 3  # coordinates looked at in pairs
_CELLS = 48
_ROWS = 1 << 13  # to fit weights to


def learned(first: Outputs, other: Outputs) -> Iterator[Feature]:
    """Columns that grow with how much likelier an output seems under the first input."""
    if max(first.width, other.width) < 2:
        return
    tables = _tables(first, other)
    yield Feature("log ratio, coordinate by coordinate", tables.total, None, True, is_ratio=True)
    weights = _logistic(tables.terms(first.rows(0, _ROWS)), tables.terms(other.rows(0, _ROWS)))
    if weights is not None:
        learned_ratio = partial(_weighted, tables, weights)
        yield Feature("log ratio, learned", learned_ratio, None, True, is_ratio=True)
    yield from _joint(first, other)


def _joint(first: Outputs, other: Outputs) -> Iterator[Feature]:
    """Cells of two coordinates at once, of the few that tell most."""
    few = sorted(telling(first, other, _JOINED))
    pairs = dict.fromkeys((*telling_pairs(first, other, _JOINED), *combinations(few, 2)))
    for i, j in pairs:
        sides = [side.widened(max(i, j) + 1).numbers for side in (first, other)]
        cuts = [partition(sides[0][:, k], sides[1][:, k], most=_CELLS // 2) for k in (i, j)]
        yield Feature(
            f"cells of y[{i}] and y[{j}]",
            partial(_both_cells, (i, j), cuts),
            lambda key: f"({key // 4096}, {key % 4096})",
            is_learned=True,
            rank=2,
        )


def _both_cells(
    places: tuple[int, int], cuts: Sequence[Partition], outputs: Outputs
) -> NDArray[np.int64]:
    wide = outputs.widened(max(places) + 1).numbers
    a, b = (cut.cells(wide[:, i]) for i, cut in zip(places, cuts, strict=True))
    return a.astype(np.int64) * 4096 + b


@dataclass(frozen=True)
class _Tables:
    """For each coordinate the log ratio of its cells, and how to scale the coordinate itself."""

    coordinates: tuple[int, ...]
    partitions: tuple[Partition, ...]
    ratios: tuple[FloatArray, ...]
    middle: FloatArray
    spread: FloatArray

    def ratio_terms(self, outputs: Outputs) -> FloatArray:
        wide = outputs.widened(max(self.coordinates) + 1).numbers
        return np.column_stack(
            [
                ratio[cut.cells(wide[:, i])]
                for i, cut, ratio in zip(
                    self.coordinates, self.partitions, self.ratios, strict=True
                )
            ]
        )

    def total(self, outputs: Outputs) -> FloatArray:
        """The log ratio if coordinates were independent: the sum of theirs."""
        total: FloatArray = self.ratio_terms(outputs).sum(axis=1)
        return total

    def terms(self, outputs: Outputs) -> FloatArray:
        """What the learned ratio is linear in: ratios, coordinates and their squares."""
        wide = outputs.widened(max(self.coordinates) + 1).numbers[:, list(self.coordinates)]
        with np.errstate(all="ignore"):
            scaled = np.clip(np.nan_to_num((wide - self.middle) / self.spread), -8.0, 8.0)
        ones = np.ones((len(outputs), 1))
        return np.hstack([ones, scaled, scaled**2, self.ratio_terms(outputs)])


def _weighted(tables: _Tables, weights: FloatArray, outputs: Outputs) -> FloatArray:
    return tables.terms(outputs) @ weights


def _tables(first: Outputs, other: Outputs) -> _Tables:
    chosen = telling(first, other, _MOST)
    width = max(chosen) + 1
    a, b = first.widened(width).numbers, other.widened(width).numbers
    cuts = tuple(partition(a[:, i], b[:, i], most=_CELLS) for i in chosen)
    ratios = []
    for i, cut in zip(chosen, cuts, strict=True):
        # Four imagined outputs a cell on either side keep rare cells from shouting.
        p, q = cut.counts(a[:, i]) / len(a), cut.counts(b[:, i]) / len(b)
        ratios.append(np.log((p + 4 / len(a)) / (q + 4 / len(b))))
    both = np.nan_to_num(np.clip(np.vstack([a[:, chosen], b[:, chosen]]), -1e150, 1e150))
    middle = np.median(both, axis=0)
    spread = np.quantile(np.abs(both - middle), 0.7, axis=0) + 1e-300
    return _Tables(tuple(chosen), cuts, tuple(ratios), middle, spread)


def _logistic(first: FloatArray, other: FloatArray) -> FloatArray | None:
    """Weights of a logistic regression, by Newton's method with a small ridge."""
    x = np.vstack([first, other])
    y = np.concatenate([np.ones(len(first)), np.zeros(len(other))])
    weights = np.zeros(x.shape[1])
    ridge = 1e-3 * len(x) * np.eye(x.shape[1])
    for _ in range(5):
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        curvature = (x * (chance * (1 - chance))[:, None]).T @ x + ridge
        slope = x.T @ (y - chance) - ridge @ weights
        try:
            weights = weights + np.linalg.solve(curvature, slope)
        except np.linalg.LinAlgError:
            return None
    return weights if np.all(np.isfinite(weights)) else None
