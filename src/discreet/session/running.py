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
from discreet.query.aggregates.quantiles import Quantile
from discreet.query.keys import ListedKeys
from discreet.query.measures import Measure, Units
from discreet.query.plan import Plan
from discreet.query.purchase import protects
from discreet.query.request import Exact, Join
from discreet.query.table import joined_in_words
from discreet.release import ColumnInfo, Result
from discreet.release.columns import CLAMPED
from discreet.session import recording

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
    return recording.released("salt", int(entropy().words(1)[0]))


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
    source, keys = plan.query.table.source, plan.query.keys
    if plan.finder is not None:
        keys = _discovered(plan, source.measure(plan.request(salt())))
        # From here on the keys are public, and what is kept of people is decided among them.
    listed = keys if isinstance(keys, ListedKeys) else None
    if listed is not None and not len(listed):
        columns: Any = {measure: _nothing(measure) for measure in plan.measures}
    else:
        columns = source.measure(plan.request(salt(), listed)).columns
    table = None if listed is None else listed.table
    frame = {} if table is None else {name: table[name] for name in table.column_names}
    return frame, plan.outputs(recording.drawn(plan, columns))


def _discovered(plan: Plan, exact: Exact) -> ListedKeys:
    """The keys that enough people hold, in order: that of the data would tell."""
    assert plan.finder is not None and exact.keys is not None
    recording.found(plan.finder, exact)
    kept = np.flatnonzero(plan.finder.mechanism.release(exact.columns[Units()]))
    keys = exact.keys.take(kept)
    keys = keys.sort_by([(name, "ascending") for name in keys.column_names])
    return ListedKeys(recording.released(plan.finder.part.words, keys))


def _nothing(measure: Measure) -> Any:
    size = getattr(measure, "size", None)
    return np.zeros(0 if size is None else (0, size), np.int64)


def _table(frame: dict[str, Any], outputs: list[Output]) -> Any:
    import pyarrow as pa

    columns = dict(frame)
    for output in outputs:
        columns[output.name] = _array(output)
        columns[output.error_name] = pa.array(np.asarray(output.error, np.float64))
    return pa.table(columns).combine_chunks()  # how it is cut could depend on data


def _array(output: Output) -> Any:
    """Of a type that the plan decides, whatever the values are."""
    import pyarrow as pa

    if output.listed is not None:
        return output.listed.take(pa.array(output.values))
    if not output.integer:
        return pa.array(np.asarray(output.values, np.float64))
    return pa.array(np.asarray(output.values, np.int64))


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
    quantiles = [one for _, one in plan.query.aggregates if isinstance(one, Quantile)]
    limit, unit = plan.query.table.limit, plan.query.table.unit.column
    if limit is not None and limit.max_rows is not None:
        yield f"± is about noise: rows beyond {limit.max_rows:,} of one {unit} are left out"
    elif limit is not None:
        groups = (
            f"{limit.max_groups:,} group{'s' * (limit.max_groups > 1)} and "
            if limit.max_groups and plan.query.group
            else ""
        )
        yield (
            f"± is about noise: rows beyond {groups}{limit.max_rows_per_group:,} a group of one "
            f"{unit} are left out"
        )
    for step in plan.query.table.steps:
        if isinstance(step, Join):
            yield f"{joined_in_words(step)}; that table is public, and not protected"
    if any(one.unknown_ranks(plan.bought) for one in quantiles):
        yield "how far the ranks of three and more quantiles are off is known only beside a count"
    if any(hasattr(one, "bounds") for _, one in plan.query.aggregates):
        yield CLAMPED


def _suppressed(plan: Plan) -> str | None:
    if plan.finder is None:
        return None
    least = plan.finder.mechanism.error()
    return (
        "keys held by few people are left out; one held by "
        f"{least:,} is shown with a probability of 95 %"
    )
