"""``discreet ledger`` and ``discreet key``."""

import json
import stat
from pathlib import Path

import pytest

import discreet as dp
from discreet.cli.main import main
from tests.cli.conftest import Run, copied

BOB = "böb [red]李雷[/red]"


@pytest.fixture(scope="module")
def spent(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with two analysts, a release of each, and charges by hand; made once."""
    made = tmp_path_factory.mktemp("spent")
    ledger = str(made / copied(samples, made))
    with dp.Ledger(ledger) as opened:  # before there are analysts, nobody has a name
        for _ in range(2):
            opened.charge(dp.Pure("0.1"), dataset="people", question="by hand")
    assert main(["ledger", "analysts", ledger, "--add", "ann", "--epsilon", "1"]) == 0
    assert main(["ledger", "analysts", ledger, "--add", BOB]) == 0
    asked = ["release", str(samples / "people.csv"), "--unit", "person", "--count"]
    for analyst in ("ann", BOB):
        spend = ["--epsilon", "0.25", "--ledger", ledger, "--analyst", analyst]
        assert main([*asked, *spend]) == 0
    with dp.Ledger(ledger) as opened:
        for name in ("ann", BOB):
            opened.charge(dp.Pure("0.25"), dataset="people", analyst=name, question="by hand")
    return made


@pytest.fixture
def used(spent: Path, folder: Path) -> str:
    """The same in the working folder."""
    return copied(spent, folder)


def test_making_a_ledger_twice_changes_nothing(run: Run, ledger: str) -> None:
    """Catches a second `create` that resets, and a cap that is changed."""
    again = ("ledger", "create", ledger, "--dataset", "people", "--unit", "person")
    assert run(*again, "--epsilon", "3").out.count("was there already") == 2
    assert run(*again, "--epsilon", "3", "--json").result["accounts"][0]["existed"] is True
    assert run(*again, "--epsilon", "4").code == 3
    assert run(*again, "--rho", "1").code == 3
    assert run(*again[:-2], "--epsilon", "3").code == 3
    assert run(*again, "--relation", "replace", "--epsilon", "3").code == 3
    (dataset,) = run("ledger", "show", ledger, "--json").result["accounts"]
    assert (dataset["cap"], dataset["unit"], dataset["relation"]) == ("3", "person", "add-remove")


def test_groups_cap_the_datasets_in_them(run: Run) -> None:
    """Catches a group that is made and not joined."""
    made = run(
        *("ledger", "create", "a b ä.ledger", "--group", "patients", "--group-rho", "0.5"),
        *("--group-slack", "1e-6", "--dataset", "visits", "--epsilon", "1", "--delta", "1e-6"),
    )
    assert made.code == 0, made.err
    assert "kept as ρ" in made.out
    joined = run(
        *("ledger", "create", "a b ä.ledger", "--group", "patients"),
        *("--dataset", "bills", "--mu", "1", "--json"),
    )
    (bills,) = joined.result["accounts"]
    assert bills["groups"] == ["patients"]
    missing = run(
        *("ledger", "create", "a b ä.ledger", "--group", "nobody"),
        *("--dataset", "x", "--epsilon", "1"),
    )
    assert missing.code == 2
    shown = run("ledger", "show", "a b ä.ledger").out
    assert all(name in shown for name in ("group patients", "dataset visits", "dataset bills"))


def test_show_has_accounts_time_and_releases(run: Run, used: str) -> None:
    """Catches an account, an analyst or a release that is missing; and markup from names."""
    shown = run("ledger", "show", used).out
    assert "ε = 1.2 of ε = 3" in shown
    assert "ε = 0.5 of ε = 1" in shown
    assert "ε = 0.5 spent, no cap of their own, 2 releases" in shown
    assert shown.count("no answer") == 4
    assert "[red]" in shown
    assert "no name" in shown  # the two charges by hand
    assert shown.count("by hand") == 4
    assert any(block in shown for block in "▁▂▃▄▅▆▇█")
    assert "\x1b" not in shown
    few = run("ledger", "show", used, "--last", "1", "--analyst", "ann").out
    assert "the last 1 of 2 releases" in few


def test_unknown_analysts_are_refused_before_anything_is_printed(run: Run, used: str) -> None:
    """Catches a typing error that passes for somebody who spent nothing."""
    for command in ("show", "replay"):
        ended = run("ledger", command, used, "--analyst", "anne")
        assert ended.code == 2 and not ended.out, command
        assert "ann" in ended.err


def test_nothing_is_added_where_something_is_refused(run: Run, ledger: str) -> None:
    """Catches a group that is left behind, and a slack that belongs to no cap."""
    made = ("ledger", "create", ledger, "--group", "a", "--group", "b", "--group-epsilon", "1")
    assert run(*made, "--dataset", "z", "--epsilon", "1").code == 2
    old = ("ledger", "create", ledger, "--group", "b", "--group-epsilon", "1")
    assert run(*old, "--dataset", "people", "--epsilon", "3", "--unit", "person").code == 2
    assert run("ledger", "analysts", ledger, "--add", "ann", "--slack", "0.1").code == 2
    new = ("ledger", "create", "new.ledger", *made[3:], "--dataset", "z", "--epsilon", "1")
    assert run(*new).code == 2
    assert not Path("new.ledger").exists()
    with dp.Ledger(ledger) as opened:
        assert not opened.groups and not opened.analysts


def test_a_ledger_is_read_with_the_public_key(run: Run) -> None:
    """Catches a ledger that was replaced by one without the seal, or with another."""
    for name in ("a.key", "b.key"):
        assert run("key", "create", name).code == 0
    made = ("--dataset", "people", "--epsilon", "3")
    assert run("ledger", "create", "sealed.ledger", *made, "--key", "a.key").code == 0
    assert run("ledger", "create", "bare.ledger", *made).code == 0
    for command in ("verify", "show", "replay"):
        asked = ("ledger", command)
        assert run(*asked, "sealed.ledger", "--public-key", "a.key.pub").code == 0, command
        assert run(*asked, "sealed.ledger", "--public-key", "b.key.pub").code == 3
        assert run(*asked, "bare.ledger", "--public-key", "a.key.pub").code == 3


def test_show_fits_narrow_and_wide_terminals(
    run: Run, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a chart wider than the terminal, and one that fails without space."""
    for columns in (20, 40, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        ended = run("ledger", "show", used, "--last", "0")
        assert ended.code == 0, ended.err
        chart = [line for line in ended.out.splitlines() if line.endswith("▏")]
        assert chart
        assert max(map(len, chart)) <= max(columns, 34)


def test_show_repeats_a_cap_as_it_was_stated(run: Run) -> None:
    """Catches ρ where ε and δ were said, and twelve digits of it."""
    made = ("ledger", "create", "a.ledger", "--dataset", "people", "--epsilon", "2")
    assert run(*made, "--delta", "1e-6").code == 0
    shown = run("ledger", "show", "a.ledger").out
    assert "ρ = 0 of ρ = 0.0834417 with δ₀ = 5e-07, which keeps ε = 2 at δ = 1e-06" in shown


def test_show_is_in_colour_on_a_terminal(
    run: Run, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches colours that are lost; FORCE_COLOR stands for a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32m" in run("ledger", "show", used).out  # green: less than 70 % is spent
    monkeypatch.setenv("COLUMNS", "60")
    told = run("ledger", "show", used).out  # a question that does not fit stands below
    assert "\n        The number of rows (n)." in told


def test_show_gives_a_document_and_a_picture(run: Run, used: str, folder: Path) -> None:
    """Catches sums that are floats, and pictures that are not drawn."""
    shown = run("ledger", "show", used, "--plot", "a.svg", "--json")
    assert shown.code == 0, shown.err
    assert (folder / "a.svg").read_text().startswith("<svg")
    dataset, *_ = shown.result["accounts"]
    assert dataset["spent"] == "6/5"
    answered = {entry["number"]: entry["answered"] for entry in shown.result["releases"]}
    assert answered == {3: False, 4: False, 7: True, 9: True, 11: False, 12: False}
    assert run("ledger", "show", used, "--plot", "a.gif").code == 2
    assert run("ledger", "show", used, "--plot", used).code == 2


def test_show_gives_a_stored_answer_again(run: Run, used: str) -> None:
    """Catches a second draw of noise, and a charge for looking."""
    first, second = (run("ledger", "show", used, "--release", "7", "--json") for _ in range(2))
    assert first.result["rows"] == second.result["rows"]
    assert "± 12" in run("ledger", "show", used, "--release", "7").out
    again = ("--certificate", "again.json", "--output", "again.csv", "--format", "csv")
    assert run("ledger", "show", used, "--release", "7", *again).out.startswith("n,n_error\n")
    assert run("verify", "again.json", "--ledger", used, "--result", "again.csv").code == 0
    assert run("ledger", "show", used, *again).code == 2
    by_hand = run("ledger", "show", used, "--release", "3")
    assert by_hand.code == 2
    assert "3, which was charged and has no answer" in by_hand.err
    assert run("ledger", "show", used, "--release", "6").code == 2  # no release at all
    assert run("ledger", "show", used, "--json").result["accounts"][0]["spent"] == "6/5"


def test_an_empty_ledger_can_be_shown(run: Run) -> None:
    """Nothing to divide by, nothing to draw."""
    assert run("ledger", "create", "empty.ledger").code == 0
    assert "no datasets yet" in run("ledger", "show", "empty.ledger").out
    assert run("ledger", "replay", "empty.ledger").code == 2
    run("ledger", "create", "empty.ledger", "--dataset", "people", "--epsilon", "1")
    shown = run("ledger", "show", "empty.ledger", "--plot", "none.svg")
    assert shown.code == 0, shown.err
    assert "nothing was spent yet" in shown.out
    assert "no analysts yet" in run("ledger", "analysts", "empty.ledger").out


def test_an_analyst_is_bound_by_a_cap_of_their_own(run: Run, used: str) -> None:
    """Catches an analyst's cap that is not charged; the error says whose cap it is."""
    ended = run(
        *("release", "people.csv", "--unit", "person", "--count", "--epsilon", "0.75"),
        *("--ledger", used, "--analyst", "ann", "--json"),
    )
    assert ended.code == 4
    assert "ann" in ended.error["account"]
    listed = run("ledger", "analysts", used, "--json").result["accounts"]
    spent = {account["name"]: account["spent"] for account in listed}
    assert spent == {"people": "6/5", "ann": "1/2", BOB: "1/2"}
    assert run("ledger", "analysts", used, "--epsilon", "1").code == 2


def test_verify_says_what_was_checked_and_knows_a_noted_record(run: Run, used: str) -> None:
    """Catches a head that is not compared: a ledger put back to an older copy."""
    checked = run("ledger", "verify", used, "--json").result
    head = f"{checked['head']['number']}:{checked['head']['hash']}"
    assert (checked["ok"], checked["charges"], checked["signed"]) == (True, 6, False)
    assert checked["unanswered"] == [3, 4, 11, 12]
    assert "records 3, 4, 11, 12." in run("ledger", "verify", used).out
    agreed = run("ledger", "verify", used, "--expect", head)
    assert agreed.code == 0
    assert "older copy" not in agreed.out
    assert f"--expect: {head}" in agreed.out
    with dp.Ledger(used) as opened:
        opened.charge(dp.Pure("0.1"), dataset="people", analyst="ann", question="later")
    assert run("ledger", "verify", used, "--expect", head).code == 0
    for other in (f"{checked['records']}:{'0' * 64}", f"99999:{head.partition(':')[2]}"):
        ended = run("ledger", "verify", used, "--expect", other)
        assert ended.code == 1
        assert ended.out.startswith("FAILED: ")  # the first thing that is read
    assert "there is no record 99999" in ended.out


def test_a_damaged_ledger_ends_with_its_code(run: Run, used: str, folder: Path) -> None:
    """Catches damage that is shown, charged or mended."""
    content = (folder / used).read_bytes()
    place = content.index(b'"question"')
    (folder / used).write_bytes(content[:place] + b'"quests__"' + content[place + 10 :])
    for command in (("ledger", "show", used), ("ledger", "verify", used, "--json")):
        assert run(*command).code == 5
    ended = run(
        *("release", "people.csv", "--unit", "person", "--count", "--epsilon", "0.1"),
        *("--ledger", used, "--json"),
    )
    assert (ended.code, ended.error["kind"]) == (5, "LedgerDamaged")


def test_replay_says_whether_it_is_a_guarantee(run: Run, used: str) -> None:
    """Catches an estimate sold as a guarantee."""
    guess = run("ledger", "replay", used, "--delta", "1e-6", "--json").result
    sure = run("ledger", "replay", used, "--fixed-in-advance", "--json").result
    assert (guess["is_guarantee"], sure["is_guarantee"]) == (False, True)
    assert guess["releases"] == 6
    assert 0 < guess["epsilon"] <= 1.2
    told = run("ledger", "replay", used, "--delta", "1e-6").out
    assert "an estimate" in told
    assert "at δ = 1e-6" in told


def test_a_key_is_made_once_and_signs_the_ledger(run: Run, folder: Path) -> None:
    """Catches a key that others can read, that is written over, or that signs nothing."""
    made = run("key", "create", "my.key", "--json")
    assert made.code == 0, made.err
    assert stat.S_IMODE((folder / "my.key").stat().st_mode) == 0o600
    assert made.result["public_file"] == "my.key.pub"
    assert run("key", "create", "my.key").code == 3
    assert run("key", "create", "nowhere/my.key").code == 2
    cap = ("--dataset", "people", "--epsilon", "3")
    assert run("ledger", "create", "s.ledger", "--key", "my.key", *cap).code == 0
    verified = run("ledger", "verify", "s.ledger", "--json").result
    assert (verified["signed"], verified["public_key"]) == (True, made.result["key"])
    assert made.result["key"] in run("ledger", "verify", "s.ledger").out
    assert run("key", "create", "other.key").code == 0
    assert run("ledger", "show", "s.ledger", "--key", "other.key").code == 3


def test_variables_stand_for_options(
    run: Run, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches environment variables that are documented and not read."""
    monkeypatch.setenv("DISCREET_LEDGER", ledger)
    ended = run("release", "people.csv", "--unit", "person", "--count", "--epsilon", "1")
    assert ended.code == 0, ended.err
    assert run("ledger", "show", "--json").result["accounts"][0]["spent"] == "1"


def test_a_certificate_is_verified(run: Run, ledger: str, folder: Path) -> None:
    """Catches a forged certificate that passes, and a true one that does not."""
    ended = run(
        *("release", "people.csv", "--unit", "person", "--count", "--epsilon", "1"),
        *("--ledger", ledger, "--certificate", "c.json", "--output", "a.csv"),
    )
    assert ended.code == 0, ended.err
    told = run("verify", "c.json").out.splitlines()
    assert told[0].startswith("Certificate of a release from people")
    assert told[-1].startswith("Nothing failed: ")
    assert told[-1].endswith("not signed, so anyone could have written it")
    whole = ("verify", "c.json", "--ledger", ledger, "--result", "a.csv")
    told = run(*whole, "--json")
    assert told.code == 0, told.out
    assert told.result["ok"] and told.result["proved"] and not told.result["failed"]
    assert run("verify", "c.json", "--public-key", "ab" * 32).code == 1
    assert run("verify", "c.json", "--result", "people.csv").code == 1
    document = json.loads((folder / "c.json").read_text())
    document["charges"][0]["amount"] = "1/100"
    (folder / "c.json").write_text(json.dumps(document))
    forged = run(*whole)
    assert forged.code == 1
    assert "\nFailed:\n" in forged.out
    assert forged.out.splitlines()[-1].startswith("FAILED: its digest")
    assert run("verify", "nowhere.json").code == 2
    assert run("verify", "c.json", "--ledger", "nowhere.ledger").code == 2
    assert run("verify", "people.csv").code == 2
