"""A budget in memory: one charge at a time, and one charge a key."""

import threading
import time

import pytest

from discreet.errors import BudgetExceeded, Refused
from discreet.guarantees import Pure
from discreet.guarantees.filters import Filter
from discreet.ledger.budget import MemoryBudget
from discreet.ledger.history import Claim


def claim(epsilon, key=None):
    return Claim("how many", Pure(epsilon), "0" * 64, key=key)


def test_a_key_is_charged_once():
    """Two releases at once under one key: both have looked it up before either was charged.
    Catches a second charge, and with it a second answer with other noise."""
    purse = MemoryBudget("visits", Filter(limit=Pure(1)))
    purse.charge(claim("0.1", key="k"))
    with pytest.raises(Refused, match="in use by another release"):
        purse.charge(claim("0.1", key="k"))
    assert purse.caps[0].filter.spent == Pure("0.1") and purse.releases == 1
    purse.charge(claim("0.1", key="another"))
    purse.charge(claim("0.1"))
    purse.charge(claim("0.1"))
    assert purse.releases == 4


def test_threads_take_turns(monkeypatch):
    """Eight threads want half of a budget each, and all of them are made to wait between looking
    and charging. Catches a lock that is gone, which a race seldom shows."""
    real = Filter.price

    def slow(self, *given, **named):
        time.sleep(0.02)
        return real(self, *given, **named)

    monkeypatch.setattr(Filter, "price", slow)
    purse, done = MemoryBudget("visits", Filter(limit=Pure(1))), []

    def spend():
        try:
            purse.charge(claim("0.5"))
            done.append(1)
        except BudgetExceeded:
            pass

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 2 == purse.releases
