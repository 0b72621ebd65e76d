"""What respondents send: randomized answers, and nothing else.

A report is flat: the survey's digest, a random number of its own, the wave, and for each question
an integer, or for bits a text of 0, 1 and - (not asked).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument, Refused
from discreet.noise import entropy

_SIGNS: Final = np.frombuffer(b"01-", np.uint8)  # places 0, 1 and, from the end, −1


@dataclass(frozen=True)
class Report:
    """One respondent's randomized answers.

    >>> report = Report("5f0c", "00" * 16, 1, {"smoker": 1})
    >>> report.to_json()
    '{"survey":"5f0c","id":"00000000000000000000000000000000","wave":1,"smoker":1}'
    """

    survey: str
    id: str
    wave: int
    answers: Mapping[str, int | str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", MappingProxyType(dict(self.answers)))

    def __hash__(self) -> int:
        # the id is drawn for this report alone; the answers, a mapping, have no hash
        return hash((self.survey, self.id, self.wave))

    def document(self) -> dict[str, int | str]:
        """The report as it is sent."""
        return {"survey": self.survey, "id": self.id, "wave": self.wave, **self.answers}

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.document(), separators=(",", ":"))

    def __reduce__(self) -> tuple[Any, ...]:
        return Report, (self.survey, self.id, self.wave, dict(self.answers))


@dataclass(frozen=True, eq=False)
class Reports:
    """Many reports as columns: an array of integers, or of bits (0, 1, −1), for each question."""

    survey: str
    wave: int
    answers: Mapping[str, NDArray[Any]]
    words: NDArray[np.uint64]  #: two random words per report: its number

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Reports({self.survey!r}, wave={self.wave}, {len(self)} of them)"

    @property
    def ids(self) -> list[str]:
        """The number of each report, 32 hexadecimal digits."""
        return hexadecimal(self.words)

    def part(self, start: int, end: int) -> Reports:
        """The reports from one place to another."""
        answers = {name: column[start:end] for name, column in self.answers.items()}
        return Reports(self.survey, self.wave, answers, self.words[start:end])

    def columns(self) -> dict[str, list[Any]]:
        """Columns of numbers and texts, as they are written to a file."""
        answers = {name: written(column) for name, column in self.answers.items()}
        surveys, waves = [self.survey] * len(self), [self.wave] * len(self)
        return {"survey": surveys, "id": self.ids, "wave": waves, **answers}

    def __iter__(self) -> Iterator[Report]:
        answers = [written(column) for column in self.answers.values()]
        for number, *values in zip(self.ids, *answers, strict=True):
            answered = dict(zip(self.answers, values, strict=True))
            yield Report(self.survey, number, self.wave, answered)

    def write(self, path: str | Path) -> Path:
        """Write to a new file, in the format that its name ends in: .jsonl, .csv or .parquet."""
        target = Path(path)
        writer = _WRITERS.get(target.suffix.lower())
        if writer is None:
            raise InvalidArgument.of(
                "path", "a file name that ends with " + ", ".join(_WRITERS), str(path)
            )
        if not target.parent.is_dir():
            raise InvalidArgument.of("path", "a file in a folder that is there", str(path))
        if target.exists():
            raise Refused(
                f"{target.name} is there already, and reports cannot be drawn again without "
                "revealing more",
                remedy="choose another name, or move the old file away",
                code="already-there",
            )
        unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            writer(self, unfinished)
            os.replace(unfinished, target)
        finally:
            unfinished.unlink(missing_ok=True)
        return target


def numbers_for_reports(count: int) -> NDArray[np.uint64]:
    """128 random bits for each report, from the one source of randomness."""
    return entropy.source().words(2 * count).reshape(count, 2)


def hexadecimal(words: NDArray[np.uint64]) -> list[str]:
    """Rows of two words as texts of 32 digits.

    >>> hexadecimal(np.array([[1, 2]], np.uint64))
    ['00000000000000010000000000000002']
    """
    digits = words.astype(">u8").tobytes().hex()
    return [digits[at : at + 32] for at in range(0, len(digits), 32)]


def written(column: NDArray[Any]) -> list[Any]:
    """A column as it is written: integers, or bits as texts.

    >>> written(np.array([[0, 1, -1], [1, 1, 0]], np.int8)), written(np.array([3, 1]))
    (['01-', '110'], [3, 1])
    """
    if column.ndim == 1:
        integers: list[Any] = column.tolist()
        return integers
    width = column.shape[1]
    signs = _SIGNS[column].tobytes().decode("ascii")
    return [signs[at : at + width] for at in range(0, len(signs), width)]


# -- reports as files: JSON lines, CSV or Parquet, a block at a time -------------------------------
# A file appears under its name when it is whole. An existing file is not overwritten: reports
# cannot be drawn again without revealing more.


_BLOCK: Final = 1 << 16


def _blocks(reports: Reports) -> Iterator[Reports]:
    for start in range(0, len(reports), _BLOCK):
        yield reports.part(start, start + _BLOCK)


def _write_json_lines(reports: Reports, path: Path) -> None:
    marks = ",".join(
        f'"{name}":%d' if column.ndim == 1 else f'"{name}":"%s"'
        for name, column in reports.answers.items()
    )
    line = f'{{"survey":"{reports.survey}","id":"%s","wave":{reports.wave},{marks}}}\n'
    _write_lines(reports, path, line)


def _write_csv(reports: Reports, path: Path) -> None:
    marks = ",".join("%d" if column.ndim == 1 else "%s" for column in reports.answers.values())
    head = ",".join(["survey", "id", "wave", *reports.answers]) + "\n"
    _write_lines(reports, path, f"{reports.survey},%s,{reports.wave},{marks}\n", head=head)


def _write_lines(reports: Reports, path: Path, line: str, *, head: str = "") -> None:
    with open(path, "x", encoding="ascii", newline="") as file:
        file.write(head)
        for block in _blocks(reports):
            columns = block.columns()
            rows = zip(columns["id"], *(columns[name] for name in reports.answers), strict=True)
            file.write("".join([line % row for row in rows]))


def _write_parquet(reports: Reports, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {n: pa.int64() if a.ndim == 1 else pa.string() for n, a in reports.answers.items()}
    schema = pa.schema({"survey": pa.string(), "id": pa.string(), "wave": pa.int64(), **kinds})
    with open(path, "xb") as file, pq.ParquetWriter(file, schema) as writer:
        for block in _blocks(reports):
            writer.write_table(pa.table(block.columns(), schema=schema))


_WRITERS: Final[dict[str, Callable[[Reports, Path], None]]] = {
    ".jsonl": _write_json_lines,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
