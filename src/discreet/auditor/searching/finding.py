"""What a search for a broken sensitivity found."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from discreet.auditor.replaying.finding import short

_SHOWN = 8  # different records in a row


@dataclass(frozen=True, eq=False)
class SensitivityFinding:
    """How far a function moved between neighbours, at most, among those that were tried.

    ``found`` is exact; it is infinite where one answer is NaN, an error, or of another shape or
    type, and rounded down for l2. ``worst`` is the pair of datasets, made as small as it can be
    without losing any of that.
    """

    violated: bool
    found: Fraction | float
    claimed: Fraction
    norm: str
    relation: str
    worst: tuple[Any, Any]
    why: str  #: for an infinite distance: what differs
    tried: int
    seconds: float
    shown: str = ""  #: the pair in words, where its records were made up
    apart: str = ""  #: which record differs
    tolerance: Fraction = Fraction(0)  #: how much more than claimed answers in floats may move

    def __str__(self) -> str:
        tried = f"in {self.tried:,} {'try' if self.tried == 1 else 'tries'}"
        if not self.violated:
            return (
                f"no violation found: the largest change {tried} was {short(self.found)} in "
                f"{self.norm}, and {short(self.claimed)} is claimed under {self.relation}"
                f"{self._within()}. That is not a proof"
            )
        sizes = " and ".join(f"{_length(one):,}" for one in self.worst)
        lines = [
            f"violated: neighbours under {self.relation} were found {tried} whose answers are "
            f"{short(self.found)} apart in {self.norm}, and {short(self.claimed)} is claimed"
        ]
        if math.isinf(self.found):
            lines.append(f"- {self.why}")
        lines.append(f"- worst[0] and worst[1] have {sizes} records; {self.apart}")
        return "\n".join([*lines, f"- {self.shown}"] if self.shown else lines)

    def _within(self) -> str:
        if self.found <= self.claimed:
            return ""
        kind = "roots" if self.norm == "l2" else "floats"
        return f", which is within the tolerance of {float(self.tolerance):.2g} for {kind}"

    def to_json(self) -> str:
        """The same as JSON; records only where they were made up."""
        return json.dumps(
            {
                "route": "sensitivity search",
                "violated": self.violated,
                "found": "infinite" if math.isinf(self.found) else str(self.found),
                "claimed": str(self.claimed),
                "norm": self.norm,
                "relation": self.relation,
                "why": self.why,
                "sizes": [_length(one) for one in self.worst],
                "worst": self.shown or None,
                "apart": self.apart,
                "tolerance": str(self.tolerance),
                "tried": self.tried,
                "seconds": self.seconds,
                "words": str(self),
            },
            ensure_ascii=False,
        )


def in_words(lists: tuple[Sequence[Any], Sequence[Any]]) -> str:
    """Two lists of records; equal ones in a row are counted.

    >>> in_words(([1, 1, 1, 2], []))
    '[1 × 3, 2] and []'
    """
    return " and ".join(f"[{_records(one)}]" for one in lists)


def _records(records: Sequence[Any]) -> str:
    runs = [(repr(_plain(same[0])), len(same)) for same in (list(g) for _, g in groupby(records))]
    told = [text if many == 1 else f"{text} × {many}" for text, many in runs[:_SHOWN]]
    return ", ".join([*told, "..."] if len(runs) > _SHOWN else told)


def _plain(record: Any) -> Any:
    return record.item() if hasattr(record, "item") else record


def _length(dataset: Any) -> int:
    return len(dataset)
