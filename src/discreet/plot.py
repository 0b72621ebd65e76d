"""Pictures to save, or to show in a notebook, without a network; and the look that they share."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Final

from discreet.errors import DiscreetError, InvalidArgument, Refused

# Letters are as wide as in Arial and similar fonts; where there are none, words take more room.
FONT: Final = "Arial, Helvetica, Liberation Sans, sans-serif"
_PADDING: Final = {"left": 18, "top": 18, "right": 40, "bottom": 18}
_SHARP = 2  # pixels of a PNG for each pixel of the drawing
# A character without a meaning of its own: it stands for "<" while the page is written.
_STAND_IN: Final = "\ue000"
_INSTALL: Final = "pip install 'discreet[plots]'"


@dataclass(frozen=True, eq=False)
class Plot:
    """A picture. ``chart`` is the Altair chart, which can be changed further.

    ``save`` writes SVG, PNG or a self-contained HTML page, depending on the file name's ending.
    """

    chart: Any

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture to a file that ends in .svg, .png or .html."""
        place = Path(path)
        match place.suffix.lower():
            case ".svg":
                place.write_text(self.to_svg(), encoding="utf-8")
            case ".png":
                place.write_bytes(self.to_png())
            case ".html":
                place.write_text(self.to_html(), encoding="utf-8")
            case _:
                raise InvalidArgument.of(
                    "path", "a name that ends in .svg, .png or .html", place.suffix
                )

    def to_svg(self) -> str:
        """The picture as SVG text."""
        return str(_converter().vegalite_to_svg(self.chart.to_json()))

    def to_png(self) -> bytes:
        """The picture as the bytes of a PNG."""
        return bytes(_converter().vegalite_to_png(self.chart.to_json(), scale=_SHARP))

    def to_html(self) -> str:
        """The picture as a page with all scripts inside.

        A key may hold "</script>", which would end the script that it is written into. So every
        "<" of the drawing arrives there as the escape that JavaScript reads as one.
        """
        safe = self.chart.to_json().replace("<", _STAND_IN)
        page = str(_converter().vegalite_to_html(safe, bundle=True))
        return page.replace(_STAND_IN, "\\u003c")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/plain": repr(self)}

    def _repr_html_(self) -> str:
        return self.to_svg()


def altair() -> Any:
    """The library that charts are made with; it is an extra, since all else works without it."""
    return _needed("altair")


def check_installed() -> None:
    """Refuse, before long work that ends in a picture, if none can be drawn and written."""
    altair()
    _converter()


def _converter() -> Any:
    return _needed("vl_convert")


def _needed(name: str) -> Any:
    told = f"a picture needs {name}, which is not installed"
    return extra(name, Refused(told, remedy=_INSTALL, code="not-installed"))


def extra(name: str, missing: DiscreetError) -> Any:
    """A module of a package that need not be installed, or this error."""
    try:
        return import_module(name)
    except ImportError:
        raise missing from None


def limit_line(y: Any, field: str, value: float, words: str) -> list[Any]:
    """A dashed line across a chart, where ``y`` is this value of the field, and words above it."""
    alt, red = altair(), "#b3373b"
    base = alt.Chart(alt.InlineData(values=[{field: value, "words": words}]))
    line = base.mark_rule(color=red, strokeDash=[6, 4], strokeWidth=1.5).encode(y=y)
    label = base.mark_text(color=red, align="left", dx=4, dy=-8, fontSize=12)
    return [line, label.encode(y=y, x=alt.value(0), text="words:N")]


def dressed(chart: Any, title: str, subtitle: Any) -> Any:
    """A chart with title and subtitle, in the look that all pictures share."""
    alt = altair()
    head = alt.TitleParams(
        title,
        subtitle=subtitle,
        anchor="start",
        frame="bounds",
        fontSize=17,
        subtitleFontSize=12,
        subtitleColor="#5a6470",
        subtitleLineHeight=16,
        subtitlePadding=6,
        offset=14,
    )
    return (
        chart.properties(title=head)
        .configure(padding=_PADDING, background="white", font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            titlePadding=10,
            gridColor="#e6e8eb",
        )
        .configure_legend(labelFontSize=12)
    )
