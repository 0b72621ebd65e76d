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
from publishing.blocks import PAGES, Block, pictures_of
from publishing.running import near, run_page, same, tidy, words_of

_PATH = re.compile(r' d="([^"]*)"')
_STEP = re.compile(r"[A-DF-Za-df-z][^A-DF-Za-df-z]*")  # of a path; e is for exponents
_COORDINATE = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_PIXELS = 3
_SAME_PLACE = 0.01
_ZERO = 1e-15  # what is left of a sum that is 0
_SAID = re.compile(r'(?<=aria-label=")[^"]*|(?<=>)[^<>]+(?=</text>)|(?:stroke|fill)="#[^"]*"')


def refresh(page: Path) -> None:
    """Run a page, then bring its outputs and pictures up to date."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        folder = Path(place)
        text = page.read_text()
        ran = list(run_page(page, folder))
        if page.read_text() != text:
            raise SystemExit(f"{page.name} was changed while it ran: run this again.")
        write_outputs(page, [(each.block, each.output) for each in ran])
        _copy_pictures(page, folder)


def write_outputs(page: Path, outputs: list[tuple[Block, str]]) -> None:
    """Put what blocks printed below them; what only varies stays as it is."""
    lines = page.read_text().splitlines()
    for block, output in reversed(outputs):  # from the end, so that line numbers above stay true
        if block.printed and not same(block.printed, output):
            lines[block.printed.start + 1 : block.printed.end] = tidy(output)
    page.write_text("\n".join(lines) + "\n")


def _copy_pictures(page: Path, folder: Path) -> None:
    for shown, varies in pictures_of(page.read_text()).items():
        target = page.parent / shown
        drawn = folder / target.name
        if not drawn.exists():
            raise SystemExit(f"{page.name} shows {shown}, but no block of it saves {drawn.name}.")
        target.parent.mkdir(parents=True, exist_ok=True)
        svg = roomy(drawn.read_text())
        if not (target.exists() and alike(target.read_text(), svg, varies=varies)):
            target.write_text(svg)


def said(svg: str) -> list[str]:
    """The words of a picture, and what each of its marks stands for."""
    return _SAID.findall(svg)


def alike(kept: str, drawn: str, *, varies: bool) -> bool:
    """Whether two pictures show the same: all words, what each mark stands for, and every line.

    Where exactly something is drawn is up to the version that draws, so a few pixels are no
    difference, and neither are the last digits of what a mark stands for, which are up to the
    processor. Of pictures that vary only words are compared.
    """
    first, second = said(kept), said(drawn)
    if varies:
        return {words_of(each) for each in first} == {words_of(each) for each in second}
    ours, theirs = _steps(kept), _steps(drawn)
    return (
        near("\n".join(first), "\n".join(second), zero=_ZERO)
        and len(ours) == len(theirs)
        and all(_beside(a, b, _PIXELS) for a, b in zip(ours, theirs, strict=True))
    )


def _steps(svg: str) -> list[tuple[str, list[float]]]:
    """How lines are drawn, without steps that lead nowhere: how many points of a curve coincide is
    up to the last digits too."""
    found: list[tuple[str, list[float]]] = []
    for path in _PATH.findall(svg):
        for step in _STEP.findall(path):
            told = step[0], [float(number) for number in _COORDINATE.findall(step)]
            if not (found and _beside(told, found[-1], _SAME_PLACE)):
                found.append(told)
    return found


def _beside(a: tuple[str, list[float]], b: tuple[str, list[float]], pixels: float) -> bool:
    return (
        a[0] == b[0]
        and len(a[1]) == len(b[1])
        and all(abs(x - y) <= pixels for x, y in zip(a[1], b[1], strict=True))
    )


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
