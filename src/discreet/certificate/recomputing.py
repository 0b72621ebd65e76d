"""Recomputing a certificate's promise, and putting what was found into sentences."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from discreet.certificate.certificate import in_words
from discreet.certificate.independent.answers import answer_faults
from discreet.certificate.independent.charges import charged_enough, total_loss
from discreet.certificate.independent.claims import is_just
from discreet.certificate.independent.composing import MOST_PIECES, Together
from discreet.certificate.independent.derived import Derived, derive
from discreet.certificate.independent.keys import key_faults
from discreet.certificate.independent.pairs import Counted, Normal, Response
from discreet.certificate.independent.questions import faults, too_few, unneeded
from discreet.certificate.independent.reals import above, below, total
from discreet.certificate.independent.rows import row_faults
from discreet.errors import DiscreetError
from discreet.guarantees import Guarantee
from discreet.laws.sharp import certainly_at_most

# What a document of the right form can still do to code that reads it.
_UNREADABLE = (DiscreetError, KeyError, TypeError, ValueError, ArithmeticError, AttributeError)


@dataclass(frozen=True)
class Told:
    """A sentence and where it belongs."""

    heading: Literal["proved", "trusted", "failed"]
    sentence: str


def recompute(document: dict[str, Any]) -> Iterator[Told]:
    """What follows from the printed numbers, and what does not."""
    mechanisms, promise = document["mechanisms"], document["guarantee"]
    if sum(one["mechanism"] == "keys" for one in mechanisms) > 1:
        yield Told("failed", "it discovers keys more than once")
        return
    try:
        derived = [derive(one) for one in mechanisms]
    except _UNREADABLE as error:
        yield Told("failed", f"its mechanisms cannot be computed again: {_reason(error)}")
        return
    pairs = [pair for one in derived for pair in one.pairs]
    if promise["words"] != in_words(promise["points"]):
        yield Told("failed", "its guarantee in words is not the one in numbers")
    yield _claimed(promise["document"], mechanisms, derived)
    try:
        if not promise["points"]:
            yield Told("trusted", "what it comes to as (ε, δ): it tells none")
        together = Together(pairs)
        for point in promise["points"]:
            yield _point(Fraction(point["epsilon"]), Fraction(point["delta"]), pairs, together)
        for charge in document["charges"]:
            yield _charged(charge, pairs)
    except _UNREADABLE:
        yield Told("failed", "its numbers are beyond what can be computed")
    yield from _question(document["query"]["tree"], mechanisms, document["released"])


def _claimed(promise: Any, mechanisms: list[Any], derived: list[Derived]) -> Told:
    """Is the guarantee that of the mechanisms, each and all together?"""
    try:
        # First, as it refuses all notions but the few that tables have.
        each = all(
            is_just(one["guarantee"], [found])
            for one, found in zip(mechanisms, derived, strict=True)
        )
        whole = is_just(promise, derived)
        for told in (promise, *(one["guarantee"] for one in mechanisms)):
            read = Guarantee.from_json(json.dumps(told))
            if json.loads(read.to_json()) != told:  # there is one way to write each
                return Told("failed", "its guarantee is not written as it must be")
    except _UNREADABLE as error:
        return Told("failed", f"its guarantee cannot be read: {_reason(error)}")
    if each and whole:
        sentence = "its guarantee follows from the sensitivity and noise of each mechanism"
        return Told("proved", sentence)
    which = "its guarantee" if each else "the guarantee of one of its mechanisms"
    return Told("failed", f"{which} is not what sensitivity and noise give")


def _point(epsilon: Fraction, delta: Fraction, pairs: list[Counted], together: Together) -> Told:
    """Is it (ε, δ)-private? Proved where an upper bound is at most δ, refuted where a lower bound
    is above it, and between the two it is said how near they are."""
    words = f"(ε, δ) = ({float(epsilon):.6g}, {float(delta):.6g})"
    failing = total(p.failing * n for p, n in pairs if isinstance(p, Response))
    bounded = all(not isinstance(pair, Normal) for pair, _ in pairs)
    if bounded and total_loss(pairs) <= epsilon and failing <= delta:
        return Told("proved", f"{words}-privacy, by adding up the largest losses")
    if together.normal is not None and together.pieces == 1:
        normal = together.normal
        if certainly_at_most(lambda: normal.delta(epsilon), delta):
            return Told("proved", f"{words}-privacy, by the profile of Gaussian noise")
        return Told("failed", f"{words}-privacy does not hold for this noise")
    if together.pieces > MOST_PIECES:
        return Told("trusted", f"{words}-privacy: too many mechanisms to compose them again")
    if below(together.lower(epsilon)) > delta:
        return Told("failed", f"{words}-privacy does not hold for this noise")
    most = above(together.upper(epsilon))
    if most <= delta:
        return Told("proved", f"{words}-privacy, by composing privacy losses")
    return Told(
        "trusted",
        f"{words}-privacy: not refuted, and proved with δ = {float(most):.3g} in place of "
        f"{float(delta):.3g}, since losses were rounded up where they were composed again",
    )


def _charged(charge: dict[str, Any], pairs: list[Counted]) -> Told:
    amount, slack = Fraction(charge["amount"]), Fraction(charge["slack"])
    symbol = {"pure": "ε", "zcdp": "ρ", "gdp": "μ²"}[charge["notion"]]
    words = f"{symbol} = {float(amount):.6g}" + (f" with δ₀ = {float(slack):.6g}" if slack else "")
    if charged_enough(charge["notion"], amount, slack, pairs):
        sentence = f"{words}, charged to {charge['account']}, is no less than the mechanisms take"
        return Told("proved", sentence)
    return Told("failed", f"{words}, charged to {charge['account']}, is too little")


def _question(tree: Any, mechanisms: list[Any], released: Any) -> Iterator[Told]:
    """Steps, keys, mechanisms and the released table, each against the others."""
    proved: dict[str, Callable[[], Iterable[str]]] = {
        "its steps look at one row at a time, and change nothing about whose row it is": (
            lambda: row_faults(tree)
        ),
        "its keys are those of its groups": lambda: key_faults(tree),
        "its sensitivities follow from the query's bounds, keys and relation, and every "
        "aggregate has the mechanisms it needs": lambda: faults(tree, mechanisms),
        "the released columns and rows are those of its groups, keys and aggregates": (
            lambda: answer_faults(tree, mechanisms, released)
        ),
    }
    failed = False
    for sentence, look in proved.items():
        try:
            found = list(look())
        except _UNREADABLE:
            found = ["the query cannot be read"]
        failed = failed or bool(found)
        yield from (Told("failed", fault) for fault in found)
        if not found:
            yield Told("proved", sentence)
    if not failed:
        yield from _left_open(tree, mechanisms)


def _left_open(tree: Any, mechanisms: list[Any]) -> Iterator[Told]:
    keys = tree["keys"]
    if keys is not None and keys["discovered"]:
        yield Told("trusted", "how many keys were found: it depends on the data")
    elif keys is not None and keys["values"] is None:
        sentence = "which keys there are, each once: only their number and digest are told"
        yield Told("trusted", sentence)
    for words in too_few(tree, mechanisms):
        sentence = (
            f"how many numbers one person touches (l0) in {words}: more than it says can be, "
        )
        yield Told("trusted", sentence + "and neither noise nor promise rests on it")
    for words in unneeded(tree, mechanisms):
        sentence = f"what {words} was bought for: no aggregate needs it, and it is paid for"
        yield Told("trusted", sentence)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, DiscreetError) else "something in them is missing"
