"""Kill workers for as long as you like: ``python -m tests.faults.torture --kills 20000``.

Prints what was done and found, and ends with an error if a rule was broken. Each worker is a
process of its own; ``--at-once`` runs several campaigns side by side. ``--postgres`` starts a
server of its own and kills workers on it.
"""

import argparse
import contextlib
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

from discreet.ledger.journal import Journal, LedgerBudget
from tests.faults import clinic
from tests.faults.killing import Campaign

MEMORY = Path("/dev/shm")  # a disk would be asked to sync millions of times


def touch_first() -> mock._patch:
    """A planted error: data is touched before the charge."""
    charge = Journal.charge

    def late(self, *given):
        clinic.Counted.when_touched()
        return charge(self, *given)

    return mock.patch.object(Journal, "charge", late)


def forget_keys() -> mock._patch:
    """A planted error: an idempotency key is not looked up, and not written down."""
    find = mock.patch.object(LedgerBudget, "find", lambda self, key: None)
    find.start()
    return mock.patch("discreet.ledger.journal.token_of", lambda *_: None)


PLANTS = {"touch first": touch_first, "forget keys": forget_keys}


def campaign(kills: int, seed: int, *, postgres: bool, plant: str | None = None) -> int:
    """One campaign; the number of violations, at most 1 as an exit code."""
    with contextlib.ExitStack() as stack:
        place = MEMORY if MEMORY.is_dir() else None
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)))
        url = None
        if plant is not None:
            stack.enter_context(PLANTS[plant]())
        if postgres:
            from tests.faults.server import postgres_url

            url = stack.enter_context(postgres_url())
        run = Campaign(folder, random.Random(seed), url=url)
        run.run(kills, until_found=plant is not None)
    print(f"seed {seed}: {run.summary()}", flush=True)
    return min(1, len(run.violations))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=1, help="campaigns side by side")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL, not SQLite")
    parser.add_argument("--plant", choices=PLANTS, help="break a rule, to see it caught")
    given = parser.parse_args()
    if given.at_once == 1:
        return campaign(given.kills, given.seed, postgres=given.postgres, plant=given.plant)
    share = -(-given.kills // given.at_once)
    command = [sys.executable, "-m", "tests.faults.torture", "--kills", str(share)]
    command += ["--postgres"] * given.postgres
    started = [
        subprocess.Popen([*command, "--seed", str(given.seed + number)])
        for number in range(given.at_once)
    ]
    return max(process.wait() for process in started)


if __name__ == "__main__":
    sys.exit(main())
