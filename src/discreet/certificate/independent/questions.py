"""Do the mechanisms answer the query, with noise for as much as one person can move it?

Returned are sentences about what does not fit: none means that every aggregate has the parts it
needs, and that each sensitivity is what follows from bounds, keys and relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from discreet.auditor.contributions import Moved
from discreet.certificate.independent.contributions import Presence, presence
from discreet.certificate.independent.grids import extent, is_grid_of
from discreet.certificate.independent.needs import FIELDS, shared, unanswered
from discreet.certificate.independent.reals import read

Document = Mapping[str, Any]

_TIGHT: Final = Fraction(1, 2**60)  # how far a root may be rounded up
_KIND, _COLUMN = frozenset({"kind"}), frozenset({"kind", "column"})
_CELLS: Final = ("rows with and without a value", "bins")  # parts with several numbers a group
#: What is told of each part, and nothing else.
_PARTS: Final = {
    "rows": _KIND,
    "people": _KIND,
    "people by their groups": _KIND,
    "people by their rows in a group": _KIND,
    "rows with a value": _COLUMN,
    "rows with and without a value": _COLUMN,
    "quantiles": _COLUMN,
    "commonest": _COLUMN,
    "sum": _COLUMN | {"grid"},
    "sum of squares": _COLUMN | {"grid"},
    "bins": _COLUMN | {"bins"},
}


def faults(tree: Document, mechanisms: Sequence[Document]) -> list[str]:
    """What does not fit, in sentences."""
    found = [
        f"the noise for {one['for']} is for something else than it says"
        for one in mechanisms
        if "part" in one and frozenset(one["part"]) != _PARTS.get(one["part"]["kind"])
    ]
    if tree["kind"] != "query":
        return found + list(_bought_bound(tree, mechanisms))
    tree, mechanisms = shared(tree, mechanisms)
    who = presence(tree)
    if tree["contribution"] != {"groups": who.groups, "rows": who.rows, "total": who.total}:
        found.append("what one person adds does not follow from the query's bounds and keys")
    found += list(_aggregates(tree))
    found += [
        f"the noise for {one['for']} is not for as much as one person can move"
        for one in mechanisms
        if not _hides(one, who, tree)
    ]
    return found + unanswered(tree, mechanisms)[0]


def too_few(tree: Document, mechanisms: Sequence[Document]) -> list[str]:
    """What mechanisms are said to be for whose l0 is less than one person can touch."""
    if tree["kind"] != "query":
        return []
    tree, mechanisms = shared(tree, mechanisms)
    who = presence(tree)
    noisy = [one for one in mechanisms if one["mechanism"] in ("laplace", "gaussian")]
    moved = [(one, _moved(one, who, tree)) for one in noisy]
    return [
        str(one["for"])
        for one, most in moved
        if most is not None and read(one["sensitivity"]["l0"], "l0") < most.l0
    ]


def unneeded(tree: Document, mechanisms: Sequence[Document]) -> list[str]:
    """What mechanisms are said to be for that no aggregate needs."""
    if tree["kind"] != "query":
        return []
    places = unanswered(*shared(tree, mechanisms))[1]
    return [str(mechanisms[place]["for"]) for place in places]


def _aggregates(tree: Document) -> Iterator[str]:
    for one in tree["aggregates"]:
        if set(one) != FIELDS[one["kind"]]:
            yield f"{one['name']} is told with more or less than such an aggregate has"
            continue
        if one["kind"] == "histogram" and bool(one["edges"]) == bool(one["categories"]):
            yield f"{one['name']} has edges and categories, or neither"
        for name in ("categories", "candidates"):
            listed = [(type(value), value) for value in one.get(name, ())]
            if len(set(listed)) != len(listed):
                yield f"{one['name']} lists a value twice, and counts it twice"


# -- sensitivities ---------------------------------------------------------------------------------


def _hides(one: Document, who: Presence, tree: Document) -> bool:
    """Whether a mechanism allows for as much as one person can do."""
    match one["mechanism"]:
        case "laplace" | "gaussian":
            moved = _moved(one, who, tree)
            return one["times"] == 1 and moved is not None and _is(one, moved, who)
        case "quantiles":
            return _rows(one) == who.rows * who.steps and one["times"] == who.choices
        case "top k":
            fits = one["monotone"] is not who.replaced
            return fits and _rows(one) == who.rows and one["times"] == who.choices
        case "keys":
            groups = read(one["sensitivity"]["groups"], "groups")
            return one["times"] == 1 and groups == who.groups * who.steps
    return False


def _moved(one: Document, who: Presence, tree: Document) -> Moved | None:
    part = one["part"]
    if part["kind"] in ("sum", "sum of squares"):
        asked = [a for a in tree["aggregates"] if a.get("column") is part["column"]]
        fits = any(is_grid_of(one, a["bounds"]) for a in asked if "bounds" in a)
        return who.moves(*extent(part)) if fits else None
    if read(one["step"], "step") != 1:  # people and rows are whole
        return None
    match part["kind"]:
        case "rows" | "rows with a value":
            return who.moves(0, 1)
        case "rows with and without a value":
            return who.moves(0, 1, cells=2)
        case "bins":
            return who.moves(0, 1, cells=part["bins"])
        case "people":
            return who.counts_once()
    return None


def _is(one: Document, moved: Moved, who: Presence) -> bool:
    told = {norm: read(one["sensitivity"][norm], norm) for norm in ("l0", "linf", "l1", "l2")}
    # Version 0.1.0 took all cells of a group for one. No noise ever rested on it.
    before = who.groups * who.steps if one["part"]["kind"] in _CELLS else moved.l0
    return (
        told["l0"] in (moved.l0, before)
        and (told["linf"], told["l1"]) == (moved.linf, moved.l1)
        and moved.square <= told["l2"] ** 2 <= moved.square * (1 + _TIGHT)
    )


def _rows(one: Document) -> Fraction:
    return read(one["sensitivity"]["rows"], "rows")


# -- bounds on contributions that are bought -------------------------------------------------------


def _bought_bound(tree: Document, mechanisms: Sequence[Document]) -> Iterator[str]:
    """Each person is one value among 1, 2, ... `most`; to be replaced is to leave and to come."""
    steps = {"add-remove": 1, "replace": 2}[tree["relation"]]
    kinds = {"groups a person": "people by their groups"}
    kinds["rows in a group"] = "people by their rows in a group"
    fits = (
        len(mechanisms) == 1
        and mechanisms[0]["mechanism"] == "quantiles"
        and mechanisms[0]["part"]["kind"] == kinds[tree["kind"]]
        and _rows(mechanisms[0]) == steps
        and mechanisms[0]["times"] == 1
        and mechanisms[0]["probabilities"] == [tree["coverage"]]
        and mechanisms[0]["candidates"] == tree["most"]
    )
    if not fits:
        yield "the mechanism is not that of a bound on what one person adds"
