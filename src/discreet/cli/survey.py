"""``discreet survey``: questionnaires that people answer safely, from a file to estimates.

True answers are asked for on the terminal or given as options, and never printed. Mistakes in a
questionnaire are reported in its own terms, and a report is added to a file in one piece.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import MISSING, dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.cli.failures import called, in_toml
from discreet.cli.options import Text, Texts, argument, flag, group, option
from discreet.cli.output import AsJson, console, note, say, show_document
from discreet.cli.paths import check_outputs
from discreet.errors import InvalidArgument, Phrase, one_line
from discreet.plot import check_installed

if TYPE_CHECKING:
    from discreet.survey import Memory, Questionnaire
    from discreet.survey.estimates.survey_result import SurveyResult
    from discreet.survey.questions import Question
    from discreet.survey.reports import Report


# -- new questionnaires ----------------------------------------------------------------------------


TEMPLATE: Final = "questionnaire.toml"  # beside this file: what a new one may look like


@dataclass(frozen=True)
class QuestionnaireOptions:
    """Questions from the command line; a file can say more."""

    title: Text = option("The title.", "TEXT")
    yes_no: Texts = option("A question for yes or no. Repeat for more.", "NAME=TEXT")
    choose_one: Texts = option(
        "One of several answers (in quotes, one may hold commas). Repeat for more.",
        "NAME=TEXT=A,B,C",
    )
    choose_any: Texts = option("Any of several answers. Repeat for more.", "NAME=TEXT=A,B,C")
    number: Texts = option("A number in a range. Repeat for more.", "NAME=TEXT=LOWER:UPPER")
    epsilon: Text = option("What each question may cost.", "NUMBER")
    truth: Text = option("Instead: the chance that the truth is told.", "PROBABILITY")
    respondents: int | None = option("How many are expected, for the stated errors.", "N")
    waves: int = option("How often the same people are asked.", "N", default=1)
    post: Text = option("Where the page may send reports.", "URL")


def written_questionnaire(asked: QuestionnaireOptions) -> str:
    """The questions given, as TOML; the template if there are none."""
    if asked == QuestionnaireOptions():
        return (files("discreet.cli") / TEMPLATE).read_text("utf-8")
    from discreet.survey import Questionnaire
    from discreet.survey.questions import KINDS

    if (asked.epsilon is None) == (asked.truth is None):
        raise InvalidArgument(
            "--epsilon or --truth",
            "given, and only one of them",
            "none" if asked.epsilon is None else "both",
            hint="it says how much each answer may reveal",
        )
    questions = [
        _question(kind, one, asked)
        for name, kind in KINDS.items()
        for one in getattr(asked, name, None) or ()
    ]
    for missing, there in (("--title", asked.title), ("a question such as --yes-no", questions)):
        if there is None or there == []:
            raise InvalidArgument(
                missing,
                "given too, for a questionnaire made from options",
                "none",
                hint="without any option a template is written",
            )
    assert asked.title is not None
    with called({name: f"--{name}" for name in ("title", "respondents", "waves", "post")}):
        form = Questionnaire(
            asked.title,
            questions,
            respondents=asked.respondents,
            waves=asked.waves,
            post=asked.post,
        )
    return form.to_toml()


def _question(kind: type[Question], given: str, asked: QuestionnaireOptions) -> Question:
    option, more = f"--{kind.kind.replace('_', '-')}", 2 if kind.answers else 1
    name, *rest = (part.strip() for part in given.split("=", more))
    if len(rest) != more:
        raise InvalidArgument.of(
            option,
            "NAME=TEXT=ANSWERS" if kind.answers else "NAME=TEXT",
            given,
            hint='as in "smoker=Do you smoke?" or "town=Where do you live?=Aford,Beeham"',
        )
    promise: dict[str, Any] = (
        {"truth": asked.truth} if asked.epsilon is None else {"epsilon": asked.epsilon}
    )
    if not kind.exclusive and asked.truth is not None:
        raise InvalidArgument(
            option, "given with --epsilon", "--truth", hint="--truth is about one answer"
        )
    with called({"options": option}):
        answers = kind.arguments("".join(rest[1:]))
    named = f"{option} {name}:"
    parts = {"truth": "--truth", "name": f"{option}: NAME", "text": f"{named} TEXT"}
    bounds = {"bounds": f"{named} LOWER:UPPER"}
    with (
        called({**parts, "options": f"{named} its options"}),
        called(bounds, hint='as in "age=How old are you?=0:100"'),
    ):
        return kind(name, rest[0], **promise, **answers)


# -- reading true answers --------------------------------------------------------------------------


@dataclass(frozen=True)
class GivenAnswers:
    """Answers given as options rather than asked for."""

    answer: Texts = option(
        "An answer; repeat for each question, and for each choice of several.", "NAME=ANSWER"
    )
    answers: Path | None = option("All answers, a JSON file of names and answers.", "FILE.json")

    def check(self, *, may_ask: bool) -> None:
        """Refuse answers given in two ways, and missing ones with --json, when nobody is asked."""
        if self.answer and self.answers:
            raise InvalidArgument.conflict("--answer and --answers", "given one at a time")
        if not may_ask and not self.answer and not self.answers:
            raise InvalidArgument.missing("--answers", "given with --json, which asks nothing")


def read_or_ask(form: Any, given: GivenAnswers) -> dict[str, Any]:
    if given.answers is not None:
        return _from_file(given.answers)
    if given.answer:
        return _from_options(form, given.answer)
    return {question.name: _asked(question) for question in form.questions}


def _from_file(path: Path) -> dict[str, Any]:
    """The answers in a file; no error message quotes them."""
    try:
        answers = json.loads(path.read_bytes())
    except ValueError:  # a wrong encoding too
        answers = None
    if not isinstance(answers, dict):
        raise InvalidArgument(
            "--answers",
            'a JSON file such as {"smoker": "yes", "sports": ["chess"]}',
            "something else",
        )
    return answers


def _from_options(form: Any, given: list[str]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for one in given:
        name, equals, answer = one.partition("=")
        if not equals:
            raise InvalidArgument("--answer", "NAME=ANSWER", "something without =")
        with called({"name": "the NAME in --answer"}):
            exclusive = form[name].exclusive
        if not exclusive:
            answers.setdefault(name, []).extend([answer] if answer else [])
        elif name in answers:
            raise InvalidArgument("--answer", "given once for each question", f"{name} twice")
        else:
            answers[name] = answer
    return answers


def tell(words: str) -> None:
    """Print what a respondent has to read on standard error, as bright as what they type."""
    for line in words.split("\n"):
        console(sys.stderr).print(one_line(line), soft_wrap=True)


def _asked(question: Question) -> Any:
    """Ask until the answer is a valid one."""
    tell("")
    tell(question.text)
    for place, choice in enumerate(question.choices, start=1):
        tell(f"  {place}. {choice}")
    while True:
        print(f"{question.prompt()}: ", end="", file=sys.stderr, flush=True)
        answer = question.typed(_typed().strip())
        try:
            question.read(answer)
        except InvalidArgument:
            tell("please try again:")
            continue
        return answer


def _typed() -> str:
    """The next line. Whoever stops here has sent nothing and left no file behind."""
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        note("", "stopped: nothing was randomized, sent or written")
        raise
    except UnicodeDecodeError:
        line = ""
    if line:
        return line
    note("")
    raise InvalidArgument(
        "--answers",
        "given where nobody can be asked",
        "nothing, and no line of text on standard input",
        hint="nothing was randomized, sent or written",
    )


# -- what reports say ------------------------------------------------------------------------------


_PICTURES = (".svg", ".png", ".html")
_TABLES = (".csv", ".parquet")
_HINTS = {
    "other survey": "reports of another survey have answered another questionnaire, or this one "
    "before its title, waves, a question or an ε was changed: collect those with the file of that "
    "time",
    "other wave": "reports of another wave are collected with its number: --wave N",
}
_NO_GAIN = 0.99  # of the local ε: above this, shuffling gains nothing worth mentioning
_CONFIDENCE = option("How sure each interval is to hold the truth.", "SHARE", default="0.95")


@dataclass(frozen=True)
class EstimateOptions:
    """What is estimated, at what confidence, and about whom."""

    cross: Texts = option("Cross these two questions. Repeat for more tables.", "NAME,NAME")
    confidence: str = _CONFIDENCE
    about: str = option(
        "Intervals about the population that respondents are a random sample of, or "
        "about these respondents themselves.",
        "population|respondents",
        default="population",
    )
    shuffled: bool = flag(
        "--shuffled",
        "Say what is promised where these reports were shuffled by somebody trusted, and "
        "ids and times removed; needs --delta.",
    )
    delta: Text = option("With --shuffled: the δ of that promise.", "NUMBER")

    def check(self) -> None:
        """Refuse --shuffled without --delta, or the reverse, before any report is read."""
        if self.shuffled != (self.delta is not None):
            raise InvalidArgument(
                "--shuffled and --delta",
                "given together",
                "one of them",
                hint="as in --shuffled --delta 1e-6",
            )

    def result(self, form: Any, reports: list[Path], wave: int | None) -> SurveyResult:
        from discreet.survey import collect

        pairs = [_pair(names) for names in self.cross or ()]
        about: Any = self.about
        with called({"source": "REPORTS", "name": "each NAME in --cross"}):
            return collect(
                form, *reports, cross=pairs, wave=wave, confidence=self.confidence, about=about
            )

    def central(self, form: Any, result: SurveyResult) -> dict[str, Any] | None:
        """The promise against anyone who sees only the shuffled reports of this wave."""
        if self.delta is None or not result.respondents:
            return None
        from discreet.guarantees import compose
        from discreet.numeric.exact import probability
        from discreet.survey import Shuffled

        delta = probability(self.delta, name="delta")
        once = compose([question.randomizer.guarantee for question in form.questions])
        central = Shuffled(once, respondents=result.respondents)
        return {
            "epsilon": central.epsilon(delta),
            "delta": delta,
            "local_epsilon": central.local,
            "respondents": central.respondents,
            "waves": form.waves,
        }


@dataclass(frozen=True)
class EstimateOutput:
    """What is written to files, apart from what is printed."""

    projected: bool = flag(
        "--projected", "Also the nearest proper shares, none negative: biased, without intervals."
    )
    plot: Path | None = option("Draw the estimates: .svg, .png or .html.", "FILE")
    out: Path | None = option("Write the estimates to this file, .csv or .parquet.", "FILE")
    force: bool = flag("--force", "Overwrite existing files.")

    def check(self, *, kept: list[str]) -> None:
        places = {"--plot": self.plot, "--out": self.out}
        check_outputs(places, kept=kept, new=not self.force)
        if self.plot is not None:
            check_installed()
        check_ending("--plot", self.plot, _PICTURES)
        check_ending("--out", self.out, _TABLES)

    def write(self, result: SurveyResult) -> None:
        if self.plot is not None:
            result.plot().save(self.plot)
        if self.out is not None and self.out.suffix.lower() == ".csv":
            from discreet.release.exports import to_csv

            to_csv(result.to_arrow(), self.out)
        elif self.out is not None:
            import pyarrow.parquet as pq

            pq.write_table(result.to_arrow(), self.out)


def found_lines(
    result: SurveyResult, central: dict[str, Any] | None, shown: EstimateOutput
) -> Iterator[str]:
    """All findings, for reading; only the reason if there is nothing to estimate from."""
    if not result.respondents:
        aside = ", ".join(f"{count:,} {reason}" for reason, count in result.set_aside.items())
        yield f"{result.title}: no report could be counted"
        if aside:
            yield f"set aside: {aside}"
        yield from (f"note: {sentence}" for sentence in (*result.notes, *_hints(result)))
        return
    yield from str(result).splitlines()
    yield from (f"note: {hint}" for hint in _hints(result))
    for table in result.tables.values():
        yield from ("", *str(table).splitlines())
    if shown.projected:
        yield ""
        yield "post-processed to proper shares: biased, and without intervals"
        for name, shares in _projected(result).items():
            largest = sorted(shares.items(), key=lambda one: -one[1])[:20]
            yield f"  {name}: " + ", ".join(f"{label} {100 * x:.1f} %" for label, x in largest)
    if central is not None:
        yield from ("", *_promise(central))


def _hints(result: SurveyResult) -> list[str]:
    """What can be done about reports that were set aside."""
    return [hint for reason, hint in _HINTS.items() if reason in result.set_aside]


def _promise(central: dict[str, Any]) -> Iterator[str]:
    seen = (
        f"against all who see these {central['respondents']:,} reports only after somebody "
        "trusted removed ids and times and shuffled them"
    )
    local = f"ε = {central['local_epsilon']:.4g}"
    if central["epsilon"] > _NO_GAIN * central["local_epsilon"]:
        yield f"shuffled: no better than {local}, {seen}: ε is too large, or there are too few"
        return
    yield (
        f"shuffled: (ε, δ) = ({central['epsilon']:.4g}, {float(central['delta']):g}) for each "
        f"respondent, {seen}; {local} against everybody else"
    )
    yield "  it hides what somebody answered, not that they did, and counts on honest respondents"
    if central["waves"] > 1:
        yield "  it is about this wave; whoever sees several is held by the local promise alone"


def found_document(
    result: SurveyResult, central: dict[str, Any] | None, shown: EstimateOutput
) -> dict[str, Any]:
    return {
        "title": result.title,
        "respondents": result.respondents,
        "set_aside": dict(result.set_aside),
        "confidence": result.confidence,
        "about": result.about,
        "estimates": result.to_arrow().to_pylist(),
        "cross": {
            ",".join(names): table.to_arrow().to_pylist() for names, table in result.tables.items()
        },
        **({"projected": _projected(result)} if shown.projected else {}),
        "promised": result.cost,
        "shuffled": central,
        "notes": [*result.notes, *_hints(result)],
        "plot": shown.plot and str(shown.plot),
        "file": shown.out and str(shown.out),
    }


def _projected(result: SurveyResult) -> dict[str, dict[str, float]]:
    return {
        name: dict(zip(nearest.labels, nearest.values.tolist(), strict=True))
        for name, estimate in result.estimates.items()
        if hasattr(estimate, "projected")
        for nearest in [estimate.projected()]
    }


def _pair(names: str) -> tuple[str, str]:
    first, _, second = names.partition(",")
    pair = first.strip(), second.strip()
    if not all(pair) or len(set(pair)) < 2:
        raise InvalidArgument.of(
            "--cross", "the names of two different questions, as in smoker,town", names
        )
    return pair


# -- questionnaires and reports as files -----------------------------------------------------------


_TOML: Final = (".toml",)
_LINES: Final = (".jsonl", ".ndjson")
_PAGES: Final = (".html", ".htm")
_OTHERS: Final = {
    **dict.fromkeys((*_LINES, ".json", ".csv", ".parquet"), "reports"),
    **dict.fromkeys(_PAGES, "the page of a questionnaire"),
}


def read_questionnaire(path: Path) -> Questionnaire:
    """Read a file; an error about it names the file and the question."""
    from discreet.survey import Questionnaire

    if not path.is_file():
        raise InvalidArgument.of(
            "QUESTIONNAIRE.toml",
            "a file that is there",
            str(path),
            code="not-found",
            hint="" if path.exists() else "discreet survey new FILE.toml writes one",
        )
    looks = _OTHERS.get(path.suffix.lower())
    if looks is not None:
        raise InvalidArgument(
            "QUESTIONNAIRE.toml",
            "a TOML file that asks the questions",
            Phrase("{}, which looks like {}", InvalidArgument.describe_parameter(str(path)), looks),
            hint="the questionnaire is named first",
        )
    try:
        return Questionnaire.from_toml(path)
    except InvalidArgument as mistake:  # it is about this file, not about an option
        found = in_toml(mistake, path.name)
    raise found


def check_ending(option: str, path: Path | None, endings: tuple[str, ...]) -> None:
    """Refuse a name that other programs, or ``collect``, would not recognise."""
    if path is not None and path.suffix.lower() not in endings:
        raise InvalidArgument.of(option, f"a name that ends in {' or '.join(endings)}", str(path))


def add_line(path: Path, line: str) -> None:
    """Add one line to a file that others may be adding to at this moment.

    Each line goes to the end in one piece, under a lock where the system has locks. If the last
    line was left unfinished, the new one still starts on a line of its own.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    with open(descriptor, "r+b", buffering=0) as file:
        with suppress(ImportError, OSError):  # without locks, rely on one write at the end
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX)  # until it is closed
        text = f"{line}\n".encode()
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            text = text if file.read(1) == b"\n" else b"\n" + text
        while text:
            text = text[file.write(text) :]


