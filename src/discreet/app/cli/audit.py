"""``discreet audit``: try to break a privacy claim, one's own or anybody's."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from discreet.app.cli import exits
from discreet.app.cli.audit_claims import HOW, claim_of
from discreet.app.cli.audit_progress import shown_progress
from discreet.app.cli.audit_reports import Audited, show_lectures
from discreet.app.cli.audit_targets import Named, named, neighbors_of, pair_of, told_of
from discreet.app.cli.options import flat
from discreet.app.cli.outputs import check_places
from discreet.app.cli.printing import AsJson, note
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.auditor.subject import Subject
    from discreet.auditor.verify import Verification
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
            "two: NAME beside the callable, or MODULE:NAME. A mechanism with a law needs none.",
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
        report = _tried(target, claimed, effort)
    report, unwritten = _drawn(report, plot)
    report.show(as_json=printed.json)
    if report.violated:
        if unwritten is not None:
            note(exits.message_of(unwritten))
        raise Exit(exits.VIOLATED)
    if unwritten is not None:
        raise unwritten


def _drawn(report: Audited, plot: Path | None) -> tuple[Audited, OSError | None]:
    """With its picture, or why there is none: what was found is worth more than that."""
    if plot is None or report.finding is None:
        return report, None
    try:
        report.finding.plot().save(plot)
    except OSError as error:
        return report, error
    return replace(report, picture=plot), None


def _tried(target: str, claimed: Claimed, effort: Effort) -> Audited:
    """The exact route where there is a law, then the statistical one where it can be run."""
    from discreet.auditor.audit import audit as try_to_break
    from discreet.auditor.subject import Subject

    found = named(_more_than_a_word(target), option="TARGET")
    with told_of(found):
        subject = Subject.of(found.thing)
    claim = _claim(subject, claimed)
    given = _inputs(found, claimed)
    suggested = False
    run, at_once = subject.drawn(effort.batched)
    _check_effort(effort)
    with shown_progress() as progress:
        with told_of(found):
            verification = _verified(found.thing, claim, given, progress)
        if verification is None and not given:
            raise InvalidArgument(
                name="--pair",
                expected="two neighbouring inputs to tell apart",
                given="nothing",
                hint="say --pair 0,1, or --neighbors NAME for a function that yields pairs",
            )
        if verification is not None and not given:
            pairs = subject.pairs(claim, verification.worst)
            if not pairs:
                return Audited(target, None, verification)
            given, suggested = {"neighbors": pairs}, True
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
    return Audited(target, finding, verification, suggested)


def _more_than_a_word(target: str) -> str:
    """A target, where it is not the word lectures misspelt."""
    if ":" not in target and get_close_matches(target, [_LECTURES]):
        raise InvalidArgument(
            name="TARGET",
            expected="MODULE:NAME, FILE.py:NAME or the word lectures",
            given=InvalidArgument.describe_parameter(target),
            hint="did you mean lectures?",
        )
    return target


def _check_effort(effort: Effort) -> None:
    if effort.seconds is not None and effort.samples is not None:
        raise InvalidArgument(
            name="--seconds and --samples", expected="given one at a time", given="both"
        )


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


def _check_picture(plot: Path | None) -> None:
    check_places({"--plot": plot})
    if plot is not None and plot.suffix.lower() not in _PICTURES:
        raise InvalidArgument(
            name="--plot",
            expected="a name that ends in .svg, .png or .html",
            given=InvalidArgument.describe_parameter(str(plot)),
        )
    if plot is not None:
        _try_to_write(plot)


def _try_to_write(plot: Path) -> None:
    """Before anything is drawn; some folders let nobody in who was told that they may."""
    there = plot.exists()
    try:
        plot.open("ab").close()
        if not there:
            plot.unlink()
    except OSError as error:
        reason = (error.strerror or "it cannot be used").lower()
        raise InvalidArgument(
            name="--plot",
            expected="a file that can be written",
            given=f"{InvalidArgument.describe_parameter(str(plot))}: {reason}",
        ) from None


def _check_alone(claimed: Claimed, effort: Effort, plot: Path | None) -> None:
    if (claimed, effort, plot) != (Claimed(), Effort(), None):
        raise InvalidArgument(
            name=_LECTURES,
            expected="given without other options than --json",
            given="more",
            hint="a file of that name is meant by lectures.py:NAME",
        )
