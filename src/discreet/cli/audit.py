"""``discreet audit``: try to break a privacy claim, your own or anybody's.

A target is typed as ``module:name`` or ``file.py:name``. That code is the user's own, and it is
run. Errors it raises are reported only by class and line, as their messages may quote data.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from typer import Exit

from discreet.cli import failures
from discreet.cli.failures import called
from discreet.cli.options import Text, argument, flag, option
from discreet.cli.output import AsJson, console, note, say, show_document
from discreet.cli.paths import check_outputs
from discreet.errors import DiscreetError, InvalidArgument, Phrase, one_line
from discreet.hints import meant
from discreet.plot import check_installed

if TYPE_CHECKING:
    from discreet.auditor.finding import Finding
    from discreet.auditor.verify import Verification
    from discreet.guarantees import Guarantee


# -- what is audited -------------------------------------------------------------------------------


_SHOWN = 12  # names of a module
_HOW = "as in survey.py:answer, or package.module:answer"


class Named(NamedTuple):
    """An object of a module, and the module, in which names given alone are looked up."""

    module: Any
    thing: Any


def named(text: str, *, option: str) -> Named:
    """Import what is named; the current folder and that of a file are on the import path.

    >>> named("math:floor", option="TARGET").thing(1.5)
    1
    """
    place, _, path = text.rpartition(":")
    if not place or not all(part.isidentifier() for part in path.split(".")):
        raise InvalidArgument.of(
            option, "a module or a file, a colon, and a name in it", text, hint=_HOW
        )
    module = _module(place, option=option)
    return Named(module, found_in(module, path, option=option))


def found_in(module: Any, path: str, *, option: str) -> Any:
    """What has this name, which may be dotted, in a module."""
    thing = module
    for part in path.split("."):
        if not hasattr(thing, part):
            raise InvalidArgument.of(
                option, f"a name in {module.__name__}", path, hint=_names(module, path)
            )
        thing = getattr(thing, part)
    return thing


def _names(module: Any, wanted: str) -> str:
    """The names that a module defines, the nearest first, without the modules it imports."""
    public = sorted(
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and not isinstance(thing, ModuleType)
    )
    if not public:
        return "there is none"
    more = len(public) - _SHOWN
    shown = ", ".join(public[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{meant(wanted, public)} there are {shown}".lstrip()


def pair_of(text: str, beside: Any) -> tuple[Any, Any]:
    """Two inputs: written out in Python or JSON, or the name of a pair.

    >>> pair_of("0,1", None), pair_of("[1, 2], [1, 3]", None), pair_of("true, null", None)
    ((0, 1), ([1, 2], [1, 3]), (True, None))
    """
    value = _written(text)
    if value is None and "," in text:
        raise InvalidArgument.of(
            "--pair",
            "two inputs, or the name of two",
            text,
            hint="text needs quotes of its own, as in --pair \"'yes','no'\"",
        )
    if value is None:
        value = _named_or_beside(text, beside, option="--pair")
    is_list = isinstance(value, tuple | list)
    if not is_list or len(value) != 2:
        raise InvalidArgument(
            "--pair",
            "two inputs",
            str(len(value)) if is_list else InvalidArgument.describe_data(value),
            hint="written out, as in --pair 0,1 or --pair '[1, 2], [1, 3]', or the name of two, "
            "as in --pair survey.py:pair",
        )
    return value[0], value[1]


def neighbors_of(text: str, beside: Any) -> Iterator[Any]:
    """Pairs of neighbouring inputs, from a function that yields them or returns one per call."""
    found = _named_or_beside(text, beside, option="--neighbors")
    if not callable(found):
        raise _no_neighbors(InvalidArgument.describe_data(found))
    return _pairs(found)


def _pairs(function: Callable[[], Any]) -> Iterator[Any]:
    try:
        first = function()
        if isinstance(first, Iterator):
            yield from first
            return
        while True:
            yield first
            first = function()
    except (Exception, SystemExit) as error:
        told = _no_neighbors(f"one that {_raised(error)}")
    raise told


def _no_neighbors(given: str) -> InvalidArgument:
    return InvalidArgument("--neighbors", "a function that gives pairs of inputs", given)


def _named_or_beside(text: str, beside: Any, *, option: str) -> Any:
    """``module:name``, or a name alone, which is looked up in the audited module."""
    if text.isidentifier():
        return found_in(beside, text, option=option)
    return named(text, option=option).thing


def _written(text: str) -> Any:
    """The value of a Python or JSON literal; None if the text is neither."""
    for reading, words in ((ast.literal_eval, text), (json.loads, f"[{text}]")):
        try:
            return reading(words)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None


def _module(place: str, *, option: str) -> Any:
    is_file = place.endswith(".py")
    if is_file and not Path(place).is_file():
        raise InvalidArgument.of(option, "a file that is there", place, hint=_HOW)
    folders = [*([Path(place).resolve().parent] if is_file else []), Path.cwd()]
    sys.path[:0] = [folder for folder in map(str, folders) if folder not in sys.path]
    try:
        return _loaded(Path(place)) if is_file else importlib.import_module(place)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        unknown = missing is not None and f"{place}.".startswith(f"{missing}.")
        raise InvalidArgument(
            option,
            "in a module that can be imported",
            f"no module {place}" if unknown else f"one that {_raised(error)}",
            hint=_HOW if unknown else "import it in Python to see more",
        ) from None


def _loaded(file: Path) -> Any:
    """A file, loaded once as a module of its name, or of another name if that one is taken."""
    name = file.stem
    there = sys.modules.get(name)
    if there is not None and getattr(there, "__file__", None) == str(file.resolve()):
        return there
    name = name if there is None else f"{name}_in_{file.resolve().parent.name}"
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look a module up by its name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def told_of(found: Named) -> Iterator[None]:
    """Report what the audited code raises in its own file as its mistake, not as our bug."""
    files = {getattr(found.module, "__file__", None)}
    kind = sys.modules.get(type(found.thing).__module__)
    if not type(found.thing).__module__.startswith("discreet."):
        files.add(getattr(kind, "__file__", None))
    try:
        yield
    except DiscreetError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [frame for frame in frames if frame.filename in files]
        if not theirs:
            raise
        told = InvalidArgument(
            "TARGET",
            "one whose law and guarantee can be asked for",
            f"one that {_raised(error, theirs)}",
        )
    else:
        return
    raise told


def _raised(error: BaseException, frames: Sequence[traceback.FrameSummary] | None = None) -> str:
    """The class and line of an error from the user's code, never its message."""
    last = (traceback.extract_tb(error.__traceback__) if frames is None else frames)[-1:]
    where = f" in line {last[0].lineno} of {Path(last[0].filename).name}" if last else ""
    if isinstance(error, SyntaxError) and error.filename:
        where = f" in line {error.lineno} of {Path(error.filename).name}"
    return f"raised {type(error).__name__}{where}"


