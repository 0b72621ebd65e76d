"""A key: nobody without it can rewrite the journal, nor put another in its place."""

import hashlib
import json
import shutil
import sqlite3

import pytest

import discreet as dp
from discreet import signing


def test_it_is_read_by_all_and_charged_with_the_key_only(sealed, key):
    with dp.Ledger(sealed) as ledger:
        assert ledger.verify().signed and len(ledger.history()) == 1
        with pytest.raises(dp.Refused, match="sealed with a key"):
            ledger.charge(dp.Pure("0.1"), dataset="visits", question="q")
    with dp.Ledger(sealed, key=key) as ledger:
        ledger.charge(dp.Pure("0.1"), dataset="visits", question="q")


def test_another_key_or_an_unsealed_ledger_is_refused(sealed, key, tmp_path):
    """Catches a ledger that was put in the place of the sealed one."""
    signing.create_key(tmp_path / "other.key")
    with pytest.raises(dp.Refused, match="with another key"):
        dp.Ledger(sealed, key=tmp_path / "other.key")
    dp.Ledger(tmp_path / "plain.ledger", create=True).close()
    with pytest.raises(dp.Refused, match="without a key"):
        dp.Ledger(tmp_path / "plain.ledger", key=key)


def _rewritten(path):
    """The last charge made smaller by an editor with time: all hashes computed anew."""
    connection = sqlite3.connect(path, isolation_level=None)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        kept = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,))
        ((statement,),) = kept.fetchall()
        connection.execute(f"DROP TRIGGER {name}")
        connection.create_function(f"again_{name}", 0, lambda s=statement: s)
    ((number, body, detail),) = connection.execute(
        "SELECT number, body, detail FROM discreet_journal ORDER BY number DESC LIMIT 1"
    ).fetchall()
    body = body.replace('"2/5"', '"1/5"')
    digest = hashlib.sha256(f"{body}\n{detail}".encode()).hexdigest()
    connection.execute(
        "UPDATE discreet_journal SET body = ?, hash = ? WHERE number = ?", (body, digest, number)
    )
    from sqlalchemy.dialects.sqlite import dialect

    from discreet.ledger.stores.sqlite import SqliteStore
    from discreet.ledger.stores.store import VERSION

    for version in range(1, VERSION + 1):
        for statement in SqliteStore.statements(dialect(), version):
            if "CREATE TRIGGER" in statement:
                connection.execute(statement)
    connection.close()
    return number, digest


def test_an_editor_with_time_is_seen_with_a_key_and_only_then(sealed, tmp_path):
    """The docs say so: an unkeyed chain stops accidents, not this."""
    number, digest = _rewritten(sealed)
    head = tmp_path / "x.ledger.head"
    with pytest.raises(dp.LedgerDamaged, match="not the one that its head was sealed with"):
        dp.Ledger(sealed)
    head.write_bytes(_head(sealed, number, digest))
    with pytest.raises(dp.LedgerDamaged, match="not signed with the ledger's key"):
        dp.Ledger(sealed)


def test_without_a_key_the_verification_says_what_it_cannot_see(tmp_path):
    path = tmp_path / "plain.ledger"
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
        said = str(ledger.verify())
    assert "There is no key" in said and "older copy" in said


def test_the_price_of_every_charge_is_checked(tmp_path):
    """`verify` prices again: an editor who lowers a charge, and seals it, is seen there."""
    path = tmp_path / "x.ledger"
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
    number, digest = _rewritten(path)
    (tmp_path / "x.ledger.head").write_bytes(_head(path, number, digest))
    with dp.Ledger(path) as ledger, pytest.raises(dp.LedgerDamaged, match="charged less"):
        ledger.verify()


def _id(path):
    connection = sqlite3.connect(path)
    ((body,),) = connection.execute("SELECT body FROM discreet_journal WHERE number = 1").fetchall()
    connection.close()
    return {"ledger": json.loads(body)["id"]}


def _head(path, number, digest):
    """A forged one: this record in one slot, the one before in the other."""
    slots = []
    for at in (number - 1, number):
        fields = {"hash": digest, "number": at, "signature": None, **_id(path)}
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        checksum = hashlib.sha256(text.encode()).hexdigest()
        slots.append(f"{text}\n{checksum}\n".encode().ljust(512))
    return b"".join(slots)


def test_an_old_copy_is_seen_by_its_head_and_not_if_both_are_old(sealed, key, tmp_path):
    """Said plainly in the docs: an old ledger with its old head cannot be told from the truth."""
    for name in ("x.ledger", "x.ledger.head"):
        shutil.copy(tmp_path / name, tmp_path / f"old-{name}")
    with dp.Ledger(sealed, key=key) as ledger:
        ledger.charge(dp.Pure("0.1"), dataset="visits", question="q")
    shutil.copy(tmp_path / "old-x.ledger", sealed)
    with pytest.raises(dp.LedgerDamaged, match="last charges are missing"):
        dp.Ledger(sealed)
    shutil.copy(tmp_path / "old-x.ledger.head", tmp_path / "x.ledger.head")
    dp.Ledger(sealed).close()


def test_what_is_appended_without_the_key_is_seen(sealed, key, tmp_path):
    """The journal may be ahead of its head, after a crash; but not with records of a stranger's.
    Catches a forged answer to a stranded charge, which would be returned, and certified."""
    from discreet.ledger.journal import Journal

    before = (tmp_path / "x.ledger.head").read_bytes()
    with dp.Ledger(sealed, key=key) as ledger:  # a crash before the head was written
        entry = ledger.charge(dp.Pure("0.1"), dataset="visits", question="q")
    (tmp_path / "x.ledger.head").write_bytes(before)
    with dp.Ledger(sealed) as ledger:
        assert len(ledger.history()) == 2  # is fine: the record has a seal of its own
        forger: Journal = ledger._journal
        with pytest.MonkeyPatch.context() as unlocked:
            forger.state.public_key = None
            unlocked.setattr(forger.store._head, "write", lambda file, head: None)
            forger.keep(entry.number, b"forged")
    for opened in ({}, {"key": key}):
        with pytest.raises(dp.LedgerDamaged, match="not signed with the ledger's key"):
            dp.Ledger(sealed, **opened)


def test_the_public_key_tells_whose_ledger_it_is(sealed, key, tmp_path):
    public = tmp_path / "office.key.pub"
    with dp.Ledger(sealed, public_key=public) as ledger:
        assert ledger.verify().signed
    dp.Ledger(tmp_path / "plain.ledger", create=True).close()
    with pytest.raises(dp.Refused, match="without a key"):
        dp.Ledger(tmp_path / "plain.ledger", public_key=public)
    with pytest.raises(dp.InvalidArgument):
        dp.Ledger(tmp_path / "new.ledger", create=True, public_key=public)
