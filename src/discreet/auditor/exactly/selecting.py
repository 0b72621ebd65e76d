"""Choices among candidates: neighbours at the vertices, and bounds for all base points."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

from discreet.auditor.exactly.neighbours import Pair, Plan, Proof, close
from discreet.auditor.exactly.probing import Look, lists_of_scores, look
from discreet.guarantees import BoundedRange, Guarantee, Pure
from discreet.inputs import Categories, Scores
from discreet.laws import Gibbs, NoisyArgmax
from discreet.laws.noisy_lead import NoisyLead

Law = Callable[[Any], Any]

_ALL_PAIRS = 12  # categories up to which every pair is compared
_CHAIN = 64  # and how far, of more, each is compared with the next
_LEADS = (0, 1, 2, 4, 6, 8, 14)
_SIZES = (2, 3, 5)


def of_categories(law: Law, inputs: Categories, claim: Guarantee) -> Plan:
    """Any category to any other."""
    if inputs.count <= _ALL_PAIRS:
        pairs: list[Pair] = list(combinations(range(inputs.count), 2))
        return Plan(pairs, proof=Proof("all pairs of categories were compared"))
    last = inputs.count - 1
    pairs = [(i, i + 1) for i in range(min(last, _CHAIN))]
    return Plan([*pairs, (0, last), (last - 1, last), (last // 2, 0)])


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
            pairs += [close(base, v, inputs.sensitivity) for v in _vertices(base, inputs)]

    def climb(pair: Pair) -> list[Pair]:
        """Move one score of both inputs by a step, up or down."""
        steps = []
        for i in range(len(pair[0])):
            for move in (2.0, -2.0):
                shift = move * float(inputs.sensitivity)
                first, second = ([*v[:i], v[i] + shift, *v[i + 1 :]] for v in pair)
                steps.append(close(first, second, inputs.sensitivity))
        return steps

    seen = look(law, lists_of_scores(inputs.least, [inputs.sensitivity]))
    odd = [v for v in seen.odd if 1 < len(v) <= max(_SIZES)]
    pairs += [close(v, w, inputs.sensitivity) for v in odd for w in _vertices(_exact(v), inputs)]
    return Plan(pairs, climb=climb, proof=_proof(law, inputs, claim, seen))


def _exact(scores: list[float]) -> list[Fraction]:
    return [Fraction(score) for score in scores]


def _vertices(base: list[Fraction], inputs: Scores) -> list[list[Fraction]]:
    """For the leader and for another candidate: it alone against all others."""
    up, own = inputs.sensitivity, Fraction(0) if inputs.monotone else -inputs.sensitivity
    return [
        [score + (own if i == chosen else up) for i, score in enumerate(base)] for chosen in (0, 1)
    ]


def _proof(law: Law, inputs: Scores, claim: Guarantee, seen: Look) -> Proof | None:
    """A bound on the log ratio for all scores, however many, from the laws' own parameters."""
    if not seen.one_form or not isinstance(claim, Pure | BoundedRange):
        return None
    reach = (1 if inputs.monotone else 2) * inputs.sensitivity
    one = law([0.0] * max(2, inputs.least))
    match one:
        case Gibbs():
            # log P(i)/P′(i) = rate·(uᵢ − uᵢ′) + log(Z′/Z), where the second term is a mean of
            # the moves in the exponent: between them. So all losses lie within rate·reach.
            ceiling, known = reach * one.rate, True
            words = "losses lie in an interval of rate·(largest less smallest move), at any scores"
        case NoisyArgmax() | NoisyLead():
            # Given the noise of the others, candidate i wins (by a lead) if its own noise is
            # above some m. One person moves m by at most `reach`, and for Laplace and for
            # exponential noise P(N > m) ≤ e^(reach/scale)·P(N > m + reach), for every m; with a
            # gap the same holds for the density of the lead.
            ceiling, known = reach / one.scale, isinstance(claim, Pure)
            words = (
                "the winner's noise passes the others by a level that one person moves by at most "
                "this, and no tail of the noise falls faster than e^(-move/scale)"
            )
        case _:
            return None
    if not known or ceiling > claim.epsilon0:
        return None
    return Proof(f"{words}; {seen.words}", ceiling)
