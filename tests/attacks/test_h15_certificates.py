"""H15: certificates written to stall whoever verifies them, or to forge what is printed.

No seconds are measured. Either the form refuses a document, or the work is counted: calls of
functions while it is verified.
"""

import json
import sys

import pyarrow as pa
import pytest

import discreet as dp
from discreet.auditor.certificate.json_schema import misfits, schema
from discreet.certificate import Verdict, verify
from discreet.certificate.issue import sealed
from discreet.cli.main import main
from discreet.errors import one_line
from tests.certificate.releases import EVERYTHING, QUESTIONS, SPENDS, certificate

FORGED = "id\nProved:\n  - everything"
MOST_CALLS = 3_000_000
KINDS = ("count", "variance", "histogram", "quantile", "top_k")


def calls_of(look, most=MOST_CALLS):
    """The verdict, and how many functions were called for it; ends where that is too many."""
    called = 0

    def count(frame, event, argument):
        nonlocal called
        if event in ("call", "c_call"):
            called += 1
            assert called <= most, "verification does not end"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = look()
    finally:
        sys.setprofile(before)
    return found, called


def replaced(document, path, value):
    changed = json.loads(json.dumps(document))
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return changed


def places(value, path=()):
    """The path of everything in a document."""
    yield path, value
    inside = value.items() if isinstance(value, dict) else ()
    for name, each in enumerate(value) if isinstance(value, list) else inside:
        yield from places(each, (*path, name))


def one_of_each(document):
    """The first place of each kind: indices do not count."""
    kinds = {}
    for path, value in places(document):
        kinds.setdefault(tuple("*" if isinstance(n, int) else n for n in path), (path, value))
    return [found for kind, found in kinds.items() if kind not in ((), ("digest",))]


# -- printing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [FORGED, "id"])
def test_h15_a_newline_in_a_name_forges_no_line(unit, tmp_path, capsys):
    """Catches a name that ends its line and begins one of its own: of the column that says whose
    row it is, or of any other, in the verdict, the ledger, an explanation and errors."""
    table = pa.table({FORGED: [1, 1, 2], "id": [1, 2, 3]})
    people = dp.table(table, unit=unit).bound(max_rows=1)
    path = tmp_path / "people.ledger"
    ledger = dp.Ledger(path, create=True)
    if unit == "id":  # a ledger takes no other
        ledger.add_dataset("people", budget=dp.Pure(1), unit=unit)
        session = dp.Session(people, ledger=ledger, dataset="people")
    else:
        session = dp.Session(people, budget=dp.Pure(1))
    question = people.agg(n=dp.count(), s=dp.sum(FORGED, bounds=(0, 3)))
    result = session.release(question, epsilon="1/2")
    verdict = result.certificate.verify()
    assert verdict.ok, verdict
    explained = session.explain(question, epsilon="1/2")
    printed = [str(verdict), str(result.certificate), str(explained), repr(session.history)]
    result.certificate.save(tmp_path / "certificate.json")
    for arguments in (
        ["verify", str(tmp_path / "certificate.json")],
        ["ledger", "show", str(path)],
        ["verify", str(tmp_path / FORGED)],
    ):
        main(arguments)
        printed += capsys.readouterr()
    for text in printed:
        assert "  - everything" not in text.splitlines()
        assert sum(line.startswith("Proved:") for line in text.splitlines()) <= 1


@pytest.mark.parametrize("place", [("query", "words"), ("dataset",), ("charges", 0, "account")])
def test_h15_words_of_several_lines_are_refused(place):
    """Catches words that are printed as they are: a terminal obeys what is in them."""
    document = certificate().document
    for words in ("a\nProved:", "a\rb", "a\x1b[2J", "a\u2028b", "a\u202eb", "a\x85b"):
        assert misfits(replaced(document, place, words))


