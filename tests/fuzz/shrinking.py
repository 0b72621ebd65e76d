"""Making a case smaller as long as it shows the same: greedily, piece by piece."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any

from discreet.query.expressions import Expression, column, columns_of
from tests.fuzz.case import (
    Aggregate,
    Case,
    Column,
    Join,
    Keys,
    Mutate,
    Neighbour,
    Public,
    Select,
    Source,
    Step,
    Where,
)
from tests.fuzz.judging import Finding, judge
from tests.fuzz.script import expression as code
from tests.fuzz.values import PLAIN
from tests.fuzz.world import World

SIMPLE: tuple[Any, ...] = (None, 0, 1, 0.0, 1.0, "", "a", False)


def shrink(finding: Finding, world: World, *, tries: int = 300) -> Finding:
    """The smallest case found that still has a finding of this kind."""
    best, left = finding, tries

    def attempt(case: Case) -> bool:
        """Take the case if it shows the same."""
        nonlocal best, left
        left -= 1
        found = _again(case, best, world)
        best = found or best
        return found is not None

    attempt(replace(finding.case, others=() if finding.other is None else (finding.other,)))
    attempt(_only(best.case, {*best.case.base}.union(*(other.rows for other in best.case.others))))
    better = True
    while better and left > 0:
        better = False
        for propose in PASSES:
            failed: set[str] = set()  # not to be tried again in this pass
            while left > 0:
                for smaller in propose(best.case):
                    if left <= 0 or (name := repr(smaller)) in failed:
                        continue
                    if _is_pair(smaller) and attempt(smaller):
                        better = True
                        break
                    failed.add(name)
                else:
                    break
    return best


def _is_pair(case: Case) -> bool:
    return all(case.is_neighbour(other) for other in case.others)


def _again(case: Case, finding: Finding, world: World) -> Finding | None:
    try:
        found = judge(case, world, demands=finding.demand, thorough=True).findings
    except Exception:  # a case that makes no sense any more
        return None
    same = [one for one in found if one.kind == finding.kind]
    return same[0] if same else None


def candidates(case: Case) -> Iterator[Case]:
    """All proposals for a smaller case."""
    for propose in PASSES:
        yield from propose(case)


def _fewer_parts(case: Case) -> Iterator[Case]:
    if case.steps:
        yield replace(case, steps=())
    for i in range(len(case.steps) if len(case.steps) > 1 else 0):
        yield replace(case, steps=_without(case.steps, i))
    for i in range(len(case.aggregates) if len(case.aggregates) > 1 else 0):
        yield replace(case, aggregates=(case.aggregates[i],))
    for i in range(len(case.aggregates) if len(case.aggregates) > 2 else 0):
        yield replace(case, aggregates=_without(case.aggregates, i))
    if case.keys is not None:
        yield replace(case, keys=None)


def _simpler_terms(case: Case) -> Iterator[Case]:
    """Relation, unit, bound, spend, salt."""
    if case.relation != "add-remove":
        yield replace(case, relation="add-remove")
    if case.unit is not None:
        yield replace(case, unit=None, bound=())
        if case.bound != (("max_rows", 1),):
            yield replace(case, bound=(("max_rows", 1),))
    if case.spend != (("epsilon", 1),):
        yield replace(case, spend=(("epsilon", 1),))
    if case.salt:
        yield replace(case, salt=0)


def _simpler_question(case: Case) -> Iterator[Case]:
    for i, step in enumerate(case.steps):
        for made in _simpler_step(step):
            yield replace(case, steps=_with(case.steps, i, made))
    if case.keys is not None:
        for keys in _simpler_keys(case.keys):
            yield replace(case, keys=keys)
    for i, one in enumerate(case.aggregates):
        for simpler in _simpler_aggregate(one):
            yield replace(case, aggregates=_with(case.aggregates, i, simpler))


def _without(items: tuple[Any, ...], i: int) -> tuple[Any, ...]:
    return (*items[:i], *items[i + 1 :])


def _with(items: tuple[Any, ...], i: int, item: Any) -> tuple[Any, ...]:
    return (*items[:i], item, *items[i + 1 :])


# -- the table -------------------------------------------------------------------------------------


def _fewer_rows(case: Case) -> Iterator[Case]:
    """Without half of the rows that both sides have, or without one row."""
    used = {*case.base}.union(*(other.rows for other in case.others))
    common = [n for n in case.base if all(n in other.rows for other in case.others)]
    if common:
        yield _only(case, used - {*common})
    if len(common) > 3:
        yield _only(case, used - {*common[: len(common) // 2]})
        yield _only(case, used - {*common[len(common) // 2 :]})
    if len(used) > 1:
        for number in sorted(used):
            yield _only(case, used - {number})


def _only(case: Case, numbers: set[int]) -> Case:
    new = {old: i for i, old in enumerate(sorted(numbers))}

    def kept(rows: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(new[number] for number in rows if number in new)

    return replace(
        case,
        rows=tuple(case.rows[old] for old in new),
        base=kept(case.base),
        others=tuple(Neighbour(kept(other.rows), other.kind) for other in case.others),
    )


def _fewer_columns(case: Case) -> Iterator[Case]:
    """Without those that nothing reads; one must be left."""
    read = {case.unit or ""}
    for step in case.steps:
        match step:
            case Where(condition):
                read |= columns_of(condition)
            case Mutate(made) | Select(made):
                read = read.union(*(columns_of(value) for _, value in made))
            case Join(on=on):
                read |= {*on}
    read |= {*(case.keys.columns if case.keys else ())}
    for one in case.aggregates:
        read |= columns_of(one.value) if one.value is not None else frozenset()
    spare = [i for i, c in enumerate(case.columns) if c.name not in read]
    spare = spare[1:] if len(spare) == len(case.columns) else spare
    if spare:
        keep = [i for i in range(len(case.columns)) if i not in spare]
        tail = [len(case.columns)] if case.source.files else []
        rows = tuple(tuple(row[i] for i in [*keep, *tail]) for row in case.rows)
        yield replace(case, columns=tuple(case.columns[i] for i in keep), rows=rows)


def _simpler_source(case: Case) -> Iterator[Case]:
    source = case.source
    if source.form in ("spark", "postgres"):
        if source.database:
            yield replace(case, source=replace(source, database=""))
        if source.collation:
            yield replace(case, source=replace(source, collation=""))
        return
    if source.files:
        plain = tuple(row[:-1] for row in case.rows)
        yield replace(case, source=Source(), rows=plain)
        if len(source.patterns) > 1:
            for i in range(len(source.patterns)):
                patterns = _without(source.patterns, i)
                if not all(_names(patterns, name) for name in source.files):
                    continue
                yield replace(case, source=replace(source, patterns=patterns))
        if len(source.files) > 1:
            rows = tuple((*row[:-1], 0) for row in case.rows)
            patterns = tuple(p for p in source.patterns if source.files[1] not in p)
            one = replace(source, files=source.files[:1], patterns=patterns)
            if patterns:
                yield replace(case, source=one, rows=rows)
        if source.form == "parquet" and not source.declared:
            renamed = tuple(name.replace("parquet", "csv") for name in source.files)
            patterns = tuple(name.replace("parquet", "csv") for name in source.patterns)
            yield replace(case, source=Source("csv", renamed, patterns))
    elif source.form != "arrow":
        yield replace(case, source=Source())
    if source.declared:
        yield replace(case, source=replace(source, declared=False))


def _names(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatch(name, pattern.removeprefix("./")) for pattern in patterns)


def _simpler_columns(case: Case) -> Iterator[Case]:
    for i, one in enumerate(case.columns):
        for made in _simpler_column(one):
            yield replace(case, columns=_with(case.columns, i, made))


def _simpler_column(one: Column) -> Iterator[Column]:
    if one.encoding != "plain":
        yield replace(one, encoding="plain")
    if one.kind not in PLAIN.values():
        base = one.kind.removeprefix("pa.").lstrip("u")[:4]
        for plain in PLAIN.values():
            if plain.removeprefix("pa.")[:4] == base or (base == "larg" and "string" in plain):
                yield replace(one, kind=plain)
    if not one.nullable:
        yield replace(one, nullable=True)


def _simpler_cells(case: Case) -> Iterator[Case]:
    size = len(case.columns)
    for i in range(size):  # a whole column, then cell by cell
        cells = {repr(row[i]): row[i] for row in case.rows}.values()
        for cell in cells:
            for simple in _simpler_than(cell):
                rows = tuple(
                    _with(row, i, simple) if repr(row[i]) == repr(cell) else row
                    for row in case.rows
                )
                yield replace(case, rows=rows)


def _simpler_than(cell: Any) -> Iterator[Any]:
    """Simple values of its own type, none that is less simple than itself."""
    own = [s for s in SIMPLE if s is None or type(s) is type(cell)]
    for simple in own:
        if repr(simple) == repr(cell):
            return
        yield simple
    if isinstance(cell, str) and len(cell) > 1:
        yield cell[: len(cell) // 2]


# -- the question ----------------------------------------------------------------------------------


def _simpler_step(step: Step) -> Iterator[Step]:
    match step:
        case Where(condition):
            for tree in _simpler_tree(condition):
                yield Where(tree)
        case Mutate(made) | Select(made):
            for i in range(len(made) if len(made) > 1 else 0):
                yield type(step)(_without(made, i))
            for i, (name, value) in enumerate(made):
                for tree in _simpler_tree(value):
                    yield type(step)(_with(made, i, (name, tree)))
        case Join(on, table):
            for smaller in _simpler_public(table, len(on)):
                yield Join(on, smaller)
            if len(on) > 1:
                for i in range(len(on)):
                    rows = tuple(_without(row, i) for row in table.rows)
                    yield Join(
                        _without(on, i), Public(_without(table.columns, i), rows, table.form)
                    )


def _simpler_tree(tree: Expression) -> Iterator[Expression]:
    """Simpler ones that a lambda can say."""
    for simpler in _parts_of(tree):
        try:
            code(simpler)
        except ValueError:
            continue
        yield simpler


def _parts_of(tree: Expression) -> Iterator[Expression]:
    """Its parts, and itself with a part made simpler."""
    yield from tree.args
    if tree.op not in ("column", "literal"):
        for name in sorted(columns_of(tree)):
            yield column(name)
    for i, arg in enumerate(tree.args):
        for simpler in _parts_of(arg):
            yield replace(tree, args=_with(tree.args, i, simpler))


def _simpler_public(table: Public, keys: int) -> Iterator[Public]:
    for i in range(len(table.rows) if len(table.rows) > 1 else 0):
        yield replace(table, rows=_without(table.rows, i))
    for i in range(keys, len(table.columns)):
        rows = tuple(_without(row, i) for row in table.rows)
        yield replace(table, columns=_without(table.columns, i), rows=rows)
    if table.form != "arrow":
        yield replace(table, form="arrow")
    for i, one in enumerate(table.columns):
        for made in _simpler_column(one):
            yield replace(table, columns=_with(table.columns, i, made))


def _simpler_keys(keys: Keys) -> Iterator[Keys]:
    if keys.form == "discover":
        return
    if len(keys.columns) > 1:
        for i in range(len(keys.columns)):
            columns = _without(keys.columns, i)
            if keys.table is not None:
                rows = tuple(dict.fromkeys(_without(row, i) for row in keys.table.rows))
                public = replace(keys.table, columns=_without(keys.table.columns, i), rows=rows)
                yield replace(keys, columns=columns, table=public)
            else:
                yield replace(keys, columns=columns, values=_without(keys.values, i))
    if keys.table is not None:
        for table in _simpler_public(keys.table, len(keys.columns)):
            yield replace(keys, table=table)
        values = tuple(zip(*keys.table.rows, strict=True))
        yield Keys(keys.columns, "list", values)
        return
    if keys.form == "list" or len(keys.columns) == 1:
        for i in range(len(keys.values[0]) if len(keys.values[0]) > 1 else 0):
            yield replace(keys, form="list", values=tuple(_without(v, i) for v in keys.values))
    else:
        for j, values in enumerate(keys.values):
            for i in range(len(values) if len(values) > 1 else 0):
                yield replace(keys, values=_with(keys.values, j, _without(values, i)))


def _simpler_aggregate(one: Aggregate) -> Iterator[Aggregate]:
    if one.function != "count" or one.value is not None:
        yield Aggregate(one.name, "count")
    if one.value is not None:
        for tree in _simpler_tree(one.value):
            yield replace(one, value=tree)
    for i, (name, value) in enumerate(one.options):
        if name == "bounds" and value != (0, 1):
            yield replace(one, options=_with(one.options, i, (name, (0, 1))))
        if isinstance(value, list) and len(value) > 1:
            half = len(value) // 2
            pieces = [value[:half], value[half:]] if half > 1 else []
            pieces += [[*value[:j], *value[j + 1 :]] for j in range(len(value))]
            for piece in pieces:
                yield replace(one, options=_with(one.options, i, (name, piece)))


PASSES: tuple[Callable[[Case], Iterator[Case]], ...] = (
    _fewer_parts,
    _fewer_rows,
    _fewer_columns,
    _simpler_source,
    _simpler_terms,
    _simpler_question,
    _simpler_columns,
    _simpler_cells,
)
