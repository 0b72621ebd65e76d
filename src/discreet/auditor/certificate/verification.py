"""What can be proved of a certificate, and what is taken on trust."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple

from discreet import signing
from discreet.auditor.certificate.guarantee_check import charged_enough, derive, is_just
from discreet.auditor.certificate.json_schema import misfits
from discreet.auditor.certificate.law_pairs import (
    MOST_PIECES,
    ComposedLaws,
    Normal,
    Pair,
    Pairs,
    chance_to_fail,
    largest_loss,
)
from discreet.auditor.certificate.query_check import QueryFindings, look_at, row_faults
from discreet.auditor.certificate.table_check import (
    answer_faults,
    is_distinct,
    key_faults,
    released_table,
)
from discreet.auditor.exact.comparison import compare
from discreet.errors import DiscreetError, Phrase, one_line
from discreet.laws import RealGaussian
from discreet.neighbors import Relation, protects
from discreet.numeric import canonical
from discreet.numeric.balls import lower_fraction, upper_fraction
from discreet.numeric.exact import round_up
from discreet.numeric.table_digest import table_digest

# -- what the digest and the signature cover -------------------------------------------------------


def content(document: dict[str, Any]) -> dict[str, Any]:
    """The part of a document that its digest covers."""
    return {name: value for name, value in document.items() if name not in ("digest", "signature")}


def message(document: dict[str, Any]) -> bytes:
    """The bytes that are signed."""
    told = {name: value for name, value in document.items() if name != "signature"}
    return canonical.text(told).encode()


def in_words(points: list[dict[str, str]]) -> str:
    """A guarantee's (ε, δ), for reading; ε rounded up.

    >>> in_words([{"epsilon": "1/2", "delta": "1/1000000"}])
    'ε = 0.5 at δ = 1e-06'
    """
    if not points:
        return "no ε at a δ worth telling"
    epsilon, delta = (Fraction(points[0][name]) for name in ("epsilon", "delta"))
    at = f" at δ = {round_up(delta):.6g}" if delta else ""
    return f"ε = {round_up(epsilon):.6g}{at}"


# -- verdict: what is proved, what is not, what failed ---------------------------------------------


TO_BE_SURE: Final = Phrase("give {public_key=} to be sure")


@dataclass(frozen=True)
class Verdict:
    """Sentences under three headings. ``ok`` means that nothing failed, not that all is proved.

    >>> print(Verdict(proved=("the sums add up",), trusted=("the data",), failed=()))
    Proved:
      - the sums add up
    Taken on trust:
      - the data
    """

    proved: tuple[str, ...]
    trusted: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Did nothing fail?"""
        return not self.failed

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        parts = (("Failed", self.failed), ("Proved", self.proved), ("Taken on trust", self.trusted))
        lines = []
        for title, sentences in parts:
            if sentences:
                lines += [f"{title}:", *(f"  - {one_line(sentence)}" for sentence in sentences)]
        return "\n".join(lines)


# -- the promise, recomputed and put into sentences ------------------------------------------------


# The errors that a document of the right form can still cause in code that reads it.
_UNREADABLE = (DiscreetError, KeyError, TypeError, ValueError, ArithmeticError, AttributeError)


class Statement(NamedTuple):
    """A sentence, and the heading that it belongs under."""

    heading: Literal["proved", "trusted", "failed"]
    sentence: str


def _checked(held: bool, *, proved: str, failed: str) -> Statement:
    return Statement("proved", proved) if held else Statement("failed", failed)


def _recomputed(document: dict[str, Any]) -> Iterator[Statement]:
    """What follows from the printed numbers, and what does not."""
    mechanisms, promise = document["mechanisms"], document["guarantee"]
    if sum(one["mechanism"] == "keys" for one in mechanisms) > 1:
        yield Statement("failed", "it discovers keys more than once")
        return
    try:
        derived = [derive(one) for one in mechanisms]
    except _UNREADABLE as error:
        yield Statement("failed", f"its mechanisms cannot be computed again: {_reason(error)}")
        return
    pairs = Counter[Pair]()
    for one in derived:
        pairs.update(one)
    if promise["words"] != in_words(promise["points"]):
        yield Statement("failed", "its guarantee in words is not the one in numbers")
    yield _claimed(promise["document"], pairs, mechanisms, derived)
    try:
        if not promise["points"]:
            yield Statement("trusted", "what it comes to as (ε, δ): it states none")
        together = ComposedLaws(pairs)
        for point in promise["points"]:
            yield _point(Fraction(point["epsilon"]), Fraction(point["delta"]), pairs, together)
        for charge in document["charges"]:
            yield _charged(charge, pairs)
    except _UNREADABLE:
        yield Statement("failed", "its numbers are beyond what can be computed")
    yield from _question(document["query"]["tree"], mechanisms, document["released"])