# -- the commands ----------------------------------------------------------------------------------


_WIDEST: Final = 100  # characters per line of a card; longer lines are hard to read

_FILE = argument("The questionnaire, a TOML file.", "QUESTIONNAIRE.toml")
_FORCE = flag("--force", "Overwrite an existing file.")
_WAVE = option("Which wave; needed where people are asked more than once.", "N")


def new(
    *,
    file: Path = argument("Where the questionnaire goes.", "QUESTIONNAIRE.toml"),
    asked: QuestionnaireOptions,
    force: bool = _FORCE,
    printed: AsJson,
) -> None:
    """Write a questionnaire: from the questions given, or a template with comments to edit.

    \b
    Example:
      discreet survey new template.toml
      discreet survey new health.toml --title Health --truth 0.5 \\
        --yes-no "smoker=Do you smoke?" \\
        --choose-one "town=Where do you live?=Aford,Beeham,Ceton"
      discreet survey new monthly.toml --title Monthly --epsilon 1 \\
        --waves 12 --yes-no "smoker=Do you smoke?"
    """
    from discreet.survey import Questionnaire

    check_ending("QUESTIONNAIRE.toml", file, _TOML)
    check_outputs({"QUESTIONNAIRE.toml": file}, new=not force)
    text = written_questionnaire(asked)
    form = Questionnaire.from_toml(text)
    with file.open("w" if force else "x", encoding="utf-8") as written:
        written.write(text)
    lines = (*form.explain().splitlines(), "", f"written to {file}")
    printed.tell("survey new", {"file": str(file), **_facts(form)}, *lines)


