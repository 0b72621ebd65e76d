"""Streams of scores and a noisy threshold."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from discreet.auditor.exactly.neighbours import Pair, Plan, Proof, close
from discreet.auditor.exactly.probing import Look, lists_of_scores, look
from discreet.guarantees import Guarantee, Pure
from discreet.inputs import Stream
from discreet.laws.sparse_vector import FirstAbove, SparseAnswers

_PLACES = (-4, -1, 0)  # of the scores, in sensitivities from the threshold


def of_stream(law: Callable[[Any], Any], inputs: Stream, claim: Guarantee) -> Plan:
    """Equal scores near the threshold, all moved up, all down, or the last one the other way.

    Refusals are likelier where scores are low and hits where they are high: what tells two
    neighbours apart best is a run of refusals whose scores move one way, before a hit whose
    score moves the other way.
    """
    step = inputs.sensitivity
    pairs: list[Pair] = []
    for size, place in product(_sizes(law([0.0])), _PLACES):
        base = [inputs.threshold + place * step] * size
        other = Fraction(0) if inputs.monotone else -step
        ends = {1, size // 2, size} - {0}
        moves = [[other] * (size - end) + [step] * end for end in ends]
        moves += [[step] * (size - end) + [other] * end for end in ends - {size}]
        pairs += [
            close(base, [score + m for score, m in zip(base, move, strict=True)], step)
            for move in moves
        ]

    def climb(pair: Pair) -> list[Pair]:
        """Move the last score, or all before it, of both inputs."""
        shifts = (2 * float(step), -2 * float(step))
        last = [tuple([*v[:-1], v[-1] + s] for v in pair) for s in shifts]
        rest = [tuple([*(x + s for x in v[:-1]), v[-1]] for v in pair) for s in shifts]
        return [close(first, second, step) for first, second in (*last, *rest)]

    seen = look(law, lists_of_scores(1, [step, inputs.threshold]))
    return Plan(pairs, climb=climb, proof=_proof(law, inputs, claim, seen))


def _sizes(one: Any) -> tuple[int, ...]:
    """Lengths of streams: the more outcomes there are, the shorter."""
    if isinstance(one, FirstAbove):
        return 1, 3, 5
    return (1, 2) if getattr(one, "step", None) is not None else (1, 4)


def _proof(law: Callable[[Any], Any], inputs: Stream, claim: Guarantee, seen: Look) -> Proof | None:
    """Δ/a + hits·2Δ/b, or hits·Δ/b for monotone scores, whatever the stream and however long.

    Under the integral over the noisy threshold y, move y by Δ: its density changes by a factor of
    at most e^(Δ/a), each refusal becomes no less likely, and each of at most `hits` hits has its
    noise moved by at most 2Δ against a tail of scale b. (If all scores rise, the hits move by Δ
    at most; if all fall, y stays where it is and the hits move by Δ at most.)
    """
    one = law([0.0])
    answers = one.answers if isinstance(one, FirstAbove) else one
    if not isinstance(answers, SparseAnswers) or not isinstance(claim, Pure) or not seen.one_form:
        return None
    reach = (1 if inputs.monotone else 2) * inputs.sensitivity
    ceiling = (
        inputs.sensitivity / answers.threshold_scale + answers.hits * reach / answers.query_scale
    )
    if ceiling > claim.epsilon0:
        return None
    words = "with the noisy threshold moved by the sensitivity, every factor of the law is bounded"
    return Proof(f"{words}; {seen.words}", ceiling)
