"""Processes that want the last of a budget at the same moment.

Run as a module, in a process of its own that may fork: ``python -m tests.faults.racing LOCATION``,
a folder or the address of a database. It prints what came of it, and ends with an error if a rule
was broken.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import discreet as dp
from tests.faults import clinic
from tests.faults.journal import Journal, read_journal, read_postgres
from tests.faults.server import empty

PRICE = Fraction(1, 4)
FIT = 40  # that many fit, and an eighth is left
CAP = dp.Pure(PRICE * FIT + Fraction(1, 8))


def at_once(count: int, prepare: Callable[[int], Callable[[], Any]]) -> list[Any]:
    """What each of so many processes returns; all are prepared before the first one starts."""
    ready, go = os.pipe(), os.pipe()
    pipes = []
    for number in range(count):
        reading, writing = os.pipe()
        if not os.fork():
            code = 1
            try:
                work = prepare(number)
                os.write(ready[1], b".")
                os.read(go[0], 1)
                os.write(writing, json.dumps(work()).encode())
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        pipes.append(reading)
    for _ in range(count):
        os.read(ready[0], 1)
    os.write(go[1], b"." * count)
    found = []
    for pipe in pipes:
        with open(pipe, "rb") as file:
            found.append(json.loads(file.read() or b"null"))
    for _ in range(count):
        assert os.wait()[1] == 0, "a process failed"
    return found


def spend(location: str, *, analyst: str | None = None) -> Callable[[], dict[str, int]]:
    """Release until nothing more fits."""
    table = clinic.counted()
    session = dp.Session(table, ledger=location, dataset="clinic", analyst=analyst)

    def work() -> dict[str, int]:
        answers = 0
        while True:
            try:
                session.release(clinic.question(table), epsilon=PRICE)
            except dp.BudgetExceeded:
                return {"answers": answers}
            answers += 1

    return work


def journal_of(location: str) -> Journal:
    return read_postgres(location) if "://" in location else read_journal(location)


def last_of_the_budget(location: str) -> str:
    """16 processes spend one cap: together they get all of it, and not one release more."""
    with dp.Ledger(location, create=True) as ledger:
        ledger.add_dataset("clinic", budget=CAP)
    answers = [one["answers"] for one in at_once(16, lambda _: spend(location))]
    journal = journal_of(location)
    assert journal.flaws() == []
    assert sum(answers) == len(journal.charges) == len(journal.replies) == FIT, answers
    assert journal.spent_by("clinic") == PRICE * FIT
    return f"16 processes: {' + '.join(map(str, answers))} = {sum(answers)} releases of {FIT}"


def analysts_at_once(location: str) -> str:
    """8 analysts, whose caps add up to more than the dataset's: each keeps to their own, and all
    to the dataset's."""
    own = 7
    names = [f"analyst {number}" for number in range(8)]
    with dp.Ledger(location, create=True) as ledger:
        ledger.add_dataset("clinic", budget=CAP)
        for name in names:
            ledger.add_analyst(name, dataset="clinic", budget=dp.Pure(PRICE * own))
    got = at_once(8, lambda number: spend(location, analyst=names[number]))
    answers = [one["answers"] for one in got]
    journal = journal_of(location)
    assert journal.flaws() == []
    assert sum(answers) == len(journal.charges) == FIT and max(answers) <= own, answers
    for name, count in zip(names, answers, strict=True):
        assert journal.spent_by(name) == PRICE * count
    assert journal.spent_by("clinic") == PRICE * FIT
    return f"8 analysts: {' + '.join(map(str, answers))} = {sum(answers)} releases of {FIT}"


def one_key(location: str) -> str:
    """8 processes use the same idempotency keys: each is charged once, and says one thing."""
    with dp.Ledger(location, create=True) as ledger:
        ledger.add_dataset("clinic", budget=CAP)
    keys = [f"key {number}" for number in range(5)]

    def prepare(_: int) -> Callable[[], Any]:
        table = clinic.counted()
        session = dp.Session(table, ledger=location, dataset="clinic")

        def ask(key: str) -> list[int] | None:
            query = clinic.question(table)
            try:
                return clinic.values(session.release(query, epsilon=PRICE, idempotency_key=key))
            except dp.BudgetExceeded:
                raise
            except dp.Refused:  # another process is at it
                return None

        return lambda: [ask(key) for key in keys]

    told = at_once(8, prepare)
    journal = journal_of(location)
    assert journal.flaws() == [] and journal.stranded == []
    assert len(journal.charges) == len(keys)
    for place in range(len(keys)):
        answers = [one[place] for one in told if one[place] is not None]
        assert answers and all(answer == answers[0] for answer in answers)
    waits = sum(answer is None for one in told for answer in one)
    return f"8 processes, 5 keys: {len(journal.charges)} charges, {waits} told to wait"


def made_at_once(location: str) -> str:
    """8 processes make the same ledger: there is one in the end, and all of them can use it."""

    def prepare(number: int) -> Callable[[], Any]:
        table = clinic.counted()

        def work() -> bool:
            session = dp.Session(table, budget=CAP, ledger=location, dataset="clinic", create=True)
            session.release(clinic.question(table), epsilon=clinic.price(number) / 8)
            return True

        return work

    assert at_once(8, prepare) == [True] * 8
    journal = journal_of(location)
    kinds = Counter(record["kind"] for record in journal.records)
    assert journal.flaws() == []
    assert kinds == {"ledger": 1, "dataset": 1, "charge": 8, "reply": 8}, kinds
    return "8 processes made one ledger"


RACES = (last_of_the_budget, analysts_at_once, one_key, made_at_once)


def main(place: str) -> None:
    """All races, each on a ledger of its own."""
    # What is computed once a process is computed before the forks.
    warm = clinic.counted()
    dp.Session(warm, budget=dp.Pure(1)).release(clinic.question(warm), epsilon=1)
    for race in RACES:
        if "://" in place:
            empty(place)
        print(race(place if "://" in place else f"{place}/{race.__name__}.ledger"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
