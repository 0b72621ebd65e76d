"""Pictures of findings: both laws, the event shaded, and words that promise no more."""

import struct
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import discreet as dp
from discreet.auditor.audit import audit
from discreet.auditor.finding import Bar, Finding
from discreet.auditor.plot import plot

draw = np.random.default_rng(6)  # of the functions that are audited, which are somebody's
TEXT = "a label that is a good deal longer than what fits beside the bar that it is of"


def finding(
    bars: Sequence[Bar], *, violated: bool = True, event: str = "output is 1", name: str = "output"
) -> Finding:
    """A finding as far as a picture looks at one."""
    told = SimpleNamespace(feature=SimpleNamespace(name=name), __str__=lambda: event)
    made = SimpleNamespace(
        bars=tuple(bars),
        claim=dp.Pure(1),
        violated=violated,
        lower_bound=1.937123,
        parameter="epsilon",
        samples=12_345,
        risk=1e-9,
        witness=SimpleNamespace(
            event=told,
            epsilon=1.937123,
            question=SimpleNamespace(reported=SimpleNamespace(claimed=1.0)),
        ),
    )
    return cast(Finding, made)


def values(chart: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    """The data of a layer."""
    data = chart["layer"][layer]["data"]
    found: list[dict[str, Any]] = (
        data["values"] if "values" in data else chart["datasets"][data["name"]]
    )
    return found


NAMES = ("outputs of pair[0]", "outputs of pair[1]")
RANGES = [
    Bar("0 to 1", 0.0, 1.0, (0.1, 0.4), 0.0),
    Bar("1 to 2", 1.0, 2.0, (0.2, 0.3), 0.9),
    Bar("2 to 3", 2.0, 3.0, (0.3, 0.2), 1.0),
    Bar("3 to 4", 3.0, 4.0, (0.3, 0.1), 0.2),
    Bar("4 to 5", 4.0, 5.0, (0.1, 0.0), 1.0),
]


def test_ranges_are_steps_before_a_shaded_ground() -> None:
    """Catches a law that is left out or moved, and a ground that is not that of the event."""
    chart = plot(finding(RANGES)).chart.to_dict()
    spans = [(row["start"], row["end"]) for row in values(chart, 0)]
    assert spans == [(1.0, 3.0), (4.0, 5.0)]
    steps = values(chart, 1)
    for side, name in enumerate(NAMES):
        line = [(row["start"], row["share"]) for row in steps if row["input"] == name]
        assert line[:-1] == [(bar.start, bar.shares[side]) for bar in RANGES]
        assert line[-1] == (5.0, RANGES[-1].shares[side])  # the last step has an end


def test_a_rare_event_is_shaded_all_the_same() -> None:
    """Catches an event that takes less than half of each bar, and so is nowhere to be seen."""
    bars = [Bar("0 to 1", 0.0, 1.0, (0.5, 0.5), 0.0), Bar("1 to 2", 1.0, 2.0, (0.5, 0.5), 0.1)]
    chart = plot(finding(bars)).chart.to_dict()
    assert [(row["start"], row["end"]) for row in values(chart, 0)] == [(1.0, 2.0)]


def test_kinds_are_bars_side_by_side_and_long_labels_lie_down() -> None:
    """Catches labels that become one, and those that run into each other."""
    short = [Bar(str(i), float(i), float(i), (0.5, 0.5), float(i)) for i in (0, 1)]
    chart = plot(finding(short)).chart.to_dict()
    assert [row["label"] for row in values(chart, 0)] == ["1"]
    assert chart["layer"][1]["encoding"]["x"]["field"] == "label"
    long = [Bar(f"{TEXT} {i}", None, None, (0.5, 0.5), float(i)) for i in (0, 1)]
    chart = plot(finding(long)).chart.to_dict()
    assert chart["layer"][1]["encoding"]["y"]["field"] == "label"
    labels = {row["label"] for row in values(chart, 1)}
    assert len(labels) == 2
    assert max(map(len, labels)) < 50


def test_long_labels_are_cut_around_what_tells_them_apart() -> None:
    """Catches labels that are the same to the eye, with a number that says nothing."""
    forms = [f"{TEXT} {end} and so on, and so forth, up to its end" for end in ("yes", "no")]
    bars = [Bar(form, None, None, (0.5, 0.5), 1.0) for form in (*forms, "float")]
    labels = [row["label"] for row in values(plot(finding(bars)).chart.to_dict(), 1)][:3]
    assert all(label.startswith("a label th…") and label.endswith("…") for label in labels[:2])
    assert " yes " in labels[0] and " no " in labels[1] and labels[2] == "float"
    assert max(map(len, labels)) <= 40
    ends = [Bar(f"{TEXT} {end}", None, None, (0.5, 0.5), 1.0) for end in "ab"]
    labels = [row["label"] for row in values(plot(finding(ends)).chart.to_dict(), 1)][:2]
    assert [label[-1] for label in labels] == ["a", "b"]


@pytest.mark.parametrize("kinds", [True, False])
def test_a_shade_does_not_look_like_a_bar(kinds: bool) -> None:
    """Catches a shade as high and as wide as a bar, and a legend that does not say what it is."""
    labels = [Bar(name, None, None, (p, 1 - p), p) for name, p in (("a", 1.0), ("b", 0.0))]
    bars = labels if kinds else RANGES
    chart = plot(finding(bars)).chart.to_dict()
    ground, body = (chart["layer"][i]["encoding"] for i in (0, 1))
    highest = max(share for bar in bars for share in bar.shares)
    assert body["y"]["scale"]["domain"][1] > 1.05 * highest
    assert {row["input"] for row in values(chart, 0)} == {"shaded: the event"}
    for layer in (ground, body):
        assert layer["color"]["scale"]["domain"] == [*NAMES, "shaded: the event"]
    if kinds:
        assert body["xOffset"]["scale"]["paddingOuter"] > 0
        assert "xOffset" not in ground
    unshaded = [Bar("a", None, None, (1.0, 0.5), 0.0)]
    domain = plot(finding(unshaded)).chart.to_dict()["layer"][1]["encoding"]["color"]["scale"]
    assert domain["domain"] == [*NAMES]


def test_words_say_what_was_found_and_that_it_is_no_proof() -> None:
    """Catches a picture that, cut out of its report, promises more than the report did."""
    title = plot(finding(RANGES)).chart.to_dict()["title"]
    assert title["text"] == "Violated: Pure(epsilon=1)"
    assert "ε ≥ 1.937; 12,345 outputs of each input; confidence 1 − 1e-09" in title["subtitle"][0]
    assert " ".join(title["subtitle"]).endswith(
        "it, or its opposite, is at least 6.94 times as likely under one input as under the other; "
        "ε allows 2.72 times"
    )
    title = plot(finding(RANGES, violated=False)).chart.to_dict()["title"]
    assert title["text"].startswith("No violation found")
    assert "no proof" in title["subtitle"][0]
    assert "times as likely" not in " ".join(title["subtitle"])
    some = [Bar("a", None, None, (0.25, 0.5), 1.0)]
    told = plot(finding(some)).chart.to_dict()["title"]["subtitle"]
    assert told[-1] == "not drawn: other outputs, 75 % of pair[0] and 50 % of pair[1]"


@pytest.mark.parametrize("bars", [[], RANGES, [Bar(TEXT, None, None, (1.0, 1.0), 1.0)]])
def test_pictures_have_a_size_that_can_be_looked_at(bars: list[Bar]) -> None:
    """Catches a picture that cannot be rendered, is empty, or is as high as a house."""
    png = plot(finding(bars)).to_png()
    width, height = struct.unpack(">II", png[16:24])
    assert 1000 < width < 2400
    assert 150 < height < 1200


def halves(x: float, size: int) -> Any:
    """Half of the noise that is claimed, on a grid."""
    return np.round((x + draw.laplace(0, 0.5, size)) * 1024) / 1024


def whole(x: float, size: int) -> Any:
    """The same for whole numbers, with a wide law."""
    return np.round(50 * x + draw.laplace(0, 25, size))


def floats(x: float, size: int) -> Any:
    """Noise in floats, whose bits tell."""
    return x + draw.laplace(0, 1, size)


def words(x: float, size: int) -> Any:
    """Text, one of a few."""
    return [("yes", "no", "perhaps")[0 if u < 0.9 - 0.7 * x else 1] for u in draw.random(size)]


@pytest.mark.parametrize("run", [halves, whole, floats, words])
def test_bars_of_real_findings_add_up_and_show_the_event(run: Callable[..., Any]) -> None:
    """Catches shares that are lost, a shaded bar that is none of the event's, and an event that
    cannot be seen, for numbers, whole numbers, bit patterns and kinds."""
    found = audit(run, (0.0, 1.0), dp.Pure(1), samples=40_000, batched=True)
    assert found.violated
    for side in (0, 1):
        assert sum(bar.shares[side] for bar in found.bars) == pytest.approx(1, abs=1e-9)
    assert 2 <= len(found.bars) <= 60
    inside = [sum(bar.shares[side] * bar.inside for bar in found.bars) for side in (0, 1)]
    assert found.witness is not None
    first, other = inside[found.witness.first], inside[1 - found.witness.first]
    # More than half of what the event takes of the likelier input lies in shaded bars.
    assert first > 0.5 * found.witness.probability
    assert first > 1.5 * other
    assert len(plot(found).to_svg()) > 1000
