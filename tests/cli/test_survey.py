"""``discreet survey``: from a questionnaire to estimates, and what never gets out."""

import io
import json
from pathlib import Path

import pytest

from discreet import survey
from discreet.cli import survey as command
from tests.cli.conftest import Run

HEALTH = (
    *("survey", "new", "health.toml", "--title", "Health", "--truth", "0.5"),
    *("--yes-no", "smoker=Do you smoke?"),
    *("--choose-one", "town=Where do you live?=Aford,Beeham,Ceton"),
)


@pytest.fixture
def health(run: Run) -> survey.Questionnaire:
    """health.toml in the folder."""
    assert run(*HEALTH).code == 0
    return survey.Questionnaire.from_toml(Path("health.toml"))


def reports(form: survey.Questionnaire, name: str = "reports.jsonl") -> str:
    towns = ["Aford", "Beeham", "Ceton", "Ceton"] * 500
    form.respond_many({"smoker": [True, False] * 1000, "town": towns}).write(name)
    return name


def test_a_questionnaire_from_options_is_the_one_that_was_meant(run: Run) -> None:
    """Catches an option that ends up in another question, or as another promise."""
    ended = run(
        *("survey", "new", "all.toml", "--title", "All", "--epsilon", "1/2", "--waves", "3"),
        *("--yes-no", "smoker=Do you smoke?", "--choose-one", "town=Where? =A, B"),
        *("--choose-any", "sports=Which?=chess,golf", "--number", "age=How old?=-5:100"),
        *("--respondents", "1000", "--post", "https://example.org/in", "--json"),
    )
    assert ended.code == 0, ended.err
    form = survey.Questionnaire.from_toml(Path("all.toml"))
    expected = survey.Questionnaire(
        "All",
        [
            survey.YesNo("smoker", "Do you smoke?", epsilon="1/2"),
            survey.ChooseOne("town", "Where?", options=["A", "B"], epsilon="1/2"),
            survey.ChooseAny("sports", "Which?", options=["chess", "golf"], epsilon="1/2"),
            survey.Number("age", "How old?", bounds=(-5, 100), epsilon="1/2"),
        ],
        respondents=1000,
        waves=3,
        post="https://example.org/in",
    )
    assert form == expected
    assert ended.result["survey"] == form.digest
    assert ended.result["epsilon"] <= 6


def test_the_template_is_a_questionnaire(run: Run) -> None:
    """Catches a template that its own commands refuse; and files that are written over."""
    assert run("survey", "new", "t.toml").code == 0
    template = Path(command.__file__).with_name(command.TEMPLATE)
    assert Path("t.toml").read_text() == template.read_text()
    again = run("survey", "new", "t.toml")
    assert (again.code, "--force" in again.err) == (2, True)
    assert run("survey", "new", "t.toml", "--force").code == 0
    assert run("survey", "plan", "t.toml", "--half-width", "0.02").code == 0
    assert run("survey", "page", "t.toml").code == 0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--title", "T", "--epsilon", "1"], "a question such as --yes-no"),
        (["--yes-no", "s=S?", "--epsilon", "1"], "--title"),
        (["--title", "T", "--yes-no", "smoker"], "--epsilon or --truth"),
        (["--title", "T", "--yes-no", "smoker", "--epsilon", "1"], "--yes-no"),
        (["--title", "T", "--yes-no", "id=Who?", "--epsilon", "1"], "--yes-no"),
        (["--title", "T", "--number", "age=Old?=0-9", "--epsilon", "1"], "--number"),
        (["--title", "T", "--choose-one", "town=Where?", "--epsilon", "1"], "--choose-one"),
        (["--title", "T", "--choose-any", "s=Which?=a,b", "--truth", "0.5"], "--choose-any"),
        (["--title", "T", "--yes-no", "s=S?", "--truth", "0.5", "--epsilon", "1"], "--epsilon or"),
    ],
)
def test_a_question_that_makes_no_sense_is_named(run: Run, options: list[str], named: str) -> None:
    """Catches a mistake that is told in the words of Python, and a file left behind by it."""
    ended = run("survey", "new", "wrong.toml", *options, "--json")
    assert ended.code == 2
    assert ended.error["name"].startswith(named)
    assert not Path("wrong.toml").exists()


