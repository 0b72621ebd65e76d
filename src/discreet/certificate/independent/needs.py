"""Which mechanisms an aggregate needs, and which of those that were bought they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from discreet import canonical
from discreet.certificate.independent.grids import is_grid_of, points, rungs

Document = Mapping[str, Any]
Test = Callable[[Document], bool]

_VALUE = frozenset({"kind", "name", "column", "weight"})
#: What is told of each kind of aggregate, and nothing else.
FIELDS: Final = {
    "count": _VALUE,
    "count units": {"kind", "name", "weight"},
    "sum": _VALUE | {"bounds"},
    "mean": _VALUE | {"bounds"},
    "variance": _VALUE | {"bounds"},
    "std": _VALUE | {"bounds"},
    "quantile": _VALUE | {"bounds", "probabilities", "step", "several"},
    "histogram": _VALUE | {"edges", "categories"},
    "top k": _VALUE | {"k", "candidates"},
    "range": {"kind", "name", "column"},
}


class Need(NamedTuple):
    """A mechanism that must be there. Where its document does not say all that it is bought for,
    `own` does: needs that differ in it take a mechanism each."""

    fits: Test
    own: str | None = None


def shared(tree: Document, mechanisms: Sequence[Document]) -> tuple[Document, list[Document]]:
    """The same documents, with equal columns as one object: `is` compares them at no cost."""
    known: dict[str, Any] = {}

    def one_of(document: Any) -> Any:
        if document.get("column") is None:
            return document
        column = known.setdefault(canonical.text(document["column"]), document["column"])
        return {**document, "column": column}

    asked = [one_of(aggregate) for aggregate in tree.get("aggregates", ())]
    bought = [{**one, "part": one_of(one["part"])} if "part" in one else one for one in mechanisms]
    return ({**tree, "aggregates": asked} if asked else tree), bought


def unanswered(tree: Document, mechanisms: Sequence[Document]) -> tuple[list[str], list[int]]:
    """Sentences about what is missing, and the places of mechanisms that nothing needs."""
    found: list[str] = []
    used: set[int] = set()
    taken: dict[str, int] = {}
    for aggregate in tree["aggregates"]:
        for need in _needs(aggregate, tree):
            places = (i for i, one in enumerate(mechanisms) if need.fits(one))
            if need.own is None:
                place = next(places, None)
            elif need.own in taken:
                place = taken[need.own]
            else:
                place = next((i for i in places if i not in taken.values()), None)
                taken |= {} if place is None else {need.own: place}
            if place is None:
                found.append(f"no mechanism answers all of {aggregate['name']}")
                break
            used.add(place)
    if tree["keys"] is not None and tree["keys"]["discovered"]:
        place = next((i for i, one in enumerate(mechanisms) if _is(one, "keys")), None)
        if place is None:
            found.append("keys are discovered, and no mechanism discovers them")
        used |= set() if place is None else {place}
    return found, [i for i in range(len(mechanisms)) if i not in used]


def _needs(aggregate: Document, tree: Document) -> Iterator[Need]:
    kind, column = aggregate["kind"], aggregate.get("column")
    match kind:
        case "count":
            yield Need(_counted(column))
        case "count units":
            yield Need(lambda one: _counts(one, "people", None))
        case "sum" | "mean" | "variance" | "std":
            yield Need(lambda one: adds(one, aggregate, "sum"))
            if kind != "sum":
                yield Need(_counted(column))
            if kind not in ("sum", "mean"):
                yield Need(lambda one: adds(one, aggregate, "sum of squares"))
        case "histogram" | "range":
            yield _bins(aggregate)
        case "quantile":
            yield _ranks(aggregate, tree)
        case "top k":
            size, own = len(aggregate["candidates"]), [column, aggregate["candidates"]]
            yield Need(
                lambda one: (
                    _chooses(one, "top k", "commonest", column)
                    and (one["k"], one["candidates"]) == (aggregate["k"], size)
                ),
                canonical.text(["top k", aggregate["k"], *own]),
            )


def _bins(aggregate: Document) -> Need:
    column = aggregate["column"]
    if aggregate["kind"] == "range":
        bins, listed = rungs(column), []
    else:
        edges = [float(Fraction(edge)).hex() for edge in aggregate["edges"]]
        listed = [edges, aggregate["categories"]]
        bins = len(edges) - 1 if edges else len(aggregate["categories"])
    return Need(
        lambda one: _counts(one, "bins", column) and one["part"]["bins"] == bins,
        canonical.text([aggregate["kind"], column, *listed]),
    )


def _ranks(aggregate: Document, tree: Document) -> Need:
    """All quantiles of a column that are asked on the same points are chosen together."""
    column, grid = aggregate["column"], points(aggregate)
    alike = [
        one
        for one in tree["aggregates"]
        if one["kind"] == "quantile"
        and one["column"] is column
        and all(one[name] == aggregate[name] for name in ("bounds", "step"))
    ]
    asked = sorted({Fraction(p) for one in alike for p in one["probabilities"]})
    together = [str(p) for p in asked]
    return Need(
        lambda one: (
            _chooses(one, "quantiles", "quantiles", column)
            and (one["probabilities"], one["candidates"]) == (together, grid.size)
        ),
        canonical.text(["quantile", column, list(grid), together]),
    )


def adds(one: Document, aggregate: Document, kind: str) -> bool:
    """Sums as they are from zero, all others from the middle, where half the noise will do."""
    if not _counts(one, kind, aggregate["column"]):
        return False
    grid = one["part"]["grid"]
    centre = 0 if aggregate["kind"] == "sum" else (grid["lower"] + grid["upper"]) // 2
    return bool(grid["centre"] == centre) and is_grid_of(one, aggregate["bounds"])


def _counted(column: Any) -> Test:
    """Rows, or rows in which a column is there: all of them, where it is never missing."""
    both = "rows with and without a value"
    if column is None or not column["nullable"]:
        return lambda one: _is(one, "laplace", "gaussian") and one["part"]["kind"] in ("rows", both)
    return lambda one: any(_counts(one, kind, column) for kind in ("rows with a value", both))


def _counts(one: Document, kind: str, column: Any) -> bool:
    return _is(one, "laplace", "gaussian") and _part(one, kind, column)


def _chooses(one: Document, mechanism: str, kind: str, column: Any) -> bool:
    return _is(one, mechanism) and _part(one, kind, column)


def _part(one: Document, kind: str, column: Any) -> bool:
    return bool(one["part"]["kind"] == kind and one["part"].get("column") is column)


def _is(one: Document, *names: str) -> bool:
    return one["mechanism"] in names
