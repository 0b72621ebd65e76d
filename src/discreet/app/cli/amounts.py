"""Amounts of privacy for reading: six digits on a screen, exact in a document."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from discreet.ledger import Account

_NUMBER: Final = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")


def short(words: str) -> str:
    """Words with numbers of at most six digits.

    >>> short("ε = 2 at δ = 1e-06, kept as ρ = 0.0834417210567")
    'ε = 2 at δ = 1e-06, kept as ρ = 0.0834417'
    """
    return _NUMBER.sub(lambda found: f"{float(found[0]):.6g}", words)


def in_words(notion: Any, amount: Fraction, slack: Fraction) -> str:
    """ε, ρ or μ², and δ₀ if there is any."""
    from discreet.guarantees import filters

    return short(filters.in_words(notion, amount, slack))


def cap_in_words(account: Account) -> str:
    """The cap as stated, and what it is kept as."""
    from discreet.ledger import Cap

    assert account.budget is not None and account.filter is not None
    return short(str(Cap.read(account.budget, account.filter.slack)))
