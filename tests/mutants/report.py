"""What became of the mutants, as a page."""

from collections import Counter
from collections.abc import Mapping

from tests.mutants.mutant import Mutant
from tests.mutants.workplace import Outcome

NEEDED = 0.95

_HEAD = """\
# Mutants: errors put into our own code on purpose

`make mutants` writes this page. Each mutant changes one place of `src/discreet` in a copy of the
tree and runs the few tests that should notice. Killed means that one of them failed. A test that
never ends counts too, as the same tests end in time on the code as it is. All that is shown is
that these errors would not go unnoticed; it is no proof that there are no others.

"""


def share_killed(outcomes: Mapping[Mutant, Outcome]) -> float:
    return sum(outcome.killed for outcome in outcomes.values()) / max(1, len(outcomes))


def line(mutant: Mutant, outcome: Outcome) -> str:
    if outcome.broken:
        return f"BROKEN    {mutant.id}: {outcome.by}"
    word = "killed  " if outcome.killed else "SURVIVED"
    return f"{word}  {outcome.seconds:5.1f} s  {mutant.id}  {outcome.by}"


def report(outcomes: Mapping[Mutant, Outcome], *, seconds: float) -> str:
    killed = sum(outcome.killed for outcome in outcomes.values())
    survivors = [mutant for mutant, outcome in outcomes.items() if not outcome.killed]
    lines = [
        f"{killed} of {len(outcomes)} killed ({share_killed(outcomes):.1%}; at least {NEEDED:.0%} "
        f"is needed), in {seconds / 60:.1f} minutes.",
        "",
        "## By kind",
        "",
        "| kind | mutants | killed |",
        "|---|---|---|",
        *_kinds(outcomes),
        "",
        "## Survivors",
        "",
        *([f"- `{m.id}`: {m.survives or 'NO REASON GIVEN'}" for m in survivors] or ["None."]),
        "",
        "## All of them",
        "",
        "| mutant | file | kind | what would go wrong | killed by | s |",
        "|---|---|---|---|---|---|",
        *(
            f"| {m.id} | {m.file} | {m.kind} | {m.harm} | {_by(o)} | {o.seconds:.1f} |"
            for m, o in outcomes.items()
        ),
        "",
    ]
    return _HEAD + "\n".join(lines)


def _kinds(outcomes: Mapping[Mutant, Outcome]) -> list[str]:
    every = Counter(mutant.kind for mutant in outcomes)
    dead = Counter(mutant.kind for mutant, outcome in outcomes.items() if outcome.killed)
    return [f"| {kind} | {every[kind]} | {dead[kind]} |" for kind in sorted(every)]


def _by(outcome: Outcome) -> str:
    if outcome.broken:
        return "BROKEN: it does not import"
    if not outcome.killed:
        return "survives"
    return outcome.by.removeprefix("tests/").replace("|", "\\|")
