"""A finding as a script of at most 20 lines, which needs nothing of the fuzzer."""

import re
from typing import Any

import numpy as np

from tests.fuzz.judging import Finding
from tests.fuzz.script import literal, prelude, spend

MODULES = {
    "csv": "csv",
    "datetime": "datetime",
    "duckdb": "duckdb",
    "ibis": "ibis",
    "math": "math",
    "np": "numpy as np",
    "pa": "pyarrow as pa",
    "pc": "pyarrow.compute as pc",
    "pd": "pandas as pd",
    "pl": "polars as pl",
    "pq": "pyarrow.parquet as pq",
    "pyarrow": "pyarrow.dataset",
    "tempfile": "tempfile",
}
PLANNED = "from discreet.query.plan import make_plan; from discreet.query.purchase import Spend"
LONGEST = 20
WIDEST = 110


def script(finding: Finding) -> str:
    """The lines; the last ones print what differs."""
    case, other = finding.case, finding.other
    here = literal(case.table(case.base))
    there = literal([] if other is None else case.table(other.rows))
    match finding.demand:
        case "b" | "e":
            lines = _released(finding, here, there)
        case "c" if finding.extra is not None:
            lines = _extremes(finding, here)
        case "c":
            lines = _shapes(finding, here, there)
        case _:
            lines = _measured(finding, here, there)
    body = [*prelude(case).splitlines(), *lines]
    words = " ".join(finding.words.split())[:WIDEST]
    imports = _imports("\n".join(body))
    if 1 + len(imports) + len(body) > LONGEST:
        imports = ["; ".join(imports)]
    return "\n".join([f"# {words}", *imports, *body])


def _imports(body: str) -> list[str]:
    used = [words for name, words in MODULES.items() if re.search(rf"\b{name}\.", body)]
    lines = [f"import {', '.join([*used, 'discreet as dp'])}"]
    if "Fraction(" in body:
        lines.append("from fractions import Fraction")
    lines.append("from pathlib import Path")
    if "make_plan" in body:
        lines.append(PLANNED)
    if "public(" in body:
        lines.append('public = getattr(dp, "public", lambda table: table)')
    if "on_postgres(" in body:
        lines.append("from tests.fuzz.world import postgres_loader")
        lines.append("on_postgres = (server := postgres_loader()).__enter__()")
    if "spark." in body:
        lines.append("from tests.engines.spark_server import spark_session")
        lines.append("spark = (server := spark_session()).__enter__()")
    return lines


def _measured(finding: Finding, here: str, there: str) -> list[str]:
    case = finding.case
    lines = [
        "def measured(rows, folder):",
        f"    plan = make_plan(ask(table(rows, folder), folder), Spend.read({spend(case)}))",
        f"    exact = plan.query.table.source.measure(plan.request({case.salt}))",
        "    print([(part.words, getattr(one, 'sensitivity', one)) for part, one in "
        "plan.bought.items()])",
        "    print(exact.keys, {type(m).__name__: x.tolist() for m, x in exact.columns.items()})",
        f"measured({here}, Path(tempfile.mkdtemp()))",
    ]
    if finding.other is not None:
        lines.append(f"measured({there}, Path(tempfile.mkdtemp()))")
    if finding.demand == "d" and finding.other is not None:
        left, came = case.difference(finding.other)
        own = literal(case.table(left or came))
        lines.append(f"measured({own}, Path(tempfile.mkdtemp()))  # the difference, alone")
    return lines


def _released(finding: Finding, here: str, there: str) -> list[str]:
    case = finding.case
    kinds = dict(case.spend)
    budget = "dp.ZCDP(10**4), slack=0.5" if "rho" in kinds else "dp.GDP(10**4), slack=0.5"
    if "epsilon" in kinds:
        budget = "dp.Approx(10**4, 0.5)" if "delta" in kinds else "dp.Pure(10**4)"
    lines = [
        "def release(rows):",
        "    opened = table(rows, folder := Path(tempfile.mkdtemp()))",
        f"    session = dp.Session(opened, budget={budget})",
        f"    return session.release(ask(opened, folder), {spend(case)}).table",
    ]
    if finding.demand == "e":
        return [*lines, f"print(dp.replay(release, pair=({here}, {there})))"]
    return [
        *lines,
        f"for rows in ({here}, {there}):",
        "    try:",
        "        print(release(rows).schema)",
        "    except Exception as error:",
        "        print(type(error).__name__, error)",
    ]


def _shapes(finding: Finding, here: str, there: str) -> list[str]:
    return [
        *_released(finding, here, there)[:4],
        f"print(release({here}).schema)",
        f"print(release({there}).schema)",
    ]


def _extremes(finding: Finding, here: str) -> list[str]:
    """Answers that larger tables would have, through the same steps."""
    columns = [[_array(x) for x in one.values()] for one in finding.extra]
    return [
        "from discreet.session import _notes, _table",
        "folder = Path(tempfile.mkdtemp())",
        f"plan = make_plan(ask(table({here}, folder), folder), Spend.read({spend(finding.case)}))",
        f"for exact in ([{', '.join(columns[0])}],",
        f"              [{', '.join(columns[1])}]):",
        "    outputs = plan.outputs(plan.draw(dict(zip(plan.measures, exact))))",
        "    print(_table({}, outputs).schema, list(_notes(plan)))",
    ]


def _array(values: Any) -> str:
    if values.size and (values == values.flat[0]).all():
        kind = "object" if values.dtype == object else f"np.{values.dtype}"
        return f"np.full({values.shape}, {values.flat[0]}, {kind})"
    return f"np.array({np.asarray(values).tolist()}, {values.dtype.name!r})"