# -- the claim -------------------------------------------------------------------------------------


_LETTERS: Final = {"ε": "epsilon", "δ": "delta", "ρ": "rho", "μ": "mu"}
_FORMS: Final = ("epsilon=1", "epsilon=1,delta=1e-5", "rho=0.1", "mu=1", "tv=0.2")
HOW: Final = "say " + " or ".join(f"--claim {form}" for form in _FORMS)


def claim_of(text: str) -> Guarantee:
    """The guarantee that was typed; its numbers are exact.

    >>> claim_of("epsilon=1/3"), claim_of("delta=1e-5, epsilon=1")
    (Pure(epsilon=Fraction(1, 3)), Approx(epsilon=Fraction(1, 1), delta=Fraction(1, 100000)))
    """
    from discreet.guarantees import TotalVariation
    from discreet.guarantees.guarantee import KINDS
    from discreet.guarantees.notion import Budget

    kinds = [kind for kind in KINDS.values() if issubclass(kind, Budget | TotalVariation)]
    given: dict[str, str] = {}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        name = _LETTERS.get(name, name)
        if name in given or not number:
            raise _unreadable(text)
        given[name] = number
    kind: Any = next((kind for kind in kinds if kind.fields.keys() == given.keys()), None)
    if kind is None:
        raise _unreadable(text)
    with called({name: f"the {name} of --claim" for name in given}):
        return kind(**given)  # type: ignore[no-any-return]


def _unreadable(text: str) -> InvalidArgument:
    return InvalidArgument.of("--claim", "one claim with its numbers", text, hint=HOW)


# -- progress --------------------------------------------------------------------------------------


