"""Errors teach: what newcomers do wrong, and that the message says what to do next."""

import datetime
import inspect
import json
import re
import warnings
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.cli.failures import CODES, MEANINGS, document_of, in_toml
from discreet.cli.main import main
from discreet.errors import Code, DiscreetError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")

SECRET = "Zyxabel"  # in the data, so in no message
NUMBER = 987654321

# What is named in the message, and the mistake. Nobody who writes these is a fool: each was made
# while following a guide.
MISTAKES = """
source | dp.table("missing.csv")
source | dp.table("folder")
source | dp.table("empty.csv")
source | dp.table("text.parquet")
source | dp.table(None)
source | dp.table({"a": [1, 2]})
source | dp.table(np.zeros(3))
source | dp.table(pd.DataFrame([[1, 2]]))
source | dp.table("https://example.org/visits.csv")
discreet demo | dp.table("nowhere/visits.csv")
delimiter="\\t" | dp.table("tabs.csv", unit="patient")
delimiter=";" | dp.table("semicolons.csv").agg(m=dp.mean("days", bounds=(0, 30)))
delimiter="," | dp.table("visits.csv", delimiter=";", unit="patient")
Int64 | dp.table(pd.DataFrame({"id": [1.0, None]}), unit="id")
reset_index | dp.table(pd.DataFrame({"a": [1]}, index=pd.Index([1], name="id")), unit="id")
cast("string") | dp.table(pa.table({"id": [[1]]}), unit="id")
schema | dp.table([{"a": 1}])
schema | dp.table("visits.csv", schema={"days": "int"})
schema | dp.table("visits.csv", schema={"dayz": "integer"})
unit | dp.table("visits.csv", unit="patiant")
unit | dp.table("visits.csv", unit=["patient", "ward"])
unit | dp.table("visits.csv", units="patient")
table | dp.table("visits.csv", "patient")
relation | dp.table("visits.csv", relation="bounded")
relation | dp.Relation("swap")
table | visits.groupby("ward")
table | visits.days
table | visits.head()
table | visits["days"]
table | list(visits)
where | visits.where("days > 3")
where | visits.where(3)
where | visits.where(lambda: True)
column | visits.where(lambda row: row.dayz > 3)
expression | visits.where(lambda row: row.days > 3 and row.age > 4)
expression | visits.where(lambda row: 3 < row.days < 9)
expression | visits.where(lambda row: row.days.isin([1, 2]))
expression | visits.mutate(x=lambda row: np.log(row.days))
row.seen.cast("date") | stays.where(lambda row: row.seen >= "2026-01-31")
row.seen.cast("date") | stays.where(lambda row: row.seen >= dt.date(2026, 1, 31))
cast("date") first | stays.where(lambda row: row.seen.cast("text") >= "2026-01-31")
datetime.date | stays.where(lambda row: row.born >= dt.datetime(2026, 1, 31))
row.ward.cast("real") | stays.mutate(x=lambda row: row.days + row.ward)
row.ward.cast("real") | stays.where(lambda row: row.ward == 3)
without quotes | stays.where(lambda row: row.days > "3")
days > None | visits.where(lambda row: row.days > None)
mutate | visits.mutate(lambda row: row.days)
on | visits.join(dp.public(pd.DataFrame({"w": ["a"], "floor": [1]})), on="ward")
on | visits.join(dp.public(pd.DataFrame({"ward": ["a"], "floor": [1]})))
dp.public | visits.join(pd.DataFrame({"ward": ["a"], "floor": [1]}), on="ward")
dp.public | visits.group_by("ward", keys="wards.csv")
otherwise | visits.mutate(x=lambda row: dp.case((row.days > 3, "long")))
keys | visits.group_by("ward")
keys | visits.group_by("ward", keys="surgery")
keys | visits.group_by("ward", keys=["a", None])
group_by | visits.group_by("wrd", keys=["a"])
group_by | visits.group_by(keys=["a"])
agg | visits.agg(dp.count())
agg | visits.agg()
bounds | visits.agg(m=dp.mean("days"))
bounds | visits.agg(m=dp.mean("days", bounds=(30, 0)))
largest value | visits.agg(m=dp.mean("days", bounds=(5, 5)))
bounds | visits.agg(m=dp.mean("days", bounds=30))
bounds | dp.mean("days", bound=(0, 30))
mean | dp.mean("days", (0, 30))
column of mean | visits.agg(m=dp.mean("dayz", bounds=(0, 30)))
mean of ward | people.bound(max_rows=1).agg(m=dp.mean("ward", bounds=(0, 30)))
probability | visits.agg(m=dp.quantile("days", 50, bounds=(0, 30)))
edges | dp.histogram("days")
edges | dp.histogram("days", edges=10)
edges | dp.histogram("days", edges=[3, 2, 1])
edges | dp.histogram("days", bins=10)
candidates | dp.most_common("ward")
bound | people.agg(n=dp.count())
bound | people.bound()
bound | people.bound(2)
bound | visits.bound(max_rows=2)
max_rows | people.bound(max_row=2)
budget | dp.Session(visits)
budget | dp.Session(visits, budget=3)
Session | dp.Session(visits, dp.Pure(3))
epsilon | dp.Session(visits, epsilon=3)
table | dp.Session("visits.csv", budget=dp.Pure(3))
spend | session.release(query)
spend | session.release(query, epsilon=1, rho=1)
spend | session.release(query, delta=1e-6)
session.remaining | session.budget
session.remaining | session.left
session.release | session.query(query)
history | session.histroy
dp.Session | dp.session(visits, budget=dp.Pure(3))
epsilon | session.release(query, epsilon=0)
epsilon | session.release(query, epsilon=float("nan"))
epsilon | session.release(query, epsilon="one")
epsilon | session.release(query, eps=1)
release | session.release(query, 1)
query | session.release(visits, epsilon=1)
query | session.release(people.bound(max_rows=1).agg(n=dp.count()), epsilon=1)
group_size | session.release(visits.agg(m=dp.mean("days", bounds=(0, 30))), error=0.1)
ε | session.release(query, epsilon=50)
ε | session.release(query, rho=1)
delta | session.release(found, epsilon=1, delta=1e-6)
column | session.release_bounds(visits, epsilon=1)
column | result["m"]
to_pandas | result.to_excel("answer.xlsx")
to_pandas | result.df
keys | result.value("n", ward="cardiology")
ledger | dp.Session(visits, budget=dp.Pure(3), ledger="no.ledger")
ledger | dp.Session(visits, ledger="folder")
not a ledger | dp.Session(visits, ledger="visits.csv")
create | dp.Session(visits, budget=dp.Pure(3), create=True)
cap | dp.Session(visits, budget=dp.Pure(9), ledger="visits.ledger")
keep unit= | dp.Session(people, ledger="visits.ledger")
dataset | dp.Session(visits, ledger="visits.ledger", dataset="other")
analyst | dp.Session(visits, ledger="visits.ledger", analyst="ann")
key | dp.Session(visits, ledger="visits.ledger", key="no.key")
idempotency key | kept.release(query, epsilon="0.2", idempotency_key="march")
head | dp.Ledger("damaged.ledger")
certificate | dp.Certificate.load("no.json")
table | engine.release(gone, epsilon="0.1")
Laplace | dp.Laplace(1, 0.5)
epsilon | dp.Laplace(sensitivity=1, eps=1)
laplace | dp.laplace
dp.mean | dp.avg("days")
dp.quantile | dp.max("days")
dp.count_units | dp.nunique("patient")
dp.table | dp.read_parquet("visits.parquet")
dp.table | dp.read_csv("visits.csv")
dp.Pure | dp.Epsilon(1)
Sesion | dp.Sesion
epsilon | dp.Laplace(sensitivity=1)
sensitivity | dp.Laplace(epsilon=1)
sensitivity | dp.Laplace(sensitivity=0, epsilon=1)
sensitivity | dp.Laplace(sensitivity=float("inf"), epsilon=1)
value | dp.Laplace(sensitivity=1, epsilon=1).release(None)
value | dp.Laplace(sensitivity=1, epsilon=1).release("Zyxabel")
value | dp.Laplace(sensitivity=1, epsilon=1).release({"Zyxabel": 987654321})
value | dp.Laplace(sensitivity=1, epsilon=1).release([987654321, None])
value | dp.Laplace(sensitivity=1, epsilon=1).release(float("nan"))
confidence | dp.Laplace(sensitivity=1, epsilon=1).error(95)
delta | dp.Gaussian(sensitivity=1, epsilon=1)
delta | dp.Gaussian(sensitivity=1, epsilon=1, delta=2)
categories | dp.RandomizedResponse(epsilon=1, categories=["a", "b"])
scores | dp.NoisyMax(sensitivity=1, epsilon=1).release(987654321)
family | dp.calibrate("laplace", error=3)
guarantees | dp.compose(dp.Pure(1))
compose | dp.compose(dp.Pure(1), dp.Pure(2))
guarantees | dp.compose([0.5, 0.5])
promises | dp.Pure(1) + dp.Pure(1)
epsilon | dp.Pure(None)
delta | dp.Approx(1)
claim | dp.audit(lambda x: x, pair=(0, 1))
pair | dp.audit(lambda x: x, claim=dp.Pure(1))
pair | dp.audit(lambda x: x, pair=(0, 0), claim=dp.Pure(1))
run | dp.audit(lambda: 1, pair=(0, 1), claim=dp.Pure(1))
mechanism | dp.verify(lambda x: x)
mechanism | dp.verify(dp.Laplace)
check_sensitivity | dp.check_sensitivity(sum, inputs=[1, 2])
epsilon | dp.survey.YesNo("smoker", "Do you smoke?")
YesNo | dp.survey.YesNo("smoker", "Do you smoke?", 0.5)
name | dp.survey.YesNo("a b", "Do you smoke?", truth=0.5)
options | dp.survey.ChooseOne("a", "Which?", options="xy", epsilon=1)
options | dp.survey.ChooseOne("a", "Which?", options=["x", "x"], epsilon=1)
options | dp.survey.ChooseOne("a", "Which?", options=[], epsilon=1)
questions | dp.survey.Questionnaire("t", [])
questions | dp.survey.Questionnaire("t", form.questions * 2)
Questionaire | dp.survey.Questionaire
answers | form.respond({"smoker": True})
smoker | form.respond({"smoker": "Zyxabel", "age": 3})
age | form.respond({"smoker": True, "age": 987654321})
name | form["smokr"]
questionnaire | dp.survey.collect([], form)
questionnaire | dp.survey.write_page("health", "health.html")
source | dp.survey.collect(form, "no.jsonl")
half_width | dp.survey.plan(form)
queries | dp.adaptive.Analyst([1, 2, 3])
Analyst | dp.adaptive.Analyst([1, 2, 3], 10)
method | dp.adaptive.Analyst(range(10_000), queries=9, confidence=0.95, method="gausian")
records | dp.adaptive.Analyst(range(100), queries=1000, confidence=0.95)
questions | [analyst.ask(lambda record: record > 60) for _ in range(2)]
phi | analyst.ask("age > 60")
sigma | dp.adaptive.Scorer(np.zeros((99, 1)), np.zeros(99), queries=9, hits=3, sigma=1)
predictions | dp.adaptive.Ladder(np.zeros(1000), submissions=10).submit([1, 2])
Analist | dp.adaptive.Analist
"""
CASES = [tuple(line.split(" | ", 1)) for line in MISTAKES.strip().splitlines()]

