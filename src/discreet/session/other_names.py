"""What a session is asked for and does not have, and what was meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from discreet.hints import unknown

_ASKS: Final = "say session.release(query, epsilon=0.5)"
_LEFT: Final = "session.remaining is what is left, session.spent what was charged"
_INSTEAD: Final = {
    **dict.fromkeys(("query", "run", "execute", "ask", "answer", "collect"), _ASKS),
    **dict.fromkeys(("budget", "left", "epsilon", "remaining_budget", "cost"), _LEFT),
    "entries": "session.history lists what was charged",
    "table": "keep the table that the session was opened with, and build queries from it",
    "close": "leave it out: a session holds nothing open",
}


def missing(name: str, known: Iterable[str]) -> AttributeError:
    """What is said where a session has no such name.

    >>> print(missing("left", ["remaining", "spent"]))
    a session has no 'left'; session.remaining is what is left, session.spent what was charged
    """
    return unknown("a session", name, known, _INSTEAD.get(name, ""))