def test_answers_are_asked_for_after_the_card_and_never_told(
    run: Run, health: survey.Questionnaire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a card that comes too late, a report among other lines, and an answer that shows up
    in what is printed: 'Beeham' was chosen, and is in the list of choices alone."""
    monkeypatch.setattr("sys.stdin", io.StringIO("perhaps\ny\n2\n"))
    ended = run("survey", "respond", "health.toml")
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    assert set(report) == {"survey", "id", "wave", "smoker", "town"}
    assert report["survey"] == health.digest
    assert ended.err.index("What you can deny") < ended.err.index("yes or no: ")
    assert ended.err.count("yes or no: ") == 2  # the first answer was none
    assert ended.err.count("Beeham") == 1
    assert "perhaps" not in ended.err


def test_every_kind_of_question_can_be_answered_on_the_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a kind that a person cannot answer: ticks by number, none at all, a long list."""
    run("survey", "new", "t.toml")
    monkeypatch.setattr("sys.stdin", io.StringIO("no\nelsewhere\n3 1\n44.5\n"))
    first = json.loads(run("survey", "respond", "t.toml").out)
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n9\n1\n\n144\n44\n"))
    second = json.loads(run("survey", "respond", "t.toml").out)
    assert first.keys() == second.keys()
    for sports in ("1,3", "1, 3", "football, chess", "football, 3", "climbing\n1 1\n1 3"):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"no\n1\n{sports}\n44\n"))
        answered = run("survey", "respond", "t.toml")
        assert (answered.code, answered.err.count("again:")) == (0, sports.count("\n"))
    towns = survey.ChooseOne("n", "Which?", options=1000, epsilon=1)
    Path("long.toml").write_text(survey.Questionnaire("Long", [towns]).to_toml())
    monkeypatch.setattr("sys.stdin", io.StringIO("1000\n999\n"))
    assert run("survey", "respond", "long.toml").code == 0


def test_answers_from_options_and_files(run: Run, health: survey.Questionnaire) -> None:
    """Catches an answer that is lost or doubled, and a message that quotes one."""
    given = ("--answer", "smoker=yes", "--answer", "town=Ceton")
    told = run("survey", "respond", "health.toml", *given, "--out", "r.jsonl", "--json")
    Path("answers.json").write_text('{"smoker": false, "town": "Aford"}')
    run("survey", "respond", "health.toml", "--answers", "answers.json", "--out", "r.jsonl")
    lines = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    assert lines[0] == told.result["report"]
    assert len({line["id"] for line in lines}) == 2
    assert "What you can deny" in told.result["card"]
    for wrong in (
        ("--answer", "smoker=SECRET", "--answer", "town=Ceton"),
        ("--answer", "smoker"),
        ("--answer", "smoker=yes", "--answer", "smoker=SECRET"),
        ("--answer", "other=SECRET"),
        (*given, "--answers", "answers.json"),
        ("--answers", "health.toml"),
        (),
    ):
        ended = run("survey", "respond", "health.toml", *wrong, "--json")
        assert ended.code == 2, wrong
        assert "SECRET" not in ended.err
        assert ended.error["kind"] == "InvalidArgument"


def test_asked_again_the_same_report_is_sent(run: Run) -> None:
    """Catches a second draw for one wave, which averaging would undo; and waves without memory."""
    promise = ("--title", "T", "--yes-no", "s=S?", "--epsilon", "1", "--waves", "2")
    run("survey", "new", "w.toml", *promise)
    answer = ("survey", "respond", "w.toml", "--answer", "s=yes")
    refused = run(*answer, "--wave", "1", "--json")
    assert (refused.code, "--memory answers.json" in refused.error["message"]) == (3, True)
    kept = (*answer, "--memory", "m.json", "--wave")
    first, again, next_wave = (run(*kept, wave).out for wave in ("1", "1", "2"))
    assert first == again != next_wave


def test_an_answer_that_is_not_used_is_not_dropped_in_silence(run: Run) -> None:
    """Catches a second answer to a wave that looks as if it had counted, and a question that is
    asked for nothing (there is nobody here to answer it)."""
    promise = ("--title", "T", "--yes-no", "s=S?", "--epsilon", "1", "--waves", "2")
    run("survey", "new", "w.toml", *promise)
    kept = ("survey", "respond", "w.toml", "--memory", "m.json", "--wave", "1")
    first = run(*kept, "--answer", "s=yes")
    assert "answered already" not in first.err
    for other in (("--answer", "s=no"), ()):
        again = run(*kept, *other)
        assert (again.code, again.out) == (0, first.out)
        assert "wave 1 of 2 was answered already" in again.err
    document = run(*kept, "--json")
    assert (document.result["again"], document.err) == (True, "")
    assert document.result["report"] == json.loads(first.out)


@pytest.mark.parametrize("command", [("respond", "--answer", "s=yes"), ("page",), ("collect", "r")])
def test_with_several_waves_the_wave_is_said(run: Run, command: tuple[str, ...]) -> None:
    """Catches a report or a page of wave 1 where wave 2 was meant."""
    promise = ("--title", "T", "--yes-no", "s=S?", "--epsilon", "1", "--waves", "2")
    run("survey", "new", "w.toml", *promise)
    name, *rest = command
    for wave in ((), ("--wave", "3"), ("--wave", "0")):
        ended = run("survey", name, "w.toml", *rest, *wave, "--json")
        assert (ended.code, ended.error["name"]) == (2, "--wave")
    if name == "page":
        told = run("survey", "page", "w.toml", "--wave", "2").out
        assert "the page of wave 2 of 2 is in w.html" in told


