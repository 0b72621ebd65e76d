"""The statistical route: whether samples of a black box contradict a privacy claim."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

from discreet.auditor.finding import Finding
from discreet.auditor.region import Counts, corners
from discreet.auditor.statistical.bars import bars
from discreet.auditor.statistical.forms import errors
from discreet.auditor.statistical.outputs import Outputs
from discreet.auditor.statistical.pace import read_pace
from discreet.auditor.statistical.pairs import Pair, best_pair, different, read_pair
from discreet.auditor.statistical.parameters import (
    Parameter,
    Progress,
    Question,
    delta_at,
    epsilon_at,
    question,
)
from discreet.auditor.statistical.sampling import BatchRaised, Run, Sampler
from discreet.auditor.statistical.trial import Trial, hold_trial
from discreet.auditor.subject import Subject
from discreet.auditor.witness import Witness
from discreet.errors import InvalidArgument
from discreet.exact import Number, probability
from discreet.guarantees import Guarantee
from discreet.spelling import spelled

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
    ``progress(done, words)`` is called now and then with the share of the work that is done, from 0
    to 1, and what is at work; nothing is if left out.

    >>> import discreet as dp
    >>> honest = dp.RandomizedResponse(epsilon=2)
    >>> def run(bit, size):
    ...     return honest.release([bit] * size)
    >>> finding = dp.audit(run, (0, 1), dp.Pure(1), samples=20_000, batched=True)
    >>> finding.violated, 1.5 < finding.lower_bound < 2
    (True, True)
    """
    import scipy.special  # noqa: F401  (a second, that the clock should not count)

    subject = Subject.of(run)
    claimed = _read_claim(subject.claimed(claim))
    asked = question(claimed)
    started = time.perf_counter()
    risk = float(1 - probability(confidence, name="confidence"))
    run, batched = subject.drawn(batched)
    pace = read_pace(seconds, samples, started)
    tell = progress if progress is not None else _silent
    tried = 1
    if pair is None and neighbors is None:
        neighbors = subject.pairs(claimed) or None
    if pair is None:
        pair, tried, pace = best_pair(
            run, neighbors, asked, batched=batched, pace=pace, progress=tell
        )
    elif neighbors is not None:
        raise InvalidArgument(
            name="neighbors",
            expected="None where a pair is given",
            given="both a pair and neighbors",
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
    asked: Question,
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
    bound = bounds[own]
    reach = _reach(asked.reported, test.tested.counts(own), drawn, test.risk)
    leading = exceeded.index(True) if any(exceeded) else own
    witnesses = tuple(_witness(asked, sampler, test, place) for place in range(len(names)))
    return Finding(
        claim=claim,
        violated=test.violated,
        lower_bound=bound,
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


def _witness(asked: Question, sampler: Sampler, test: Trial, place: int) -> Witness:
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


def _reach(parameter: Parameter, counts: Counts, n: int, risk: float) -> float:
    """The bound if the event had been known, and all samples had tested it."""
    share, other = counts.hits / counts.n, counts.other_hits / counts.other_n
    p, q = corners(Counts(round(share * n), n, round(other * n), n), risk)
    return float(parameter.least(p, q).min())


def _read_claim(claim: Guarantee | None) -> Guarantee:
    if not isinstance(claim, Guarantee):
        raise InvalidArgument(
            name="claim",
            expected="a guarantee, such as dp.Pure(1) or dp.Approx(1, 1e-5)",
            given=InvalidArgument.describe_parameter(claim),
        )
    return claim


def _silent(done: float, words: str) -> None:
    pass
