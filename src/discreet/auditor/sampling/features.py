"""What is looked at in an output: one number or one kind for each output.

A feature is a column: floats, where order means something, or keys, where only equality does.
Events are built on columns (events.py). Which features there are depends on the form of the
outputs alone, never on what is claimed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.sampling.outputs import Outputs, Reader, joined, row_keys
from discreet.auditor.sampling.region import FloatArray

# -- bits of floats --------------------------------------------------------------------------------
# What addition in floating point leaves behind. Noise that is added in floats takes on the
# coarseness of the larger summand, so how fine the lowest bit of a sum is reveals what was added to
# what (Mironov 2012; Haney et al. 2022).


_NONE = 4000.0  # of 0, infinity and NaN, which have no lowest bit


def lowest_bit(y: FloatArray) -> FloatArray:
    """The e for which 2^e is the lowest bit that is set: y is an odd multiple of 2^e.

    >>> lowest_bit(np.array([1.0, 0.75, 6.0, 0.1]))
    array([  0.,  -2.,   1., -55.])
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(y), y, 0.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    none = np.where(np.signbit(y) & (y == 0), _NONE + 1, _NONE)  # −0.0 is a pattern of its own
    return np.where(whole == 0, none, exponent - 53.0 + zeros)


def exponents(y: FloatArray) -> NDArray[np.int64]:
    """The exponents of y itself and of its lowest bit, in one key."""
    exponent = np.frexp(np.where(np.isfinite(y), y, 0.0))[1].astype(np.int64)
    lowest = np.minimum(lowest_bit(y), 2000).astype(np.int64)
    return (exponent + 2048) * 4096 + lowest + 2048


def exponent_words(key: int) -> str:
    """What a key of `exponents` stands for."""
    return f"2^{key // 4096 - 2049} and 2^{key % 4096 - 2048}"


def low_bits(y: FloatArray) -> NDArray[np.int64]:
    """The last eight bits of the double."""
    return np.ascontiguousarray(y).view(np.int64) & 255


def fraction(y: FloatArray) -> FloatArray:
    """The fractional part, exactly."""
    finite = np.where(np.isfinite(y), y, 0.0)
    return finite - np.floor(finite)


# -- residues, digits and bits of whole numbers ----------------------------------------------------
# What wide noise does not hide: 3k + x with wide noise k looks like any wide noise, but modulo 3 it
# is x. Residues that tell two inputs apart are searched for among many; that is not the test, which
# has outputs of its own. Numbers on a grid, such as cents or multiples of 2⁻²⁰, are whole numbers
# in units of the grid.


ALL: Final = range(2, 1025)
# Each number up to 64 divides one of these, and a difference modulo 3 is one modulo 33 too.
COARSE: Final = range(33, 65)

