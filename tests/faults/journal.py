"""A ledger read by other means: sqlite3, json, hashlib and fractions, and no code of ours.

What the library says about a ledger is compared with what this says.
"""

import hashlib
import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

ROWS = "SELECT number, token, body, detail, hash FROM discreet_journal ORDER BY number"
REPLIES = "SELECT charge, content FROM discreet_replies ORDER BY charge"


@dataclass(frozen=True)
class Journal:
    """The records of a ledger, decoded, and the replies that are kept beside them."""

    records: tuple[dict[str, Any], ...]
    replies: dict[int, bytes]
    hashes: tuple[str, ...]

    @property
    def charges(self) -> list[dict[str, Any]]:
        return [record for record in self.records if record["kind"] == "charge"]

    @property
    def stranded(self) -> list[int]:
        """Charges without a reply."""
        answered = {record["charge"] for record in self.records if record["kind"] == "reply"}
        return [record["number"] for record in self.charges if record["number"] not in answered]

    @property
    def spent(self) -> dict[int, Fraction]:
        """The sum of the charges to each account, by the number of its record."""
        sums: dict[int, Fraction] = {}
        for record in self.charges:
            for account, amount, _ in record["charges"]:
                sums[account] = sums.get(account, Fraction(0)) + Fraction(amount)
        return sums

    def spent_by(self, name: str) -> Fraction:
        """The sum of the charges to the account of this name."""
        number = next(r["number"] for r in self.records if r.get("name") == name)
        return self.spent.get(number, Fraction(0))

    def flaws(self) -> list[str]:
        """What is wrong with the chain and with the replies; nothing, if all is well."""
        found = []
        previous = "0" * 64
        for place, (record, digest) in enumerate(zip(self.records, self.hashes, strict=True), 1):
            if record["number"] != place or record["previous"] != previous:
                found.append(f"record {place} is out of place")
            previous = digest
        tokens = Counter(record["token"] for record in self.records if record["token"])
        found += [f"a key is charged {n} times" for n in tokens.values() if n > 1]
        for record in self.records:
            if record["kind"] != "reply":
                continue
            content = self.replies.get(record["charge"])
            if content is None or hashlib.sha256(content).hexdigest() != record["digest"]:
                found.append(f"the reply to charge {record['charge']} is not what was recorded")
        told = [record["charge"] for record in self.records if record["kind"] == "reply"]
        if sorted(told) != sorted(self.replies):
            found.append("replies and their records do not go together")
        return found


def read_journal(path: object) -> Journal:
    """The journal in a file of SQLite."""
    with closing(sqlite3.connect(str(path))) as connection:
        return decoded(connection.execute(ROWS), connection.execute(REPLIES))


def read_postgres(url: str) -> Journal:
    """The journal in a database of PostgreSQL."""
    import psycopg

    with psycopg.connect(url) as connection:
        return decoded(connection.execute(ROWS), connection.execute(REPLIES))


def decoded(rows: Any, replies: Any) -> Journal:
    """Rows as records; a hash that is not that of its row is an error here."""
    records, hashes = [], []
    for number, token, body, detail, digest in rows:
        assert hashlib.sha256(f"{body}\n{detail}".encode()).hexdigest() == digest, number
        record = json.loads(body)
        assert (record["number"], record["token"]) == (number, token)
        records.append({**record, "detail": json.loads(detail)})
        hashes.append(digest)
    return Journal(tuple(records), {n: bytes(c) for n, c in replies}, tuple(hashes))
