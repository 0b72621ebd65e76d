"""Results to look at: every character of a small one, and what must never get through."""

import io
import math

import pyarrow as pa
import pytest

TEXT = """\
ward         n            stay                 p90  common
----  --------  --------------  ------------------  -------------------
A     1234 ± 6     5.32 ± 0.14  12.5 (rank ± 40)    flu    (count ± 12)
B      870 ± 6      4.1 ± 1.2     30 (rank ± 41)    a cold (count ± 12)
none    -3 ± 6  unknown ± ∞        4 (rank ± 1000)  none   (count ± 12)

± is the 95 % error of each value
cost ε = 0.5; protects a row (add-remove)
suppressed: keys held by too few people are not shown
note: rows without a ward are kept"""


def printed(result):
    """What a rich terminal of 120 columns shows."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=120, legacy_windows=False)
    console.print(result)
    return console.file.getvalue()


def test_plain_text(wards):
    """Catches any change in how a table reads."""
    assert str(wards) == repr(wards) == TEXT


def test_steps_are_shown(wards):
    """Catches post-processing that nobody can see, in any of the three forms."""
    clipped = wards.clip()
    for shown in (str(clipped), clipped._repr_html_(), printed(clipped)):
        assert "post-processed: counts below 0 set to 0" in shown


def test_rich(wards):
    """Catches a rich table that says less than the plain one."""
    words = printed(wards).split()
    assert [word for word in TEXT.split() if not word.startswith("--")] == words


def test_one_row_without_groups(make):
    """Catches answers that run off the screen: they stand below each other."""
    frame = {"n": [1234], "n_error": [6.0], "stay": [5.32], "stay_error": [0.14], "by": ["us"]}
    n, stay = make.value("n"), make.value("stay", "mean")
    columns = n, make.error("n"), stay, make.error("stay"), make.value("by", "choice")
    lines = str(make.build(frame, *columns)).splitlines()
    assert lines[:5] == [
        "              answer",
        "----  --------------",
        "n           1234 ± 6",
        "stay     5.32 ± 0.14",
        "by    us (count ± ∞)",
    ]


def test_many_rows_and_columns(make):
    """Catches a million rows printed, and a number that is off by one."""
    shown = str(make.counts(list(range(1020)), [1.0] * 1020))
    assert "ward 19" in shown and "ward 20" not in shown and "… and 1,000 more rows" in shown
    assert "… and 1 more row\n" in str(make.counts([1] * 21, [1.0] * 21))
    assert "more row" not in str(make.counts([1] * 20, [1.0] * 20))
    names = [f"v{i}" for i in range(30)]
    wide = make.build({n: [1, 2] for n in names}, *(make.value(n) for n in names))
    assert "… and 18 more columns" in str(wide) and "v12" not in str(wide)


def test_nothing_to_show(make):
    """Catches an empty table that breaks, which a query with discovered keys may give."""
    empty = make.counts([], [])
    assert "ward  n" in str(empty) and "<tbody>" in empty._repr_html_()
    assert len(empty) == 0 and empty["n"].sum().values[0] == 0
    assert empty.clip().to_csv() == "ward,n,n_error\r\n"


@pytest.mark.parametrize(
    "nasty", ["<script>alert(1)</script>", "a\x1b[2Jb", "[red]x[/red]", "a\nb"]
)
def test_keys_are_text_and_nothing_else(make, nasty):
    """Catches a key that runs in a notebook, clears a terminal, or breaks a line."""
    result = make.counts([1], [1.0], wards=[nasty], notes=(nasty,), suppressed=nasty)
    html = result._repr_html_()
    assert "<script" not in html and "\x1b" not in str(result) + html + printed(result)
    assert len(str(make.counts([1], [1.0], wards=[nasty])).splitlines()) == 6
    if nasty.startswith("["):
        assert nasty in printed(result)


def test_wide_letters_and_long_keys(make):
    """Catches columns out of line below wide letters, and a key as long as a page."""
    lines = str(make.counts([1, 2], [1.0, 1.0], wards=["内科", "ward"])).splitlines()
    assert lines[2:4] == ["内科  1 ± 1", "ward  2 ± 1"]
    lines = str(make.counts([1], [1.0], wards=["x" * 500])).splitlines()
    assert len(lines[2]) < 60 and "…" in lines[2]


def test_kinds_of_cells(make):
    """Catches bools, dates and decimals that print as Python objects."""
    import datetime
    from decimal import Decimal

    frame = {
        "on": [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)],
        "smoker": [True, None],
        "n": pa.array([Decimal(12), Decimal(13)], pa.decimal128(38, 0)),
        "n_error": [3.0, math.inf],
    }
    columns = make.key("on"), make.key("smoker"), make.value("n", "sum"), make.error("n")
    lines = str(make.build(frame, *columns)).splitlines()
    assert lines[2].split() == ["2024-02-29", "true", "12", "±", "3"]
    assert lines[3].split() == ["2024-03-01", "none", "13", "±", "∞"]
