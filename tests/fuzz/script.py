"""A case as Python code: the fuzzer runs the very lines that a script of a finding has."""

from typing import Any

from discreet.query.expressions import Expression
from discreet.query.schema import Type
from tests.fuzz.case import (
    Aggregate,
    Case,
    Column,
    Join,
    Keys,
    Mutate,
    Public,
    Select,
    Source,
    Step,
    Where,
)

IMPORTS = """\
import csv, datetime, math, tempfile, duckdb, ibis, numpy as np, pandas as pd, polars as pl
import pyarrow as pa, pyarrow.compute as pc, pyarrow.dataset, pyarrow.parquet as pq
from fractions import Fraction; from pathlib import Path
import discreet as dp
public = getattr(dp, "public", lambda table: table)
"""
ARRAYS = {
    "plain": "pa.array({v}, {kind})",
    "dictionary": "pa.array({v}, {kind}).dictionary_encode()",
    # a dictionary in which values are there twice, and missing ones are values
    "repeated": "pa.DictionaryArray.from_arrays(pa.array(range(len({v})), pa.int32()), "
    "pa.array({v}, {kind}))",
    "run-end": "pc.run_end_encode(pa.array({v}, {kind}))",
    "chunked": "pa.chunked_array([pa.array({v}[:1], {kind}), pa.array({v}[1:], {kind})])",
    "sliced": "pa.array([None, *{v}, None], {kind}).slice(1, len({v}))",
    "extension": "pa.ExtensionArray.from_storage(pa.opaque({kind}, 'own', 'ours'), "
    "pa.array({v}, {kind}))",
    # milliseconds that are no whole days, which a date of 64 bits can hold
    "unaligned": "pc.add(pa.array({v}, {kind}).cast(pa.int64()), "
    "pa.array(range(len({v})), pa.int64())).view(pa.date64())",
}
FRAMES = {
    "arrow": "t",
    "dataset": "pyarrow.dataset.dataset(t)",
    "pandas": "t.to_pandas(types_mapper=pd.ArrowDtype)",
    "pandas-nullable": "t.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype(), "
    "pa.float64(): pd.Float64Dtype(), pa.bool_(): pd.BooleanDtype()}.get, date_as_object=False)",
    "polars": "pl.from_arrow(t)",
    "lazy": "pl.from_arrow(t).lazy()",
    "relation": "duckdb.from_arrow(t)",
    "ibis": "ibis.duckdb.connect().create_table('people', t)",
    "memtable": "ibis.memtable(t)",
    "spark": "spark.createDataFrame(t)",
}
PUBLIC = {
    "arrow": "{p}",
    "pandas": "{p}.to_pandas()",
    "polars": "pl.from_arrow({p})",
    "dict": "{p}.to_pydict()",
    "parquet": "folder / '{p}.parquet'",
}
SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&"}
SIGNS |= {"or": "|", "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//"}
DECLARED = {"bool": "boolean", "int": "integer", "uint": "integer", "float": "real"}
DECLARED |= {"string": "text", "date": "date"}


def literal(value: Any) -> str:
    """A value as code."""
    if isinstance(value, float) and value != value:
        return "math.nan"
    if value in (float("inf"), float("-inf")):
        return "math.inf" if value > 0 else "-math.inf"
    if isinstance(value, Type):
        return repr(value.value)
    if isinstance(value, tuple | list):
        inner = ", ".join(map(literal, value))
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, str) and len(value) > 60 and len(set(value)) == 1:
        return f"{value[0]!r} * {len(value)}"
    return repr(value)


def expression(tree: Expression) -> str:
    """A row expression as a lambda's body; ValueError where a method is called on a literal."""
    args = [expression(arg) for arg in tree.args]
    if tree.op == "column":
        return f"row[{tree.value!r}]"
    if tree.op == "literal":
        return literal(tree.value)
    plain = [arg.op == "literal" for arg in tree.args]
    if all(plain) or (plain[0] and tree.op not in (*SIGNS, "case")):
        raise ValueError("a method is called on a literal")
    if tree.op in SIGNS:
        return f"({args[0]} {SIGNS[tree.op]} {args[1]})"
    if tree.op == "not":
        return f"~{args[0]}"
    if tree.op == "neg":
        return f"-{args[0]}"
    if tree.op == "case":
        if any(arg.op == "literal" for arg in tree.args[:-1:2]):
            raise ValueError("a condition that is a literal")
        pairs = zip(args[:-1:2], args[1:-1:2], strict=True)
        return f"dp.case({', '.join(f'({c}, {v})' for c, v in pairs)}, otherwise={args[-1]})"
    more = args[1:]
    if tree.value is not None:
        spread = tree.op in ("clip", "substring") and isinstance(tree.value, tuple)
        more += map(literal, tree.value) if spread else [literal(tree.value)]
    return f"{args[0]}.{tree.op}({', '.join(more)})"


def row(tree: Expression) -> str:
    """A row expression as a lambda, or as a column's name."""
    return repr(tree.value) if tree.op == "column" else f"lambda row: {expression(tree)}"


# -- tables ----------------------------------------------------------------------------------------


def array(column: Column, values: str) -> str:
    return ARRAYS[column.encoding].format(v=values, kind=column.kind)


def public(table: Public, name: str) -> list[str]:
    """The lines that make it."""
    columns = ", ".join(
        f"{column.name!r}: {array(column, literal([cells[i] for cells in table.rows]))}"
        for i, column in enumerate(table.columns)
    )
    made = [f"{name} = pa.table({{{columns}}})"]
    if table.form == "parquet":
        made.append(f"pq.write_table({name}, folder / '{name}.parquet')")
    return made


