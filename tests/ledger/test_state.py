"""Records whose hashes are right and whose content is not: a chain is no proof of sense."""

import pytest

import discreet as dp
from discreet.errors import LedgerDamaged
from discreet.ledger.account import LedgerState
from discreet.ledger.budget import Cap
from discreet.ledger.record import Record

CAP = Cap.read(dp.Pure(1), None).to_document()
LEDGER = {"kind": "ledger", "id": "0" * 32, "public_key": None}
GROUP = {"kind": "group", "name": "g", "cap": CAP, "relation": "add-remove"}
DATASET = {**GROUP, "kind": "dataset", "name": "d", "unit": None, "groups": [2]}
ANALYST = {**GROUP, "kind": "analyst", "name": "a", "dataset": 3}
CHARGE = {
    "kind": "charge",
    "dataset": 3,
    "analyst": 4,
    "charges": [[3, "1/4", "0"], [2, "1/4", "0"], [4, "1/4", "0"]],
    "digest": "0" * 64,
    "relation": "add-remove",
}
REPLY = {"kind": "reply", "charge": 5, "digest": "0" * 64}
MIGRATION = {"kind": "migration", "from": 2, "to": 3}
WHOLE = [LEDGER, GROUP, DATASET, ANALYST, CHARGE, REPLY, MIGRATION]


def read(records):
    state = LedgerState()
    for fields in records:
        state.apply(Record.write(state.number + 1, state.hash, fields))
    state.settle()
    return state


def test_a_journal_that_makes_sense():
    state = read(WHOLE)
    assert [account.filter.total * 4 for account in state.accounts.values()] == [1, 1, 1]
    assert (state.charges, state.replies, state.analysts(3)) == (1, 1, ["a"])


@pytest.mark.parametrize(
    ("at", "change", "says"),
    [
        (1, {"kind": "dataset"}, "does not open it at its start"),
        (3, {"kind": "ledger"}, "opens a ledger in the middle"),
        (3, {"kind": "bribe"}, "unknown kind"),
        (3, {"kind": "group", "name": "g"}, "a second time"),
        (3, {"groups": [1]}, "cannot be read"),
        (4, {"groups": [3]}, "in a group that was not opened"),
        (4, {"dataset": 2}, "about a dataset that was not opened"),
        (4, {"cap": {}}, "cannot be read"),
        (5, {"relation": "replace"}, "another neighbour relation"),
        (5, {"dataset": 2}, "not charged to the accounts"),
        (5, {"charges": CHARGE["charges"][:2]}, "not charged to the accounts"),
        (5, {"charges": [[3, "-1/4", "0"], [2, "1/4", "0"], [4, "1/4", "0"]]}, "cannot be read"),
        (5, {"charges": [[3, "0", "0"], [2, "1/4", "0"], [4, "1/4", "0"]]}, "cannot be read"),
        (5, {"charges": [[3, "x", "0"], [2, "1/4", "0"], [4, "1/4", "0"]]}, "cannot be read"),
        (5, {"charges": [[3, "2", "0"], [2, "1/4", "0"], [4, "1/4", "0"]]}, "more than its cap"),
        (6, {"charge": 6}, "answers a charge that was not made"),
        (7, {"from": 3}, "to a version that is not later"),
        (6, {"digest": "0"}, "answers a charge that was not made"),
    ],
)
def test_nonsense_is_damage_and_says_where(at, change, says):
    records = [{**fields, **change} if i == at else fields for i, fields in enumerate(WHOLE, 1)]
    with pytest.raises(LedgerDamaged, match=says) as caught:
        read(records)
    assert f"record {at} " in str(caught.value) or "dataset" in str(caught.value)
    assert caught.value.__cause__ is None


def test_rows_that_do_not_follow():
    """Catches gaps, doubles, moved and edited rows, one by one."""
    rows, state = [], LedgerState()
    for fields in WHOLE:
        rows.append(Record.write(state.number + 1, state.hash, fields))
        state.apply(rows[-1])
    _, token, body, detail, digest = rows[2]
    for row, says in (
        (rows[3], "is missing, and record 4 follows"),
        (rows[1], "is missing, and record 2 follows"),
        ((3, token, body.replace('"d"', '"e"'), detail, digest), "was edited"),
        ((3, token, body, '{"more":1}', digest), "was edited"),
        ((3, "t", body, detail, digest), "another idempotency key"),
        ((3, token, None, None, None), "edited"),
        (Record.write(3, "f" * 64, DATASET), "does not follow the record before it"),
        ((3, *rows[5][1:]), "does not follow"),
    ):
        fresh = LedgerState()
        for good in rows[:2]:
            fresh.apply(good)
        with pytest.raises(LedgerDamaged, match=says):
            fresh.apply(row)
        assert fresh.number == 2
