"""What a case should measure, in plain Python: the reference of the engines on its rows."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from discreet.query.expressions import Typed, as_type
from discreet.query.keys import ListedKeys
from discreet.query.measures import AllRows, Measure
from discreet.query.request import Exact, Request
from discreet.query.schema import Type
from tests.engines import reference
from tests.engines.evaluate import evaluate
from tests.fuzz.case import Case, Row
from tests.fuzz.script import declared
from tests.fuzz.values import arrow_type, as_cell, as_read

TYPES = {"boolean": Type.BOOLEAN, "integer": Type.INTEGER, "real": Type.REAL}
TYPES |= {"text": Type.TEXT, "date": Type.DATE}


class Bites(Exception):
    """Rows are left out, and which ones is for the engine to choose."""


def rows_as_read(case: Case, rows: list[Row]) -> list[dict[str, Any]]:
    """The rows as a query sees them."""
    text = case.source.form in ("csv", "records")
    types = declared(case) if case.source.declared or case.source.form == "records" else {}
    made = []
    for row in rows:
        cells: dict[str, Any] = {}
        for column, cell in zip(case.columns, row, strict=False):
            if not text:
                cells[column.name] = as_read(cell, kind_of(column.kind), column.kind)
                continue
            raw = Typed("column", (), column.name, Type.RAW, True)
            there = {column.name: as_cell(cell, case.source.form)}
            wanted = TYPES.get(types.get(column.name, ""))
            cells[column.name] = (
                there[column.name] if wanted is None else evaluate(as_type(raw, wanted), there)
            )
        made.append(cells)
    return made


def ids(case: Case, rows: list[Row]) -> list[Any] | None:
    """Who each row is of, where what is read of an id holds less than it."""
    places = [i for i, column in enumerate(case.columns) if column.name == case.unit]
    wide = [i for i in places if case.columns[i].kind in ("pa.uint64()", "pa.timestamp('ns')")]
    return [row[wide[0]] for row in rows] if wide else None


def kind_of(stored: str) -> Type:
    """The type of an Arrow column, by its name."""
    name = str(arrow_type(stored))
    starts = {"bool": Type.BOOLEAN, "int": Type.INTEGER, "uint": Type.INTEGER}
    starts |= {"float": Type.REAL, "double": Type.REAL, "date": Type.DATE}
    starts |= {"timestamp": Type.TIMESTAMP}
    return next((kind for start, kind in starts.items() if name.startswith(start)), Type.TEXT)


def disagreement(case: Case, rows: list[Row], request: Request, answer: Exact) -> Iterator[str]:
    """Where the engine and the reference differ."""
    bound = dict(case.bound)
    totals: list[int] = []

    def kept(items: list[tuple[Any, Any, Any]]) -> list[tuple[Any, Any, Any]]:
        if request.unit is None:
            return items
        by_person = Counter(unit for _, unit, _ in items)
        by_group = Counter((unit, key) for key, unit, _ in items)
        groups = Counter(unit for unit, _ in by_group)
        most = bound.get("max_rows")
        if most is not None:
            totals.append(sum(min(most, n) for n in by_person.values()))
            bites = any(n > most for n in by_person.values())
        else:
            rows, wide = bound["max_rows_per_group"], bound.get("max_groups", 1)
            bites = any(n > rows for n in by_group.values())
            bites |= any(n > wide for n in groups.values())
        if bites:
            raise Bites
        return items

    try:
        expected = reference.measure(rows_as_read(case, rows), request, kept, ids(case, rows))
    except Bites:
        counts = answer.columns.get(AllRows())
        if totals and counts is not None and int(counts.sum()) != totals[0]:
            yield f"kept rows: {int(counts.sum())} are kept, of which {totals[0]} should be"
        return
    found = as_dict(request, answer)
    if set(found) != set(expected):
        yield f"keys: {sorted(map(str, {*found} ^ {*expected}))[:3]} are on one side only"
        return
    for key, measures in expected.items():
        for measure, number in measures.items():
            if found[key][measure] != number:
                name = type(measure).__name__
                wrong = found[key][measure]
                yield f"number of {name}: {wrong} at {key!r}, and {number} by the reference"
                return


def as_dict(request: Request, answer: Exact) -> dict[Any, dict[Measure, Any]]:
    """The answer in the form of the reference."""
    table = request.keys.table if isinstance(request.keys, ListedKeys) else answer.keys
    keys: list[Any] = [()]
    if table is not None:
        keys = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    columns = {wanted: answer.columns[wanted].tolist() for wanted in request.measures}
    return {key: {m: column[i] for m, column in columns.items()} for i, key in enumerate(keys)}
