"""Interrupted anywhere, a process never forgets a charge that it has read."""

import threading

import pytest

import discreet as dp
from discreet.ledger.account import AccountState, LedgerState


def spend(ledger, epsilon):
    return ledger.charge(dp.Pure(epsilon), dataset="visits", question="q")


@pytest.fixture
def shared(tmp_path):
    """Two processes' views of one ledger, with a cap of 1."""
    path = tmp_path / "x.ledger"
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        with dp.Ledger(path) as other:
            yield ledger, other


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (AccountState, "_added"),
        (AccountState, "note"),
        (AccountState, "settle"),
        (LedgerState, "settle"),
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_while_the_journal_is_read(shared, monkeypatch, owner, name, after):
    """Catches charges that were taken off the list and not yet added: 0.6 + 0.6 of 1."""
    ledger, other = shared
    spend(other, "0.6")
    real, calls = getattr(owner, name), []

    def interrupted(self, *arguments):
        if calls:
            return real(self, *arguments)
        calls.append(1)
        if after:
            real(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        spend(ledger, "0.1")
    with pytest.raises(dp.BudgetExceeded):
        spend(ledger, "0.6")
    spend(ledger, "0.4")
    assert ledger.datasets[0].filter.total == 1


def test_another_thread_that_looks_does_not_take_charges_away(shared, monkeypatch):
    """Catches sums that a reader settles while a charge is being checked."""
    ledger, other = shared
    spend(other, "0.6")
    noted, looked, real = threading.Event(), threading.Event(), AccountState.note

    def slow(self, amount, slack):
        real(self, amount, slack)
        noted.set()
        looked.wait(0.2)

    def look():
        noted.wait()
        for account in tuple(ledger._journal.state.accounts.values()):
            assert account.filter is not None
        looked.set()

    monkeypatch.setattr(AccountState, "note", slow)
    thread = threading.Thread(target=look)
    thread.start()
    with pytest.raises(dp.BudgetExceeded):
        spend(ledger, "0.6")
    thread.join()


def test_too_much_is_refused_every_time_it_is_looked_at(tmp_path, monkeypatch):
    """D5: a journal that adds up to more than its cap must not pass on the second try."""
    path = tmp_path / "x.ledger"
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        with dp.Ledger(path) as careless, monkeypatch.context() as broken:
            broken.setattr("discreet.ledger.journal._fits", lambda account, price: None)
            with pytest.raises(dp.LedgerDamaged):  # there is a second guard, before the commit
                spend(careless, "1.1")
            broken.setattr(LedgerState, "accept", lambda self, number, digest, fields: None)
            spend(careless, "0.9")
            spend(careless, "0.9")
        for _ in range(3):
            with pytest.raises(dp.LedgerDamaged, match="more than its cap"):
                spend(ledger, "0.1")
    with pytest.raises(dp.LedgerDamaged, match="more than its cap"):
        dp.Ledger(path)


def test_half_a_head_is_believed_only_if_a_record_came_after_it(tmp_path):
    """A head is written after its record. Catches the last charge deleted together with its head,
    by damage to one of the two slots."""
    path, head = tmp_path / "x.ledger", tmp_path / "x.ledger.head"
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        spend(ledger, "0.4")
        number = ledger.verify().records
    whole = head.read_bytes()
    slots = [whole[:512], whole[512:]]
    newest = max((0, 1), key=lambda i: f'"number":{number}'.encode() in slots[i])
    old = slots[1 - newest]
    for damage in (b"?" + slots[newest][1:], b"\0" * 512, old, b""):
        for slot in (0, 1):
            changed = [*slots]
            changed[slot] = damage if slot == newest or damage != old else slots[newest]
            head.write_bytes(b"".join(changed))
            if slot == newest:  # as after a crash in the middle of writing it
                with dp.Ledger(path) as ledger:
                    assert ledger.verify().records == number
            elif damage or slot == 1:
                with pytest.raises(dp.LedgerDamaged, match="half of the ledger's head"):
                    dp.Ledger(path)
