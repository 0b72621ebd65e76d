"""Events: sets of cells of one feature, how promising each is, and which of them to test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.sampling.features import (
    Column,
    Feature,
    coordinate_pairs,
    distinguishing_coordinates,
    features,
)
from discreet.auditor.sampling.outputs import Outputs, Reader
from discreet.auditor.sampling.parameters import Parameter
from discreet.auditor.sampling.region import Counts, FloatArray

# -- cells of a column -----------------------------------------------------------------------------
# Floats are cut at edges, each of which is a cell of its own: a value that occurs again and again
# is told apart from what lies beside it. Keys are cells, and what is rare shares one.


_KEYS = 4096
_VALUES = 700  # up to this many different values stay apart, if there may be as many cells


@dataclass(frozen=True)
class Partition:
    """Cells 0, 1, ... of a column. Of floats: below the first edge, then the edge if it is a cell
    of its own, then what lies above it, and so on, with NaN last. Of keys: each, and all others."""

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
    # A value that occurs again and again is a cell; on a fine grid single values are not.
    often = counts[np.searchsorted(values, edges)] > max(8.0, both.size / most)
    return _by_edges(edges, often)


def _by_edges(edges: FloatArray, alone: NDArray[np.bool_]) -> Partition:
    """Cells between edges; an edge that is not alone belongs to what lies above it."""
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


# -- likelihood ratios learned from vectors --------------------------------------------------------
# More columns on which events can be built. They are fitted to one part of the outputs and judged
# on others, so what they overlook or imagine costs power, never correctness.


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
        learned_ratio = partial(tables.weighted, weights)
        yield Feature("log ratio, learned", learned_ratio, None, True, is_ratio=True)
    yield from _joint(first, other)


def _joint(first: Outputs, other: Outputs) -> Iterator[Feature]:
    """Cells of two coordinates at once, of the few that differ most."""
    few = distinguishing_coordinates(first, other, _JOINED)
    for i, j in coordinate_pairs(first, other, _JOINED, few):
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
        each = zip(self.coordinates, self.partitions, self.ratios, strict=True)
        return np.column_stack([ratio[cut.cells(wide[:, i])] for i, cut, ratio in each])

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

    def weighted(self, weights: FloatArray, outputs: Outputs) -> FloatArray:
        return self.terms(outputs) @ weights


def _tables(first: Outputs, other: Outputs) -> _Tables:
    chosen = distinguishing_coordinates(first, other, _MOST)
    width = max(chosen) + 1
    a, b = first.widened(width).numbers, other.widened(width).numbers
    cuts = tuple(partition(a[:, i], b[:, i], most=_CELLS) for i in chosen)
    ratios = []
    for i, cut in zip(chosen, cuts, strict=True):
        # Four imagined outputs per cell and side keep rare cells from having extreme ratios.
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


# -- events, and how promising they are ------------------------------------------------------------
# For a partition with counts under both inputs, the best event at any price between p and q is a
# set of cells with the largest ratios (Neyman and Pearson 1933). So cells are put in the order of
# their ratios, or simply from one end to the other, and the best initial part of that order is
# searched for.


_SHOWN = 6  # cells or ranges that are listed in words
_NEARBY = np.array([0.3, 0.5, 0.7, 0.85, 1.2, 1.4, 2.0])
_WIDTH = 4.4  # standard errors on either side: together they make the region's 6.2


@dataclass(frozen=True, eq=False)
class SampledEvent:
    """A set of outputs; call it with an output to see whether it is one of them."""

    feature: Feature
    partition: Partition
    inside: NDArray[np.bool_]  # one per cell
    reader: Reader = field(repr=False)

    def mask(self, outputs: Outputs) -> NDArray[np.bool_]:
        return self.inside[self.partition.cells(self.feature.column(outputs))]

    @property
    def hard_to_say(self) -> tuple[bool, bool, int]:
        """Whether it is learned, or about bits, and how many ranges or kinds it has."""
        starts = self.inside
        if self.partition.ordered:
            starts = np.diff(self.inside.astype(np.int8), prepend=0) > 0
        pieces = int(np.count_nonzero(starts))
        return self.feature.is_learned, self.feature.is_bits, pieces

    def __call__(self, output: Any) -> bool:
        return bool(self.mask(self.reader.read([output]))[0])

    def __str__(self) -> str:
        return self._ranges() if self.partition.ordered else self._kinds()

    def _kinds(self) -> str:
        known, naming = self.partition.edges[self.inside[:-1]], self.feature.words or str
        few = [naming(int(key)) for key in known[:_SHOWN]]
        words = self._either(few, len(known), "", "anything rarer")
        return f"{self.feature.name}: {words or 'nothing'}"

    def _ranges(self) -> str:
        by_place = self.inside[self.partition.cell]
        ranges = list(_ranges(self.partition.edges, by_place[:-1]))
        words = self._either(ranges[:_SHOWN], len(ranges), " ranges", "NaN")
        return f"{self.feature.name} {words or 'in no range'}"

    def _either(self, few: list[str], size: int, noun: str, last: str) -> str:
        """A few of them, how many there are besides, and the last cell if it is inside."""
        more = [f"{size - len(few)} more{noun}"] if size > len(few) else []
        return " or ".join([*few, *more, *([last] if self.inside[-1] else [])])


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
    """Roughly the bound to expect from `tested` new outputs per side, a little pessimistic.

    Wilson's limits at the size of the test, around rates one standard error worse.
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

    event: SampledEvent
    first: int
    parameter: Parameter
    score: float
    order: str  #: how its cells were ordered


