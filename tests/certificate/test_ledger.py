"""Certificates and the ledger they point at; and what a session hands to `certify`."""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.certificate import Certificate, certify, verify
from discreet.certificate.issuing import sealed
from discreet.ledger.ledger import Ledger

PEOPLE = pa.table(
    {"id": [1, 1, 2, 3], "ward": ["A", "B", "A", "A"], "days": [3, 5, 8, 1]},
)


@pytest.fixture
def released(tmp_path):
    """A release charged to a ledger, with its certificate."""
    path = tmp_path / "people.ledger"
    people = dp.table(PEOPLE, unit="id")
    session = dp.Session(people, budget=dp.Pure(5), ledger=path, create=True, dataset="people")
    kept = people.bound(max_groups=2, max_rows_per_group=3)
    query = kept.group_by("ward", keys=["A", "B"]).agg(
        n=dp.count(), m=dp.mean("days", bounds=(0, 9))
    )
    for _ in range(2):
        result = session.release(query, epsilon=1)
    session.release_max_groups(people.group_by("ward", keys=["A", "B"]), epsilon=1)
    with Ledger(path) as ledger:
        entry = ledger.history()[1]
        sent = certify(entry=entry, frame=result.frame, columns=result.columns, ledger=ledger.id)
        bound = certify(
            entry=ledger.history()[2],
            frame=pa.table({"bound": [2]}),
            columns=(),
            ledger=ledger.id,
        )
    return path, sent, bound, result


def test_a_record_is_found_again(released, tmp_path):
    """Catches a certificate whose record, hash or content is not what the ledger holds."""
    path, sent, bound, result = released
    verdict = verify(sent, ledger=path, result=result)
    assert verdict.ok, verdict
    assert any("holds this charge" in one for one in verdict.proved)
    assert any("cell by cell" in one for one in verdict.proved)
    with Ledger(path) as ledger:
        assert verify(sent, ledger=ledger).ok
        assert ledger.history()  # a ledger that was lent is not closed
    assert verify(bound, ledger=path).ok, verify(bound, ledger=path)


def test_another_record_is_not_taken_for_it(released, tmp_path):
    """The digest is the liar's own: only the ledger can tell."""
    path, sent, _, _ = released
    document = sent.document
    for change in (
        {"ledger": {**document["ledger"], "record": document["ledger"]["record"] - 1}},
        {"ledger": {**document["ledger"], "hash": "0" * 64}},
        {"ledger": {**document["ledger"], "id": "0" * 32}},
        {"ledger": {**document["ledger"], "record": 999}},
        {"ledger": None},
        {"asked": "0" * 64},
        {"dataset": "others"},
        {"charges": [{**document["charges"][0], "amount": "2"}]},
    ):
        forged = sealed({**document, **change}, None)
        assert isinstance(forged, Certificate)
        assert not verify(forged, ledger=path).ok, change


def test_a_damaged_ledger_proves_nothing(released):
    """Catches a verdict drawn from a journal that cannot be trusted."""
    path, sent, _, _ = released
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 64] = bytes(64)
    path.write_bytes(bytes(content))
    for extra in path.parent.glob("people.ledger-*"):
        extra.unlink()
    verdict = verify(sent, ledger=path)
    assert not verdict.ok


def test_a_missing_ledger_is_the_callers_mistake(released, tmp_path):
    """Not a flaw of the certificate, so it is no verdict."""
    _, sent, _, _ = released
    with pytest.raises(dp.InvalidArgument):
        verify(sent, ledger=tmp_path / "none.ledger")
