"""Notebooks of the pages that teach: the same text, the same code, ready to run.

``python -m publishing.notebooks`` writes them, with what they print and draw, into notebooks/;
``python -m publishing.notebooks PAGE`` runs one, compares what it prints and computes with what its
page says, and changes nothing.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from publishing.blocks import ROOT, Block, blocks_of
from publishing.running import PLAIN, SEED, checks_of, furnish, runs_here, without, words_of
from publishing.site import relinked

TAUGHT = (
    "docs/quickstart.md",
    "docs/lectures/randomized-response.md",
    "docs/lectures/privacy-loss.md",
    "docs/lectures/selection.md",
    "docs/lectures/stability.md",
)
FOLDER = ROOT / "notebooks"
_PICTURE = re.compile(r"^!\[[^\]]*\]\((?:[^)]*/)?(?P<name>[^)/]+)\)$", re.MULTILINE)
# What is told to the kernel, and is not part of the notebook: the same noise on every run, and
# programs that print without colours.
_PREPARED = f"""
import os as _os, discreet.testing as _testing
_held = _testing.seeded({SEED})
_held.__enter__()
_os.environ.update({PLAIN!r})
_os.environ.pop("FORCE_COLOR", None)
"""


def notebook_of(page: str) -> Any:
    """The notebook of a page, before it is run."""
    from nbformat import v4

    text = (ROOT / page).read_text()
    cells = [*_cells(relinked(text, page, "notebooks/"))]
    for number, cell in enumerate(cells):
        cell["id"] = f"{Path(page).stem}-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def place_of(page: str) -> Path:
    """Where its notebook is."""
    return FOLDER / f"{Path(page).stem}.ipynb"


def run(notebook: Any, checks: Sequence[str] = ()) -> Any:
    """Run it in a kernel of its own, in a folder as a reader has it, and keep what it shows.

    ``checks`` are assertions, one text for each cell, to run after it.
    """
    from nbclient import NotebookClient
    from nbformat import v4

    os.environ["PATH"] = f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as place:
        furnish(Path(place))
        client = NotebookClient(
            notebook,
            timeout=300,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": place}},
        )
        with client.setup_kernel():
            shown = list(notebook.cells)  # the client puts whatever it runs into the notebook
            client.execute_cell(v4.new_code_cell(_PREPARED), 0)
            for index, cell in enumerate(shown):
                client.execute_cell(cell, index)
                if index < len(checks) and checks[index]:
                    client.execute_cell(v4.new_code_cell(checks[index]), index)
            notebook.cells = shown
        for one in (one for cell in shown for one in cell.get("outputs", [])):
            if "text" in one:
                one["text"] = without(Path(place), one["text"])
    return notebook


def check(page: str) -> None:
    """Run the notebook of a page, and see that it is as the page says."""
    blocks = [each for each in blocks_of((ROOT / page).read_text()) if runs_here(each)]
    notebook = notebook_of(page)
    texts = {_code(block)["source"]: block for block in blocks}
    found = [texts.get(cell["source"]) for cell in notebook.cells]
    run(notebook, ["\n".join(checks_of(block)) if block else "" for block in found])
    for block, cell in zip(found, notebook.cells, strict=True):
        if block and block.printed:
            printed = "".join(one.get("text", "") for one in cell["outputs"])
            where = f"{page}:{block.printed.start + 1}: run `make refresh`"
            assert words_of(printed) == words_of(block.printed.text), where


def write_all() -> None:
    """Write every notebook anew."""
    import nbformat

    FOLDER.mkdir(exist_ok=True)
    for page in TAUGHT:
        print(f"{place_of(page).name} ...", flush=True)
        nbformat.write(run(notebook_of(page)), place_of(page))


def _cells(text: str) -> list[Any]:
    lines = text.splitlines()
    cells: list[Any] = []
    done = 0
    for block in blocks_of(text):
        if not runs_here(block):
            continue  # stays within the text around it
        cells += _told("\n".join(lines[done : block.start]))
        cells.append(_code(block))
        done = (block.printed or block).end + 1
    return cells + _told("\n".join(lines[done:]))


def _told(text: str) -> list[Any]:
    """Text, and a cell that shows it for every picture that the code before has drawn."""
    from nbformat import v4

    cells = []
    done = 0
    for picture in _PICTURE.finditer(text):
        cells.append(v4.new_markdown_cell(text[done : picture.start()].strip()))
        show = f'from IPython.display import SVG\n\nSVG("{picture["name"]}")'
        cells.append(v4.new_code_cell(show))
        done = picture.end()
    cells.append(v4.new_markdown_cell(text[done:].strip()))
    return [cell for cell in cells if cell["source"]]


def _code(block: Block) -> Any:
    from nbformat import v4

    lead = "%%bash\n" if block.language == "sh" else ""
    return v4.new_code_cell(lead + block.text.strip("\n"))


if __name__ == "__main__":
    if sys.argv[1:]:
        check(sys.argv[1])
    else:
        write_all()
