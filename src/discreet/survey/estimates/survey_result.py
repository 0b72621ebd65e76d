"""What a survey found: estimates for each question, and which reports did not count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument
from discreet.guarantees import Guarantee
from discreet.hints import meant
from discreet.plot import Plot
from discreet.release import exports
from discreet.survey.estimates.confidence import About
from discreet.survey.estimates.cross_table import CrossTable
from discreet.survey.estimates.estimate import QuestionEstimate
from discreet.survey.estimates.plot import draw_all
from discreet.survey.estimates.text import result_text

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class SurveyResult:
    """Estimates by question. Everything here is post-processing and costs no more privacy.

    ``result["smoker"]`` is a `Shares`, or a `MeanEstimate` for a number; ``result.cross("a", "b")``
    is a `CrossTable`.
    """

    title: str
    estimates: Mapping[str, QuestionEstimate]
    tables: Mapping[tuple[str, str], CrossTable]
    respondents: int
    set_aside: Mapping[str, int]
    confidence: float
    about: About
    guarantee: Guarantee = field(kw_only=True)  #: what each respondent was promised
    cost: str = field(kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def __getitem__(self, name: str) -> QuestionEstimate:
        """The estimates for one question."""
        if name not in self.estimates:
            hint = meant(str(name), self.estimates, '"{}"')
            raise InvalidArgument.unknown("name", list(self.estimates)[:20], name, hint=hint)
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def cross(self, first: str, second: str) -> CrossTable:
        """The cross table of two questions."""
        if (first, second) not in self.tables:
            known = ", ".join(f"({a!r}, {b!r})" for a, b in self.tables) or "none"
            raise InvalidArgument.of(
                "cross",
                f"a pair that the collector counted: {known}",
                f"{first}, {second}",
                hint=f'say so beforehand: Collector(form, cross=[("{first}", "{second}")])',
            )
        return self.tables[first, second]

    def to_arrow(self) -> pa.Table:
        """One row for each answer: question, answer, estimate, standard error, low, high."""
        import pyarrow as pa

        return pa.concat_tables([estimate.to_arrow() for estimate in self.estimates.values()])

    def to_polars(self) -> pl.DataFrame:
        """The estimates as a Polars data frame, with one row for each answer."""
        return exports.to_polars(self.to_arrow())

    def to_pandas(self) -> Any:
        """The estimates as a pandas data frame, with one row for each answer."""
        return exports.to_pandas(self.to_arrow())

    def plot(self, name: str | None = None) -> Plot:
        """Draw one question with its intervals; without a name, draw all of them."""
        if name is None and len(self.estimates) > 1:
            return draw_all(self)
        return self[next(iter(self)) if name is None else name].plot()

    def __repr__(self) -> str:
        return result_text(self)
