"""What can be proved of a certificate, and what is taken on trust."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from discreet import signing
from discreet.certificate.certificate import Certificate, Verdict, content, in_words, message
from discreet.certificate.independent.guarantee_check import (
    Derived,
    charged_enough,
    derive,
    is_just,
    total_loss,
)
from discreet.certificate.independent.law_pairs import (
    MOST_PIECES,
    BinaryResponse,
    ComposedLaws,
    Counted,
    Normal,
)
from discreet.certificate.independent.query_check import faults, row_faults, too_few, unneeded
from discreet.certificate.independent.reals import above, below, total
from discreet.certificate.independent.table_check import answer_faults, key_faults
from discreet.certificate.issue import told_charge, told_released
from discreet.certificate.json_schema import misfits
from discreet.errors import DiscreetError, InvalidArgument, Phrase, Refused
from discreet.guarantees import Guarantee
from discreet.neighbors import Relation
from discreet.numeric import canonical
from discreet.numeric.balls import certainly_at_most
from discreet.query.public import columns_of, table_digest
from discreet.query.purchase import protects
from discreet.release.exports import as_written

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.ledger.history import Entry
    from discreet.ledger.ledger import Ledger


# -- the promise, recomputed and put into sentences ------------------------------------------------


# The errors that a document of the right form can still cause in code that reads it.
_TO_BE_SURE = Phrase("give {public_key=} to be sure")
_UNREADABLE = (DiscreetError, KeyError, TypeError, ValueError, ArithmeticError, AttributeError)


@dataclass(frozen=True)
class Statement:
    """A sentence, and the heading that it belongs under."""

    heading: Literal["proved", "trusted", "failed"]
    sentence: str


def recompute(document: dict[str, Any]) -> Iterator[Statement]:
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
    pairs = [pair for one in derived for pair in one.pairs]
    if promise["words"] != in_words(promise["points"]):
        yield Statement("failed", "its guarantee in words is not the one in numbers")
    yield _claimed(promise["document"], mechanisms, derived)
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


def _claimed(promise: Any, mechanisms: list[Any], derived: list[Derived]) -> Statement:
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
                return Statement("failed", "its guarantee is not written as it must be")
    except _UNREADABLE as error:
        return Statement("failed", f"its guarantee cannot be read: {_reason(error)}")
    if each and whole:
        sentence = "its guarantee follows from the sensitivity and noise of each mechanism"
        return Statement("proved", sentence)
    which = "its guarantee" if each else "the guarantee of one of its mechanisms"
    return Statement("failed", f"{which} is not what sensitivity and noise give")


def _point(
    epsilon: Fraction, delta: Fraction, pairs: list[Counted], together: ComposedLaws
) -> Statement:
    """Is it (ε, δ)-private? Proved where an upper bound is at most δ, refuted where a lower bound
    is above it; in between, the statement says how near the bounds are."""
    words = f"(ε, δ) = ({float(epsilon):.6g}, {float(delta):.6g})"
    failing = total(p.failing * n for p, n in pairs if isinstance(p, BinaryResponse))
    bounded = all(not isinstance(pair, Normal) for pair, _ in pairs)
    if bounded and total_loss(pairs) <= epsilon and failing <= delta:
        return Statement("proved", f"{words}-privacy, by adding up the largest losses")
    if together.normal is not None and together.pieces == 1:
        normal = together.normal
        if certainly_at_most(lambda: normal.delta(epsilon), delta):
            return Statement("proved", f"{words}-privacy, by the profile of Gaussian noise")
        return Statement("failed", f"{words}-privacy does not hold for this noise")
    if together.pieces > MOST_PIECES:
        return Statement("trusted", f"{words}-privacy: too many mechanisms to compose them again")
    if below(together.lower(epsilon)) > delta:
        return Statement("failed", f"{words}-privacy does not hold for this noise")
    most = above(together.upper(epsilon))
    if most <= delta:
        return Statement("proved", f"{words}-privacy, by composing privacy losses")
    return Statement(
        "trusted",
        f"{words}-privacy: not refuted, and proved with δ = {float(most):.3g} in place of "
        f"{float(delta):.3g}, since losses were rounded up where they were composed again",
    )


def _charged(charge: dict[str, Any], pairs: list[Counted]) -> Statement:
    amount, slack = Fraction(charge["amount"]), Fraction(charge["slack"])
    symbol = {"pure": "ε", "zcdp": "ρ", "gdp": "μ²"}[charge["notion"]]
    words = f"{symbol} = {float(amount):.6g}" + (f" with δ₀ = {float(slack):.6g}" if slack else "")
    if charged_enough(charge["notion"], amount, slack, pairs):
        sentence = f"{words}, charged to {charge['account']}, is no less than the mechanisms take"
        return Statement("proved", sentence)
    return Statement("failed", f"{words}, charged to {charge['account']}, is too little")


def _question(tree: Any, mechanisms: list[Any], released: Any) -> Iterator[Statement]:
    """Check steps, keys, mechanisms and the released table against each other."""
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
        yield from (Statement("failed", fault) for fault in found)
        if not found:
            yield Statement("proved", sentence)
    if not failed:
        yield from _left_open(tree, mechanisms)


def _left_open(tree: Any, mechanisms: list[Any]) -> Iterator[Statement]:
    keys = tree["keys"]
    if keys is not None and keys["discovered"]:
        yield Statement("trusted", "how many keys were found: it depends on the data")
    elif keys is not None and keys["values"] is None:
        sentence = "which keys there are, each once: only their number and digest are given"
        yield Statement("trusted", sentence)
    for words in too_few(tree, mechanisms):
        sentence = (
            f"how many numbers one person touches (l0) in {words}: more than it says can be, "
        )
        yield Statement("trusted", sentence + "and neither noise nor promise rests on it")
    for words in unneeded(tree, mechanisms):
        sentence = f"what {words} was purchased for: no aggregate needs it, but it was charged"
        yield Statement("trusted", sentence)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, DiscreetError) else "something in them is missing"


# -- the ledger that a certificate points at -------------------------------------------------------


PathName = str | os.PathLike[str]


def look_up(
    document: dict[str, Any], ledger: Ledger | PathName | None, public_key: PathName | None = None
) -> Iterator[Statement]:
    """Whether a ledger has this very charge, and these very values as its answer."""
    told = document["ledger"]
    if ledger is None:
        yield from _without(told)
        return
    if told is None:
        yield Statement("failed", "its budget was kept in memory, so no ledger holds its charge")
        return
    opened = None
    try:
        if isinstance(ledger, str | os.PathLike):
            opened, sealed = _opened(ledger, public_key)
            ledger = opened
            yield sealed
        yield from _compared(document, ledger)
    except InvalidArgument:
        raise  # no ledger there at all: the caller's mistake
    except DiscreetError as error:
        yield Statement("failed", f"the ledger could not be read: {error}")
    finally:
        if opened is not None:
            opened.close()


def _opened(ledger: PathName, public_key: PathName | None) -> tuple[Ledger, Statement]:
    """The ledger, and whether it has the seal of the key that signs certificates."""
    from discreet.ledger.ledger import Ledger

    if public_key is not None:
        with suppress(Refused):  # it was made with another key, or with none
            sealed = Ledger(ledger, public_key=public_key)
            return sealed, Statement("proved", "the ledger is sealed with the key you gave")
    how = "it is not sealed with the key you gave" if public_key else _TO_BE_SURE
    trusted = Phrase("that the ledger was not written anew: {}", how)
    return Ledger(ledger), Statement("trusted", trusted)


def _without(told: dict[str, Any] | None) -> Iterator[Statement]:
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


def _compared(document: dict[str, Any], ledger: Ledger) -> Iterator[Statement]:
    place = document["ledger"]["record"]
    entry = ledger.entry(place)
    others = ["id"] if ledger.id != document["ledger"]["id"] else []
    if entry is None:
        yield Statement("failed", f"the ledger has no charge with the number {place}")
        return
    facts = _facts(entry)
    others += [name for name, fact in facts.items() if fact != _told(document, name)]
    if others:
        yield Statement("failed", f"record {place} of the ledger has another {', '.join(others)}")
        return
    yield Statement(
        "proved",
        f"record {place} of the ledger holds this charge, with this hash, question, unit, time "
        "and cost, and the ledger's chain of records is whole",
    )
    try:
        result = ledger.recall(entry)
    except InvalidArgument:
        sentence = "that these values are the answer: the ledger has none for this charge"
        yield Statement("trusted", sentence)
        return
    if told_released(result.frame, result.columns) == document["released"]:
        yield Statement("proved", "the ledger keeps these very values as the answer to it")
    else:
        yield Statement("failed", "the ledger keeps other values as the answer to it")


def _facts(entry: Entry) -> dict[str, Any]:
    """What a certificate of this charge must say, by the name used in messages."""
    return {
        "hash": entry.hash,
        "digest of what was asked": entry.digest,
        "dataset": entry.dataset,
        "time": entry.time.astimezone(UTC).isoformat(),
        "unit": entry.unit,
        "relation": str(entry.relation),
        "question in words": entry.question,
        "query": entry.query,
        "list of mechanisms": list(entry.mechanisms),
        "guarantee": json.loads(entry.guarantee.to_json()),
        "cost": [told_charge(cost) for cost in entry.costs],
    }


def _told(document: dict[str, Any], name: str) -> Any:
    return {
        "hash": document["ledger"]["hash"],
        "digest of what was asked": document["asked"],
        "dataset": document["dataset"],
        "time": document["time"],
        "unit": document["protects"]["unit"],
        "relation": document["protects"]["relation"],
        "question in words": document["query"]["words"],
        "query": document["query"]["tree"],
        "list of mechanisms": document["mechanisms"],
        "guarantee": document["guarantee"]["document"],
        "cost": document["charges"],
    }[name]


# -- the released table, read back -----------------------------------------------------------------
# From Arrow, Parquet or CSV, to compare it with a certificate. A CSV file has no types, so its
# cells are read as the types that the certificate states. Numbers survive as long as they were
# written in full, as `Result.to_csv`, pandas and Polars do.


def released_table(
    result: str | os.PathLike[str] | pa.Table | Any, told: Mapping[str, Any]
) -> pa.Table | None:
    """The table in the types it was released in, if it holds exactly what a certificate says.

    ``result`` is a path (Parquet, or CSV), an Arrow table, or an object with a method ``to_arrow``.
    """
    table = _read(result)
    if table is None:
        return None
    found = _fitting(table, told)
    if found is None and isinstance(result, str | os.PathLike):
        found = _fitting(_unmarked(table), told)  # written by `Result.to_csv`, with its marks
    return found


def _fitting(table: pa.Table, told: Mapping[str, Any]) -> pa.Table | None:
    import pyarrow as pa

    wanted = [{"name": column["name"], "type": column["type"]} for column in told["columns"]]
    if table.column_names != [column["name"] for column in wanted]:
        return None
    try:
        table = pa.table(
            [_typed(table[column["name"]], column["type"]) for column in wanted],
            names=table.column_names,
        )
    except (pa.ArrowException, ValueError):
        return None
    same = columns_of(table) == wanted and table_digest(table) == told["sha256"]
    return table if same and table.num_rows == told["rows"] else None


def is_distinct(keys: pa.Table) -> bool:
    """Does every row occur only once?"""
    return bool(keys.group_by(keys.column_names).aggregate([]).num_rows == keys.num_rows)


def _read(result: Any) -> pa.Table | None:
    import pyarrow as pa

    if hasattr(result, "to_arrow"):
        result = result.to_arrow()
    if isinstance(result, pa.Table):
        return result
    if not isinstance(result, str | os.PathLike):
        raise InvalidArgument.of_data(
            "result", "a path (CSV or Parquet), an Arrow table or a result", result
        )
    path = Path(result)
    if not path.is_file():
        raise InvalidArgument("result", "the path of a file", "one where no file is")
    try:
        return _parquet(path) if path.suffix.lower() == ".parquet" else _csv(path)
    except (pa.ArrowException, OSError, UnicodeError):
        return None  # no such table in it


def _parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(path)


def _csv(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with open(path, encoding="utf-8-sig", newline="") as file:
        names = next(csv.reader(file), [])
    texts = {name: pa.string() for name in names}
    return arrow_csv.read_csv(
        path,
        convert_options=arrow_csv.ConvertOptions(column_types=texts, strings_can_be_null=False),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
    )


def _unmarked(table: pa.Table) -> pa.Table:
    """Names and texts as they were before `Result.to_csv` made them harmless."""
    import pyarrow as pa

    columns = [
        pa.array([None if cell is None else as_written(cell) for cell in column.to_pylist()])
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=list(map(as_written, table.column_names)))


def _typed(column: Any, kind: str) -> Any:
    """A column of text, converted to the type it was released in; any other column unchanged."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    if kind == "text":
        return column
    cells = pc.if_else(pc.equal(column, ""), None, column)
    if kind == "boolean":
        return pc.utf8_lower(cells).cast(pa.bool_())
    if kind == "integer":
        return _whole(cells)
    types = {"real": pa.float64(), "date": pa.date32()}
    return cells.cast(types[kind]) if kind in types else column


