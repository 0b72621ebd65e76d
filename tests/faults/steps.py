"""The steps of a release, in order, each with a place in the code where a process can die.

validate → price → charge durably → touch data → noise → store the reply → answer
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

# Where: a module, and a function or a class with its method; and whether death comes before the
# call, in the middle of its write, or after it.
STEPS: dict[str, tuple[str, str, str]] = {
    "before it is validated": ("discreet.session", "Session._plan", "before"),
    "validated, before it is priced": ("discreet.ledger.journal", "Journal.charge", "before"),
    "priced, before the transaction": (
        "discreet.ledger.stores.sqlite",
        "SqliteStore.writing",
        "before",
    ),
    "in the transaction, before the record": (
        "discreet.ledger.stores.store",
        "Transaction.append",
        "before",
    ),
    "recorded, before the commit": ("discreet.ledger.stores.store", "Transaction.append", "after"),
    "committed, before the head": ("discreet.ledger.head", "HeadFile.write", "before"),
    "in the middle of the head": ("discreet.ledger.head", "HeadFile.write", "torn"),
    "after the head": ("discreet.ledger.head", "HeadFile.write", "after"),
    "charged, before data is touched": ("tests.faults.clinic", "Counted.measure", "before"),
    "data touched, before the noise": ("tests.faults.clinic", "Counted.measure", "after"),
    "drawn, before the reply is stored": ("discreet.ledger.journal", "Journal.keep", "before"),
    "in the transaction of the reply": (
        "discreet.ledger.stores.store",
        "Transaction.add_reply",
        "after",
    ),
    "stored, before the answer": ("discreet.ledger.journal", "Journal.keep", "after"),
}
SQLITE_ONLY = {
    step for step, (module, _, _) in STEPS.items() if module.endswith(("sqlite", "head"))
}


@contextmanager
def dies_at(step: str, times: int = 1) -> Iterator[None]:
    """This process is killed when it comes to a step for this many times."""
    module, name, when = STEPS[step]
    owner: Any = import_module(module)
    *inside, attribute = name.split(".")
    for each in inside:
        owner = getattr(owner, each)
    real = getattr(owner, attribute)
    left = times

    def deadly(*given: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left > 0:
            return real(*given, **named)
        if when == "before":
            _die()
        if when == "torn":
            write = os.pwrite

            def half(file: int, data: bytes, place: int) -> int:
                write(file, data[: len(data) // 2], place)
                return _die()

            with mock.patch.object(os, "pwrite", half):
                real(*given, **named)
        real(*given, **named)
        return _die()

    with mock.patch.object(owner, attribute, deadly):
        yield


def _die() -> Any:
    os.kill(os.getpid(), signal.SIGKILL)
