"""One audit of the zoo beside its truth, and beside the best that any test could do."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

SECONDS = 3.0  # a mechanism, at most
CONFIDENCE = 1 - 1e-9
SHARE, SHARE_OF_DELTA = 0.90, 0.80
REPEATED = 20_000  # outputs a side where an audit is repeated for false alarms
REPEATED_ONE_BY_ONE = 1_000


@dataclass(frozen=True)
class Row:
    """One mechanism: what it claims, what is true, what was found and what could be found.

    For (ε, δ) claims the bound is the ε at the claimed δ, and ``delta`` holds the true δ at the
    claimed ε, the one that was found and the best.
    """

    id: str
    words: str
    broken: bool
    parameter: str
    claimed: float
    found: float
    delta_found: float | None
    samples: int
    seconds: float
    violated: bool
    event: str
    truth: float = 0.0
    best: float = 0.0
    delta: float | None = None
    delta_best: float | None = None
    problem: str = ""
    short: bool = False  # a measurable ε was reached below its share


def audited(name: str, seconds: float = SECONDS) -> Row:
    """Audit one mechanism."""
    import discreet as dp
    from discreet.auditor.audit import audit
    from tests.auditor.zoo.every import BY_ID

    case = BY_ID[name]
    try:
        finding = audit(
            case.run,
            case.pair,
            case.claim,
            seconds=seconds,
            confidence=CONFIDENCE,
            batched=case.batched,
        )
    except dp.DiscreetError as error:  # one failure is a line of the table, not the end of it
        words = f"{type(error).__name__}: {error}"
        return Row(name, case.words, case.broken, "epsilon", case.claimed, 0.0, None, 0, 0.0,
                   False, words, problem="FAILED")  # fmt: skip
    witness = finding.witness
    has_delta = isinstance(case.claim, dp.Approx) and witness is not None
    return Row(
        id=case.id,
        words=case.words,
        broken=case.broken,
        parameter=finding.parameter,
        claimed=case.claimed,
        found=finding.lower_bound,
        delta_found=witness.delta if has_delta else None,
        samples=finding.samples,
        seconds=finding.seconds,
        violated=finding.violated,
        event="" if witness is None else str(witness.event),
    )


def compared(row: Row) -> Row:
    """Put the truth beside it, and say what falls short, if anything."""
    from tests.auditor.zoo.best import best_bounds
    from tests.auditor.zoo.every import BY_ID

    if row.problem:
        return row
    case = BY_ID[row.id]
    best = best_bounds(case, samples=row.samples, risk=1 - CONFIDENCE)
    row = replace(
        row,
        truth=case.truth,
        best=best[row.parameter],
        delta=None if row.delta_found is None else case.delta,
        delta_best=best.get("delta"),
    )
    # Where the event that shows ε is rare, no number of samples is asked of anybody.
    pure = row.parameter == "epsilon" and row.delta is None
    short = pure and case.laws.firm and row.found < SHARE * row.truth
    row = replace(row, short=short)
    return replace(row, problem=_problem(row))


def _problem(row: Row) -> str:
    if row.violated != row.broken:
        return "MISSED" if row.broken else "ACCUSED"
    if row.found > row.truth * (1 + 1e-6):
        return "ABOVE THE TRUTH"
    if not row.broken:
        return ""
    if row.delta is not None and row.delta_found is not None:
        enough = row.delta_found >= SHARE_OF_DELTA * row.delta
        return "" if enough else f"δ below {SHARE_OF_DELTA:.0%}"
    return f"below {SHARE:.0%}" if row.short else ""


def repeated(job: tuple[str, int]) -> tuple[str, int, float]:
    """Audit a correct mechanism again and again: its name, how often accused, and the seconds."""
    from discreet.auditor.audit import audit
    from tests.auditor.zoo.every import BY_ID

    name, times = job
    case, started = BY_ID[name], time.perf_counter()
    wrong = sum(
        audit(
            case.run,
            case.pair,
            case.claim,
            samples=REPEATED if case.batched else REPEATED_ONE_BY_ONE,
            confidence=CONFIDENCE,
            batched=case.batched,
        ).violated
        for _ in range(times)
    )
    return name, wrong, time.perf_counter() - started