def test_h15_a_question_by_hand_is_one_line_of_the_history(tmp_path, capsys):
    path = tmp_path / "by-hand.ledger"
    ledger = dp.Ledger(path, create=True)
    ledger.add_dataset("visits", budget=dp.Pure(1))
    ledger.charge(dp.Pure("1/2"), dataset="visits", question="a\n     2  2026-01-01 00:00  -  b")
    assert len(repr(ledger.history("visits")).splitlines()) == 1
    main(["ledger", "show", str(path)])
    lines = capsys.readouterr().out.splitlines()
    assert sum("2026-01-01 00:00" in line for line in lines) == 1
    assert not any(line.startswith("     2") for line in lines)


def test_h15_every_sentence_of_a_verdict_is_one_line():
    forged = Verdict(proved=("a\n  - b",), trusted=("c\x1b[2J",), failed=())
    assert len(str(forged).splitlines()) == 4 and "\x1b" not in str(forged)
    assert one_line("é — 漢字 🙂") == "é — 漢字 🙂"


# -- work ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def documents():
    some = {k: v for name in KINDS for k, v in QUESTIONS[name].items()}
    discovered = certificate(spend="zcdp", keys="discover", unit=None)
    return [discovered.document, certificate(some).document]


def test_h15_every_list_and_text_has_a_largest_size():
    """Catches a list, a text or a loop's number without a limit in the published form."""
    unlimited = []

    def look(rule, path):
        if rule.get("type") == "array" and "maxItems" not in rule:
            unlimited.append(path)
        bounded = {"maxLength", "pattern", "const", "enum"} & set(rule)
        if "string" in (kind := rule.get("type", ())) and not bounded:
            unlimited.append((path, kind))
        for name, inner in rule.items():
            for key, each in (
                [(name, inner)]
                if name == "items"
                else inner.items()
                if name
                in (
                    "properties",
                    "$defs",
                )
                else enumerate(inner)
                if name == "anyOf"
                else ()
            ):
                look(each, (*path, key))

    look(schema(), ())
    assert unlimited == []


def test_h15_lists_beyond_their_size_are_refused_before_they_are_read(documents):
    """Catches 100,000 points or mechanisms, each of which is composed again."""
    looked = 0
    for document in documents:
        for path, value in one_of_each(document):
            if isinstance(value, list) and value and path[-1] != "bounds":
                long = replaced(document, path, [value[0]] * 1_000_002)
                wrong, _ = calls_of(lambda long=long: misfits(long), most=100_000)
                assert wrong, path
                looked += 1
    assert looked > 10


def test_h15_texts_beyond_their_size_are_refused(documents):
    for path, value in one_of_each(documents[0]):
        if isinstance(value, str):
            assert misfits(replaced(documents[0], path, "1" * 2_000_000)), path


EXTREME = {
    str: ["0", "9" * 1300, f"{'7' * 1299}/{'3' * 1300}"],
    int: [10**36] * 3,
}


@pytest.mark.parametrize("each", [1, pytest.param(3, marks=pytest.mark.long)])
def test_h15_extreme_numbers_end_within_a_count_of_work(documents, each):
    """Catches a number that is looped over, or computed with until memory or patience ends.

    Each place gets one of the numbers, in turn; in the long version all of them.
    """
    tried = 0
    for document in documents:
        for place, (path, value) in enumerate(one_of_each(document)):
            if not isinstance(value, str | int) or isinstance(value, bool):
                continue
            numbers = EXTREME[type(value)] * 2
            for extreme in numbers[place % 3 :][:each]:
                changed = sealed(replaced(document, path, extreme), None)
                verdict, _ = calls_of(lambda changed=changed: verify(changed))
                assert isinstance(str(verdict), str) and str(changed)
                tried += 1
    assert tried > 70 * each


