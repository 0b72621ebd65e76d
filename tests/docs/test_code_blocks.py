"""Docs run: every block of README, docs and examples, in order, page by page."""

import re
from pathlib import Path

import pytest

from publishing.blocks import PAGES, ROOT, blocks_of, pictures_of
from publishing.notebooks import TAUGHT
from publishing.running import run_page, runs_here, words_of

# Blocks that a page's test does not run, by how they start: tests/docs/test_quickstart.py runs the
# installation, CI runs the two targets.
SET_UP = {"README.md": ["make demo"], "docs/quickstart.md": ["python3 -m venv"]}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# Those that are notebooks as well are run as such, by tests/docs/test_notebooks.py.
RUN_HERE = [page for page in PAGES if name_of(page) not in TAUGHT]


@pytest.mark.parametrize("page", RUN_HERE, ids=name_of)
def test_a_page_prints_and_draws_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Catches an example that went stale, a result in a comment or an output that is not the
    result, and a picture that the code shown does not draw.

    Noise has the same seed as in `make refresh`; numbers are compared in comments only, since
    clocks and engines may change those that are printed.
    """
    if re.search(r"SparkSession|duckdb_and_spark", page.read_text()):
        request.getfixturevalue("spark")  # the page finds the one that is running
    monkeypatch.chdir(tmp_path)
    for ran in run_page(page, tmp_path):
        if ran.block.printed:
            shown = ran.block.printed.text
            where = f"{name_of(page)}:{ran.block.printed.start + 1}: run `make refresh`"
            assert words_of(ran.output) == words_of(shown), where
    for picture in pictures_of(page.read_text()):
        assert (tmp_path / Path(picture).name).exists(), f"no code on the page draws {picture}"
        assert (page.parent / picture).exists(), f"{picture} is missing: run `make refresh`"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_nothing_that_looks_like_code_is_passed_over(page: Path) -> None:
    """Catches a block that no test runs: in another language, or set apart as an installation."""
    for block in blocks_of(page.read_text()):
        if block.language not in ("python", "sh") or block.library or runs_here(block):
            assert block.language in ("python", "sh", "text", "json", "toml", "sql", ""), block
            continue
        assert block.text.startswith(tuple(SET_UP.get(name_of(page), ["-"]))), block.text


def test_targets_of_make_that_pages_name_are_there() -> None:
    """Catches a target that was renamed."""
    targets = (ROOT / "Makefile").read_text()
    for page in PAGES:
        for block in blocks_of(page.read_text()):
            for line in block.text.splitlines() if block.language == "sh" else ():
                if line.startswith("make "):
                    assert f"\n{line.split()[1]}:" in targets, f"{name_of(page)}: {line}"


GUIDES = [page for page in PAGES if page.parent.name in ("docs", "lectures", "examples")]
INDEXES = ("docs/README.md", "docs/lectures/README.md")


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
