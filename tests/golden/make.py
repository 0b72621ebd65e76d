"""Write the golden ledgers, answers and certificates: `python -m tests.golden.make FOLDER`.

It is kept for the record, and to make a further set when a form changes: the set that is committed
is never made again (README.md). So it may use names that later versions no longer have.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pyarrow as pa

import discreet as dp
from discreet.certificate.issue import certify
from discreet.signing import create_key, load_private
from tests.engines.postgres_server import postgres_server, programs

# Fixed rows, so that nothing but the noise differs from one run to the next.
PEOPLE = pa.table(
    {
        "id": [i // 3 for i in range(90)],
        "ward": ["ABC"[i % 3] for i in range(90)],
        "sex": ["fm"[i // 3 % 2] for i in range(90)],
        "days": [i * 7 % 31 for i in range(90)],
        "stay": [None if i % 5 == 0 else i % 17 for i in range(90)],
        "pay": [None if i % 7 == 0 else i * 12.5 for i in range(90)],
        "big": [2**62 + i for i in range(90)],
    }
)
FLOORS = pa.table({"ward": ["A", "B"], "floor": [1, 2]})
WARDS = ["A", "B", "C", "D"]


def questions(people):
    """By name; each is asked under both relations."""
    kept = people.bound(max_groups=2, max_rows_per_group=3)
    groups = kept.group_by("ward", keys=WARDS)
    return {
        "count-and-mean-of-nullable": groups.agg(
            n=dp.count(), stay=dp.mean("stay", bounds=(0, 20))
        ),
        "histogram": groups.agg(days=dp.histogram("days", edges=[0, 10, 20, 31])),
        "sums": groups.agg(
            days=dp.sum("days", bounds=(0, 31)), pay=dp.sum("pay", bounds=(0, 1_000))
        ),
        "join": kept.join(FLOORS, on="ward").group_by("floor", keys=[1, 2]).agg(n=dp.count()),
    }


def more_questions(people):
    """What is asked under one relation."""
    kept = people.bound(max_rows=6)
    days = {"bounds": (0, 31)}
    return {
        "sum-beyond-64-bits": kept.agg(total=dp.sum("big", bounds=(0, 2**63 - 1))),
        "all-other-kinds": kept.agg(
            people=dp.count_units(),
            stays=dp.count("stay"),
            sex=dp.histogram("sex", categories=["f", "m"]),
            squared=dp.variance("stay", bounds=(0, 20)),
            spread=dp.std("days", **days),
            middle=dp.median("days", **days),
            high=dp.quantile("pay", 0.9, bounds=(0, 1_000)),
            most=dp.most_common("ward", candidates=WARDS),
            top=dp.top_k("ward", 2, candidates=WARDS),
        ),
        "steps": kept.where(lambda row: (row.days > 2) & row.pay.is_not_null())
        .mutate(week=lambda row: row.days // 7, rich=lambda row: row.pay > 500)
        .group_by("week", "sex", keys={"week": range(5), "sex": ["f", "m"]})
        .agg(n=dp.count(), rich=dp.mean("rich", bounds=(0, 1), weight=2)),
    }


def discovered(people):
    kept = people.bound(max_groups=1, max_rows_per_group=3)
    return kept.group_by("ward", keys="discover").agg(n=dp.count_units())


class Golden:
    """One ledger, with its answers and certificates."""

    def __init__(self, folder, name, location, key=None):
        self.folder, self.name, self.key = folder, name, key
        self.ledger = dp.Ledger(location, create=True, key=key)
        self.answers = {}

    def ask(self, table, dataset, name, query, *, analyst=None, **spend):
        session = dp.Session(
            table, ledger=self.ledger, dataset=dataset, analyst=analyst, key=self.key
        )
        result = session.release(query, **spend)
        self.keep(f"{dataset}-{name}", session.history[-1].number, result, result.certificate)

    def keep(self, name, number, result, certificate):
        certificate.save(self.folder / "certificates" / f"{self.name}-{name}.json")
        self.answers[number] = {"name": name, "rows": in_text(result)}

    def buy(self, table, dataset):
        """Bounds, whose certificates a session does not hand out."""
        session = dp.Session(table, ledger=self.ledger, dataset=dataset, key=self.key)
        groups = table.group_by("ward", keys=WARDS)
        session.release_bounds(table.bound(max_rows=1), "pay", epsilon=1)
        session.release_max_groups(groups, epsilon=1)
        signer = None if self.key is None else load_private(self.key)
        for name, entry in zip(("bounds", "max-groups"), session.history[-2:], strict=True):
            result = self.ledger.recall(entry)
            told = {"entry": entry, "frame": result.frame, "columns": result.columns}
            certificate = certify(**told, ledger=self.ledger.id, key=signer)
            self.keep(f"{dataset}-bought-{name}", entry.number, result, certificate)

    def close(self):
        """Write beside it what it is known to hold."""
        told = {
            "accounts": accounts_of(self.ledger),
            "answers": self.answers,
            "head": self.ledger.verify().head,
            "id": self.ledger.id,
            "unanswered": [entry.number for entry in self.ledger.unanswered()],
        }
        path = self.folder / f"{self.name}.json"
        path.write_text(json.dumps(told, indent=1) + "\n")
        self.ledger.close()


def accounts_of(ledger):
    """Who has been charged how often, and how much, exactly."""
    found = {}
    for one in (*ledger.groups, *ledger.datasets, *ledger.analysts):
        spent = [] if one.filter is None else [one.filter.total, one.filter.spent_slack]
        found[f"{one.kind} {one.name}"] = [one.releases, *map(str, spent)]
    return found


def in_text(result):
    """Cells as text, since Arrow has no exact form in JSON."""
    return [{k: str(v) for k, v in row.items()} for row in result.to_arrow().to_pylist()]


def fill(golden, *, small):
    """Several datasets, of all notions; `small`: a few questions of each."""
    ledger, people = golden.ledger, dp.table(PEOPLE, unit="id")
    replaced = dp.table(PEOPLE, unit="id", relation="replace")
    rows = dp.table(PEOPLE)
    ledger.add_group("patients", budget=dp.Pure(100))
    ledger.add_dataset("visits", budget=dp.Pure(50), unit="id", groups=["patients"])
    ledger.add_dataset("replaced", budget=dp.Pure(50), unit="id", relation="replace")
    ledger.add_dataset("rho", budget=dp.ZCDP(5), slack="1e-6", unit="id")
    ledger.add_dataset("mu", budget=dp.GDP(5), unit="id")
    ledger.add_dataset("approx", budget=dp.Approx(4, "1e-6"), slack="1e-7", unit="id")
    ledger.add_dataset("rows", budget=dp.Pure(9))
    ledger.add_analyst("ann", dataset="rows", budget=dp.Pure(3))
    ledger.add_analyst("bob", dataset="rows")

    first = questions(people)
    asked = {"join": first["join"]} if small else first | more_questions(people)
    for name, query in asked.items():
        golden.ask(people, "visits", name, query, epsilon=1)
    again = {} if small else questions(replaced)
    for name, query in again.items():
        golden.ask(replaced, "replaced", name, query, epsilon=1)
    if not small:
        golden.buy(people, "visits")
        golden.ask(people, "rho", "histogram", first["histogram"], rho="1/10")
        golden.ask(people, "mu", "sums", first["sums"], mu="1/2")
        golden.ask(people, "approx", "sums", first["sums"], epsilon="1/2", delta="1e-7")
    golden.ask(people, "rho", "discovered", discovered(people), epsilon="1/2", delta="1e-7")
    golden.ask(people, "mu", "nullable", first["count-and-mean-of-nullable"], mu="1/2")
    counted = rows.group_by("ward", keys=WARDS).agg(n=dp.count())
    key = {"idempotency_key": "march report"}
    golden.ask(rows, "rows", "count-by-ann", counted, analyst="ann", epsilon=1, **key)
    ledger.charge(
        dp.Pure("1/2"), dataset="visits", question="by hand", idempotency_key="on the stairs"
    )
    golden.close()


def dump(address, database, path):
    """The database as SQL, without what only `psql` understands."""
    where = ["--host", address["host"], "--username", address["user"], database]
    with tempfile.TemporaryDirectory() as folder:
        command = [programs(Path(folder)) / "pg_dump", "--inserts", "--no-owner", *where]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [one for one in text.splitlines() if one and not re.match(r"--|\\|SET |SELECT ", one)]
    path.write_text("\n".join(lines) + "\n")


def main(folder):
    (folder / "certificates").mkdir(parents=True)
    key = folder / "throwaway.key"
    create_key(key)
    fill(Golden(folder, "plain", folder / "plain.ledger"), small=False)
    fill(Golden(folder, "sealed", folder / "sealed.ledger", key), small=True)
    with postgres_server() as address:
        url = f"postgresql://{address['user']}@/postgres?host={address['host']}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE golden")
        fill(Golden(folder, "postgresql", url.replace("/postgres?", "/golden?")), small=True)
        dump(address, "golden", folder / "postgresql.sql")
    # Without a ledger, plain and signed.
    people = dp.table(PEOPLE, unit="id")
    for name, more in {"no-ledger": {}, "no-ledger-signed": {"key": key}}.items():
        session = dp.Session(people, budget=dp.Pure(9), **more)
        for what, query in questions(people).items():
            if what in ("count-and-mean-of-nullable", "histogram"):
                result = session.release(query, epsilon=1)
                result.certificate.save(folder / "certificates" / f"{name}-{what}.json")


if __name__ == "__main__":
    os.umask(0o022)
    main(Path(sys.argv[1]))
