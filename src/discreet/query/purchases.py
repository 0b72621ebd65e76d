"""What a plan bought, as documents: each mechanism with its sensitivity, noise and promise.

Sensitivity, scale and σ are counted in steps of the grid that a number is released on; ``step`` is
what one of them is worth. From these numbers alone a reader can compute the guarantee again, as
`discreet.certificate` does.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from discreet.guarantees import Guarantee
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantiles import Quantiles, choice_scale
from discreet.mechanisms.top_k import TopK
from discreet.query.bought import Bought, Chooser, Finder, Noise
from discreet.query.parts import (
    Additive,
    BinCounts,
    PresenceCounts,
    PresentCount,
    RowCount,
    UnitCount,
    ValueSum,
)
from discreet.query.plan import Plan
from discreet.query.trees import Tree, tree


def mechanism_documents(plan: Plan) -> list[Tree]:
    """One document for each part that was bought, in the order of the plan."""
    return [{"for": part.words, **_bought(one)} for part, one in plan.bought.items()]


def contribution_mechanism(mechanism: Quantiles, *, rows: bool, most: int) -> Tree:
    """The same for the choice of a bound on contributions, among 1, 2, ... ``most``."""
    words = "a bound on rows in a group" if rows else "a bound on groups"
    part = {"kind": "people by their rows in a group" if rows else "people by their groups"}
    told = _quantiles(mechanism, candidates=most)
    return {"for": words, **told, "part": part, **_promise(mechanism, 1)}


def _bought(one: Bought) -> Tree:
    match one:
        case Noise():
            return {**_noise(one), **_promise(one, 1)}
        case Chooser(mechanism=Quantiles() as chosen):
            told = _quantiles(chosen, candidates=one.part.bins.size)
            return {**told, "part": _chosen("quantiles", one), **_promise(one, one.times)}
        case Chooser(mechanism=TopK() as chosen):
            told = _top_k(chosen, candidates=one.part.bins.size)
            return {**told, "part": _chosen("commonest", one), **_promise(one, one.times)}
        case Finder(mechanism=mechanism):
            return {
                "mechanism": "keys",
                "rule": mechanism.rule,
                "sensitivity": {"groups": str(mechanism.max_groups)},
                "epsilon": str(mechanism.epsilon),
                "delta": str(mechanism.delta),
                **_promise(one, 1),
            }
    raise AssertionError  # pragma: no cover


def _noise(one: Noise) -> Tree:
    moved = one.sensitivity
    law: Tree = (
        {"mechanism": "laplace", "scale": str(one.mechanism.scale)}
        if isinstance(one.mechanism, Laplace)
        else {"mechanism": "gaussian", "sigma": str(one.mechanism.sigma)}
    )
    sizes = {"l0": moved.l0, "linf": moved.linf, "l1": moved.l1, "l2": moved.l2}
    return {
        **law,
        "sensitivity": {norm: str(size) for norm, size in sizes.items()},
        "step": str(one.part.step),
        "part": _part(one.part),
    }


def _quantiles(mechanism: Quantiles, *, candidates: int) -> Tree:
    return {
        "mechanism": "quantiles",
        "sensitivity": {"rows": str(mechanism.rows)},
        "probabilities": [str(p) for p in mechanism.probabilities],
        "candidates": candidates,
        "scales": [str(scale) for scale in _scales(mechanism)],
        "epsilon": str(mechanism.epsilon),  # of all probabilities together, once
    }


def _scales(mechanism: Quantiles) -> list[Fraction]:
    """For each probability, how many rows off a candidate must be to be e times less likely."""
    rows, each = mechanism.rows, mechanism.step
    return [
        choice_scale(p, rows=rows, epsilon=each) / p.denominator for p in mechanism.probabilities
    ]


def _top_k(mechanism: TopK, *, candidates: int) -> Tree:
    return {
        "mechanism": "top k",
        "sensitivity": {"rows": str(mechanism.rows)},
        "k": mechanism.k,
        "monotone": mechanism.monotone,
        "candidates": candidates,
        "scale": str(mechanism.scale),
        "epsilon": str(mechanism.epsilon),  # of all k choices together, once
    }


def _chosen(kind: str, one: Chooser) -> Tree:
    return {"kind": kind, "column": tree(one.part.bins.value)}


def _promise(one: Any, times: int) -> Tree:
    """How often one person bears on it, and what is promised for all of that."""
    guarantee: Guarantee = one.guarantee
    return {"times": times, "guarantee": json.loads(guarantee.to_json())}


def _part(part: Additive) -> Tree:
    """What is counted or added up, and for a sum on which grid."""
    match part:
        case RowCount():
            return {"kind": "rows"}
        case UnitCount():
            return {"kind": "people"}
        case PresentCount(value=value):
            return {"kind": "rows with a value", "column": tree(value)}
        case PresenceCounts(value=value):
            return {"kind": "rows with and without a value", "column": tree(value)}
        case BinCounts(bins=bins):
            return {"kind": "bins", "column": tree(bins.value), "bins": bins.size}
        case ValueSum(total=total):
            grid = total.grid
            return {
                "kind": "sum of squares" if total.squared else "sum",
                "column": tree(total.value),
                "grid": {
                    "exponent": grid.exponent,  # a step of the values is 2^(−exponent)
                    "lower": grid.lower,
                    "upper": grid.upper,
                    "centre": grid.centre,
                    "shift": total.shift,
                    "offset": total.offset,
                },
            }
