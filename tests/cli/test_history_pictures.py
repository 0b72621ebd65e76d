"""A history drawn as a picture, and with blocks in a terminal."""

import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from rich.cells import cell_len

from discreet.cli.ledger_report import bar, fitted, timeline
from discreet.guarantees import GDP, Pure
from discreet.guarantees.filters import Filter
from discreet.guarantees.notion import Notion
from discreet.ledger import Cost, Entry
from discreet.ledger.plot import NOBODY, OTHERS, draw
from discreet.neighbors import Relation
from discreet.plot import Plot

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def history(
    charges: int,
    analysts: Sequence[str | None],
    *,
    limit: Notion | None = None,
    every: timedelta = timedelta(days=1),
) -> tuple[list[Entry], Filter]:
    """Charges of a hundredth each, by the analysts in turn."""
    cap = limit or Pure(3)
    amount = Fraction(1, 100)
    entries = [
        Entry(
            number=i + 1,
            time=START + i * every,
            dataset="people",
            analyst=analysts[i % len(analysts)],
            question="how many",
            query=None,
            digest="0" * 64,
            mechanisms=(),
            guarantee=Pure(amount),
            relation=Relation.ADD_REMOVE,
            unit=None,
            costs=(Cost('dataset "people"', type(cap), amount, Fraction(0)),),
            hash=None,
        )
        for i in range(charges)
    ]
    return entries, Filter(limit=cap, total=amount * charges)


def layers(plot: Plot) -> list[list[dict[str, Any]]]:
    """The data of each layer, which Altair may keep in one place for all."""
    chart = plot.chart.to_dict()
    kept = chart.get("datasets", {})
    found = [layer.get("data", chart.get("data")) for layer in chart["layer"]]
    return [data["values"] if "values" in data else kept[data["name"]] for data in found]


def drawn(charges: int, analysts: Sequence[str | None], **more: Any) -> Plot:
    """The picture of such a history."""
    entries, account = history(charges, analysts, **more)
    return draw(entries, dataset="people", account=account)


def test_sums_rise_to_what_was_spent() -> None:
    """Catches an analyst left out, and sums that are not cumulated."""
    steps, *_ = layers(drawn(200, ["ann", "bob", None]))
    last = {row["analyst"]: row["spent"] for row in steps}
    assert last == pytest.approx({"ann": 0.67, "bob": 0.67, NOBODY: 0.66})
    for name in last:
        line = [row["spent"] for row in steps if row["analyst"] == name]
        assert line[0] == 0
        assert line == sorted(line)


def test_the_cap_is_drawn_unless_it_is_far_above() -> None:
    """Catches a picture that is flat on the ground, and one that hides where the cap is."""
    assert any("cap" in values[0] for values in layers(drawn(100, ["ann"])))
    few = drawn(3, ["ann"])
    assert not any("cap" in values[0] for values in layers(few))
    assert "too far above" in few.chart.to_dict()["title"]["subtitle"][-1]


def test_many_analysts_are_put_together_and_long_names_stay_apart() -> None:
    """Catches colours used twice, and two people drawn as one."""
    steps, *_ = layers(drawn(45, [f"analyst {i}" for i in range(15)]))
    names = {row["analyst"] for row in steps}
    assert len(names) == 8
    assert OTHERS in names
    long = "the very long name of a person that goes on, number "
    steps, *_ = layers(drawn(45, [long + "one", long + "two"]))
    assert {row["analyst"][-3:] for row in steps} == {"one", "two"}  # what tells them apart


def test_many_charges_are_few_steps() -> None:
    """Catches a picture that grows with the journal, and ends below the sum."""
    steps, *_ = layers(drawn(5_000, ["ann", "bob"], limit=Pure(60), every=timedelta(minutes=7)))
    assert len(steps) <= 2 * 403
    assert steps[-1]["spent"] + steps[-2]["spent"] == pytest.approx(50)


