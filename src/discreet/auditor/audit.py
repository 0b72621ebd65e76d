"""The statistical route: whether samples of a black box contradict a privacy claim."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.finding import Bar, Finding, Witness
from discreet.auditor.sampling.events import (
    SCREENED,
    Candidate,
    EventComparison,
    EventSearch,
    SampledEvent,
    plainest,
)
from discreet.auditor.sampling.features import Feature, apart, error_kind, errors
from discreet.auditor.sampling.outputs import Outputs
from discreet.auditor.sampling.parameters import (
    ClaimParameters,
    Progress,
    delta_at,
    epsilon_at,
    question,
)
from discreet.auditor.sampling.region import FloatArray, corners, expected_counts
from discreet.auditor.sampling.sampler import BatchRaised, Pace, Run, Sampler, read_pace
from discreet.auditor.subject import Pair, Subject
from discreet.errors import InvalidArgument, Phrase
from discreet.guarantees import Guarantee
from discreet.hints import spelled
from discreet.numeric.exact import Number, probability

# -- the pair: as given, or the most promising of many ---------------------------------------------


_PAIRS = 64
_GOLDEN = 0.6180339887498949
_SHARE = 0.3  # of the time, or of the samples
_ROWS = 4096  # outputs per side and round, at most


def read_pair(pair: Any) -> Pair:
    """Check that two inputs were given."""
    listed = isinstance(pair, tuple | list)
    if not listed or len(pair) != 2:
        given = f"{len(pair)} of them" if listed else InvalidArgument.describe_data(pair)
        raise InvalidArgument("pair", "two neighbouring inputs, (x, x_neighbour)", given)
    return pair[0], pair[1]


def different(pair: Pair) -> Pair:
    """Refuse a pair of equal inputs: an audit of those can never find a violation."""
    if _equal(*pair):
        raise InvalidArgument(
            "pair",
            "two different neighbouring inputs",
            "two equal ones",
            hint=Phrase("let them differ in one person, as in {pair=(0, 1)} for a count"),
        )
    return pair


def _equal(x: Any, y: Any) -> bool:
    if x is y:
        return True
    try:
        return type(x) is type(y) and bool(np.all(x == y)) and np.shape(x) == np.shape(y)
    except Exception:  # whatever cannot be compared is not known to be equal
        return False


def best_pair(
    run: Run,
    neighbors: Iterable[Pair] | Callable[[], Pair] | None,
    asked: ClaimParameters,
    *,
    batched: bool,
    pace: Pace,
    progress: Progress,
) -> tuple[Pair, int, Pace]:
    """The pair that promises most, how many there were, and what is left of the pace.

    The field is halved in rounds of twice as many samples, which only choose: the audit of the
    winner draws its own.
    """
    field = _read(neighbors, pace)
    # Not in the order of the list: if time runs out, pairs from all of it have been tried.
    spread = sorted(range(len(field)), key=lambda i: i * _GOLDEN % 1)
    everyone = samplers = [Sampler(run, field[i], batched) for i in spread]
    parts = max(1, len(field).bit_length())
    full = False
    while len(samplers) > 1:
        progress(0.0, f"comparing {len(samplers)} pairs")
        scored = []
        for sampler in samplers:
            score = _score(sampler, asked, pace, parts * len(samplers), full=full)
            scored.append((score, sampler))
            if pace.has_used(_SHARE):
                break
        scored.sort(key=lambda one: one[0], reverse=True)
        samplers = [sampler for _, sampler in scored[: max(1, len(scored) // 2)]]
        full = True
        if pace.has_used(_SHARE):
            break
    drawn = sum(max(sampler.drawn) for sampler in everyone)
    tried = sum(1 for sampler in everyone if sampler.drawn[0]) or len(everyone)
    return samplers[0].pair, tried, pace.without(drawn)


def _score(
    sampler: Sampler, asked: ClaimParameters, pace: Pace, parts: int, *, full: bool
) -> tuple[float, float]:
    try:
        first, other = _few(sampler, pace, parts)
    except BatchRaised:  # this only ranks the pair, so it may go on one by one
        sampler.run, sampler.batched = sampler.one_by_one().run, False
        first, other = _few(sampler, pace, parts)
    glance = apart(first, other)
    if not full:
        return 0.0, glance
    own = asked.parameters[0]
    search = EventSearch(sampler.reader, [own], 8.0 * len(first), out_of_time=lambda: False)
    found = search.suggest(search.screen(first, other), first, other)
    return max((candidate.score for candidate in found[own.name]), default=0.0), glance


def _few(sampler: Sampler, pace: Pace, parts: int) -> tuple[Outputs, Outputs]:
    """As many outputs as let all pairs and rounds together keep to their share."""
    sampler.draw(0, 1)
    rows = max(4, min(_ROWS, pace.part(_SHARE / parts, sampler)))
    return sampler.both(rows)


def _read(neighbors: Iterable[Pair] | Callable[[], Pair] | None, pace: Pace) -> list[Pair]:
    if callable(neighbors):
        make = neighbors
        neighbors = (make() for _ in range(_PAIRS))
    if not isinstance(neighbors, Iterable):
        raise InvalidArgument(
            "pair",
            Phrase("two neighbouring inputs, or {neighbors=} with many such pairs"),
            "neither",
            hint=Phrase("as in {pair=(0, 1)}"),
        )
    found = []
    for pair in islice(neighbors, _PAIRS):
        if not _equal(*read_pair(pair)):
            found.append(read_pair(pair))
        if found and pace.has_used(_SHARE / 3):
            break
    if not found:
        raise InvalidArgument("neighbors", "at least one pair of two different inputs", "none")
    return found


# -- the trial -------------------------------------------------------------------------------------
# Choose events, compare them, test the best on outputs that nobody has looked at. The outputs fall
# into three parts. The first suggests events, the second picks one for each parameter, and the
# third tests it. So however many features and events were tried, nothing needs to be corrected for
# but the number of events tested (one or two) and of looks taken while testing: the risk is split
# among them.


_QUICK, _EARLY = 0.05, 0.15  # of the risk: for the quick look, for looks while testing
_QUICK_SIZES = (4, 16, 48)  # times the outputs of the first look
_FIRST_LOOK = 1 << 13


@dataclass
class Trial:
    """Events under test, one per parameter, and what was seen of them."""

    tested: EventComparison
    risk: float  # of one event at this look
    shown: tuple[Outputs, Outputs]  # outputs for the picture

    def bounds(self) -> list[float]:
        """For each parameter, the bound that its event shows."""
        return [
            candidate.parameter.bound(self.tested.counts(place), self.risk)
            for place, candidate in enumerate(self.tested.candidates)
        ]

    def enough(self) -> bool:
        """Whether more samples would add little: the bounds are near what was observed."""
        for place, bound in enumerate(self.bounds()):
            counts, own = self.tested.counts(place), self.tested.candidates[place].parameter
            if counts.other_hits == 0 and own.name not in ("delta", "tv"):
                near = 2 * own.claimed + 2
            else:
                rates = counts.hits / counts.n, counts.other_hits / counts.other_n
                near = 0.96 * float(own.least(*(np.array([rate]) for rate in rates))[0])
            if not own.exceeded_by(bound) or bound < near:
                return False
        return True


def hold_trial(
    sampler: Sampler, asked: ClaimParameters, risk: float, pace: Pace, tell: Progress
) -> Trial:
    """A quick look for what only one input gives; otherwise all that there is time for."""
    tell(0.0, "a first look")
    pace = pace.measured(sampler)
    few, kept = 0, list[Feature]()
    if not pace.is_scarce:
        few = pace.first_look(sampler)
        quick, kept = _quick(sampler, asked, risk, pace, few)
        if quick is not None:
            return quick
    tell(0.2, "choosing events")
    rows = pace.rows_to_choose(sampler)
    first, other = sampler.both(rows)
    _check_alive(sampler, first, other)
    expected, over = pace.expected_tests(sampler), pace.choosing_is_over
    search = EventSearch(sampler.reader, asked.parameters, expected, out_of_time=over)
    if few < SCREENED // 2 and rows > 2 * few:
        kept = search.screen(first, other)
    found = search.suggest(kept, first, other)
    tell(0.4, "comparing events")
    events = _compared(sampler, [found[p.name] for p in asked.parameters], pace)
    test = Trial(EventComparison(events), 0.0, (first, other))
    _tested(sampler, test, risk, pace, tell)
    return test


def _quick(
    sampler: Sampler, asked: ClaimParameters, risk: float, pace: Pace, few: int
) -> tuple[Trial | None, list[Feature]]:
    """A trial of what only one input seems to give, if it ends there; and the best features."""
    first, other = sampler.both(few)
    _check_alive(sampler, first, other)
    over = pace.screening_is_over
    search = EventSearch(sampler.reader, asked.parameters, 4.0 * few, out_of_time=over)
    kept = search.screen(first, other)
    found = search.suggest(kept, first, other)
    quick = [plainest(some, np.array([c.score for c in some])) for some in found.values()]
    if not _looks_certain(quick, first, other):
        return None, kept
    share = _QUICK * risk / len(_QUICK_SIZES) / len(quick)
    test = Trial(EventComparison(quick), share, (first, other))
    for size in _QUICK_SIZES:
        if not pace.allows(sampler, size * few - test.tested.drawn):
            break
        _draw_until(sampler, test, size * few)
        if test.enough():
            return test, kept
    return None, kept


def _tested(sampler: Sampler, test: Trial, risk: float, pace: Pace, tell: Progress) -> None:
    """Draw and count; each time the size doubles, check whether it is enough."""
    each = risk / max(1, len(test.tested.candidates))
    look, at = 1, _FIRST_LOOK
    while not test.tested.drawn or not pace.is_over(sampler):
        _draw_until(sampler, test, test.tested.drawn + pace.next_chunk(sampler))
        tell(0.5 + 0.5 * pace.share(sampler), "testing")
        if test.tested.drawn >= at:
            test.risk = _EARLY * each * 2.0**-look
            if test.enough():
                return
            look, at = look + 1, 2 * at
    test.risk = (1 - _QUICK - _EARLY) * each


def _draw_until(sampler: Sampler, test: Trial, total: int) -> None:
    while test.tested.drawn < total:
        size = min(sampler.chunk, total - test.tested.drawn)
        test.tested.add(*sampler.both(size))


def _looks_certain(quick: list[Candidate], first: Outputs, other: Outputs) -> bool:
    """Whether a first glance shows something that one input gives often and the other never."""
    for one in quick:
        seen = [int(one.event.mask(side).sum()) for side in (first, other)]
        unclear = seen[1 - one.first] or seen[one.first] < 0.02 * len(first)
        if unclear or not one.parameter.exceeded_by(one.score):
            return False
    return True


def _compared(sampler: Sampler, found: list[list[Candidate]], pace: Pace) -> list[Candidate]:
    """The best event for each parameter, on separate outputs; weaker ones are dropped early."""
    fields = [EventComparison(some) for some in found if some]
    drop_at = 1 << 14
    drawn = 0
    while not pace.comparing_is_over(sampler, drawn):
        size = pace.next_chunk(sampler, comparing=True)
        first, other = sampler.both(size)
        drawn += size
        for field in fields:
            field.add(first, other)
            if drawn >= drop_at:
                field.keep(max(3, len(field.candidates) // 2), pace.expected_tests(sampler))
        drop_at = 4 * drop_at if drawn >= drop_at else drop_at
    tested = pace.expected_tests(sampler)
    return [field.pick(tested) if field.drawn else field.candidates[0] for field in fields]


def _check_alive(sampler: Sampler, first: Outputs, other: Outputs) -> None:
    """Refuse a function that raises an error whatever the input: nobody wants to audit that."""
    reader = sampler.reader
    kinds = [
        {error_kind(reader, form) for form in np.unique(side.forms)} for side in (first, other)
    ]
    if kinds[0] == kinds[1] and None not in kinds[0]:
        raise InvalidArgument(
            "run",
            "a function that returns an output for both inputs",
            f"one that always ended in {', '.join(sorted(map(str, kinds[0])))}",
            hint=Phrase("it is called as run(input), or with {batched=True} as run(input, size=n)"),
        )


# -- bars for a picture of the two output laws -----------------------------------------------------


_BARS: Final = 48
_FEW: Final = 16  # different values, or kinds, that get one bar each
_TAIL: Final = 0.002  # on each side, put together into the outermost bars


def bars(event: SampledEvent, first: Outputs, other: Outputs) -> tuple[Bar, ...]:
    """The share of each input's outputs in each bar, and how much of the bar the event covers."""
    found = _ranges if event.partition.ordered else _kinds
    return tuple(found(event, first, other))


