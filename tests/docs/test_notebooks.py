"""Notebooks are their pages, and run in a kernel of their own."""

import json
import subprocess
import sys

import pytest

from publishing.blocks import ROOT
from publishing.notebooks import TAUGHT, notebook_of, place_of


@pytest.mark.parametrize("page", TAUGHT)
def test_a_notebook_is_its_page(page: str) -> None:
    """Catches a page that was changed, and a notebook that was not: run `make refresh`."""
    there = json.loads(place_of(page).read_text())
    kept = [(cell["cell_type"], "".join(cell["source"])) for cell in there["cells"]]
    assert kept == [(cell.cell_type, cell.source) for cell in notebook_of(page).cells]


@pytest.mark.parametrize("page", TAUGHT)
def test_a_notebook_shows_its_pictures_and_no_error(page: str) -> None:
    """Catches a notebook that was kept although a cell of it had failed."""
    there = json.loads(place_of(page).read_text())
    outputs = [one for cell in there["cells"] for one in cell.get("outputs", [])]
    assert not [one for one in outputs if one["output_type"] == "error"]
    assert [one for one in outputs if "image/svg+xml" in one.get("data", {})]


*MORE, ONE = TAUGHT


@pytest.mark.parametrize(
    "page", [ONE, *(pytest.param(page, marks=pytest.mark.long) for page in MORE)]
)
def test_a_notebook_runs(page: str) -> None:
    """Catches what test_code_blocks.py catches on other pages: code that fails, an output or a
    result in a comment that is not the result, a picture that is not drawn. In a kernel, where
    an expression shows its value; what the cells of the others hold runs there as a page."""
    command = [sys.executable, "-m", "publishing.notebooks", page]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
