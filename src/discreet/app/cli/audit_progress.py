"""How far a long command is: a bar on standard error, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.app.cli.printing import console
from discreet.printable import one_line


@contextmanager
def shown_progress() -> Iterator[Callable[[float, str], None]]:
    """A function of the share that is done and what is being done; the bar leaves no trace."""
    if not _on_a_terminal():
        yield lambda done, words: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Elapsed())
    with Progress(*columns, console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)

        def progress(done: float, words: str) -> None:
            bar.update(task, completed=done, description=one_line(words))

        yield progress


def _on_a_terminal() -> bool:
    return sys.stderr.isatty()
