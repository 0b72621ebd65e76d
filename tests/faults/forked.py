"""A program that forks with a ledger open, as servers do. Run alone, with a path."""

import os
import sys
import threading

import discreet as dp
from tests.faults import clinic
from tests.faults.journal import read_journal


def child_outlives_parent(path: str) -> None:
    """Both go on with the session they share; the parent closes first. Nothing is lost."""
    table = clinic.counted()
    ledger = dp.Ledger(path, create=True)
    ledger.add_dataset("clinic", budget=dp.Pure(100))
    session = dp.Session(table, ledger=ledger)

    def release(tag: int) -> None:
        session.release(clinic.question(table), epsilon=clinic.price(tag))

    release(1)
    to_child, to_parent = os.pipe(), os.pipe()
    if not os.fork():
        code = 1
        try:
            release(2)
            os.write(to_parent[1], b".")
            os.read(to_child[0], 1)  # the parent has closed
            release(4)
            code = 0
        finally:
            os._exit(code)
    os.read(to_parent[0], 1)
    release(3)
    ledger.close()
    os.write(to_child[1], b".")
    assert os.wait()[1] == 0
    release(5)
    assert [clinic.tag_of(record) for record in read_journal(path).charges] == [1, 2, 3, 4, 5]
    ledger.close()


def forks_among_threads(path: str) -> None:
    """Threads charge while another one forks: no child hangs, and every charge counts once.

    They charge by hand: before Python 3.12, `functools.cached_property` has a lock, and a child
    that is forked while a thread plans a query may wait for it for ever.
    """
    cost = dp.Pure(1)
    ledger = dp.Ledger(path, create=True)
    ledger.add_dataset("clinic", budget=dp.Pure(10**6))
    stop = threading.Event()
    made = [0, 0]

    def charge() -> None:
        ledger.charge(cost, dataset="clinic", question="by hand")

    def work(number: int) -> None:
        while not stop.is_set():
            charge()
            made[number] += 1

    charge()
    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    children = 12
    for _ in range(children):
        if not os.fork():
            code = 1
            try:
                charge()
                code = 0
            finally:
                os._exit(code)
        assert os.wait()[1] == 0
    stop.set()
    for thread in threads:
        thread.join()
    journal = read_journal(path)
    assert journal.flaws() == []
    assert len(journal.charges) == 1 + sum(made) + children
    ledger.close()


if __name__ == "__main__":
    warm = clinic.counted()
    dp.Session(warm, budget=dp.Pure(1)).release(clinic.question(warm), epsilon=1)
    child_outlives_parent(sys.argv[1] + "-1")
    forks_among_threads(sys.argv[1] + "-2")
