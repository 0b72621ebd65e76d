"""Reports as lines of JSON, many at once where that is provably the same as one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from discreet.survey.reading.batches import Batch, of_dicts
from discreet.survey.reading.encodings import Readable

_BLOCK: Final = 1 << 21  # bytes read at a time
_LONGEST: Final = 1 << 24  # bytes of a line; longer ones are skipped, so memory is bounded
_MARK: Final = b"\xef\xbb\xbf"  # some programs begin a file with it
_WRONG: Final = (ValueError, RecursionError)  # no JSON, too long a number, nested too deep


def read_json_lines(file: Readable, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the reports in a file, one a line."""
    for block, skipped in line_blocks(file):
        reports, broken = parse_lines(block)
        yield of_dicts(reports, names, broken=broken + skipped)


def line_blocks(file: Readable) -> Iterator[tuple[bytes, int]]:
    """Whole lines, many at a time, and how many were skipped because they are too long."""
    rest, skipping = file.read(len(_MARK)).removeprefix(_MARK), False
    while chunk := file.read(_BLOCK):
        head, newline, tail = chunk.rpartition(b"\n")
        if not newline:  # no line ends in this chunk
            if not skipping:
                rest += tail
            if len(rest) > _LONGEST:
                rest, skipping = b"", True
            continue
        if skipping:  # the first end is that of the long line
            head = head.partition(b"\n")[2]
        yield rest + head, int(skipping)
        rest, skipping = tail, False
    if rest or skipping:
        yield rest, int(skipping)


def parse_lines(block: bytes) -> tuple[list[Any], int]:
    """The reports in some lines, and how many lines are none. Empty lines do not count."""
    block = block.replace(b"\r\n", b"\n").strip(b"\r\n")
    if not block:
        return [], 0
    together = _parse_together(block)
    if together is not None:
        return together, 0
    lines = [line for line in block.split(b"\n") if line.strip()]
    reports = [report for line in lines if (report := parse_one(line)) is not None]
    return reports, len(lines) - len(reports)


def _parse_together(block: bytes) -> list[Any] | None:
    """All lines as one JSON array, or None where lines may not be what they seem.

    Joined by commas, two crafted lines could swallow the honest ones between them. That cannot
    be where each of n lines begins with { and ends with }, there are no other braces, and n
    objects come out: then all braces are structure, so each object ends before the next begins.
    """
    lines = block.count(b"\n") + 1
    plain = (
        block[:1] == b"{"
        and block[-1:] == b"}"
        and block.count(b"}\n{") == lines - 1
        and block.count(b"{") == block.count(b"}") == lines
    )
    if not plain:
        return None
    try:
        found = json.loads(b"[%b]" % block.replace(b"\n", b","))
    except _WRONG:
        return None
    return found if len(found) == lines else None


def parse_one(line: str | bytes) -> dict[str, Any] | None:
    """One report, or None if the line is something else."""
    try:
        found = json.loads(line)
    except _WRONG:
        return None
    return found if isinstance(found, dict) else None


def read_json_file(file: Readable, names: tuple[str, ...]) -> Iterator[Batch]:
    """A saved report, a list of them, or lines of them after all."""
    start = file.read(_LONGEST + 1)
    if len(start) <= _LONGEST:
        try:
            found = json.loads(start)
        except _WRONG:
            found = None
        if isinstance(found, dict | list):
            several = found if isinstance(found, list) else [found]
            reports = [report for report in several if isinstance(report, dict)]
            yield of_dicts(reports, names, broken=len(several) - len(reports))
            return
    file.seek(0)
    yield from read_json_lines(file, names)
