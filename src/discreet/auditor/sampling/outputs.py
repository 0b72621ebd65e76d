"""Outputs of any type as numbers: the form of each, and the numbers in it.

The *form* is everything but the numbers: types, lengths, shapes, keys, texts, whether a number is
NaN, whether the run raised an error. Numbers inside texts count as numbers: a count that comes as
"n = 41.7" is treated like 41.7.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.sampling.region import FloatArray
from discreet.errors import InvalidArgument, Phrase

# -- one output ------------------------------------------------------------------------------------


LONGEST: Final = 1 << 16  # numbers of one output that are looked at
EXACT: Final = 2**53  # from here on floats have gaps between whole numbers

_DEEPEST = 32
_STEP = 4  # levels that an object with attributes counts for: it may hold itself
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
# How tables, series and scalars of other packages become plain values, in this order.
_CONVERSIONS = ("to_arrow", "to_pydict", "to_pylist", "to_dict", "to_list", "tolist", "as_py")


@dataclasses.dataclass(frozen=True)
class Raised:
    """A run that ended in an error: its class, and a digest of its message.

    A message may quote data: it is compared, but neither stored nor shown.
    """

    kind: str
    digest: str = ""

    @staticmethod
    def by(error: BaseException) -> Raised:
        """The parts of an error that are compared."""
        try:
            message = str(error)
        except Exception:  # not all messages can be made
            message = ""
        digest = hashlib.blake2b(message.encode("utf-8", "replace"), digest_size=16).hexdigest()
        return Raised(type(error).__name__, digest)


def form_of(output: Any, numbers: list[float], depth: int = 0) -> Hashable:
    """Everything about an output but its numbers, which are appended to `numbers`."""
    if isinstance(output, Raised):
        return ("raised", output.kind, output.digest)
    if output is None:
        return "None"
    if isinstance(output, bool | int | float | complex | np.number | np.bool_ | Fraction | Decimal):
        return _number_form(output, numbers)
    if isinstance(output, Enum):
        return ("one of", type(output).__name__, output.name)
    if isinstance(output, str | bytes):
        return _text_form(output, numbers)
    if isinstance(output, date | time | timedelta | np.datetime64 | np.timedelta64):
        return _time_form(output, numbers)
    if depth > _DEEPEST or isinstance(output, type):
        return ("unread", type(output).__name__)
    if isinstance(output, np.ndarray):
        return _array_form(output, numbers, depth)
    return _compound_form(output, numbers, depth)


def _compound_form(output: Any, numbers: list[float], depth: int) -> Hashable:
    plain = _as_plain(output)
    if plain is not output and type(plain) is type(output):
        return ("unread", type(output).__name__)  # it would never end
    if isinstance(plain, Mapping):
        order = sorted(plain, key=repr)
        below = depth + (_STEP if isinstance(plain, _Attributes) else 1)
        form = ("dict", tuple((_key(k), form_of(plain[k], numbers, below)) for k in order))
        # The order of keys is public only if it is always the same.
        return form if list(plain) == order else (*form, tuple(map(repr, plain)))
    if isinstance(plain, Set):
        return ("set", tuple(sorted(map(repr, plain))))
    if isinstance(plain, Sequence | Iterator | range):
        inner = tuple(form_of(one, numbers, depth + 1) for one in islice(plain, LONGEST))
        kind = type(plain).__name__
        if inner and all(one == inner[0] for one in inner):
            return (kind, len(inner), inner[0])
        return (kind, inner)
    if plain is not output:
        return form_of(plain, numbers, depth + _STEP)
    return ("unread", type(output).__name__)


def _as_plain(output: Any) -> Any:
    """Dataclasses, tables, series and objects with attributes as dicts and lists."""
    if dataclasses.is_dataclass(output):
        return {f.name: getattr(output, f.name) for f in dataclasses.fields(output)}
    if isinstance(output, Mapping | Set | Sequence | Iterator):
        return output
    for method in _CONVERSIONS:
        try:
            return getattr(output, method)()
        except Exception:  # it has none, or it is not what its name says
            continue
    return _Attributes(output) if getattr(output, "__dict__", None) else output


class _Attributes(dict[str, Any]):
    """The attributes of an object, with its class."""

    def __init__(self, output: Any) -> None:
        super().__init__(vars(output))
        self["the class"] = type(output).__name__


def _time_form(output: Any, numbers: list[float]) -> Hashable:
    """A date or time as days, seconds or steps since some origin."""
    kind = type(output).__name__
    if isinstance(output, np.datetime64 | np.timedelta64):
        numbers.append(float(output.astype(np.int64)))
        return (kind, str(output.dtype))
    if isinstance(output, timedelta):
        numbers.append(output.total_seconds())
    elif isinstance(output, datetime):
        numbers.append((output.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds())
        return (kind, str(output.tzinfo))
    elif isinstance(output, date):
        numbers.append(float(output.toordinal()))
    else:
        return ("one of", kind, str(output))
    return kind


def _number_form(output: Any, numbers: list[float]) -> Hashable:
    kind = type(output).__name__
    if isinstance(output, complex | np.complexfloating):
        numbers += [float(output.real), float(output.imag)]
        return kind if output == output else (kind, "NaN")
    try:
        value = float(output)
    except OverflowError:
        value = float("inf") if output > 0 else float("-inf")
    except ValueError:  # a NaN that signals
        value = float("nan")
    numbers.append(value)
    if isinstance(output, int | np.integer) and abs(int(output)) >= EXACT:
        numbers.append(float(int(output) % 2**32))  # floats do not hold these bits
        return (kind, "long")
    if isinstance(output, Fraction | Decimal | np.longdouble):
        numbers.append(_key_of(str(output)))
    return kind if value == value else (kind, "NaN")


def _text_form(output: str | bytes, numbers: list[float]) -> Hashable:
    """The text with its numbers taken out."""
    text = output if isinstance(output, str) else output.decode("latin-1")
    found = _NUMBER.findall(text)
    numbers += [float(one) for one in found]
    if found:
        numbers.append(_key_of(text))  # "1" and "1.0" are two texts
    return (type(output).__name__, _NUMBER.sub("#", text) if found else text)


def _array_form(output: NDArray[Any], numbers: list[float], depth: int) -> Hashable:
    if output.dtype.kind not in "biuf":
        return (f"array {output.dtype.kind}", form_of(output.tolist(), numbers, depth + 1))
    flat = output.ravel()[:LONGEST]
    numbers += flat.astype(np.float64).tolist()
    form: Hashable = (f"array {output.dtype}", output.shape)
    holes = tuple(np.flatnonzero(np.isnan(flat.astype(np.float64))).tolist())
    if holes:
        form = (form, "NaN at", holes)
    if (low := low_words(flat[None, :])) is not None:
        numbers += low[0].tolist()
    return form


def low_words(rows: NDArray[Any]) -> NDArray[np.float64] | None:
    """The last 32 bits of whole numbers that floats cannot hold, NaN for others; None if there are
    no such numbers."""
    if rows.dtype.kind not in "iu" or rows.dtype.itemsize < 8:
        return None
    long = (rows >= EXACT) | (rows <= -EXACT) if rows.dtype.kind == "i" else rows >= EXACT
    return np.where(long, (rows % 2**32).astype(np.float64), np.nan) if long.any() else None


def _key_of(text: str) -> float:
    """A whole number that only equal texts share, except for one in 2⁵³."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> 11)


