"""Files of ``discreet survey``: mistakes are told in a file's own words, and reports stay whole."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli.survey import add_line
from tests.cli.conftest import Run

QUESTION = '[[question]]\nname = "s"\nkind = "{kind}"\ntext = "S?"\n'


@pytest.fixture
def health(run: Run) -> str:
    """A questionnaire in the folder."""
    made = ("survey", "new", "health.toml", "--title", "Health", "--epsilon", "1")
    assert run(*made, "--yes-no", "smoker=Do you smoke?").code == 0
    return "health.toml"


@pytest.mark.parametrize(
    ("kind", "lines", "told"),
    [
        ("yes_no", "epsilon = -1", "q.toml, question 1 (s): epsilon must be above 0, got -1"),
        ("yes_no", "", "q.toml, question 1 (s): epsilon or truth must be given"),
        (
            "yes_no",
            "epsilon = 1\ntruth = 0.5",
            "say epsilon for the promise or truth for the noise",
        ),
        ("yes_no", "epsilon = 1\npermanent = 1", "permanent must be true or false, got 1"),
        ("yes_no", 'epsilon = "x"', "got 'x'; write it as 3, 0.1 or \"1/3\""),
        ("yes_no", "epsilom = 1", "q.toml: a key of question 1 (s) must be one of kind, name"),
        ("choose_one", 'options = ["a"]\nepsilon = 1', "question 1 (s): options must be between"),
        ("choose_one", 'options_file = "o.txt"\nepsilon = 1', "question 1 (s): options_file must"),
        ("number", "bounds = [3, 1]\nepsilon = 1", "bounds must be a pair [lower, upper] with"),
        ("yes_no", "epsilon =", "q.toml must be TOML, got text with a mistake"),
    ],
)
def test_a_mistake_in_the_file_is_not_one_of_the_options(
    run: Run, kind: str, lines: str, told: str
) -> None:
    """Catches "--epsilon must be ..." for a command without that option, words of Python, and a
    message that names neither the file nor the question."""
    Path("q.toml").write_text('title = "T"\n' + QUESTION.format(kind=kind) + lines + "\n")
    ended = run("survey", "plan", "q.toml", "--half-width", "0.02")
    assert ended.code == 2
    assert told in ended.err
    assert not any(word in ended.err for word in ("--", "True", "Fraction", "(int)", "truth="))


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (("--choose-one", "n=Where?=A"), "--choose-one n: its options must be between 2 and"),
        (("--choose-one", "n=Where?=A,A"), "--choose-one n: its options must be different"),
        (("--choose-one", 'n=Where?="A, B'), "--choose-one must be options with commas between"),
        (("--yes-no", "1n=What?"), "--yes-no: NAME must be a letter"),
        (("--yes-no", "n="), "--yes-no n: TEXT must be one line of text"),
        (("--number", "n=What?=9:1"), "--number n: LOWER:UPPER must be a pair"),
        (("--yes-no", "n=What?", "--waves", "0"), "--waves must be a whole number"),
        (("--yes-no", "n=What?", "--respondents", "0"), "--respondents must be a whole number"),
        (("--yes-no", "n=What?", "--post", "ftp://x"), "--post must be an address"),
        (("--yes-no", "n=What?", "--title", ""), "--title must be one line of text"),
    ],
)
def test_new_names_what_is_wrong(run: Run, question: tuple[str, ...], told: str) -> None:
    """Catches "--choose-one must be between 2 and 4,194,304 of them": of what?"""
    ended = run("survey", "new", "n.toml", "--title", "T", "--truth", "0.5", *question)
    assert (ended.code, told in ended.err) == (2, True), ended.err
    wrong = run("survey", "new", "n.toml", "--title", "T", "--truth", "2", "--yes-no", "n=What?")
    assert "--truth must be strictly between 0 and 1" in wrong.err


def test_options_with_commas_are_written_in_quotes(run: Run) -> None:
    """Catches quotes that end up in an option."""
    asked = ("--choose-one", 's=Where?="A, B",C', "--epsilon", "1")
    assert run("survey", "new", "n.toml", "--title", "T", *asked).code == 0
    assert 'options = ["A, B", "C"]' in Path("n.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("new", "x.json"), "QUESTIONNAIRE.toml must be a name that ends in .toml"),
        (("respond", "health.toml", "--out", "x.csv"), "--out must be a name that ends in .jsonl"),
        (("page", "health.toml", "--out", "x.txt"), "--out must be a name that ends in .html"),
        (("page", "health.html"), "which looks like the page of a questionnaire"),
        (("collect", "r.jsonl", "health.toml"), "'r.jsonl', which looks like reports"),
        (("plan", "nowhere.toml", "--half-width", "0.1"), "must be a file that is there"),
        (("collect", "health.toml", "nowhere.jsonl"), "REPORTS must be a file that can be opened"),
        (("collect", "health.toml", "health.toml"), "REPORTS must be a file whose name ends in"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    run: Run, health: str, arguments: tuple[str, ...], told: str
) -> None:
    """Catches TOML in x.json, reports that collect would read as a CSV, and a page or reports in
    place of the questionnaire, which TOML's own message does not explain."""
    Path("r.jsonl").write_text("{}\n")
    Path("health.html").write_text("<!doctype html>\n")
    before = sorted(Path().iterdir())
    ended = run("survey", *arguments)
    assert (ended.code, told in ended.err) == (2, True), ended.err
    assert sorted(Path().iterdir()) == before


