"""The sealed head: which record is the last, kept apart from the journal.

A journal that lost its last records is still an unbroken chain; the head shows that they are
missing. It is written after each commit, under the lock, so the journal may be ahead of it (if a
crash or a power cut came between the two) but never behind. With a key it is signed, and then
nobody without the key can rewrite the journal and a head that goes with it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, Final, Literal

from discreet import signing
from discreet.errors import LedgerDamaged
from discreet.ledger.record import START
from discreet.numeric import canonical

WAIT: Final = 60.0  # seconds
_SYNC_EVERY: Final = 0.1  # seconds
_POLL: Final = 0.0005  # about as long as a charge takes
_STORED: Final = ("ledger", "number", "hash", "signature")
SLOT: Final = 512  # a sector: disks write one whole or not at all


@dataclass(frozen=True)
class Head:
    """The ledger, the number and hash of its last record, and a signature where there is a key."""

    ledger: str
    number: int
    hash: str
    signature: str | None = None
    torn: bool = False  # the other slot is not an older head

    def message(self, kind: Literal["head", "record"]) -> bytes:
        """What is signed: that this is the last record, or no more than that it is a record. The
        latter signature stays in the journal, and must never pass for that of a head."""
        told = {"hash": self.hash, "kind": kind, "ledger": self.ledger, "number": self.number}
        return canonical.text(told).encode()

    def sealed(self, key: Any) -> Head:
        return replace(self, signature=signing.sign(key, self.message("head")))

    def to_text(self) -> str:
        return canonical.text({name: getattr(self, name) for name in _STORED})

    @classmethod
    def begun(cls) -> Head:
        return cls(os.urandom(16).hex(), 0, START)

    @classmethod
    def from_text(cls, text: str) -> Head:
        fields = json.loads(text)
        return cls(**{name: fields[name] for name in _STORED})


class HeadFile:
    """Two slots, written in turn, so that a write that fails midway leaves the other one whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self._synced = -inf
        self._read = (b"", *_newest(b""))  # what was read last, and what it said

    @contextmanager
    def locked(self, *, create: bool = False) -> Iterator[int]:
        """The open file, locked against other processes; every writer to the ledger holds it."""
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        descriptor = os.open(self.name, flags, 0o600)
        try:
            _lock(descriptor)
            yield descriptor
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # even if a fork has duplicated the descriptor
            os.close(descriptor)

    def read(self, descriptor: int, *, unfinished: bool = False) -> Head | None:
        """The head; None if none was ever written; refused if none can be read.

        Where the ledger may be `unfinished`, the first write of the head may have failed midway;
        its second slot is written with the first record.
        """
        content = os.pread(descriptor, 2 * SLOT, 0)
        if content != self._read[0]:
            self._read = (content, *_newest(content))
        newest = self._read[1]
        size = os.fstat(descriptor).st_size
        if newest is None and size and not (unfinished and size < 2 * SLOT):
            raise LedgerDamaged(
                f"the head of the ledger, {self.path.name}, cannot be read",
                remedy="restore it from a backup, together with the ledger",
            )
        return newest

    def write(self, descriptor: int, head: Head) -> None:
        """Put the head into the slot that is not the newest.

        It is synced at most once in a tenth of a second: the record itself is on disk by now, so
        after a power cut the head can at worst be too old, which does no damage.
        """
        slot = self._read[2]  # as read under this lock
        text = head.to_text()
        content = f"{text}\n{_checksum(text)}\n".encode().ljust(SLOT, b" ")
        if os.pwrite(descriptor, content, slot * SLOT) != SLOT:
            raise OSError("the head was written in part")
        now = time.monotonic()
        if head.number <= 1 or now - self._synced > _SYNC_EVERY:
            os.fdatasync(descriptor)
            self._synced = now
        before = self._read[0].ljust(2 * SLOT, b"\0")
        after = content + before[SLOT:] if slot == 0 else before[:SLOT] + content
        self._read = (after, head, 1 - slot)


def _lock(descriptor: int) -> None:
    """Wait for the lock, but not for ever: a process that is stopped may hold it."""
    end = time.monotonic() + WAIT
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                break
        time.sleep(_POLL)
    raise TimeoutError(errno.ETIMEDOUT, "another process has held its lock for a minute")


def _newest(content: bytes) -> tuple[Head | None, int]:
    """The newest head that can be read, and the slot to write to next."""
    slots = [content[at : at + SLOT] for at in (0, SLOT)]
    found = [_slot(slot) for slot in slots]
    numbers = [-1 if head is None else head.number for head in found]
    newest = numbers.index(max(numbers))
    head = found[newest]
    if head is None:
        return None, 0
    other = 1 - newest
    return replace(head, torn=_is_torn(head, found[other], slots[other])), other


def _is_torn(head: Head, other: Head | None, slot: bytes) -> bool:
    """Does the other slot differ from what it held before this head was written: an older head
    or, before the first record, nothing?"""
    if head.number == 0:
        return slot.strip(b"\0") != b""
    return other is None or other.number >= head.number


def _slot(content: bytes) -> Head | None:
    try:
        text, checksum, rest = content.decode().split("\n")
        if checksum == _checksum(text) and not rest.strip(" ") and len(content) == SLOT:
            return Head.from_text(text)
    except (UnicodeDecodeError, ValueError, KeyError, TypeError):
        pass
    return None


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
