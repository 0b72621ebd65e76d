"""A questionnaire as a frozen value, and as a TOML file that people write.

The value says what is asked, and what answering all of it can cost. The file is read back exactly:

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
    options_file = "towns.txt"      # one per line, in this file's folder or below
    epsilon = "3/2"
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from numpy.typing import ArrayLike

from discreet.errors import Idiom, InternalError, InvalidArgument, Phrase
from discreet.guarantees import Guarantee, compose
from discreet.hints import meant, spelled
from discreet.lazy import cached_property
from discreet.numeric import canonical, decimals
from discreet.numeric.exact import Number, integer
from discreet.survey.estimates.text import counted
from discreet.survey.questions import KINDS, Question
from discreet.survey.questions.question import read_text

if TYPE_CHECKING:
    from discreet.survey.card import Card
    from discreet.survey.reports import Report, Reports
    from discreet.survey.respondent import Memory


MOST_QUESTIONS: Final = 1000
MOST_WAVES: Final = 10_000
# The tolerance of the composition's bounds: a card of ten questions takes some 50 ms. Different
# laws are convolved one by one, so a thousand of them take seconds, once.
_TOLERANCE: Final = 1e-3
_NORMAL_95: Final = 1.959964
_LITTLE: Final = 10  # at this ε, odds of 1 to 99 may become e^10 = 22,026 to 99
_NAMED: Final = 5  # questions in a note
# Reports say little even if they are intercepted, but a page sent over a plain connection can be
# replaced on its way by one that does not randomize.
_ADDRESS: Final = re.compile(
    r"(https://[^\s<>\"'\\/@:?#\[\]]+|http://(localhost|127\.0\.0\.1))(:\d{1,5})?(/[^\s<>\"'\\]*)?"
)


@dataclass(frozen=True, init=False)
class Questionnaire:
    """Questions that one respondent answers, and what all the answers together promise.

    Every answer is randomized on the respondent's machine. The total is known before anybody
    answers: the guarantees of the questions, composed as often as they are asked (``waves``, once
    if left out), except permanent ones, whose first randomized answer is kept and sent again.

    ``title`` heads the page and the card, in one line. ``questions`` have different names.
    ``respondents`` is how many are expected: ``explain`` then states errors. ``post`` is the
    https address that the page sends reports to; left out, respondents save theirs as a file.

    >>> from discreet.survey import Questionnaire, YesNo
    >>> form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", truth=0.5)])
    >>> round(float(form.epsilon), 6), round(form.guarantee.tv, 6)          # ln 3
    (1.098612, 0.5)
    >>> form.respond({"smoker": True}).answers["smoker"] in (0, 1)
    True
    """

    title: str
    questions: tuple[Question, ...]
    respondents: int | None  #: how many are expected, for the stated errors
    waves: int  #: how often everybody is asked
    post: str | None  #: the address the page may send reports to

    @spelled
    def __init__(
        self,
        title: str,
        questions: Iterable[Question],
        *,
        respondents: int | None = None,
        waves: int = 1,
        post: str | None = None,
    ) -> None:
        self.__dict__.update(
            title=read_text(title, name="title"),
            questions=_read_questions(questions),
            respondents=None
            if respondents is None
            else integer(respondents, name="respondents", minimum=1),
            waves=_read_waves(waves),
            post=None if post is None else _read_address(post),
        )

    # -- what it costs -----------------------------------------------------------------------------

    def times_drawn(self, question: Question) -> int:
        """How often an answer to this ``question`` is drawn anew: once, or in each wave."""
        return 1 if question.permanent else self.waves

    @property
    def needs_memory(self) -> bool:
        """Whether a respondent's machine has to remember what it sent.

        It does for several waves, and for a permanent question even if there is only one wave: the
        same question may come back in another questionnaire.
        """
        return self.waves > 1 or any(question.permanent for question in self.questions)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What each respondent is promised for all answers of all waves together."""
        drawn = [q.randomizer.guarantee.repeat(self.times_drawn(q)) for q in self.questions]
        return compose(drawn, tolerance=_TOLERANCE)

    @property
    def epsilon(self) -> Fraction:
        """The most that any log ratio can be, over everything one respondent sends."""
        losses = (q.randomizer.epsilon * self.times_drawn(q) for q in self.questions)
        return sum(losses, Fraction(0))

    def explain(self) -> str:
        """The cost of each question and of all, the mechanisms and why, and the expected error.

        >>> from discreet.survey import Questionnaire, YesNo
        >>> smoker = YesNo("smoker", "Do you smoke?", truth=0.5)
        >>> print(Questionnaire("Health", [smoker], respondents=10_000).explain())
        Health: ε = 1.1 for everything one respondent sends, by 1 question.
        <BLANKLINE>
        smoker: ε = 1.1
          randomized response, which is best for two answers
          expected: ±1.96 points at 95 % with 10,000 respondents, if the answers are evenly spread
        """
        count = len(self.questions)
        waves = f" in {self.waves:,} waves" if self.waves > 1 else ""
        head = (
            f"{self.title}: ε = {decimals.text(self.epsilon)} for everything one respondent "
            f"sends{waves}, by {count} question{'s' if count > 1 else ''}."
        )
        parts = [head, *map(self._explained, self.questions)]
        return "\n\n".join([*parts, *hides_little(self)])

    def _explained(self, question: Question) -> str:
        once = question.randomizer.epsilon
        cost = f"{question.name}: ε = {decimals.text(once)}"
        if self.waves > 1 and question.permanent:
            cost += (
                f", once: the same randomized answer is sent in all {self.waves:,} waves, by "
                "which reports of one person may be recognised"
            )
        elif self.waves > 1:
            whole = decimals.text(once * self.waves)
            cost += f" in each of {self.waves:,} waves, {whole} in all"
        lines = [cost, *(f"  {line}" for line in question.why(self.respondents).splitlines())]
        if self.respondents is not None:
            half_width = _NORMAL_95 * sqrt(question.randomizer.variance() / self.respondents)
            people = f"at 95 % with {counted(self.respondents, 'respondent')}"
            lines.append(f"  expected: {question.expected(half_width, people)}")
        return "\n".join(lines)

    def card(self, prior: Number | None = None) -> Card:
        """What a respondent should know before answering, in plain words.

        ``prior`` is how sure somebody might be of an answer beforehand, between 0 and 1; it
        replaces those of the questions, which are used if it is left out.
        """
        from discreet.survey.card import card

        return card(self, prior)

    # -- its questions, and the questionnaire as text ----------------------------------------------

    def __getitem__(self, name: str) -> Question:
        """The question with this name."""
        for question in self.questions:
            if question.name == name:
                return question
        names = [q.name for q in self.questions]
        hint = meant(str(name), names, '"{}"')
        raise InvalidArgument.unknown("name", names[:20], name, hint=hint)

    @cached_property
    def digest(self) -> str:
        """Identifies the questionnaire that a report answers; equal for equal questions and laws.

        What does not affect an answer is left out: how many respondents are expected, and where
        reports go.
        """
        return canonical.digest(self._asked)[:16]

    @property
    def _asked(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "waves": self.waves,
            "questions": [question_document(q) for q in self.questions],
        }

    def document(self) -> dict[str, Any]:
        """Everything that the page and the collector need, without floats.

        >>> from discreet.survey import Questionnaire, YesNo
        >>> form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", truth=0.5)])
        >>> form.document()["questions"][0]["randomizer"]["flip"] == 2**51     # of 2**53
        True
        """
        asked = self._asked
        for question, fields in zip(self.questions, asked["questions"], strict=True):
            if question.permanent:
                fields["kept_as"] = question_digest(question)
        return {"survey": self.digest, "post": self.post, **asked}

    def to_toml(self) -> str:
        """The questionnaire as TOML; `from_toml` reads the same value back.

        >>> from discreet.survey import Questionnaire, YesNo
        >>> form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", truth=0.5)])
        >>> print(form.to_toml())
        title = "Health"
        <BLANKLINE>
        [[question]]
        name = "smoker"
        kind = "yes_no"
        text = "Do you smoke?"
        truth = 0.5
        <BLANKLINE>
        >>> Questionnaire.from_toml(form.to_toml()) == form
        True
        """
        waves = self.waves if self.waves != 1 else None
        top = {"title": self.title, "respondents": self.respondents, "waves": waves}
        tables = [_lines({**top, "post": self.post})]
        for question in self.questions:
            named = {"name": question.name, "kind": question.kind, "text": question.text}
            tables.append("[[question]]\n" + _lines(named | question.fields()))
        return "\n\n".join(tables) + "\n"

    @staticmethod
    def from_toml(source: str | Path) -> Questionnaire:
        """Read ``source``: the path of a TOML file, or the text itself, which is recognised by a
        line break or a = in it."""
        folder: Path | None = None
        if isinstance(source, Path) or not ("\n" in source or "=" in source):
            path = Path(source)
            folder, source = path.parent, _read_file(path, "the questionnaire")
        try:
            # keep decimals as they were typed
            table = tomllib.loads(source, parse_float=Decimal)
        except (tomllib.TOMLDecodeError, RecursionError) as failure:
            mistake = str(failure) or "nested too deeply"
        else:
            return _questionnaire(table, folder)
        raise InvalidArgument("the questionnaire", "TOML", f"text with a mistake: {mistake}")

    def page(self, *, wave: int = 1) -> str:
        """A web page, as HTML, that asks the questions and lets only randomized answers leave.

        ``wave`` is the number of the wave, from 1, the default, to ``waves``.
        """
        from discreet.survey.page import page

        return page(self, wave=wave)

    # -- answering ---------------------------------------------------------------------------------

    @spelled
    def respond(
        self, answers: Mapping[str, Any], *, memory: Memory | None = None, wave: int = 1
    ) -> Report:
        """Randomize one person's answers on this machine; nothing else is kept or sent.

        ``answers`` has one for each question, by name. ``memory`` is a `Memory` on the
        respondent's machine, required if ``needs_memory``, so that nothing is drawn twice.
        ``wave`` is the number of the wave, from 1, the default, to ``waves``.

        >>> from discreet.survey import ChooseOne, Questionnaire
        >>> colour = ChooseOne("colour", "Which?", options=["red", "blue", "green"], epsilon=1)
        >>> report = Questionnaire("Colours", [colour]).respond({"colour": "blue"})
        >>> report.wave, len(report.id)
        (1, 32)
        """
        from discreet.survey.respondent import respond

        return respond(self, answers, memory=memory, wave=wave)

    @spelled
    def respond_many(
        self, columns: Mapping[str, ArrayLike], *, wave: int = 1, before: Reports | None = None
    ) -> Reports:
        """Randomize a column of answers for each question: many people at once.

        ``columns`` has one for each question, by name, all of the same length.
        ``wave`` is the number of the wave, from 1, the default, to ``waves``. If a question is
        permanent, waves after the first need the reports of an earlier one as ``before``.
        """
        from discreet.survey.respondent import respond_many

        return respond_many(self, columns, wave=wave, before=before)


