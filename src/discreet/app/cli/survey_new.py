"""Questionnaires from options, and the template that explains itself."""

from __future__ import annotations

import csv
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated, Any, Final

from typer import Option

from discreet.app.cli.dialect import called
from discreet.errors import InvalidArgument

TEMPLATE: Final = """\
# A questionnaire. Every answer is randomized on the respondent's own machine.
#   discreet survey plan THIS_FILE --half-width 0.01    how many respondents it takes
#   discreet survey page THIS_FILE                      a web page that asks it
#   discreet survey collect THIS_FILE reports.jsonl     what the reports say
title = "Health in our town"
respondents = 10000             # how many are expected, for the stated errors
# waves = 12                    # how often the same people are asked; costs add up
# post = "https://example.org/reports"      # where the page may send reports

# How much an answer may tell is said by epsilon, or by truth: the chance that the truth is told,
# a fair coin or die deciding otherwise. truth = 0.5 for yes or no is epsilon = ln 3 = 1.0986.
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
class Asked:
    """Questions from the command line; a file says more."""

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


def written_questionnaire(asked: Asked) -> str:
    """As TOML: the questions given, or the template if nothing is."""
    if asked == Asked():
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
            name="--epsilon or --truth",
            expected="given, and only one of them",
            given="none" if asked.epsilon is None else "both",
            hint="it says how much each answer may tell",
        )
    questions = [
        _question(option, one, make, parts, asked)
        for option, (given, make, parts) in kinds.items()
        for one in given or ()
    ]
    for missing, there in (("--title", asked.title), ("a question such as --yes-no", questions)):
        if there is None or there == []:
            raise InvalidArgument(
                name=missing,
                expected="given too, for a questionnaire made from options",
                given="none",
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


def _question(option: str, given: str, make: Callable[..., Any], parts: int, asked: Asked) -> Any:
    name, *rest = (part.strip() for part in given.split("=", parts - 1))
    if len(rest) != parts - 1:
        raise InvalidArgument(
            name=option,
            expected="NAME=TEXT" if parts == 2 else "NAME=TEXT=ANSWERS",
            given=InvalidArgument.describe_parameter(given),
            hint='as in "smoker=Do you smoke?" or "town=Where do you live?=Aford,Beeham"',
        )
    promise: dict[str, Any] = (
        {"truth": asked.truth} if asked.epsilon is None else {"epsilon": asked.epsilon}
    )
    if option == "--choose-any" and asked.truth is not None:
        raise InvalidArgument(
            name="--choose-any",
            expected="given with --epsilon",
            given="--truth",
            hint="--truth is about one answer",
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
    """With commas between them; in quotes an option may have some itself.

    >>> _options("--choose-one", 'Aford, "Beeham, upper part",Ceton')
    ['Aford', 'Beeham, upper part', 'Ceton']
    """
    try:
        (row,) = csv.reader([given], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise InvalidArgument(
            name=option,
            expected="options with commas between them",
            given="quotes that do not match",
            hint='an option with a comma is written in quotes, as in "A, B",C',
        ) from None
    return [answer.strip() for answer in row]
