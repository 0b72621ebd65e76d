"""Put errors into our own code, one at a time, and see that the tests notice.

``python -m tests.mutants.run`` tests every mutant on copies of the source tree, two at a time,
prints a table and writes it to ``benchmarks/RESULTS-mutants.md``. It ends with an error if
fewer than 95 % are killed, or one survives without a stated reason.

``--only laplace`` takes those whose id contains the word (and writes no report).
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.report import NEEDED, line, report, share_killed
from tests.mutants.workplace import Outcome, Workplace

RESULTS = ROOT / "benchmarks" / "RESULTS-mutants.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="test only mutants with this in their id")
    parser.add_argument("--at-once", type=int, default=2, help="how many at a time")
    given = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if given.only in mutant.id]
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        outcomes = judge(chosen, Path(folder), at_once=given.at_once)
    seconds = time.monotonic() - start
    text = report(outcomes, seconds=seconds)
    print(text[text.index("## ") :])
    if not given.only:
        RESULTS.write_text(text)
    fine = share_killed(outcomes) >= NEEDED and all(
        (outcome.killed or mutant.survives) and not outcome.broken
        for mutant, outcome in outcomes.items()
    )
    return 0 if fine else 1


def judge(mutants: list[Mutant], folder: Path, *, at_once: int) -> dict[Mutant, Outcome]:
    """Test each mutant; those that are slowest to test go first."""
    places = [Workplace(folder / str(number)) for number in range(at_once)]
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    with ThreadPoolExecutor(at_once) as pool:
        shares = [tests[number::at_once] for number in range(at_once)]
        unmutated = Counter[str]()
        for seconds in pool.map(Workplace.seconds_unmutated, places, shares):
            unmutated.update(seconds)
    print(f"{len(tests)} tests pass on the code as it is", flush=True)
    free: SimpleQueue[Workplace] = SimpleQueue()
    for place in places:
        free.put(place)

    def seconds_of(mutant: Mutant) -> float:
        return sum(
            seconds
            for name, seconds in unmutated.items()
            if any(_belongs(name, test) for test in mutant.tests)
        )

    def one(mutant: Mutant) -> Outcome:
        place = free.get()
        try:
            outcome = place.test(mutant, limit=60 + 10 * seconds_of(mutant))
        finally:
            free.put(place)
        print(line(mutant, outcome), flush=True)
        return outcome

    order = sorted(mutants, key=seconds_of, reverse=True)
    with ThreadPoolExecutor(at_once) as pool:
        outcomes = dict(zip(order, pool.map(one, order), strict=True))
    return {mutant: outcomes[mutant] for mutant in mutants}


def _belongs(name: str, test: str) -> bool:
    """Whether tests.noise.test_grid.test_x is named by tests/noise/test_grid.py::test_x."""
    file, _, function = test.split("[")[0].partition("::")
    module = file.removesuffix(".py").replace("/", ".")
    return name == f"{module}.{function}" if function else name.startswith(f"{module}.")


if __name__ == "__main__":
    sys.exit(main())