def test_collected_is_what_python_collects(run: Run, health: survey.Questionnaire) -> None:
    """Catches an option that is dropped on the way: all estimates, in text, JSON and files."""
    name = reports(health)
    Path("broken.jsonl").write_text("not a report\n")
    pairs = [("smoker", "town")]
    expected = survey.collect(
        health, name, "broken.jsonl", cross=pairs, confidence=0.9, about="respondents"
    )
    ended = run(
        *("survey", "collect", "health.toml", name, "broken.jsonl", "--cross", "smoker,town"),
        *("--confidence", "0.9", "--about", "respondents", "--projected"),
        *("--out", "estimates.parquet", "--plot", "shares.svg", "--json"),
    )
    assert ended.code == 0, ended.err
    assert ended.result["estimates"] == expected.to_arrow().to_pylist()
    crossed = expected.cross("smoker", "town").to_arrow().to_pylist()
    assert ended.result["cross"] == {"smoker,town": crossed}
    assert ended.result["set_aside"] == {"malformed": 1}
    assert sum(ended.result["projected"]["town"].values()) == pytest.approx(1)
    assert ended.result["shuffled"] is None
    assert Path("shares.svg").read_text().startswith("<svg")
    import pyarrow.parquet as pq

    assert pq.read_table("estimates.parquet") == expected.to_arrow()
    text = run("survey", "collect", "health.toml", name, "broken.jsonl", "--projected").out
    assert "2,000 respondents" in text
    assert "1 malformed" in text
    assert "biased" in text


def test_the_shuffled_promise_is_that_of_the_theorem(
    run: Run, health: survey.Questionnaire
) -> None:
    """Catches a promise for other numbers than those of the reports; δ has no default."""
    name = reports(health)
    collect = ("survey", "collect", "health.toml", name, "--shuffled")
    promise = run(*collect, "--delta", "1e-6", "--json").result["shuffled"]
    central = survey.Shuffled(health.guarantee, respondents=2000)
    assert promise["epsilon"] == central.epsilon(1e-6) < promise["local_epsilon"] == central.local
    assert "against everybody else" in run(*collect, "--delta", "1e-6").out
    assert run(*collect).code == 2
    assert run(*collect[:-1], "--delta", "1e-6").code == 2
    assert run(*collect, "--delta", "0").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("collect", "health.toml", "nowhere.jsonl"),
        ("collect", "health.toml", "reports.jsonl", "--cross", "smoker"),
        ("collect", "health.toml", "reports.jsonl", "--cross", "smoker,nothing"),
        ("collect", "health.toml", "reports.jsonl", "--about", "everybody"),
        ("collect", "health.toml", "reports.jsonl", "--confidence", "95"),
        ("collect", "health.toml", "reports.jsonl", "--plot", "shares.gif"),
        ("collect", "health.toml", "reports.jsonl", "--out", "reports.jsonl"),
        ("plan", "health.toml", "--half-width", "2"),
        ("plan", "nowhere.toml", "--half-width", "0.01"),
        ("page", "health.toml", "--out", "health.toml"),
        ("page", "health.toml", "--wave", "2"),
    ],
)
def test_mistakes_end_with_one_sentence(
    run: Run, health: survey.Questionnaire, arguments: tuple[str, ...]
) -> None:
    """Catches a traceback, another exit code, and a questionnaire or reports written over."""
    before = Path(reports(health)).read_text(), Path("health.toml").read_text()
    ended = run("survey", *arguments, "--json")
    assert ended.code == 2, ended.err
    assert ended.error["kind"] == "InvalidArgument"
    assert (Path("reports.jsonl").read_text(), Path("health.toml").read_text()) == before


def test_plan_and_page_are_those_of_python(run: Run, health: survey.Questionnaire) -> None:
    """Catches a plan for another width or confidence, and a page of another questionnaire."""
    asked = ("survey", "plan", "health.toml", "--half-width", "0.02", "--confidence", "0.9")
    planned = survey.plan(health, half_width=0.02, confidence=0.9, share=0.1)
    ended = run(*asked, "--share", "0.1", "--json")
    assert ended.result["respondents"] == planned.respondents
    assert ended.result["needed"] == dict(planned.needed)
    assert (
        run(*asked).out.splitlines()
        == str(survey.plan(health, half_width=0.02, confidence=0.9)).splitlines()
    )
    assert run("survey", "page", "health.toml", "--json").result["file"] == "health.html"
    assert Path("health.html").read_text() == health.page()
    assert run("survey", "page", "health.toml").code == 2
    assert run("survey", "page", "health.toml", "--force").code == 0
    assert "survey" in run("survey").out