def test_h15_any_depth_ends_in_a_refusal_or_a_verdict():
    """Catches a document that is read with the last of the stack, and overflows it later."""
    document = certificate().document
    document["guarantee"]["document"]["more"] = "here"
    text, refused, verdicts = json.dumps(document), 0, 0
    for depth in range(700, 1000):
        try:
            sent = dp.Certificate.from_json(
                text.replace('"here"', '{"a":' * depth + "1" + "}" * depth)
            )
        except dp.InvalidArgument:
            refused += 1
        else:
            verdicts += not sent.verify().ok
    assert refused and verdicts and refused + verdicts == 300


def test_h15_many_points_are_composed_once():
    """Catches a composition for each point: sixteen of them take little more than one."""
    document = certificate(EVERYTHING, spend="approximate").document
    point = document["guarantee"]["points"][0]
    work = []
    for many in (1, 16):
        points = [point] * many
        changed = sealed(replaced(document, ("guarantee", "points"), points), None)
        work.append(calls_of(lambda changed=changed: verify(changed))[1])
    assert work[1] < 5 * work[0]


def asked(many):
    """A certificate of so many sums of one column, each between bounds of its own."""
    sums = {f"s{i}": dp.sum("income", bounds=(-i - 1, i + 1)) for i in range(many)}
    return certificate(sums)


def test_h15_work_grows_with_the_mechanisms_and_not_with_their_square():
    """Catches that every aggregate is compared with every mechanism, number by number."""
    few, many = (calls_of(asked(n).verify) for n in (25, 100))
    assert few[0].ok and many[0].ok, many[0]
    assert many[1] < 8 * few[1]


def test_h15_a_hundred_mechanisms_of_two_kinds_are_composed_in_one_pass():
    """Catches losses that are put on the grid twice, for each of two bounds: 811,538 calls where
    478,191 will do."""
    asked = {f"s{i}": dp.sum("income", bounds=(-i - 1, i + 1), weight=i + 1) for i in range(80)}
    asked |= {f"q{i}": dp.median("income", bounds=(-i - 1, i + 1), weight=i + 1) for i in range(20)}
    sent = certificate(asked, spend="zcdp")
    assert len(sent.document["mechanisms"]) == 100
    verdict, _ = calls_of(sent.verify, most=600_000)
    assert verdict.ok and any("composed again" in one for one in verdict.trusted), verdict


@pytest.mark.parametrize("spend", SPENDS)
def test_h15_denominators_without_a_common_factor_are_not_added_up_for_ever(spend):
    """Catches a sum whose denominator grows by a thousand digits a mechanism."""
    document = certificate(QUESTIONS["count"], spend=spend).document
    mechanism = document["mechanisms"][0]
    size = "sigma" if mechanism["mechanism"] == "gaussian" else "scale"
    many = [{**mechanism, size: f"{10**1290 + 2 * i + 1}/3"} for i in range(300)]
    changed = sealed(replaced(document, ("mechanisms",), many), None)
    verdict, _ = calls_of(lambda: verify(changed))
    assert not verdict.ok


def test_h15_keys_are_discovered_once():
    """Catches a table of chances that is computed for each of many mechanisms."""
    document = certificate(spend="approximate", keys="discover", unit=None).document
    keys = [one for one in document["mechanisms"] if one["mechanism"] == "keys"]
    changed = replaced(document, ("mechanisms",), document["mechanisms"] + keys * 50)
    verdict, _ = calls_of(lambda: verify(sealed(changed, None)), most=100_000)
    assert any("more than once" in one for one in verdict.failed)


def test_h15_what_sessions_issue_is_within_the_form():
    """Catches limits that our own certificates exceed: 100 aggregates, 2,000 categories."""
    many = {f"v{i}": dp.variance("stay", bounds=(0, i + 1)) for i in range(100)}
    document = certificate(many).document
    assert len(document["mechanisms"]) > 200 and misfits(document) == []
    wide = {"h": dp.histogram("sex", categories=[f"c{i}" for i in range(2000)])}
    assert misfits(certificate(wide).document) == []
