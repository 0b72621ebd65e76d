"""What every estimate can do, whatever was asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet.survey.estimates.confidence import About

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.plot import Plot


class QuestionEstimate(ABC):
    """What reports say about one question: numbers with intervals, as a table and as a chart."""

    name: str
    respondents: int
    confidence: float
    about: About

    @property
    def at_once(self) -> int:
        """How many answers the intervals hold for at once; 0 if they are for each by itself."""
        return 0

    @abstractmethod
    def rows(self) -> Iterable[tuple[str, str, str]]:
        """What is estimated, its value and its interval, as they are printed."""

    @abstractmethod
    def chart(self, most: int) -> tuple[Any, str]:
        """A chart of at most this many numbers, and a caveat if they are not unbiased."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """A table with one row for each number."""

    def plot(self) -> Plot:
        """Draw the estimates with their intervals."""
        from discreet.survey.estimates.plot import draw

        return draw(self)

    def __repr__(self) -> str:
        from discreet.survey.estimates.text import estimate_text

        return estimate_text(self)


def table_of(
    question: str, answers: list[str], value: Any, error: Any, low: Any, high: Any
) -> pa.Table:
    """Estimates as a table, with one row for each answer."""
    import pyarrow as pa

    return pa.table(
        {
            "question": pa.array([question] * len(answers), pa.string()),
            "answer": pa.array(answers, pa.string()),
            "estimate": value,
            "standard_error": error,
            "low": low,
            "high": high,
        }
    )
