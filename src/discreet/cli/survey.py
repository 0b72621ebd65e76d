"""``discreet survey``: questionnaires that people answer safely, from a file to estimates.

True answers are asked for on the terminal or given as options, and never printed. Mistakes in a
questionnaire are reported in its own terms, and a report is added to a file in one piece.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Context, Option, Typer

from discreet.cli.failures import called, in_toml
from discreet.cli.options import flat
from discreet.cli.output import AsJson, console, note, say, show_document
from discreet.cli.paths import check_outputs
from discreet.errors import InvalidArgument, Phrase, one_line
from discreet.plot import check_installed

if TYPE_CHECKING:
    from discreet.survey import Memory, Questionnaire
    from discreet.survey.estimates.survey_result import SurveyResult
    from discreet.survey.reports import Report


# -- new questionnaires ----------------------------------------------------------------------------


TEMPLATE: Final = """\
# A questionnaire. Every answer is randomized on the respondent's own machine.
#   discreet survey plan THIS_FILE --half-width 0.01    how many respondents it takes
#   discreet survey page THIS_FILE                      a web page that asks it
#   discreet survey collect THIS_FILE reports.jsonl     what the reports say
title = "Health in our town"
respondents = 10000             # how many are expected, for the stated errors
# waves = 12                    # how often the same people are asked; costs add up
# post = "https://example.org/reports"      # where the page may send reports

# How much an answer may reveal is set by epsilon, or by truth: the chance that the truth is told;
# otherwise a fair coin or die decides. truth = 0.5 for yes or no is epsilon = ln 3 = 1.0986.
[[question]]
name = "smoker"                 # heads a column of the reports
kind = "yes_no"
text = "Do you smoke?"
truth = 0.5
prior = 0.2                     # how sure somebody may be beforehand, for the card

[[question]]
name = "town"
kind = "choose_one"
text = "Where do you live?"
options = ["Aford", "Beeham", "Ceton", "elsewhere"]     # or options_file = "towns.txt"
epsilon = 1
# permanent = true              # the first randomized answer is kept and sent every time

[[question]]
name = "sports"
kind = "choose_any"
text = "Which of these do you do?"
options = ["football", "swimming", "chess"]
epsilon = 1