_FEW = 128  # values that are cells of their own show their residues anyway
_LONGEST = 2.0**62  # only whole numbers below this are looked at
_CERTAIN = 2.0**48  # steps that a grid of floats has, and random floats do not
_DECIMALS = 12
_DIGIT, _BITS = 10, 16  # moduli of what is left when digits or bits are dropped

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Residue:
    """⌊y·per/step⌋ modulo a number."""

    per: float  #: steps of the grid in 1
    modulus: int
    step: int = 1  #: digits or bits below are dropped

    def __call__(self, y: FloatArray) -> Integers:
        """The residue of each number; −1 for what has none."""
        whole, known = _whole(y, self.per)
        return np.where(known, whole // self.step % self.modulus, -1)

    def named(self, name: str) -> str:
        factor = f"{self.per:.0f}" if self.per % 10 == 0 else f"2^{math.frexp(self.per)[1] - 1}"
        scaled = name if self.per == 1 else f"{factor} · {name}"
        dropped = scaled if self.step == 1 else f"⌊{scaled} / {self.step}⌋"
        return f"{dropped} modulo {self.modulus}"


def distinguishing_residues(
    first: FloatArray, other: FloatArray, moduli: Sequence[int]
) -> list[tuple[float, Residue]]:
    """Residues by how far two samples differ in them, in standard errors, most first."""
    both = np.concatenate([first, other])
    per = _steps(both[np.isfinite(both)])
    if per is None:
        return []
    a, b = (whole[known] for whole, known in (_whole(side, per) for side in (first, other)))
    z = np.concatenate([a, b])
    if not (a.size and b.size) or len(np.unique(z)) <= _FEW:
        return []
    # In units of the common divisor of all differences; besides the moduli, the step of each side
    # by itself is tried, however large it is.
    own = [int(np.gcd.reduce(side - side[0])) for side in (a, b)]
    unit = math.gcd(*own, int(a[0]) - int(b[0]))
    steps = (z - z[0]) // unit
    most = int(np.abs(steps).max())
    tried = {*(m for m in moduli if m <= most), *(g // unit for g in own if g > unit)}
    found = [(_apart(steps % m, len(a)), Residue(per, unit * m)) for m in sorted(tried)]
    for base, modulus in ((10, _DIGIT), (2, _BITS)):
        dropped = base
        while dropped <= unit * most:
            residue = Residue(per, modulus, dropped)
            found.append((_apart(z // dropped % modulus, len(a)), residue))
            dropped *= base
    found.sort(key=lambda one: -one[0])
    return found


def lattices_apart(first: FloatArray, other: FloatArray) -> FloatArray:
    """For each column, how surprising it is that the outputs of one input all share a residue that
    those of both do not: minus the logarithm of the chance, or 0."""
    rows = np.vstack([first, other])
    looked_at = np.all((rows == np.rint(rows)) & (np.abs(rows) < _LONGEST), axis=0)
    z = np.where(looked_at, rows, 0.0).astype(np.int64)
    sides = z[: len(first)], z[len(first) :]
    own = [np.gcd.reduce(side - side[0], axis=0) for side in sides]
    shared = np.maximum(1, np.gcd(np.gcd(*own), sides[0][0] - sides[1][0]))
    surprise = [
        np.count_nonzero(side != side[0], axis=0) * np.log(np.maximum(1, step / shared))
        for side, step in zip(sides, own, strict=True)
    ]
    found: FloatArray = np.maximum(*surprise)
    return found


def _apart(cells: Integers, n: int) -> float:
    """χ² of the first n against the others beyond its mean, in units of its standard deviation."""
    size = int(cells.max()) + 1
    if size > len(cells):
        cells, size = np.unique(cells, return_inverse=True)[1], len(cells)
    p, q = np.bincount(cells[:n], minlength=size), np.bincount(cells[n:], minlength=size)
    share = math.sqrt((len(cells) - n) / n)
    together = p + q
    squares = (share * p - q / share) ** 2 / np.maximum(together, 1)
    free = max(1, int(np.count_nonzero(together)) - 1)
    return float(squares.sum() - free) / math.sqrt(2 * free)


def _whole(y: FloatArray, per: float) -> tuple[Integers, NDArray[np.bool_]]:
    """The nearest step of the grid, and whether the number is one that is looked at."""
    with np.errstate(all="ignore"):
        steps = np.rint(y * per)
        known = np.abs(steps) < _LONGEST
    return np.where(known, steps, 0.0).astype(np.int64), known


def _steps(y: FloatArray) -> float | None:
    """How many steps of the grid on which the numbers lie make 1; None if they lie on none."""
    if np.array_equal(y, np.rint(y)):
        return 1.0
    y = y[y != 0]
    largest = float(np.abs(y).max())
    lowest = int(lowest_bit(y).min())
    binary = math.ldexp(1.0, min(-lowest, 1023))
    if largest * binary < _CERTAIN:
        return binary
    for decimal in (10.0**digits for digits in range(1, _DECIMALS + 1)):
        if largest * decimal >= _CERTAIN:
            break
        scaled = y * decimal
        if np.all(np.abs(scaled - np.rint(scaled)) <= 2.0**-50 * np.abs(scaled)):
            return decimal
    return binary if largest * binary < _LONGEST else None


# -- forms: how long they are, and what they contain -----------------------------------------------


_MOST = 48  # elements whose presence is a feature


def error_kind(reader: Reader, form: int) -> str | None:
    """The class of the error that a form stands for, if any."""
    match reader.known[form]:
        case ("raised", str(kind), _):
            return kind
    return None


def errors(reader: Reader, outputs: Outputs) -> NDArray[np.int64]:
    """The first form with an error of the same class; −1 where there was no error."""
    kinds = [error_kind(reader, form) for form in range(len(reader.known))]
    first = {kind: form for form, kind in reversed(list(enumerate(kinds)))} | {None: -1}
    return _by_form(outputs, lambda form: first[kinds[form]], np.int64)


def sizes(reader: Reader, outputs: Outputs) -> FloatArray:
    """The length of sets, dicts, lists, texts and arrays; −1 for what has none."""
    return _by_form(outputs, lambda form: _size(reader.known[form]), np.float64)


def contains(reader: Reader, element: str, outputs: Outputs) -> NDArray[np.int64]:
    """Whether a set or a dict has this element or key."""
    return _by_form(outputs, lambda form: element in _elements(reader.known[form]), np.int64)


def _by_form(outputs: Outputs, of: Callable[[int], int], dtype: type[np.generic]) -> NDArray[Any]:
    """What the form alone decides, computed once for each."""
    forms, place = np.unique(outputs.forms, return_inverse=True)
    found: NDArray[Any] = np.array([of(form) for form in forms], dtype)[place]
    return found


def elements(reader: Reader, sides: tuple[Outputs, Outputs]) -> list[str]:
    """The elements of sets and keys of dicts whose frequency differs most between the sides."""
    tally: Counter[str] = Counter()
    forms = reader.known
    counts = [np.bincount(side.forms, minlength=len(forms)) / max(1, len(side)) for side in sides]
    for place in np.flatnonzero(counts[0] + counts[1]).tolist():
        for element in set(_elements(forms[place])):
            tally[element] += counts[0][place] - counts[1][place]
    ranked = sorted(tally, key=lambda element: (-abs(tally[element]), element))
    return ranked[:_MOST]


def _size(form: Hashable) -> int:
    match form:
        case ("str" | "bytes", str() | bytes() as value):
            return len(value)
        case ("set" | "dict", tuple(inner), *_):
            return len(inner)
        case (str(), int(size), _):
            return size
        case (str(kind), tuple(shape)) if kind.startswith("array") or " of " in kind:
            return int(np.prod(shape))
        case (str(), tuple(inner)):
            return len(inner)
    return -1


def _elements(form: Hashable) -> Iterator[str]:
    match form:
        case ("set", tuple(inner)):
            yield from map(str, inner)
        case ("dict", tuple(items), *_):
            for key, inner in items:
                yield repr(key)
                yield from _elements(inner)
        case ("list" | "tuple", tuple(inner)):
            for one in inner:
                if isinstance(one, tuple) and len(one) == 2 and one[0] == "str":
                    yield repr(one[1])
        case ("list" | "tuple", int(), ("str", value)):
            yield repr(value)


# -- features --------------------------------------------------------------------------------------


Column = FloatArray | NDArray[np.int64]  # floats are ordered, keys are not
Reading = Callable[[FloatArray], Column]

_SINGLE = 40  # coordinates looked at one by one ...
_FIRST = 8  # ... of which this many in any case
_PAIRED = 5  # coordinates whose pairs are looked at
_PAIRS = 6  # further pairs, of those whose correlation differs
_CORRELATED = 512  # coordinates among which those are looked for
_RANKED = 1500  # outputs per side, to rank coordinates by
_WHOLE = 512  # coordinates of outputs that are compared as a whole
_ORDERED = 8  # coordinates whose order is looked at
_BIT_COLUMNS = 3  # coordinates whose bits are looked at, and columns whose residues are
_RESIDUES = 3  # of one column
_SCANNED, _GLANCED = 2048, 512  # outputs per side, to look for them and to rank columns by them


@dataclass(frozen=True)
class Feature:
    """A column and its name."""

    name: str
    column: Callable[[Outputs], Column]
    words: Callable[[int], str] | None = None  #: what a key stands for
    is_learned: bool = False
    is_bits: bool = False
    is_ratio: bool = False  #: grows with the likelihood ratio: only its ends are events
    rank: int = 0  #: looked at however little time there is (0), or where there is some


def features(reader: Reader, first: Outputs, other: Outputs) -> Iterator[Feature]:
    """All features that apply to outputs like these, the plain ones first."""
    both = joined([first, other])
    width = both.width
    if len(reader.known) > 1 or not width:
        yield from _forms(reader, (first, other), both)
    if not width:
        return
    chosen = distinguishing_coordinates(first, other, _SINGLE)
    plain = list(_coordinates(chosen[:_FIRST], alone=width == 1))
    if width > 1:
        plain += _rows(width, both)
    yield from plain
    pairs = coordinate_pairs(first, other, _PAIRS, chosen[:_PAIRED])
    further = [*_coordinates(chosen[_FIRST:], alone=False), *_pairs(pairs)]
    for feature in (
        *_bits(first, chosen[:_BIT_COLUMNS], alone=width == 1),
        *residues([*plain, *further], first, other),
    ):
        yield replace(feature, is_bits=True)
    for feature in further:
        yield replace(feature, rank=1)


def distinguishing_coordinates(first: Outputs, other: Outputs, most: int) -> list[int]:
    """The coordinates that differ most, in means, spreads, parities, bits or steps, most first."""
    ranked: list[int] = np.argsort(-_differing(first, other), kind="stable")[:most].tolist()
    return ranked


def apart(first: Outputs, other: Outputs) -> float:
    """How far two samples are apart at a glance, in standard errors: by forms and coordinates."""
    most = int(max(first.forms.max(), other.forms.max())) + 1
    p, q = (np.bincount(side.forms, minlength=most) / len(side) for side in (first, other))
    by_form = float(np.abs(p - q).sum()) * math.sqrt(len(first))
    return max(by_form, float(_differing(first, other).max(initial=0.0)))


def _differing(first: Outputs, other: Outputs) -> FloatArray:
    """For each coordinate, the largest difference of a mean in units of its error; or of steps."""
    width = max(first.width, other.width)
    sides = [_sample(side, width) for side in (first, other)]
    score = lattices_apart(*sides)
    readings: list[Callable[[FloatArray], FloatArray]]
    readings = [lambda y: y, np.square, lambda y: np.floor(y) % 2, lowest_bit]
    for reading in readings:
        with np.errstate(all="ignore"):
            a, b = (reading(side) for side in sides)
            noise = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b)) + 1e-12
            score = np.maximum(
                score, np.nan_to_num(np.abs(a.mean(axis=0) - b.mean(axis=0)) / noise)
            )
    return np.minimum(score, 1e6)


def coordinate_pairs(
    first: Outputs, other: Outputs, most: int, few: Sequence[int]
) -> list[tuple[int, int]]:
    """The pairs of coordinates whose correlation differs most, most first; and all of the few."""
    width = min(max(first.width, other.width), _CORRELATED)
    standard = []
    for side in (first, other):
        y = _sample(side, width)
        with np.errstate(all="ignore"):
            y = np.nan_to_num((y - y.mean(axis=0)) / y.std(axis=0), posinf=0.0, neginf=0.0)
        standard.append(y.T @ y / max(1, len(y)))
    apart = np.triu(np.abs(standard[0] - standard[1]), 1)
    ranked = np.argsort(-apart, axis=None, kind="stable")[: min(most, width * (width - 1) // 2)]
    correlated = ((int(place // width), int(place % width)) for place in ranked)
    return list(dict.fromkeys((*correlated, *combinations(sorted(few), 2))))


def _sample(outputs: Outputs, width: int) -> FloatArray:
    few = outputs.rows(0, _RANKED).widened(width).numbers[:, :width]
    return np.clip(np.nan_to_num(few), -1e150, 1e150)


def _by_row(name: str, rows: Callable[[Outputs], NDArray[Any]], sample: Outputs) -> Feature:
    """Keys of whole rows; the words for a key are a row in a sample that has it."""

    def words(key: int) -> str:
        found = rows(sample)
        place = np.flatnonzero(row_keys(found) == key)
        if not place.size:
            return "one not met before"
        row = found[place[0]]
        shown = ", ".join(f"{value:.6g}" for value in row[:12].astype(float))
        return f"({shown}{', ...' if len(row) > 12 else ''})"

    return Feature(name, lambda o: row_keys(rows(o)), words)


def _forms(reader: Reader, sides: tuple[Outputs, Outputs], both: Outputs) -> Iterator[Feature]:
    kinds = {error_kind(reader, form) for form in range(len(reader.known))}
    if kinds != {None}:
        yield Feature("error", partial(errors, reader), partial(_error_words, reader))
    yield Feature("kind of output", lambda o: o.forms, reader.words)
    yield Feature("size", partial(sizes, reader))
    for element in elements(reader, sides):
        yield Feature(f"contains {element}", partial(contains, reader, element), _yes_or_no)
    if 0 < both.width <= _WHOLE:
        yield _by_row("kind and numbers", lambda o: np.column_stack([o.forms, o.numbers]), both)


def _error_words(reader: Reader, form: int) -> str:
    return "none" if form < 0 else str(error_kind(reader, form))


def _yes_or_no(key: int) -> str:
    return "yes" if key else "no"


def _at(i: int, reading: Reading | None = None) -> Callable[[Outputs], Column]:
    """One coordinate, or something about it."""

    def column(outputs: Outputs) -> Column:
        numbers = outputs.widened(i + 1).numbers[:, i]
        return numbers if reading is None else reading(numbers)

    return column


def _coordinates(chosen: list[int], *, alone: bool) -> Iterator[Feature]:
    for i in chosen:
        yield Feature("output" if alone else f"y[{i}]", _at(i))


def _bits(sample: Outputs, chosen: list[int], *, alone: bool) -> Iterator[Feature]:
    for i in chosen:
        y = "output" if alone else f"y[{i}]"
        column = _at(i)(sample)
        yield Feature(f"exponent of the lowest bit of {y} (4000: none)", _at(i, lowest_bit))
        if np.all(np.isnan(column) | (column == np.floor(column))):
            continue
        name = f"exponents of {y} and of its lowest bit"
        yield Feature(name, _at(i, exponents), exponent_words)
        yield Feature(f"last 8 bits of {y}", _at(i, low_bits), "{:08b}".format)
        yield Feature(f"fraction of {y}", _at(i, fraction))


def residues(plain: list[Feature], first: Outputs, other: Outputs) -> Iterator[Feature]:
    """Residues of the columns where they differ most, by the half that events are fitted to."""
    numbers = [feature for feature in plain if feature.words is None]

    def found(feature: Feature, most: int, moduli: Sequence[int]) -> list[tuple[float, Residue]]:
        rows = min(most, len(first) // 2)
        a, b = (_floats(feature, side.rows(0, rows)) for side in (first, other))
        return distinguishing_residues(a, b, moduli)

    if len(numbers) > _BIT_COLUMNS:
        glances = [found(feature, _GLANCED, COARSE) for feature in numbers]
        order = sorted(range(len(numbers)), key=lambda i: -glances[i][0][0] if glances[i] else 0.0)
        numbers = [numbers[i] for i in order[:_BIT_COLUMNS]]
    for feature in numbers:
        for _, residue in found(feature, _SCANNED, ALL)[:_RESIDUES]:
            yield Feature(residue.named(feature.name), partial(_residue_of, feature, residue), str)


def _residue_of(feature: Feature, residue: Residue, outputs: Outputs) -> Column:
    return residue(_floats(feature, outputs))


def _floats(feature: Feature, outputs: Outputs) -> FloatArray:
    return feature.column(outputs).astype(np.float64, copy=False)


def _rows(width: int, both: Outputs) -> Iterator[Feature]:
    def of(reduce: Reading) -> Callable[[Outputs], Column]:
        def column(outputs: Outputs) -> Column:
            with np.errstate(all="ignore"):
                y = wide(outputs)
                return reduce(np.where(np.isnan(y), 0.0, y))

        return column

    def wide(outputs: Outputs) -> FloatArray:
        return outputs.widened(width).numbers[:, :width]

    if width <= _WHOLE:
        yield _by_row("whole output", wide, both)
    yield Feature("sum", of(lambda y: y.sum(axis=1)))
    yield Feature("sum of squares", of(lambda y: (y * y).sum(axis=1)))
    yield Feature("sum of absolute values", of(lambda y: np.abs(y).sum(axis=1)))
    yield Feature("largest", of(lambda y: y.max(axis=1)))
    yield Feature("least", of(lambda y: y.min(axis=1)))
    yield Feature("range", of(lambda y: y.max(axis=1) - y.min(axis=1)))
    yield Feature("middle", of(lambda y: np.median(y, axis=1)))
    yield Feature("place of the largest", of(lambda y: y.argmax(axis=1)), "place {}".format)
    yield Feature("place of the least", of(lambda y: y.argmin(axis=1)), "place {}".format)
    yield Feature("first place that is not 0", of(_first_set), "place {}".format)
    yield Feature("how many are above 0", of(lambda y: (y > 0).sum(axis=1).astype(np.float64)))
    yield _by_row("which are above 0", lambda o: wide(o)[:, :256] > 0, both)
    if width <= _ORDERED:
        yield _by_row("order", lambda o: np.argsort(wide(o), axis=1, kind="stable"), both)


def _first_set(y: FloatArray) -> NDArray[np.int64]:
    return np.where((y != 0).any(axis=1), (y != 0).argmax(axis=1), -1)


def _pairs(pairs: list[tuple[int, int]]) -> Iterator[Feature]:
    for i, j in pairs:
        yield Feature(f"y[{i}] − y[{j}]", partial(_combined, np.subtract, i, j))
        yield Feature(f"y[{i}] + y[{j}]", partial(_combined, np.add, i, j))


def _combined(combine: np.ufunc, i: int, j: int, outputs: Outputs) -> Column:
    numbers = outputs.widened(max(i, j) + 1).numbers
    with np.errstate(all="ignore"):
        found: FloatArray = combine(numbers[:, i], numbers[:, j])
    return found
