"""Requests for tests: what a plan would ask, in a line."""

from fractions import Fraction
from typing import Any

from discreet.query.contribution import ContributionBound
from discreet.query.expressions import Typed, as_type, column, typed
from discreet.query.keys import read_keys
from discreet.query.measures import (
    AllRows,
    Grid,
    GridBins,
    Measure,
    Present,
    Total,
    Units,
    choose_grid,
)
from discreet.query.request import Request, TableSource
from discreet.query.schema import Type

FINE = choose_grid((Fraction(-8), Fraction(8)), whole=False, centred=False)
COARSE = choose_grid((Fraction(-8), Fraction(8)), whole=False, centred=True)


def cell(source: TableSource, name: str, kind: Type | None = None) -> Typed:
    value = typed(column(name), source.schema)
    return value if kind is None else as_type(value, kind)


def numbers(source: TableSource, name: str = "x") -> tuple[Measure, ...]:
    """One measure of each kind that is a single number, and bins."""
    x = cell(source, name, Type.REAL)
    squares = Total(x, COARSE, squared=True, shift=3, offset=7)
    bins = GridBins(x, Grid(0, -8, 8))
    return (AllRows(), Units(), Present(x), Total(x, FINE), squares, bins)


def ask(
    source: TableSource,
    *measures: Measure,
    keys: Any = None,
    group: tuple[str, ...] = ("ward",),
    steps: tuple[Any, ...] = (),
    unit: str | None = None,
    bound: ContributionBound | None = None,
    salt: int = 0x9E3779B97F4A7C15,
) -> Request:
    values = tuple(cell(source, name) for name in group)
    listed = None
    if group:
        listed = read_keys(group, keys, types=tuple(value.type for value in values))
    named = tuple(
        (name, as_type(value, Type.TEXT) if value.type is Type.RAW else value)
        for name, value in zip(group, values, strict=True)
    )
    return Request(steps, unit, named, listed, bound, measures or (AllRows(),), salt)
