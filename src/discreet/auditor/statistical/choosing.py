"""Choosing events on one part of the outputs, to be tested on another.

All features are screened on a few thousand outputs; the best go on to more; and the events they
suggest are compared on outputs of their own. Nothing that is drawn here is used in the test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import Counts, FloatArray
from discreet.auditor.statistical.events import Candidate, Seen, promise
from discreet.auditor.statistical.features import Feature, features
from discreet.auditor.statistical.learned import learned
from discreet.auditor.statistical.outputs import Outputs, Reader
from discreet.auditor.statistical.parameters import Parameter
from discreet.auditor.statistical.partitions import partition

SCREENED = 6000  # outputs a side
_COARSE, _FINE = 48, 256  # cells of an ordered column, while screening and after
_KEPT = 8  # features a parameter
_SURE = 16  # features that are screened however late it is
_COMPARED = 32  # events a parameter ...
_ALIKE = {"ratio": 3, "coarse ratio": 3, "rising": 8, "falling": 8}  # ... of one feature


@dataclass
class Comparison:
    """Candidates and how often each was seen since."""

    candidates: list[Candidate]
    hits: FloatArray  # (candidates, 2): under the input it is likelier under, and the other
    drawn: int = 0

    @staticmethod
    def of(found: list[Candidate]) -> Comparison:
        return Comparison(found, np.zeros((len(found), 2)))

    def add(self, first: Outputs, other: Outputs) -> None:
        """Count as many new outputs of both inputs."""
        sides = (first, other)
        cells: dict[tuple[str, int, int], NDArray[np.intp]] = {}
        for place, candidate in enumerate(self.candidates):
            event = candidate.event
            for role in (0, 1):
                side = candidate.first if role == 0 else 1 - candidate.first
                key = (event.feature.name, id(event.partition), side)
                if key not in cells:
                    column = event.feature.column(sides[side])
                    cells[key] = event.partition.cells(column)
                self.hits[place, role] += np.count_nonzero(event.inside[cells[key]])
        self.drawn += len(first)

    def keep(self, most: int, tested: float) -> None:
        """Only the most promising are looked at further."""
        order = np.argsort(-self.scores(tested), kind="stable")[:most]
        self.candidates = [self.candidates[i] for i in order]
        self.hits = self.hits[order]

    def pick(self, tested: float) -> Candidate:
        """The most promising, or one that nearly is and is easier to say."""
        return plainest(self.candidates, self.scores(tested))

    def scores(self, tested: float) -> FloatArray:
        """What each promises, in the light of what was drawn since."""
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
    """Among those within a hundredth of the best score, the one that is said most easily."""
    enough = scores.max() - 0.01 * abs(scores.max())
    near = [c for c, score in zip(found, scores, strict=True) if score >= enough]
    return min(near, key=_how_hard_to_say)


def _how_hard_to_say(candidate: Candidate) -> tuple[bool, bool, int]:
    event = candidate.event
    return event.feature.is_learned, event.feature.is_bits, event.pieces


def screen(
    reader: Reader,
    first: Outputs,
    other: Outputs,
    parameters: Sequence[Parameter],
    *,
    tested: float,
    out_of_time: Callable[[], bool],
) -> list[Feature]:
    """The features worth a closer look, best first, by a few thousand outputs."""
    few = min(SCREENED, len(first))
    small = first.rows(0, few), other.rows(0, few)
    everything = [*features(reader, *small), *_learned(*small)]
    everything.sort(key=lambda feature: feature.rank)
    scored: dict[str, dict[str, float]] = {p.name: {} for p in parameters}
    for done, feature in enumerate(everything):
        seen = _seen(feature, small, edges=_COARSE)
        for parameter in parameters:
            scored[parameter.name][feature.name] = seen.score(parameter, tested)
        if (feature.rank > 0 or done >= _SURE) and out_of_time():
            break
    return _best_features(everything, scored)


def suggest(
    reader: Reader,
    kept: Sequence[Feature],
    first: Outputs,
    other: Outputs,
    parameters: Sequence[Parameter],
    *,
    tested: float,
    out_of_time: Callable[[], bool],
) -> dict[str, list[Candidate]]:
    """The most promising events of these features for each parameter, best first."""
    if any(feature.is_learned for feature in kept):  # better from more
        again = {feature.name: feature for feature in _learned(first, other)}
        kept = [again.get(feature.name, feature) for feature in kept]
    half = len(first) // 2
    sizes = tuple(sorted({float(half), (half * tested) ** 0.5, tested}))
    best: dict[str, list[Candidate]] = {p.name: [] for p in parameters}
    for feature in kept:
        seen = _seen(feature, (first, other))
        for parameter in parameters:
            best[parameter.name] += seen.candidates(feature, reader, parameter, sizes)
        if out_of_time():
            break
    return {name: _different(found)[:_COMPARED] for name, found in best.items()}


def _best_features(everything: list[Feature], scored: dict[str, dict[str, float]]) -> list[Feature]:
    """The best few for each parameter, by their places; plain ones win ties."""
    place: dict[str, int] = {}
    for scores in scored.values():
        for rank, name in enumerate(sorted(scores, key=lambda name: -scores[name])[:_KEPT]):
            place[name] = min(rank, place.get(name, rank))
    return sorted((f for f in everything if f.name in place), key=lambda f: place[f.name])


def _learned(first: Outputs, other: Outputs) -> list[Feature]:
    """From the half that events are fitted to."""
    half = len(first) // 2
    return list(learned(first.rows(0, half), other.rows(0, half)))


def _different(found: list[Candidate]) -> list[Candidate]:
    """Best first, each event once, and few of one kind: near copies share their luck."""
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


def _seen(feature: Feature, outputs: tuple[Outputs, Outputs], edges: int = _FINE) -> Seen:
    """Cells of one feature: fitted to the first half of the outputs, judged by the second."""
    columns = [feature.column(side) for side in outputs]
    half = len(outputs[0]) // 2
    cut = partition(columns[0][:half], columns[1][:half], most=edges)
    fitted, judged = (
        (cut.counts(columns[0][part]), cut.counts(columns[1][part]))
        for part in (slice(0, half), slice(half, None))
    )
    return Seen(cut, feature.is_ratio, fitted, judged)