# A next step: an instruction, an example, the nearest name, or what would be accepted.
NEXT = re.compile(
    r"\b(adds?|ask|as in|bound|cast|check|clamp|compose|convert|did you mean|draw|fetch|give|"
    r"is left|keep|leave|let|list|make|name|open|pass|plan|predict|put|read|rename|replace|restore|"
    r"say|spend|there are|use|would do|write)\b",
    re.IGNORECASE,
)
ACCEPTED = re.compile(
    r"must be (above|at most|from|one of|strictly|a finite number|a number from|yes or no)"
    r"|such as dp\."
)
NAMED = re.compile(r"\bdp((?:\.\w+)+)")
ARGUMENT = re.compile(r"(?<![\w.])([a-z_]+)=(?!=)")


def parameters() -> set[str]:
    """The names of all arguments of what is public, and of its methods."""
    things: list[Any] = [getattr(dp, name) for name in dp.__all__ if name != "__version__"]
    for module in (dp.survey, dp.adaptive, dp.sensitivity):
        things += [getattr(module, name) for name in dir(module) if not name.startswith("_")]
    found = {"n", "name"}  # what a column of an answer may be called
    for thing in things:
        members = (
            [m for _, m in inspect.getmembers(thing, callable)] if isinstance(thing, type) else []
        )
        for called in [thing, *members]:
            try:
                found |= set(inspect.signature(called).parameters)
            except (TypeError, ValueError):
                continue
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What somebody has who follows the guides, with a secret in the data."""
    folder = tmp_path_factory.mktemp("newcomer")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "folder").mkdir()
        (folder / "empty.csv").touch()
        (folder / "text.parquet").write_text(SECRET)
        (folder / "damaged.ledger").write_text(SECRET)
        for name, sign in (("tabs.csv", "\t"), ("semicolons.csv", ";")):
            (folder / name).write_text(f"patient{sign}days\n{SECRET}{sign}{NUMBER}\n")
        rows = f"patient,ward,days,age\n{SECRET},surgery,{NUMBER},40\n"
        for name in ("visits.csv", "gone.csv"):
            (folder / name).write_text(rows)
        visits, moved = dp.table("visits.csv"), dp.table("gone.csv")
        query = visits.group_by("ward", keys=["surgery"]).agg(n=dp.count())
        people = {"patient": [SECRET, "b"], "ward": [SECRET, "surgery"], "days": [NUMBER, 2]}
        day = datetime.datetime(2026, 1, 31)
        stays = {"seen": [day], "born": [day.date()], "ward": [SECRET], "days": [NUMBER]}
        pq.write_table(pa.table(stays), "stays.parquet")
        session = dp.Session(visits, budget=dp.Pure(3))
        kept = dp.Session(visits, budget=dp.Pure(3), ledger="visits.ledger", create=True)
        kept.release(query, epsilon="0.1", idempotency_key="march")
        engine = dp.Session(moved, budget=dp.Pure(3))
        (folder / "gone.csv").unlink()
    questions = [
        dp.survey.YesNo("smoker", "Do you smoke?", truth=0.5),
        dp.survey.Number("age", "How old are you?", bounds=(0, 120), step=1, epsilon=1),
    ]
    return {
        "dp": dp,
        "np": np,
        "pd": pd,
        "pa": pa,
        "dt": datetime,
        "stays": dp.table(pa.table(stays)),
        "folder": folder,
        "visits": visits,
        "query": query,
        "session": session,
        "kept": kept,
        "engine": engine,
        "gone": moved.agg(n=dp.count()),
        "result": session.release(query, epsilon="0.1"),
        "found": visits.group_by("ward", keys="discover").agg(n=dp.count()),
        "people": dp.table(pa.table(people), unit="patient"),
        "form": dp.survey.Questionnaire("Health", questions),
        "analyst": dp.adaptive.Analyst(range(10_000), queries=1, confidence=0.95),
    }


@pytest.fixture(scope="module")
def arguments() -> set[str]:
    """All names of arguments."""
    return parameters()


@pytest.mark.parametrize(("name", "mistake"), CASES, ids=[mistake for _, mistake in CASES])
def test_a_mistake_ends_in_a_sentence_that_says_what_to_do(
    name: str,
    mistake: str,
    world: dict[str, Any],
    arguments: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches a bare error of Python, NumPy or an engine, a message without a next step or with a
    call that does not exist, and one that quotes the data."""
    monkeypatch.chdir(world["folder"])
    with warnings.catch_warnings(), pytest.raises(Exception) as caught:
        warnings.simplefilter("ignore")
        eval(mistake, dict(world))
    error = caught.value
    told = str(error)
    assert isinstance(error, DiscreetError | TypeError | AttributeError)
    if not isinstance(error, DiscreetError):  # then it has our words all the same
        assert re.search(r"write |Write |has no |promises", told)
    assert name in told
    advice = error.hint if isinstance(error, dp.InvalidArgument) else told
    assert NEXT.search(advice) or ACCEPTED.search(told), told
    for path in NAMED.findall(told):
        thing: Any = dp
        for part in path.strip(".").split("."):
            thing = getattr(thing, part)
    assert set(ARGUMENT.findall(told)) - {"units", "eps", "bins", "bound", "max_row", "inputs"} <= (
        arguments | {"decade", "hits"}
    )
    assert SECRET not in told
    assert str(NUMBER) not in told
    assert error.__suppress_context__ or error.__context__ is None
    if isinstance(error, dp.EngineError):
        assert error.__cause__ is None
        assert error.__context__ is None
    assert len(told) < 600


