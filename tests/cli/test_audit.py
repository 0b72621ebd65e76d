"""``discreet audit``: what it imports, what it says, how it ends."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from discreet.cli import failures
from discreet.cli.audit import claim_of, found_in, neighbors_of, pair_of
from discreet.errors import InvalidArgument
from discreet.guarantees import GDP, ZCDP, Approx, Pure, TotalVariation
from tests.cli.conftest import Run

# A fair coin in place of the truth with probability 1/4: ε = ln 7 = 1.95. At 20,000 outputs of
# each input, a correct claim is called violated with probability 1e-9.
SURVEY = """
import discreet as dp

draw = dp.RandomizedResponse(truth=0.75)
queries = dp.StatisticalQueries([0.25, 0.75], epsilon=1)
pair = (0, 1)
people = [3, 4]

def answer(truth):
    print("31415 is what Ann earns")
    return draw.release(truth)

def answers(truth, size):
    return draw.release([truth] * size)

def neighbors():
    yield 0, 0
    yield 0, 1

def one_pair():
    return 0, 1

def breaks():
    raise ValueError("31415")

def leaves():
    raise SystemExit(31415)

def two(truth, rate):
    return draw.release(truth)

def none():
    return 0

def open_to_all(*truths, **options):
    return draw.release(truths[0])
"""
FEW = ("--samples", "20000")
BATCHED = ("audit", "survey.py:answers", "--batched", *FEW)


@pytest.fixture(autouse=True)
def survey(folder: Path) -> Iterator[Path]:
    """survey.py in the working folder; what was imported from there is forgotten again."""
    path = folder / "survey.py"
    path.write_text(SURVEY)
    modules, places = set(sys.modules), list(sys.path)
    yield path
    for name in set(sys.modules) - modules:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    sys.path[:] = places


def test_claims_are_read_in_every_notion_and_exactly() -> None:
    """Catches a notion that cannot be claimed, and a number that becomes a float."""
    assert claim_of("epsilon=1/3") == Pure("1/3")
    assert claim_of(" delta = 1e-5 , ε=1") == Approx(1, "1e-5")
    assert claim_of("rho=0.1") == ZCDP("0.1")
    assert claim_of("μ=1") == GDP(1)
    assert claim_of("tv=0.2") == TotalVariation("0.2")


@pytest.mark.parametrize(
    "claim", ["", "1", "epsilon", "epsilon=", "delta=1e-5", "epsilon=1,rho=1", "mu=1,mu=2", "eps=1"]
)
def test_a_claim_that_makes_no_sense_is_answered_with_those_that_do(run: Run, claim: str) -> None:
    """Catches a claim that is half read, and a hint in other words than must be typed."""
    ended = run(*BATCHED, "--pair", "0,1", "--claim", claim)
    assert ended.code == 2
    assert "--claim epsilon=1,delta=1e-5" in ended.err
    assert "--epsilon" not in ended.err
    assert "the epsilon of --claim" in run(*BATCHED, "--claim", "epsilon=-1", "--pair", "0,1").err


def test_pairs_are_literals_or_names() -> None:
    """Catches a pair that is read as text, and JSON that Python does not know."""
    beside = SimpleNamespace(__name__="survey", pair=(1, 2), people=[3, 4, 5])
    assert pair_of("0,1", beside) == (0, 1)
    assert pair_of("(0, 1)", beside) == (0, 1)
    assert pair_of("'a', 'b'", beside) == ("a", "b")
    assert pair_of('{"age": 3}, {"age": null}', beside) == ({"age": 3}, {"age": None})
    assert pair_of("pair", beside) == (1, 2)
    for wrong in ("0", "0,1,2", "people", "'ab'"):
        with pytest.raises(InvalidArgument, match="two inputs"):
            pair_of(wrong, beside)
    with pytest.raises(InvalidArgument, match="got 3;"):
        pair_of("0,1,2", beside)
    with pytest.raises(InvalidArgument, match="""--pair "'yes','no'\""""):
        pair_of("yes,no", beside)


