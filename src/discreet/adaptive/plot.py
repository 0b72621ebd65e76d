"""A picture of a plan: the error of each method by the number of questions.

Drawn by Altair, which is imported on first use.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.adaptive.arguments import percent
from discreet.adaptive.bounds import row
from discreet.adaptive.noise_width import Shape, estimated_width
from discreet.plot import Plot, altair, dressed, limit_line

if TYPE_CHECKING:
    from discreet.adaptive.question_plan import QuestionPlan

_WIDTH, _HEIGHT = 560, 300
_POINTS = 40
_NAIVE: Final = "naive reuse (void)"
_LABELS: Final = {
    "gaussian": "Gaussian noise",
    "rounding": "rounded answers",
    "jung": "Gaussian, Jung et al.",
    "laplace": "Laplace noise",
    "splitting": "sample splitting",
}
_COLOURS: Final = ("#2f6db3", "#6aa886", "#b678b0", "#c9b24e", "#e0974f", "#9aa3ad")


def draw(plan: QuestionPlan) -> Plot:
    """One curve per method, up to an error of ½, which guessing has too; the error asked for as a
    line."""
    alt = altair()

    failure = 1 - Fraction(repr(plan.confidence))
    most = max(100, 4 * max(plan.questions.values()))
    counts = np.unique(np.geomspace(1, most, _POINTS).astype(np.int64)).tolist()
    rows = [
        {"k": k, "error": width, "method": label}
        for label, curve in _curves(plan.n, counts, failure).items()
        for k, width in zip(counts, curve, strict=True)
        if width <= 0.5
    ]
    names = [*_LABELS.values(), _NAIVE]
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=alt.X(
                "k:Q",
                title="adaptive questions",
                scale=alt.Scale(type="log", domain=[1, most], nice=False),
                axis=alt.Axis(format="~s", tickCount=6, grid=False),
            ),
            y=alt.Y(
                "error:Q",
                title="distance to the population, all answers",
                scale=alt.Scale(domain=[0, 0.5]),
            ),
            color=alt.Color(
                "method:N",
                scale=alt.Scale(domain=names, range=list(_COLOURS)),
                sort=names,
                legend=alt.Legend(title=None, symbolType="stroke", labelLimit=200),
            ),
            strokeDash=alt.condition(
                alt.datum.method == _NAIVE, alt.value([4, 4]), alt.value([1, 0])
            ),
            tooltip=[
                "method:N",
                alt.Tooltip("k:Q", title="questions"),
                alt.Tooltip("error:Q", format=".4f"),
            ],
        )
    )
    wish = limit_line("error:Q", "error", plan.error, f"asked for: {plan.error:g}")
    chart = alt.layer(lines, *wish).properties(width=_WIDTH, height=_HEIGHT)
    best = plan.questions[plan.best]
    title = f"What {plan.n:,} records support"
    subtitle = [
        f"{best:,} adaptive questions within {plan.error:g} of the population at "
        f"{percent(plan.confidence)} confidence, by {_LABELS[plan.best]};",
        f"{plan.questions['splitting']:,} by sample splitting. Naive reuse holds for no question "
        "that depends on an answer.",
    ]
    return Plot(dressed(chart, title, subtitle))


def _curves(n: int, counts: list[int], failure: Fraction) -> dict[str, list[float]]:
    curves = {}
    for method, label in _LABELS.items():
        if method in ("gaussian", "laplace"):
            shape: Shape = "gaussian" if method == "gaussian" else "laplace"
            curves[label] = [estimated_width(shape, n, queries=k, failure=failure) for k in counts]
        else:
            curves[label] = [row(method, n, queries=k, failure=failure).width for k in counts]
    curves[_NAIVE] = [math.sqrt(math.log(2 * k / float(failure)) / (2 * n)) for k in counts]
    return curves