def hides_little(form: Questionnaire) -> list[str]:
    """Notes, one sentence each, where ε is so large that a promise is next to none.

    >>> from discreet.survey import Questionnaire, YesNo
    >>> print(*hides_little(Questionnaire("Health", [YesNo("s", "Do you smoke?", epsilon=12)])))
    note: an ε above 10, as for s, hides next to nothing: somebody who is 1 % sure of the answer \
beforehand may be more than 99 % sure afterwards
    """
    bare = [q.name for q in form.questions if q.randomizer.epsilon * form.times_drawn(q) > _LITTLE]
    if bare:
        names = ", ".join(bare[:_NAMED])
        more = f" and {len(bare) - _NAMED:,} more" if len(bare) > _NAMED else ""
        return [
            f"note: an ε above {_LITTLE}, as for {names}{more}, hides next to nothing: somebody "
            "who is 1 % sure of the answer beforehand may be more than 99 % sure afterwards"
        ]
    if form.epsilon > _LITTLE:
        return [
            f"note: an ε above {_LITTLE} for all answers together hides next to nothing that can "
            "be told from all of them; each by itself is hidden better"
        ]
    return []


def question_document(question: Question) -> dict[str, Any]:
    """One question as the page and the collector need it."""
    return {
        "name": question.name,
        "text": question.text,
        "kind": question.kind,
        **question.document(),
        "permanent": question.permanent,
        "report": question.randomizer.report,
        "outcomes": question.randomizer.outcomes,
        "randomizer": question.randomizer.document(),
    }


