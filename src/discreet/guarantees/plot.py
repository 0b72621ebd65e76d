"""Pictures of a guarantee: its profile, and what the best attacker can do.

Drawn by Altair, which is imported on first use; saved as SVG or PNG without a network.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.guarantees.description import short_name
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.tabulated import Tabulated, failing
from discreet.numeric.bands import FloatArray
from discreet.numeric.decimals import decimal_up
from discreet.plot import FONT, altair

_PLACES = 61  # on each curve
_TAIL = Fraction(1, 10**10)  # the profile is drawn down to here
_STEEPEST = 700.0  # e^x is still a float
_SIDE = 300  # of a panel, in pixels
_BLUE, _GREY = "#1f5fa8", "#8a8f98"


def plot(guarantee: Guarantee) -> Any:
    """Profile δ(ε) and trade-off curve, side by side, as an Altair chart.

    >>> from discreet.guarantees import GDP
    >>> chart = plot(GDP(mu=1))                   # chart.save("gdp.png") needs no network
    >>> [panel["title"]["text"] for panel in chart.to_dict()["hconcat"]]
    ['Privacy profile', 'The best attack']
    """
    alt = altair()

    fails = failing(guarantee)
    near = Tabulated(guarantee, tail=decimal_up(fails + max(_TAIL, fails / 100)))
    end, logarithmic = _range(guarantee, near)
    return (
        alt.hconcat(_profile(near, end, logarithmic), _tradeoff(near, end), spacing=50)
        .properties(
            title=alt.TitleParams(short_name(guarantee), anchor="middle", fontSize=17, dy=-6)
        )
        .configure(padding=16, background="white", font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelFlush=False,
            labelFontSize=13,
            titleFontSize=14,
            titleFontWeight="normal",
            titlePadding=10,
            gridColor="#e6e8eb",
        )
    )


# -- the two panels --------------------------------------------------------------------------------


def _profile(near: Tabulated, end: float, logarithmic: bool) -> Any:
    alt = altair()

    points = [{"x": x, "y": near.delta(x)} for x in _places(near, end)]
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(tickCount=6)
    if logarithmic:
        scale, axis, bottom = _powers_of_ten(min(p["y"] for p in points))
        points = [p for p in points if p["y"] >= bottom]
    across = alt.Scale(domain=[0, end], nice=False)
    below = alt.Axis(tickCount=6) if end > 1e-3 else alt.Axis(tickCount=6, format="~e")
    return (
        alt.Chart(alt.InlineData(values=points))
        .mark_line(color=_BLUE, strokeWidth=2.5)
        .encode(
            x=alt.X("x:Q", title="ε", scale=across, axis=below),
            y=alt.Y("y:Q", title="probability δ that ε does not cover", scale=scale, axis=axis),
        )
        .properties(width=_SIDE, height=_SIDE, title=_panel("Privacy profile"))
    )


def _tradeoff(near: Tabulated, end: float) -> Any:
    alt = altair()

    rates, hits = trade_off_curve(near, end)
    points = [{"x": float(a), "y": float(b)} for a, b in zip(rates, hits, strict=True)]
    x = alt.X("x:Q", title="false-alarm rate", scale=alt.Scale(domain=[0, 1]), axis=_percent())
    y = alt.Y("y:Q", title="hit rate, at most", scale=alt.Scale(domain=[0, 1]), axis=_percent())

    def chart(points: list[dict[str, Any]], **more: str) -> Any:
        return alt.Chart(alt.InlineData(values=points)).encode(x=x, y=y, **more)

    curve = chart(points).mark_line(color=_BLUE, strokeWidth=2.5)
    diagonal = chart([{"x": 0, "y": 0}, {"x": 1, "y": 1}]).mark_line(
        color=_GREY, strokeDash=[6, 4], strokeWidth=1.5
    )
    label = chart([{"x": 0.72, "y": 0.66, "words": "guessing"}], text="words:N").mark_text(
        color=_GREY, fontSize=13, angle=315
    )
    return alt.layer(diagonal, label, curve).properties(
        width=_SIDE, height=_SIDE, title=_panel("The best attack")
    )


def trade_off_curve(near: Tabulated, end: float) -> tuple[FloatArray, FloatArray]:
    """Bounds on the best hit rate, at the false-alarm rates where the bound has corners.

    Each x gives the line e^x·f + δ(x) above the curve; what is drawn is the least of them.
    """
    steepest = min(end, _STEEPEST)
    half = np.linspace(0.0, steepest, _PLACES)
    # If one order only is bounded, the curve may go on at the right where this one has ended.
    flat = steepest + max(10.0 - steepest, 0.0) * np.linspace(0.0, 1.0, _PLACES) ** 2
    drop = [min(_drop(near, end), _STEEPEST)]
    x = np.unique(np.concatenate([-flat, -half, np.negative(drop), half, drop]))
    slopes, heights = np.exp(x), np.array([near.delta(float(a)) for a in x])
    corners = (heights[:-1] - heights[1:]) / np.diff(slopes)
    rates = np.unique(np.clip(np.concatenate([[0.0, 1.0], corners]), 0.0, 1.0))
    hits = np.min(slopes * rates[:, None] + heights, axis=1)
    return rates, np.minimum(hits, 1.0)


# -- what to show ----------------------------------------------------------------------------------


def _range(guarantee: Guarantee, near: Tabulated) -> tuple[float, bool]:
    """How far to the right, and whether δ falls over so many powers of ten that it needs logs."""
    most = guarantee.epsilon(0)
    far = guarantee.epsilon(near.tail) if near.tail < 1 else 0.0
    if math.isfinite(most) and most <= 1.25 * far:
        return most * 1.1 or 1.0, False
    if not math.isfinite(far) or far == 0:
        return 1.0, False
    least = near.delta(far)
    return far * (1.1 if least > 2 * _TAIL else 1.0), least < 0.01


def _places(near: Tabulated, end: float) -> list[float]:
    """Where to read the profile: evenly and close to a possible drop, or where it was tabulated."""
    drop = _drop(near, end)
    close = drop * (1 - 10.0 ** -np.arange(2, 8))
    inner = near.places or [*np.linspace(0.0, end, _PLACES), *close]
    return [float(x) for x in np.unique([*inner, drop, end]) if x <= end]


def _drop(near: Tabulated, end: float) -> float:
    """Where the profile gets down to next to nothing."""
    return min(end, near.epsilon(near.tail)) if near.tail < 1 else end


def _panel(title: str) -> Any:
    return altair().TitleParams(title, fontSize=15, fontWeight="normal", anchor="start", dy=-4)


def _percent() -> Any:
    return altair().Axis(format=".0%", tickCount=6)


def _powers_of_ten(least: float) -> tuple[Any, Any, float]:
    """A scale from 1 to below the least δ, its ticks 1, 1e-2, 1e-4, …, and where it ends."""
    alt = altair()

    bottom = max(math.floor(math.log10(max(least, 1e-300)) - 0.5), -10)
    ticks = [10.0**power for power in range(0, bottom - 1, -1 if bottom >= -5 else -2)]
    axis = alt.Axis(values=ticks, labelExpr="datum.value == 1 ? '1' : format(datum.value, '.0e')")
    return alt.Scale(type="log", domain=[10.0**bottom, 1]), axis, 10.0**bottom