def opening(case: Case) -> list[str]:
    """The function `table(rows, folder)`."""
    source, size = case.source, len(case.columns) + bool(case.source.files)
    names = [column.name for column in case.columns]
    lines = ["def table(rows, folder):"]
    if source.form not in ("csv", "records"):
        columns = [f"{c.name!r}: {array(c, f'v[{i}]')}" for i, c in enumerate(case.columns)]
        lines.append(f"    v = list(map(list, zip(*rows))) or [[]] * {size}")
        lines.append(f"    t = pa.table({{{', '.join(columns)}}})")
        if fixed := [column.name for column in case.columns if not column.nullable]:
            lines.append(
                "    t = pa.Table.from_arrays(t.columns, schema=pa.schema("
                f"[f.with_nullable(f.name not in {fixed!r}) for f in t.schema]))"
            )
    if source.form == "parquet":
        lines += [
            f"    for i, name in enumerate({list(source.files)!r}):",
            "        mine = t.filter(pa.array([n == i for n in v[-1]], pa.bool_()))",
            "        pq.write_table(mine, folder / name)",
        ]
    if source.form == "csv":
        lines += [
            f"    for i, name in enumerate({list(source.files)!r}):",
            "        with open(folder / name, 'w', newline='', encoding='utf-8') as file:",
            f"            csv.writer(file).writerows([{names!r}, "
            "*(row[:-1] for row in rows if row[-1] == i)])",
        ]
    if any("link" in pattern for pattern in source.patterns):
        lines.append(
            f"    (folder / 'link.{source.form}').symlink_to(folder / {source.files[0]!r})"
        )
    lines.append(f"    return dp.table({given(source, names)}{options(case)})")
    return lines


def given(source: Source, names: list[str]) -> str:
    """What is opened."""
    match source.form:
        case "parquet" | "csv":
            paths = ", ".join(f"f'{{folder}}/{pattern}'" for pattern in source.patterns)
            return paths if len(source.patterns) == 1 else f"[{paths}]"
        case "records":
            return f"[dict(zip({names!r}, row)) for row in rows]"
        case "postgres":
            return f"on_postgres(t, {source.collation!r}, {source.database!r})"
    return FRAMES[source.form]


def options(case: Case) -> str:
    made = ""
    if case.unit is not None:
        made += f", unit={case.unit!r}"
    if case.relation != "add-remove":
        made += f", relation={case.relation!r}"
    if case.source.declared or case.source.form == "records":
        made += f", schema={declared(case)!r}"
    return made


def declared(case: Case) -> dict[str, str]:
    """The types that schema= gives: all that text can be read as."""
    found = {}
    for column in case.columns:
        base = column.kind.removeprefix("pa.").split("(")[0].rstrip("0123456789_")
        if base in DECLARED and column.name not in ("r", "q"):
            found[column.name] = DECLARED[base]
        elif case.source.form == "records":
            found[column.name] = "text"
    return found


# -- questions -------------------------------------------------------------------------------------


def asking(case: Case) -> list[str]:
    """The function `ask(table, folder)`, and the public tables it needs."""
    lines, calls = [], []
    for step in case.steps:
        calls.append(called(step, f"p{len(lines)}"))
        if isinstance(step, Join):
            lines += public(step.table, f"p{len(lines)}")
    if case.bound:
        calls.append(f".bound({', '.join(f'{name}={n}' for name, n in case.bound)})")
    if case.keys is not None:
        name = f"p{len(lines)}"
        calls.append(grouped(case.keys, name))
        lines += public(case.keys.table, name) if case.keys.table else []
    aggregates = ", ".join(f"{one.name}={aggregate(one)}" for one in case.aggregates)
    calls.append(f".agg({aggregates})")
    inner = [f"    {line}" for line in lines]
    return ["def ask(table, folder):", *inner, f"    return table{''.join(calls)}"]


def called(step: Step, name: str) -> str:
    match step:
        case Where(condition):
            return f".where({row(condition)})"
        case Mutate(columns):
            return f".mutate({', '.join(f'{n}={row(value)}' for n, value in columns)})"
        case Select(columns):
            return f".select({', '.join(f'{n}={row(value)}' for n, value in columns)})"
        case Join(on, table):
            there = [column.name for column in table.columns]
            pairs = dict(zip(on, there, strict=False))
            return f".join(public({PUBLIC[table.form].format(p=name)}), on={pairs!r})"


def grouped(keys: Keys, name: str) -> str:
    columns = ", ".join(map(repr, keys.columns))
    match keys.form:
        case "table":
            assert keys.table is not None
            values = f"public({PUBLIC[keys.table.form].format(p=name)})"
        case "dict":
            pairs = zip(keys.columns, keys.values, strict=True)
            values = f"{{{', '.join(f'{n!r}: {literal(list(v))}' for n, v in pairs)}}}"
        case "list" if len(keys.columns) > 1:
            values = literal(list(zip(*keys.values, strict=True)))
        case "list":
            values = literal(list(keys.values[0]))
        case "range":
            values = f"range({keys.values[0][0]}, {keys.values[0][-1] + 1})"
        case _:
            values = "'discover'"
    return f".group_by({columns}, keys={values})"


def aggregate(one: Aggregate) -> str:
    given = [] if one.value is None else [row(one.value)]
    given += [
        literal(value) if name == "" else f"{name}={literal(value)}" for name, value in one.options
    ]
    return f"dp.{one.function}({', '.join(given)})"


def spend(case: Case) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in case.spend)


def prelude(case: Case) -> str:
    """The code that makes the tables and the question."""
    return "\n".join([*opening(case), *asking(case)])
