"""The code of a page: its fenced blocks, in order, and what belongs to each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What a reader may follow from top to bottom; CHANGELOG and the like only tell.
PAGES = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "examples" / "README.md",
)

_FENCE = re.compile(r"^(?P<bars>`{3,})(?P<language>[\w-]*)[ ]*$")
_ELSEWHERE = re.compile(r"^<!-- runs in: (?P<library>[\w-]+) -->$")
_PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)(?P<path>[^)#]+)\)")


@dataclass(frozen=True)
class Block:
    """One fenced block. ``start`` and ``end`` are the lines of its fences, counted from 0."""

    language: str
    text: str
    start: int
    end: int
    library: str | None = None  # runs in that library's own environment, not in ours
    printed: Block | None = None  # the block right below, which shows what this one prints


def blocks_of(text: str) -> list[Block]:
    """All blocks of a page in order; one that shows what another printed is part of that one.

    >>> page = "```python\\nprint(1)\\n```\\n\\n```text\\n1\\n```\\n"
    >>> [block] = blocks_of(page)
    >>> block.text, block.printed.text
    ('print(1)\\n', '1\\n')
    """
    found: list[Block] = []
    for block in _fences(text.splitlines()):
        above = found[-1] if found else None
        if block.language == "text" and above and above.language in ("python", "sh"):
            between = text.splitlines()[above.end + 1 : block.start]
            if above.printed is None and not "".join(between).strip():
                found[-1] = Block(**{**vars(above), "printed": block})
                continue
        found.append(block)
    return found


def pictures_of(text: str) -> list[str]:
    """The pictures that a page shows, by their paths as written there."""
    return [match["path"] for match in _PICTURE.finditer(text)]


def _fences(lines: list[str]) -> list[Block]:
    found = []
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            at += 1
            continue
        end = next(i for i in range(at + 1, len(lines)) if lines[i] == opening["bars"])
        elsewhere = _ELSEWHERE.match(lines[at - 1]) if at else None
        found.append(
            Block(
                language=opening["language"],
                text="".join(f"{line}\n" for line in lines[at + 1 : end]),
                start=at,
                end=end,
                library=elsewhere["library"] if elsewhere else None,
            )
        )
        at = end + 1
    return found