def _whole(cells: Any) -> Any:
    import pyarrow as pa

    try:
        return cells.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return cells.cast(pa.decimal128(38, 0))


# -- verify ----------------------------------------------------------------------------------------


class _Findings:
    def __init__(self) -> None:
        self.proved: list[str] = []
        self.trusted: list[str] = []
        self.failed: list[str] = []

    def check(self, held: bool, *, proved: str, failed: str) -> None:
        (self.proved if held else self.failed).append(proved if held else failed)

    @property
    def verdict(self) -> Verdict:
        return Verdict(tuple(self.proved), tuple(self.trusted), tuple(self.failed))


def verify(
    certificate: Certificate | str | os.PathLike[str],
    *,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    public_key: str | os.PathLike[str] | None = None,
    result: Any = None,
) -> Verdict:
    """Check a certificate, or the file it is in, as far as it can be.

    Its guarantee is recomputed from sensitivities and noise, by code other than that which issued
    it. ``public_key`` (a file, or 64 hexadecimal digits) says whose signature it must have,
    ``ledger`` where its charge must be recorded, and ``result`` (CSV, Parquet, Arrow, or a result)
    which values it must be about.
    """
    if not isinstance(certificate, Certificate):
        certificate = Certificate.load(certificate)
    document = certificate.document
    findings = _Findings()
    wrong = misfits(document)
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        findings.failed.append(f"its form is not that of version 1: {wrong[0]}{more}")
        return findings.verdict
    _seal(findings, document, public_key)
    if findings.failed:
        findings.failed.append("so nothing else in it was looked at")
        return findings.verdict
    for told in recompute(document):
        getattr(findings, told.heading).append(told.sentence)
    _protection(findings, document)
    _values(findings, document, result)
    for told in look_up(document, ledger, public_key):
        getattr(findings, told.heading).append(told.sentence)
    findings.trusted += _always(document)
    return findings.verdict


