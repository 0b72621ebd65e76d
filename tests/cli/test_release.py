"""``discreet release`` and ``discreet explain``."""

from pathlib import Path

from discreet.query.aggregates import KINDS
from tests.cli.conftest import CITIES, ROWS, Run

COUNT = ("release", "people.csv", "--count", "--epsilon", "1", "--no-ledger")
BY_CITY = ("--group-by", "city", "--keys", "A,B,C")


def test_the_command_of_the_readme_releases_a_table_and_charges_the_ledger(
    run: Run, ledger: str
) -> None:
    """The main job. Catches a front door that does not lead to the session."""
    ended = run(
        *("release", "people.parquet", "--unit", "person", *BY_CITY, "--count"),
        *("--mean", "income:0:200000", "--epsilon", "0.5", "--ledger", ledger),
    )
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0].split() == ["city", "n", "mean_income"]
    assert [line[0] for line in ended.out.splitlines()[2:5]] == list(CITIES)
    (dataset,) = run("ledger", "show", ledger, "--json").result["accounts"]
    assert (dataset["spent"], dataset["cap"], dataset["releases"]) == ("1/2", "3", 1)


def test_a_release_is_near_the_truth(run: Run) -> None:
    """Within 20 scales of the noise (ε = 1, so false alarms below e⁻²⁰ < 3e-9)."""
    (row,) = run(*COUNT, "--json").result["rows"]
    assert abs(row["n"] - ROWS) <= 20


def test_every_aggregate_and_its_name(run: Run) -> None:
    """Catches an aggregate that is parsed into another one, names that change, and a new flag that
    is not asked for here."""
    asked = (
        *("release", "people.parquet", "--no-ledger", "--epsilon", "1", "--json", "--count"),
        *("--count-units", "--sum", "age:0:100", "--mean", "pay=income:0:1e5"),
        *("--median", "age:0:100", "--quantile", "age:0.9:0:100"),
        *("--quantile", "income:0.25,0.75:0:200000", "--variance", "age:0:100"),
        *("--std", "age:0:100", "--histogram", "age:0,18,65", "--histogram", "city:A,B"),
        *("--top-k", "city:2:A,B,C", "--most-common", "member:true,false"),
        *("--unit", "person"),
    )
    assert {f"--{flag.option}" for kind in KINDS.values() for flag in kind.flags()} <= {*asked}
    ended = run(*asked)
    assert ended.code == 0, ended.err
    kinds = {c["name"]: c["kind"] for c in ended.result["columns"] if c["role"] == "value"}
    assert kinds == {
        "n": "count",
        "people": "count",
        "sum_age": "sum",
        "pay": "mean",
        "median_age": "quantile",
        "p90_age": "quantile",
        "quantile_income_0.25": "quantile",
        "quantile_income_0.75": "quantile",
        "variance_age": "variance",
        "std_age": "std",
        "age_0_to_18": "bin",
        "age_18_to_65": "bin",
        "city_A": "bin",
        "city_B": "bin",
        "top_city_1": "choice",
        "top_city_2": "choice",
        "commonest_member": "choice",
    }
    (row,) = ended.result["rows"]
    assert row["commonest_member"] in (True, False)


def test_keys_take_the_type_of_their_column(run: Run, folder: Path) -> None:
    """Catches keys passed as text to a column of numbers, dates or truth values."""
    for column, keys, first in (
        ("age", "20,30", 20),
        ("member", "true,false", True),
        ("since", "1970-01-02,1970-01-03", "1970-01-02"),
        ("city", 'A,"B"', "A"),
    ):
        ended = run(
            *("release", "people.parquet", "--count", "--epsilon", "1", "--no-ledger"),
            *("--group-by", column, "--keys", keys, "--json"),
        )
        assert ended.code == 0, ended.err
        assert ended.result["rows"][0][column] == first
        assert len(ended.result["rows"]) == 2
    wrong = run(*COUNT, "--group-by", "age", "--keys", "old", "--schema", "age=integer")
    assert wrong.code == 2
    assert "a whole number such as 12" in wrong.err