def test_neighbors_come_from_a_generator_or_one_by_one() -> None:
    """Catches a function that is called once where it gives one pair a call."""
    beside = SimpleNamespace(
        __name__="survey", many=lambda: iter([(0, 1), (1, 2)]), one=lambda: (0, 1)
    )
    assert list(neighbors_of("many", beside)) == [(0, 1), (1, 2)]
    endless = neighbors_of("one", beside)
    assert [next(endless) for _ in range(3)] == [(0, 1)] * 3


WRONG = {
    "no colon": ("survey.py", "--pair", "0,1"),
    "no file": ("nowhere.py:answer", "--pair", "0,1"),
    "no module": ("nowhere:answer", "--pair", "0,1"),
    "no name": ("survey.py:answr", "--pair", "0,1"),
    "no function": ("survey.py:people", "--pair", "0,1"),
    "no pair": ("survey.py:answers",),
    "half a pair": ("survey.py:answers", "--pair", "0"),
    "two kinds of pairs": ("survey.py:answers", "--pair", "0,1", "--neighbors", "neighbors"),
    "neighbors that are none": ("survey.py:answers", "--neighbors", "people"),
    "neighbors that break": ("survey.py:answers", "--neighbors", "breaks"),
    "neighbors that leave": ("survey.py:answers", "--neighbors", "leaves"),
    "no ending": ("survey.py:answers", "--pair", "0,1", "--plot", "laws.gif"),
    "no folder": ("survey.py:answers", "--pair", "0,1", "--plot", "nowhere/laws.svg"),
    "seconds and samples": ("survey.py:answers", "--pair", "0,1", "--seconds", "1"),
    "no confidence": ("survey.py:answers", "--pair", "0,1", "--confidence", "2"),
    "a module that breaks": ("broken.py:answer", "--pair", "0,1"),
    "a module that ends": ("ended.py:answer", "--pair", "0,1"),
    "no Python": ("people.py:answer", "--pair", "0,1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_told_in_one_line_and_as_one_document(
    run: Run, folder: Path, case: str
) -> None:
    """Catches tracebacks, words of somebody's code, which may quote data, and other codes."""
    (folder / "broken.py").write_text("secret = 31415\nraise ValueError(secret)\n")
    (folder / "ended.py").write_text("raise SystemExit(31415)\n")
    (folder / "people.py").write_text("31415 people\n")
    command = ("audit", *WRONG[case], "--claim", "epsilon=1", "--batched", *FEW)
    told = run(*command)
    assert (told.code, told.out) == (2, ""), told.err
    assert told.err.startswith("error: ")
    assert len(told.err.splitlines()) == 1
    document = run(*command, "--json")
    assert (document.code, document.out) == (2, "")
    assert document.error["kind"] == "InvalidArgument"
    assert "31415" not in told.err + document.err


def test_what_broke_an_import_is_named_by_class_and_line(run: Run, folder: Path) -> None:
    """Catches a message that sends the reader to look in the wrong file."""
    (folder / "broken.py").write_text("\n\n1 / 0\n")
    told = run("audit", "broken.py:answer", "--claim", "epsilon=1", "--pair", "0,1")
    assert "raised ZeroDivisionError in line 3 of broken.py" in told.err


def test_a_wrong_word_is_answered_with_the_right_ones(run: Run) -> None:
    """Catches a list that is cut without a word, and that offers imported modules."""
    names = [f"name_{i}" for i in range(14)]
    beside = SimpleNamespace(**dict.fromkeys(names, 0), math=sys, __name__="survey")
    with pytest.raises(InvalidArgument) as caught:
        found_in(beside, "nme_13", option="TARGET")
    told = str(caught.value)
    assert "did you mean name_13? there are name_0, name_1, " in told
    assert told.endswith(" and 2 more") and "math" not in told
    with pytest.raises(InvalidArgument, match="; there are "):
        found_in(beside, "something_else", option="TARGET")
    ended = run(*BATCHED, "--claim", "epsilon=1", "--pair", "0,1", "--seconds", "1")
    assert "--seconds and --samples must be given one at a time, got both" in ended.err


CALLS = {
    "two": ("needs truth and rate", "write a function of one input"),
    "none": ("takes none", "write a function of one input"),
    "answers": ("needs size too", "say --batched"),
    "answer": ("without a parameter size", "leave --batched out"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_that_cannot_be_called_so_is_told_before_it_is(run: Run, name: str) -> None:
    """Catches TypeErrors that are counted as outputs, and words that only Python knows."""
    batched = ("--batched",) if name == "answer" else ()
    ended = run(
        "audit", f"survey.py:{name}", "--claim", "epsilon=1", "--pair", "0,1", *FEW, *batched
    )
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: TARGET must be a function of ")
    for words in CALLS[name]:
        assert words in ended.err
    assert "run(" not in ended.err and "batched=True" not in ended.err


def test_what_takes_anything_and_mechanisms_in_batches_are_called(run: Run) -> None:
    """Catches a check of signatures that refuses what works."""
    anything = ("audit", "survey.py:open_to_all", "--claim", "epsilon=2", "--pair", "0,1")
    assert run(*anything, "--samples", "2000").code == 0
    assert run("audit", "survey.py:draw", "--batched", "--samples", "2000").code == 0


LAWS = {
    "law": ("    guarantee = dp.Pure(1)\n    def law(self, v):\n        return 31415 / 0\n", 5),
    "guarantee": ("    @property\n    def guarantee(self):\n        raise ValueError(31415)\n", 5),
}


@pytest.mark.parametrize("case", LAWS)
def test_a_law_that_breaks_is_not_a_bug_of_ours(run: Run, folder: Path, case: str) -> None:
    """Catches exit code 70 for a mistake in somebody's own mechanism."""
    body, line = LAWS[case]
    made = "    def release(self, v):\n        return v\nmade = Mine()\n"
    (folder / "mine.py").write_text(f"import discreet as dp\nclass Mine:\n{body}{made}")
    ended = run("audit", "mine.py:made", "--claim", "epsilon=1", "--pair", "0,1", *FEW)
    assert (ended.code, ended.out) == (2, "")
    assert f"Error in line {line} of mine.py" in ended.err
    assert "31415" not in ended.err


def test_a_violation_has_a_code_of_its_own_and_a_picture(run: Run, folder: Path) -> None:
    """The truth is ε = 1.95: 1 is refuted. Catches a violation that a script takes for success."""
    ended = run(*BATCHED, "--claim", "epsilon=1", "--pair", "0,1", "--plot", "laws.svg")
    assert ended.code == failures.VIOLATED == 9
    assert ended.out.startswith("Violated: Pure(epsilon=1) is false")
    assert "Event: " in ended.out
    assert "laws.svg" in ended.err
    assert (folder / "laws.svg").read_text().startswith("<svg")


def test_a_picture_that_cannot_be_written_is_told_before_anything_is_drawn(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches an hour of samples that is lost. Folders such as /sys let nobody write, while
    permissions say that they do; here, opening fails so."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "laws.svg")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        patched.setattr("discreet.cli.audit._tried", lambda *_: pytest.fail("it was drawn"))
        ended = run(*BATCHED, "--claim", "epsilon=1", "--pair", "0,1", "--plot", "laws.svg")
    assert ended.code == 2
    assert "--plot must be a file that can be written, got 'laws.svg': permission" in ended.err
    (folder / "old.svg").write_text("kept")
    run(*BATCHED, "--claim", "epsilon=-1", "--pair", "0,1", "--plot", "old.svg")
    run(*BATCHED, "--claim", "epsilon=-1", "--pair", "0,1", "--plot", "new.svg")
    assert (folder / "old.svg").read_text() == "kept"
    assert not (folder / "new.svg").exists()


@pytest.mark.parametrize(("claim", "code"), [("epsilon=1", 9), ("epsilon=2", 8)])
def test_a_picture_that_fails_at_last_leaves_the_report(
    run: Run, monkeypatch: pytest.MonkeyPatch, claim: str, code: int
) -> None:
    """Catches a verdict that is swallowed by a full disk."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "laws.svg")

    monkeypatch.setattr("discreet.plot.Plot.save", full)
    ended = run(*BATCHED, "--claim", claim, "--pair", "0,1", "--plot", "laws.svg")
    assert ended.code == code
    assert "Event: " in ended.out
    assert "no space left" in ended.err
    assert "the picture is in" not in ended.err


@pytest.mark.parametrize("pair", [("--pair", "pair"), ("--neighbors", "neighbors")])
def test_no_violation_is_not_a_proof_and_says_so(run: Run, pair: tuple[str, str]) -> None:
    """ε = 2 holds. Catches words that promise more than was seen, in text and in JSON."""
    ended = run(*BATCHED, "--claim", "epsilon=2", *pair)
    assert ended.code == 0, ended.err
    assert "No violation" in ended.out
    assert "not a proof" in ended.out
    document = run(*BATCHED, "--claim", "epsilon=2", *pair, "--json")
    assert (document.code, document.err) == (0, "")
    assert document.result["violated"] is False
    assert document.result["verification"] is None
    assert "not a proof" in document.result["verdict"]
    assert "not a proof" in document.result["finding"]["words"]


def test_what_the_audited_code_prints_is_none_of_the_document(run: Run) -> None:
    """Catches a JSON document with somebody's prints in it, and its outputs in the report."""
    command = ("audit", "survey:answer", "--claim", "epsilon=1", "--pair", "0,1")
    ended = run(*command, "--samples", "6000", "--json")
    assert ended.code == 9
    assert json.loads(ended.out)["result"]["violated"] is True
    assert "31415" not in ended.out


def test_a_mechanism_is_held_to_its_own_guarantee_by_both_routes(run: Run) -> None:
    """Catches a mechanism whose law, guarantee or worst pair is not looked at."""
    ended = run("audit", "survey.py:draw", "--samples", "4000")
    assert ended.code == 0, ended.err
    assert "By its law:" in ended.out
    assert "By its outputs:" in ended.out
    assert "is not proved" in ended.out
    assert "No pair was given: pair[0] is 0, pair[1] is 1." in ended.out
    given = run("audit", "survey.py:draw", "--pair", "0,1", "--samples", "2000")
    assert "No pair was given" not in given.out
    document = run("audit", "survey.py:draw", "--claim", "epsilon=1", "--samples", "4000", "--json")
    assert document.code == 9
    assert document.result["suggested_pair"] == ["0", "1"]
    assert document.result["verification"]["verdict"] == "violated"
    assert document.result["finding"]["violated"] is True


def test_a_law_is_verified_where_outputs_cannot_be_drawn(run: Run, folder: Path) -> None:
    """Catches a mechanism whose release takes other inputs than its law, taken for a broken one."""
    ended = run("audit", "survey.py:queries", "--plot", "laws.svg")
    assert (ended.code, ended.err) == (0, "")
    assert "say --pair" in ended.out
    assert not (folder / "laws.svg").exists()
    document = run("audit", "survey.py:queries", "--claim", "epsilon=1/2", "--json")
    assert document.code == 9
    assert document.result["finding"] is None
    assert document.result["verdict"] == "Violated: Pure(epsilon=0.5) is false, by its law"


def test_progress_is_shown_on_a_terminal_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a bar in a log file, and one on standard output."""
    command = (*BATCHED, "--claim", "epsilon=2", "--pair", "0,1", "--json")
    quiet = run(*command)
    assert quiet.err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes the captured stream for a terminal
    monkeypatch.setattr("discreet.cli.audit._on_a_terminal", lambda: True)
    shown = run(*command)
    assert "%" in shown.err
    assert json.loads(shown.out)["command"] == "audit"


@pytest.mark.parametrize("sensitivity", ["0.5", "1/3"])
def test_worst_neighbours_that_are_fractions_are_drawn_as_floats(
    run: Run, folder: Path, sensitivity: str
) -> None:
    """Catches a pair of an int and a float, which its own types would tell apart."""
    text = f'import discreet as dp\nnoise = dp.Laplace(sensitivity="{sensitivity}", epsilon=1)\n'
    (folder / "shop.py").write_text(text)
    ended = run("audit", "shop.py:noise", "--samples", "20000")
    assert ended.code == 0, ended.out
    assert "found in 20,000 outputs of each input" in ended.out
