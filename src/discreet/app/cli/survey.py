"""``discreet survey``: questionnaires that people answer safely, from a file to estimates."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Context, Option, Typer

from discreet.app.cli.options import flat
from discreet.app.cli.outputs import check_places
from discreet.app.cli.printing import AsJson, console, note, say, show_document
from discreet.app.cli.survey_answers import Given, answers_named, read_or_ask, tell
from discreet.app.cli.survey_collect import Estimating, Shown, found_document, found_lines
from discreet.app.cli.survey_files import (
    add_line,
    check_page_name,
    check_questionnaire_name,
    check_reports_name,
    read_questionnaire,
)
from discreet.app.cli.survey_new import Asked, written_questionnaire
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.survey import Memory, Questionnaire
    from discreet.survey.reports import Report

survey_app = Typer(name="survey")

_WIDEST: Final = 100  # characters a line of a card; longer ones are hard to read

_File = Annotated[
    Path, Argument(help="The questionnaire, a TOML file.", metavar="QUESTIONNAIRE.toml")
]
_Force = Annotated[bool, Option("--force", help="Write over a file that is there.")]
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
    asked: Asked,
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
    check_places({"QUESTIONNAIRE.toml": file}, new=not force)
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
    given: Given,
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
    """Answer on this machine: prints the card, asks, and lets randomized answers out alone.

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
    check_places({"--out": out, "--memory": memory}, kept=[str(questionnaire)])
    asked = _wave_of(form, wave)
    kept = None if memory is None else Memory(memory)
    card = form.card()
    report = _answered(form, kept, asked)
    again = report is not None
    given.check(may_ask=again or not printed.json)
    if again and not printed.json:
        note(
            f"{_round(form, asked)} was answered already: this is the same report again. No answer "
            "was asked for or used, as another draw would tell more than was promised"
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
    estimating: Estimating,
    shown: Shown,
    printed: AsJson,
) -> None:
    """Estimate from reports, with intervals; what cannot be counted is set aside and said.

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
    check_places({"--out": place}, kept=[str(questionnaire)], new=not force)
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
    """The wave that was named; where there are several, none is meant by saying nothing."""
    if wave is None and form.waves == 1:
        return 1
    if wave is None or not 1 <= wave <= form.waves:
        raise InvalidArgument(
            name="--wave",
            expected=f"given, as a number from 1 to {form.waves:,}"
            if form.waves > 1
            else "1, or left out",
            given="nothing" if wave is None else str(wave),
            hint="waves = N in the questionnaire says how many there are",
        )
    return wave


def _round(form: Questionnaire, wave: int) -> str:
    return f"wave {wave:,} of {form.waves:,}" if form.waves > 1 else "this questionnaire"


def _answered(form: Questionnaire, memory: Memory | None, wave: int) -> Report | None:
    """The report of this wave, if a memory has it; one that is not there yet stays so."""
    if memory is None or not memory.path.exists():
        return None
    with memory.opened(form) as kept:
        return kept.report(wave)