def test_several_groups_are_crossed_and_keys_can_come_from_a_file(run: Run, folder: Path) -> None:
    """Catches keys given to the wrong column."""
    crossed = run(*COUNT, *BY_CITY, "--group-by", "age", "--keys", "20,30,40", "--json")
    assert len(crossed.result["rows"]) == 9
    assert {row["age"] for row in crossed.result["rows"]} == {"20", "30", "40"}  # text in CSV
    (folder / "keys.csv").write_text("city\nB\nC\n")
    listed = run(*COUNT, "--group-by", "city", "--public-keys", "keys.csv", "--json")
    assert [row["city"] for row in listed.result["rows"]] == ["B", "C"]


def test_keys_are_discovered_for_a_delta(run: Run) -> None:
    """Cities of 200 people are found with a probability above 1 - 1e-9 at ε = 2."""
    spends = (("--epsilon", "2", "--delta", "1e-6"), ("--rho", "1", "--delta", "1e-6"))
    for spend in spends:
        ended = run(
            *("release", "people.csv", "--count", *spend, "--no-ledger", "--json"),
            *("--group-by", "city", "--keys", "discover"),
        )
        assert ended.code == 0, ended.err
        assert [row["city"] for row in ended.result["rows"]] == list(CITIES)
        assert "left out" in ended.result["suppressed"]


def test_discover_is_never_a_key_by_accident(run: Run, ledger: str) -> None:
    """Catches a literal key called discover that is charged: it serves all columns, or none."""
    asked = ("release", "people.csv", "--unit", "person", "--count", "--group-by", "city")
    crossed = (*asked, "--group-by", "member", "--epsilon", "2", "--delta", "1e-6", "--no-ledger")
    for times in (1, 2):
        ended = run(*crossed, *(("--keys", "discover") * times), "--json")
        assert ended.code == 0, ended.err
        assert {row["city"] for row in ended.result["rows"]} <= set(CITIES)
        assert "left out" in ended.result["suppressed"]
    paid = ("--epsilon", "1", "--delta", "1e-6", "--ledger", ledger)
    both = ("--group-by", "member", "--keys", "discover", "--keys", "true,false")
    for mixed in (both, ("--keys", "discover,A"), ("--keys", "A, discover")):
        ended = run(*asked, *mixed, *paid)
        assert ended.code == 2
        assert "--public-keys" in ended.err
    assert run("ledger", "show", ledger, "--json").result["accounts"][0]["spent"] == "0"


def test_where_drops_rows(run: Run) -> None:
    """Catches conditions that are ignored or joined by or: nobody is both (noise below 40)."""
    ended = run(*COUNT, "--where", "city == 'A'", "--where", "city == 'B'", "--json")
    assert abs(ended.result["rows"][0]["n"]) < 40


def test_an_error_can_be_asked_for(run: Run) -> None:
    """Catches an error that is not passed on, or not by name."""
    asked = ("release", "people.csv", "--no-ledger", "--budget-epsilon", "3", "--json", "--count")
    (row,) = run(*asked, "--error", "50").result["rows"]
    assert 25 < row["n_error"] <= 50
    ended = run(*asked, "--mean", "age:0:100", "--error", "mean_age=5", "--group-size", "500")
    assert ended.code == 0, ended.err
    both = run(*asked, "--error", "50", "--error", "n=20")
    assert both.code == 2


def test_numbers_are_exact(run: Run, ledger: str) -> None:
    """A tenth is a tenth: three tenths of a budget are three tenths, not a bit more."""
    for spend in ("0.1", "1/10", "1e-1"):
        asked = ("release", "people.csv", "--unit", "person", "--count", "--ledger", ledger)
        assert run(*asked, "--epsilon", spend).code == 0
    (dataset,) = run("ledger", "show", ledger, "--json").result["accounts"]
    assert dataset["spent"] == "3/10"


def test_without_a_ledger_nothing_is_released_unless_said(run: Run) -> None:
    """Catches a throw-away budget that nobody asked for."""
    ended = run("release", "people.csv", "--count", "--epsilon", "1")
    assert ended.code == 2
    assert "discreet ledger create" in ended.err
    assert "--no-ledger" in ended.err
    for pointless in (("--create",), ("--idempotency-key", "monday")):
        assert run(*COUNT, *pointless).code == 2


def test_a_cap_without_a_ledger_says_what_is_left(run: Run) -> None:
    """Catches advice that asks where the ledger is, when there is none."""
    ended = run(*COUNT, "--budget-epsilon", "0.5", "--json")
    assert ended.code == 4
    assert ended.error["left"] == "ε = 0.5"
    assert ended.error["remedy"] == "ask for less"