@contextmanager
def shown_progress() -> Iterator[Callable[[float, str], None]]:
    """A function that shows the share that is done and what is being done in a bar, which vanishes
    at the end."""
    if not _on_a_terminal():
        yield lambda done, words: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Elapsed())
    with Progress(*columns, console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)

        def progress(done: float, words: str) -> None:
            bar.update(task, completed=done, description=one_line(words))

        yield progress


def _on_a_terminal() -> bool:
    return sys.stderr.isatty()


# -- the report ------------------------------------------------------------------------------------


_LONGEST: Final = 60  # letters of an input
_NOT_RUN: Final = (
    "not looked at, and nothing drawn: say --pair, since the law is about other inputs than release"
)


@dataclass(frozen=True)
class Audited:
    """What both routes found; one of them may not have been possible."""

    target: str
    finding: Finding | None
    verification: Verification | None
    suggested: bool = False  #: no pair was given, and those that the law suggests were tried
    picture: Path | None = None

    @property
    def violated(self) -> bool:
        """Whether either route refuted the claim."""
        return any(route is not None and route.violated for route in self._routes)

    @property
    def _routes(self) -> tuple[Verification | None, Finding | None]:
        return self.verification, self.finding

    @property
    def verdict(self) -> str:
        """The verdict in one line. A search that found nothing is never presented as a proof."""
        claim = next(route.claim for route in self._routes if route is not None)
        exact = self.verification
        if exact is not None and exact.violated:
            return f"Violated: {claim} is false, by its law"
        if self.violated:
            return f"Violated: {claim} is false, by its outputs"
        if exact is not None and exact.holds and exact.proven:
            return (
                f"No violation of {claim} found; its law keeps it, but that the code follows "
                "its law is not proved"
            )
        return f"No violation of {claim} found, which is not a proof"

    @property
    def _pair(self) -> list[str] | None:
        """Which inputs were chosen; None if they were given, since then they may be data."""
        if not self.suggested or self.finding is None or self.finding.witness is None:
            return None
        texts = map(str, self.finding.witness.pair)
        return [t if len(t) <= _LONGEST else f"{t[: _LONGEST - 1]}…" for t in texts]

    def show(self, *, as_json: bool) -> None:
        if as_json:
            exact, finding = (route and json.loads(route.to_json()) for route in self._routes)
            told = {
                "target": self.target,
                "violated": self.violated,
                "verdict": self.verdict,
                "suggested_pair": self._pair,
                "finding": finding,
                "verification": exact,
                "plot": self.picture and str(self.picture),
            }
            show_document("audit", told)
            return
        lines = [] if self.finding is None else str(self.finding).splitlines()
        style = "bold red" if self.violated else "bold yellow"
        if self.verification is None:
            say(lines[0], style=style)
            say(*lines[1:])
        else:
            say(self.verdict, style=style)
            say("", "By its law:", *_indented(str(self.verification).splitlines()))
            lines = lines or [_NOT_RUN]
            if (pair := self._pair) is not None:
                lines = ["No pair was given: pair[0] is {}, pair[1] is {}.".format(*pair), *lines]
            say("", "By its outputs:", *_indented(lines))
        if self.picture is not None:
            note(f"the picture is in {self.picture}")


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


# -- the command -----------------------------------------------------------------------------------


_PICTURES = (".svg", ".png", ".html")


@dataclass(frozen=True)
class Claimed:
    """What is claimed, and about which neighbours."""

    claim: Text = option(
        "What is promised, exact: epsilon=1, epsilon=1,delta=1e-5, rho=0.1, mu=1 or "
        "tv=0.2. A mechanism's own guarantee unless given.",
        "CLAIM",
    )
    pair: Text = option(
        "Two neighbouring inputs, written in Python or JSON as in 0,1, or the name of "
        "two: NAME beside the callable, or MODULE:NAME. A mechanism with a law needs none.",
        "X,Y|NAME",
    )
    neighbors: Text = option(
        "Instead of --pair: a function without arguments that yields such pairs, or "
        "returns one per call; the most revealing pair is sought.",
        "NAME",
    )


@dataclass(frozen=True)
class Effort:
    """How long to try, and how sure to be."""

    batched: bool = flag(
        "--batched", "Call it as run(input, size=n), which returns n outputs at once."
    )
    seconds: float | None = option("How many seconds to try; 5 unless given.", "NUMBER")
    samples: int | None = option(
        "Instead of --seconds: how many outputs of each input to draw.", "N"
    )
    confidence: float = option(
        "How sure a violation must be; 1 - 1e-9 unless given.",
        "NUMBER",
        default=1 - 1e-9,
        show_default=False,
    )