@pytest.mark.parametrize("charges", [0, 1, 40])
def test_pictures_are_drawn_whatever_was_charged(charges: int) -> None:
    """Catches a division by no time; the picture has a size that can be looked at."""
    png = drawn(charges, [None], limit=GDP(1), every=timedelta(0)).to_png()
    width, height = struct.unpack(">II", png[16:24])
    assert 800 < width < 2400
    assert 500 < height < 1200


def test_time_is_written_as_finely_as_it_passes() -> None:
    """Catches ticks that all say the same minute, and a future that nobody knows."""
    forms = [
        drawn(charges, ["ann"], every=every).chart.to_dict()["layer"][0]["encoding"]["x"]["axis"]
        for charges, every in (
            (5, timedelta(seconds=1)),
            (50, timedelta(seconds=1)),
            (50, timedelta(minutes=1)),
            (50, timedelta(days=1)),
            (50, timedelta(days=30)),
        )
    ]
    written = [form["format"] for form in forms]
    assert written == ["%H:%M:%S.%L", "%H:%M:%S", "%H:%M", "%b %-d", "%b %Y"]
    steps, *_ = layers(drawn(1, ["ann"], limit=Pure("0.05")))
    assert datetime.fromisoformat(steps[-1]["time"]) - START <= timedelta(minutes=1)
    few, account = history(10, ["ann"], every=timedelta(seconds=9))
    lines = [line.plain for line in timeline(few, account, width=100)]
    assert "a column is about" in lines[0] and "second" in lines[0]
    assert "09:00:00" in lines[-1] and "09:01:21" in lines[-1]


def test_the_legend_is_in_the_order_of_the_stack() -> None:
    """Catches a legend that is upside down: the first of the stack is at the bottom of both."""
    plot = drawn(60, ["ann", "bob", "cyd"])
    colour = plot.chart.to_dict()["layer"][0]["encoding"]["color"]
    steps, *_ = layers(plot)
    first = sorted({(row["order"], row["analyst"]) for row in steps})
    assert colour["legend"]["values"] == [name for _, name in reversed(first)]


def test_names_that_are_cut_say_so() -> None:
    """Catches a name that ends where the space does, as if it were whole."""
    assert fitted("annabelle one", 9) == "anna… one"
    assert fitted("annabelle two", 9) == "anna… two"
    assert fitted("李雷李雷", 5) == "李…雷"
    assert fitted("ann", 5) == "ann  "
    assert all(cell_len(fitted("李a雷b李c雷", width)) == width for width in range(1, 12))


def test_a_clock_that_was_set_back_stands_still() -> None:
    """Catches a line that runs backwards."""
    entries, account = history(40, ["ann"], every=timedelta(days=-1))
    steps, *_ = layers(draw(entries, dataset="people", account=account))
    times = [row["time"] for row in steps]
    assert times == sorted(times)
    assert timeline(entries, account, width=80)


def test_no_name_is_markup() -> None:
    """Catches a name that a terminal obeys."""
    entries, account = history(40, ["\x1b[2J [red]x"])
    assert "\x1b" not in "".join(line.plain for line in timeline(entries, account, width=80))


def test_blocks_add_up() -> None:
    """Catches bars that show nothing where something is spent, or all where some is left."""
    assert bar(0, 10).plain == "░" * 10
    assert bar(1e-9, 10).plain[0] == "▏"
    assert bar(1, 10).plain == "█" * 10
    assert len(bar(2, 10).plain) == 10
    entries, _ = history(50, ["ann", "bob"])
    account = Filter(limit=Pure("1/2"), total=Fraction(1, 2))
    lines = [line.plain for line in timeline(entries, account, width=80)]
    assert [line.rpartition("▏")[2] for line in lines[1:3]] == ["ε = 0.25", "ε = 0.25"]
    assert lines[4].rstrip("▏").endswith("█")  # all of it is spent: the highest line is full
    assert account.limit.amount == Fraction(1, 2)
    few, account = history(1, [None])
    assert timeline([], account, width=80)[0].plain == "nothing was spent yet"
    assert len(timeline(few, account, width=5)) == 9