def _kinds(event: SampledEvent, first: Outputs, other: Outputs) -> Iterator[Bar]:
    """Bars for kinds; of many, only the commonest: half inside the event and half outside."""
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


def _ranges(event: SampledEvent, first: Outputs, other: Outputs) -> Iterator[Bar]:
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
    """Bars of equal width between the tails. Whole numbers lie in the middle of a bar; otherwise
    an edge is where the event begins or ends."""
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


# -- the audit -------------------------------------------------------------------------------------


# Of the risk, for a trial in batches. If a batch raises, a second trial has the rest: without an
# error the first is what it would have been one by one, so each errs at most at its own rate.
_FIRST = 0.9


@spelled
def audit(
    run: Run,
    pair: Pair | None = None,
    claim: Guarantee | None = None,
    *,
    neighbors: Iterable[Pair] | Callable[[], Pair] | None = None,
    seconds: float | None = None,
    samples: int | None = None,
    confidence: Number = 1 - 1e-9,
    batched: bool = False,
    progress: Progress | None = None,
) -> Finding:
    """Try to show that ``run`` breaks ``claim``, from its outputs alone.

    ``run(value)`` is any function that returns one output of any type, drawn anew at every call,
    or a mechanism with ``release`` and ``guarantee``, which is then the claim unless one is given
    (ours need no pair either);
    with ``batched=True`` it is called as ``run(value, size=n)`` and returns n of them along the
    first axis, which is much faster. ``pair`` is two neighbouring inputs; or ``neighbors`` are many
    such pairs, or a function that makes one, and the most promising is looked for first.
    ``claim`` is a guarantee in any notion: ``dp.Pure(1)``, ``dp.Approx(1, 1e-5)``,
    ``dp.ZCDP(0.1)``, ``dp.GDP(1)``, ``dp.TotalVariation(0.2)``, or what a mechanism states as
    its ``guarantee``.

    It stops after ``seconds`` (5 unless given), or after ``samples`` outputs of each input, or
    earlier if more would not add to what is shown. With probability ``confidence``, whatever the
    function is, what is reported is true: an honest claim is called violated at most that
    rarely, provided that calls do not depend on earlier ones. No violation found is not a proof.
    ``progress(done, words)``, if given, is called now and then with the share of the work that is
    done, from 0 to 1, and what is being done.

    >>> import discreet as dp
    >>> honest = dp.RandomizedResponse(epsilon=2)
    >>> def run(bit, size):
    ...     return honest.release([bit] * size)
    >>> finding = dp.audit(run, (0, 1), dp.Pure(1), samples=20_000, batched=True)
    >>> finding.violated, 1.5 < finding.lower_bound < 2
    (True, True)
    """
    import scipy.special  # noqa: F401  (takes a second, which the clock should not count)

    subject = Subject.of(run)
    claimed = subject.claimed(claim)
    if not isinstance(claimed, Guarantee):
        raise InvalidArgument.of(
            "claim", "a guarantee, such as dp.Pure(1) or dp.Approx(1, 1e-5)", claimed
        )
    asked = question(claimed)
    started = time.perf_counter()
    risk = float(1 - probability(confidence, name="confidence"))
    run, batched = subject.drawn(batched)
    pace = read_pace(seconds, samples, started)
    tell: Progress = (lambda done, words: None) if progress is None else progress
    tried = 1
    if pair is None and neighbors is None:
        neighbors = subject.pairs(claimed) or None
    if pair is None:
        pair, tried, pace = best_pair(
            run, neighbors, asked, batched=batched, pace=pace, progress=tell
        )
    elif neighbors is not None:
        raise InvalidArgument(
            "neighbors", "None where a pair is given", "both a pair and neighbors"
        )
    sampler = Sampler(run, different(read_pair(pair)), batched)
    try:
        test = hold_trial(sampler, asked, _FIRST * risk if batched else risk, pace, tell)
    except BatchRaised:
        sampler = sampler.one_by_one()
        test = hold_trial(sampler, asked, (1 - _FIRST) * risk, pace, tell)
    return _finding(claimed, asked, sampler, test, risk, started, tried)


