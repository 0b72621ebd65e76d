"""H13, sizes: no question is so large that it takes minutes, or the memory, to refuse or answer it.

Lists that never end, lists that lie about their length, products that are larger than any memory:
each is refused where it is stated. What lies within the limits is short in SQL, so nothing here
looks at a clock.
"""

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.cli.main import main
from discreet.engines.duckdb import DuckDbPass
from discreet.query import keys, limits, row
from discreet.query.aggregates import commonest, histograms, quantiles

ROOT = Path(__file__).parents[2]
TABLE = pa.table(
    {
        "who": [k % 7 for k in range(100)],
        "x": [k / 3 for k in range(100)],
        "i": list(range(100)),
        "t": [f"w{k}" for k in range(100)],
    }
)
BEYOND = "of at most"  # what every refusal says


class Liar(list):
    """A list that never ends, and says that it is short."""

    def __len__(self):
        return 2

    def __iter__(self):
        return itertools.count()


@pytest.fixture
def people():
    return dp.table(TABLE)


ENDLESS = {
    "a generator": lambda: (i for i in itertools.count()),
    "a long range": lambda: range(10**9),
    "a longer range": lambda: range(10**18),
    "a range without a length": lambda: range(10**30),
    "a list that lies": lambda: Liar([0, 1]),
    "a repeated value": lambda: (1 for _ in itertools.count()),
}


