"""What a release tells the auditor when it is replayed: the exact values that meet each mechanism.

Outside of a replay nothing is recorded, and everything here returns what it was given. In one,
exact values go to the recorder, in memory, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.auditor.recorder import Declared, current
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantiles import Quantiles
from discreet.mechanisms.top_k import TopK
from discreet.query.aggregates.aggregate import Noisy
from discreet.query.document import query_document
from discreet.query.measures import Measure, Units
from discreet.query.plan import Plan
from discreet.query.purchase import AddedNoise, Chooser, Finder

if TYPE_CHECKING:
    from discreet.query.request import Exact

T = TypeVar("T")

_SALT = "salt"  # decides whose rows are kept, and is drawn without a look at them


def released(name: str, output: T) -> T:
    """What was released or drawn: in the second run of a replay, what the first one had."""
    recorder = current()
    return output if recorder is None else recorder.released(name, output, drawn=name == _SALT)


def drawn(plan: Plan, columns: Mapping[Measure, Any]) -> Noisy:
    """Noise for every part of a plan."""
    recorder = current()
    if recorder is None:
        return plan.draw(columns)
    question = query_document(plan.query)  # a filter by a value of the data looks like any other
    for part, one in plan.bought.items():
        if isinstance(one, Finder):
            continue  # noted when keys were found
        exact = (
            one.part.exact(columns)
            if isinstance(one, AddedNoise)
            else columns[one.part.measures[0]]
        )
        recorder.reached(
            part.words,
            exact,
            sensitivity=declared(one),
            noise=one.mechanism,
            question=question,
        )
    noisy = plan.draw(columns)
    values = {part: recorder.released(part.words, value) for part, value in noisy.values.items()}
    return Noisy(noisy.bought, values)


def found(finder: Finder, exact: Exact) -> None:
    """People by key, before those that enough of them hold are kept."""
    recorder = current()
    if recorder is None or exact.keys is None:
        return
    keys = zip(*(column.to_pylist() for column in exact.keys.columns), strict=True)
    units = np.asarray(exact.columns[Units()]).tolist()
    recorder.reached(
        finder.part.words,
        dict(zip(keys, units, strict=True)),  # a key that nobody has is not in the table
        sensitivity=declared(finder),
        noise=finder.mechanism,
        absent=0,
    )


def chosen(name: str, counts: Any, mechanism: Quantiles) -> None:
    """People by their groups or rows, before a bound is chosen."""
    recorder = current()
    if recorder is not None:
        recorder.reached(name, counts, sensitivity={"l1": mechanism.rows}, noise=mechanism)


def declared(one: AddedNoise | Chooser | Finder) -> Declared:
    """How far one person may move what reaches a mechanism, as the mechanism was told."""
    match one:
        case AddedNoise(mechanism=Laplace(sensitivity=told, largest=largest), sensitivity=moved):
            linf, l1 = min(moved.linf, largest), min(moved.l1, told)
            return {"l0": moved.l0, "linf": linf, "l1": l1, "l2": moved.l2}
        case AddedNoise(mechanism=Gaussian(sensitivity=told), sensitivity=moved):
            l2 = min(moved.l2, told)
            return {"l0": moved.l0, "linf": moved.linf, "l1": moved.l1, "l2": l2}
        case Chooser(mechanism=Quantiles(rows=rows), times=times):
            # Someone with fewer rows in a group bears less on it, in proportion.
            return {"l1": rows * times}
        case Chooser(mechanism=TopK(rows=rows, monotone=monotone), times=times):
            # Only by how much counts move apart matters to a choice between them.
            return {"linf": rows, "range": rows * times * (1 if monotone else 2)}
        case Finder(mechanism=mechanism):
            return {"linf": Fraction(1), "l0": mechanism.max_groups}
    raise AssertionError  # pragma: no cover