def test_a_ledger_can_be_made_on_the_way(run: Run) -> None:
    """--create needs the cap, and a second run goes on with what is there."""
    asked = ("release", "people.csv", "--count", "--epsilon", "1", "--ledger", "new.ledger")
    assert run(*asked).code == 2
    assert run(*asked, "--create").code == 2
    assert run(*asked, "--create", "--budget-epsilon", "1", "--slack", "2").code == 2
    assert not Path("new.ledger").exists()  # nothing is left behind
    cap = ("--create", "--budget-epsilon", "2", "--dataset", "people")
    assert run(*asked, *cap).code == 0
    assert run(*asked, *cap).code == 0
    ended = run(*asked, "--json")
    assert ended.code == 4
    assert ended.error["spent"] == "ε = 2"
    assert run(*asked, "--create", "--budget-epsilon", "3").code == 3


def test_the_same_idempotency_key_gives_the_same_answer_for_one_charge(
    run: Run, ledger: str
) -> None:
    """Catches a key that is not passed on."""
    asked = ("release", "people.csv", "--unit", "person", "--count", "--epsilon", "1")
    first, second = (
        run(*asked, "--ledger", ledger, "--idempotency-key", "monday", "--json") for _ in range(2)
    )
    assert first.result["rows"] == second.result["rows"]
    assert (first.result["stored"], second.result["stored"]) == (False, True)
    assert first.result["record"] == second.result["record"]
    (dataset,) = run("ledger", "show", ledger, "--json").result["accounts"]
    assert dataset["spent"] == "1"


def test_explain_takes_the_options_of_release_and_costs_nothing(run: Run, ledger: str) -> None:
    """Catches an explain that charges, writes, or reads rows: the file has none to read."""
    asked = (*BY_CITY, "--unit", "person", "--count", "--epsilon", "0.5", "--output", "a.csv")
    Path("empty.csv").write_text("person,city,income\n")
    for ledger_options in (("--ledger", ledger), (), ("--no-ledger",), ("--budget-epsilon", "9")):
        ended = run("explain", "empty.csv", *asked, *ledger_options)
        assert ended.code == 0, ended.err
        assert ended.out.startswith("1. Protected: all rows of one person, added or removed.")
    assert not Path("a.csv").exists()
    told = run("explain", "people.csv", *asked, "--json").result
    assert set(told) == {"sentences", "warnings", "errors"}
    (dataset,) = run("ledger", "show", ledger, "--json").result["accounts"]
    assert dataset["spent"] == "0"


def test_without_a_bound_one_row_of_each_person_is_kept(run: Run) -> None:
    """The default is the smallest bound, and the answer says so."""
    ended = run("release", "people.csv", "--unit", "person", *COUNT[2:], "--json")
    assert abs(ended.result["rows"][0]["n"] - 400) < 130  # people, not rows
    assert ended.result["notes"][0].startswith("1 row of each person is kept, since no --max-rows")
    assert "rows beyond 1 of one person are left out" in ended.result["notes"][1]
    asked = ("explain", "people.csv", "--unit", "person", *COUNT[2:], "--json")
    assert run(*asked).result["warnings"][0].startswith("1 row of each person is kept")
    for said in (("--max-rows", "1"), ("--max-rows-per-group", "1", "--max-groups", "1")):
        assert not any("since no" in told for told in run(*asked, *said).result["warnings"])


def test_a_file_of_header_alone_gives_noise(run: Run) -> None:
    """An empty table is answered like any other."""
    Path("empty.csv").write_text("person,city\n")
    ended = run("release", "empty.csv", *COUNT[2:], *BY_CITY)
    assert ended.code == 0, ended.err
    assert "± 6" in ended.out or "± 3" in ended.out


def test_delimiters_and_types(run: Run) -> None:
    """Catches options that do not reach the table."""
    Path("people.tsv.csv").write_text("person\tage\n1\t20\n2\t30\n")
    ended = run(
        *("release", "people.tsv.csv", "--delimiter", "tab", "--schema", "age=integer"),
        *("--group-by", "age", "--keys", "20,30", "--count", "--epsilon", "1", "--no-ledger"),
        *("--json", "--relation", "replace"),
    )
    assert [row["age"] for row in ended.result["rows"]] == [20, 30]
    assert ended.result["protects"] == "one row, replaced"