@pytest.fixture
def lower(monkeypatch):
    """Limits that are reached sooner: reading up to the real ones takes a minute in all."""
    for module, name in (
        (keys, "KEYS"),
        (histograms, "BINS"),
        (commonest, "VALUES"),
        (quantiles, "PROBABILITIES"),
        (row, "VALUES"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name) // 100)


@pytest.mark.parametrize("values", ENDLESS.values(), ids=ENDLESS)
def test_h13_lists_without_an_end(people, lower, values):
    """Catches a list that is read to its end before its length is looked at: that code hangs."""
    beyond_every_limit(people, values)


@pytest.mark.long
@pytest.mark.parametrize("values", ENDLESS.values(), ids=ENDLESS)
def test_h13_lists_without_an_end_at_the_real_limits(people, values):
    """Catches the same where the limits are those of users."""
    beyond_every_limit(people, values)


def beyond_every_limit(people, values):
    asked = (
        lambda: people.group_by("i", keys=values()),
        lambda: people.group_by("i", "who", keys={"i": values(), "who": [1]}),
        lambda: people.group_by("i", "who", keys=((k, k) for k in values())),
        lambda: dp.histogram("x", edges=values()),
        lambda: dp.histogram("i", categories=values()),
        lambda: people.where(lambda row: row.i.is_in(values())),
    )
    for ask in asked:
        with pytest.raises(dp.InvalidArgument, match=BEYOND):
            ask()
    if hasattr(values(), "__len__"):  # the other lists must be sequences
        for ask in (
            lambda: dp.top_k("i", 1, candidates=values()),
            lambda: dp.most_common("i", candidates=values()),
            lambda: dp.quantile("x", values(), bounds=(0, 1)),
        ):
            with pytest.raises(dp.InvalidArgument, match=BEYOND):
                ask()


def test_h13_crossed_keys_are_counted_before_they_are_made(people):
    """Catches a product that fills the memory: a thousand keys three times."""
    crossed = {"i": range(1000), "who": range(1000), "t": [f"w{k}" for k in range(1000)]}
    with pytest.raises(dp.InvalidArgument, match="5,000,000 keys, crossed, got 1,000,000,000"):
        people.group_by("i", "who", "t", keys=crossed)
    within = {"i": range(100), "who": range(100), "t": [f"w{k}" for k in range(10)]}
    assert len(people.group_by("i", "who", "t", keys=within).keys) == 100_000


REFUSED = {
    "keys in an array": lambda t: t.group_by("i", keys=np.arange(limits.KEYS + 1)),
    "keys in a table": lambda t: t.group_by("i", keys=dp.public({"i": range(limits.KEYS + 1)})),
    "a long key": lambda t: t.group_by("t", keys=["x" * (limits.TEXT + 1)]),
    "columns of a group": lambda t: t.group_by(*["i"] * (limits.GROUP_COLUMNS + 1), keys=[1]),
    "edges": lambda t: dp.histogram("x", edges=range(limits.BINS + 1)),
    "categories": lambda t: dp.histogram("i", categories=list(range(limits.BINS + 1))),
    "candidates": lambda t: dp.top_k("i", 1, candidates=list(range(limits.VALUES + 1))),
    "k": lambda t: dp.top_k("i", limits.CHOICES + 1, candidates=range(limits.VALUES)),
    "a huge k": lambda t: dp.top_k("i", 10**500, candidates=range(10)),
    "probabilities": lambda t: dp.quantile(
        "x", [Fraction(k, 5000) for k in range(1, limits.PROBABILITIES + 2)], bounds=(0, 1)
    ),
    "values": lambda t: t.where(lambda row: row.i.is_in(range(limits.VALUES + 1))),
    "a long text": lambda t: t.where(lambda row: row.t == "x" * (limits.TEXT + 1)),
    "a long text to look for": lambda t: t.where(lambda row: row.t.contains("x" * 10**7)),
    "a long text in a list": lambda t: t.where(lambda row: row.t.is_in(["x" * 10**7])),
    "a long text of a case": lambda t: t.mutate(
        c=lambda row: dp.case((row.i > 1, "x" * 10**7), otherwise="")
    ),
    "a long name": lambda t: t.mutate(**{"x" * 10**6: "i"}),
    "a long name of an aggregate": lambda t: t.agg(**{"x" * 10**6: dp.count()}),
    "columns of a step": lambda t: t.mutate(**{f"c{k}": "x" for k in range(limits.MADE + 1)}),
    "columns that are kept": lambda t: t.select(*["x"] * (limits.MADE + 1)),
    "aggregates": lambda t: t.agg(**{f"n{k}": dp.count() for k in range(limits.AGGREGATES + 1)}),
    "columns of an answer": lambda t: t.agg(
        **{f"h{k}": dp.histogram("x", edges=range(limits.BINS)) for k in range(3)}
    ),
    "histograms": lambda t: t.agg(
        **{f"h{k}": dp.histogram("x", edges=range(k + 2)) for k in range(limits.BINNED + 1)}
    ),
    "rows of a public table": lambda t: t.join(
        dp.public({"i": np.arange(limits.PUBLIC + 1)}), on="i"
    ),
}


@pytest.mark.parametrize("ask", REFUSED.values(), ids=REFUSED)
def test_h13_every_size_has_a_limit(people, ask):
    """Catches a size that a question chooses and nobody looks at."""
    with pytest.raises(dp.InvalidArgument, match=BEYOND):
        ask(people)


def test_h13_points_of_a_quantile(people):
    """Catches a grid that is made before it is measured."""
    for step in (1e-9, Fraction(1, 10**300)):
        with pytest.raises(dp.InvalidArgument, match="1,048,576 points"):
            people.agg(q=dp.median("x", bounds=(0, 10), step=step))


@pytest.mark.parametrize(
    "bound",
    [{"max_rows": 10**10}, {"max_groups": 10**500, "max_rows_per_group": 1}],
    ids=["many", "huge"],
)
def test_h13_bounds(bound):
    """Catches a bound whose square root is computed with thousands of digits."""
    with pytest.raises(dp.InvalidArgument, match=BEYOND):
        dp.table(TABLE, unit="who").bound(**bound)


def test_h13_steps_and_what_they_hold(people):
    """Catches many small steps that are one large one, and one expression in each of them."""
    table = people
    for _ in range(limits.STEPS):
        table = table.where(lambda row: row.i > 1)
    with pytest.raises(dp.InvalidArgument, match="at most 100 steps, got 101"):
        table.where(lambda row: row.i > 1)
    table = people
    for k in range(limits.JOINS):
        table = table.join(dp.public({"i": [1], f"j{k}": [1]}), on="i")
    with pytest.raises(dp.InvalidArgument, match="at most 20 joins"):
        table.join(dp.public({"i": [1], "j": [1]}), on="i")

    def wide(row):
        cells = [row.i] * 512
        while len(cells) > 1:
            cells = [a + b for a, b in zip(cells[::2], cells[1::2], strict=True)]
        return cells[0]

    once = people.mutate(a=wide)
    with pytest.raises(dp.InvalidArgument, match="2,000 operations, columns and literals"):
        once.mutate(b=wide)
    with pytest.raises(dp.InvalidArgument, match="2,000 operations, columns and literals"):
        once.agg(s=dp.sum(wide, bounds=(0, 1)))
    with pytest.raises(dp.InvalidArgument, match="100,000 values in its lists"):
        many = range(limits.VALUES // 2 + 1)
        people.where(lambda row: row.i.is_in(many) | row.who.is_in(many))


def test_h13_steps_within_each_other_are_counted_with_what_is_asked(people):
    """Catches an expression of 2^60 columns, which 60 steps of Python write down."""

    def doubled(row):
        cell = row.i
        for _ in range(60):
            cell = cell + cell
        return cell

    for ask in (
        lambda: people.where(doubled),
        lambda: people.agg(s=dp.sum(doubled, bounds=(0, 1))),
    ):
        with pytest.raises(dp.InvalidArgument, match="at most 64 operations deep"):
            ask()


LONG = {
    "edges": lambda t: t.agg(h=dp.histogram("x", edges=[k / 7 for k in range(limits.BINS)])),
    "edges of integers": lambda t: t.agg(h=dp.histogram("i", edges=range(limits.BINS))),
    "categories": lambda t: t.agg(h=dp.histogram("i", categories=list(range(limits.BINS)))),
    "candidates": lambda t: t.agg(h=dp.top_k("i", 2, candidates=list(range(limits.VALUES)))),
    "most_common": lambda t: t.agg(h=dp.most_common("i", candidates=list(range(limits.VALUES)))),
    "is_in": lambda t: t.where(lambda row: row.i.is_in(range(limits.VALUES))).agg(n=dp.count()),
    "is_in of texts": lambda t: t.where(
        lambda row: ~row.t.is_in([f"w{k}" for k in range(limits.VALUES)])
    ).agg(n=dp.count()),
    "is_in in a sum": lambda t: t.agg(
        s=dp.sum(lambda row: row.x.is_in([k / 7 for k in range(limits.VALUES)]), bounds=(0, 1))
    ),
    "mutates": lambda t: steps(t, lambda t, k: t.mutate(**{f"m{k}": lambda row: row.x + k})),
    "mutates of each other": lambda t: steps(t, lambda t, k: t.mutate(x=lambda row: row.x + 1)),
    "conditions": lambda t: steps(t, lambda t, k: t.where(lambda row: row.x >= k / 1000)),
    "a case": lambda t: t.mutate(
        c=lambda row: dp.case(*((row.i == k, k) for k in range(300)), otherwise=0)
    ).agg(s=dp.sum("c", bounds=(0, 9))),
}


def steps(table, step):
    for k in range(limits.STEPS):
        table = step(table, k)
    return table.agg(s=dp.sum("x", bounds=(0, 9)))


@pytest.mark.parametrize("ask", LONG.values(), ids=LONG)
def test_h13_the_largest_questions_are_short_in_sql(people, ask, monkeypatch):
    """Catches lists that are spelled out as CASE or IN, and steps that are written into each other.

    Today's code writes a megabyte and more for each of these, or gives up: 10,000 edges took 154
    seconds, and twenty mutates brought PostgreSQL down.
    """
    written = []
    compiled = DuckDbPass.compile

    def noted(run, query):
        written.append(compiled(run, query))
        return written[-1]

    monkeypatch.setattr(DuckDbPass, "compile", noted)
    session = dp.Session(people, budget=dp.Pure(100))
    session.release(ask(people), epsilon=50)
    assert written and max(map(len, written)) < 150_000


def test_h13_answers_are_those_of_short_lists(people):
    """Catches a long list that counts otherwise than a short one, at edges and in all types."""
    session = dp.Session(people, budget=dp.Pure(10**4))
    long = session.release(
        people.agg(h=dp.histogram("x", edges=[k / 3 for k in range(90)])), epsilon=1000
    ).to_arrow()
    assert [long.column(2 * k)[0].as_py() for k in range(89)] == [1] * 88 + [12]
    inside = people.where(lambda row: row.x.is_in([k / 3 for k in range(50)]))
    session = dp.Session(people, budget=dp.Pure(10**4))
    assert session.release(inside.agg(n=dp.count()), epsilon=1000).value("n").value == 50


def test_h13_the_limits_are_documented():
    """Catches a limit that is changed, or added, without a word to those who meet it."""
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    section = page.split("## How large a question may be", 1)[1].split("\n## ", 1)[0]
    sizes = {name: size for name, size in vars(limits).items() if name.isupper()}
    assert len(sizes) == 19
    for name, size in sizes.items():
        assert f"| {size:,} |" in section, name


FLAGS = {
    "--public-keys": ("--count", "--group-by", "i", "--public-keys", "keys.csv"),
    "--keys": ("--count", "--group-by", "i", "--keys", ",".join(map(str, range(11)))),
    "--histogram": ("--histogram", "x:" + ",".join(map(str, range(11)))),
    "--top-k": ("--top-k", "t:1:" + ",".join(map(str, range(11)))),
    "--where": ("--count", "--where", f"i in ({', '.join(map(str, range(11)))})"),
}


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_h13_flags_meet_the_same_limits(flags, tmp_path, monkeypatch, capsys):
    """Catches a way around the limits: the command line asks through the same builder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    pq.write_table(TABLE, "people.parquet")
    Path("keys.csv").write_text("i\n" + "\n".join(map(str, range(11))) + "\n")
    arguments = ("explain", "people.parquet", "--epsilon", "1", *flags)
    assert main(arguments) == 0
    monkeypatch.setattr(keys, "KEYS", 10)
    monkeypatch.setattr(histograms, "BINS", 10)
    monkeypatch.setattr(commonest, "VALUES", 10)
    monkeypatch.setattr(row, "VALUES", 10)
    assert main(arguments) != 0
    assert BEYOND in capsys.readouterr().err
