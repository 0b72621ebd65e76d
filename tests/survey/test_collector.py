"""The collector: every source gives the same counts; what is wrong is counted and set aside."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import InvalidArgument, Refused
from discreet.survey import ChooseAny, ChooseOne, Collector, Number, Questionnaire, YesNo, collect
from discreet.testing import seeded

FORM = Questionnaire(
    "All kinds",
    [
        YesNo("smoker", "Do you smoke?", truth=0.5),
        ChooseOne("item", "Which?", options=30, epsilon=2, mechanism="projective"),
        ChooseAny("had", "Which?", options=["flu", "mumps", "none"], epsilon=2),
        Number("age", "How old?", bounds=(20, 60), step=1, epsilon=1),
    ],
)
N = 400
with seeded(5):
    REPORTS = FORM.respond_many(
        {
            "smoker": np.arange(N) % 3 == 0,
            "item": np.arange(N) % 30,
            "had": np.arange(N)[:, None] % 3 == np.arange(3),
            "age": 20 + np.arange(N) % 41,
        }
    )
GOOD = next(iter(REPORTS)).document()


def counts(collector):
    tallies = [
        collector._tallies[name].counts.tolist() for name in ("smoker", "item", "had", "age")
    ]
    pairs = [pairs.counts.tolist() for pairs in collector._pairs.values()]
    return tallies + pairs


def collected(*sources):
    collector = Collector(FORM, cross=[("smoker", "had")])
    for source in sources:
        collector.add(source)
    return collector


def sources(folder):
    columns = REPORTS.columns()
    lines = [report.to_json() for report in REPORTS]
    for ending in ("jsonl", "csv", "parquet"):
        yield REPORTS.write(folder / f"reports.{ending}")
    (folder / "list.json").write_text(f"[{','.join(lines)}]")
    (folder / "quoted.csv").write_text(pd.DataFrame(columns).to_csv(index=False, quoting=1))
    (folder / "windows.jsonl").write_bytes("\r\n".join(["", *lines, "", ""]).encode())
    yield from (folder / "list.json", folder / "quoted.csv", folder / "windows.jsonl")
    yield from (list(REPORTS), iter(report.document() for report in REPORTS), lines)
    yield [line.encode() + b"\n" for line in lines]
    yield from (columns, pa.table(columns), pd.DataFrame(columns), pl.DataFrame(columns))
    yield pa.table(columns).to_reader(max_chunksize=7)


def test_every_source_gives_the_same_counts(tmp_path):
    """Files, lines, dicts, frames, arrays. Catches a reader that reads a column otherwise."""
    expected = counts(collected(REPORTS))
    for source in sources(tmp_path):
        collector = collected(source)
        assert counts(collector) == expected
        assert (collector.respondents, collector.set_aside) == (N, {})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"survey": "0" * 16}, "other survey"),
        ({"survey": 7}, "other survey"),
        ({"survey": None}, "incomplete"),
        ({"wave": 2}, "other wave"),
        ({"wave": "1"}, "malformed"),
        ({"wave": True}, "malformed"),
        ({"id": None}, "incomplete"),
        ({"id": "00"}, "malformed"),
        ({"id": "g" * 32}, "malformed"),
        ({"id": GOOD["id"]}, "duplicated"),
        ({"id": GOOD["id"].upper()}, "duplicated"),
        ({"smoker": None}, "incomplete"),
        ({"smoker": True}, "malformed"),
        ({"smoker": 1.0}, "malformed"),
        ({"smoker": "1"}, "malformed"),
        ({"smoker": [1]}, "malformed"),
        ({"smoker": 2}, "out of range"),
        ({"smoker": -1}, "out of range"),
        ({"smoker": 10**30}, "out of range"),
        ({"had": "01"}, "malformed"),
        ({"had": "0x1"}, "malformed"),
        ({"had": "٠١-"}, "malformed"),
        ({"had": 10}, "malformed"),
        ({"had": "000"}, "out of range"),  # one item is answered, not three
        ({"had": "---"}, "out of range"),
    ],
)
def test_each_reason(change, reason):
    """One bad report among good ones, as a dict, a line, and Arrow where it has a type. Catches a
    report that counts, or stops the others from counting."""
    bad = {**GOOD, "id": "ab" * 16, **change}
    bad = {name: value for name, value in bad.items() if value is not None}
    for source in ([bad], [json.dumps(bad)], [dict(bad), dict(bad, survey="elsewhere")]):
        collector = collected(REPORTS)
        collector.add(source)
        aside = collector.set_aside
        assert (collector.respondents, aside.pop(reason) >= 1) == (N, True)
        assert not aside or aside == {"other survey": 1}
        assert counts(collector) == counts(collected(REPORTS))


def test_crafted_lines_do_not_swallow_honest_ones():
    """Two lines that are one array when joined by a comma, with honest lines between. Catches
    parsing many lines at once where that is not the same as one by one."""
    honest = [report.to_json() for report in REPORTS][:3]
    forged = json.dumps({**GOOD, "id": "cd" * 16})
    for first, last in (
        ('{"x":[1', f"2]}},{','.join([forged] * 4)}"),
        ('{"x":[{"a":1}', f'{{"b":2}}]}},{forged},{forged},{forged},{forged}'),
        ('{"x":"}', '{"}'),
        ('{"x":"}', f'{{"}},{forged}'),
    ):
        collector = collected([line.encode() for line in [first, *honest, last]])
        assert (collector.respondents, collector.set_aside) == (3, {"malformed": 2})
    assert collected([f"{forged}\n{forged}".encode()]).set_aside == {"malformed": 1}


def test_the_first_of_two_counts_across_files(tmp_path):
    """The same file again, and half of it in another form. Catches ids kept per source."""
    path = REPORTS.write(tmp_path / "reports.csv")
    collector = collected(path, path, REPORTS.part(0, 100))
    assert (collector.respondents, collector.set_aside) == (N, {"duplicated": N + 100})


def test_tables_in_memory_may_lack_ids_and_say_so(tmp_path):
    """Catches duplicates that seem to have been looked for; a file must have its columns."""
    answers = dict(REPORTS.answers)
    result = collect(FORM, answers)
    assert result.respondents == N
    assert sum("no column" in note for note in result.notes) == 3
    columns = {name: REPORTS.columns()[name] for name in answers}
    pl.DataFrame(columns).write_parquet(tmp_path / "bare.parquet")
    assert collect(FORM, tmp_path / "bare.parquet").set_aside == {"incomplete": N}
    gaps = pd.DataFrame({**columns, "smoker": [0.0, np.nan, 0.5, *[1.0] * (N - 3)]})
    found = collect(FORM, gaps)
    assert (found.respondents, found.set_aside) == (N - 2, {"malformed": 1, "incomplete": 1})


def test_machines_merge_what_they_counted():
    """Half and half is the whole; what both counted is refused and changes nothing."""
    whole, left, right = (
        collected(REPORTS),
        *(collected(REPORTS.part(*p)) for p in ((0, 150), (150, N))),
    )
    right.add(["not a report"])
    left.merge(right)
    assert counts(left) == counts(whole)
    assert (left.respondents, left.set_aside) == (N, {"malformed": 1})
    before = counts(left)
    with pytest.raises(Refused, match="200 of the reports"):
        left.merge(collected(REPORTS.part(0, 200)))
    with pytest.raises(InvalidArgument, match="same questionnaire"):
        left.merge(Collector(FORM))
    assert counts(left) == before
    left.add(REPORTS)  # ids were merged too
    assert left.respondents == N


def test_each_wave_has_its_own_collector():
    """Catches reports of one person in two waves that pass for two people."""
    form = Questionnaire("Waves", [YesNo("smoker", "Do you smoke?", epsilon=1)], waves=3)
    with pytest.raises(InvalidArgument, match="not independent"):
        Collector(form)
    with pytest.raises(InvalidArgument, match="from 1 to 3"):
        Collector(form, wave=4)
    collector = Collector(form, wave=2)
    for wave in (1, 2, 3):
        collector.add(form.respond_many({"smoker": [True] * 10}, wave=wave))
    assert (collector.respondents, collector.set_aside) == (10, {"other wave": 20})


def test_a_result_feels_like_other_results(tmp_path):
    """Text, frames, pictures. Catches a table or a picture that cannot be made."""
    result = collected(REPORTS, ["x"]).result()
    assert "400 respondents" in str(result) and "set aside: 1 malformed" in str(result)
    assert result.to_pandas().shape == result.to_polars().shape == (2 + 30 + 3 + 1, 6)
    assert list(result) == ["smoker", "item", "had", "age"]
    for plot in (result.plot(), result.plot("age"), result.cross("smoker", "had").plot()):
        assert plot.to_svg().startswith("<svg")
    titles = [part["title"] for part in result.plot().chart.to_dict()["vconcat"]]
    assert {title["frame"] for title in titles} == {"group"}  # one below the other
    with pytest.raises(InvalidArgument, match="one of smoker"):
        result["height"]


def test_long_reports_are_looked_at_in_smaller_parts(tmp_path, monkeypatch):
    """Seven rows at a time give the same counts. Catches a part that is lost or counted twice."""
    expected = counts(collected(REPORTS))
    monkeypatch.setattr("discreet.survey.collector._CELLS", 21)
    for source in sources(tmp_path):
        collector = collected(source, ["broken"])
        assert counts(collector) == expected
        assert collector.set_aside == {"malformed": 1}


def test_a_later_wave_says_that_permanent_answers_are_the_first() -> None:
    """Catches a result that passes off what was answered in the first wave as news."""
    steady = YesNo("smoker", "Do you smoke?", epsilon=8, permanent=True)
    form = Questionnaire("Twice", [steady], waves=2)
    first = form.respond_many({"smoker": np.zeros(500, bool)})
    second = form.respond_many({"smoker": np.ones(500, bool)}, wave=2, before=first)
    assert collect(form, first, wave=1).notes == ()
    (note,) = collect(form, second, wave=2).notes
    assert "smoker: permanent" in note and "first answers" in note