def respond(
    *,
    questionnaire: Path = _FILE,
    given: GivenAnswers,
    memory: Path | None = option(
        "Where randomized answers are remembered, so that asking again draws nothing "
        "anew; needed for several waves, and for a permanent question.",
        "FILE",
    ),
    wave: int | None = _WAVE,
    out: Path | None = option("Add the report to this file of JSON lines.", "FILE.jsonl"),
    printed: AsJson,
) -> None:
    """Answer on this machine: prints the card, asks, and lets only randomized answers out.

    The card and the questions go to standard error, the report to standard output. What is typed
    at a question is kept nowhere; --answer is kept by a shell's history, --answers by its file.

    \b
    Example:
      discreet survey respond health.toml --answer smoker=yes \\
        --answer town=Beeham --out reports.jsonl
      discreet survey respond monthly.toml --answer smoker=no --wave 1 \\
        --memory mine.json
    """
    from discreet.survey import Memory

    form = read_questionnaire(questionnaire)
    check_ending("--out", out, _LINES)
    check_outputs({"--out": out, "--memory": memory}, kept=[str(questionnaire)])
    asked = _wave_of(form, wave)
    kept = None if memory is None else Memory(memory)
    card = form.card()
    report = _answered(form, kept, asked)
    again = report is not None
    given.check(may_ask=again or not printed.json)
    if again and not printed.json:
        note(
            f"{_round(form, asked)} was answered already: this is the same report again. No answer "
            "was asked for or used, as another draw would reveal more than was promised"
        )
    elif not printed.json:
        tell(card.text(min(console(sys.stderr).width, _WIDEST)))
    if report is None:
        answers = read_or_ask(form, given)
        # About an answer, even if its question is named like an option.
        names = {one.name: f"the answer to {one.name}" for one in form.questions}
        with called({"answers": "the answers", **names}):
            report = form.respond(answers, memory=kept, wave=asked)
    if out is not None:
        add_line(out, report.to_json())
    if printed.json:
        facts = {"card": str(card), "report": report.document(), "again": again}
        show_document("survey respond", {**facts, "file": out and str(out)})
    elif out is None:
        print(report.to_json())
    else:
        say(f"the randomized answers are in {out}")