def _claimed(promise: Any, pairs: Pairs, mechanisms: list[Any], derived: list[Pairs]) -> Statement:
    """Is the guarantee that of the mechanisms, each and all together?"""
    try:
        each = all(is_just(m["guarantee"], d) for m, d in zip(mechanisms, derived, strict=True))
        whole = is_just(promise, pairs)
    except _UNREADABLE as error:
        return Statement("failed", f"its guarantee cannot be read: {_reason(error)}")
    which = "its guarantee" if each else "the guarantee of one of its mechanisms"
    return _checked(
        each and whole,
        proved="its guarantee follows from the sensitivity and noise of each mechanism",
        failed=f"{which} is not what sensitivity and noise give",
    )


def _point(epsilon: Fraction, delta: Fraction, pairs: Pairs, together: ComposedLaws) -> Statement:
    """Is it (ε, δ)-private? Proved where an upper bound is at most δ, refuted where a lower bound
    is above it; in between, the statement says how near the bounds are."""
    words = f"(ε, δ) = ({float(epsilon):.6g}, {float(delta):.6g})"
    loss = largest_loss(pairs)
    if loss is not None and loss <= epsilon and chance_to_fail(pairs) <= delta:
        return Statement("proved", f"{words}-privacy, by adding up the largest losses")
    match list(together.counts):
        case [Normal(square)]:  # noise of variance 1/μ², moved by 1, on the exact route
            laws = (RealGaussian(center, 1 / square) for center in (0, 1))
            stick, how = compare(*laws).hockey(epsilon), "the profile of Gaussian noise"
            least, most = lower_fraction(stick), upper_fraction(stick)
        case _ if together.pieces > MOST_PIECES:
            sentence = f"{words}-privacy: too many mechanisms to compose them again"
            return Statement("trusted", sentence)
        case _:
            (least, most), how = together.bounds(epsilon), "composing privacy losses"
    if least > delta:
        return Statement("failed", f"{words}-privacy does not hold for this noise")
    if most <= delta:
        return Statement("proved", f"{words}-privacy, by {how}")
    return Statement(
        "trusted",
        f"{words}-privacy: not refuted, and proved with δ = {float(most):.3g} in place of "
        f"{float(delta):.3g}, since losses were rounded up where they were composed again",
    )


#: what adds up in an account, by its notion
NOTIONS: Final = {"pure": "ε", "zcdp": "ρ", "gdp": "μ²"}


def _charged(charge: dict[str, Any], pairs: Pairs) -> Statement:
    amount, slack = Fraction(charge["amount"]), Fraction(charge["slack"])
    symbol = NOTIONS[charge["notion"]]
    words = f"{symbol} = {float(amount):.6g}" + (f" with δ₀ = {float(slack):.6g}" if slack else "")
    words += f", charged to {charge['account']}, is"
    return _checked(
        charged_enough(charge["notion"], amount, slack, pairs),
        proved=f"{words} no less than the mechanisms take",
        failed=f"{words} too little",
    )


def _question(tree: Any, mechanisms: list[Any], released: Any) -> Iterator[Statement]:
    """Check steps, keys, mechanisms and the released table against each other."""
    seen = QueryFindings([])

    def faults() -> list[str]:
        nonlocal seen
        seen = look_at(tree, mechanisms)
        return seen.faults

    proved: dict[str, Callable[[], Iterable[str]]] = {
        "its steps look at one row at a time, and change nothing about whose row it is": (
            lambda: row_faults(tree)
        ),
        "its keys are those of its groups": lambda: key_faults(tree),
        "its sensitivities follow from the query's bounds, keys and relation, and every "
        "aggregate has the mechanisms it needs": faults,
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
        yield from (Statement("failed", fault) for fault in found)
        if not found:
            yield Statement("proved", sentence)
    if not failed:
        yield from (Statement("trusted", sentence) for sentence in _left_open(tree["keys"], seen))


def _left_open(keys: Any, seen: QueryFindings) -> Iterator[str]:
    if keys is not None and keys["discovered"]:
        yield "how many keys were found: it depends on the data"
    elif keys is not None and keys["values"] is None:
        yield "which keys there are, each once: only their number and digest are given"
    for words in seen.too_few:
        yield (
            f"how many numbers one person touches (l0) in {words}: more than it says can be, "
            "and neither noise nor promise rests on it"
        )
    for words in seen.unneeded:
        yield f"what {words} was purchased for: no aggregate needs it, but it was charged"


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, DiscreetError) else "something in them is missing"


# -- verify ----------------------------------------------------------------------------------------


