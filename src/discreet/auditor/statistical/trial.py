"""A trial: choose events, compare them, test the best on outputs that nobody has looked at.

The outputs fall into three parts. The first suggests events, the second picks one a parameter,
and the third tests it. So however many features and events were tried, nothing needs to be
corrected for but the number of events tested (one or two) and of looks taken while testing: the
risk is split among them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.auditor.region import corners
from discreet.auditor.statistical.choosing import SCREENED, Comparison, plainest, screen, suggest
from discreet.auditor.statistical.events import Candidate
from discreet.auditor.statistical.features import Feature
from discreet.auditor.statistical.forms import error_kind
from discreet.auditor.statistical.outputs import Outputs
from discreet.auditor.statistical.pace import Pace
from discreet.auditor.statistical.parameters import Progress, Question
from discreet.auditor.statistical.sampling import Sampler
from discreet.errors import InvalidArgument

_QUICK, _EARLY = 0.05, 0.15  # of the risk: for the quick look, for looks while testing
_QUICK_SIZES = (4, 16, 48)  # times the outputs of the first look
_FIRST_LOOK = 1 << 13


@dataclass
class Trial:
    """Events under test, one a parameter, and what was seen of them."""

    question: Question
    tested: Comparison
    risk: float  # of one event at this look
    shown: tuple[Outputs, Outputs]  # outputs for the picture

    def bounds(self) -> list[float]:
        """For each parameter the bound its event shows."""
        found = []
        for place, candidate in enumerate(self.tested.candidates):
            p, q = corners(self.tested.counts(place), self.risk)
            found.append(float(candidate.parameter.least(p, q).min()))
        return found

    @property
    def violated(self) -> bool:
        return any(
            candidate.parameter.exceeded_by(bound)
            for candidate, bound in zip(self.tested.candidates, self.bounds(), strict=True)
        )

    def enough(self) -> bool:
        """Whether more samples would add little: the bounds are near what was observed."""
        for place, (candidate, bound) in enumerate(
            zip(self.tested.candidates, self.bounds(), strict=True)
        ):
            counts, own = self.tested.counts(place), candidate.parameter
            if not own.exceeded_by(bound):
                return False
            if counts.other_hits == 0 and own.name != "delta" and own.name != "tv":
                if bound < 2 * own.claimed + 2:
                    return False
            else:
                rates = (
                    np.array([counts.hits / counts.n]),
                    np.array([counts.other_hits / counts.other_n]),
                )
                if bound < 0.96 * float(own.least(*rates)[0]):
                    return False
        return True


def hold_trial(sampler: Sampler, asked: Question, risk: float, pace: Pace, tell: Progress) -> Trial:
    """A quick look for what only one input gives; else all that there is time for."""
    tell(0.0, "a first look")
    pace = pace.measured(sampler)
    few, kept = 0, list[Feature]()
    if not pace.is_scarce:
        few = pace.first_look(sampler)
        quick, kept = _quick(sampler, asked, risk, pace, few)
        if quick is not None:
            return quick
    wanted, reader = asked.parameters, sampler.reader
    tell(0.2, "choosing events")
    rows = pace.rows_to_choose(sampler)
    first, other = sampler.both(rows)
    _check_alive(sampler, first, other)
    expected, over = pace.expected_tests(sampler), pace.choosing_is_over
    if few < SCREENED // 2 and rows > 2 * few:
        kept = screen(reader, first, other, wanted, tested=expected, out_of_time=over)
    found = suggest(reader, kept, first, other, wanted, tested=expected, out_of_time=over)
    tell(0.4, "comparing events")
    events = _compared(sampler, [found[p.name] for p in wanted], pace)
    test = Trial(asked, Comparison.of(events), 0.0, (first, other))
    _tested(sampler, test, risk, pace, tell)
    return test


def _quick(
    sampler: Sampler, asked: Question, risk: float, pace: Pace, few: int
) -> tuple[Trial | None, list[Feature]]:
    """A trial of what only one input seems to give, if it ends there; and the best features."""
    wanted, reader = asked.parameters, sampler.reader
    first, other = sampler.both(few)
    _check_alive(sampler, first, other)
    expected, over = 4.0 * few, pace.screening_is_over
    kept = screen(reader, first, other, wanted, tested=expected, out_of_time=over)
    found = suggest(reader, kept, first, other, wanted, tested=expected, out_of_time=over)
    quick = [plainest(some, np.array([c.score for c in some])) for some in found.values()]
    if not _looks_certain(quick, first, other):
        return None, kept
    share = _QUICK * risk / len(_QUICK_SIZES) / len(quick)
    test = Trial(asked, Comparison.of(quick), share, (first, other))
    for size in _QUICK_SIZES:
        if not pace.allows(sampler, size * few - test.tested.drawn):
            break
        _draw_until(sampler, test, size * few)
        if test.enough():
            return test, kept
    return None, kept


def _tested(sampler: Sampler, test: Trial, risk: float, pace: Pace, tell: Progress) -> None:
    """Draw and count; at doubling sizes, look whether it is enough."""
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
    for candidate in quick:
        sides = (first, other)
        seen = [int(candidate.event.mask(side).sum()) for side in sides]
        mine, others = seen[candidate.first], seen[1 - candidate.first]
        if (
            others
            or mine < 0.02 * len(first)
            or not candidate.parameter.exceeded_by(candidate.score)
        ):
            return False
    return True


def _compared(sampler: Sampler, found: list[list[Candidate]], pace: Pace) -> list[Candidate]:
    """The best event a parameter by outputs of their own; the weaker ones go on the way."""
    fields = [Comparison.of(some) for some in found if some]
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
    """A function that only ever raises, whatever the input, is not what anybody wants to audit."""
    reader = sampler.reader
    kinds = [
        {error_kind(reader, form) for form in np.unique(side.forms)} for side in (first, other)
    ]
    if kinds[0] == kinds[1] and None not in kinds[0]:
        raise InvalidArgument(
            name="run",
            expected="a function that returns an output for both inputs",
            given=f"one that always ended in {', '.join(sorted(map(str, kinds[0])))}",
            hint="it is called as run(input), or with batched=True as run(input, size=n)",
        )
