"""The card: what a respondent should know before answering, without a formula.

Every number on it is computed from the law that randomizes the answers, and rounded so that the
card never promises more than the law keeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from discreet.numeric.exact import Number, integer, probability
from discreet.survey.chances import factor, most_often, posterior, stated, sure
from discreet.survey.questions import Question

if TYPE_CHECKING:
    from discreet.survey.questionnaire import Questionnaire


_PRIORS: Final = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
_BEYOND: Final = Fraction(10) ** 12  # odds beyond which no number is given
_WIDTH: Final = 100  # characters per line, unless a width is given
_NARROWEST: Final = 20
_NO_BREAK: Final = "\u00a0"
_GIVEN_AWAY: Final = Fraction(99, 100)
_MANY: Final = 100  # draws of an answer, beyond which a product of exact numbers gets long
_SIDE: Final = "with one answer as with another"
_INTRODUCTION: Final = (
    "Your true answers stay on your device. Chance changes each of them there, and only what "
    "chance made of them is sent, with a number drawn by chance so that no report is counted "
    "twice. That you took part, and when, is not hidden."
)


@dataclass(frozen=True)
class Part:
    """What the card says about one question."""

    name: str
    question: str
    changed: str  #: what is flipped, and how often
    learned: str  #: what anyone can learn from what is sent
    denied: str  #: what can be denied
    again: str  #: what is sent when it is asked again; "" if there is nothing to say


@dataclass(frozen=True)
class Card:
    """A card in plain words; ``str`` and ``text(width)`` for a screen, ``markdown()`` for a page.

    >>> from discreet.survey import Questionnaire, YesNo
    >>> smoker = YesNo("smoker", "Do you smoke?", truth=0.5, prior=0.1)
    >>> card = Questionnaire("Health", [smoker]).card()
    >>> print(card.parts[0].learned)                          # doctest: +NORMALIZE_WHITESPACE
    What is sent is at most 3 times as likely with one answer as with another. Somebody who is 10 %
    sure of your answer beforehand is at most 25 % sure afterwards.
    """

    title: str
    introduction: str
    parts: tuple[Part, ...]
    together: str  #: the most that everything sent can reveal

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = _WIDTH) -> str:
        """The card in lines of at most this many characters, except for longer words."""
        width = max(integer(width, name="width", minimum=1), _NARROWEST)
        lines = [*_wrapped(self.title, width), "", *_wrapped(self.introduction, width)]
        for place, part in enumerate(self.parts, start=1):
            number = f"{place}. "
            lines += ["", *_wrapped(part.question, width, first=number, indent=" " * len(number))]
            for head, words in _headed(part):
                lines += _wrapped(f"{head}: {words}", width, first="   ", indent="   ")
        return "\n".join([*lines, "", *_wrapped(f"All answers together: {self.together}", width)])

    def markdown(self) -> str:
        """The card as Markdown."""
        lines = [f"# {_plain(self.title)}", "", self.introduction]
        for place, part in enumerate(self.parts, start=1):
            lines += ["", f"## {place}. {_plain(part.question)}", ""]
            lines += [f"- **{head}.** {_plain(words)}" for head, words in _headed(part)]
        return "\n".join([*lines, "", "## All answers together", "", self.together, ""])

    def document(self) -> dict[str, Any]:
        """The card as a document for a page to show: only texts."""
        return {
            "title": self.title,
            "introduction": self.introduction,
            "questions": [
                {
                    "name": part.name,
                    "question": part.question,
                    "sentences": [list(sentence) for sentence in _headed(part)],
                }
                for part in self.parts
            ],
            "together": self.together,
        }


def card(form: Questionnaire, prior: Number | None = None) -> Card:
    """The card of a questionnaire; a `prior` replaces those of the questions."""
    belief = None if prior is None else probability(prior, name="prior")
    return Card(
        title=form.title,
        introduction=_INTRODUCTION,
        parts=tuple(_part(form, question, belief) for question in form.questions),
        together=_together(form, belief),
    )


def _headed(part: Part) -> list[tuple[str, str]]:
    said = [
        ("What is changed", part.changed),
        ("What anyone can learn", part.learned),
        ("What you can deny", part.denied),
        ("If you are asked again", part.again),
    ]
    return [(head, words) for head, words in said if words]


def _part(form: Questionnaire, question: Question, prior: Fraction | None) -> Part:
    believed = question.prior if prior is None else prior
    most = question.randomizer.odds
    return Part(
        name=question.name,
        question=question.text,
        changed=question.changed(),
        learned=f"{_likelier(most)} {_beliefs(most, believed)}",
        denied=_denied(question, most),
        again=_again(form, question, most),
    )


def _likelier(most: Fraction, what: str = "What is sent", side: str = _SIDE) -> str:
    times = factor(most)
    if times is None:
        return f"{what} may be more than a million times as likely {side}: practically no limit."
    return f"{what} is at most {times} as likely {side}."


def _beliefs(most: Fraction, prior: Fraction | None, what: str = "your answer") -> str:
    if factor(most) is None:
        return f"Somebody who had a guess at {what} may be sure of it afterwards."
    if prior is not None:
        said, number = stated(prior)
        after = sure(posterior(number, most))
        return (
            f"Somebody who is {said} sure of {what} beforehand is at most {after} sure afterwards."
        )
    first, second, third = (sure(posterior(each, most)) for each in _PRIORS)
    return (
        f"Somebody who is 1 % sure of {what} beforehand is at most {first} sure afterwards; "
        f"10 % becomes at most {second}, and 50 % at most {third}."
    )


def _denied(question: Question, most: Fraction) -> str:
    if factor(most) is None:
        return "Hardly anything: chance changes this answer too seldom."
    # P(report | mine) ≤ F·P(report | other), so F of mine are matched by at least one other
    others = question.randomizer.denied(question.opposite) or (
        f"where {ceil(most):,} people with your answer send it, at least one out of as many "
        "people with any other answer sends it too, on average"
    )
    return f"Whatever is sent, your answer may be another one: {others}."


def _again(form: Questionnaire, question: Question, most: Fraction) -> str:
    if question.permanent:
        rounds = f"in all {form.waves:,} rounds, and " if form.waves > 1 else ""
        return (
            "What chance made of your first answer is kept on your device and sent again "
            f"{rounds}whenever this very question comes back, so asking again shows nothing more, "
            "but that several reports may be recognised as those of one person. "
            "Asked in different words, with other options or with other chances, it is another "
            "question: chance changes your answer anew, and that tells more."
        )
    if form.waves == 1:
        return ""
    whole = _power(most, form.waves)
    return (
        f"Chance changes your answer anew in each of the {form.waves:,} rounds. "
        f"{_likelier(whole, 'All of it together')}"
    )


def _together(form: Questionnaire, prior: Fraction | None) -> str:
    drawn = (_power(q.randomizer.odds, form.times_drawn(q)) for q in form.questions)
    most = prod(drawn, start=Fraction(1))
    guess = Fraction(1, 2) + _told_apart(form) / 2
    if factor(most) is not None:  # then the odds alone give a bound too
        guess = min(guess, most / (1 + most))
    likelier = _likelier(most, "Everything you send", "with your answers as with any others")
    return (
        f"{likelier} {_beliefs(most, prior, 'anything that your answers tell')} Somebody who has "
        "to say which of two equally likely sets of answers is yours is right "
        f"{most_often(guess)}; a blind guess is right once in 2."
    )


def _told_apart(form: Questionnaire) -> Fraction:
    """How far apart any two sets of answers are, in total variation, rounded up.

    If one answer gives nearly everything away, composing is not worth the seconds it takes: the
    whole is at least as far apart as each draw, and at most 1 − Π (1 − distance of each draw),
    because the draws can be coupled to be all alike with the chance Π (1 − distance).
    """
    draws = [(Fraction(q.randomizer.guarantee.tv), form.times_drawn(q)) for q in form.questions]
    if max(distance for distance, _ in draws) < _GIVEN_AWAY:
        return Fraction(form.guarantee.tv)
    if max(times for _, times in draws) > _MANY:
        return Fraction(1)
    return 1 - prod(((1 - distance) ** times for distance, times in draws), start=Fraction(1))


def _power(most: Fraction, times: int) -> Fraction:
    """F to the power of `times`, or the odds beyond which no number is given."""
    whole = Fraction(1)
    for _ in range(times):
        whole *= most
        if whole > _BEYOND:
            return _BEYOND
    return whole


def _wrapped(text: str, width: int, *, first: str = "", indent: str = "") -> list[str]:
    lines = wrap(
        text.replace(" %", f"{_NO_BREAK}%"),  # a number and its unit stay together
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(f"{_NO_BREAK}%", " %") for line in lines]


def _plain(text: str) -> str:
    """Text in which nothing is read as Markdown."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|!~" else sign for sign in text)
