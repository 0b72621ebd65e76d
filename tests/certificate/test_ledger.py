"""Certificates and the ledger they point at; and what a session hands to `certify`."""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.certificate import Certificate, verify
from discreet.certificate.issue import certify, sealed
from discreet.ledger.history import Claim
from discreet.ledger.ledger import Ledger
from discreet.numeric.table_digest import table_digest
from discreet.signing import create_key, load_private

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
        entry = ledger.history()[2]
        kept = ledger.recall(entry)
        bound = certify(entry=entry, frame=kept.frame, columns=kept.columns, ledger=ledger.id)
    return path, sent, bound, result


def test_a_record_is_found_again(released, tmp_path):
    """Catches a certificate whose record, hash or content is not what the ledger holds."""
    path, sent, bound, result = released
    verdict = verify(sent, ledger=path, result=result)
    assert verdict.ok, verdict
    assert any("holds this charge" in one for one in verdict.proved)
    assert any("cell by cell" in one for one in verdict.proved)
    assert any("keeps these very values" in one for one in verdict.proved)
    assert not any("could be others" in one or "which values" in one for one in verdict.trusted)
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
        {"time": "1999-01-01T00:00:00+00:00"},
        {"query": {**document["query"], "words": "The number of unicorns."}},
        {"released": {**document["released"], "sha256": "0" * 64}},
        _unit_told_thrice(document),
    ):
        forged = sealed({**document, **change}, None)
        assert isinstance(forged, Certificate)
        assert not verify(forged, ledger=path).ok, change


def _unit_told_thrice(document):
    """The same wrong unit everywhere, so that only the ledger can tell."""
    query = {**document["query"], "tree": {**document["query"]["tree"], "unit": "ward"}}
    words = document["protects"]["words"].replace("id", "ward")
    return {"query": query, "protects": {**document["protects"], "unit": "ward", "words": words}}


def test_a_doctored_table_is_not_proved(released):
    """The certificate is edited to fit the table: without the ledger it is said to fit the
    certificate and no more; the ledger knows the values."""
    path, sent, _, result = released
    fake = result.to_arrow()
    fake = fake.set_column(1, "n", pa.array([999_999, 999_999]))
    document = sent.document
    document["released"]["sha256"] = table_digest(fake)
    forged = sealed(document, None)
    alone = verify(forged, result=fake)
    assert alone.ok
    assert not any("released, cell" in one for one in alone.proved)
    assert any("not signed" in one for one in alone.trusted)
    told = verify(forged, ledger=path, result=fake)
    assert "the ledger keeps other values as the answer to it" in told.failed


def test_a_charge_without_an_answer_says_so(released):
    """Cut off before its answer was stored: the charge is proved, the values are not."""
    path, sent, _, result = released
    with Ledger(path) as ledger:
        entry = ledger.entry(sent.document["ledger"]["record"])
        claim = Claim(
            entry.question, entry.guarantee, entry.digest, entry.mechanisms, entry.query, None
        )
        stranded = ledger.purse("people").charge(claim)
        lone = certify(entry=stranded, frame=result.frame, columns=result.columns, ledger=ledger.id)
        verdict = verify(lone, ledger=ledger)
    assert verdict.ok, verdict
    assert any("has none for this charge" in one for one in verdict.trusted)
    assert any("holds this charge" in one for one in verdict.proved)


def test_a_sealed_ledger_is_told_from_one_that_anybody_could_write(tmp_path):
    """Catches a ledger without a seal, or with another, that passes for the office's."""
    keys = [tmp_path / "a.key", tmp_path / "b.key"]
    for key in keys:
        create_key(key)
    people = dp.table(PEOPLE, unit="id")
    path = tmp_path / "sealed.ledger"
    session = dp.Session(people, budget=dp.Pure(5), ledger=path, create=True, key=keys[0])
    sent = session.release(people.bound(max_rows=1).agg(n=dp.count()), epsilon=1).certificate
    sure = verify(sent, ledger=path, public_key=f"{keys[0]}.pub")
    assert sure.ok and "the ledger is sealed with the key you gave" in sure.proved
    unsure = verify(sent, ledger=path)
    assert unsure.ok and any("written anew" in one for one in unsure.trusted)
    resigned = sealed(sent.document, load_private(keys[1]))
    told = verify(resigned, ledger=path, public_key=f"{keys[1]}.pub")
    assert any("not sealed with the key" in one for one in told.trusted)


def test_a_damaged_ledger_proves_nothing(released):
    """Catches a verdict drawn from a journal that cannot be trusted."""
    path, sent, _, _ = released
    content, words = path.read_bytes(), sent.document["query"]["words"].encode()
    assert words in content
    path.write_bytes(content.replace(words, b"x" * len(words)))
    for extra in path.parent.glob("people.ledger-*"):
        extra.unlink()
    verdict = verify(sent, ledger=path)
    assert not verdict.ok


def test_a_missing_ledger_is_the_callers_mistake(released, tmp_path):
    """Not a flaw of the certificate, so it is no verdict."""
    _, sent, _, _ = released
    with pytest.raises(dp.InvalidArgument):
        verify(sent, ledger=tmp_path / "none.ledger")
