"""Random edits of a ledger's files: bytes, runs, truncation, old copies, and records edited by
someone who knows SQL.

Files are kept in memory as bytes. An edit makes the files that are put on the disk in place of
the true ones, and says in words what it did; edits of records are done to the file there.
"""

import hashlib
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import discreet as dp
from tests.faults import clinic

NAME = "people.ledger"
HEAD, WAL, SHM = f"{NAME}.head", f"{NAME}-wal", f"{NAME}-shm"
PAGE = 4096
BUDGET = dp.Pure(100)
RELEASES = 8

Files = dict[str, bytes]
Rows = list[tuple[object, ...]]


@dataclass(frozen=True)
class Specimen:
    """A ledger, closed; the same while it was open, with most of it in the -wal; older copies."""

    closed: Files
    live: Files
    older: list[Files]
    rows: Rows
    replies: Rows
    seals: Rows
    spent: dp.Guarantee


def files_in(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def rows_of(path: Path) -> tuple[Rows, Rows, Rows]:
    """Journal, replies and seals, as they are in the tables."""
    tables = ("discreet_journal", "discreet_replies", "discreet_seals")
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = lambda text: text.decode(errors="replace")
        journal, replies, seals = (
            connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables
        )
    return journal, replies, seals


def specimen(folder: Path, key: Path | None = None) -> Specimen:
    """A ledger of eight releases by two analysts, kept at every stage of its life."""
    path = folder / NAME
    table, older = clinic.counted(), []
    with dp.Ledger(path, create=True, key=key) as ledger:
        ledger.add_dataset("clinic", budget=BUDGET)
        for who in ("ann", "bob"):
            ledger.add_analyst(who, dataset="clinic", budget=dp.Pure(50))
    for tag in range(1, RELEASES + 1):
        older.append(files_in(folder))
        who = "ann" if tag % 2 else "bob"
        with dp.Ledger(path, key=key) as ledger:
            session = dp.Session(table, ledger=ledger, dataset="clinic", analyst=who)
            mark = f"key {tag}" if tag % 3 else None
            query = clinic.question(table)
            session.release(query, epsilon=clinic.price(tag), idempotency_key=mark)
            spent = ledger.datasets[0].filter.spent
            if tag == RELEASES:
                live = files_in(folder)
            elif tag % 2:
                older.append(files_in(folder))
    closed = files_in(folder)
    assert WAL not in closed and len(live[WAL]) > PAGE
    journal, replies, seals = rows_of(path)
    return Specimen(closed, live, older, journal, replies, seals, spent)


# -- edits of bytes --------------------------------------------------------------------------------


def one_byte(it: Specimen, coins: random.Random) -> tuple[Files, str]:
    files, name = _pick(it, coins)
    place = coins.randrange(len(files[name]))
    changed = bytearray(files[name])
    changed[place] ^= coins.randrange(1, 256)
    return {**files, name: bytes(changed)}, f"byte {place} of {name}"


def run_of_bytes(it: Specimen, coins: random.Random) -> tuple[Files, str]:
    files, name = _pick(it, coins)
    length = min(len(files[name]), coins.choice([2, 8, 64, 512, PAGE]))
    place = coins.randrange(len(files[name]) - length + 1)
    content = coins.choice([bytes(length), b"\xff" * length, coins.randbytes(length)])
    changed = files[name][:place] + content + files[name][place + length :]
    return {**files, name: changed}, f"{length} bytes at {place} of {name}"


def cut_short(it: Specimen, coins: random.Random) -> tuple[Files, str]:
    files, name = _pick(it, coins)
    step = coins.choice([1, 512, PAGE])
    length = coins.randrange(max(1, len(files[name]) // step)) * step
    return {**files, name: files[name][:length]}, f"{name} cut to {length}"


def grown(it: Specimen, coins: random.Random) -> tuple[Files, str]:
    files, name = _pick(it, coins)
    more = coins.choice([bytes(PAGE), coins.randbytes(PAGE), files[name][-PAGE:]])
    return {**files, name: files[name] + more}, f"{name} grown"


def pages_swapped(it: Specimen, coins: random.Random) -> tuple[Files, str]:
    content = it.closed[NAME]
    pages = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
    i, j = coins.randrange(len(pages)), coins.randrange(len(pages))
    if coins.random() < 0.5:
        pages[i], pages[j] = pages[j], pages[i]
    else:
        pages[i] = pages[j]
    return {**it.closed, NAME: b"".join(pages)}, f"pages {i} and {j} swapped or doubled"


def old_copies(it: Specimen, coins: random.Random) -> tuple[Files, str]:
    """Some files from the past, while the head stays: a head that is old too cannot tell."""
    now, past = coins.choice([it.closed, it.live]), coins.choice(it.older)
    names = coins.choice([[NAME], [WAL], [NAME, WAL], [SHM], [NAME, WAL, SHM]])
    files = dict(now)
    for name in names:
        files.pop(name, None)
        if name in past:
            files[name] = past[name]
    return files, f"{', '.join(names)} from the past"


def old_head(it: Specimen, coins: random.Random) -> tuple[Files, str]:
    head = coins.choice(it.older)[HEAD]
    return {**coins.choice([it.closed, it.live]), HEAD: head}, "an old head"


def file_lost(it: Specimen, coins: random.Random) -> tuple[Files, str]:
    files = dict(coins.choice([it.closed, it.live]))
    name = coins.choice(sorted(files))
    del files[name]
    return files, f"{name} lost"


def _pick(it: Specimen, coins: random.Random) -> tuple[Files, str]:
    files = coins.choice([it.closed, it.live])
    names = [name for name in (NAME, NAME, NAME, WAL, WAL, WAL, HEAD, SHM) if name in files]
    return files, coins.choice(names)


# -- edits of records ------------------------------------------------------------------------------

Row = tuple[int, str | None, str, str, str]


def swapped(rows: list[Row], coins: random.Random) -> list[Row]:
    i, j = coins.sample(range(len(rows)), 2)
    rows = list(rows)
    rows[i], rows[j] = (rows[i][0], *rows[j][1:]), (rows[j][0], *rows[i][1:])
    return rows


def doubled(rows: list[Row], coins: random.Random) -> list[Row]:
    row = coins.choice(rows)
    return [*rows, (len(rows) + 1, None, *row[2:])]


def dropped(rows: list[Row], coins: random.Random) -> list[Row]:
    gone = coins.randrange(len(rows))
    return rows[:gone] + rows[gone + 1 :]


def closed_up(rows: list[Row], coins: random.Random) -> list[Row]:
    """A record left out, and the later ones renumbered and chained again."""
    gone = coins.randrange(1, len(rows))
    return chained(rows[:gone] + rows[gone + 1 :])


def shortened(rows: list[Row], coins: random.Random) -> list[Row]:
    """The last records left out: what remains is a chain without a flaw."""
    return rows[: coins.randrange(1, len(rows))]


def cheaper(rows: list[Row], coins: random.Random) -> list[Row]:
    """A charge lowered, and nothing else."""
    place = coins.choice([i for i, row in enumerate(rows) if '"kind":"charge"' in row[2]])
    return [*rows[:place], _halved(rows[place]), *rows[place + 1 :]]


def cheaper_and_hashed(rows: list[Row], coins: random.Random) -> list[Row]:
    """A charge lowered, and its own hash made anew."""
    rows = cheaper(rows, coins)
    return [(*row[:4], _hash(row[2], row[3])) for row in rows]


def cheaper_and_chained(rows: list[Row], coins: random.Random) -> list[Row]:
    """A charge lowered, and the whole chain made anew: only the head can tell."""
    return chained(cheaper(rows, coins))


def retokened(rows: list[Row], coins: random.Random) -> list[Row]:
    """An idempotency key forgotten, so that it could be charged again."""
    place = coins.choice([i for i, row in enumerate(rows) if row[1]])
    number, _, body, detail, digest = rows[place]
    return [*rows[:place], (number, None, body, detail, digest), *rows[place + 1 :]]


def chained(rows: list[Row]) -> list[Row]:
    """The same records, numbered and chained anew, as an editor with time would."""
    done: list[Row] = []
    previous = "0" * 64
    for number, (_, token, body, detail, _) in enumerate(rows, 1):
        fields = {**json.loads(body), "number": number, "previous": previous}
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        previous = _hash(text, detail)
        done.append((number, token, text, detail, previous))
    return done


def _halved(row: Row) -> Row:
    fields = json.loads(row[2])
    fields["charges"] = [[a, str(Fraction(c) / 2), s] for a, c, s in fields["charges"]]
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return (*row[:2], text, *row[3:])


def _hash(body: str, detail: str) -> str:
    return hashlib.sha256(f"{body}\n{detail}".encode()).hexdigest()


RowEdit = Callable[[list[Row], random.Random], list[Row]]
BYTE_EDITS = (one_byte, run_of_bytes, cut_short, grown, pages_swapped, old_copies, old_head)
BYTE_EDITS += (file_lost,)
ROW_EDITS: tuple[RowEdit, ...] = (swapped, doubled, dropped, closed_up, shortened)
ROW_EDITS += (cheaper, cheaper_and_hashed, cheaper_and_chained, retokened)


def put(files: Files, folder: Path) -> None:
    """The folder holds these files and no others."""
    for path in folder.iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def rewrite(path: Path, rows: list[Row]) -> None:
    """Replace the journal; the triggers are back in place afterwards."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("BEGIN")
        select = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = connection.execute(f"{select} AND tbl_name = 'discreet_journal'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM discreet_journal")
        connection.executemany("INSERT INTO discreet_journal VALUES (?, ?, ?, ?, ?)", rows)
        for _, statement in triggers:
            connection.execute(statement)
        connection.execute("COMMIT")


def forge_head(path: Path, rows: list[Row]) -> None:
    """Write a head that goes with these records, as far as that is possible without a key."""
    slots = b""
    for number, *_, digest in rows[-2:]:
        ledger = json.loads(rows[0][2])["id"]
        head = {"hash": digest, "ledger": ledger, "number": number, "signature": None}
        text = json.dumps(head, sort_keys=True, separators=(",", ":"))
        seal = hashlib.sha256(text.encode()).hexdigest()
        slots += f"{text}\n{seal}\n".encode().ljust(512)
    path.write_bytes(slots)


# -- what became of it -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """An edit is detected, or harmless, or neither: then the verifier has a hole."""

    detected: str | None  # the message
    harmless: bool


def judge(path: Path, it: Specimen) -> Outcome:
    """Open the ledger, and compare with the truth what it says and what is in its tables."""
    try:
        with dp.Ledger(path) as ledger:
            spent = ledger.datasets[0].filter.spent
            rows, replies, seals = rows_of(path)
            if (replies, seals) != (it.replies, it.seals):
                ledger.verify()
    except dp.DiscreetError as error:
        return Outcome(str(error), False)
    return Outcome(None, (spent, rows, replies) == (it.spent, it.rows, it.replies))
