"""The power fails: of what was not synced, any part may be lost. What was answered was synced."""

import random

import pytest

import discreet as dp
from discreet.ledger.stores import sqlite
from tests.faults import clinic, power
from tests.faults.disk import Disk
from tests.faults.journal import read_journal

NAME = "people.ledger"
BUDGET = dp.Pure(100)


def recorded(folder):
    """What a life of a ledger does to the disk; and how far it was when each answer came."""
    table, answered = clinic.counted(), {}
    image = power.Image.of(folder)
    with Disk(folder) as disk:
        for first in (1, 4):  # it is made, closed, and opened again
            with dp.Ledger(folder / NAME, create=True) as ledger:
                ledger.add_dataset("clinic", budget=BUDGET)
                session = dp.Session(table, ledger=ledger)
                for tag in range(first, first + 3):
                    session.release(clinic.question(table), epsilon=clinic.price(tag))
                    answered[tag] = len(disk.operations)
    return image, disk.operations, answered


def after_cuts(image, operations, folder, coins, *, lying=None):
    """For a cut after each operation, save that of two writes in a row one is enough: how many
    were done, and what the disk holds."""
    for done, operation in enumerate(operations):
        image.do(operation, lying=lying)
        if operation.what == "write" and done % 2:
            continue
        for path in folder.iterdir():
            path.unlink()
        power.put(image.after_a_cut(coins), folder)
        yield done + 1


def survives(folder, wanted):
    """The ledger opens, and what was answered by then is charged, with its reply."""
    with dp.Ledger(folder / NAME, create=True) as ledger:
        ledger.add_dataset("clinic", budget=BUDGET)
        journal = read_journal(folder / NAME)
        kept = {clinic.tag_of(r) for r in journal.charges if r["number"] not in journal.stranded}
        assert journal.flaws() == []
        assert ledger.datasets[0].filter.spent == dp.Pure(journal.spent_by("clinic"))
        assert len(journal.stranded) <= 1
        assert wanted <= kept


@pytest.fixture
def folders(scratch):
    for name in ("run", "after"):
        (scratch / name).mkdir()
    return scratch / "run", scratch / "after"


@pytest.mark.parametrize("pages", [1000, 3])
def test_what_was_answered_survives_a_cut(pages, folders, record_property, monkeypatch):
    """Catches a commit or a head that is believed before it is on disk, and a ledger that an
    honest cut makes unreadable. SQLite moves its log into the main file at the end, or, where
    that happens after 3 pages, all the time."""
    run, after = folders
    pragmas = (*sqlite._PRAGMAS, f"wal_autocheckpoint={pages}")
    monkeypatch.setattr(sqlite, "_PRAGMAS", pragmas)
    image, operations, answered = recorded(run)
    count = 0
    for done in after_cuts(image, operations, after, random.Random(1)):
        count += 1
        survives(after, {tag for tag, at in answered.items() if at <= done})
    moved = [o for o in operations[: answered[3]] if o.path.endswith(NAME) and o.what == "write"]
    assert (len(moved) > 1) == (pages < 1000)  # the first one marks the file as one with a log
    record_property("measured", f"{count} cuts of the power, none lost an answer")


def test_a_disk_that_lies_is_caught(folders):
    """Catches a test that cannot fail: without the syncs of the journal, answers are lost (and
    the ledger says so)."""
    run, after = folders
    image, operations, answered = recorded(run)
    coins = random.Random(1)
    lost = 0
    for number, done in enumerate(after_cuts(image, operations, after, coins, lying="-wal")):
        if number % 4:
            continue
        try:
            survives(after, {tag for tag, at in answered.items() if at <= done})
        except (dp.LedgerDamaged, AssertionError):
            lost += 1
    assert lost > 5