def audit(
    *,
    target: str = argument(
        "What to audit: MODULE:NAME or FILE.py:NAME, a function of one input or a mechanism.",
        "TARGET",
    ),
    claimed: Claimed,
    effort: Effort,
    plot: Path | None = option(
        "Draw both output laws, with the telling event shaded: .svg, .png or .html.", "FILE"
    ),
    printed: AsJson,
) -> None:
    """Try to break a claim: find an event that tells two neighbouring inputs apart.

    Imports and runs the code that is named, and exits with 9 if it finds one.

    No violation found is not a proof. A mechanism with a law is verified exactly too.

    \b
    Example:
      discreet audit survey.py:answer --claim epsilon=2 --pair 0,1 --seconds 0.5
      discreet audit survey.py:count --samples 5000 --plot laws.svg
    """
    _check_picture(plot)
    # What the audited code prints is not part of the report.
    with redirect_stdout(sys.stderr):
        report = _tried(target, claimed, effort)
    report, unwritten = _drawn(report, plot)
    report.show(as_json=printed.json)
    if report.violated:
        if unwritten is not None:
            note(failures.message_of(unwritten))
        raise Exit(failures.VIOLATED)
    if unwritten is not None:
        raise unwritten


def _drawn(report: Audited, plot: Path | None) -> tuple[Audited, OSError | None]:
    """The report with its picture, or the error: a failed picture must not lose the findings."""
    if plot is None or report.finding is None:
        return report, None
    try:
        report.finding.plot().save(plot)
    except OSError as error:
        return report, error
    return replace(report, picture=plot), None


def _tried(target: str, claimed: Claimed, effort: Effort) -> Audited:
    """Try the exact route if there is a law, then the statistical one if it can be run."""
    from discreet.auditor.audit import audit as try_to_break
    from discreet.auditor.subject import Subject

    found = named(target, option="TARGET")
    with told_of(found):
        subject = Subject.of(found.thing)
    if claimed.claim is None and subject.claim is None:
        raise InvalidArgument.missing("--claim", "given", hint=HOW)
    claim = subject.claimed(None if claimed.claim is None else claim_of(claimed.claim))
    given = _inputs(found, claimed)
    suggested = False
    run, at_once = subject.drawn(effort.batched)
    if effort.seconds is not None and effort.samples is not None:
        raise InvalidArgument.conflict("--seconds and --samples", "given one at a time")
    with shown_progress() as progress:
        with told_of(found):
            verification = _verified(found.thing, claim, given, progress)
        if verification is None and not given:
            raise InvalidArgument.missing(
                "--pair",
                "two neighbouring inputs to tell apart",
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


def _inputs(found: Named, claimed: Claimed) -> dict[str, Any]:
    if claimed.pair is not None and claimed.neighbors is not None:
        raise InvalidArgument.conflict("--pair and --neighbors", "given one at a time")
    if claimed.pair is not None:
        return {"pair": pair_of(claimed.pair, found.module)}
    if claimed.neighbors is not None:
        return {"neighbors": neighbors_of(claimed.neighbors, found.module)}
    return {}


def _verified(
    thing: Any, claim: Guarantee, given: dict[str, Any], progress: Any
) -> Verification | None:
    """Verify by the laws themselves, on all neighbours the mechanism knows or on the given pair."""
    knows_all = hasattr(thing, "inputs")
    if not hasattr(thing, "law") or not (knows_all or "pair" in given):
        return None
    from discreet.auditor.verify import verify

    progress(0.0, "exact route")
    return verify(thing, claim, pairs=None if knows_all else [given["pair"]])


def _check_picture(plot: Path | None) -> None:
    check_outputs({"--plot": plot})
    if plot is None:
        return
    if plot.suffix.lower() not in _PICTURES:
        raise InvalidArgument.of("--plot", "a name that ends in .svg, .png or .html", str(plot))
    check_installed()
    there = plot.exists()
    try:  # to write it, before anything is drawn; permissions alone may be wrong
        plot.open("ab").close()
        if not there:
            plot.unlink()
    except OSError as error:
        reason = (error.strerror or "it cannot be used").lower()
        raise InvalidArgument(
            "--plot",
            "a file that can be written",
            Phrase("{}: {}", InvalidArgument.describe_parameter(str(plot)), reason),
        ) from None
