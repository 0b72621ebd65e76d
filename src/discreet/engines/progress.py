"""A bar for what takes longer than two seconds, on a terminal only.

What it shows is for the operator at that terminal: how long a query runs depends on the data.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE: Final = 2.0  # seconds without a bar
TICK: Final = 0.1  # seconds between two looks


def can_be_shown() -> bool:
    """Is there a terminal?"""
    return sys.stderr is not None and sys.stderr.isatty()


class ProgressBar:
    """Appears after two seconds, follows `fraction` (from 0 to 1, or None), and vanishes.

    >>> with ProgressBar(lambda: 0.5) as bar:
    ...     bar.update()  # too early for anything to be seen
    """

    def __init__(self, fraction: Callable[[], float | None]) -> None:
        self._fraction = fraction
        self._start = time.monotonic()
        self._shown = can_be_shown()
        self._progress: Progress | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def update(self) -> None:
        """Show how far it is, if it is time to."""
        if not self._shown or time.monotonic() - self._start < PATIENCE:
            return
        if self._progress is None:
            self._progress = _started()
        fraction = self._fraction()
        total = None if fraction is None else 1.0
        self._progress.update(self._progress.task_ids[0], total=total, completed=fraction or 0.0)

    def __exit__(self, *exc: object) -> None:
        if self._progress is not None:
            self._progress.stop()


def _started() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    progress = Progress(
        TextColumn("computing"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    progress.add_task("", total=None)
    progress.start()
    return progress
