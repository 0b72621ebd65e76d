"""Files that earlier versions wrote: each later version opens, verifies and recalls them."""

import json
import shutil
import uuid
from pathlib import Path

import psycopg
import pytest

import discreet as dp
from discreet.certificate import verify
from discreet.certificate.certificate import VERSION
from tests.golden.make import PEOPLE, WARDS, accounts_of, in_text

HERE = Path(__file__).parent
SETS = sorted(path.name for path in HERE.iterdir() if path.name.isdigit())
LEDGERS = [(each, path.stem) for each in SETS for path in sorted((HERE / each).glob("*.json"))]
CERTIFICATES = [
    (each, path.stem) for each in SETS for path in sorted((HERE / each / "certificates").glob("*"))
]


class Copy:
    """A copy of one set, since to open a ledger is to write to its files."""

    def __init__(self, number, folder, request):
        self.folder, self._request = folder / number, request
        shutil.copytree(HERE / number, self.folder)
        self.key, self.public_key = (self.folder / f"throwaway.key{end}" for end in ("", ".pub"))
        for path in (*self.folder.glob("*.ledger*"), self.key):
            path.chmod(0o600)  # git does not keep it

    def told(self, name):
        """What the ledger is known to hold."""
        return json.loads((self.folder / f"{name}.json").read_text())

    def location(self, name):
        """Where the ledger is; that of a dump is restored first."""
        dump = self.folder / f"{name}.sql"
        if not dump.exists():
            return str(self.folder / f"{name}.ledger")
        address = self._request.getfixturevalue("postgres_address")
        url = f"postgresql://{address['user']}@/{{}}?host={address['host']}"
        database = f"golden_{uuid.uuid4().hex}"
        with psycopg.connect(url.format("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {database}")
        with psycopg.connect(url.format(database)) as connection:
            connection.execute(dump.read_text())
        return url.format(database)


@pytest.fixture
def copy(request, tmp_path):
    """A copy of the set that the test is about."""
    return Copy(request.node.callspec.params["number"], tmp_path, request)


def keys_of(copy, name):
    return {"key": copy.key} if name == "sealed" else {}


def test_there_are_files_of_each_kind():
    """Catches a pattern above that finds nothing."""
    assert {name for _, name in LEDGERS} == {"plain", "sealed", "postgresql"}
    assert len(CERTIFICATES) >= 30


@pytest.mark.parametrize(("number", "name"), LEDGERS)
def test_a_ledger_opens_and_says_what_it_said(copy, number, name):
    """Catches a form of records, accounts or answers that only its own version reads."""
    told = copy.told(name)
    with dp.Ledger(copy.location(name), **keys_of(copy, name)) as ledger:
        assert ledger.verify().charges == len(told["answers"]) + len(told["unanswered"])
        assert ledger.id == told["id"]
        last, digest = told["head"]
        assert ledger.hash_of(last) == digest
        assert accounts_of(ledger) == told["accounts"]
        assert [entry.number for entry in ledger.unanswered()] == told["unanswered"]
        for record, answer in told["answers"].items():
            assert in_text(ledger.recall(int(record))) == answer["rows"], answer["name"]


@pytest.mark.parametrize(("number", "name"), LEDGERS)
def test_a_ledger_is_gone_on_with(copy, number, name):
    """Catches a version that reads an old ledger and cannot charge to it, that has another
    digest for the same question, or that lets go of a cap."""
    location, keys = copy.location(name), keys_of(copy, name)
    rows = dp.table(PEOPLE)
    query = rows.group_by("ward", keys=WARDS).agg(n=dp.count())
    session = dp.Session(rows, ledger=location, dataset="rows", analyst="ann", **keys)
    again = session.release(query, epsilon=1, idempotency_key="march report")
    answers = {one["name"]: one["rows"] for one in copy.told(name)["answers"].values()}
    assert in_text(again) == answers["rows-count-by-ann"]
    assert session.spent == dp.Pure(1)
    session.release(query, epsilon="1/4")
    with pytest.raises(dp.BudgetExceeded):
        session.release(query, epsilon=2)
    with dp.Ledger(location, **keys) as ledger:
        assert ledger.recall(session.history[-1]).to_arrow().num_rows == len(WARDS)
        ledger.verify()


@pytest.mark.parametrize("number", SETS)
def test_a_sealed_ledger_is_read_with_the_public_key(copy, number):
    """Catches a seal that a later version computes differently."""
    with dp.Ledger(copy.location("sealed"), public_key=copy.public_key) as ledger:
        assert ledger.verify().signed


@pytest.mark.parametrize("number", SETS)
def test_a_certificate_of_a_later_form_is_refused_with_a_sentence(copy, number, tmp_path):
    """Catches a verdict that accuses what it cannot read, and one that passes it."""
    document = json.loads(next((copy.folder / "certificates").iterdir()).read_text())
    path = tmp_path / "later.json"
    path.write_text(json.dumps({**document, "version": VERSION + 1, "news": "of tomorrow"}))
    verdict = verify(path)
    assert not verdict.ok and verdict.proved == ()
    [only] = verdict.failed
    assert "a later version of discreet wrote it: update discreet" in only
    assert "update discreet" in str(dp.Certificate.load(path))


@pytest.mark.parametrize(("number", "name"), CERTIFICATES)
def test_a_certificate_verifies(copy, number, name):
    """Catches a verifier that no longer reads, or no longer believes, what was issued before:
    the file alone, with the key where it is signed, and with its ledger and values."""
    path = copy.folder / "certificates" / f"{name}.json"
    given = {}
    if json.loads(path.read_text())["signature"] is not None:
        given["public_key"] = copy.public_key
    alone = verify(path, **given)
    assert alone.ok, alone
    ledger, _, question = name.partition("-")
    if ledger == "no":
        return
    answers = {each["name"]: int(at) for at, each in copy.told(ledger)["answers"].items()}
    with dp.Ledger(copy.location(ledger)) as opened:
        verdict = verify(path, ledger=opened, result=opened.recall(answers[question]), **given)
    assert verdict.ok, verdict
    for words in ("holds this charge", "keeps these very values", "cell by cell"):
        assert any(words in one for one in verdict.proved), verdict
