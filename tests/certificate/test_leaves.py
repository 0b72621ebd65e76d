"""Every single value of a certificate: a change of it is found, or is said to be on trust.

The liar computes the digest again, so only what is derived anew, and what is told twice, can tell.
"""

import copy
import re
from fractions import Fraction

import pytest

import discreet.query.aggregates as ask
from discreet.certificate import verify
from discreet.certificate.issue import sealed
from discreet.guarantees import Pure

from .releases import BOUNDS, QUESTIONS, certificate
from .test_verification import changed, leaves

WORDS = "in words are those of the tree and the numbers"
ASKED = "could be others under the same promise"
CHARGED = "that record 1 of ledger"
VALUES = "which values were released"
KEYS = "only their number and digest are given"
FOUND = "how many keys were found"
SOFTWARE = "that the software, version"
# Said to be proved, and still true of a larger number.
ENOUGH = "is no less than the mechanisms take"

#: What may change without a failure, and the sentence that says so. `*` stands for a place in a
#: list, `**` for anything below.
TRUSTED = {
    "dataset": ASKED,
    "time": ASKED,
    "asked": ASKED,
    "query.words": WORDS,
    "query.tree.steps.*.condition.**": ASKED,
    "query.tree.steps.*.columns.**": ASKED,
    "query.tree.steps.*.table.**": ASKED,
    "query.tree.steps.*.on.**": ASKED,
    "query.tree.steps.*.added.**": ASKED,
    "query.tree.bound.max_groups": ASKED,  # where there are fewer keys
    "query.tree.group.*.value.nullable": ASKED,
    "query.tree.group.*.value.args.**": ASKED,
    "query.tree.aggregates.*.weight": ASKED,
    "query.tree.aggregates.*.candidates.*": ASKED,
    "query.tree.aggregates.*.bounds.*": ASKED,  # by less than a step
    "query.tree.aggregates.*.column.**": ASKED,  # of a count that is that of all rows
    "query.tree.keys.sha256": KEYS,
    "mechanisms.*.for": WORDS,
    "charges.*.account": CHARGED,
    "charges.*.amount": ENOUGH,
    "charges.*.slack": ENOUGH,
    "released.rows": FOUND,
    "released.sha256": VALUES,
    "released.columns.*.error": WORDS,
    "ledger.id": CHARGED,
    "ledger.record": "that record 2 of ledger",
    "ledger.hash": CHARGED,
    "software.discreet": SOFTWARE,
    "mechanisms.*.sensitivity.l0": "how many numbers one person touches (l0)",
}

MANY = tuple(f"w{i:03}" for i in range(150))
CASES = {
    "sums": {"asked": QUESTIONS["mean"], "accounts": [Pure]},
    "squares": {
        "asked": QUESTIONS["std"],
        "relation": "replace",
        "accounts": [Pure],
    },
    "choices": {
        "asked": {
            **QUESTIONS["top_k"],
            "q": ask.quantile("income", [0.1, 0.9], **BOUNDS),
            "m": ask.median("days", bounds=(0, 60), step=2),
        },
        "unit": None,
        "accounts": [Pure],
    },
    "bins": {
        "asked": {**QUESTIONS["histogram"], "c": ask.histogram("sex", categories=["f", "m"])},
        "spend": "zcdp",
    },
    "counts": {
        "asked": {**QUESTIONS["count of a column"], "d": ask.count("days"), "u": ask.count_units()}
    },
    "many keys": {"asked": QUESTIONS["count"], "keys": MANY},
    "discovered": {"asked": QUESTIONS["count"], "keys": "discover", "spend": "approximate"},
    "coins": {"asked": QUESTIONS["count"], "keys": "discover", "spend": "gdp", "unit": None},
}


def document_of(case):
    """A certificate; without (ε, δ) where it takes long to compose, as other cases have them."""
    document = certificate(ledger="c0" * 16, **CASES[case]).document
    if case in ("discovered", "coins"):
        document["guarantee"].update(points=[], words="no ε at a δ worth telling")
    return document


def paths_of(case, document):
    """All places of the first case, and of the others those that differ in more than values.

    Of the coins of discovered keys, the first stands for all.
    """
    for path in leaves(document):
        match case:
            case "sums":
                told = path[0] not in ("digest", "signature")
            case "coins":
                told = path[:2] == ("mechanisms", 1)
            case _:
                told = {"mechanisms", "released", "guarantee", "keys", "aggregates"} & set(path)
        if told and not ("coins" in path and path[-2] > 0):
            yield path


def sentence_for(path):
    """The sentence that takes a place on trust, if one does."""
    dotted = ".".join("*" if isinstance(step, int) else step for step in path)
    for pattern, sentence in TRUSTED.items():
        form = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^.]*")
        if re.fullmatch(form, dotted):
            return sentence
    return None


def with_changes(document, path):
    """The document with another value at this place: exact numbers larger and smaller."""
    value = document
    for step in path:
        value = value[step]
    others = [changed(value)]
    if isinstance(value, str) and re.fullmatch(r"[0-9]+(/[0-9]+)?", value) and int(value[0]):
        others = [str(Fraction(value) * 2), str(Fraction(value) / 2)]
        others += [changed(value)] if len(value) < 4 else []
    for other in others:
        forged = copy.deepcopy(document)
        place = forged
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = other
        yield sealed(forged, None)


@pytest.mark.parametrize("case", CASES)
def test_every_leaf_is_checked_or_said_to_be_on_trust(case):
    """Catches a field that nothing looks at and nobody is told about."""
    document = document_of(case)
    honest = verify(sealed(document, None))
    assert honest.ok, honest
    assert not any("no aggregate needs it" in one for one in honest.trusted)
    open_ended = []
    for path in paths_of(case, document):
        for forged in with_changes(document, path):
            verdict = verify(forged)
            sentence, told = sentence_for(path), (*verdict.trusted, *verdict.proved)
            if verdict.ok and not (sentence and any(sentence in one for one in told)):
                open_ended.append(path)
    assert not open_ended


def test_the_list_of_what_is_on_trust_is_needed():
    """Catches a line of the table above that excuses what is checked by now."""
    excused = set()
    for case in CASES:
        excused |= {sentence_for(path) for path in paths_of(case, document_of(case))}
    assert set(TRUSTED.values()) <= excused
