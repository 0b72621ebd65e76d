"""What one run of a pipeline told the recorder, in order."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from discreet.auditor.moving import read_norm
from discreet.auditor.recorder import Declared, Norm
from discreet.errors import InvalidArgument
from discreet.exact import non_negative
from discreet.sensitivity import Sensitivity

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Point:
    """Exact values that were about to get noise."""

    name: str
    values: Any
    declared: Mapping[Norm, Fraction]
    noise: Any
    question: Any
    absent: int | None
    nth: int  # of its name


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Something that came out, as this run had it, whatever it went on with."""

    name: str
    output: Any
    nth: int  # of its name
    spare: bool  # is there no exact value that reached its noise?
    drawn: bool


@dataclass(eq=False, repr=False)
class Notes:
    """A recorder that remembers. ``script`` holds what an earlier run released, to be repeated."""

    script: list[Release] | None = None
    points: list[Point] = field(default_factory=list)
    outputs: list[Release] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)  # "reached" or "released", and what
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    misused: InvalidArgument | None = None  # a mistake of the pipeline's author, not an outcome

    def reached(
        self,
        name: str,
        values: Any,
        *,
        sensitivity: Declared,
        norm: Norm = "l1",
        noise: object = None,
        question: object = None,
        absent: int | None = None,
    ) -> None:
        """Remember the values as they are now."""
        try:
            declared = read_declared(sensitivity, norm)
        except InvalidArgument as mistake:
            self.misused = mistake
            raise
        nth = self._step("reached", name)
        told = copied(noise), copied(question)
        self.points.append(Point(name, kept(values), declared, *told, absent, nth))

    def released(self, name: str, output: T, *, drawn: bool = False) -> T:
        """Remember it; in a later run, go on with what the earlier one released."""
        place = len(self.outputs)
        nth = self._step("released", name)
        spare = drawn or nth >= self._seen["reached", name]
        self.outputs.append(Release(name, copied(output), nth, spare, drawn))
        if self.script is None or place >= len(self.script) or self.script[place].name != name:
            return output
        earlier: T = copied(self.script[place].output)
        return earlier

    def _step(self, what: str, name: str) -> int:
        """How often it was taken before."""
        self.steps.append((what, name))
        self._seen[what, name] += 1
        return self._seen[what, name] - 1


def read_declared(sensitivity: Declared, norm: Norm) -> dict[Norm, Fraction]:
    """What was declared, as a bound for each norm."""
    if isinstance(sensitivity, Sensitivity):
        return {
            "l0": Fraction(sensitivity.l0),
            "linf": sensitivity.linf,
            "l1": sensitivity.l1,
            "l2": sensitivity.l2,
        }
    if isinstance(sensitivity, Mapping):
        if not sensitivity:
            raise InvalidArgument(
                name="sensitivity", expected="given in at least one norm", given="an empty dict"
            )
        return {
            read_norm(each): non_negative(bound, name=f"sensitivity in {each}")
            for each, bound in sensitivity.items()
        }
    return {read_norm(norm): non_negative(sensitivity, name="sensitivity")}


def kept(values: Any) -> Any:
    """A copy that does not change when the pipeline goes on."""
    if isinstance(values, np.ndarray):
        return values.copy()
    if isinstance(values, Mapping):
        return {key: kept(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [kept(value) for value in values]
    if hasattr(values, "__array__") and not np.isscalar(values):  # a column of some data frame
        return np.array(values)
    return values


def copied(value: Any) -> Any:
    """The same value, which does not change when the pipeline goes on."""
    if isinstance(value, np.ndarray | list | tuple | dict | set):
        try:
            return copy.deepcopy(value)
        except Exception:  # it holds something that cannot be copied, a connection say
            return value
    return value