def collect(
    *,
    questionnaire: Path = _FILE,
    reports: list[Path] = argument("Reports: .jsonl, .csv or .parquet files.", "REPORTS..."),
    wave: int | None = _WAVE,
    estimating: EstimateOptions,
    shown: EstimateOutput,
    printed: AsJson,
) -> None:
    """Estimate from reports, with intervals; what cannot be counted is set aside and reported.

    \b
    Example:
      discreet survey collect health.toml reports.jsonl
      discreet survey collect health.toml reports.jsonl --cross smoker,town \\
        --plot shares.svg --out estimates.csv
      discreet survey collect health.toml reports.jsonl --shuffled --delta 1e-6
    """
    form = read_questionnaire(questionnaire)
    estimating.check()
    shown.check(kept=[str(questionnaire), *map(str, reports)])
    result = estimating.result(form, reports, wave)
    central = estimating.central(form, result)
    shown.write(result)
    if printed.json:
        show_document("survey collect", found_document(result, central, shown))
    else:
        say(*found_lines(result, central, shown))


def plan(
    *,
    questionnaire: Path = _FILE,
    half_width: str = option(
        "How wide an interval may be, to each side: 0.01 is one point of a share, or a "
        "hundredth of a number's range.",
        "SHARE",
        default=MISSING,
    ),
    confidence: str = _CONFIDENCE,
    share: Text = option("The share that is expected; the worst one unless given.", "SHARE"),
    printed: AsJson,
) -> None:
    """How many respondents a questionnaire needs, and how many at another ε.

    \b
    Example:
      discreet survey plan health.toml --half-width 0.01
    """
    from discreet.survey import plan as planned

    form = read_questionnaire(questionnaire)
    made = planned(form, half_width=half_width, confidence=confidence, share=share)
    if printed.json:
        facts = {"respondents": made.respondents, "needed": made.needed, "over": made.over()}
        show_document("survey plan", {**facts, "notes": _notes(form)})
        return
    say(*str(made).splitlines())
    note(*_notes(form))