def question_digest(question: Question) -> str:
    """The digest that a permanent answer is kept under, in whatever questionnaire it is asked.

    It changes if the question's text, options or chances change, but not if the rest of the
    questionnaire does, or the name, which no respondent sees.
    """
    fields = question_document(question)
    asked = {key: value for key, value in fields.items() if key not in ("name", "permanent")}
    return canonical.digest(asked)[:32]


def _read_questions(value: object) -> tuple[Question, ...]:
    questions = tuple(value) if isinstance(value, Iterable) else ()
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise InvalidArgument(
            "questions",
            f"a list of 1 to {MOST_QUESTIONS} questions",
            f"{len(questions)} of them"
            if isinstance(value, Iterable)
            else InvalidArgument.describe_parameter(value),
            hint='as in [YesNo("smoker", "Do you smoke?", truth=0.5)]',
        )
    for place, question in enumerate(questions):
        if not isinstance(question, Question):
            raise InvalidArgument.of(
                f"questions[{place}]",
                "YesNo, ChooseOne, ChooseAny or Number",
                question,
                hint='as in YesNo("smoker", "Do you smoke?", truth=0.5)',
            )
    names = [question.name for question in questions]
    columns = [name.lower() for name in names]  # many programs ignore case
    for place, column in enumerate(columns):
        if column in columns[:place]:
            raise InvalidArgument(
                "questions",
                "named differently, whatever the case of the letters",
                f"{names[columns.index(column)]!r} and {names[place]!r}",
                hint="give each question a name of its own: it is a column of the reports",
            )
    _check_permanent(questions)
    return questions