[[question]]
name = "age"
kind = "number"
text = "How old are you?"
bounds = [0, 100]
unit = "years"
epsilon = 1
"""


@dataclass(frozen=True)
class QuestionnaireOptions:
    """Questions from the command line; a file can say more."""

    title: Annotated[str | None, Option(help="The title.", metavar="TEXT")] = None
    yes_no: Annotated[
        list[str] | None,
        Option(help="A question for yes or no. Repeat for more.", metavar="NAME=TEXT"),
    ] = None
    choose_one: Annotated[
        list[str] | None,
        Option(
            help="One of several answers (in quotes, one may hold commas). Repeat for more.",
            metavar="NAME=TEXT=A,B,C",
        ),
    ] = None
    choose_any: Annotated[
        list[str] | None,
        Option(help="Any of several answers. Repeat for more.", metavar="NAME=TEXT=A,B,C"),
    ] = None
    number: Annotated[
        list[str] | None,
        Option(help="A number in a range. Repeat for more.", metavar="NAME=TEXT=LOWER:UPPER"),
    ] = None
    epsilon: Annotated[
        str | None, Option(help="What each question may cost.", metavar="NUMBER")
    ] = None
    truth: Annotated[
        str | None,
        Option(help="Instead: the chance that the truth is told.", metavar="PROBABILITY"),
    ] = None
    respondents: Annotated[
        int | None, Option(help="How many are expected, for the stated errors.", metavar="N")
    ] = None
    waves: Annotated[int, Option(help="How often the same people are asked.", metavar="N")] = 1
    post: Annotated[str | None, Option(help="Where the page may send reports.", metavar="URL")] = (
        None
    )


def written_questionnaire(asked: QuestionnaireOptions) -> str:
    """The questions given, as TOML; the template if there are none."""
    if asked == QuestionnaireOptions():
        return TEMPLATE
    from discreet.survey import ChooseAny, ChooseOne, Number, Questionnaire, YesNo

    kinds: dict[str, tuple[list[str] | None, Callable[..., Any], int]] = {
        "--yes-no": (asked.yes_no, YesNo, 2),
        "--choose-one": (asked.choose_one, ChooseOne, 3),
        "--choose-any": (asked.choose_any, ChooseAny, 3),
        "--number": (asked.number, Number, 3),
    }
    if (asked.epsilon is None) == (asked.truth is None):
        raise InvalidArgument(
            "--epsilon or --truth",
            "given, and only one of them",
            "none" if asked.epsilon is None else "both",
            hint="it says how much each answer may reveal",
        )
    questions = [
        _question(option, one, make, parts, asked)
        for option, (given, make, parts) in kinds.items()
        for one in given or ()
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
    with ExitStack() as stack:
        for name in ("title", "respondents", "waves", "post"):
            stack.enter_context(called(f"--{name}", name))
        form = Questionnaire(
            asked.title,
            questions,
            respondents=asked.respondents,
            waves=asked.waves,
            post=asked.post,
        )
    return form.to_toml()


def _question(
    option: str, given: str, make: Callable[..., Any], parts: int, asked: QuestionnaireOptions
) -> Any:
    name, *rest = (part.strip() for part in given.split("=", parts - 1))
    if len(rest) != parts - 1:
        raise InvalidArgument.of(
            option,
            "NAME=TEXT" if parts == 2 else "NAME=TEXT=ANSWERS",
            given,
            hint='as in "smoker=Do you smoke?" or "town=Where do you live?=Aford,Beeham"',
        )
    promise: dict[str, Any] = (
        {"truth": asked.truth} if asked.epsilon is None else {"epsilon": asked.epsilon}
    )
    if option == "--choose-any" and asked.truth is not None:
        raise InvalidArgument(
            "--choose-any", "given with --epsilon", "--truth", hint="--truth is about one answer"
        )
    if option == "--number":
        lower, _, upper = rest[1].partition(":")
        promise["bounds"] = lower.strip(), upper.strip()
    elif parts == 3:
        promise["options"] = _options(option, rest[1])
    named = f"{option} {name}:"
    with (
        called("--truth", "truth"),
        called(f"{option}: NAME", "name"),
        called(f"{named} TEXT", "text"),
        called(f"{named} its options", "options"),
        called(f"{named} LOWER:UPPER", "bounds", hint='as in "age=How old are you?=0:100"'),
    ):
        return make(name, rest[0], **promise)


def _options(option: str, given: str) -> list[str]:
    """Options separated by commas; one that has a comma itself is in quotes.

    >>> _options("--choose-one", 'Aford, "Beeham, upper part",Ceton')
    ['Aford', 'Beeham, upper part', 'Ceton']
    """
    try:
        (row,) = csv.reader([given], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise InvalidArgument(
            option,
            "options with commas between them",
            "quotes that do not match",
            hint='an option with a comma is written in quotes, as in "A, B",C',
        ) from None
    return [answer.strip() for answer in row]


# -- reading true answers --------------------------------------------------------------------------


_LISTED = 30  # options; if there are more, the exact text is asked for
_SHORT = {"y": "yes", "n": "no"}


@dataclass(frozen=True)
class GivenAnswers:
    """Answers given as options rather than asked for."""

    answer: Annotated[
        list[str] | None,
        Option(
            help="An answer; repeat for each question, and for each choice of several.",
            metavar="NAME=ANSWER",
        ),
    ] = None
    answers: Annotated[
        Path | None,
        Option(help="All answers, a JSON file of names and answers.", metavar="FILE.json"),
    ] = None

    def check(self, *, may_ask: bool) -> None:
        """Refuse answers given in two ways, and missing ones with --json, when nobody is asked."""
        if self.answer and self.answers:
            raise InvalidArgument.conflict("--answer and --answers", "given one at a time")
        if not may_ask and not self.answer and not self.answers:
            raise InvalidArgument.missing("--answers", "given with --json, which asks nothing")


def read_or_ask(form: Any, given: GivenAnswers) -> dict[str, Any]:
    """The answers of one person."""
    if given.answers is not None:
        return _from_file(given.answers)
    if given.answer:
        return _from_options(form, given.answer)
    return {question.name: _asked(question) for question in form.questions}


@contextmanager
def answers_named(form: Any) -> Iterator[None]:
    """Report errors as being about an answer, even if its question is named like an option."""
    with ExitStack() as stack:
        stack.enter_context(called("the answers", "answers"))
        for question in form.questions:
            stack.enter_context(called(f"the answer to {question.name}", question.name))
        yield


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
        with called("the NAME in --answer", "name"):
            kind = form[name].kind
        if kind == "choose_any":
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


def _asked(question: Any) -> Any:
    """Ask until the answer is a valid one."""
    tell("")
    tell(question.text)
    how, choices = _how(question)
    for place, choice in enumerate(choices, start=1):
        tell(f"  {place}. {choice}")
    while True:
        print(f"{how}: ", end="", file=sys.stderr, flush=True)
        line = _typed()
        answer = _read_line(question, line.strip(), choices)
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
        note("")
        note("stopped: nothing was randomized, sent or written")
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


def _how(question: Any) -> tuple[str, list[str]]:
    """What to type, and the choices that are listed."""
    if question.kind == "yes_no":
        return "yes or no", []
    if question.kind == "number":
        unit = f" {question.unit}" if question.unit else ""
        lower, upper = (f"{float(end):g}" for end in (question.lower, question.upper))
        return f"a number from {lower} to {upper}{unit}", []
    if len(question.categories) > _LISTED:
        return "the exact text of one of the options", []
    choices = list(question.categories)
    if question.kind == "choose_any":
        most = f", at most {question.most}" if question.most else ""
        return f"the numbers of all that apply{most}, with spaces between; or nothing", choices
    return "the number of one of them", choices


def _read_line(question: Any, line: str, choices: list[str]) -> Any:
    if question.kind == "yes_no":
        return _SHORT.get(line.lower(), line)
    if question.kind == "choose_any":
        return _choices(line, choices) if choices else [line]
    return _choice(line, choices)


def _choices(line: str, choices: list[str]) -> list[str]:
    """Numbers separated by spaces or commas, or texts separated by commas.

    >>> _choices("3 1", ["golf", "chess", "tennis"]), _choices("golf, 2", ["golf", "chess"])
    (['tennis', 'golf'], ['golf', 'chess'])
    """
    if line in choices and not line.isdecimal():  # a text may have commas itself
        return [line]
    found: list[str] = []
    for part in filter(None, map(str.strip, line.split(","))):
        numbered = [_choice(word, choices) for word in part.split()]
        found += numbered if set(numbered) <= set(choices) else [part]
    return found


def _choice(word: str, choices: list[str]) -> str:
    """A choice given by its number, or else the text itself."""
    if word.isdecimal() and 1 <= int(word) <= len(choices):
        return choices[int(word) - 1]
    return word


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


@dataclass(frozen=True)
class EstimateOptions:
    """What is estimated, at what confidence, and about whom."""

    cross: Annotated[
        list[str] | None,
        Option(help="Cross these two questions. Repeat for more tables.", metavar="NAME,NAME"),
    ] = None
    confidence: Annotated[
        str,
        Option(help="How sure each interval is to hold the truth.", metavar="SHARE"),
    ] = "0.95"
    about: Annotated[
        str,
        Option(
            help="Intervals about the population that respondents are a random sample of, or "
            "about these respondents themselves.",
            metavar="population|respondents",
        ),
    ] = "population"
    shuffled: Annotated[
        bool,
        Option(
            "--shuffled",
            help="Say what is promised where these reports were shuffled by somebody trusted, and "
            "ids and times removed; needs --delta.",
        ),
    ] = False
    delta: Annotated[
        str | None,
        Option(help="With --shuffled: the δ of that promise.", metavar="NUMBER"),
    ] = None

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
        """The estimates."""
        from discreet.survey import collect

        pairs = [_pair(names) for names in self.cross or ()]
        about: Any = self.about
        with called("REPORTS", "source"), called("each NAME in --cross", "name"):
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

    projected: Annotated[
        bool,
        Option(
            "--projected",
            help="Also the nearest proper shares, none negative: biased, without intervals.",
        ),
    ] = False
    plot: Annotated[
        Path | None,
        Option(help="Draw the estimates: .svg, .png or .html.", metavar="FILE"),
    ] = None
    out: Annotated[
        Path | None,
        Option(help="Write the estimates to this file, .csv or .parquet.", metavar="FILE"),
    ] = None
    force: Annotated[bool, Option("--force", help="Overwrite existing files.")] = False

    def check(self, *, kept: list[str]) -> None:
        """Refuse files that cannot be written."""
        places = {"--plot": self.plot, "--out": self.out}
        check_outputs(places, kept=kept, new=not self.force)
        if self.plot is not None:
            check_installed()
        for (option, path), endings in zip(places.items(), (_PICTURES, _TABLES), strict=True):
            if path is not None:
                _check_ending(option, path, endings)

    def write(self, result: SurveyResult) -> None:
        """Write the picture and the table."""
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
        yield from _nothing(result)
        return
    yield from str(result).splitlines()
    yield from _hints(result)
    for table in result.tables.values():
        yield ""
        yield from str(table).splitlines()
    if shown.projected:
        yield ""
        yield "post-processed to proper shares: biased, and without intervals"
        for name, shares in _projected(result).items():
            largest = sorted(shares.items(), key=lambda one: -one[1])[:20]
            yield f"  {name}: " + ", ".join(f"{label} {100 * x:.1f} %" for label, x in largest)
    if central is not None:
        yield ""
        yield from _promise(central)


def _nothing(result: SurveyResult) -> Iterator[str]:
    aside = ", ".join(f"{count:,} {reason}" for reason, count in result.set_aside.items())
    yield f"{result.title}: no report could be counted"
    if aside:
        yield f"set aside: {aside}"
    yield from (f"note: {sentence}" for sentence in result.notes)
    yield from _hints(result)


def _hints(result: SurveyResult) -> list[str]:
    """What can be done about reports that were set aside."""
    return [f"note: {hint}" for reason, hint in _HINTS.items() if reason in result.set_aside]


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
    """All findings as a document."""
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
        "notes": [*result.notes, *(h.removeprefix("note: ") for h in _hints(result))],
        "plot": shown.plot and str(shown.plot),
        "file": shown.out and str(shown.out),
    }


def _projected(result: SurveyResult) -> dict[str, dict[str, float]]:
    return {
        name: dict(zip(nearest.labels, nearest.values.tolist(), strict=True))
        for name, nearest in (
            (name, estimate.projected())
            for name, estimate in result.estimates.items()
            if hasattr(estimate, "projected")
        )
    }


def _pair(names: str) -> tuple[str, str]:
    first, comma, second = names.partition(",")
    pair = first.strip(), second.strip()
    if not comma or not all(pair) or len(set(pair)) < 2:
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
    with told_of(path):
        return Questionnaire.from_toml(path)


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """Report errors inside this block as being about this file, not about an option."""
    try:
        yield
        return
    except InvalidArgument as mistake:
        found = in_toml(mistake, path.name)
    raise found


def check_questionnaire_name(path: Path) -> None:
    """Refuse a name for a new questionnaire that does not end in .toml."""
    _check_ending("QUESTIONNAIRE.toml", path, _TOML)


def check_reports_name(path: Path | None) -> None:
    """Refuse a name that ``collect`` would not recognise as a file of JSON lines."""
    if path is not None:
        _check_ending("--out", path, _LINES)


def check_page_name(path: Path) -> None:
    """Refuse a name that browsers would not open as a page."""
    _check_ending("--out", path, _PAGES)


def _check_ending(option: str, path: Path, endings: tuple[str, ...]) -> None:
    if path.suffix.lower() not in endings:
        raise InvalidArgument.of(option, f"a name that ends in {' or '.join(endings)}", str(path))


def add_line(path: Path, line: str) -> None:
    """Add one line to a file that others may be adding to at this moment.

    Each line goes to the end in one piece, under a lock where the system has locks. If the last
    line was left unfinished, the new one still starts on a line of its own.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    with open(descriptor, "r+b", buffering=0) as file:
        _lock(descriptor)
        text = f"{line}\n".encode()
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            text = text if file.read(1) == b"\n" else b"\n" + text
        while text:
            text = text[file.write(text) :]


