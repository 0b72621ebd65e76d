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

from publishing.blocks import ROOT, Block, blocks_of, pictures_of
from publishing.refresh import alike, roomy
from publishing.running import (
    PLAIN,
    SEED,
    checks_of,
    furnish,
    near,
    read_output,
    runs_here,
    same,
    without,
)
from publishing.site import relinked

TAUGHT = (
    "docs/quickstart.md",
    "docs/lectures/randomized-response.md",
    "docs/lectures/privacy-loss.md",
    "docs/lectures/selection.md",
    "docs/lectures/stability.md",
)
FOLDER = ROOT / "notebooks"
_EVERY_VALUE = (
    "# show every value of a cell, not only the last\n"
    '%config InteractiveShell.ast_node_interactivity = "all"'
)
_SHOWING = "from IPython.display import SVG"
_PICTURE = re.compile(r"^!\[[^\]]*\]\((?:[^)]*/)?(?P<name>[^)/]+)\)$", re.MULTILINE)
# What is told to the kernel, and is not part of the notebook: programs print without colours, and
# each cell has the noise that its block has on the page.
_PREPARED = f"""
import contextlib as _contextlib, os as _os, discreet.testing as _testing
_os.environ.update({PLAIN!r})
_os.environ.pop("FORCE_COLOR", None)
_held = _contextlib.ExitStack()
"""
_SEEDED = "_held.close(); _held.enter_context(_testing.seeded({}))"


def notebook_of(page: str) -> Any:
    """The notebook of a page, before it is run."""
    from nbformat import v4

    text = (ROOT / page).read_text()
    first, *rest = _cells(relinked(text, page, "notebooks/"))
    cells = [first, v4.new_code_cell(_EVERY_VALUE), *rest]
    for number, cell in enumerate(cells):
        cell["id"] = f"{Path(page).stem}-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def place_of(page: str) -> Path:
    """Where its notebook is."""
    return FOLDER / f"{Path(page).stem}.ipynb"


def run(notebook: Any, checks: Sequence[str] = ()) -> dict[str, str]:
    """Run it in a kernel of its own, in a folder as a reader has it, and keep what it shows.

    ``checks`` are assertions, one text for each cell, to run after it. Returns what it drew.
    """
    from nbclient import NotebookClient
    from nbformat import v4

    os.environ["PATH"] = f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as place:
        furnish(Path(place))
        client = NotebookClient(
            notebook,
            timeout=1800,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": place}},
        )
        with client.setup_kernel():
            shown = list(notebook.cells)  # the client puts whatever it runs into the notebook
            client.execute_cell(v4.new_code_cell(_PREPARED), 0)
            number = SEED
            for index, cell in enumerate(shown):
                added = cell["source"].startswith((_SHOWING, _EVERY_VALUE))
                if cell["cell_type"] == "code" and not added:
                    client.execute_cell(v4.new_code_cell(_SEEDED.format(number)), index)
                    number += 1
                client.execute_cell(cell, index)
                if index < len(checks) and checks[index]:
                    client.execute_cell(v4.new_code_cell(checks[index]), index)
            notebook.cells = shown
        for one in (one for cell in shown for one in cell.get("outputs", [])):
            if "text" in one:
                one["text"] = without(Path(place), one["text"])
        return {path.name: path.read_text() for path in Path(place).glob("*.svg")}


def check(page: str) -> None:
    """Run the notebook of a page, and see that it is as the page says, and as it is kept."""
    import nbformat

    blocks = [each for each in blocks_of((ROOT / page).read_text()) if runs_here(each)]
    notebook, kept = notebook_of(page), nbformat.read(place_of(page), as_version=4)
    texts = {_code(block)["source"]: block for block in blocks}
    found = [texts.get(cell["source"]) for cell in notebook.cells]
    assert [block for block in found if block] == blocks, f"{page}: a block is in no cell"
    drawn = run(notebook, ["\n".join(checks_of(block)) if block else "" for block in found])
    for picture, varies in pictures_of((ROOT / page).read_text()).items():
        svg, old = roomy(drawn[Path(picture).name]), ((ROOT / page).parent / picture).read_text()
        assert alike(old, svg, varies=varies), f"{picture}: run `make refresh`"
    for block, cell in zip(found, notebook.cells, strict=True):
        if block and block.printed:
            printed = "".join(one.get("text", "") for one in cell["outputs"])
            where = f"{page}:{block.printed.start + 1}: run `make refresh`"
            assert same(block.printed, printed), where
    for block, cell, old in zip(found, notebook.cells, kept.cells, strict=True):
        if str(cell["source"]).startswith("%%bash"):
            continue  # programs of their own draw noise of their own
        varies = bool(block and block.printed and block.printed.varies)
        where = f"{place_of(page).name}, {cell['source'][:60]}: run `make refresh`"
        assert near(*(_printed(one, varies) for one in (old, cell))), where
        assert all(
            alike(*pair, varies=varies) for pair in zip(_drawn(old), _drawn(cell), strict=True)
        ), where


def _printed(cell: Any, varies: bool) -> str:
    """What a cell prints, without clocks, and without numbers where they vary."""
    texts = (one["text"] for one in cell.get("outputs", []) if "text" in one)
    return "\n".join(read_output(text, varies) for text in texts)


def _drawn(cell: Any) -> list[str]:
    """The pictures that a cell shows."""
    told = (one.get("data", {}) for one in cell.get("outputs", []))
    return [data["image/svg+xml"] for data in told if "image/svg+xml" in data]


def write_all() -> None:
    """Write every notebook anew."""
    import nbformat

    FOLDER.mkdir(exist_ok=True)
    for page in TAUGHT:
        print(f"{place_of(page).name} ...", flush=True)
        notebook = notebook_of(page)
        run(notebook)
        nbformat.write(notebook, place_of(page))


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
        show = f'{_SHOWING}\n\nSVG("{picture["name"]}")'
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
