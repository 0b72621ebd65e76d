"""The certificate of a release, written when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.ledger import Entry
from discreet.release import Result

if TYPE_CHECKING:
    from discreet.certificate import Certificate


def certificate_of(*, entry: Entry, result: Result, ledger: str | None, key: Any) -> Certificate:
    """What was charged and what was released, as a document for others."""
    from discreet.certificate import certify

    return certify(entry=entry, frame=result.frame, columns=result.columns, ledger=ledger, key=key)
