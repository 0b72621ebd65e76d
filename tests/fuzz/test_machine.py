"""The fuzzer finds errors that are planted, makes them small, and writes them down in 20 lines."""

import secrets
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pytest

from discreet import session as running
from discreet.engines import row_sampling
from discreet.engines.sources import IbisSource
from discreet.errors import EngineError
from discreet.query.contribution import Contribution, ContributionBound
from discreet.query.measures import AllRows
from tests.fuzz.case import Case, Column, Neighbour, Source
from tests.fuzz.drawing import draw
from tests.fuzz.judging import Finding, judge
from tests.fuzz.report import LONGEST, script
from tests.fuzz.run import fuzz
from tests.fuzz.script import prelude
from tests.fuzz.shrinking import candidates, shrink
from tests.fuzz.world import World, world

CASES = 60  # drawn until a planted error is found; far fewer do


@pytest.fixture(scope="module")
def here() -> Iterator[World]:
    with world("duckdb") as made:
        yield made


def hunt(here: World, demand: str, what: str, start: int = 0) -> Finding:
    """The first finding of a kind, made small; ``start`` leaves out cases that do not show it."""
    for number in range(start, CASES):
        case = draw(f"planted-{number}", "duckdb")
        if len(case.source.patterns) > 1:  # these are about what patterns do
            continue
        for finding in judge(case, here).findings:
            if finding.demand == demand and what in finding.what:
                return shrink(finding, here, tries=40)
    raise AssertionError(f"not found in {CASES} cases")


def printed(finding: Finding) -> str:
    """What the script of a finding prints, when it is run."""
    code, out = script(finding), StringIO()
    assert len(code.splitlines()) <= LONGEST
    with (
        TemporaryDirectory() as folder,
        mock.patch("tempfile.tempdir", folder),
        redirect_stdout(out),
    ):
        exec(code, {})
    return out.getvalue()


