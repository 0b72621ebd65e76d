"""Run what docs/coming-from.md prints of other libraries: ``python -m publishing.peers``.

A block below the line ``<!-- runs in: opendp -->`` runs in .venv-peer-opendp, which
``make .venv-peer-opendp/.installed`` makes. What the blocks of a library print goes into the page
and, with a digest of their text and the library's version, into docs/coming-from.json, where
tests/docs/test_coming_from.py looks it up: a block that was changed and not run is found there.
Names of libraries as arguments run those alone.

A block that leaves means by ward in ``means`` is run again and again, to see how far they are off.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from publishing.blocks import ROOT, Block, blocks_of

PAGE = ROOT / "docs" / "coming-from.md"
RECORD = PAGE.with_suffix(".json")
VISITS = ROOT / "src" / "discreet" / "data" / "visits.csv"
PACKAGES = {
    "opendp": "opendp",
    "diffprivlib": "diffprivlib",
    "smartnoise": "smartnoise-sql",
    "tumult": "tmlt.analytics",
}
BOUND = 30  # of days: the page clamps them there
MOST, SECONDS = 100, 300.0  # repetitions of a block with means, and for how long


def digest(block: Block) -> str:
    """Names the text of a block."""
    return hashlib.sha256(block.text.encode()).hexdigest()


def recorded() -> dict[str, dict[str, Any]]:
    """What each block printed when it was run, by its digest."""
    return {each["sha256"]: each for each in json.loads(RECORD.read_text())}


def true_means() -> dict[str, float]:
    """The clamped mean of days in each ward of the bundled visits."""
    days: dict[str, list[int]] = {}
    for row in csv.DictReader(VISITS.read_text().splitlines()):
        days.setdefault(row["ward"], []).append(min(int(row["days"]), BOUND))
    return {ward: sum(each) / len(each) for ward, each in days.items()}


def run(library: str, blocks: list[Block]) -> list[dict[str, Any]]:
    """Run the blocks of one library in its own environment, in one process and one namespace."""
    home = ROOT / f".venv-peer-{library}"
    if not (home / "bin" / "python").exists():
        raise SystemExit(f"There is no {home.name}: make {home.name}/.installed")
    environment = {  # as if it were activated
        **os.environ,
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "VIRTUAL_ENV": str(home),
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "visits.csv").write_bytes(VISITS.read_bytes())
        done = subprocess.run(
            [home / "bin" / "python", "-m", "publishing.peers", "--inside", library],
            input=json.dumps([block.text for block in blocks]),
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
    if done.returncode:
        raise SystemExit(f"{library}: its blocks did not run")
    answers = json.loads(done.stdout.splitlines()[-1])
    return [
        {"library": library, "sha256": digest(block), **answer}
        for block, answer in zip(blocks, answers, strict=True)
    ]


def inside(library: str) -> None:
    """In the library's environment: run the blocks that come in, and say what they printed."""
    package = PACKAGES[library]
    about = {"package": package, "version": metadata.version(package)}
    out, names, answers = os.fdopen(os.dup(1), "w"), {"__name__": "__main__"}, []
    os.dup2(2, 1)  # what a Java process prints is no answer
    for text in json.load(sys.stdin):
        printed = _ran(text, names)
        answers.append({**about, "printed": printed, **_measured(text, names)})
    print(json.dumps(answers), file=out)
    out.close()


def _ran(text: str, names: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, "<page>", "exec"), names)
    return "\n".join(line.rstrip() for line in printed.getvalue().strip("\n").splitlines())


def _measured(text: str, names: dict[str, Any]) -> dict[str, Any]:
    """How far the means of a block are from the truth, on average, if it leaves any."""
    if "means = " not in text:
        return {}
    truth, errors, start = true_means(), [], time.monotonic()
    while len(errors) < MOST and time.monotonic() < start + SECONDS:
        _ran(text, names)
        found = {ward: float(mean) for ward, mean in names["means"].items()}
        errors.append(sum(abs(found[ward] - truth[ward]) for ward in truth) / len(truth))
    return {"mean_error": round(sum(errors) / len(errors), 4), "releases": len(errors)}


def main(libraries: list[str]) -> None:
    """Run the blocks of the libraries named, or of all."""
    from publishing.refresh import write_outputs  # not there where other libraries are at home

    marked = [block for block in blocks_of(PAGE.read_text()) if block.library]
    known = recorded() if RECORD.exists() else {}
    for library in libraries or list(PACKAGES):
        print(f"{library} ...", flush=True)
        blocks = [block for block in marked if block.library == library]
        known |= {answer["sha256"]: answer for answer in run(library, blocks)}
    kept = [known[digest(block)] for block in marked if digest(block) in known]
    RECORD.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n")
    ran = [block for block in marked if digest(block) in known]
    write_outputs(PAGE, [(block, known[digest(block)]["printed"]) for block in ran])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2])
    else:
        main(sys.argv[1:])
