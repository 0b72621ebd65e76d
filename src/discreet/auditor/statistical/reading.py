"""One output of any type: its form, and the numbers in it.

The *form* is everything but the numbers: types, lengths, shapes, keys, texts, whether a number is
NaN, whether the run raised an error. Numbers inside of texts count as numbers: a count that comes
as "n = 41.7" is looked at like 41.7.
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

LONGEST: Final = 1 << 16  # numbers of one output that are looked at
EXACT: Final = 2**53  # from here on floats have gaps between whole numbers

_DEEPEST = 32
_STEP = 4  # levels that an object with attributes counts for: it may hold itself
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
# How tables, series and scalars of other packages become plain values, in this order.
_PLAIN = ("to_arrow", "to_pydict", "to_pylist", "to_dict", "to_list", "tolist", "as_py")


@dataclasses.dataclass(frozen=True)
class Raised:
    """A run that ended in an error: its class, and a digest of its message.

    A message may quote data: it is compared, and neither kept nor shown.
    """

    kind: str
    digest: str = ""

    @staticmethod
    def by(error: BaseException) -> Raised:
        """What is compared of an error."""
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
        return ("unread", type(output).__name__)  # it would go on for ever
    if isinstance(plain, Mapping):
        order = sorted(plain, key=repr)
        below = depth + (_STEP if isinstance(plain, _Attributes) else 1)
        form = ("dict", tuple((_key(k), form_of(plain[k], numbers, below)) for k in order))
        # In which order keys come is public only if it is always the same.
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
    """Dicts and lists for dataclasses, tables, series and objects with attributes."""
    if dataclasses.is_dataclass(output):
        return {f.name: getattr(output, f.name) for f in dataclasses.fields(output)}
    if isinstance(output, Mapping | Set | Sequence | Iterator):
        return output
    for method in _PLAIN:
        try:
            return getattr(output, method)()
        except Exception:  # it has none, or it is not what its name says
            continue
    return _Attributes(output) if getattr(output, "__dict__", None) else output


class _Attributes(dict[str, Any]):
    """What an object is made of, with its class."""

    def __init__(self, output: Any) -> None:
        super().__init__(vars(output))
        self["the class"] = type(output).__name__


def _time_form(output: Any, numbers: list[float]) -> Hashable:
    """Days, seconds or steps since some beginning."""
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
    """The last 32 bits of whole numbers that floats cannot hold, NaN for others; or nothing."""
    if rows.dtype.kind not in "iu" or rows.dtype.itemsize < 8:
        return None
    long = (rows >= EXACT) | (rows <= -EXACT) if rows.dtype.kind == "i" else rows >= EXACT
    return np.where(long, (rows % 2**32).astype(np.float64), np.nan) if long.any() else None


def _key_of(text: str) -> float:
    """A whole number that only equal texts share, but for one in 2⁵³."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> 11)


def _key(key: Any) -> Hashable:
    return key if isinstance(key, str | int | float | bool) else repr(key)


def in_words(form: Hashable) -> str:
    """A form for people."""
    return " ".join(_pieces(form))


def _pieces(form: Hashable) -> Iterator[str]:
    match form:
        case str():
            yield form
        case ("raised", str(kind), _):
            yield f"the error {kind}"
        case ("one of", str(kind), str(name)):
            yield f"{kind} {name}"
        case ("unread", str(kind)):
            yield f"an object of type {kind}"
        case ("str" | "bytes", value):
            yield f"the text {value!r}"
        case ("set", tuple(elements)):
            yield "{" + ", ".join(map(str, elements)) + "}"
        case ("dict", tuple(items), tuple(order)):
            yield f"{in_words(('dict', items))} in the order {', '.join(map(str, order))}"
        case ("dict", tuple(items)):
            yield "{" + ", ".join(f"{key!r}: {in_words(inner)}" for key, inner in items) + "}"
        case (inner, "NaN at", tuple(places)):
            yield f"{in_words(inner)} with NaN at {list(map(int, places))}"
        case (str(kind), "long"):
            yield kind
        case ("datetime" | "datetime64" | "timedelta64" as kind, _):
            yield kind
        case (str(kind), "NaN"):
            yield f"NaN ({kind})"
        case (str(kind), int(size), inner):
            yield f"{kind} of {size} × {in_words(inner)}"
        case (str(kind), tuple(inner)) if kind.startswith("array") or " of " in kind:
            yield f"{kind} of shape {inner}"
        case (str(kind), tuple(inner)):
            yield f"{kind} (" + ", ".join(map(in_words, inner)) + ")"
        case _:
            yield str(form)