def page(
    *,
    questionnaire: Path = _FILE,
    out: Path | None = option(
        "Where the page goes; beside the questionnaire, as .html, unless given.", "FILE.html"
    ),
    wave: int | None = _WAVE,
    force: bool = _FORCE,
    printed: AsJson,
) -> None:
    """Write a web page that asks the questions and lets only randomized answers leave it.

    It is one file that needs nothing else: open it, send it by mail, or put it on a server.

    \b
    Example:
      discreet survey page health.toml
      discreet survey page health.toml --out index.html
    """
    from discreet.survey import write_page

    form = read_questionnaire(questionnaire)
    asked = _wave_of(form, wave)
    place = questionnaire.with_suffix(".html") if out is None else out
    check_ending("--out", place, _PAGES)
    check_outputs({"--out": place}, kept=[str(questionnaire)], new=not force)
    write_page(form, place, wave=asked)
    if printed.json:
        show_document("survey page", {"file": str(place), "wave": asked, **_facts(form)})
        return
    goes = f"sends reports to {form.post}" if form.post else "saves the report as a file"
    which = f"the page of {_round(form, asked)}" if form.waves > 1 else "the page"
    say(f"{which} is in {place}; it {goes}")
    note(*_notes(form))


def _facts(form: Questionnaire) -> dict[str, Any]:
    return {
        "survey": form.digest,
        "epsilon": float(form.epsilon),
        "questions": {
            q.name: {"epsilon": float(q.randomizer.epsilon), "mechanism": q.randomizer.name}
            for q in form.questions
        },
        "notes": _notes(form),
    }


def _notes(form: Questionnaire) -> list[str]:
    from discreet.survey.questionnaire import hides_little

    return hides_little(form)


def _wave_of(form: Questionnaire, wave: int | None) -> int:
    """The wave that was named; if there are several, it must be."""
    if wave is None and form.waves == 1:
        return 1
    if wave is None or not 1 <= wave <= form.waves:
        raise InvalidArgument(
            "--wave",
            f"given, as a number from 1 to {form.waves:,}" if form.waves > 1 else "1, or left out",
            "nothing" if wave is None else str(wave),
            hint="waves = N in the questionnaire says how many there are",
        )
    return wave


def _round(form: Questionnaire, wave: int) -> str:
    return f"wave {wave:,} of {form.waves:,}" if form.waves > 1 else "this questionnaire"


def _answered(form: Questionnaire, memory: Memory | None, wave: int) -> Report | None:
    """The report of this wave, if a memory has it; a missing memory is not created."""
    if memory is None or not memory.path.exists():
        return None
    with memory.opened(form) as kept:
        return kept.report(wave)


survey_app = group(
    "survey",
    "Questionnaires whose answers are randomized before they leave their owner.",
    *(new, respond, collect, plan, page),
)