def _lock(descriptor: int) -> None:
    """Lock the file until it is closed; on systems without locks, rely on one write at the end."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except (ImportError, OSError):
        return


# -- the commands ----------------------------------------------------------------------------------


survey_app = Typer(name="survey")

_WIDEST: Final = 100  # characters per line of a card; longer lines are hard to read

_File = Annotated[
    Path, Argument(help="The questionnaire, a TOML file.", metavar="QUESTIONNAIRE.toml")
]
_Force = Annotated[bool, Option("--force", help="Overwrite an existing file.")]
_Wave = Annotated[
    int | None,
    Option(help="Which wave; needed where people are asked more than once.", metavar="N"),
]


@survey_app.callback(invoke_without_command=True)
def survey(context: Context) -> None:
    """Questionnaires whose answers are randomized before they leave their owner."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@survey_app.command("new")
@flat
def new(
    file: Annotated[
        Path, Argument(help="Where the questionnaire goes.", metavar="QUESTIONNAIRE.toml")
    ],
    asked: QuestionnaireOptions,
    force: _Force = False,
    *,
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

    check_questionnaire_name(file)
    check_outputs({"QUESTIONNAIRE.toml": file}, new=not force)
    text = written_questionnaire(asked)
    form = Questionnaire.from_toml(text)
    with file.open("w" if force else "x", encoding="utf-8") as written:
        written.write(text)
    if printed.json:
        show_document("survey new", {"file": str(file), **_facts(form)})
        return
    say(*form.explain().splitlines(), "", f"written to {file}")


@survey_app.command("respond")
@flat
def respond(
    questionnaire: _File,
    given: GivenAnswers,
    memory: Annotated[
        Path | None,
        Option(
            help="Where randomized answers are remembered, so that asking again draws nothing "
            "anew; needed for several waves, and for a permanent question.",
            metavar="FILE",
        ),
    ] = None,
    wave: _Wave = None,
    out: Annotated[
        Path | None,
        Option(help="Add the report to this file of JSON lines.", metavar="FILE.jsonl"),
    ] = None,
    *,
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
    check_reports_name(out)
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
        with answers_named(form):
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


@survey_app.command("collect")
@flat
def collect(
    questionnaire: _File,
    reports: Annotated[
        list[Path],
        Argument(help="Reports: .jsonl, .csv or .parquet files.", metavar="REPORTS..."),
    ],
    wave: _Wave = None,
    *,
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
        document = found_document(result, central, shown)
        show_document("survey collect", document)
        return
    say(*found_lines(result, central, shown))


@survey_app.command("plan")
@flat
def plan(
    questionnaire: _File,
    half_width: Annotated[
        str,
        Option(
            help="How wide an interval may be, to each side: 0.01 is one point of a share, or a "
            "hundredth of a number's range.",
            metavar="SHARE",
        ),
    ],
    confidence: Annotated[
        str, Option(help="How sure each interval is to hold the truth.", metavar="SHARE")
    ] = "0.95",
    share: Annotated[
        str | None,
        Option(help="The share that is expected; the worst one unless given.", metavar="SHARE"),
    ] = None,
    *,
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
        table = made.over()
        facts = {"respondents": made.respondents, "needed": made.needed, "over": table}
        show_document("survey plan", {**facts, "notes": _notes(form)})
        return
    say(*str(made).splitlines())
    for sentence in _notes(form):
        note(sentence)


@survey_app.command("page")
@flat
def page(
    questionnaire: _File,
    out: Annotated[
        Path | None,
        Option(
            help="Where the page goes; beside the questionnaire, as .html, unless given.",
            metavar="FILE.html",
        ),
    ] = None,
    wave: _Wave = None,
    force: _Force = False,
    *,
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
    check_page_name(place)
    check_outputs({"--out": place}, kept=[str(questionnaire)], new=not force)
    write_page(form, place, wave=asked)
    if printed.json:
        show_document("survey page", {"file": str(place), "wave": asked, **_facts(form)})
        return
    goes = f"sends reports to {form.post}" if form.post else "saves the report as a file"
    which = f"the page of {_round(form, asked)}" if form.waves > 1 else "the page"
    say(f"{which} is in {place}; it {goes}")
    for sentence in _notes(form):
        note(sentence)


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
    from discreet.survey.explanation import hides_little

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
