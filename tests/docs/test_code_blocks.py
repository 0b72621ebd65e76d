"""Docs run: every block of README, docs and examples, in order, page by page."""

import re
from codeop import compile_command
from pathlib import Path

import pytest

from publishing.blocks import PAGES, ROOT, blocks_of, pictures_of
from publishing.notebooks import TAUGHT
from publishing.refresh import alike, roomy
from publishing.running import checks_of, run_page, runs_here, same

# Blocks that a page's test does not run, by how they start: test_quickstart.py runs them.
SET_UP = {"README.md": ["make demo"], "docs/quickstart.md": ["python3 -m venv"]}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# Run as a notebook too, by tests/docs/test_notebooks.py, which compares the same and more.
RUN_HERE = [page for page in PAGES if name_of(page) != TAUGHT[-1]]


@pytest.mark.parametrize("page", RUN_HERE, ids=name_of)
def test_a_page_prints_and_draws_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Catches an example that went stale, a result in a comment or an output that is not the
    result, and a picture that is not what the code shown draws.

    Noise has the same seeds as in `make refresh`. Where a page says that numbers vary, with the
    clock or with how much a machine gets done, they are not compared, and words are.
    """
    if re.search(r"SparkSession|duckdb_and_spark", page.read_text()):
        request.getfixturevalue("spark")  # the page finds the one that is running
    monkeypatch.chdir(tmp_path)
    for ran in run_page(page, tmp_path):
        if ran.block.printed:
            where = f"{name_of(page)}:{ran.block.printed.start + 1}: run `make refresh`"
            assert same(ran.block.printed, ran.output), f"{where}\n{ran.output}"
    for picture, varies in pictures_of(page.read_text()).items():
        drawn = tmp_path / Path(picture).name
        assert drawn.exists(), f"no code on the page draws {picture}"
        kept = (page.parent / picture).read_text()
        assert alike(kept, roomy(drawn.read_text()), varies=varies), f"{picture}: `make refresh`"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_nothing_that_looks_like_code_is_passed_over(page: Path) -> None:
    """Catches a block that no test runs: in another language, or set apart as an installation."""
    for block in blocks_of(page.read_text()):
        assert block.language in ("python", "sh", "text", "json", "toml", "sql"), block
        assert block.library is None or name_of(page) == "docs/coming-from.md", block
        if block.language not in ("python", "sh") or block.library or runs_here(block):
            continue
        assert block.text.startswith(tuple(SET_UP.get(name_of(page), ["-"]))), block.text


@pytest.mark.parametrize(
    "text",
    [
        '```python title="x"\n1 / 0\n```\n',
        "- a list\n\n  ```python\n  1 / 0\n  ```\n",
        "~~~python\n1 / 0\n~~~\n",
        "```\n1 / 0\n```\n",
    ],
)
def test_a_fence_that_would_not_run_is_refused(text: str) -> None:
    """Catches a block that looks like code to a reader and not to the runner."""
    with pytest.raises(ValueError, match="language"):
        blocks_of(text)


def test_a_changed_picture_and_a_changed_number_are_seen() -> None:
    """The planted errors: one mark, one word, one digit."""
    kept = '<svg><path aria-label="age: 5; patients: 7"/><text x="1">age</text></svg>'
    moved = kept.replace('x="1"', 'x="2"')
    assert alike(kept, moved, varies=False)
    assert not alike(kept, kept.replace("7", "8"), varies=False)
    last_digit = kept.replace("7", "7.00000000001"), kept.replace("7", "7.00000000002")
    assert alike(*last_digit, varies=False)
    assert alike(kept.replace("7", "0"), kept.replace("7", "−1e-17"), varies=False)
    assert not alike(kept, kept.replace("7", "7.000001"), varies=False)
    line, doubled, bent = '<path d="M0,0L5,5"', '<path d="M0,0L5,5L5,5"', '<path d="M0,0L5,9"'
    assert alike(line, doubled, varies=False) and not alike(line, bent, varies=False)
    assert alike(kept, kept.replace("7", "8"), varies=True)
    assert not alike(kept, kept.replace(">age", ">year"), varies=True)
    [block] = blocks_of("```python\nprint(1)\n```\n\n```text\n1 row\n```\n")
    assert block.printed is not None and same(block.printed, "1 row\n")
    assert not same(block.printed, "2 rows\n")
    [block] = blocks_of("```python\n1 + 1  # 3: no\n```\n")
    [check] = checks_of(block)
    with pytest.raises(AssertionError):
        exec(check)
    [block] = blocks_of("```python\n1 + 1  # 2 of them\n```\n")
    with pytest.raises(ValueError, match="a colon"):
        list(checks_of(block))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_can_be_pasted_into_a_prompt(page: Path) -> None:
    """Catches a block whose indented part is not ended by an empty line: the prompt of Python 3.11
    and 3.12 takes what follows for a mistake."""
    for block in blocks_of(page.read_text()):
        if block.language != "python" or block.library:
            continue
        typed: list[str] = []
        for number, line in enumerate([*block.text.splitlines(), ""], block.start + 2):
            typed.append(line)
            try:
                if compile_command("\n".join(typed)) is not None:
                    typed.clear()
            except IndentationError:  # an empty line within a class or function is good style
                typed.clear()
                break
            except SyntaxError as error:
                pytest.fail(f"{name_of(page)}:{number}: {error.msg}; put an empty line before it")


def test_targets_of_make_that_pages_name_are_there() -> None:
    """Catches a target that was renamed."""
    targets = "".join((ROOT / at / "Makefile").read_text() for at in (".", "benchmarks"))
    for page in PAGES:
        for block in blocks_of(page.read_text()):
            for line in block.text.splitlines() if block.language == "sh" else ():
                if line.startswith("make "):
                    assert f"\n{line.split()[1]}:" in targets, f"{name_of(page)}: {line}"


GUIDES = [page for page in PAGES if page.parent.name in ("docs", "lectures", "examples")]
INDEXES = ("docs/README.md", "docs/glossary.md", "docs/lectures/README.md")


@pytest.mark.parametrize(
    "page", [page for page in GUIDES if name_of(page) not in INDEXES], ids=name_of
)
def test_every_guide_has_a_picture(page: Path) -> None:
    """Catches a guide that only tells."""
    assert pictures_of(page.read_text())


def test_every_picture_is_shown() -> None:
    """Catches a picture whose page was changed: nobody would draw it anew."""
    shown = {page.parent / path for page in PAGES for path in pictures_of(page.read_text())}
    there = {path for page in PAGES for path in (page.parent / "pictures").glob("*")}
    assert there <= {path.parent.resolve() / path.name for path in shown} | shown


def test_the_readme_opens_with_a_picture_an_example_and_both_commands() -> None:
    """The first five minutes: a picture, an example of at most ten lines, two commands."""
    text = (ROOT / "README.md").read_text()
    first = next(block for block in blocks_of(text) if block.language == "python")
    assert text.index("![") < text.index("```")
    assert len([line for line in first.text.splitlines() if line.strip()]) <= 10
    assert "make demo" in text
    assert "make test" in text
