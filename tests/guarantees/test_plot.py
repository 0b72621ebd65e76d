"""Pictures of guarantees: true upper bounds, drawn in seconds, saved without a network."""

import math
import socket

import numpy as np
import pytest

from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Failing,
    LaplacePair,
    Least,
    LossDistribution,
    Pure,
    ResponsePair,
    SampledPair,
    TotalVariation,
    compose,
)
from discreet.guarantees.composition import ComposedProfile
from discreet.guarantees.grouped import GroupPrivacy
from discreet.guarantees.key_discovery import KeyPair

GUARANTEES = [
    Pure(1),
    Pure(0),
    Pure(1000),
    Approx(1, "1e-5"),
    Approx(1, 1),
    ZCDP("1/2"),
    GDP(1),
    GDP("1e-9"),
    GDP(1000),
    TotalVariation("1/4"),
    TotalVariation(1),
    LaplacePair(1),
    LaplacePair(1, 3),
    BoundedRange(2),
    ResponsePair(2, 10),
    SampledPair(GDP(1), "0.1"),
    SampledPair(GDP(1), "0.1").add,
    SampledPair(Approx(1, "1e-5"), "1/2"),
    Least([Pure(2), GDP(1)]),
    Failing(GDP(1), "1e-6"),
    GroupPrivacy(SampledPair(GDP(1), "0.1"), 3),
    KeyPair(coins=[(0, "0.01")], base=Pure(1)),
    LossDistribution.from_laws([0.5, 0.5, 0.0], [0.25, 0.7, 0.05]),
    compose([LaplacePair(1), LaplacePair("1/2")]),
    compose([LaplacePair(1), GDP(1), Pure("1/2")]),
    compose([TotalVariation("1/4"), GDP(1)]),
    Approx(1, "1e-3").repeat(1000),
    SampledPair(GDP(1), "0.01").repeat(10_000),
    Pure(1).repeat(10**4),
]


def panels(g):
    """(x, y) of the profile and of the trade-off curve, as they are drawn."""
    drawn = g.plot().to_dict()
    profile, attack = drawn["hconcat"]
    curves = (drawn["datasets"][panel["data"]["name"]] for panel in (profile, attack["layer"][-1]))
    return drawn, *(np.array([(p["x"], p["y"]) for p in points]).T for points in curves)


@pytest.mark.no_cover
@pytest.mark.parametrize("g", GUARANTEES, ids=lambda g: repr(g)[:60])
def test_every_guarantee_has_a_picture(g):
    """Catches nan, values outside the axes, curves that turn back, and an attack that does worse
    than guessing or at 1 does not reach 1."""
    _, (x, delta), (rates, hits) = panels(g)
    assert np.all(np.isfinite([*x, *delta, *rates, *hits]))
    assert x[0] == 0 and np.all(np.diff(x) > 0) and x.size >= 2
    assert np.all(np.diff(delta) <= 1e-9) and 0 <= delta.min() <= delta.max() <= 1
    assert (rates[0], rates[-1], hits[-1]) == (0, 1, 1)
    assert np.all(np.diff(hits) >= -1e-9) and np.all(hits >= rates - 1e-12) and hits.max() <= 1


@pytest.mark.no_cover
@pytest.mark.parametrize("g", [Pure(1), GDP(1), LaplacePair(2), Approx(1, "1e-5")], ids=repr)
def test_curves_are_the_guarantee(g):
    """Catches mixed-up axes, and a curve that is below the best attack or far above it."""
    _, (x, delta), (rates, hits) = panels(g)
    assert all(d == g.delta(float(a)) for a, d in zip(x, delta, strict=True))
    for rate in (0.01, 0.1, 0.3, 0.7):
        drawn, best = np.interp(rate, rates, hits), g.tradeoff(rate)
        assert best - 1e-3 <= drawn <= best + 2e-3


def test_the_corner_is_drawn():
    """Catches a corner cut off between two points: randomized response is all corner."""
    _, _, (rates, hits) = panels(Pure(1))
    corner = 1 / (1 + math.e)
    nearest = np.argmin(np.abs(rates - corner))
    assert rates[nearest] == pytest.approx(corner, abs=1e-9)
    assert hits[nearest] == pytest.approx(1 - corner, abs=1e-9)


def test_the_range_fits_the_guarantee():
    """Catches a fixed range: pure ends a little after ε₀, Gaussian noise where δ is 1e-10."""
    assert panels(Pure(3))[1][0][-1] == pytest.approx(3.3)
    assert GDP(1).delta(float(panels(GDP(1))[1][0][-1])) == pytest.approx(1e-10, rel=1e-3)
    assert panels(TotalVariation("1/4"))[1][0][-1] == 1


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("g", "kind"), [(GDP(1), "log"), (Approx(1, "1e-5"), "log"), (Pure(1), None)], ids=repr
)
def test_logarithms_where_they_help(g, kind):
    """Catches a Gaussian tail drawn as 0, and the logarithm of a δ that is 0."""
    drawn, *_ = panels(g)
    assert drawn["hconcat"][0]["encoding"]["y"]["scale"].get("type") == kind


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("g", "title"),
    [
        (Approx("1/2", "1e-5"), "Approx(epsilon=0.5, delta=1e-05)"),
        (LaplacePair("1/3"), "LaplacePair(epsilon=0.334)"),
        (GDP(1), "GDP(mu=1)"),
        (
            SampledPair(GDP(1), "0.01").repeat(10**4),
            "10,000 runs of SampledPair(GDP(mu=1), rate=0.01)",
        ),
        (compose([LaplacePair(1), GDP(1)]), "2 runs of 2 mechanisms"),
        (Least([Pure(n) for n in range(1, 9)]).repeat(2), "2 runs of Least"),
    ],
    ids=str,
)
def test_titles(g, title):
    """Catches Fraction(1, 2) in a headline, and one that is too long to fit."""
    assert g.plot().to_dict()["title"]["text"] == title


@pytest.mark.no_cover
def test_saved_without_a_network(tmp_path, monkeypatch):
    """Catches a renderer that fetches scripts or fonts, and a chart that cannot be saved."""

    def refuse(*args, **kwargs):
        raise OSError("no network here")

    monkeypatch.setattr(socket, "socket", refuse)
    for proxy in ("http_proxy", "https_proxy", "all_proxy"):  # for a renderer that is not Python
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")
        monkeypatch.setenv(proxy.upper(), "http://127.0.0.1:9")
    chart = GDP(1).plot()
    chart.save(tmp_path / "g.svg")
    chart.save(tmp_path / "g.png")
    svg = (tmp_path / "g.svg").read_text()
    for words in (
        "Privacy profile",
        "The best attack",
        "guessing",
        "false-alarm rate",
        "GDP(mu=1)",
    ):
        assert words in svg
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "parts",
    [
        [LaplacePair(1), GDP(1), Pure("1/2"), ResponsePair(1, 5)],
        [SampledPair(GDP(1), "0.01").repeat(10_000), LaplacePair(1)],
        [Approx(1, "1e-6").repeat(50), GDP(1)],
    ],
    ids=str,
)
def test_a_composition_is_drawn_from_few_transforms(parts, monkeypatch):
    """Catches a convolution for every point, which would take minutes."""
    calls = []
    compute = ComposedProfile._compute
    monkeypatch.setattr(
        ComposedProfile, "_compute", lambda *given: (calls.append(1), compute(*given))
    )
    compose(parts).plot()
    assert 0 < len(calls) <= 12
