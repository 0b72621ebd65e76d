"""Events: sets of cells of one feature; and how good one promises to be.

For a partition with counts under both inputs, the best event at any price between p and q is a set
of cells with the largest ratios (Neyman and Pearson 1933). So cells are put in the order of their
ratios, or simply from one end to the other, and the best beginning of that order is looked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import FloatArray
from discreet.auditor.statistical.features import Feature
from discreet.auditor.statistical.outputs import Outputs, Reader
from discreet.auditor.statistical.parameters import Parameter
from discreet.auditor.statistical.partitions import Partition

_SHOWN = 6  # cells or ranges that are listed in words
_NEARBY = np.array([0.3, 0.5, 0.7, 0.85, 1.2, 1.4, 2.0])
_WIDTH = 4.4  # standard errors on either side: together they make the region's 6.2


@dataclass(frozen=True, eq=False)
class Event:
    """A set of outputs; call it with an output to see whether it is one of them."""

    feature: Feature
    partition: Partition
    inside: NDArray[np.bool_]  # one a cell
    reader: Reader = field(repr=False)

    def mask(self, outputs: Outputs) -> NDArray[np.bool_]:
        return self.inside[self.partition.cells(self.feature.column(outputs))]

    @property
    def pieces(self) -> int:
        """How many ranges or kinds it takes to say what it is."""
        if self.partition.ordered:
            return int(np.count_nonzero(np.diff(self.inside.astype(np.int8), prepend=0) > 0))
        return int(np.count_nonzero(self.inside))

    def __call__(self, output: Any) -> bool:
        return bool(self.mask(self.reader.read([output]))[0])

    def __str__(self) -> str:
        return self._ranges() if self.partition.ordered else self._kinds()

    def _kinds(self) -> str:
        known = [
            int(key)
            for key, inside in zip(self.partition.edges, self.inside[:-1], strict=True)
            if inside
        ]
        naming = self.feature.words or str
        words = " or ".join(naming(key) for key in known[:_SHOWN])
        if len(known) > _SHOWN:
            words += f" or {len(known) - _SHOWN} more"
        if self.inside[-1]:
            words = " or ".join(filter(None, [words, "anything rarer"]))
        return f"{self.feature.name}: {words or 'nothing'}"

    def _ranges(self) -> str:
        by_place = self.inside[self.partition.cell]
        ranges = list(_ranges(self.partition.edges, by_place[:-1]))
        words = " or ".join(ranges[:_SHOWN])
        if len(ranges) > _SHOWN:
            words += f" or {len(ranges) - _SHOWN} more ranges"
        if self.inside[-1]:
            words = " or ".join(filter(None, [words, "NaN"]))
        return f"{self.feature.name} {words or 'in no range'}"


def _ranges(edges: Any, inside: NDArray[np.bool_]) -> Iterator[str]:
    """Neighbouring places as one range: place 2i is below edge i, place 2i + 1 is the edge."""
    changes = np.flatnonzero(np.diff(inside.astype(np.int8), prepend=0, append=0))
    for start, end in changes.reshape(-1, 2).tolist():
        last = end - 1
        if start == last and start % 2:
            yield f"= {_short(edges[start // 2])}"
            continue
        low = f"{'≥' if start % 2 else '>'} {_short(edges[(start - 1) // 2])}" if start else ""
        high = f"{'≤' if last % 2 else '<'} {_short(edges[last // 2])}" if end < len(inside) else ""
        yield " and ".join(filter(None, [low, high])) or "of any size"


def _short(number: float) -> str:
    whole = abs(number) < 1e15 and number == int(number)
    return str(int(number)) if whole else f"{number:.6g}"


def promise(
    parameter: Parameter, hits: FloatArray, n: int, other: FloatArray, m: int, *, tested: float
) -> FloatArray:
    """About the bound to be expected from `tested` new outputs a side, a little pessimistic.

    Wilson's limits at the size of the test, around rates one standard error to the worse.
    """
    p = np.maximum(hits - np.sqrt(hits), 0.0) / n
    q = np.minimum((other + np.sqrt(other + 1)) / m, 1.0)
    return parameter.least(_wilson(p, tested, -_WIDTH), _wilson(q, tested, _WIDTH))


def _wilson(rate: FloatArray, n: float, z: float) -> FloatArray:
    centre = rate + z * z / (2 * n)
    width = np.sqrt(rate * (1 - rate) / n + (z / (2 * n)) ** 2)
    found: FloatArray = np.clip((centre + z * width) / (1 + z * z / n), 0.0, 1.0)
    return found


@dataclass(frozen=True, eq=False)
class Candidate:
    """An event, the input it is likelier under, and what it promises for a parameter."""

    event: Event
    first: int
    parameter: Parameter
    score: float
    order: str  #: how its cells were lined up


@dataclass(frozen=True)
class Seen:
    """How often each cell was seen: to order them by, and to judge beginnings of that order."""

    cut: Partition
    is_ratio: bool
    fitted: tuple[FloatArray, FloatArray]
    judged: tuple[FloatArray, FloatArray]

    def lines(self, first: int) -> Iterator[tuple[str, NDArray[np.intp], FloatArray, FloatArray]]:
        """Orders of the cells, with the hits of their beginnings under both inputs."""
        p, q = self.fitted[first], self.fitted[1 - first]
        for name, order in _orders(
            p / p.sum(), q / q.sum(), p.sum(), self.cut.ordered, self.is_ratio
        ):
            yield (
                name,
                order,
                self.judged[first][order].cumsum(),
                self.judged[1 - first][order].cumsum(),
            )

    @property
    def _has_nan(self) -> bool:
        return any(seen[-1] > 0 for seen in (*self.fitted, *self.judged))

    def score(self, parameter: Parameter, tested: float) -> float:
        """The most that any beginning promises."""
        return max(
            float(promise(parameter, k, int(k[-1]), l, int(l[-1]), tested=tested).max())
            for first in (0, 1)
            for _, _, k, l in self.lines(first)  # noqa: E741
        )

    def candidates(
        self, feature: Feature, reader: Reader, parameter: Parameter, tested: tuple[float, ...]
    ) -> Iterator[Candidate]:
        """The most promising beginnings, for tests of several sizes."""
        for first in (0, 1):
            for name, order, k, l in self.lines(first):  # noqa: E741
                mass = (k / k[-1] + l / l[-1]) / 2
                for size in tested:
                    found = promise(parameter, k, int(k[-1]), l, int(l[-1]), tested=size)
                    best = found.argmax()
                    # The best is partly luck: shorter and longer ones are compared later.
                    for end in {int(best), *np.searchsorted(mass, mass[best] * _NEARBY).tolist()}:
                        if end < len(order):
                            inside = np.zeros(self.cut.size, np.bool_)
                            inside[order[: end + 1]] = True
                            if self.cut.ordered and not self._has_nan:
                                inside[-1] = False
                            event = Event(feature, self.cut, inside, reader)
                            yield Candidate(event, first, parameter, float(found[end]), name)


def _orders(
    p: FloatArray, q: FloatArray, n: float, ordered: bool, is_ratio: bool
) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Cells by their ratio, and, where they have an order, from both ends and by coarse ratios."""
    few = 2 / n
    if not is_ratio:
        yield "ratio", np.argsort(-(p + few) / (q + few), kind="stable")
    if not ordered:
        return
    rising = np.arange(len(p))
    yield "rising", rising
    yield "falling", np.concatenate([rising[:-1][::-1], rising[-1:]])  # NaN comes last either way
    if len(p) > 96 and not is_ratio:
        # Cells with about 1/32 of the outputs each.
        group = np.minimum((np.cumsum(p + q) * 16).astype(np.intp), 31)
        a, b = np.bincount(group, p, 32), np.bincount(group, q, 32)
        yield "coarse ratio", np.argsort(-((a + few) / (b + few))[group], kind="stable")
