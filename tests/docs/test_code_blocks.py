"""Docs run: every Python block of README and docs, in order, page by page."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^(?!\w+ = )(\w[^#\n]*?)[ ]+# (-?\d+(?:\.\d+)?(?:/\d+)?)(?=$|:)", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run_as_printed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches an example that went stale, and a result in a comment that is not the result.

    Later blocks may use what earlier ones defined. Files that they write are left behind in a
    folder of the test's, where the clone's sources are as in the clone.
    """
    (tmp_path / "src").symlink_to(ROOT / "src")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in BLOCK.findall(page.read_text()):
        exec(compile(block, str(page), "exec"), names)
        for expression, shown in SHOWN.findall(block):
            digits = 12 if "/" in shown else len(shown.partition(".")[2])
            value = round(float(eval(expression, names)), digits)
            assert value == float(Fraction(shown)), expression


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Catches a link to a page that was moved."""
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_has_an_example_and_both_commands() -> None:
    """The first five minutes: an example of at most a dozen lines and the two commands."""
    text = (ROOT / "README.md").read_text()
    first = BLOCK.findall(text)[0].strip().splitlines()
    assert len([line for line in first if line.strip()]) <= 10
    assert "make demo" in text
    assert "make test" in text
