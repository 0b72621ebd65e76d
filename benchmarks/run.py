"""``make bench``: measure, print, and write RESULTS.md and RESULTS.json beside this file."""

from __future__ import annotations

import json
import platform
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import numpy as np

import discreet as dp
from benchmarks.timing import Row

HERE = Path(__file__).parent
TABLES = {
    "noise": ["noise", "selection", "responses"],
    "peers": ["peers"],
    "accounting": ["accounting"],
    "tables": ["tables"],
    "ledger": ["ledger"],
    "surveys": ["surveys"],
}
HEADINGS = {
    "noise": "Speed",
    "peers": "Peers",
    "accounting": "Accounting",
    "tables": "Tables",
    "ledger": "Ledger",
    "surveys": "Surveys",
}
COMMANDS = {kind: f"make bench-{kind}" for kind in ("peers", "tables", "ledger", "surveys")}


def main(arguments: list[str]) -> None:
    """Run the tables that were asked for and write them down."""
    kind = next((kind for kind in TABLES if f"--{kind}" in arguments), "noise")
    name = "RESULTS" if kind == "noise" else f"RESULTS-{kind}"
    measured: list[Row] = []
    for module in TABLES[kind]:
        for row in import_module(f"benchmarks.{module}").rows():
            print(
                f"{_mark(row)} {row.what}: {row.ours} | {row.reference} | {row.ratio}", flush=True
            )
            measured.append(row)
    (HERE / f"{name}.md").write_text(_markdown(measured, kind))
    document = {"machine": _machine(), "rows": [row.as_dict() for row in measured]}
    (HERE / f"{name}.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def _markdown(rows: list[Row], kind: str) -> str:
    command = COMMANDS.get(kind, "make bench")
    head = [
        f"# {HEADINGS[kind]}",
        "",
        f"Made by `{command}`. Times are the best of several rounds in which each job and its",
        "reference took turns; machines are shared and noisy, so read the ratios.",
        "",
        *(f"- {key}: {value}" for key, value in _machine().items()),
        "",
        "| what | discreet | reference | ratio | target | reached |",
        "|---|---|---|---|---|---|",
    ]
    lines = [
        f"| {r.what} | {r.ours} | {r.reference} | {r.ratio} | {r.target} | {_mark(r)} |"
        for r in rows
    ]
    return "\n".join([*head, *lines]) + "\n"


def _mark(row: Row) -> str:
    return {True: "yes", False: "NO", None: ""}[row.ok]


def _machine() -> dict[str, str]:
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "discreet": dp.__version__,
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


if __name__ == "__main__":
    main(sys.argv[1:])
