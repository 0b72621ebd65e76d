"""What may be wrong with a file of data, before any row of it is read."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from discreet.engines.files import no_such_file
from discreet.errors import InvalidArgument

_OTHERS: Final = {",": ",", ";": "';'", "\t": "tab", "|": "'|'"}


def check_data(data: str) -> None:
    """A file that is not there, in so many words."""
    if not Path(data).exists() and not glob.has_magic(data):
        raise InvalidArgument(
            name="DATA",
            expected="a file, or a pattern in quotes that files match",
            given=f"the name of none: there is no file {data}",
            hint=no_such_file(data),
        )


@contextmanager
def delimiter_hinted(data: str, delimiter: str) -> Iterator[None]:
    """A mistake about columns of a CSV file that seems to have but one is one of its delimiter."""
    try:
        yield
    except InvalidArgument as error:
        other = _other_delimiter(data, delimiter)
        if other is None:
            raise
        raise InvalidArgument(
            name=error.name,
            expected=error.expected,
            given=error.given,
            hint=f"the first line of {Path(data).name} looks as if cells were separated by "
            f"another character: try --delimiter {other}",
        ) from None


def _other_delimiter(data: str, delimiter: str) -> str | None:
    """What stands in the name of the only column, if anything does."""
    import discreet as dp

    try:
        names = dp.table(data, delimiter=delimiter).schema.names
    except InvalidArgument:
        return None
    found = (other for sign, other in _OTHERS.items() if len(names) == 1 and sign in names[0])
    return next(found, None)