def _check_permanent(questions: tuple[Question, ...]) -> None:
    """Refuse a permanent question that is asked twice, since its answer is kept under it."""
    permanent = [question for question in questions if question.permanent]
    texts = Counter(question.text for question in permanent)
    names: dict[str, str] = {}
    for question in permanent:
        if texts[question.text] == 1:
            continue  # for speed: hashing a list of a million options takes a second
        first = names.setdefault(question_digest(question), question.name)
        if first != question.name:
            raise InvalidArgument(
                "questions",
                "different from each other where they are permanent",
                f"{first!r} and {question.name!r}, which have one answer",
            )


def read_wave(form: Questionnaire, value: int) -> int:
    """Read the number of a wave of this questionnaire."""
    wave = integer(value, name="wave", minimum=1)
    if wave > form.waves:
        raise InvalidArgument.of(
            "wave",
            f"at most {form.waves}, for which the promise was made",
            value,
            hint=Phrase("more waves reveal more: {} before anybody answers", Idiom.WAVES),
        )
    return wave


def _read_waves(value: int) -> int:
    waves = integer(value, name="waves", minimum=1)
    if waves > MOST_WAVES:
        raise InvalidArgument.of("waves", f"at most {MOST_WAVES:,}", value)
    return waves


def _read_address(value: object) -> str:
    if isinstance(value, str) and len(value) <= 2000 and _ADDRESS.fullmatch(value):
        return value
    raise InvalidArgument.of(
        "post",
        "an address that begins with https:// (http:// for localhost alone)",
        value,
        hint="a page from a plain connection can be exchanged for one that does not randomize",
    )


# -- questionnaires as TOML files ------------------------------------------------------------------


def _questionnaire(table: dict[str, Any], folder: Path | None) -> Questionnaire:
    known = ("title", "respondents", "waves", "post", "question")
    _check_keys(table, known, where="the questionnaire", needed=("title", "question"))
    questions = table.pop("question")
    if not isinstance(questions, list) or not all(isinstance(each, dict) for each in questions):
        raise InvalidArgument.of(
            "question", "a table for each question, each headed [[question]]", questions
        )
    made = [_question(fields, place, folder) for place, fields in enumerate(questions, start=1)]
    return Questionnaire(table.pop("title"), made, **table)


