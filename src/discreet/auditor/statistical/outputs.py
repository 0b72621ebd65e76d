"""Outputs in numbers: what form each has, and the numbers in it, as two arrays.

Forms get numbers in the order they are met, and the same form has the same number for both inputs.
The numbers of an output stand in a row of floats, padded with NaN. A float32, a boolean or an int
below 2⁵³ is exact there; of longer ones the last bits stand beside them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import FloatArray
from discreet.auditor.statistical.reading import (
    EXACT,
    LONGEST,
    form_of,
    in_words,
    low_words,
)
from discreet.errors import InvalidArgument

_PLAIN = {bool, int, float}


@dataclasses.dataclass(frozen=True)
class Outputs:
    """n outputs of one input."""

    forms: NDArray[np.int64]
    numbers: FloatArray  # n rows

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def width(self) -> int:
        return int(self.numbers.shape[1])

    def rows(self, start: int, end: int) -> Outputs:
        return Outputs(self.forms[start:end], self.numbers[start:end])

    def widened(self, width: int) -> Outputs:
        """The same with at least this many columns."""
        missing = width - self.width
        if missing <= 0:
            return self
        return Outputs(
            self.forms, np.pad(self.numbers, ((0, 0), (0, missing)), constant_values=np.nan)
        )


def joined(parts: Sequence[Outputs]) -> Outputs:
    """One after the other."""
    width = max(part.width for part in parts)
    wide = [part.widened(width) for part in parts]
    return Outputs(
        np.concatenate([part.forms for part in wide]),
        np.concatenate([part.numbers for part in wide]),
    )


def row_keys(rows: NDArray[Any]) -> NDArray[np.int64]:
    """A number for each row: equal rows have equal ones, different rows almost never do.

    NaN is padding, and counts for nothing. A collision would only make an event coarser; nothing
    that is claimed rests on it.
    """
    floats = rows.dtype.kind == "f"
    keys = np.full(len(rows), 0x2545F4914F6CDD1D, np.uint64)
    for i in range(rows.shape[1]):
        column = rows[:, i]
        if floats:
            words = (np.ascontiguousarray(column) + 0.0).view(np.uint64)  # −0.0 is 0.0
        else:
            words = column.astype(np.int64).view(np.uint64)
        mixed = (keys ^ words) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        keys = np.where(np.isnan(column), keys, mixed) if floats else mixed
    return keys.view(np.int64)


class Reader:
    """Reads outputs; remembers which forms it has met, and nothing else."""

    def __init__(self) -> None:
        self.known: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}

    def words(self, form: int) -> str:
        """A form in words; a few of them for a long one."""
        known = self.known[form]
        text = in_words(known)
        if isinstance(known, tuple) and known[0] == "raised":
            others = [f for f in self.known if isinstance(f, tuple) and f[:2] == known[:2]]
            text += f" with its message no. {others.index(known) + 1}" if len(others) > 1 else ""
        return text if len(text) <= 160 else f"{text[:157]}..."

    @property
    def unread(self) -> tuple[str, ...]:
        """Types of outputs that could not be looked into."""
        return tuple(
            sorted({f[1] for f in self.known if isinstance(f, tuple) and f[0] == "unread"})
        )

    def read(self, outputs: Any) -> Outputs:
        """Many outputs, stacked in an array or in a list; each reads as it would alone."""
        if isinstance(outputs, np.ndarray) and outputs.ndim and outputs.dtype.kind in "biuf":
            return self._stacked(outputs)
        listed = outputs if isinstance(outputs, list) else _rows(outputs)
        quick = self._alike(listed)
        return quick if quick is not None else self._one_by_one(listed)

    def _stacked(self, outputs: NDArray[Any]) -> Outputs:
        if outputs.ndim > 1:
            return self._arrays(outputs)
        if low_words(outputs[:, None]) is not None:
            return self._one_by_one(list(outputs))
        kind = outputs.dtype.type.__name__
        numbers = outputs.astype(np.float64)[:, None]
        forms = np.full(len(outputs), self._number(kind))
        if (holes := np.isnan(numbers[:, 0])).any():
            forms[holes] = self._number((kind, "NaN"))
        return Outputs(forms, numbers)

    def _arrays(self, stacked: NDArray[Any]) -> Outputs:
        form = (f"array {stacked.dtype}", stacked.shape[1:])
        flat = stacked.reshape(len(stacked), -1)[:, :LONGEST]
        numbers = flat.astype(np.float64)
        forms = np.full(len(stacked), self._number(form))
        holes = np.isnan(numbers)
        if holes.any():
            # Where the NaNs are is part of the form.
            _, first, place = np.unique(row_keys(holes), return_index=True, return_inverse=True)
            forms = np.array([self._holes(form, holes[row]) for row in first])[place]
        if (low := low_words(flat)) is not None:
            numbers = np.hstack([numbers, low])
        return Outputs(forms, numbers)

    def _holes(self, form: Hashable, pattern: NDArray[np.bool_]) -> int:
        places = tuple(np.flatnonzero(pattern).tolist())
        return self._number((form, "NaN at", places) if places else form)

    def _alike(self, outputs: list[Any]) -> Outputs | None:
        """The quick way for numbers of one type, arrays of one shape, and lists of numbers."""
        kinds = set(map(type, outputs))
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is np.ndarray:
            alike = len({(one.shape, one.dtype) for one in outputs}) == 1
            return (
                self._arrays(np.stack(outputs))
                if alike and outputs[0].dtype.kind in "biuf"
                else None
            )
        if kind in _PLAIN or (kind is not None and issubclass(kind, np.integer | np.floating)):
            return self._floats([[one] for one in outputs], kind.__name__)
        if kind in (tuple, list) and len(set(map(len, outputs))) == 1 and outputs[0]:
            inner = {type(one) for row in outputs for one in row}
            if len(inner) == 1 and inner <= _PLAIN:
                return self._floats(outputs, (kind.__name__, len(outputs[0]), inner.pop().__name__))
        return None

    def _floats(self, rows: list[Any], form: Hashable) -> Outputs | None:
        try:
            numbers = np.array(rows, np.float64)[:, :LONGEST]
        except OverflowError:
            return None
        if np.isnan(numbers).any() or (np.abs(numbers) >= EXACT).any():
            return None  # these have forms of their own
        return Outputs(np.full(len(rows), self._number(form)), numbers)

    def _one_by_one(self, outputs: list[Any]) -> Outputs:
        forms, rows = np.empty(len(outputs), np.int64), []
        for place, output in enumerate(outputs):
            numbers: list[float] = []
            forms[place] = self._number(form_of(output, numbers))
            rows.append(numbers[:LONGEST])
        width = max(map(len, rows), default=0)
        table = np.full((len(rows), width), np.nan)
        for place, row in enumerate(rows):
            table[place, : len(row)] = row
        return Outputs(forms, table)

    def _number(self, form: Hashable) -> int:
        number = self._numbers.setdefault(form, len(self.known))
        if number == len(self.known):
            self.known.append(form)
        return number


def _rows(outputs: Any) -> list[Any]:
    """The outputs of a batch that is no list and no array of numbers."""
    if isinstance(outputs, Mapping | Set | str | bytes):
        raise InvalidArgument(
            name="run",
            expected="with batched=True, a list or an array of n outputs",
            given=f"a {type(outputs).__name__}",
        )
    if hasattr(outputs, "to_dicts"):  # a table of Polars: a row is an output
        return list(outputs.to_dicts())
    if hasattr(outputs, "to_pylist"):  # of Arrow, or an array of it
        return list(outputs.to_pylist())
    if hasattr(outputs, "iloc") and hasattr(outputs, "columns"):  # of pandas
        return list(outputs.to_dict("records"))
    return list(outputs)
