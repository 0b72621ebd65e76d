"""Three panels: noise that drowns everything, counts that survive, people that are needed."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np

import discreet as dp
from discreet.plot import Plot, dressed
from examples.gwas.private import COUNTS_EPSILON, DELTA, Release, laplace_on_all

BLUE, GREY, RED = "#1f5fa8", "#8a8f98", "#c8452f"
LAPLACE, GAUSSIAN = "Laplace, ε = ln 2", f"Gaussian, ε = {COUNTS_EPSILON}, δ = {DELTA:g}"


def draw(published: Release, exact: np.ndarray, table: list[dict[str, Any]], people: int) -> Plot:
    """``exact`` are the true counts of what was chosen: shown because the cohort is invented."""
    panels = alt.hconcat(
        _noise(people), _carriers(published, exact), _chances(table, people), spacing=40
    ).resolve_scale(color="independent")
    title = "Two million counts about a genome: which of them can be published?"
    below = (
        "Laplace noise on all drowns them. Naming four variants and counting their carriers works."
    )
    return Plot(dressed(panels, title, below))


def _noise(people: int) -> Any:
    """The standard deviation of the noise on each of K counts, beside the largest count."""
    rows = []
    for k in (10, 100, 1_000, 10_000, 100_000, 2_000_000):
        gaussian = dp.Gaussian(
            sensitivity=dp.sensitivity.counts(k=k, relation="replace"),
            epsilon=COUNTS_EPSILON,
            delta=DELTA,
        )
        rows.append({"k": k, "sd": math.sqrt(laplace_on_all(k).variance), "noise": LAPLACE})
        rows.append({"k": k, "sd": float(gaussian.sigma), "noise": GAUSSIAN})
    colours = alt.Scale(domain=[LAPLACE, GAUSSIAN], range=[RED, BLUE])
    axis = {"scale": alt.Scale(type="log"), "axis": alt.Axis(format="~s", tickCount=5)}
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            alt.X("k:Q", title="counts released at once", **axis),
            alt.Y("sd:Q", title="standard deviation of the noise, people", **axis),
            alt.Color("noise:N", scale=colours, legend=alt.Legend(orient="top", title=None)),
        )
    )
    most = [{"sd": people / 2, "k": 12, "text": f"largest count: {people // 2:,}"}]
    limit = alt.Chart(alt.Data(values=most))
    rule = limit.mark_rule(color=GREY, strokeWidth=2, strokeDash=[6, 4]).encode(y="sd:Q")
    words = limit.mark_text(align="left", dy=-8, fontSize=10, color="#5a6470").encode(
        x="k:Q", y="sd:Q", text="text:N"
    )
    return (lines + rule + words).properties(width=250, height=270)


def _carriers(published: Release, exact: np.ndarray) -> Any:
    """Released counts with error bars, and the truth as ticks."""
    rows = [
        {
            "who": f"v{variant}, {group}",
            "count": int(published.carriers[i, j]),
            "low": float(published.carriers[i, j] - published.error),
            "high": float(published.carriers[i, j] + published.error),
            "truth": int(exact[i, j]),
        }
        for j, variant in enumerate(published.chosen)
        for i, group in enumerate(("cases", "controls"))
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(alt.Y("who:N", sort=None, title=None))
    axis = {
        "title": "carriers: released ± 95 % (blue), true (grey)",
        "scale": alt.Scale(zero=False),
    }
    layers = (
        base.mark_tick(color=GREY, thickness=3, size=22).encode(x="truth:Q"),
        base.mark_rule(color=BLUE, strokeWidth=2).encode(alt.X("low:Q", **axis), x2="high:Q"),
        base.mark_circle(color=BLUE, size=28, opacity=1).encode(x="count:Q"),
    )
    return alt.layer(*layers).properties(width=300, height=270)


def _chances(table: list[dict[str, Any]], people: int) -> Any:
    """The chance to name the right four, against the number of people."""
    rows = [
        {"people": row["people"], "chance": row[name], "choice": words}
        for row in table
        for name, words in (("private", "private"), ("exact", "without privacy"))
    ]
    colours = alt.Scale(domain=["private", "without privacy"], range=[BLUE, GREY])
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            alt.X("people:Q", title="people in the study", axis=alt.Axis(format=",d", tickCount=4)),
            alt.Y("chance:Q", title="chance of the right four", axis=alt.Axis(format="%")),
            alt.Color("choice:N", scale=colours, legend=alt.Legend(orient="top", title=None)),
        )
    )
    here = alt.Chart(alt.Data(values=[{"people": people}])).mark_rule(
        color="#e08a1e", strokeDash=[4, 4]
    )
    return (lines + here.encode(x="people:Q")).properties(width=250, height=270)
