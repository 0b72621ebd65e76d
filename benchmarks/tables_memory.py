"""The peak memory of one question in a process of its own, imports and all."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import tables_questions as questions

GIB = 2**30


def peak(kind: str, path: Path, **arguments: Any) -> int:
    """Bytes; ``kind`` names a function of ``tables_questions``, or "streamed"."""
    order = json.dumps({"kind": kind, "path": str(path), **arguments})
    command = [sys.executable, "-m", "benchmarks.tables_memory", order]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return int(run.stdout.split()[-1])


def resident() -> int:
    """The most bytes this process ever held.

    Linux counts them anew for each program; what getrusage says there includes the parent's.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def streamed(path: Path, *, keys: int) -> Callable[[], int]:
    """Count and mean of each of many places, written to a Parquet file; gives its size."""
    ask = questions.ours(path, group="place", keys=range(keys))
    target = path.with_suffix(".answer.parquet")

    def job() -> int:
        ask().to_parquet(target)
        return target.stat().st_size

    return job


def main(order: str) -> None:
    """Ask once and print the peak."""
    arguments = json.loads(order)
    kind, path = arguments.pop("kind"), Path(arguments.pop("path"))
    make = streamed if kind == "streamed" else getattr(questions, kind)
    make(path, **arguments)()
    print(resident())


if __name__ == "__main__":
    main(sys.argv[1])