def test_there_are_enough_mistakes() -> None:
    """Catches a table that was emptied."""
    assert len(CASES) >= 150
    assert len({mistake for _, mistake in CASES}) == len(CASES)


SHELL = {
    "relase": ("Did you mean 'release'", 2),
    "release visits.csv --count": ("as in --epsilon 0.5", 2),
    "release visits.csv --count --epsilon 1": ("discreet ledger create", 2),
    "release visits.csv --count --epsilon 1 --ledger no.ledger": ("ledger create no.ledger", 2),
    "release visit.csv --count --epsilon 1 --no-ledger": ("check the path", 2),
    "release no/visits.csv --count --epsilon 1 --no-ledger": ("discreet demo", 2),
    "release visits.csv --mean days:0:9 --delimiter ; --epsilon 1 --no-ledger": (
        "--delimiter ,",
        2,
    ),
    "release visits.csv --unit patient --count --epsilon 1 --ledger visits.ledger": (
        "keep --unit and ask of another dataset: discreet ledger create",
        3,
    ),
    "release stays.parquet --where ward=3 --count --epsilon 1 --no-ledger": (
        "--schema ward=real",
        2,
    ),
    "release visits.csv --mean days --epsilon 1 --no-ledger": ("--mean income:0:200000", 2),
    "release visits.csv --mean dayz:0:9 --epsilon 1 --no-ledger": ('did you mean "days"?', 2),
    "release visits.csv --group-by ward --count --epsilon 1 --no-ledger": ("--keys A,B,C", 2),
    "release visits.csv --count --schema days=int --epsilon 1 --no-ledger": ("--schema", 2),
    "release visits.csv --group-by ward --public-keys no.csv --count --epsilon 1 --no-ledger": (
        "--public-keys must be a file",
        2,
    ),
    "release visits.csv --count --epsilon 9 --ledger visits.ledger": ("ask for less", 4),
    "release visits.csv --count --rho 1 --ledger visits.ledger": ("spend --epsilon", 3),
    "ledger show damaged.ledger": ("discreet ledger create makes one", 2),
    "verify no.json": ("release wrote with --certificate", 2),
    "audit nowhere:function --claim epsilon=1": ("as in survey.py:answer", 2),
    "survey page no.toml": ("discreet survey new", 2),
}


