"""One released number and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.release.numbers import with_error


@dataclass(frozen=True)
class Answer:
    """A released value and its 95 % error: at least 19 times in 20 it is this near the truth.

    For a quantile the error is one of ranks, for a choice one of counts.

    >>> print(Answer(1234, 6.0))
    1234 ± 6
    """

    value: Any
    error: float

    def __str__(self) -> str:
        return with_error(self.value, self.error)