def test_of_two_that_write_one_questionnaire_one_does(
    run: Run, health: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a file that came after the check, written over."""
    before = Path(health).read_text()
    monkeypatch.setattr("discreet.cli.survey.check_outputs", lambda *_, **__: None)
    assert run("survey", "new", health).code == 8
    assert Path(health).read_text() == before


class Stopped(io.StringIO):
    """A person who answers once and then presses Ctrl-C."""

    def readline(self, size: int | None = -1, /) -> str:
        line = super().readline()
        if not line:
            raise KeyboardInterrupt
        return line


@pytest.mark.parametrize(
    ("stdin", "code"), [(Stopped("y\n"), 130), (io.StringIO("y\n"), 2), (io.StringIO(), 2)]
)
def test_who_stops_has_written_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, stdin: io.StringIO, code: int
) -> None:
    """Catches a report, a memory or a lock that is left behind by somebody who did not finish."""
    asked = ("--yes-no", "a=A?", "--yes-no", "b=B?", "--epsilon", "1")
    run("survey", "new", "two.toml", "--title", "Two", *asked)
    before = sorted(Path().iterdir())
    monkeypatch.setattr("sys.stdin", stdin)
    ended = run("survey", "respond", "two.toml", "--out", "r.jsonl", "--memory", "m.json")
    assert (ended.code, ended.out) == (code, "")
    assert "nothing was randomized, sent or written" in ended.err
    assert sorted(Path().iterdir()) == before


def test_two_programs_add_whole_lines(folder: Path) -> None:
    """Catches lines that are mixed or lost where two programs write to one file at once."""
    program = (
        "import sys; from pathlib import Path; from discreet.cli.survey import add_line\n"
        "for i in range(60): add_line(Path('r.jsonl'), sys.argv[1] * 50_000 + str(i))"
    )
    started = [subprocess.Popen([sys.executable, "-c", program, name]) for name in "ab"]
    assert [one.wait(900) for one in started] == [0, 0]
    lines = (folder / "r.jsonl").read_text().split("\n")
    expected = [name * 50_000 + str(i) for name in "ab" for i in range(60)]
    assert (sorted(lines[:-1]), lines[-1]) == (sorted(expected), "")


def test_a_line_after_an_unfinished_one_is_a_line(folder: Path) -> None:
    """Catches a report that is glued to what a full disk cut off, so that both are lost."""
    path = folder / "r.jsonl"
    path.write_text('{"a":1}\n{"a"')
    add_line(path, '{"a":2}')
    add_line(path, '{"a":3}')
    assert path.read_text() == '{"a":1}\n{"a"\n{"a":2}\n{"a":3}\n'


def test_a_promise_that_hides_nothing_is_called_that(run: Run, health: str) -> None:
    """Catches an ε of a million that is taken without a word; and a warning at every ε."""
    large = ("--title", "T", "--epsilon", "1e6", "--yes-no", "s=S?")
    many = ("--title", "T", "--epsilon", "6", "--yes-no", "s=S?", "--yes-no", "t=T?")
    for options, told in ((large, "as for s, hides next to nothing"), (many, "all answers")):
        ended = run("survey", "new", "t.toml", "--force", *options)
        assert told in ended.out
        planned = run("survey", "plan", "t.toml", "--half-width", "0.02")
        assert told in planned.err
        assert told in run("survey", "page", "t.toml", "--force").err
        assert told in run("survey", "page", "t.toml", "--force", "--json").result["notes"][0]
    assert "hides" not in run("survey", "plan", health, "--half-width", "0.02").err


def test_a_question_may_have_the_name_of_an_option(run: Run) -> None:
    """Catches "--share must be yes or no" from a command without that option."""
    asked = ("--title", "T", "--epsilon", "1", "--yes-no", "share=S?", "--yes-no", "key=K?")
    run("survey", "new", "t.toml", *asked)
    respond = ("survey", "respond", "t.toml", "--answer", "key=no", "--json", "--answer")
    assert (
        run(*respond, "share=perhaps")
        .error["message"]
        .startswith("the answer to share must be yes or no, got")
    )
    assert run(*respond, "other=yes").error["name"] == "the NAME in --answer"
    assert run(*respond[:-1]).error["name"] == "the answers"
    Path("r.jsonl").write_text("")
    for pair, named in (("share,other", "each NAME in --cross"), ("share,share", "--cross")):
        crossed = run("survey", "collect", "t.toml", "r.jsonl", "--cross", pair, "--json")
        assert (crossed.code, crossed.error["name"]) == (2, named)


def test_the_card_fits_the_terminal(run: Run, health: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches lines that are cut or broken within words, and lines as wide as a wide screen."""
    for columns, widest in ((40, 40), (250, 100)):
        monkeypatch.setenv("COLUMNS", str(columns))
        told = run("survey", "respond", health, "--answer", "smoker=yes").err.splitlines()
        assert widest - 12 < max(map(len, told)) <= widest


@pytest.mark.parametrize("content", ["", "\n\n", "no report\n", '{"survey": "other"}\n'])
def test_where_nothing_counts_there_is_no_table(run: Run, health: str, content: str) -> None:
    """Catches a table of unknown shares and intervals from 0 to 100 % of nobody."""
    Path("r.jsonl").write_text(content)
    ended = run("survey", "collect", health, "r.jsonl", "--projected")
    assert ended.code == 0
    assert "no report could be counted" in ended.out
    assert not any(word in ended.out for word in ("unknown", "nan", "interval"))
    assert run("survey", "collect", health, "r.jsonl", "--json").result["respondents"] == 0


def test_reports_of_another_questionnaire_are_explained(run: Run, health: str) -> None:
    """Catches "2 other survey" without a word about the file that was edited in the meantime."""
    answer = ("survey", "respond", health, "--answer", "smoker=yes", "--out", "r.jsonl")
    run(*answer)
    old = Path(health).read_text()
    Path(health).write_text(old.replace("Do you smoke?", "Do you smoke at all?"))
    for counted in (0, 1):
        collect = ("survey", "collect", health, "r.jsonl")
        told, document = run(*collect).out, run(*collect, "--json").result
        assert document["respondents"] == counted
        assert told.count("before its title, waves, a question or an ε was changed") == 1
        assert any("the file of that time" in note for note in document["notes"])
        run(*answer)


def test_shuffling_that_adds_nothing_is_not_praised(run: Run) -> None:
    """Catches a promise that is the local one, told as if it were a better one."""
    asked = ("survey", "new", "t.toml", "--title", "T", "--epsilon", "8", "--yes-no", "s=S?")
    assert run(*asked).code == 0
    run("survey", "respond", "t.toml", "--answer", "s=yes", "--out", "r.jsonl")
    ended = run("survey", "collect", "t.toml", "r.jsonl", "--shuffled", "--delta", "1e-6")
    assert "shuffled: no better than ε = 8" in ended.out


def test_json_is_one_document_and_nothing_else(run: Run) -> None:
    """Catches a note, a card or a table beside the document."""
    asked = ("--title", "T", "--epsilon", "5.1", "--yes-no", "s=S?", "--yes-no", "n=N?")
    for arguments in (
        ("new", "t.toml", *asked),
        ("respond", "t.toml", "--answer", "s=yes", "--answer", "n=no", "--out", "r.jsonl"),
        ("collect", "t.toml", "r.jsonl", "--cross", "s,n", "--projected"),
        ("collect", "t.toml", "r.jsonl", "--shuffled", "--delta", "1e-6"),
        ("plan", "t.toml", "--half-width", "0.02"),
        ("page", "t.toml"),
    ):
        ended = run("survey", *arguments, "--json")
        assert (ended.code, ended.err) == (0, ""), arguments
        assert json.loads(ended.out)["command"] == f"survey {arguments[0]}"
