"""``python -m tests.fuzz.run``: draw cases, judge them, and show what is found in a few lines.

The seed is printed: with --seed the same cases are drawn again, in the same order.
"""

import argparse
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz.case import Join
from tests.fuzz.drawing import draw
from tests.fuzz.judging import Finding, judge
from tests.fuzz.report import script
from tests.fuzz.shrinking import shrink
from tests.fuzz.world import ENGINES, World, world

REPLAYED = 25  # one case in so many is replayed through a session
TRIES = {"duckdb": 400, "postgres": 300, "spark": 80}


@dataclass
class Found:
    """A finding, made small; how many pairs it took, and how many others look alike."""

    finding: Finding
    pairs: int
    case: str
    alike: int = 1


@dataclass
class Outcome:
    """What a run found."""

    pairs: int = 0
    refused: int = 0
    found: dict[str, Found] = field(default_factory=dict)


def fuzz(
    engine: str,
    seed: str,
    here: World,
    *,
    pairs: int,
    seconds: float = float("inf"),
    keep_going: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Judge cases until so many pairs were compared, or until a finding."""
    outcome, number, start = Outcome(), 0, time.monotonic()
    told = start
    while outcome.pairs < pairs and time.monotonic() - start < seconds:
        number += 1
        name = f"{seed}-{number}"
        demands = "abcdef" if number % REPLAYED == 0 else "abcdf"
        try:
            judged = judge(draw(name, engine), here, demands=demands)
        except Exception as error:
            error.add_note(f"in case {name} on {engine}")
            raise
        outcome.pairs += judged.pairs
        outcome.refused += judged.refused
        for finding in judged.findings:
            rough = str(_rough(finding))
            if rough in outcome.found:
                outcome.found[rough].alike += 1
                continue
            small = shrink(finding, here, tries=TRIES[engine])
            outcome.found[rough] = Found(small, outcome.pairs, name)
            tell(f"{engine}: after {outcome.pairs:,} pairs, in case {name}:\n\n{script(small)}\n")
        if outcome.found and not keep_going:
            return outcome
        if time.monotonic() - told > 30:
            told = time.monotonic()
            rate = outcome.pairs / (told - start)
            done = f"{outcome.pairs:,} pairs, {outcome.refused:,} refused"
            tell(f"{engine}: {done}, {rate:.1f} a second")
    return outcome


def _rough(finding: Finding) -> object:
    """What tells causes apart before a case is made small: wrong numbers have many faces."""
    case = finding.case
    numbers = finding.demand in ("a", "d", "f") and not finding.what.startswith("l0")
    if not numbers:
        return finding.kind
    if len(case.source.patterns) > 1 or case.source.collation in ("anycase", "plain_letters"):
        return case.source.form
    kinds = [column.kind for column in case.columns if column.name == case.unit]
    nobody = finding.other is not None and finding.other.kind == "nobody"
    return any(isinstance(step, Join) for step in case.steps), nobody, kinds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, default="duckdb")
    parser.add_argument("--pairs", type=int, default=20_000, help="pairs of neighbours to compare")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--seed", default=None, help="a fresh one if left out")
    parser.add_argument("--case", default=None, help="judge this case alone, as in 17-4")
    parser.add_argument("--keep-going", action="store_true", help="look for others after a finding")
    given = parser.parse_args()
    seed = given.seed or secrets.token_hex(4)

    def tell(line: str) -> None:
        print(line, flush=True)

    with world(given.engine) as here:
        if given.case is not None:
            case = draw(given.case, given.engine)
            findings = judge(case, here, demands="abcdef", thorough=True).findings
            for finding in findings:
                small = shrink(finding, here, tries=TRIES[given.engine])
                tell(f"{finding.demand}, {finding.what}\n\n{script(small)}\n")
            return int(bool(findings))
        tell(f"{given.engine}: seed {seed}")
        outcome = fuzz(
            given.engine,
            seed,
            here,
            pairs=given.pairs,
            seconds=given.seconds,
            keep_going=given.keep_going,
            tell=tell,
        )
    found = outcome.found.values()
    tell(
        f"{given.engine}: seed {seed}, {outcome.pairs:,} pairs, {outcome.refused:,} refused, "
        f"{len(found)} kinds of findings"
    )
    for one in found:
        kind = f"{one.finding.demand}, {one.finding.what}"
        tell(f"  {one.alike:,} × {kind}: first after {one.pairs:,} pairs, in case {one.case}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