@pytest.mark.parametrize("typed", SHELL)
def test_the_shell_says_the_same(
    typed: str,
    world: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Catches a traceback on a terminal, Python's words there, and a wrong exit code."""
    monkeypatch.chdir(world["folder"])
    monkeypatch.setenv("COLUMNS", "1000")
    wanted, code = SHELL[typed]
    assert main(tuple(typed.split())) == code
    told = capsys.readouterr().err
    assert wanted in told
    assert "Traceback" not in told
    assert not re.search(r"\bdp\.|lambda|\(str\)", told)


# What each mistake said before errors became data, in the words of each front end: `{}` is the
# folder. A sentence is still the same, or listed below with what is better about it now.
SENTENCES = Path(__file__).parent / "sentences.json"
BEFORE: dict[str, dict[str, str]] = json.loads(SENTENCES.read_text(encoding="utf-8"))
_CALL = "a call of Python stays one, since the command line never gets there"
_NOTHING = "who types options knows nothing of None"
IMPROVED: dict[tuple[str, str], tuple[str, str]] = {
    ('dp.table([{"a": 1}])', "shell"): (
        "--schema must be given for a list of records, which has no types of its own, got nothing; "
        "as in --schema ward=text --schema days=integer",
        _NOTHING,
    ),
    ('visits.group_by(keys=["a"])', "shell"): (
        "--group-by must be different columns, got none; as in --group-by ward --keys A,B",
        "an example can be copied",
    ),
    ('people.bound(max_rows=1).agg(m=dp.mean("ward", bounds=(0, 30)))', "shell"): (
        "mean of ward must be a column of numbers, got text; --count needs none; text that holds "
        "numbers is read by --schema COLUMN=real",
        "there is an option for that too",
    ),
    ('dp.Session("visits.csv", budget=dp.Pure(3))', "shell"): (
        "table must be what dp.table(...) returns, got a value of type str; as in "
        'dp.Session(dp.table("visits.csv"), budget=dp.Pure(3))',
        _CALL,
    ),
    ("session.release(visits, epsilon=1)", "shell"): (
        "query must be what .agg(...) returns, got a value of type Table; as in "
        'table.group_by("ward", keys=[...]).agg(n=dp.count())',
        _CALL,
    ),
    ("people.bound()", "python"): (
        "InvalidArgument: bound must be max_groups= and max_rows_per_group=, or max_rows= alone, "
        "got none of them; as in .bound(max_groups=3, max_rows_per_group=5)",
        "as it is written",
    ),
    ("dp.Gaussian(sensitivity=1, epsilon=1)", "shell"): (
        "--delta must be given together with epsilon, and only then, got nothing; a Gaussian has "
        "no finite epsilon at delta = 0; as in --epsilon 1, --delta 1e-6",
        _NOTHING,
    ),
    ("dp.Pure(None)", "shell"): (
        "--epsilon must be a number, got nothing; write it as 3, 0.1, 1e-6 or 1/3",
        _NOTHING,
    ),
    ('dp.calibrate("laplace", error=3)', "shell"): (
        "family must be one of AboveThreshold, Exponential, Gaussian, Laplace, NoisyMax, "
        "RandomizedResponse, SparseVector, got 'laplace'; pass the class, as in "
        "dp.calibrate(dp.Laplace, sensitivity=1, error=5)",
        _CALL,
    ),
    ("dp.verify(dp.Laplace)", "shell"): (
        "mechanism must be anything with a method law(value), got a value of type type; make one "
        "first, as in dp.Laplace(sensitivity=1, epsilon=1)",
        _CALL,
    ),
    ('kind = "Yes"; name = "a"; text = "A?"; truth = 0.5', "toml"): (
        "health.toml: kind of question 1 (a) must be one of yes_no, choose_one, choose_any, "
        "number, got 'Yes'; did you mean yes_no?",
        "capital letters do not hide what was meant",
    ),
    ('kind = "number"; name = "a"; text = "A?"; bounds = 9; epsilon = 1', "toml"): (
        "health.toml, question 1 (a): bounds must be a pair [lower, upper] with lower below upper, "
        "got 9; as in bounds = [0, 30]",
        "as TOML writes it",
    ),
}


# Questions in TOML that make no sense.
TOML = """
kind = "yes_no"; name = "a"; text = "A?"
kind = "yes_no"; name = "a"; text = "A?"; truth = 2
kind = "yes_no"; name = "a"; text = "A?"; truth = "half"
kind = "yes_no"; name = "a"; text = "A?"; truth = 0.5; epsilon = 1
kind = "yes_no"; name = "a"; text = "A?"; truth = 0.5; permanent = "yes"
kind = "yes_no"; name = "a b"; text = "A?"; truth = 0.5
kind = "yes_no"; name = "a"; text = 3; truth = 0.5
kind = "yes_no"; name = "a"; text = "A?"; thruth = 0.5
kind = "Yes"; name = "a"; text = "A?"; truth = 0.5
kind = "choose_one"; name = "a"; text = "A?"; options = ["x"]; epsilon = 1
kind = "choose_one"; name = "a"; text = "A?"; options = "xy"; epsilon = 1
kind = "choose_one"; name = "a"; text = "A?"; options = ["x", "x"]; epsilon = 1
kind = "choose_one"; name = "a"; text = "A?"; options = ["x", "y"]; epsilon = 1; mechanism = "z"
kind = "choose_one"; name = "a"; text = "A?"; options = ["x", "y"]; truth = 0.5; mechanism = "unary"
kind = "choose_any"; name = "a"; text = "A?"; options = ["x", "y"]; epsilon = 1; mechanism = "unary"
kind = "choose_any"; name = "a"; text = "A?"; options = ["x", "y"]; epsilon = 1; most = 3
kind = "number"; name = "a"; text = "A?"; bounds = [9, 0]; epsilon = 1
kind = "number"; name = "a"; text = "A?"; bounds = 9; epsilon = 1
kind = "number"; name = "a"; text = "A?"; epsilon = 1
kind = "number"; name = "a"; text = "A?"; bounds = [0, 9]; step = 2; epsilon = 1
"""
QUESTIONS = TOML.strip().splitlines()


def sentences(error: BaseException, folder: Path) -> dict[str, str]:
    """The error in the words of Python and of the command line."""
    told = {"python": f"{type(error).__name__}: {error}"}
    if isinstance(error, DiscreetError):
        told["shell"] = document_of(error)["error"]["message"]
    return {front: text.replace(str(folder), "{}") for front, text in told.items()}


def toml_sentence(question: str) -> str:
    """What a questionnaire with this question is refused with."""
    lines = question.replace("; ", "\n")
    with pytest.raises(dp.InvalidArgument) as caught:
        dp.survey.Questionnaire.from_toml(f'title = "Health"\n[[question]]\n{lines}\n')
    return str(in_toml(caught.value, "health.toml"))


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_questionnaire_says_what_it_said(question: str) -> None:
    """Catches an argument of Python where a key of TOML is meant."""
    before = BEFORE[question]["toml"]
    now, _ = IMPROVED.get((question, "toml"), (before, "the same"))
    assert toml_sentence(question) == now


@pytest.mark.parametrize("mistake", [mistake for _, mistake in CASES])
def test_a_mistake_says_what_it_said(
    mistake: str, world: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a sentence that lost a word, or an argument of Python in another front end."""
    monkeypatch.chdir(world["folder"])
    with warnings.catch_warnings(), pytest.raises(Exception) as caught:
        warnings.simplefilter("ignore")
        eval(mistake, dict(world))
    for front, text in sentences(caught.value, world["folder"]).items():
        before = BEFORE[mistake][front]
        now, reason = IMPROVED.get((mistake, front), (before, "the same"))
        assert text == now
        assert reason == "the same" or now != before


@pytest.mark.parametrize("typed", SHELL)
def test_the_shell_says_what_it_said(
    typed: str,
    world: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Catches a lost sentence, and a field that is missing in the document of an error."""
    monkeypatch.chdir(world["folder"])
    monkeypatch.setenv("COLUMNS", "1000")
    main((*typed.split(), "--json"))
    error = json.loads(capsys.readouterr().err.replace(str(world["folder"]), "{}"))["error"]
    main(tuple(typed.split()))
    told = capsys.readouterr().err.strip().replace(str(world["folder"]), "{}")
    before = BEFORE[typed]
    assert told == before["shell"]
    assert error.items() >= json.loads(before["json"]).items()


def test_every_sentence_is_compared() -> None:
    """Catches a mistake that was added without its sentence, and reasons that nobody needs."""
    assert set(BEFORE) == {mistake for _, mistake in CASES} | set(SHELL) | set(QUESTIONS)
    assert all(front in BEFORE[mistake] for mistake, front in IMPROVED)


def test_notes_reach_the_terminal() -> None:
    """Catches a note of where the mistake is that only Python shows."""
    error = dp.InvalidArgument(name="truth", expected="from 0 to 1", given="2 (int)")
    error.add_note("in question 3 (smoker)")
    assert "in question 3 (smoker)" in document_of(error)["error"]["message"]


def test_the_page_has_every_error_and_every_exit_code() -> None:
    """Catches an error or a code that was added, and a page that knows nothing of it."""
    kinds = [name for name in dp.__all__ if isinstance(getattr(dp, name), type)]
    kinds = [name for name in kinds if issubclass(getattr(dp, name), BaseException)]
    assert len(kinds) >= 11
    for name in kinds:
        assert re.search(rf"\b{name}\b", PAGE), name
    table = dict(re.findall(r"^\| ([\d, ]+) \|.*\| (.+) \|$", PAGE, re.MULTILINE))
    listed = {int(code): text for codes, text in table.items() for code in codes.split(",")}
    assert set(listed) == set(MEANINGS)
    assert {listed[code] for code, _ in CODES.values()} == {text for _, text in CODES.values()}


def test_the_page_lists_all_codes() -> None:
    """Catches a code that programs cannot look up, and one that is never given."""
    listed = re.findall(r"^\| `([a-z-]+)` \| .+ \|$", PAGE, re.MULTILINE)
    assert listed == list(get_args(Code))
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    assert all(source.count(f'"{code}"') >= 2 for code in listed)


def test_the_tree_on_the_page_is_the_tree() -> None:
    """Catches a class that was moved in the code alone."""
    for line in re.findall(r"^    (│?   ?[├└]── \w+)", PAGE, re.MULTILINE):
        name = line.split()[-1]
        parent = dp.Refused if line.startswith("│") else dp.DiscreetError
        assert getattr(dp, name).__base__ is parent