def _key(key: Any) -> Hashable:
    return key if isinstance(key, str | int | float | bool) else repr(key)


def in_words(form: Hashable) -> str:
    """A form in words for people."""
    match form:
        case ("raised", str(kind), _):
            return f"the error {kind}"
        case ("one of", str(kind), str(name)):
            return f"{kind} {name}"
        case ("unread", str(kind)):
            return f"an object of type {kind}"
        case ("str" | "bytes", value):
            return f"the text {value!r}"
        case ("set", tuple(elements)):
            return "{" + ", ".join(map(str, elements)) + "}"
        case ("dict", tuple(items), tuple(order)):
            return f"{in_words(('dict', items))} in the order {', '.join(map(str, order))}"
        case ("dict", tuple(items)):
            return "{" + ", ".join(f"{key!r}: {in_words(inner)}" for key, inner in items) + "}"
        case (inner, "NaN at", tuple(places)):
            return f"{in_words(inner)} with NaN at {list(map(int, places))}"
        case (str(kind), "long") | ("datetime" | "datetime64" | "timedelta64" as kind, _):
            return kind
        case (str(kind), "NaN"):
            return f"NaN ({kind})"
        case (str(kind), int(size), inner):
            return f"{kind} of {size} × {in_words(inner)}"
        case (str(kind), tuple(inner)) if kind.startswith("array") or " of " in kind:
            return f"{kind} of shape {inner}"
        case (str(kind), tuple(inner)):
            return f"{kind} (" + ", ".join(map(in_words, inner)) + ")"
    return str(form)


