"""Messages of the Python API in the words of the command line: ``create=True`` is ``--create``."""

from __future__ import annotations

import re
from typing import Final

_PHRASES: Final = {
    ".bound(max_groups=3, max_rows_per_group=5)": "--max-groups 3 --max-rows-per-group 5",
    ".bound(max_rows=10)": "--max-rows 10",
    "bound(max_groups=3, max_rows_per_group=5)": "--max-groups 3 --max-rows-per-group 5",
    "create=True": "--create",
    "budget=dp.Pure(3)": "--budget-epsilon 3",
    'keys=["A", "B"]': "--keys A,B",
    'keys="discover"': "--keys discover",
    "dataset=...": "--dataset NAME",
    "bounds=(lower, upper)": "COLUMN:LOWER:UPPER",
}
_KEYWORD: Final = re.compile(
    r"\b(epsilon|delta|rho|mu|error|group_size|dataset|analyst|unit|relation|schema|delimiter|"
    r"ledger|key|slack|max_groups|max_rows_per_group|max_rows|idempotency_key|keys|"
    r"public_key|result)=(\w*)"
)


def translated(message: str) -> str:
    """A sentence with options where it has arguments of Python.

    >>> translated("say delimiter= for another, or pass create=True and epsilon=0.5")
    'say --delimiter for another, or pass --create and --epsilon 0.5'
    """
    for python, shell in _PHRASES.items():
        message = message.replace(python, shell)
    return _KEYWORD.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    option, value = found[1].replace("_", "-"), found[2]
    return f"--{option} {value}" if value else f"--{option}"
