"""Messages in the words of a shell: options, commands to run, no Python."""

import re
from pathlib import Path

import pytest

from discreet.cli.failures import SHELL
from discreet.errors import Idiom, InvalidArgument, Phrase
from tests.cli.conftest import Run

RELEASE = ("release", "people.csv", "--unit", "person", "--count")
PURE = (*RELEASE, "--ledger", "people.ledger")
ALONE = (*RELEASE, "--no-ledger")
DISCOVER = ("--group-by", "city", "--keys", "discover", "--epsilon", "1")
NEW = ("ledger", "create", "new.ledger", "--dataset", "d")

SAME = ("ledger", "create", "people.ledger", "--dataset", "people", "--unit", "person")

# What is typed, its exit code, and what the message must say.
SAID = {
    "a spend of text": ((*PURE, "--epsilon", "abc"), 2, "--epsilon must be a number"),
    "a spend of nothing": ((*ALONE, "--rho", "0"), 2, "--rho must be above 0"),
    "a delta of text": ((*ALONE, "--epsilon", "1", "--delta", "abc"), 2, "--delta must be"),
    "an error of text": ((*PURE, "--error", "n=abc"), 2, "--error must be"),
    "a cap of text": ((*NEW, "--epsilon", "abc"), 2, "--epsilon must be a number"),
    "a cap of nothing": ((*NEW, "--rho", "0"), 2, "--rho must be above 0"),
    "a group's cap": (
        (*NEW, "--epsilon", "1", "--group", "g", "--group-mu", "x"),
        2,
        "--group-mu must be a number",
    ),
    "a slack beyond one": ((*NEW, "--rho", "1", "--slack", "2"), 2, "--slack must be"),
    "a group without a cap": ((*NEW, "--epsilon", "1", "--group", "g"), 2, "--group-epsilon"),
    "a name of nothing": ((*NEW[:4], " ", "--epsilon", "1"), 2, "--dataset must be a name"),
    "a group of nothing": (
        (*NEW, "--epsilon", "1", "--group", " ", "--group-rho", "1"),
        2,
        "--group must be a name",
    ),
    "a relation": ((*NEW, "--epsilon", "1", "--relation", "swap"), 2, "--relation must be"),
    "a name on the way": (
        (
            *(*RELEASE, "--ledger", "new.ledger", "--create", "--budget-epsilon", "1"),
            *("--epsilon", "1", "--dataset", "a\nb"),
        ),
        2,
        "--dataset must be a name",
    ),
    "no folder": (("ledger", "create", "no/l", *NEW[3:], "--rho", "1"), 2, "make the folder"),
    "bounds": ((*PURE, "--mean", "age:9:0", "--epsilon", "1"), 2, "the bounds of --mean"),
    "a column": ((*PURE, "--mean", "agee:0:9", "--epsilon", "1"), 2, "the column of --mean"),
    "rows": ((*PURE, "--max-rows", "0", "--epsilon", "1"), 2, "--max-rows must be"),
    "no unit": (
        ("release", "people.csv", "--max-rows", "3", *ALONE[4:], "--epsilon", "1"),
        2,
        "say --unit COLUMN",
    ),
    "no data": (("explain", "no.csv", "--count", "--epsilon", "1"), 2, "there is no file no.csv"),
    "no analyst": (
        (*PURE, "--epsilon", "1", "--analyst", "bob"),
        2,
        "discreet ledger analysts people.ledger --dataset people --add bob",
    ),
    "no dataset": (
        (*PURE, "--epsilon", "1", "--dataset", "d"),
        2,
        "discreet ledger create people.ledger --dataset d --epsilon 3",
    ),
    "discovered keys without a delta": ((*ALONE, *DISCOVER), 2, "--delta must be given"),
    "discovered keys of a pure cap": (
        (*PURE, *DISCOVER, "--delta", "1e-6"),
        3,
        "discreet ledger create LEDGER --dataset NAME --epsilon 3 --delta 1e-6",
    ),
    "Gaussian noise of a pure cap": ((*PURE, "--rho", "1"), 3, "ledger create LEDGER --dataset"),
    "no private key": ((*NEW, "--rho", "1", "--key", "no.key"), 2, "discreet key create"),
    "no public key": (
        ("ledger", "verify", "people.ledger", "--public-key", "no.pub"),
        2,
        "there is no file no.pub",
    ),
    "no certificate": (("verify", "no.json"), 2, "there is no file no.json"),
    "another file": (("verify", "people.csv"), 2, "release wrote with --certificate"),
    "no folder for a key": (("key", "create", "no/k"), 2, "a folder that exists"),
    "no picture": (("ledger", "show", "people.ledger", "--plot", "a.gif"), 2, "--plot must be"),
    "a delta of replay": (("ledger", "replay", "people.ledger", "--delta", "x"), 2, "--delta must"),
    "more than is left": (
        (*PURE, "--epsilon", "9"),
        4,
        "ask for less: discreet ledger show people.ledger says who spent it",
    ),
    "a truth value alone": ((*PURE, "--epsilon", "1", "--where", "member"), 2, "member == true"),
    "another unit": (
        ("ledger", "create", "people.ledger", "--dataset", "people", "--epsilon", "3"),
        3,
        'its unit is the column "person", not a row',
    ),
    "another relation": (
        (*SAME, "--epsilon", "3", "--relation", "replace"),
        3,
        "its relation is add-remove, not replace",
    ),
    "another cap": (
        (*SAME, "--rho", "1"),
        3,
        "its cap is ε = 3, not ρ = 1",
    ),
}
PYTHON = re.compile(r"\bdp\.|\(\.\.\.\)|\b[a-z]+_[a-z]+\b|\bFraction\b|\(str\)|\(int\)|\w=|--\w+\"")


