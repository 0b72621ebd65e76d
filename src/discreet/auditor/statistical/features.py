"""What is looked at in an output: one number, or one kind, an output.

A feature is a column: floats, where order means something, or keys, where only equality does.
Events are built on columns (events.py). Which features there are depends on the form of the
outputs alone, never on what is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import FloatArray
from discreet.auditor.statistical.bits import (
    exponent_words,
    exponents,
    fraction,
    low_bits,
    lowest_bit,
)
from discreet.auditor.statistical.forms import (
    contains,
    elements,
    error_kind,
    errors,
    sizes,
)
from discreet.auditor.statistical.outputs import Outputs, Reader, joined, row_keys
from discreet.auditor.statistical.residues import (
    ALL,
    COARSE,
    Residue,
    lattices_apart,
    telling_residues,
)

Column = FloatArray | NDArray[np.int64]  # floats are ordered, keys are not
Reading = Callable[[FloatArray], Column]

_SINGLE = 40  # coordinates looked at one by one ...
_FIRST = 8  # ... of which so many in any case
_PAIRED = 5  # coordinates whose pairs are looked at
_PAIRS = 6  # further pairs, of those whose correlation differs
_CORRELATED = 512  # coordinates among which those are looked for
_RANKED = 1500  # outputs a side, to rank coordinates by
_WHOLE = 512  # coordinates of outputs that are compared as a whole
_ORDERED = 8  # coordinates whose order is looked at
_BITS = 3  # coordinates whose bits are looked at, and columns whose residues are
_RESIDUES = 3  # of one column
_SCANNED, _GLANCED = 2048, 512  # outputs a side, to look for them and to rank columns by them


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
    """All that apply to outputs like these, the plain ones first."""
    both = joined([first, other])
    width = both.width
    if len(reader.known) > 1 or not width:
        yield from _forms(reader, (first, other), both)
    if not width:
        return
    chosen = telling(first, other, _SINGLE)
    plain = list(_coordinates(chosen[:_FIRST], alone=width == 1))
    if width > 1:
        plain += _rows(width, both)
    yield from plain
    few = sorted(chosen[:_PAIRED])
    pairs = dict.fromkeys((*telling_pairs(first, other, _PAIRS), *combinations(few, 2)))
    further = [*_coordinates(chosen[_FIRST:], alone=False), *_pairs(list(pairs))]
    for feature in (
        *_bits(first, chosen[:_BITS], alone=width == 1),
        *residues([*plain, *further], first, other),
    ):
        yield replace(feature, is_bits=True)
    for feature in further:
        yield replace(feature, rank=1)


def telling(first: Outputs, other: Outputs, most: int) -> list[int]:
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
    for reading in (_itself, np.square, _parity, lowest_bit):
        with np.errstate(all="ignore"):
            a, b = (reading(side) for side in sides)
            noise = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b)) + 1e-12
            score = np.maximum(
                score, np.nan_to_num(np.abs(a.mean(axis=0) - b.mean(axis=0)) / noise)
            )
    return np.minimum(score, 1e6)


def telling_pairs(first: Outputs, other: Outputs, most: int) -> list[tuple[int, int]]:
    """The pairs of coordinates whose correlation differs most, most first."""
    width = min(max(first.width, other.width), _CORRELATED)
    standard = []
    for side in (first, other):
        y = _sample(side, width)
        with np.errstate(all="ignore"):
            y = np.nan_to_num((y - y.mean(axis=0)) / y.std(axis=0), posinf=0.0, neginf=0.0)
        standard.append(y.T @ y / max(1, len(y)))
    apart = np.triu(np.abs(standard[0] - standard[1]), 1)
    ranked = np.argsort(-apart, axis=None, kind="stable")[: min(most, width * (width - 1) // 2)]
    return [(int(place // width), int(place % width)) for place in ranked]


def _sample(outputs: Outputs, width: int) -> FloatArray:
    few = outputs.rows(0, _RANKED).widened(width).numbers[:, :width]
    return np.clip(np.nan_to_num(few), -1e150, 1e150)


def _itself(y: FloatArray) -> FloatArray:
    return y


def _parity(y: FloatArray) -> FloatArray:
    return np.floor(y) % 2


def _by_row(name: str, rows: Callable[[Outputs], NDArray[Any]], sample: Outputs) -> Feature:
    """Keys of whole rows; in words, the row that has the key, as found in a sample."""

    def words(key: int) -> str:
        found = rows(sample)
        place = np.flatnonzero(row_keys(found) == key)
        return "one not met before" if not place.size else _row_words(found[place[0]])

    return Feature(name, lambda o: row_keys(rows(o)), words)


def _row_words(row: NDArray[Any]) -> str:
    shown = ", ".join(f"{value:.6g}" for value in row[:12].astype(float))
    return f"({shown}{', ...' if len(row) > 12 else ''})"


def _forms(reader: Reader, sides: tuple[Outputs, Outputs], both: Outputs) -> Iterator[Feature]:
    kinds = {error_kind(reader, form) for form in range(len(reader.known))}
    if kinds != {None}:
        yield Feature("error", lambda o: errors(reader, o), _error_words(reader))
    yield Feature("kind of output", lambda o: o.forms, reader.words)
    yield Feature("size", lambda o: sizes(reader, o))
    for element in elements(reader, sides):
        yield Feature(f"contains {element}", _contains(reader, element), _yes_or_no)
    if 0 < both.width <= _WHOLE:
        yield _by_row("kind and numbers", lambda o: np.column_stack([o.forms, o.numbers]), both)


def _error_words(reader: Reader) -> Callable[[int], str]:
    return lambda form: "none" if form < 0 else str(error_kind(reader, form))


def _contains(reader: Reader, element: str) -> Callable[[Outputs], Column]:
    return lambda o: contains(reader, element, o)


def _yes_or_no(key: int) -> str:
    return "yes" if key else "no"


def _at(
    i: int, reading: Callable[[FloatArray], Column] | None = None
) -> Callable[[Outputs], Column]:
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
        return telling_residues(a, b, moduli)

    if len(numbers) > _BITS:
        glances = [found(feature, _GLANCED, COARSE) for feature in numbers]
        order = sorted(range(len(numbers)), key=lambda i: -glances[i][0][0] if glances[i] else 0.0)
        numbers = [numbers[i] for i in order[:_BITS]]
    for feature in numbers:
        for _, residue in found(feature, _SCANNED, ALL)[:_RESIDUES]:
            yield Feature(residue.named(feature.name), _residue_of(feature, residue), str)


def _residue_of(feature: Feature, residue: Residue) -> Callable[[Outputs], Column]:
    return lambda outputs: residue(_floats(feature, outputs))


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
        yield Feature(f"y[{i}] − y[{j}]", _combined(i, j, np.subtract))
        yield Feature(f"y[{i}] + y[{j}]", _combined(i, j, np.add))


def _combined(i: int, j: int, combine: np.ufunc) -> Callable[[Outputs], Column]:
    def column(outputs: Outputs) -> Column:
        numbers = outputs.widened(max(i, j) + 1).numbers
        with np.errstate(all="ignore"):
            found: FloatArray = combine(numbers[:, i], numbers[:, j])
        return found

    return column