def _finding(
    claim: Guarantee,
    asked: ClaimParameters,
    sampler: Sampler,
    test: Trial,
    risk: float,
    started: float,
    tried: int,
) -> Finding:
    drawn = min(sampler.drawn)
    bounds = test.bounds()
    names = [candidate.parameter.name for candidate in test.tested.candidates]
    # The event that shows a violation; an (ε, δ) claim is judged by its δ first.
    own = names.index(asked.reported.name)
    exceeded = [c.parameter.exceeded_by(bounds[i]) for i, c in enumerate(test.tested.candidates)]
    # The bound if the event had been known, and all samples had tested it.
    counts = test.tested.counts(own)
    rates = counts.hits / counts.n, counts.other_hits / counts.other_n
    reach = asked.reported.bound(expected_counts(*rates, drawn), test.risk)
    leading = exceeded.index(True) if any(exceeded) else own
    witnesses = tuple(_witness(asked, sampler, test, place) for place in range(len(names)))
    return Finding(
        claim=claim,
        violated=any(exceeded),
        lower_bound=bounds[own],
        parameter=asked.reported.name,
        confidence=1 - risk,
        risk=risk,
        witness=witnesses[leading],
        shown_by=witnesses[own],
        samples=drawn,
        seconds=time.perf_counter() - started,
        within_reach=reach,
        bars=bars(witnesses[leading].event, *test.shown),
        pairs_tried=tried,
        unread=sampler.reader.unread,
        errors=(_failing(sampler, test.shown[0]), _failing(sampler, test.shown[1])),
    )


def _witness(asked: ClaimParameters, sampler: Sampler, test: Trial, place: int) -> Witness:
    candidate, counts = test.tested.candidates[place], test.tested.counts(place)
    p, q = corners(counts, test.risk)
    by_epsilon = asked.reported.name == "epsilon"
    epsilon = asked.reported.least if by_epsilon else epsilon_at(0.0)
    return Witness(
        first=candidate.first,
        event=candidate.event,
        counts=counts,
        probability=float(p.min()),
        other_probability=float(q.max()),
        epsilon=float(epsilon(p, q).min()),
        delta=float(delta_at(asked.reported.claimed if by_epsilon else 0.0)(p, q).min()),
        question=asked,
        risk=test.risk,
        pair=sampler.pair,
    )


def _failing(sampler: Sampler, outputs: Outputs) -> float:
    return float(np.mean(errors(sampler.reader, outputs) >= 0)) if len(outputs) else 0.0