@pytest.mark.parametrize("case", SAID)
def test_a_message_names_options_and_what_to_do(run: Run, ledger: str, case: str) -> None:
    """Catches an argument of Python in a message, and a message that leaves one alone."""
    arguments, code, words = SAID[case]
    ended = run(*arguments)
    assert (ended.code, ended.out) == (code, "")
    assert words in ended.err
    assert not PYTHON.search(ended.err), ended.err
    assert not Path("new.ledger").exists()  # nothing is left behind
    assert run("ledger", "show", ledger, "--json").result["accounts"][0]["spent"] == "0"


def test_what_is_left_is_a_field(run: Run, ledger: str) -> None:
    """Catches an error that only a person can read."""
    error = run(*PURE, "--epsilon", "9", "--json").error
    assert (error["left"], error["limit"], error["requested"]) == ("ε = 3", "ε = 3", "ε = 9")
    assert error["hint"].startswith("ask for less")


def test_another_delimiter_is_suggested(run: Run, folder: Path) -> None:
    """Catches a file of one column, whose name is all of them, without a word about why."""
    (folder / "semi.csv").write_text("person;age\n1;20\n")
    for asked in (("--unit", "person", "--count"), ("--mean", "age:0:100")):
        ended = run("explain", "semi.csv", *asked, "--epsilon", "1")
        assert ended.code == 2
        assert "--delimiter ';'" in ended.err


def test_a_head_without_its_journal_is_damage(run: Run, ledger: str, folder: Path) -> None:
    """Catches half a ledger that is taken for none, with the advice to make a new one."""
    (folder / ledger).unlink()
    for asked in (("ledger", "show", ledger), (*PURE, "--epsilon", "1")):
        ended = run(*asked)
        assert ended.code == 5
        assert "is gone" in ended.err
        assert "ledger create" not in ended.err


def test_the_wrong_half_of_a_key_is_said_to_be_so(run: Run, ledger: str) -> None:
    """Catches a private key that is asked for, or read, where a public one is meant."""
    assert run("key", "create", "k").code == 0
    wrong = run("ledger", "verify", ledger, "--key", "k.pub")
    assert "a public half" in wrong.err and "--public-key" in wrong.err
    for asked in (("ledger", "verify", ledger), ("verify", "people.csv")):
        private = run(*asked, "--public-key", "k")
        assert private.code == 2
        assert "the public one is in k.pub" in private.err


def test_every_idiom_has_words_of_the_shell() -> None:
    """Catches an idiom that was added for Python alone."""
    for idiom in Idiom:
        assert not PYTHON.search(SHELL(idiom).replace("--claim epsilon=1", "")), idiom


def test_values_in_quotes_are_options() -> None:
    """Catches --dataset"visits"."""
    assert SHELL(Phrase('{dataset="visits"}, {create=True}')) == "--dataset visits, --create"
    told = InvalidArgument.of("delta", "a number", "x").sentence(SHELL)
    assert told == "--delta must be a number, got 'x'"
