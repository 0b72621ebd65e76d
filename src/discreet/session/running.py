"""From a charged plan to a released table: the only place that touches data.

Whatever goes wrong in here may depend on the data, so it ends in one constant sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from discreet.errors import EngineError
from discreet.noise.entropy import source as entropy
from discreet.query.aggregates.aggregate import Output
from discreet.query.bought import protects
from discreet.query.keys import ListedKeys
from discreet.query.measures import Units
from discreet.query.plan import Plan
from discreet.query.request import Exact
from discreet.release import ColumnInfo, Result

T = TypeVar("T")

_FAILED = (
    "the query could not be answered after it was charged; what went wrong may depend on the "
    "data, so no more is said"
)


def guarded(work: Callable[[], T]) -> T:
    """What `work` returns; whatever it raises becomes one constant sentence."""
    outcome: list[T] = []
    try:
        outcome.append(work())
    except EngineError:
        raise
    except Exception:
        pass  # its message may quote data
    if not outcome:  # outside the except block: no context may remain
        raise EngineError(_FAILED)
    return outcome[0]


def salt() -> int:
    """64 random bits, which decide whose rows are kept, and only that."""
    return int(entropy().words(1)[0])


def run(plan: Plan, *, cost: str) -> Result:
    """Measure, add noise, and put the answer together."""
    frame, outputs = guarded(lambda: _drawn(plan))
    return Result(
        _table(frame, outputs),
        tuple(_infos(plan, outputs)),
        guarantee=plan.guarantee,
        cost=cost,
        protects=protects(plan.query.table.relation, plan.query.table.unit.column),
        notes=tuple(_notes(plan)),
        suppressed=_suppressed(plan),
    )


def _drawn(plan: Plan) -> tuple[dict[str, Any], list[Output]]:
    exact = plan.query.table.source.measure(plan.request(salt()))
    if plan.finder is not None:
        exact = _discovered(plan, exact)
    keys: Any = exact.keys
    if isinstance(plan.query.keys, ListedKeys):
        keys = plan.query.keys.table
    frame = {} if keys is None else {name: keys[name] for name in keys.column_names}
    return frame, plan.outputs(plan.draw(exact.columns))


def _discovered(plan: Plan, exact: Exact) -> Exact:
    """The groups that enough people are in, in the order of their keys: that of the data tells."""
    import pyarrow.compute as pc

    assert plan.finder is not None and exact.keys is not None
    kept = np.flatnonzero(plan.finder.mechanism.release(exact.columns[Units()]))
    keys = exact.keys.take(kept)
    order = pc.sort_indices(keys, [(name, "ascending") for name in keys.column_names]).to_numpy()
    columns = {measure: values[kept][order] for measure, values in exact.columns.items()}
    return Exact(keys.take(order), columns)


def _table(frame: dict[str, Any], outputs: list[Output]) -> Any:
    import pyarrow as pa

    columns = dict(frame)
    for output in outputs:
        columns[output.name] = _array(output)
        columns[output.error_name] = pa.array(np.asarray(output.error, np.float64))
    return pa.table(columns)


def _array(output: Output) -> Any:
    import pyarrow as pa

    if output.kind == "choice":
        return pa.array(list(output.values))
    if not output.integer:
        return pa.array(np.asarray(output.values, np.float64))
    if output.values.dtype != object:
        return pa.array(output.values)
    # Beyond 64 bits: as decimals of 38 digits, which hold sums of any table there is.
    return pa.array([int(value) for value in output.values], pa.decimal128(38, 0))


def _infos(plan: Plan, outputs: list[Output]) -> list[ColumnInfo]:
    infos = [ColumnInfo(name, "key") for name, _ in plan.query.group]
    for output in outputs:
        infos.append(
            ColumnInfo(
                output.name,
                "value",
                of=output.of,
                kind=output.kind,
                bounds=output.bounds,
                sources=output.sources,
                integer=output.integer,
            )
        )
        infos.append(ColumnInfo(output.error_name, "error", of=output.name))
    return infos


def _notes(plan: Plan) -> Iterator[str]:
    """What ± does not cover: it is about noise."""
    limit, unit = plan.query.table.limit, plan.query.table.unit.column
    if limit is not None and limit.max_rows is not None:
        yield f"± is about noise: rows beyond {limit.max_rows:,} of one {unit} are left out"
    elif limit is not None:
        groups = (
            f"{limit.max_groups:,} groups and " if limit.max_groups and plan.query.group else ""
        )
        yield (
            f"± is about noise: rows beyond {groups}{limit.max_rows_per_group:,} a group of one "
            f"{unit} are left out"
        )
    if any(hasattr(one, "bounds") for _, one in plan.query.aggregates):
        yield "values beyond their bounds count as the nearer bound"


def _suppressed(plan: Plan) -> str | None:
    if plan.finder is None:
        return None
    least = plan.finder.mechanism.error()
    return (
        "keys held by few people are left out; one held by "
        f"{least:,} is shown with a probability of 95 %"
    )
