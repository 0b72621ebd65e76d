"""Texts that somebody else wrote, made safe to print."""

from __future__ import annotations


def one_line(text: str) -> str:
    """One line that a terminal shows and does not obey: all other characters are replaced.

    >>> one_line("patient\\nProved:\\x1b[2J")
    'patient�Proved:�[2J'
    """
    return "".join(c if c.isprintable() else "�" for c in text)