@dataclass(frozen=True)
class CellCounts:
    """How often each cell was seen: counts to order them by, and to judge initial parts by."""

    cut: Partition
    is_ratio: bool
    fitted: tuple[FloatArray, FloatArray]
    judged: tuple[FloatArray, FloatArray]

    def lines(self, first: int) -> Iterator[tuple[str, NDArray[np.intp], FloatArray, FloatArray]]:
        """Orders of the cells, with the hits of their initial parts under both inputs."""
        p, q = self.fitted[first], self.fitted[1 - first]
        k, l = self.judged[first], self.judged[1 - first]  # noqa: E741
        shares = p / p.sum(), q / q.sum()
        for name, order in _orders(*shares, p.sum(), self.cut.ordered, self.is_ratio):
            yield name, order, k[order].cumsum(), l[order].cumsum()

    def score(self, parameter: Parameter, tested: float) -> float:
        """The most that any initial part promises."""
        return max(
            float(promise(parameter, k, int(k[-1]), l, int(l[-1]), tested=tested).max())
            for first in (0, 1)
            for _, _, k, l in self.lines(first)  # noqa: E741
        )

    def candidates(
        self, feature: Feature, reader: Reader, parameter: Parameter, tested: tuple[float, ...]
    ) -> Iterator[Candidate]:
        """The most promising initial parts, for tests of several sizes."""
        has_nan = any(seen[-1] > 0 for seen in (*self.fitted, *self.judged))
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
                            if self.cut.ordered and not has_nan:
                                inside[-1] = False
                            event = SampledEvent(feature, self.cut, inside, reader)
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


# -- the choice of events --------------------------------------------------------------------------
# All features are screened on a few thousand outputs; the best go on to more; and the events they
# suggest are compared on outputs of their own. Nothing that is drawn here is used in the test.


SCREENED = 6000  # outputs per side
_COARSE, _FINE = 48, 256  # cells of an ordered column, while screening and after
_KEPT = 8  # features per parameter
_SURE = 16  # features that are screened however late it is
_COMPARED = 32  # events per parameter ...
_ALIKE = {"ratio": 3, "coarse ratio": 3, "rising": 8, "falling": 8}  # ... of one feature


@dataclass
class EventComparison:
    """Candidates and how often each was seen since."""

    candidates: list[Candidate]
    drawn: int = 0

    def __post_init__(self) -> None:
        # By candidate: under the input it is likelier under, and the other.
        self.hits = np.zeros((len(self.candidates), 2))

    def add(self, first: Outputs, other: Outputs) -> None:
        """Count new outputs, equally many of both inputs."""
        cells: dict[tuple[str, int, int], NDArray[np.intp]] = {}
        for place, candidate in enumerate(self.candidates):
            event = candidate.event
            for side, outputs in enumerate((first, other)):
                key = (event.feature.name, id(event.partition), side)
                if key not in cells:
                    cells[key] = event.partition.cells(event.feature.column(outputs))
                role = int(side != candidate.first)
                self.hits[place, role] += np.count_nonzero(event.inside[cells[key]])
        self.drawn += len(first)

    def keep(self, most: int, tested: float) -> None:
        """Keep only the most promising."""
        order = np.argsort(-self.scores(tested), kind="stable")[:most]
        self.candidates = [self.candidates[i] for i in order]
        self.hits = self.hits[order]

    def pick(self, tested: float) -> Candidate:
        """The most promising, or one that nearly is and is easier to describe."""
        return plainest(self.candidates, self.scores(tested))

    def scores(self, tested: float) -> FloatArray:
        """What each promises, given what has been drawn since."""
        return np.array(
            [
                promise(c.parameter, h[:1], self.drawn, h[1:], self.drawn, tested=tested)[0]
                for c, h in zip(self.candidates, self.hits, strict=True)
            ]
        )

    def counts(self, place: int) -> Counts:
        k, l = self.hits[place].astype(int).tolist()  # noqa: E741
        return Counts(k, self.drawn, l, self.drawn)


