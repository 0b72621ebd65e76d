"""Parquet and CSV files: columns from footers and header lines, rows read by DuckDB."""

from __future__ import annotations

import contextlib
import csv
import glob
import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines import ENGINES
from discreet.engines.duckdb import SOURCE, Embedded, text
from discreet.engines.engine import quoted
from discreet.errors import Idiom, InvalidArgument, Phrase

if TYPE_CHECKING:
    import duckdb

LONGEST_LINE: Final = 16_000_000  # bytes
# Folders called a=b do not become columns, and files are read as they are.
_PLAIN: Final = (
    "hive_partitioning=false, hive_types_autocast=false, union_by_name=false, filename=false, "
    "file_row_number=false, allow_empty=false"
)
SAMPLE: Final = "visits.csv"  #: the invented table that the guides begin with


@dataclass(frozen=True, eq=False, repr=False)
class FileSet(Embedded):
    """Files with the same columns. Which files a pattern matches is settled when it is opened.

    Files may be replaced or grow between two passes, as long as their columns stay.
    """

    paths: tuple[str, ...]
    changes_show = True
    alike: ClassVar[str]  #: what the files have in common

    @cached_property
    def opened(self) -> tuple[object, pa.Schema]:
        """Their identity and their columns, in this order, when they were first asked for."""
        return self.identity(), self._columns_now()

    @property
    def columns(self) -> pa.Schema:
        return self.opened[1]

    def _columns_now(self) -> pa.Schema:
        schemas = [self._columns_of(path) for path in self.paths]
        first = schemas[0]
        for path, schema in zip(self.paths, schemas, strict=True):
            if schema.names != first.names or schema.types != first.types:
                raise InvalidArgument(
                    "source",
                    f"files of the same {self.alike}",
                    f"{Path(path).name}, which differs from {Path(self.paths[0]).name}",
                    hint="name files of one kind, or write them anew with the same columns",
                )
        return pa.schema(
            pa.field(field.name, field.type, any(schema.field(i).nullable for schema in schemas))
            for i, field in enumerate(first)
        )

    @abstractmethod
    def _columns_of(self, path: str) -> pa.Schema:
        """What one of the files says."""

    def files(self) -> Sequence[str]:
        return self.paths

    def identity(self) -> object:
        states = map(os.stat, self.paths)
        return [(s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in states]

    def changed(self, *, checked: bool) -> InvalidArgument | None:
        """Also if they are no longer distinct."""
        same = alike = False
        with contextlib.suppress(InvalidArgument, OSError):
            same = alike = self.identity() == self.opened[0]
            if not same and len(distinct(self.paths)) == len(self.paths):
                alike = bool(self._columns_now() == self.columns)
        if not alike:
            return InvalidArgument(
                "table",
                "files that have the columns they were opened with",
                "files that were removed, or replaced by others",
                hint="open the table again",
            )
        if checked and not same:
            return InvalidArgument(
                "table",
                "files as they were when the domains of their columns were checked",
                "files that have changed since",
                hint="open the table again",
            )
        return None

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Make a view, through which DuckDB reads only these columns."""
        names = ", ".join(map(quoted, columns))
        cursor.execute(f"CREATE OR REPLACE TEMP VIEW {SOURCE} AS SELECT {names} FROM {self._read}")

    @property
    @abstractmethod
    def _read(self) -> str:
        """How DuckDB reads them. Nothing may depend on names of folders and files, on settings
        or on rows, so each option that could do so is given, also where it is the default."""


@dataclass(frozen=True, eq=False, repr=False)
class ParquetFiles(FileSet):
    """Parquet files: names and types are those of their footers."""

    alike = "columns and types"

    def _columns_of(self, path: str) -> pa.Schema:
        schema = None
        with contextlib.suppress(pa.ArrowException, OSError):  # their messages may quote the file
            schema = pq.read_schema(path)
        if schema is None:
            raise InvalidArgument(
                "source",
                "a Parquet file that can be read",
                f"{Path(path).name}, whose footer cannot be read",
                hint="write it again as Parquet, or end the name of a CSV file in .csv",
            )
        return schema.remove_metadata()

    @property
    def _read(self) -> str:
        # Text that is not UTF-8 would make the query fail, which would reveal one person, so each
        # invalid byte becomes a question mark.
        return (
            f"read_parquet({_list(self.paths)}, {_PLAIN}, utf8_validation='replace', "
            "binary_as_string=false, can_have_nan=true)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CsvFiles(FileSet):
    """Files of text cells under the names of a header line.

    A record with too few cells is filled up with missing ones, surplus cells are cut off, and a
    record that cannot be read is dropped; an empty cell is missing. A faulty record affects no
    other, except where a quote is opened and never closed: its cell takes in what follows, up to
    the next quote.
    """

    delimiter: str
    is_text = True
    alike = "header lines"

    def __post_init__(self) -> None:
        mark = self.delimiter
        if not isinstance(mark, str) or len(mark) != 1 or mark in '"\r\n':
            raise InvalidArgument.of("delimiter", 'one character, as in "," or ";"', mark)

    def _columns_of(self, path: str) -> pa.Schema:
        names: list[str] = []
        with (
            open(path, encoding="utf-8-sig", errors="replace", newline="") as file,
            contextlib.suppress(csv.Error),  # raised by a name of more than 128 KiB
        ):
            names = next(csv.reader(file, delimiter=self.delimiter), [])
        if not names or "" in names or len(set(names)) < len(names):
            raise InvalidArgument(
                "source",
                "a CSV file whose first line names the columns, each once",
                f"{Path(path).name}, whose first line does not",
                hint=Phrase(
                    "cells are separated by {}; say {delimiter=} for another character",
                    repr(self.delimiter),
                ),
            )
        return pa.schema([(name, pa.string()) for name in names])

    @property
    def _read(self) -> str:
        # With this new_line each of LF, CRLF and CR ends a row. If the reader were to find out by
        # itself, a stray CR in a file of CRLF would swallow the next row. In parallel, some lines
        # would raise.
        kinds = ", ".join(f"{text(name)}: 'VARCHAR'" for name in self.columns.names)
        return (
            f"read_csv({_list(self.paths)}, {_PLAIN}, columns={{{kinds}}}, auto_detect=false, "
            f"all_varchar=true, normalize_names=false, header=true, delim={text(self.delimiter)}, "
            "quote='\"', escape='\"', comment='', skip=0, nullstr='', allow_quoted_nulls=true, "
            "encoding='utf-8', compression='none', null_padding=true, ignore_errors=true, "
            "store_rejects=false, strict_mode=false, new_line='\\n', "
            f"max_line_size={LONGEST_LINE}, parallel=false)"
        )


def find(patterns: Sequence[str | Path]) -> list[str]:
    """The files that paths and patterns match, in order of their names.

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
            raise InvalidArgument.of(
                "source",
                "a file, or a pattern that some files match",
                pattern,
                code="not-found",
                hint=f'for all files in a folder say "{pattern}/*.parquet"'
                if path.is_dir()
                else no_such_file(pattern),
            )
        found += files
    return distinct(found)


def distinct(paths: Sequence[str]) -> list[str]:
    """Each file once, by the first of its names: patterns overlap, and links are names too.

    Otherwise its rows would count twice. Nobody who names a file twice wants that, and as long as
    each row counts once nothing needs to be refused.
    """
    names: dict[tuple[int, int], str] = {}
    for file, path in zip(file_ids(paths), paths, strict=True):
        names.setdefault(file, path)
    return list(names.values())


def file_ids(paths: Sequence[str]) -> list[tuple[int, int]]:
    """What all names of a file have in common."""
    return [(found.st_dev, found.st_ino) for found in map(os.stat, paths)]


def no_such_file(pattern: str) -> str:
    """What to do where no file has this name.

    >>> no_such_file("visits.csv")
    'check the path; the command discreet demo writes visits.csv into the current folder'
    """
    if any(pattern.startswith(engine.addresses) for engine in ENGINES.values()):
        return Phrase("for a database {}", Idiom.DATABASE)
    if "://" in pattern:
        return "fetch the file first: only files of this machine are read"
    if Path(pattern).name == SAMPLE:
        return f"check the path; the command discreet demo writes {SAMPLE} into the current folder"
    return "check the path, which starts at the current folder"


def _list(paths: Sequence[str]) -> str:
    """A list of SQL: each path as a pattern that matches nothing else."""
    return "[" + ", ".join(text(glob.escape(path)) for path in paths) + "]"
