"""Docstrings as Markdown: examples become blocks of code.

A docstring is plain text with doctests. Markdown would read ``>>>`` as quotes within quotes.
"""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """The text with every doctest in a fence of its own.

    >>> fenced("Add.\\n\\n>>> 1 + 1\\n2\\n\\nMore.")
    'Add.\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```\\n\\nMore.'
    """
    parts = text.split("\n\n")
    return "\n\n".join(
        f"```pycon\n{part}\n```" if part.lstrip().startswith(">>> ") else part for part in parts
    )


class Examples(griffe.Extension):
    """Puts the examples of every docstring into fences, when its object has been read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Griffe calls this for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