def plainest(found: Sequence[Candidate], scores: FloatArray) -> Candidate:
    """Among those within a hundredth of the best score, the one that is easiest to describe."""
    enough = scores.max() - 0.01 * abs(scores.max())
    near = [c for c, score in zip(found, scores, strict=True) if score >= enough]
    return min(near, key=lambda candidate: candidate.event.hard_to_say)


@dataclass(frozen=True)
class EventSearch:
    """A search for events that bound the parameters, in the time that there is."""

    reader: Reader
    parameters: Sequence[Parameter]
    tested: float  # outputs per side that events will be tested on
    out_of_time: Callable[[], bool]

    def screen(self, first: Outputs, other: Outputs) -> list[Feature]:
        """The features worth a closer look, best first, by a few thousand outputs."""
        few = min(SCREENED, len(first))
        small = first.rows(0, few), other.rows(0, few)
        everything = [*features(self.reader, *small), *_learned(*small)]
        everything.sort(key=lambda feature: feature.rank)
        scored: dict[str, dict[str, float]] = {p.name: {} for p in self.parameters}
        for done, feature in enumerate(everything):
            seen = _seen(feature, small, edges=_COARSE)
            for parameter in self.parameters:
                scored[parameter.name][feature.name] = seen.score(parameter, self.tested)
            if (feature.rank > 0 or done >= _SURE) and self.out_of_time():
                break
        return _best_features(everything, scored)

    def suggest(
        self, kept: Sequence[Feature], first: Outputs, other: Outputs
    ) -> dict[str, list[Candidate]]:
        """The most promising events of these features for each parameter, best first."""
        if any(feature.is_learned for feature in kept):  # better from more
            again = {feature.name: feature for feature in _learned(first, other)}
            kept = [again.get(feature.name, feature) for feature in kept]
        half = len(first) // 2
        sizes = tuple(sorted({float(half), (half * self.tested) ** 0.5, self.tested}))
        best: dict[str, list[Candidate]] = {p.name: [] for p in self.parameters}
        for feature in kept:
            seen = _seen(feature, (first, other))
            for parameter in self.parameters:
                best[parameter.name] += seen.candidates(feature, self.reader, parameter, sizes)
            if self.out_of_time():
                break
        return {name: _different(found)[:_COMPARED] for name, found in best.items()}


def _best_features(everything: list[Feature], scored: dict[str, dict[str, float]]) -> list[Feature]:
    """The best few for each parameter, by rank; plain ones win ties."""
    place: dict[str, int] = {}
    for scores in scored.values():
        for rank, name in enumerate(sorted(scores, key=lambda name: -scores[name])[:_KEPT]):
            place[name] = min(rank, place.get(name, rank))
    return sorted((f for f in everything if f.name in place), key=lambda f: place[f.name])


def _learned(first: Outputs, other: Outputs) -> list[Feature]:
    """Features learned from the half that events are fitted to."""
    half = len(first) // 2
    return list(learned(first.rows(0, half), other.rows(0, half)))


def _different(found: list[Candidate]) -> list[Candidate]:
    """Best first, each event once, and few of one kind, since near copies are lucky together."""
    ranked = sorted(found, key=lambda c: (-c.score, c.event.feature.is_learned))
    kept: list[Candidate] = []
    events: set[tuple[str, int, bytes]] = set()
    kinds: Counter[tuple[str, int, str]] = Counter()
    for one in ranked:
        name, first = one.event.feature.name, one.first
        event, kind = (name, first, one.event.inside.tobytes()), (name, first, one.order)
        if event not in events and kinds[kind] < _ALIKE[one.order]:
            kept.append(one)
            events.add(event)
            kinds[kind] += 1
    return kept


def _seen(feature: Feature, outputs: tuple[Outputs, Outputs], edges: int = _FINE) -> CellCounts:
    """Cells of one feature: fitted to the first half of the outputs, judged by the second."""
    columns = [feature.column(side) for side in outputs]
    half = len(outputs[0]) // 2
    cut = partition(columns[0][:half], columns[1][:half], most=edges)
    fitted, judged = (
        (cut.counts(columns[0][part]), cut.counts(columns[1][part]))
        for part in (slice(0, half), slice(half, None))
    )
    return CellCounts(cut, feature.is_ratio, fitted, judged)
