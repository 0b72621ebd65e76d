"""Do the mechanisms answer the query, with noise for as much as one person can move it?

Returned are sentences about what does not fit: none means that every aggregate has the parts it
needs, and that each sensitivity is at least what follows from bounds, keys and relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

from discreet.certificate.independent.contributions import Moved, Presence, presence
from discreet.certificate.independent.reals import read

Document = Mapping[str, Any]
_COUNTS = ("rows", "rows with and without a value")


def faults(tree: Document, mechanisms: Sequence[Document]) -> list[str]:
    """What does not fit, in sentences."""
    if tree.get("kind") != "query":
        return list(_bought_bound(tree, mechanisms))
    who = presence(tree)
    told = tree.get("contribution")
    found = []
    if told != {"groups": who.groups, "rows": who.rows, "total": who.total}:
        found.append("what one person adds does not follow from the query's bounds and keys")
    keys = tree.get("keys")
    if keys and keys.get("values") is not None and len(keys["values"]) != keys["count"]:
        found.append("the keys are not as many as the query says")
    found += [
        f"the noise for {one.get('for')} hides less than one person can move"
        for one in mechanisms
        if not _hides(one, who, tree)
    ]
    if keys and keys.get("discovered") and not _any(mechanisms, lambda one: _is(one, "keys")):
        found.append("keys are discovered, and no mechanism discovers them")
    found += [
        f"no mechanism answers all of {aggregate.get('name')}"
        for aggregate in tree["aggregates"]
        if not _answered(aggregate, mechanisms)
    ]
    return found


# -- sensitivities ---------------------------------------------------------------------------------


def _hides(one: Document, who: Presence, tree: Document) -> bool:
    """Whether a mechanism allows for as much as one person can do."""
    match one.get("mechanism"):
        case "laplace" | "gaussian":
            return _at_least(one["sensitivity"], _moved(one, who, tree))
        case "quantiles":
            return _rows(one) >= who.rows * who.steps and one["times"] >= who.choices
        case "top k":
            fits = one["monotone"] is False or not who.replaced
            return fits and _rows(one) >= who.rows and one["times"] >= who.choices
        case "keys":
            return read(one["sensitivity"]["groups"], "groups") >= who.groups * who.steps
    return False


def _moved(one: Document, who: Presence, tree: Document) -> Moved | None:
    part = one["part"]
    match part["kind"]:
        case "rows" | "rows with a value":
            return who.moves(0, 1)
        case "rows with and without a value" | "bins":
            return who.in_cells().moves(0, 1)
        case "people":
            return who.once().moves(0, 1)
        case "sum" | "sum of squares":
            asked = [a for a in tree["aggregates"] if a.get("column") == part["column"]]
            if any(_is_grid_of(one, a["bounds"]) for a in asked if "bounds" in a):
                return who.moves(*_extent(part))
    return None


def _at_least(claimed: Document, moved: Moved | None) -> bool:
    return (
        moved is not None
        and read(claimed["l0"], "l0") >= moved.l0
        and read(claimed["linf"], "linf") >= moved.linf
        and read(claimed["l1"], "l1") >= moved.l1
        and read(claimed["l2"], "l2") ** 2 >= moved.square
    )


def _extent(part: Document) -> tuple[int, int]:
    """The least and the most that a row adds, in steps."""
    grid = part["grid"]
    low, high = grid["lower"] - grid["centre"], grid["upper"] - grid["centre"]
    if part["kind"] == "sum":
        return low, high
    square = (max(abs(low), abs(high)) ** 2 + (1 << grid["shift"] >> 1)) >> grid["shift"]
    return -grid["offset"], square - grid["offset"]


def _is_grid_of(one: Document, bounds: Sequence[str]) -> bool:
    """Whether values between these bounds lie on this grid, and a step is worth what it says."""
    grid, squared = one["part"]["grid"], one["part"]["kind"] == "sum of squares"
    lower, upper = (Fraction(end) for end in bounds)
    fine = Fraction(2) ** grid["exponent"]
    step = 2 ** grid["shift"] / fine**2 if squared else 1 / fine
    ends = (ceil(lower * fine), floor(upper * fine))
    return (grid["lower"], grid["upper"]) == ends and read(one["step"], "step") == step


def _rows(one: Document) -> Fraction:
    return read(one["sensitivity"]["rows"], "rows")


# -- what is needed --------------------------------------------------------------------------------


def _answered(aggregate: Document, mechanisms: Sequence[Document]) -> bool:
    column, kind = aggregate.get("column"), aggregate["kind"]
    match kind:
        case "count":
            return _counted(column, mechanisms)
        case "count units":
            return _any(mechanisms, lambda one: _counts(one, "people", None))
        case "sum" | "mean" | "variance" | "std":
            sums = _any(mechanisms, lambda one: _adds(one, aggregate, "sum"))
            squares = _any(mechanisms, lambda one: _adds(one, aggregate, "sum of squares"))
            return (
                sums
                and (kind == "sum" or _counted(column, mechanisms))
                and (kind in ("sum", "mean") or squares)
            )
        case "histogram" | "range":
            bins = len(aggregate.get("edges", [])) - 1 if aggregate.get("edges") else None
            bins = bins or len(aggregate.get("categories", [])) or None
            return _any(
                mechanisms,
                lambda one: _counts(one, "bins", column) and bins in (None, one["part"]["bins"]),
            )
        case "quantile":
            return _any(
                mechanisms,
                lambda one: (
                    _chooses(one, "quantiles", column)
                    and set(aggregate["probabilities"]) <= set(one["probabilities"])
                ),
            )
        case "top k":
            size = len(aggregate["candidates"])
            return _any(
                mechanisms,
                lambda one: (
                    _chooses(one, "top k", column)
                    and (one["k"], one["candidates"]) == (aggregate["k"], size)
                ),
            )
    return False


def _counted(column: Any, mechanisms: Sequence[Document]) -> bool:
    """Rows, or rows in which a column is there: all of them, where it is never missing."""
    if column is None or not column["nullable"]:
        return _any(mechanisms, lambda one: one.get("part", {}).get("kind") in _COUNTS)
    kinds = ("rows with a value", "rows with and without a value")
    return _any(mechanisms, lambda one: any(_counts(one, kind, column) for kind in kinds))


def _counts(one: Document, kind: str, column: Any) -> bool:
    return _is(one, "laplace", "gaussian") and _part(one, kind, column)


def _chooses(one: Document, mechanism: str, column: Any) -> bool:
    return _is(one, mechanism) and one["part"]["column"] == column


def _adds(one: Document, aggregate: Document, kind: str) -> bool:
    """Sums as they are from zero, all others from the middle, where half the noise will do."""
    if not (_is(one, "laplace", "gaussian") and _part(one, kind, aggregate["column"])):
        return False
    grid = one["part"]["grid"]
    centre = 0 if aggregate["kind"] == "sum" else (grid["lower"] + grid["upper"]) // 2
    return grid["centre"] == centre and _is_grid_of(one, aggregate["bounds"])


def _part(one: Document, kind: str, column: Any) -> bool:
    return bool(one["part"]["kind"] == kind and one["part"].get("column") == column)


def _is(one: Document, *names: str) -> bool:
    return one.get("mechanism") in names


def _any(mechanisms: Sequence[Document], test: Any) -> bool:
    return any(test(one) for one in mechanisms)


# -- bounds on contributions that are bought -------------------------------------------------------


def _bought_bound(tree: Document, mechanisms: Sequence[Document]) -> Iterator[str]:
    """Each person is one value among 1, 2, ... `most`; to be replaced is to leave and to come."""
    steps = {"add-remove": 1, "replace": 2}.get(str(tree.get("relation")))
    kinds = {"groups a person": "people by their groups"}
    kinds["rows in a group"] = "people by their rows in a group"
    fits = (
        tree.get("kind") in kinds
        and steps is not None
        and len(mechanisms) == 1
        and _is(mechanisms[0], "quantiles")
        and mechanisms[0]["part"]["kind"] == kinds[tree["kind"]]
        and _rows(mechanisms[0]) >= steps
        and mechanisms[0]["probabilities"] == [tree.get("coverage")]
        and mechanisms[0]["candidates"] == tree.get("most")
    )
    if not fits:
        yield "the mechanism is not that of a bound on what one person adds"
