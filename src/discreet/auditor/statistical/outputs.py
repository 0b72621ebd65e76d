"""Outputs of any type as two arrays: what kind of thing each is, and the numbers in it.

The *form* of an output is everything but its numbers: types, lengths, shapes, keys, strings,
whether it is NaN, whether the run raised an error. Forms get numbers in the order they are met,
and the same form has the same number for both inputs. The numbers of an output stand in a row of
floats, padded with NaN. A float32, a boolean or an int below 2⁵³ is exact there.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import FloatArray

_LONGEST = 1 << 16  # numbers of one output that are looked at
_PLAIN = {bool, int, float}


@dataclasses.dataclass(frozen=True)
class Raised:
    """A run that ended in an error: its class, and a digest of its message.

    A message may quote data, so it is compared but not kept.
    """

    kind: str
    digest: str = ""

    @staticmethod
    def by(error: Exception) -> Raised:
        """What is compared of an error."""
        try:
            message = str(error)
        except Exception:  # not all messages can be made
            message = ""
        digest = hashlib.blake2b(message.encode("utf-8", "replace"), digest_size=4).hexdigest()
        return Raised(type(error).__name__, digest)


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
        text = _in_words(self.known[form])
        return text if len(text) <= 160 else f"{text[:157]}..."

    def read(self, outputs: Any) -> Outputs:
        """Many outputs, stacked in an array or in a list; each reads as it would alone."""
        if isinstance(outputs, np.ndarray) and outputs.ndim and outputs.dtype.kind in "biuf":
            return self._stacked(outputs)
        listed = outputs if isinstance(outputs, list) else list(outputs)
        quick = self._alike(listed)
        return quick if quick is not None else self._one_by_one(listed)

    def _stacked(self, outputs: NDArray[Any]) -> Outputs:
        if outputs.ndim > 1:
            return self._arrays(outputs)
        kind = outputs.dtype.type.__name__
        numbers = outputs.astype(np.float64)[:, None]
        forms = np.full(len(outputs), self._number(kind))
        if (holes := np.isnan(numbers[:, 0])).any():
            forms[holes] = self._number((kind, "NaN"))
        return Outputs(forms, numbers)

    def _arrays(self, stacked: NDArray[Any]) -> Outputs:
        form = (f"array {stacked.dtype}", stacked.shape[1:])
        numbers = stacked.reshape(len(stacked), -1)[:, :_LONGEST].astype(np.float64)
        forms = np.full(len(stacked), self._number(form))
        holes = np.isnan(numbers)
        if holes.any():
            # Where the NaNs are is part of the form.
            _, first, place = np.unique(row_keys(holes), return_index=True, return_inverse=True)
            forms = np.array([self._holes(form, holes[row]) for row in first])[place]
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
            numbers = np.array(rows, np.float64)[:, :_LONGEST]
        except OverflowError:
            return None
        if np.isnan(numbers).any():
            return None
        return Outputs(np.full(len(rows), self._number(form)), numbers)

    def _one_by_one(self, outputs: list[Any]) -> Outputs:
        forms, rows = np.empty(len(outputs), np.int64), []
        for place, output in enumerate(outputs):
            numbers: list[float] = []
            forms[place] = self._number(_form(output, numbers, 0))
            rows.append(numbers[:_LONGEST])
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


def _form(output: Any, numbers: list[float], depth: int) -> Hashable:
    """Everything about an output but its numbers, which are appended to `numbers`."""
    if isinstance(output, Raised):
        return ("raised", output.kind, output.digest)
    if output is None:
        return "None"
    if isinstance(output, bool | int | float | np.number | np.bool_):
        return _number_form(output, numbers)
    if isinstance(output, str | bytes):
        return (type(output).__name__, output)
    if depth > 8:
        return ("deeply nested", type(output).__name__)
    if isinstance(output, np.ndarray):
        return _array_form(output, numbers, depth)
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        output = {f.name: getattr(output, f.name) for f in dataclasses.fields(output)}
    for method in ("to_arrow", "to_pydict", "to_dict"):  # tables of any make
        if not isinstance(output, Mapping) and hasattr(output, method):
            output = getattr(output, method)()
    if isinstance(output, Mapping):
        items = sorted(output.items(), key=lambda item: repr(item[0]))
        return ("dict", tuple((_key(k), _form(v, numbers, depth + 1)) for k, v in items))
    if isinstance(output, Set):
        return ("set", tuple(sorted(map(repr, output))))
    if isinstance(output, Sequence):
        inner = tuple(_form(one, numbers, depth + 1) for one in output)
        if inner and all(one == inner[0] for one in inner):
            return (type(output).__name__, len(inner), inner[0])
        return (type(output).__name__, inner)
    return ("object", type(output).__name__)


def _number_form(output: Any, numbers: list[float]) -> Hashable:
    try:
        value = float(output)
    except OverflowError:
        value = float("inf") if output > 0 else float("-inf")
    if isinstance(output, np.complexfloating):
        value = abs(complex(output))
    numbers.append(value)
    return type(output).__name__ if value == value else (type(output).__name__, "NaN")


def _array_form(output: NDArray[Any], numbers: list[float], depth: int) -> Hashable:
    if output.dtype.kind not in "biuf":
        return (f"array {output.dtype.kind}", _form(output.tolist(), numbers, depth + 1))
    flat = output.ravel()[:_LONGEST].astype(np.float64)
    numbers.extend(flat.tolist())
    holes = tuple(np.flatnonzero(np.isnan(flat)).tolist())
    form = (f"array {output.dtype}", output.shape)
    return (form, "NaN at", holes) if holes else form


def _key(key: Any) -> Hashable:
    return key if isinstance(key, str | int | float | bool) else repr(key)


def _in_words(form: Hashable) -> str:
    return " ".join(_pieces(form))


def _pieces(form: Hashable) -> Iterator[str]:
    match form:
        case str():
            yield form
        case ("raised", str(kind), str(digest)):
            yield f"the error {kind} with message #{digest}"
        case ("str" | "bytes", value):
            yield f"the text {value!r}"
        case ("set", tuple(elements)):
            yield "{" + ", ".join(map(str, elements)) + "}"
        case ("dict", tuple(items)):
            yield "{" + ", ".join(f"{key!r}: {_in_words(inner)}" for key, inner in items) + "}"
        case (inner, "NaN at", tuple(places)):
            yield f"{_in_words(inner)} with NaN at {list(map(int, places))}"
        case (str(kind), "NaN"):
            yield f"NaN ({kind})"
        case (str(kind), int(size), inner):
            yield f"{kind} of {size} × {_in_words(inner)}"
        case (str(kind), tuple(inner)) if kind.startswith("array") or " of " in kind:
            yield f"{kind} of shape {inner}"
        case (str(kind), tuple(inner)):
            yield f"{kind} (" + ", ".join(map(_in_words, inner)) + ")"
        case _:
            yield str(form)