def _seal(
    findings: _Findings, document: dict[str, Any], public_key: str | os.PathLike[str] | None
) -> None:
    findings.check(
        document["digest"] == canonical.digest(content(document)),
        proved="its digest is that of its content",
        failed="its digest is not that of its content: it was changed",
    )
    wanted = None if public_key is None else signing.read_public(public_key)
    signature = document["signature"]
    if signature is None:
        if wanted is None:
            findings.trusted.append(
                "who wrote it: it is not signed, and whoever can change it can compute its digest"
            )
        else:
            findings.failed.append("it is not signed, and a signature was asked for")
        return
    key = signature["public_key"]
    findings.check(
        signing.is_signed(key, message(document), signature["signature"]),
        proved=f"it was signed with the key {key[:16]}… and not changed since",
        failed="its signature does not belong to its content: one of them was changed",
    )
    if wanted is None:
        findings.trusted.append(
            Phrase("that the key {}… belongs to whom you think: {}", key[:16], _TO_BE_SURE)
        )
    else:
        findings.check(
            key == wanted,
            proved="that is the key you gave",
            failed="it was signed with a key other than the one you gave",
        )


def _protection(findings: _Findings, document: dict[str, Any]) -> None:
    """Check that who is protected, which is stated three times, is the same each time."""
    told, tree = document["protects"], document["query"]["tree"]
    words = protects(Relation.parse(told["relation"]), told["unit"])
    same = (told["unit"], told["relation"], told["words"]) == (
        tree["unit"],
        tree["relation"],
        words,
    )
    findings.check(
        same,
        proved=f"it protects {words}",
        failed="who is protected is stated differently in different places",
    )
    findings.trusted.append(
        "that the query, parts and errors in words are those of the tree and the numbers: where "
        "they differ, the latter count"
    )


def _values(findings: _Findings, document: dict[str, Any], result: Any) -> None:
    if result is None:
        findings.trusted.append(
            Phrase("which values were released: give {result=} to compare them with the digest")
        )
        return
    released, tree = document["released"], document["query"]["tree"]
    table = released_table(result, released)
    findings.check(
        table is not None,
        proved="the table you gave is the one that this certificate describes, cell by cell",
        failed="the table you gave is not the one that this certificate describes",
    )
    keys = tree["keys"] if tree["kind"] == "query" else None
    if table is not None and keys is not None and not keys["discovered"]:
        told = table.select([column["name"] for column in keys["columns"]])
        findings.check(
            table_digest(told) == keys["sha256"] and is_distinct(told),
            proved="its rows are those of the query's keys, each once",
            failed="its rows are not those of the query's keys, each once",
        )


def _always(document: dict[str, Any]) -> tuple[str, ...]:
    joins = [step for step in document["query"]["tree"]["steps"] if step["step"] == "join"]
    return (
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