def _question(fields: dict[str, Any], place: int, folder: Path | None) -> Question:
    label = fields.get("name")
    where = f"question {place}" + (f" ({label})" if isinstance(label, str) else "")
    kind = KINDS.get(kind_name) if isinstance(kind_name := fields.get("kind"), str) else None
    if kind is None:
        raise InvalidArgument.unknown(
            f"kind of {where}", KINDS, kind_name, hint=meant(str(kind_name), KINDS)
        )
    parameters = inspect.signature(kind).parameters
    files = ["options_file"] if "options" in parameters else []
    _check_keys(fields, ["kind", *parameters, *files], where=where, needed=("name", "text"))
    arguments = {key: value for key, value in fields.items() if key != "kind"}
    if {"options", "options_file"} <= arguments.keys():
        raise InvalidArgument(
            f"options of {where}", "listed, or in a file", "both options and options_file"
        )
    try:
        if "options_file" in arguments:
            arguments["options"] = _read_options(arguments.pop("options_file"), folder)
        needed = [each.name for each in parameters.values() if each.default is each.empty]
        _check_keys(arguments, parameters, where=where, needed=needed)
        return kind(**arguments)
    except InvalidArgument as refusal:
        refusal.add_note(f"in {where}")
        raise


def _read_options(value: object, folder: Path | None) -> list[str]:
    """Read options, one per line, from a file in the questionnaire's folder or below it."""
    if folder is None:
        raise InvalidArgument(
            "options_file",
            "beside a questionnaire that is read from a file",
            "a questionnaire that is read from text",
            hint="pass the path of the TOML file",
        )
    home = folder.resolve()
    path = (home / value).resolve() if isinstance(value, str) and value else home
    if path == home or not path.is_relative_to(home):
        raise InvalidArgument.of(
            "options_file",
            "the name of a file in the questionnaire's folder, or in a folder below it",
            value,
        )
    lines = _read_file(path, "options_file").split("\n")
    options = [line.rstrip("\r") for line in lines]
    return options[:-1] if options[-1] == "" else options


def _read_file(path: Path, name: str) -> str:
    """Read text in UTF-8, with or without the byte order mark that some editors add."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as failure:
        mistake = f"{path.name}, which cannot be read ({failure.strerror})"
    except UnicodeDecodeError:
        mistake = f"{path.name}, which is not"
    raise InvalidArgument(name, "a file of text in UTF-8", mistake)


def _check_keys(
    table: dict[str, Any], known: Iterable[str], *, where: str, needed: Iterable[str]
) -> None:
    known = list(known)
    for key in table:
        if key not in known:
            raise InvalidArgument.unknown(f"a key of {where}", known, key, hint=meant(key, known))
    for key in needed:
        if key not in table:
            hint = "add a table [[question]]" if key == "question" else f"add {key} = ..."
            raise InvalidArgument.missing(key, f"there, in {where}", hint=hint)


# -- values as TOML text, so that reading gives the same value again -------------------------------
# Texts are basic strings and numbers are exact: integers and decimals where possible, else a text
# such as "1/3", which is accepted for every number of a questionnaire. It is our own text, since
# tomlkit needs seconds for a list of 10,000 options, and quadratically more for longer ones.


_LARGEST = 2**63  # integers in TOML; larger ones are texts
_FEW = 10  # options on one line


def _lines(table: Mapping[str, Any]) -> str:
    """
    >>> print(_lines({"most": None, "options": ("red", "blue")}))
    options = ["red", "blue"]
    """
    return "\n".join(
        f"{key} = {_value(value)}" for key, value in table.items() if value is not None
    )


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case int() | Fraction():
            return _number(Fraction(value))
        case tuple() if len(value) <= _FEW:
            return "[" + ", ".join(map(_value, value)) + "]"
        case tuple():
            return "[\n" + "".join(f"    {_value(each)},\n" for each in value) + "]"
        case _:
            raise InternalError(f"a questionnaire holds a value of type {type(value).__name__}")


def _text(text: str) -> str:
    # JSON's escapes are also TOML's, except for DEL, which JSON leaves as it is
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(value: Fraction) -> str:
    """
    >>> _number(Fraction(1, 10)), _number(Fraction(3)), _number(Fraction(1, 3))
    ('0.1', '3', '"1/3"')
    """
    if abs(value) < _LARGEST:
        if value.denominator == 1:
            return str(value)
        if Fraction(decimal := repr(float(value))) == value:
            return decimal
    return f'"{value}"'