# -- many outputs, as two arrays -------------------------------------------------------------------
# Forms get numbers in the order they are met, and the same form has the same number for both
# inputs. The numbers of an output are a row of floats, padded with NaN. A float32, a boolean or an
# int below 2⁵³ is exact there; the last bits of longer ones are held as well.


_PLAIN_TYPES = {bool, int, float}


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
        """These outputs with at least this many columns."""
        missing = width - self.width
        if missing <= 0:
            return self
        return Outputs(
            self.forms, np.pad(self.numbers, ((0, 0), (0, missing)), constant_values=np.nan)
        )


def joined(parts: Sequence[Outputs]) -> Outputs:
    """All outputs, one part after the other."""
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
        """A form in words, which are cut if they are long."""
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
        """Many outputs, stacked in an array or in a list; each is read as it would be alone."""
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
            patterns = [tuple(np.flatnonzero(holes[row]).tolist()) for row in first]
            numbered = [self._number((form, "NaN at", at) if at else form) for at in patterns]
            forms = np.array(numbered)[place]
        if (low := low_words(flat)) is not None:
            numbers = np.hstack([numbers, low])
        return Outputs(forms, numbers)

    def _alike(self, outputs: list[Any]) -> Outputs | None:
        """The quick way for numbers of one type, arrays of one shape, and lists of numbers."""
        kinds = set(map(type, outputs))
        if len(kinds) != 1:
            return None
        kind = kinds.pop()
        if kind is np.ndarray:
            alike = len({(one.shape, one.dtype) for one in outputs}) == 1
            plain = alike and outputs[0].dtype.kind in "biuf"
            return self._arrays(np.stack(outputs)) if plain else None
        if kind in _PLAIN_TYPES or issubclass(kind, np.integer | np.floating):
            return self._floats([[one] for one in outputs], kind.__name__)
        if kind in (tuple, list) and len(set(map(len, outputs))) == 1 and outputs[0]:
            inner = {type(one) for row in outputs for one in row}
            if len(inner) == 1 and inner <= _PLAIN_TYPES:
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
    """The outputs of a batch that is neither a list nor an array of numbers."""
    if isinstance(outputs, Mapping | Set | str | bytes):
        raise InvalidArgument(
            "run",
            Phrase("with {batched=True}, a list or an array of n outputs"),
            f"a {type(outputs).__name__}",
        )
    if hasattr(outputs, "to_dicts"):  # a table of Polars: a row is an output
        return list(outputs.to_dicts())
    if hasattr(outputs, "to_pylist"):  # of Arrow, or an array of it
        return list(outputs.to_pylist())
    if hasattr(outputs, "iloc") and hasattr(outputs, "columns"):  # of pandas
        return list(outputs.to_dict("records"))
    return list(outputs)
