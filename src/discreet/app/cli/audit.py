"""``discreet audit``: try to break a privacy claim, one's own or anybody's."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from discreet.app.cli import exits
from discreet.app.cli.audit_claims import HOW, claim_of
from discreet.app.cli.audit_progress import shown_progress
from discreet.app.cli.audit_reports import Audited, show_lectures
from discreet.app.cli.audit_targets import Named, named, neighbors_of, pair_of
from discreet.app.cli.options import flat
from discreet.app.cli.outputs import check_places
from discreet.app.cli.printing import AsJson
from discreet.errors import DiscreetError, InvalidArgument

if TYPE_CHECKING:
    from discreet.auditor.finding import Finding
    from discreet.auditor.subject import Subject
    from discreet.auditor.verification import Verification
    from discreet.guarantees import Guarantee

_LECTURES = "lectures"
_PICTURES = (".svg", ".png", ".html")


@dataclass(frozen=True)
class Claimed:
    """What is claimed of which neighbours."""

    claim: Annotated[
        str | None,
        Option(
            help="What is promised, exact: epsilon=1, epsilon=1,delta=1e-5, rho=0.1, mu=1 or "
            "tv=0.2. A mechanism's own guarantee unless given.",
            metavar="CLAIM",
        ),
    ] = None
    pair: Annotated[
        str | None,
        Option(
            help="Two neighbouring inputs, written in Python or JSON as in 0,1, or the name of "
            "two: NAME beside the callable, or MODULE:NAME.",
            metavar="X,Y|NAME",
        ),
    ] = None
    neighbors: Annotated[
        str | None,
        Option(
            help="Instead of --pair: a function without arguments that yields such pairs, or "
            "returns one a call; the most telling one is sought.",
            metavar="NAME",
        ),
    ] = None


@dataclass(frozen=True)
class Effort:
    """How long to try, and how sure to be."""

    batched: Annotated[
        bool,
        Option("--batched", help="Call it as run(input, size=n), which returns n outputs at once."),
    ] = False
    seconds: Annotated[
        float | None, Option(help="Try for so long; 5 unless given.", metavar="NUMBER")
    ] = None
    samples: Annotated[
        int | None,
        Option(help="Instead of --seconds: draw so many outputs of each input.", metavar="N"),
    ] = None
    confidence: Annotated[
        float,
        Option(
            help="How sure a violation must be; 1 - 1e-9 unless given.",
            metavar="NUMBER",
            show_default=False,
        ),
    ] = 1 - 1e-9


@flat
def audit(
    *,
    target: Annotated[
        str,
        Argument(
            help="What to audit: MODULE:NAME or FILE.py:NAME, a function of one input or a "
            "mechanism; or the word lectures.",
            metavar="TARGET",
        ),
    ],
    claimed: Claimed,
    effort: Effort,
    plot: Annotated[
        Path | None,
        Option(
            help="Draw both output laws, with the telling event shaded: .svg, .png or .html.",
            metavar="FILE",
        ),
    ] = None,
    printed: AsJson,
) -> None:
    """Try to break a claim: find an event that tells two neighbouring inputs apart.

    Imports and runs the code that is named, and exits with 9 if it finds one.

    No violation found is not a proof. A mechanism with a law is verified exactly too.

    discreet audit lectures checks the lectures that this package grew from.

    \b
    Example:
      discreet audit survey.py:answer --claim epsilon=2 --pair 0,1 --seconds 0.5
      discreet audit survey.py:count --samples 5000 --plot laws.svg
      discreet audit lectures
    """
    if target == _LECTURES:
        _check_alone(claimed, effort, plot)
        with shown_progress() as progress:
            ok = show_lectures(progress, as_json=printed.json)
        if not ok:
            raise Exit(exits.FAILED_CHECK)
        return
    _check_picture(plot)
    # What the audited code prints is none of the report.
    with contextlib.redirect_stdout(sys.stderr):
        finding, verification = _tried(named(target, option="TARGET"), claimed, effort)
    drawn = None if finding is None else plot
    if finding is not None and drawn is not None:
        finding.plot().save(drawn)
    report = Audited(target, finding, verification, drawn)
    report.show(as_json=printed.json)
    if report.violated:
        raise Exit(exits.VIOLATED)


def _tried(
    found: Named, claimed: Claimed, effort: Effort
) -> tuple[Finding | None, Verification | None]:
    """The exact route where there is a law, then the statistical one where it can be run."""
    from discreet.auditor.audit import audit as try_to_break
    from discreet.auditor.subject import Subject

    subject = Subject.of(found.thing)
    claim = _claim(subject, claimed)
    given = _inputs(found, claimed)
    with shown_progress() as progress:
        verification = _verified(found.thing, claim, given, progress)
        if verification is None and not given:
            raise InvalidArgument(
                name="--pair",
                expected="two neighbouring inputs to tell apart",
                given="nothing",
                hint="say --pair 0,1, or --neighbors NAME for a function that yields pairs",
            )
        if verification is not None and not given:
            pair = _as_released(found.thing, subject, verification.worst)
            if pair is None:
                return None, verification
            given = {"pair": pair}
        run, at_once = subject.drawn(effort.batched)
        finding = try_to_break(
            run,
            claim=claim,
            seconds=effort.seconds,
            samples=effort.samples,
            confidence=effort.confidence,
            batched=at_once,
            progress=progress,
            **given,
        )
    return finding, verification


def _claim(subject: Subject, claimed: Claimed) -> Guarantee:
    if claimed.claim is None and subject.claim is None:
        raise InvalidArgument(name="--claim", expected="given", given="nothing", hint=HOW)
    return subject.claimed(None if claimed.claim is None else claim_of(claimed.claim))


def _inputs(found: Named, claimed: Claimed) -> dict[str, Any]:
    if claimed.pair is not None and claimed.neighbors is not None:
        raise InvalidArgument(
            name="--pair and --neighbors", expected="given one at a time", given="both"
        )
    if claimed.pair is not None:
        return {"pair": pair_of(claimed.pair, found.module)}
    if claimed.neighbors is not None:
        return {"neighbors": neighbors_of(claimed.neighbors, found.module)}
    return {}


def _verified(
    thing: Any, claim: Guarantee, given: dict[str, Any], progress: Any
) -> Verification | None:
    """By the laws themselves, on all neighbours that the mechanism knows, or on the given pair."""
    if not hasattr(thing, "law"):
        return None
    from discreet.auditor.verify import verify

    pairs = None if hasattr(thing, "inputs") else [given["pair"]] if "pair" in given else None
    if pairs is None and not hasattr(thing, "inputs"):
        return None
    progress(0.0, "exact route")
    return verify(thing, claim, pairs=pairs)


def _as_released(mechanism: Any, subject: Subject, worst: tuple[Any, Any]) -> Any:
    """The worst neighbours of the exact route as ``release`` takes them, if it does at all."""
    from discreet.inputs import UnitCounts

    if isinstance(mechanism.inputs, UnitCounts):
        worst = [worst[0]], [worst[1]]  # a law is that of one key, a release is of many
    elif all(isinstance(value, Fraction) for value in worst):
        whole = all(value.denominator == 1 for value in worst)
        first, second = (int(value) if whole else _float(value) for value in worst)
        worst = first, second
    try:
        subject.run(worst[0])
    except DiscreetError:  # as for queries, which are functions, while the law is about a mean
        return None
    return worst


def _float(value: Fraction) -> float:
    """The nearest float towards 0: no further than a neighbour may be."""
    nearest = float(value)
    return nextafter(nearest, 0.0) if abs(Fraction(nearest)) > abs(value) else nearest


def _check_picture(plot: Path | None) -> None:
    check_places({"--plot": plot})
    if plot is not None and plot.suffix.lower() not in _PICTURES:
        raise InvalidArgument(
            name="--plot",
            expected="a name that ends in .svg, .png or .html",
            given=InvalidArgument.describe_parameter(str(plot)),
        )


def _check_alone(claimed: Claimed, effort: Effort, plot: Path | None) -> None:
    if (claimed, effort, plot) != (Claimed(), Effort(), None):
        raise InvalidArgument(
            name=_LECTURES,
            expected="given without other options than --json",
            given="more",
            hint="a file of that name is meant by lectures.py:NAME",
        )
