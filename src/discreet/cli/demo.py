"""``discreet demo``: the main job, end to end, on invented data."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from discreet.cli.options import argument
from discreet.cli.output import AsJson, show_document
from discreet.cli.paths import check_outputs


def demo(
    *,
    picture: Path = argument(
        "Where the picture goes: .svg, .png or .html.", "PICTURE", default=Path("demo.svg")
    ),
    printed: AsJson,
) -> None:
    """Release statistics on bundled, invented data: explained, released, drawn.

    \b
    Example:
      discreet demo
    """
    from discreet.demo import main

    check_outputs({"PICTURE": picture})
    if not printed.json:
        main(str(picture))
        return
    with contextlib.redirect_stdout(io.StringIO()) as told:
        main(str(picture))
    lines = told.getvalue().splitlines()
    show_document("demo", {"picture": str(picture), "lines": lines})
