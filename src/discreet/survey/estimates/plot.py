"""Plots of a survey: a bar for each share, a point for a mean, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from discreet.plot import Plot, altair, dressed
from discreet.release.plot import different
from discreet.release.text import text
from discreet.survey.estimates.text import counted

if TYPE_CHECKING:
    from discreet.survey.estimates.cross_table import CrossTable
    from discreet.survey.estimates.estimate import QuestionEstimate
    from discreet.survey.estimates.means import MeanEstimate
    from discreet.survey.estimates.shares import Shares
    from discreet.survey.estimates.survey_result import SurveyResult

_MOST: Final = 30  # bars in one picture; beyond, the largest shares
_MOST_EACH: Final = 12  # where all questions are in one picture
_BLUE, _DARK = "#8fb3dd", "#22303f"
_TICKS: Final[Any] = {"size": 9, "color": _DARK, "opacity": 1}
_WIDTH, _BAR = 520, 22


def draw(estimate: QuestionEstimate) -> Plot:
    """The estimates for one question."""
    chart, note = estimate.chart(_MOST)
    subtitle = [_subtitle(estimate, unbiased=False), note] if note else _subtitle(estimate)
    return Plot(dressed(chart, text(estimate.name), subtitle))


def draw_all(result: SurveyResult) -> Plot:
    """All questions, one below the other."""
    alt = altair()

    def part(name: str, estimate: QuestionEstimate) -> Any:
        chart, note = estimate.chart(_MOST_EACH)
        head = alt.TitleParams(
            text(name),
            subtitle=note,
            subtitleFontSize=11,
            anchor="start",
            frame="group",  # so that titles line up
            fontSize=13,
            offset=6,
        )
        return chart.properties(title=head)

    parts = [part(*each) for each in result.estimates.items()]
    return Plot(dressed(alt.vconcat(*parts, spacing=24), text(result.title), _subtitle(result)))


def draw_cross(table: CrossTable) -> Plot:
    """For each answer to the first question, the answers to the second."""
    alt = altair()
    rows, columns = list(table.rows)[:_MOST], list(table.columns)[:_MOST]
    points = [
        {
            "row": row,
            "axis": column,
            "value": float(table.values[at, place]),
            "low": float(table.intervals[at, place, 0]),
            "high": float(table.intervals[at, place, 1]),
        }
        for at, row in enumerate(different(map(text, rows)))
        for place, column in enumerate(different(map(text, columns)))
    ]
    first, second = map(text, table.names)
    header = alt.Header(labelAngle=0, labelAlign="left", labelLimit=200)
    facets = _layers().facet(
        row=alt.Row("row:N", title=first, sort=None, header=header),
        data=alt.InlineData(values=points),
    )
    return Plot(dressed(facets, f"{first} and {second}", _subtitle(table)))


def bars(shown: Shares) -> Any:
    """Bars to the right, labels on the left."""
    points = [
        {"axis": label, "value": value, "low": low, "high": high}
        for label, value, (low, high) in zip(
            different(map(text, shown.labels)),
            shown.values.tolist(),
            shown.intervals.tolist(),
            strict=True,
        )
    ]
    return _layers(data=altair().InlineData(values=points))


def _layers(**data: Any) -> Any:
    alt = altair()
    scale, axis = alt.Scale(zero=True), alt.Axis(format="~%", tickCount=6)
    share: dict[str, Any] = {"title": "share", "scale": scale, "axis": axis}
    label = alt.Y(
        "axis:N",
        title=None,
        sort=None,
        scale=alt.Scale(padding=0.15),
        axis=alt.Axis(labelLimit=300, labelPadding=6, labelOverlap=False, ticks=False),
    )
    tips = [
        alt.Tooltip("axis:N", title="answer"),
        alt.Tooltip("value:Q", title="estimate", format=".2%"),
        alt.Tooltip("low:Q", format=".2%"),
        alt.Tooltip("high:Q", format=".2%"),
    ]
    shares = alt.Chart().mark_bar(color=_BLUE)
    errors = alt.Chart().mark_errorbar(color=_DARK, thickness=1.5, ticks=_TICKS)
    return alt.layer(
        shares.encode(y=label, x=alt.X("value:Q", **share), tooltip=tips),
        errors.encode(y=label, x=alt.X("low:Q", **share), x2="high:Q"),
        **data,
    ).properties(width=_WIDTH, height=alt.Step(_BAR))


def point(mean: MeanEstimate) -> Any:
    """A point within the bounds of the question."""
    alt = altair()
    low, high = mean.interval
    one = {"axis": "mean", "value": mean.value, "low": low, "high": high}
    data = alt.InlineData(values=[one])
    axis: dict[str, Any] = {
        "title": text(mean.unit) or None,
        "scale": alt.Scale(domain=list(mean.bounds), nice=False),
        "axis": alt.Axis(format=",~f", tickCount=6),
    }
    label = alt.Y("axis:N", title=None, axis=alt.Axis(ticks=False))
    errors = alt.Chart(data).mark_errorbar(color=_DARK, thickness=1.5, ticks=_TICKS)
    dot = alt.Chart(data).mark_circle(color=_DARK, size=45, opacity=1, clip=True)
    return alt.layer(
        errors.encode(y=label, x=alt.X("low:Q", **axis), x2="high:Q"),
        dot.encode(y=label, x=alt.X("value:Q", **axis)),
    ).properties(width=_WIDTH, height=alt.Step(2 * _BAR))


def _subtitle(estimate: QuestionEstimate | CrossTable | SurveyResult, unbiased: bool = True) -> str:
    people = counted(estimate.respondents, "respondent")
    about = f"{people}, {100 * estimate.confidence:g} % intervals about the {estimate.about}"
    return f"{about}; the estimates are unbiased" if unbiased else about
