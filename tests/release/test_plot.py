"""Pictures of results: what is drawn, in which words, and without a network."""

import json
import math
import socket

import pytest

from discreet.errors import InvalidArgument
from discreet.guarantees import GDP


def drawn(plot):
    """The points, the error bars and the whole drawing."""
    chart = plot.chart.to_dict()
    sets = {}
    for layer in chart["layer"]:
        sets[layer["mark"]["type"]] = chart["datasets"][layer["data"]["name"]]
    bars = sets.pop("errorbar")
    ((mark, points),) = sets.items()
    return mark, points, bars, chart


def test_counts_are_bars(wards):
    """Catches swapped ends, a lost null group, and a missing word about the promise."""
    mark, points, bars, chart = drawn(wards.plot())
    assert mark == "bar" and [p["label"] for p in points] == ["A", "B", "none"]
    assert [(b["low"], b["high"]) for b in bars] == [(1228, 1240), (864, 876), (-9, 3)]
    words = " ".join([chart["title"]["text"], *chart["title"]["subtitle"]])
    for part in ("n by ward", "95 % error bars", "a row (add-remove)", "cost ε = 0.5"):
        assert part in words
    body = chart["layer"][0]["encoding"]
    assert body["y"]["title"] == "n (count)" and body["x"]["title"] == "ward"


def test_means_are_points(wards):
    """Catches an unknown mean drawn as 0, and an axis that must start at 0."""
    mark, points, bars, chart = drawn(wards.plot("stay"))
    assert mark == "circle" and len(points) == len(bars) == 2
    assert "not drawn: 1 unknown" in chart["title"]["subtitle"][0]


def test_ranks_are_not_drawn_as_values(wards):
    """Catches an error of ranks drawn on the axis of values."""
    _, points, bars, chart = drawn(wards.plot("p90"))
    assert len(points) == 3 and bars == []
    assert "no error bars" in chart["title"]["subtitle"][0]


def test_long_labels_lie_down(make):
    """Catches labels that overlap; and labels that are equal once cut, drawn on one place."""
    long = ["x" * 50 + "1", "x" * 50 + "2"]
    _, points, _, chart = drawn(make.counts([1, 2], [1.0, 1.0], wards=long).plot())
    assert chart["layer"][0]["encoding"]["x"]["field"] == "value"
    assert len({p["axis"] for p in points}) == 2 and [p["label"] for p in points] == long
    _, _, _, chart = drawn(make.counts([1, 2], [1.0, 1.0], wards=["A", "B"]).plot())
    assert chart["layer"][0]["encoding"]["y"]["field"] == "value"


def test_too_many_bars(make):
    """Catches the first 60 instead of the largest, and silence about the rest."""
    values = [(7 * i) % 500 for i in range(500)]
    _, points, _, chart = drawn(make.counts(values, [1.0] * 500).plot())
    assert [p["value"] for p in points] == list(range(499, 439, -1))
    assert "not drawn: 440 smaller" in chart["title"]["subtitle"][0]


def test_several_keys(make):
    """Catches keys that run into each other."""
    frame = {"ward": ["A", "B"], "year": [2023, 2024], "n": [1, 2], "n_error": [1.0, math.inf]}
    columns = make.key("ward"), make.key("year"), make.value("n"), make.error("n")
    _, points, bars, chart = drawn(make.build(frame, *columns).plot())
    assert [p["label"] for p in points] == ["A · 2023", "B · 2024"] and len(bars) == 1
    assert "where the error is known" in chart["title"]["subtitle"][0]


def test_histograms(make):
    """Catches one bin drawn instead of all, and bins of another histogram mixed in."""
    names = ["age_0_to_9", "age_10_to_19", "pay_0_to_9"]
    frame = {name: [i + 1] for i, name in enumerate(names)}
    columns = [make.value(name, "bin", of=name.split("_")[0]) for name in names]
    mark, points, _, chart = drawn(make.build(frame, *columns).plot())
    assert mark == "bar" and [p["label"] for p in points] == ["0 to 9", "10 to 19"]
    assert chart["title"]["text"] == "age"
    _, points, _, _ = drawn(make.build(frame, *columns).plot("pay_0_to_9"))
    assert [p["value"] for p in points] == [3]
    frame = {"ward": ["A", "B"], "my_age_10_to_15": [1, 2], "my_age_15_to_20": [3, 4]}
    columns = [make.value(name, "bin") for name in list(frame)[1:]]
    _, points, _, chart = drawn(make.build(frame, make.key("ward"), *columns).plot())
    labels = ["A · 10 to 15", "A · 15 to 20", "B · 10 to 15", "B · 15 to 20"]
    assert [p["label"] for p in points] == labels
    assert [p["value"] for p in points] == [1, 3, 2, 4]
    assert chart["title"]["text"] == "my_age by ward"


def test_refused(wards, make):
    """Catches a picture of words."""
    with pytest.raises(InvalidArgument, match="value must be one of n, stay, p90"):
        wards.plot("common")
    with pytest.raises(InvalidArgument, match="choices alone"):
        make.build({"c": ["x"]}, make.value("c", "choice")).plot()
    with pytest.raises(InvalidArgument, match=r"ends in \.svg, \.png or \.html, got '\.gif'"):
        wards.plot().save("x.gif")


def test_saved_without_a_network(make, tmp_path, monkeypatch):
    """Catches a renderer that fetches scripts, a page that loads them later, and a key that ends
    the page's script to run its own."""

    def refuse(*args, **kwargs):
        raise OSError("no network here")

    monkeypatch.setattr(socket, "socket", refuse)
    for proxy in ("http_proxy", "https_proxy", "all_proxy"):  # for a renderer that is not Python
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")
        monkeypatch.setenv(proxy.upper(), "http://127.0.0.1:9")
    nasty = "</script><script>alert(1)"
    plot = make.counts([5, 7], [1.0, 1.0], wards=[nasty, "B"], guarantee=GDP(1)).plot()
    for ending in ("svg", "png", "html"):
        plot.save(tmp_path / f"p.{ending}")
    svg = (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert "95 % error bars" in svg and "n by ward" in svg and "<script" not in svg
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "cdn." not in page and "<script src" not in page
    assert json.dumps(nasty)[1:-1].replace("<", "\\u003c") in page
    assert svg.startswith("<svg") and plot._repr_html_() == svg
    assert set(plot._repr_mimebundle_()) == {"image/svg+xml", "text/plain"}


def test_nothing_to_draw(make):
    """Catches an empty result that cannot be drawn."""
    assert drawn(make.counts([], []).plot())[1] == []
