"""Random edits of a ledger's files, 10,000 in the long run: each is detected or harmless, and none
makes it seem that less was spent."""

import random
import re
from collections import Counter

import pytest

import discreet as dp
from discreet.signing import create_key
from tests.faults import edits
from tests.faults.edits import BYTE_EDITS, NAME, ROW_EDITS, judge, put, rewrite, specimen

# Where: a record, the file, or the head.
SAYS_WHERE = re.compile(r"record \d+|SQLite (cannot read|finds)|head|tables|lock|disk|version")


@pytest.fixture
def ledger(scratch):
    folder = scratch / "true"
    folder.mkdir()
    return specimen(folder)


@pytest.fixture
def signed_ledger(scratch):
    folder = scratch / "true"
    folder.mkdir()
    create_key(scratch / "key")
    return specimen(folder, scratch / "key")


def test_random_edits(ledger, scratch, record_property):
    """Catches a verifier with a hole, and an error that is not ours."""
    record_property("measured", try_edits(500, 1, ledger, scratch / "edited"))


def test_random_edits_of_a_signed_ledger(signed_ledger, scratch, record_property):
    """The same where the records are signed."""
    record_property("measured", try_edits(500, 2, signed_ledger, scratch / "edited"))


@pytest.mark.long
def test_many_random_edits(ledger, scratch, record_property):
    """The same, for longer: at least 10,000."""
    record_property("measured", try_edits(20_000, 3, ledger, scratch / "edited"))


def try_edits(count, seed, ledger, folder):
    """Edit, open, judge; the tally in words."""
    coins, outcomes = random.Random(seed), Counter()
    folder.mkdir()
    for number in range(count):
        if number % 20:
            edit = coins.choices(BYTE_EDITS, [8, 6, 4, 1, 1, 3, 1, 1])[0]
            files, words = edit(ledger, coins)
            put(files, folder)
        else:
            edit = coins.choice(ROW_EDITS)
            words = edit.__name__
            put(ledger.closed, folder)
            rewrite(folder / NAME, edit(ledger.rows, coins))
        outcome = judge(folder / NAME, ledger)
        assert outcome.detected or outcome.harmless, words
        if outcome.detected:
            assert SAYS_WHERE.search(outcome.detected), (words, outcome.detected)
        if edit in ROW_EDITS:
            assert outcome.detected, words
        outcomes["detected" if outcome.detected else "harmless"] += 1
    detected, harmless = outcomes["detected"], outcomes["harmless"]
    return f"{count:,} edits: {detected:,} detected, {harmless:,} harmless"


class Agreeable(str):
    """A hash that is equal to everything."""

    __eq__ = lambda self, other: True  # noqa: E731
    __ne__ = lambda self, other: False  # noqa: E731
    __hash__ = str.__hash__


@pytest.mark.parametrize(
    ("edit", "target", "weak"),
    [
        (edits.cheaper, "record.hash_of", lambda *_: Agreeable()),
        (edits.shortened, "journal.Journal._check", lambda *_: None),
    ],
)
def test_a_verifier_with_a_hole_is_caught(edit, target, weak, ledger, scratch, monkeypatch):
    """Catches a test that cannot fail: without the hashes, or without the head, the same edit
    lowers what is spent, and it is seen here."""
    folder = scratch / "edited"
    folder.mkdir()
    put(ledger.closed, folder)
    rewrite(folder / NAME, edit(ledger.rows, random.Random(1)))
    assert judge(folder / NAME, ledger).detected
    monkeypatch.setattr(f"discreet.ledger.{target}", weak)
    outcome = judge(folder / NAME, ledger)
    assert not outcome.detected and not outcome.harmless
    with dp.Ledger(folder / NAME) as opened:
        assert opened.datasets[0].filter.total < ledger.spent.epsilon0


@pytest.mark.parametrize("signed", [True, False])
def test_an_editor_with_time(signed, scratch):
    """Catches a signature that is not looked at. Who halves a charge and makes all hashes and the
    head anew is seen at opening with a key only; without one `verify` sees it, unless the
    guarantee beside the charge was rewritten too."""
    path, key = scratch / NAME, None
    if signed:
        key = scratch / "key"
        create_key(key)
    with dp.Ledger(path, create=True, key=key) as ledger:
        ledger.add_dataset("clinic", budget=dp.Pure(10))
        ledger.charge(dp.Pure(2), dataset="clinic", question="by hand")
    rows = edits.cheaper_and_chained(edits.rows_of(path)[0], random.Random(1))
    rewrite(path, rows)
    edits.forge_head(scratch / edits.HEAD, rows)
    if signed:
        with pytest.raises(dp.LedgerDamaged, match="not signed"):
            dp.Ledger(path, key=key)
    else:
        with dp.Ledger(path) as ledger:
            assert ledger.datasets[0].filter.total == 1
            with pytest.raises(dp.LedgerDamaged, match="charged less than its guarantee"):
                ledger.verify()