def test_wrong_sensitivity_is_found(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches a fuzzer that does not compare answers with what was declared.
    moves = Contribution.moves

    def halved(self: Contribution, **given: Any) -> Any:
        right = moves(self, **given)
        return replace(right, l1=right.l1 / 2, l2=right.l2 / 2, linf=right.linf / 2)

    monkeypatch.setattr(Contribution, "moves", halved)
    found = hunt(here, "a", "distance")
    assert len(found.case.rows) == 1 + (found.case.relation == "replace")
    assert not found.case.steps
    assert "Sensitivity" in printed(found)


def test_row_too_many_is_found(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches a fuzzer whose people never have more rows than are kept of them.
    kept = row_sampling.kept

    def one_more(
        keys: Any, contents: Any, bound: ContributionBound, layout: Any, *, salt: int
    ) -> Any:
        more = {"max_rows": bound.max_rows, "max_rows_per_group": bound.max_rows_per_group}
        wider = {name: most + 1 for name, most in more.items() if most is not None}
        return kept(keys, contents, replace(bound, **wider), layout, salt=salt)

    monkeypatch.setattr("discreet.engines.row_sampling.kept", one_more)
    found = hunt(here, "a", "distance")
    assert found.case.unit == "u"
    assert len(found.case.rows) <= 4


def test_rows_of_others_that_change_are_found(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches a fuzzer that compares sums alone: others' rows may change and the sums still fit.
    hashed = row_sampling._hashed
    monkeypatch.setattr(
        row_sampling, "_hashed", lambda columns, salt: hashed(columns, salt + len(columns[0]))
    )
    found = hunt(here, "d", "others' rows", start=35)
    assert found.case.unit == "u"
    assert "alone" in script(found)


def test_type_that_depends_on_a_value_is_found(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Catches a fuzzer that looks at small tables only: no drawn table has 2^39 rows.
    array = running._array

    def wide(output: Any) -> Any:
        made = array(output)
        large = output.kind == "count" and any(int(n) > 2**39 for n in output.values)
        return made.cast("float64") if large else made

    monkeypatch.setattr(running, "_array", wide)
    found = hunt(here, "c", "types")
    assert "double" in printed(found)


def test_error_of_one_neighbour_is_found(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches a fuzzer that takes an error for an answer.
    measure = IbisSource.measure

    def fails(self: IbisSource, request: Any) -> Any:
        answer = measure(self, request)
        if int(answer.columns.get(AllRows(), np.zeros(1)).sum()) == 3:
            raise EngineError("three rows")
        return answer

    monkeypatch.setattr(IbisSource, "measure", fails)
    found = hunt(here, "b", "answer")
    assert "three rows" in printed(found)


def test_an_engine_that_never_answers_is_found(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Catches a fuzzer that takes every failure for a refusal before the charge.
    def fails(self: IbisSource, request: Any) -> Any:
        raise EngineError("never")

    monkeypatch.setattr(IbisSource, "measure", fails)
    assert "never" in printed(hunt(here, "b", "fails on any table"))


def test_wrong_number_is_found(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches a fuzzer that only compares neighbours: an engine may be wrong about both.
    measure = IbisSource.measure

    def counts_seven(self: IbisSource, request: Any) -> Any:
        answer = measure(self, request)
        columns = {m: x + 7 if m == AllRows() else x for m, x in answer.columns.items()}
        return replace(answer, columns=columns)

    monkeypatch.setattr(IbisSource, "measure", counts_seven)
    found = hunt(here, "f", "Rows")
    assert found.case.base == ()


def test_findings_are_grouped_and_counted(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches a run that stops at the first hole, or tells of the same one a hundred times.
    monkeypatch.setattr(running, "_notes", lambda plan: [secrets.token_hex(8)])
    monkeypatch.setattr("tests.fuzz.run.TRIES", {"duckdb": 5})
    told: list[str] = []
    outcome = fuzz("duckdb", "planted", here, pairs=30, keep_going=True, tell=told.append)
    notes = [one for one in outcome.found.values() if one.finding.kind == ("c", "notes")]
    assert sum(one.alike for one in notes) > len(notes)
    assert outcome.pairs >= 30


def test_seed_decides_the_case() -> None:
    # Catches a case that is not drawn from the seed alone, and could not be looked at again.
    assert draw("1-1", "duckdb") == draw("1-1", "duckdb") != draw("1-2", "duckdb")


@pytest.mark.parametrize("engine", ["duckdb", "spark", "postgres"])
def test_drawn_pairs_are_neighbours(engine: str) -> None:
    # Catches false alarms: tables that are no neighbours may differ by more.
    for number in range(150):
        case = draw(f"neighbours-{number}", engine)
        assert all(case.is_neighbour(other) for other in case.others)
        compile(prelude(case), "case", "exec")


@pytest.mark.parametrize(
    ("relation", "unit", "base", "other", "expected"),
    [
        ("add-remove", None, (0, 1), (0,), True),
        ("add-remove", None, (0, 1), (), False),
        ("replace", None, (0,), (1,), True),
        ("add-remove", "u", (0, 1, 2), (2,), True),
        ("add-remove", "u", (0, 1, 2), (1, 2), False),  # one of two rows of a person
        ("replace", "u", (0, 1), (2,), True),
        ("replace", "u", (0, 1), (), False),
    ],
)
def test_neighbours_differ_in_one_person(
    relation: str, unit: str | None, base: Any, other: Any, expected: bool
) -> None:
    # Catches a shrinker that makes a hole out of two tables that may differ.
    case = draw("1-1", "duckdb")
    case = replace(
        case,
        source=Source(),
        columns=(Column("u", "pa.int64()"), Column("i", "pa.int64()")),
        rows=((1, 5), (1, 6), (2, 5)),
        base=base,
        others=(Neighbour(other),),
        unit=unit,
        relation=relation,
    )
    assert case.is_neighbour(case.others[0]) is expected


def test_smaller_cases_can_be_written_down() -> None:
    # Catches a shrinker that stops early because half of its proposals make no sense.
    made = 0
    for number in range(20):
        case: Case = draw(f"smaller-{number}", "duckdb")
        for smaller in candidates(case):
            compile(prelude(smaller), "case", "exec")
            made += 1
    assert made > 500
