"""Questionnaires as TOML: a file that people write, and that is read back exactly.

title = "Health"
respondents = 10000

[[question]]
name = "smoker"
kind = "yes_no"
text = "Do you smoke?"
truth = 0.5

[[question]]
name = "town"
kind = "choose_one"
text = "Where do you live?"
options_file = "towns.txt"      # one a line, in this file's folder or below
epsilon = "3/2"
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterable
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from discreet.errors import InvalidArgument
from discreet.survey.questionnaire import Questionnaire
from discreet.survey.questions import KINDS, Question
from discreet.survey.toml_text import assignment

_TOP = ("title", "respondents", "waves", "post", "question")


def to_toml(form: Questionnaire) -> str:
    """The questionnaire as text that `from_toml` reads back to the same value.

    >>> from discreet.survey import Questionnaire, YesNo
    >>> form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", truth=0.5)])
    >>> print(to_toml(form))
    title = "Health"
    <BLANKLINE>
    [[question]]
    name = "smoker"
    kind = "yes_no"
    text = "Do you smoke?"
    truth = 0.5
    <BLANKLINE>
    >>> from_toml(to_toml(form)) == form
    True
    """
    top: dict[str, Any] = {"title": form.title}
    if form.respondents is not None:
        top["respondents"] = form.respondents
    if form.waves != 1:
        top["waves"] = form.waves
    if form.post is not None:
        top["post"] = form.post
    tables = [_lines(top), *(_question_lines(question) for question in form.questions)]
    return "\n\n".join(tables) + "\n"


def _question_lines(question: Question) -> str:
    named = {"name": question.name, "kind": question.kind, "text": question.text}
    return "[[question]]\n" + _lines(named | question.fields())


def _lines(table: dict[str, Any]) -> str:
    return "\n".join(assignment(key, value) for key, value in table.items())


def from_toml(source: str | Path) -> Questionnaire:
    """Read a file by its path, or the text itself (which has a line break or a = in it)."""
    folder: Path | None = None
    if isinstance(source, Path) or not ("\n" in source or "=" in source):
        path = Path(source)
        folder, source = path.parent, _read_file(path, "the questionnaire")
    try:
        # decimals stay as they were typed
        table = tomllib.loads(source, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError) as failure:
        mistake = str(failure) or "nested too deeply"
    else:
        return _questionnaire(table, folder)
    raise InvalidArgument(
        name="the questionnaire", expected="TOML", given=f"text with a mistake: {mistake}"
    )


def _questionnaire(table: dict[str, Any], folder: Path | None) -> Questionnaire:
    _check_keys(table, _TOP, where="the questionnaire", needed=("title", "question"))
    questions = table.pop("question")
    if not isinstance(questions, list) or not all(isinstance(each, dict) for each in questions):
        raise InvalidArgument(
            name="question",
            expected="a table for each question, each headed [[question]]",
            given=InvalidArgument.describe_parameter(questions),
        )
    title = table.pop("title")
    made = [_question(fields, place, folder) for place, fields in enumerate(questions, start=1)]
    return Questionnaire(title, made, **table)


def _question(fields: dict[str, Any], place: int, folder: Path | None) -> Question:
    label = fields.get("name")
    where = f"question {place}" + (f" ({label})" if isinstance(label, str) else "")
    kind = KINDS.get(kind_name) if isinstance(kind_name := fields.get("kind"), str) else None
    if kind is None:
        raise InvalidArgument(
            name=f"kind of {where}",
            expected="one of " + ", ".join(KINDS),
            given=InvalidArgument.describe_parameter(kind_name),
            hint=_near(str(kind_name), KINDS),
        )
    known = list(inspect.signature(kind).parameters)
    files = ["options_file"] if "options" in known else []
    _check_keys(fields, ["kind", *known, *files], where=where, needed=("name", "text"))
    arguments = {key: value for key, value in fields.items() if key != "kind"}
    if {"options", "options_file"} <= arguments.keys():
        raise InvalidArgument(
            name=f"options of {where}",
            expected="listed, or in a file",
            given="both options and options_file",
        )
    try:
        if "options_file" in arguments:
            arguments["options"] = _read_options(arguments.pop("options_file"), folder)
        _check_keys(arguments, known, where=where, needed=_needed(kind))
        made: Question = kind(**arguments)
        return made
    except InvalidArgument as refusal:
        refusal.add_note(f"in {where}")
        raise


def _needed(kind: type) -> tuple[str, ...]:
    parameters = inspect.signature(kind).parameters.values()
    return tuple(each.name for each in parameters if each.default is each.empty)


def _read_options(value: object, folder: Path | None) -> list[str]:
    """One option a line; the file lies in the questionnaire's folder or below it."""
    if folder is None:
        raise InvalidArgument(
            name="options_file",
            expected="beside a questionnaire that is read from a file",
            given="a questionnaire that is read from text",
            hint="pass the path of the TOML file",
        )
    home = folder.resolve()
    path = (home / value).resolve() if isinstance(value, str) and value else home
    if path == home or not path.is_relative_to(home):
        raise InvalidArgument(
            name="options_file",
            expected="the name of a file in the questionnaire's folder, or in a folder below it",
            given=InvalidArgument.describe_parameter(value),
        )
    lines = _read_file(path, "options_file").split("\n")
    options = [line.rstrip("\r") for line in lines]
    return options[:-1] if options[-1] == "" else options


def _read_file(path: Path, name: str) -> str:
    """Text in UTF-8, with or without the mark that some editors put in front."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as failure:
        mistake = f"{path.name}, which cannot be read ({failure.strerror})"
    except UnicodeDecodeError:
        mistake = f"{path.name}, which is not"
    raise InvalidArgument(name=name, expected="a file of text in UTF-8", given=mistake)


def _check_keys(
    table: dict[str, Any], known: Iterable[str], *, where: str, needed: Iterable[str]
) -> None:
    known = list(known)
    for key in table:
        if key not in known:
            raise InvalidArgument(
                name=f"a key of {where}",
                expected="one of " + ", ".join(known),
                given=InvalidArgument.describe_parameter(key),
                hint=_near(key, known),
            )
    for key in needed:
        if key not in table:
            hint = "add a table [[question]]" if key == "question" else f"add {key} = ..."
            expected = f"there, in {where}"
            raise InvalidArgument(name=key, expected=expected, given="nothing", hint=hint)


def _near(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]}?" if near else ""