def verify_document(
    document: dict[str, Any],
    *,
    public_key: str | os.PathLike[str] | None = None,
    result: Any = None,
    ledger: Iterable[Statement] | None = None,
) -> Verdict:
    """Check a certificate's document as far as it can be; ``ledger`` is what a look there finds."""
    wrong = misfits(document)
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        return Verdict((), (), (f"its form is not that of version 1: {wrong[0]}{more}",))
    try:
        found = list(_seal(document, public_key))
        if any(one.heading == "failed" for one in found):
            found.append(Statement("failed", "so nothing else in it was looked at"))
        else:
            found += _recomputed(document)
            found += _protection(document)
            found += _values(document, result)
            found += _without_ledger(document["ledger"]) if ledger is None else ledger
            found += _always(document)
    except RecursionError:  # in what is not read, but hashed and compared
        found = [Statement("failed", "something in it is nested too deeply")]
    told = {
        name: tuple(one.sentence for one in found if one.heading == name)
        for name in ("proved", "trusted", "failed")
    }
    return Verdict(**told)


def _seal(
    document: dict[str, Any], public_key: str | os.PathLike[str] | None
) -> Iterator[Statement]:
    yield _checked(
        document["digest"] == canonical.digest(content(document)),
        proved="its digest is that of its content",
        failed="its digest is not that of its content: it was changed",
    )
    wanted = None if public_key is None else signing.read_public(public_key)
    signature = document["signature"]
    if signature is None:
        if wanted is None:
            yield Statement(
                "trusted",
                "who wrote it: it is not signed, and whoever can change it can compute its digest",
            )
        else:
            yield Statement("failed", "it is not signed, and a signature was asked for")
        return
    key = signature["public_key"]
    yield _checked(
        signing.is_signed(key, message(document), signature["signature"]),
        proved=f"it was signed with the key {key[:16]}… and not changed since",
        failed="its signature does not belong to its content: one of them was changed",
    )
    if wanted is None:
        yield Statement(
            "trusted",
            Phrase("that the key {}… belongs to whom you think: {}", key[:16], TO_BE_SURE),
        )
    else:
        yield _checked(
            key == wanted,
            proved="that is the key you gave",
            failed="it was signed with a key other than the one you gave",
        )


def _protection(document: dict[str, Any]) -> Iterator[Statement]:
    """Check that who is protected, which is stated three times, is the same each time."""
    told, tree = document["protects"], document["query"]["tree"]
    words = protects(Relation.parse(told["relation"]), told["unit"])
    yield _checked(
        told == {"unit": tree["unit"], "relation": tree["relation"], "words": words},
        proved=f"it protects {words}",
        failed="who is protected is stated differently in different places",
    )
    yield Statement(
        "trusted",
        "that the query, parts and errors in words are those of the tree and the numbers: where "
        "they differ, the latter count",
    )


def _values(document: dict[str, Any], result: Any) -> Iterator[Statement]:
    if result is None:
        sentence = Phrase(
            "which values were released: give {result=} to compare them with the digest"
        )
        yield Statement("trusted", sentence)
        return
    released, tree = document["released"], document["query"]["tree"]
    table = released_table(result, released)
    yield _checked(
        table is not None,
        proved="the table you gave is the one that this certificate describes, cell by cell",
        failed="the table you gave is not the one that this certificate describes",
    )
    keys = tree["keys"] if tree["kind"] == "query" else None
    if table is not None and keys is not None and not keys["discovered"]:
        told = table.select([column["name"] for column in keys["columns"]])
        yield _checked(
            table_digest(told) == keys["sha256"] and is_distinct(told),
            proved="its rows are those of the query's keys, each once",
            failed="its rows are not those of the query's keys, each once",
        )


def _without_ledger(told: dict[str, Any] | None) -> Iterator[Statement]:
    asked = (
        "that this question was asked of this dataset, at this time: filters, columns, weights, "
        "candidates, and bounds by less than a step, could be others under the same promise"
    )
    if told is None:
        charged = "that it was charged: its budget was kept in memory, and nobody can look it up"
    else:
        charged = Phrase(
            "that record {} of ledger {} holds this charge: give {ledger=} to look it up",
            str(told["record"]),
            str(told["id"]),
        )
        asked += "; a ledger can tell"
    yield Statement("trusted", charged)
    yield Statement("trusted", asked)


def _always(document: dict[str, Any]) -> Iterator[Statement]:
    joins = [step for step in document["query"]["tree"]["steps"] if step["step"] == "join"]
    sentences = (
        *(
            f"that the table of {join['table']['rows']:,} rows joined on "
            f"{', '.join(pair['there'] for pair in join['on'])} (SHA-256 "
            f"{join['table']['sha256'][:16]}…) is public: it is not protected, and may hold "
            "nothing about these people"
            for join in joins
        ),
        "that the table held the people it is said to hold, each under one id: someone with two "
        "ids is protected as two",
        f"that the software, version {document['software']['discreet']}, did what is written "
        "here: clamped values, kept no more rows of a person than it says, and drew its noise "
        "from good randomness",
        "that nothing else was released about the same people: what several releases add up to "
        "is in the ledger, not here",
    )
    return (Statement("trusted", sentence) for sentence in sentences)
