"""Write what pages print and draw back into them: ``python -m publishing.refresh [PAGE ...]``.

Without pages it is all of them, and the notebooks (`make refresh`). A page that names pictures gets
them from its own code: a block saves NAME.svg in the current folder, the page shows
pictures/NAME.svg.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from pathlib import Path

from discreet.plot import FONT
from publishing.blocks import PAGES, pictures_of
from publishing.running import Ran, run_page


def refresh(page: Path) -> None:
    """Run a page, then bring its outputs and pictures up to date."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        folder = Path(place)
        text = page.read_text()
        ran = list(run_page(page, folder))
        if page.read_text() != text:
            raise SystemExit(f"{page.name} was changed while it ran: run this again.")
        _write_outputs(page, ran)
        _copy_pictures(page, folder)


def _write_outputs(page: Path, ran: list[Ran]) -> None:
    lines = page.read_text().splitlines()
    for each in reversed(ran):  # from the end, so that line numbers above stay true
        if shown := each.block.printed:
            lines[shown.start + 1 : shown.end] = _tidy(each.output)
    page.write_text("\n".join(lines) + "\n")


def _tidy(output: str) -> list[str]:
    return [line.rstrip() for line in output.strip("\n").splitlines()]


def _copy_pictures(page: Path, folder: Path) -> None:
    for shown in pictures_of(page.read_text()):
        target = page.parent / shown
        drawn = folder / target.name
        if not drawn.exists():
            raise SystemExit(f"{page.name} shows {shown}, but no block of it saves {drawn.name}.")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(roomy(drawn.read_text()))


def roomy(svg: str) -> str:
    """A picture whose words fit where the reader's letters are wider than those it was drawn with.

    >>> roomy('<svg width="100" height="50" viewBox="0 0 100 50"><rect width="100" height="50"/>')
    '<svg width="114" height="50" viewBox="-6 0 114 50"><rect x="-6" width="114" height="50"/>'
    """
    size = re.search(r' width="([\d.]+)" height="([\d.]+)" viewBox="0 0 \1 \2">', svg)
    if size is None:
        raise SystemExit("This is no picture of Altair's: save a chart, or a plot of ours, as SVG.")
    width, height = size.groups()
    left, wide = round(float(width) * 0.06), round(float(width) * 1.14)
    svg = svg.replace(
        size[0], f' width="{wide}" height="{height}" viewBox="-{left} 0 {wide} {height}">'
    )
    ground = f'<rect width="{width}" height="{height}"'
    svg = svg.replace(ground, f'<rect x="-{left}" width="{wide}" height="{height}"', 1)
    return svg.replace('font-family="sans-serif"', f'font-family="{FONT}"')


def main(names: list[str]) -> None:
    """Refresh the pages named, or all."""
    for page in [Path(name).resolve() for name in names] or PAGES:
        print(f"{page.name} ...", flush=True)
        refresh(page)
    if not names:
        from publishing.notebooks import write_all

        write_all()


if __name__ == "__main__":
    main(sys.argv[1:])
