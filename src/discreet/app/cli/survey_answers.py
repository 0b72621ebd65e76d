"""True answers on their way in: asked for on the terminal, or given; never printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from discreet.app.cli.dialect import called
from discreet.app.cli.printing import console, note
from discreet.errors import InvalidArgument
from discreet.printable import one_line

_LISTED = 30  # options; of more, the exact text is asked for
_SHORT = {"y": "yes", "n": "no"}


@dataclass(frozen=True)
class Given:
    """Answers that are not asked for."""

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
        """Given in one way at most; and with --json there is nobody to ask."""
        if self.answer and self.answers:
            raise InvalidArgument(
                name="--answer and --answers", expected="given one at a time", given="both"
            )
        if not may_ask and not self.answer and not self.answers:
            raise InvalidArgument(
                name="--answers", expected="given with --json, which asks nothing", given="nothing"
            )


def read_or_ask(form: Any, given: Given) -> dict[str, Any]:
    """The answers of one person."""
    if given.answers is not None:
        return _from_file(given.answers)
    if given.answer:
        return _from_options(form, given.answer)
    return {question.name: _asked(question) for question in form.questions}


@contextmanager
def answers_named(form: Any) -> Iterator[None]:
    """A mistake is that of an answer, whatever the name of its question: --epsilon is none."""
    with ExitStack() as stack:
        stack.enter_context(called("the answers", "answers"))
        for question in form.questions:
            stack.enter_context(called(f"the answer to {question.name}", question.name))
        yield


def _from_file(path: Path) -> dict[str, Any]:
    """What the file holds; no message says what that is."""
    try:
        answers = json.loads(path.read_bytes())
    except ValueError:  # a wrong encoding too
        answers = None
    if not isinstance(answers, dict):
        raise InvalidArgument(
            name="--answers",
            expected='a JSON file such as {"smoker": "yes", "sports": ["chess"]}',
            given="something else",
        )
    return answers


def _from_options(form: Any, given: list[str]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for one in given:
        name, equals, answer = one.partition("=")
        if not equals:
            raise InvalidArgument(
                name="--answer", expected="NAME=ANSWER", given="something without ="
            )
        with called("the NAME in --answer", "name"):
            kind = form[name].kind
        if kind == "choose_any":
            answers.setdefault(name, []).extend([answer] if answer else [])
        elif name in answers:
            raise InvalidArgument(
                name="--answer", expected="given once for each question", given=f"{name} twice"
            )
        else:
            answers[name] = answer
    return answers


def tell(words: str) -> None:
    """What a respondent has to read, on standard error: as bright as what they type."""
    for line in words.split("\n"):
        console(sys.stderr).print(one_line(line), soft_wrap=True)


def _asked(question: Any) -> Any:
    """Ask until the answer is one."""
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
            tell("please, again:")
            continue
        return answer


def _typed() -> str:
    """The next line. Who stops here has sent nothing and left no file behind."""
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
        name="--answers",
        expected="given where nobody can be asked",
        given="nothing, and no line of text on standard input",
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
    """Numbers with spaces or commas between them, or texts with commas.

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
    """A choice by its number, or as it is."""
    if word.isdecimal() and 1 <= int(word) <= len(choices):
        return choices[int(word) - 1]
    return word
