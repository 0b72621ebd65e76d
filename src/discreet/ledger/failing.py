"""What databases and disks say when they fail, in our words.

Their own words may quote what was written, so they are not passed on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from discreet.errors import DiscreetError, EngineError, LedgerDamaged

_SAFE = (
    "Nothing was released. A charge that was being written may have been recorded or not; what "
    "was recorded before stands"
)
_SQLITE = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_PERM": "it is read-only",
    "SQLITE_BUSY": "another program holds its lock",
    "SQLITE_LOCKED": "another program holds its lock",
    "SQLITE_IOERR": "the disk failed",
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_NOMEM": "there is no memory left",
}


# What SQLite says of a file that is not as it should be; everything else may pass.
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_CONSTRAINT", "SQLITE_SCHEMA")


@contextmanager
def in_our_words(name: str) -> Iterator[None]:
    """Whatever a database or disk raises in here becomes one of our errors."""
    found: list[DiscreetError] = []
    try:
        yield
    except sa.exc.DBAPIError as error:
        found.append(_database(name, error.orig))
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter: names that are no text
        found.append(_database(name, error))
    except sa.exc.SQLAlchemyError:
        found.append(EngineError(f"the ledger {name} cannot be used now. {_SAFE}"))
    except OSError as error:
        found.append(_disk(name, error))
    if found:
        try:
            raise found[0]
        except DiscreetError as ours:
            ours.__context__ = None  # what the database said may quote what was written
            raise


def _database(name: str, error: BaseException | None) -> DiscreetError:
    if not isinstance(error, sqlite3.Error | UnicodeDecodeError):
        state = getattr(error, "sqlstate", None)
        reason = f"failed (SQLSTATE {state})" if state else "is away, or refuses the connection"
        return EngineError(f"the database of the ledger {name} {reason}. {_SAFE}")
    code = getattr(error, "sqlite_errorname", "")
    if code and not code.startswith(_DAMAGE):
        reasons = (reason for start, reason in _SQLITE.items() if code.startswith(start))
        reason = next(reasons, f"SQLite says {code}")
        return EngineError(f"the ledger {name} cannot be used: {reason}. {_SAFE}")
    return LedgerDamaged(
        f"the ledger {name} is damaged or not a ledger: SQLite cannot read its file"
        f"{f' ({code})' if code else ''}. Restore it, and its head, from a backup that is not "
        "older than the last release"
    )


def _disk(name: str, error: OSError) -> DiscreetError:
    reason = error.strerror or "the disk failed"
    return EngineError(f"the ledger {name} cannot be used: {reason.lower()}. {_SAFE}")
