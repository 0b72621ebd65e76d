"""The code of a page: its fenced blocks, in order, and what belongs to each."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What a reader may follow from top to bottom; CHANGELOG and the like only tell.
PAGES = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "examples" / "README.md",
)

_FENCE = re.compile(r"^(?P<bars>`{3,})(?P<language>[a-z]+)$")
_LIKE_A_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_ELSEWHERE = re.compile(r"^<!-- runs in: (?P<library>[\w-]+) -->$")
_VARIES = "<!-- numbers vary -->"  # with the clock, or with how much a machine gets done
_PICTURE = re.compile(
    rf"(?P<varies>{re.escape(_VARIES)}\n\n)?!\[[^\]]*\]\((?!https?:)(?P<path>[^)#]+)\)"
)


@dataclass(frozen=True)
class Block:
    """One fenced block. ``start`` and ``end`` are the lines of its fences, counted from 0."""

    language: str
    text: str
    start: int
    end: int
    library: str | None = None  # runs in that library's own environment, not in ours
    printed: Block | None = None  # the block right below, which shows what this one prints
    varies: bool = False  # the numbers that are printed are not the same on every run


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
            between = "".join(text.splitlines()[above.end + 1 : block.start]).strip()
            if above.printed is None and between in ("", _VARIES):
                found[-1] = replace(above, printed=replace(block, varies=between == _VARIES))
                continue
        found.append(block)
    return found


def pictures_of(text: str) -> dict[str, bool]:
    """The pictures that a page shows, by their paths as written there, and whether they vary."""
    return {match["path"]: bool(match["varies"]) for match in _PICTURE.finditer(text)}


def _fences(lines: list[str]) -> list[Block]:
    found = []
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            if _LIKE_A_FENCE.match(lines[at]):
                raise ValueError(f"line {at + 1}: write ```language, at the start of a line")
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
