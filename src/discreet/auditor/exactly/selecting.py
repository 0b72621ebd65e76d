"""Choices among candidates: neighbours at the vertices, and bounds for all base points."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

from discreet.auditor.exactly.neighbours import Pair, Plan, Proof
from discreet.guarantees import BoundedRange, Guarantee, Pure
from discreet.inputs import Categories, Scores
from discreet.laws import Gibbs, NoisyArgmax
from discreet.laws.noisy_lead import NoisyLead

Law = Callable[[Any], Any]

_ALL_PAIRS = 12  # categories up to which every pair is compared
_LEADS = (0, 1, 2, 4, 6, 8, 14)
_SIZES = (2, 3, 5)


def of_categories(law: Law, inputs: Categories, claim: Guarantee) -> Plan:
    """Any category to any other."""
    if inputs.count <= _ALL_PAIRS:
        pairs: list[Pair] = list(combinations(range(inputs.count), 2))
        return Plan(pairs, proof=Proof("all pairs of categories were compared"))
    last = inputs.count - 1
    return Plan([(0, 1), (0, last), (last - 1, last), (last // 2, 0)])


def of_scores(law: Law, inputs: Scores, claim: Guarantee) -> Plan:
    """Scores that lead by more or less, moved to the vertices of what one person can do.

    The probability of a candidate grows with its own score and falls with every other. So for
    each base point its ratio is largest at a vertex: its own score moved down and all others up.
    """
    pairs: list[Pair] = []
    for size in _SIZES:
        if size < inputs.least:
            continue
        for lead in _LEADS:
            base = [lead * inputs.sensitivity, *[Fraction(0)] * (size - 1)]
            pairs += [(_floats(base), _floats(v)) for v in _vertices(base, inputs)]

    def climb(pair: Pair) -> list[Pair]:
        """Move one score of both inputs by a step, up or down."""
        steps = []
        for i in range(len(pair[0])):
            for move in (2.0, -2.0):
                shift = move * float(inputs.sensitivity)
                steps.append(tuple([*v[:i], v[i] + shift, *v[i + 1 :]] for v in pair))
        return steps  # type: ignore[return-value]

    return Plan(pairs, climb=climb, proof=_proof(law, inputs, claim))


def _vertices(base: list[Fraction], inputs: Scores) -> list[list[Fraction]]:
    """For the leader and for another candidate: it alone against all others."""
    up, own = inputs.sensitivity, Fraction(0) if inputs.monotone else -inputs.sensitivity
    return [
        [score + (own if i == chosen else up) for i, score in enumerate(base)] for chosen in (0, 1)
    ]


def _floats(scores: list[Fraction]) -> list[float]:
    return [float(score) for score in scores]


def _proof(law: Law, inputs: Scores, claim: Guarantee) -> Proof | None:
    """A bound on the log ratio for all scores, however many, from the laws' own parameters."""
    tried = [[0.0, 0.0], [5.0, -1.0], [0.0, 3.0, 6.0], [100.0, 0.5, 0.0, -20.0]]
    laws = [law(scores) for scores in tried if len(scores) >= inputs.least]
    reach = (1 if inputs.monotone else 2) * inputs.sensitivity
    if len({type(one) for one in laws}) > 1:
        return None
    taken = [list(getattr(one, "scores", ())) for one in laws]
    if taken != [scores for scores in tried if len(scores) >= inputs.least]:
        return None  # the scores are not taken as they are
    match laws[0]:
        case Gibbs():
            # log P(i)/P′(i) = rate·(uᵢ − uᵢ′) + log(Z′/Z), where the second term is a mean of
            # the moves in the exponent: between them. So all losses lie within rate·reach.
            rates = {one.rate for one in laws}
            ceiling = reach * rates.pop()
            known = not rates and isinstance(claim, Pure | BoundedRange)
            words = "losses lie in an interval of rate·(largest less smallest move), at any scores"
        case NoisyArgmax() | NoisyLead():
            # Given the noise of the others, candidate i wins (by a lead) if its own noise is
            # above some m. One person moves m by at most `reach`, and for Laplace and for
            # exponential noise P(N > m) ≤ e^(reach/scale)·P(N > m + reach), for every m; with a
            # gap the same holds for the density of the lead.
            scales = {one.scale for one in laws}
            ceiling = reach / scales.pop()
            known = not scales and isinstance(claim, Pure)
            words = (
                "the winner's noise passes the others by a level that one person moves by at most "
                "this, and no tail of the noise falls faster than e^(-move/scale)"
            )
        case _:
            return None
    if not known or ceiling > claim.epsilon0:  # type: ignore[attr-defined]
        return None
    return Proof(words, ceiling)
