"""Parquet and CSV files: their columns from footers and header lines, their rows by DuckDB."""

from __future__ import annotations

import contextlib
import csv
import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines.embedded import SOURCE, quoted, text
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import duckdb

LONGEST_LINE: Final = 16_000_000  # bytes
SAMPLE: Final = "visits.csv"  #: the invented table that the guides begin with


@dataclass(frozen=True, eq=False, repr=False)
class ParquetFiles:
    """Files of one schema. Which files a pattern names is settled when it is opened."""

    paths: tuple[str, ...]
    columns: pa.Schema

    @classmethod
    def open(cls, paths: Sequence[str]) -> ParquetFiles:
        """Read the footers."""
        schemas = [_footer(path) for path in paths]
        for path, schema in zip(paths, schemas, strict=True):
            if schema.names != schemas[0].names or schema.types != schemas[0].types:
                raise _differs(path, paths[0], "columns and types")
        fields = [
            pa.field(field.name, field.type, any(schema.field(i).nullable for schema in schemas))
            for i, field in enumerate(schemas[0])
        ]
        return cls(tuple(paths), pa.schema(fields))

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """As a view: DuckDB reads these columns only, and skips what filters rule out."""
        cursor.execute(_view(columns, self._read))

    @property
    def _read(self) -> str:
        return f"read_parquet({_list(self.paths)}, hive_partitioning=false, union_by_name=false)"


@dataclass(frozen=True, eq=False, repr=False)
class CsvFiles:
    """Files of text cells under the names of a header line.

    A record with too few cells is filled with missing ones, what is too much is cut off, and one
    that cannot be read is dropped; an empty cell is missing. Each bears on itself alone, but for a
    quote that is opened and never closed: its cell takes in what follows, up to the next quote.
    """

    paths: tuple[str, ...]
    delimiter: str
    columns: pa.Schema

    @classmethod
    def open(cls, paths: Sequence[str], *, delimiter: str) -> CsvFiles:
        """Read the header lines."""
        if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
            raise InvalidArgument(
                name="delimiter",
                expected='one character, as in "," or ";"',
                given=InvalidArgument.describe_parameter(delimiter),
            )
        headers = [_header(path, delimiter) for path in paths]
        for path, header in zip(paths, headers, strict=True):
            if header != headers[0]:
                raise _differs(path, paths[0], "header lines")
        return cls(tuple(paths), delimiter, pa.schema([(name, pa.string()) for name in headers[0]]))

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """As a view in which all is text and nothing is guessed from rows."""
        kinds = ", ".join(f"{text(name)}: 'VARCHAR'" for name in self.columns.names)
        options = (
            f"columns={{{kinds}}}, auto_detect=false, header=true, delim={text(self.delimiter)}, "
            "quote='\"', escape='\"', null_padding=true, ignore_errors=true, strict_mode=false, "
            f"max_line_size={LONGEST_LINE}, parallel=false"  # in parallel, some lines would raise
        )
        read = f"read_csv({_list(self.paths)}, {options})"
        cursor.execute(_view(columns, read))


def find(patterns: Sequence[str | Path]) -> list[str]:
    """The files that paths and patterns name, in order of their names.

    >>> find(["nowhere/*.parquet"])
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: source must be a file, or a pattern that some files match, \
got 'nowhere/*.parquet' (str); check the path, which starts at the current folder
    """
    found: list[str] = []
    for pattern in map(str, patterns):
        path = Path(pattern)
        matches = [path] if path.is_file() else [Path(m) for m in sorted(glob.glob(pattern))]
        files = [str(match.resolve()) for match in matches if match.is_file()]
        if not files:
            raise InvalidArgument(
                name="source",
                expected="a file, or a pattern that some files match",
                given=InvalidArgument.describe_parameter(pattern),
                hint=f'for all files in a folder say "{pattern}/*.parquet"'
                if path.is_dir()
                else no_such_file(pattern),
            )
        found += files
    return found


def file_ids(paths: Sequence[str]) -> list[tuple[int, int]]:
    """What two names of one file have in common."""
    return [(found.st_dev, found.st_ino) for found in map(os.stat, paths)]


def no_such_file(pattern: str) -> str:
    """What to do where no file has this name.

    >>> no_such_file("visits.csv")
    'check the path; the command discreet demo writes visits.csv into the current folder'
    """
    if pattern.startswith(("postgres:", "postgresql:")):
        return "for a database say dp.table(ibis.connect(address).table(name))"
    if "://" in pattern:
        return "fetch the file first: only files of this machine are read"
    if Path(pattern).name == SAMPLE:
        return f"check the path; the command discreet demo writes {SAMPLE} into the current folder"
    return "check the path, which starts at the current folder"


def _footer(path: str) -> pa.Schema:
    schema = None
    with contextlib.suppress(pa.ArrowException, OSError):  # whose messages may quote the file
        schema = pq.read_schema(path)
    if schema is None:
        raise InvalidArgument(
            name="source",
            expected="a Parquet file that can be read",
            given=f"{Path(path).name}, whose footer cannot be read",
            hint="write it again as Parquet, or end the name of a CSV file in .csv",
        )
    return schema.remove_metadata()


def _header(path: str, delimiter: str) -> list[str]:
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        names = next(csv.reader(file, delimiter=delimiter), [])
    if not names or "" in names or len(set(names)) < len(names):
        raise InvalidArgument(
            name="source",
            expected="a CSV file whose first line names the columns, each once",
            given=f"{Path(path).name}, whose first line does not",
            hint=f"cells are separated by {delimiter!r}; say delimiter= for another character",
        )
    return names


def _differs(path: str, first: str, what: str) -> InvalidArgument:
    return InvalidArgument(
        name="source",
        expected=f"files of the same {what}",
        given=f"{Path(path).name}, which differs from {Path(first).name}",
        hint="name files of one kind, or write them anew with the same columns",
    )


def _view(columns: Sequence[str], read: str) -> str:
    names = ", ".join(map(quoted, columns))
    return f"CREATE OR REPLACE TEMP VIEW {SOURCE} AS SELECT {names} FROM {read}"


def _list(paths: Sequence[str]) -> str:
    return "[" + ", ".join(text(_literally(path)) for path in paths) + "]"


def _literally(path: str) -> str:
    """The path as a pattern that matches it alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
