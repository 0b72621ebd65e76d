"""The card: what a respondent should know before answering, without a formula.

Every number on it is computed from the law that randomizes the answers, and rounded so that the
card never promises more than the law keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil, prod
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from discreet.numeric.balls import ball, sharp, upper_fraction
from discreet.numeric.exact import Number, integer, probability
from discreet.survey.questions import Question
from discreet.survey.randomizers import Items, Levels, Projective, Randomizer, Response, Unary

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
    most = odds(question.randomizer)
    return Part(
        name=question.name,
        question=question.text,
        changed=changed(question),
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
    randomizer = question.randomizer
    if factor(most) is None:
        return "Hardly anything: chance changes this answer too seldom."
    if isinstance(randomizer, Response) and randomizer.categories == 2:
        others = (
            f"people whose answer is {opposite(question)} send the same "
            f"{least_often(randomizer.outside)}"
        )
    else:
        # P(report | mine) ≤ F·P(report | other), so F of mine are matched by at least one other
        others = (
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
    drawn = (_power(odds(q.randomizer), form.times_drawn(q)) for q in form.questions)
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


# -- what happens to an answer before it is sent ---------------------------------------------------


_FEW: Final = 6  # marks that are named one by one
_LARGEST_LOSS: Final = 30  # e^30 is more than any card states


def odds(randomizer: Randomizer) -> Fraction:
    """The most times likelier that any report is with one answer than with another.

    It is a quotient of the law's own probabilities if there is one, else e^ε rounded up.

    >>> odds(Response(categories=2, truth=0.5))
    Fraction(3, 1)
    """
    match randomizer:
        case Levels():
            return odds(randomizer.response)
        case Response():
            return randomizer.inside / randomizer.outside
        case Unary() if randomizer.most == 1:
            return (1 - randomizer.outside) / randomizer.outside
        case Items() if randomizer.drawn <= _FEW:
            return (randomizer.inside / randomizer.outside) ** randomizer.drawn
        case _:
            loss = min(randomizer.epsilon, Fraction(_LARGEST_LOSS))
            return upper_fraction(sharp(lambda: ball(loss).exp()))


def changed(question: Question) -> str:
    """What is flipped, and how often."""
    match question.randomizer:
        case Levels() as levels:
            return _levels(levels, question)
        case Response(categories=2) as coins:
            return (
                "Your device throws a coin that nobody sees. "
                f"{_sentence(most_often(coins.inside))}, your answer is sent as it is; "
                f"{least_often(coins.outside)}, {opposite(question)} is sent."
            )
        case Response() as die:
            return _die(die, f"all {die.categories:,} options", "Your own answer")
        case Unary() as bits:
            return (
                f"Your answer becomes {bits.categories:,} marks, one for each option, and a coin "
                "that nobody sees decides about each. An option that is yours is marked "
                f"{most_often(bits.inside)}; one that is not is marked too, "
                f"{least_often(bits.outside)}."
            )
        case Items() as items:
            return _items(items)
        case Projective() as codes:
            return (
                "Your device draws a code number, and each code number fits many of the "
                f"{codes.categories:,} options. {_sentence(most_often(codes.inside))}, it fits "
                f"your option; it fits any other option too, {least_often(codes.outside)}."
            )
        case other:
            return f"Your device changes your answer by chance: {other.name}."


def opposite(question: Question) -> str:
    """The words for the other of two answers: no is the opposite of yes, but a town has none."""
    return "the opposite" if question.kind == "yes_no" else "the other one"


def _die(die: Response, among: str, own: str) -> str:
    replaced = die.outside * die.categories  # the die may show what it replaces
    return (
        f"Your device throws a die that nobody sees. {_sentence(least_often(replaced))}, your "
        f"answer is put aside and one of {among} is drawn instead, each with the same chance. "
        f"{own} is sent {most_often(die.inside)}."
    )


def _items(items: Items) -> str:
    about = "one" if items.drawn == 1 else f"{items.drawn:,}"
    return (
        f"Your device draws {about} of the {items.categories:,} options, and nothing is sent about "
        "the others. Then a coin that nobody sees decides about each option that was drawn: "
        f"{most_often(items.inside)}, it is sent whether it is yours; "
        f"{least_often(items.outside)}, the opposite is sent."
    )


def _levels(levels: Levels, question: Question) -> str:
    marks, unit = question.categories, getattr(question, "unit", "")
    named = (
        _list(marks) if len(marks) <= _FEW else f"{marks[0]}, {marks[1]} and so on to {marks[-1]}"
    )
    rounded = (
        f"Your number is rounded to one of {len(marks)} marks ({named}{unit and ' ' + unit}) by "
        "chance, the nearer the likelier. "
    )
    if levels.response.categories > 2:
        return rounded + _die(levels.response, f"the {len(marks)} marks", "The rounded number")
    coins = levels.response
    return (
        f"{rounded}Then your device throws a coin that nobody sees. "
        f"{_sentence(most_often(coins.inside))}, this mark is sent; {least_often(coins.outside)}, "
        "the other one is sent."
    )


def _list(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


# -- chances as people say them, rounded outward ---------------------------------------------------
# No card promises more than the law keeps.


_SIMPLE: Final = 12  # denominators that are stated as they are: 3 in 4, 5 in 12
_FINE: Final = Fraction(1, 1000)  # anything rarer is stated as once in N
_DIGITS: Final = 3
_NEARLY: Final = Fraction(99, 100)
_CERTAIN: Final = Decimal("1e-9")  # per cent; a smaller distance from certainty is ignored
_SAYABLE: Final = 10**12


def most_often(p: Fraction) -> str:
    """How often something happens at most, in words.

    >>> most_often(Fraction(3, 4)), most_often(Fraction(2, 13)), most_often(Fraction(1, 2026))
    ('3 times in 4', 'at most 15.4 times in 100', 'at most once in 2,020')
    """
    return _often(p, "at most", ROUND_CEILING)


def least_often(p: Fraction) -> str:
    """How often something happens at least, in words.

    >>> least_often(Fraction(1, 4)), least_often(Fraction(2, 13)), least_often(Fraction(1, 2026))
    ('once in 4', 'at least 15.3 times in 100', 'at least once in 2,030')
    """
    return _often(p, "at least", ROUND_FLOOR)


def _often(p: Fraction, bound: str, rounding: str) -> str:
    if p.denominator <= _SIMPLE:
        return f"{'once' if p.numerator == 1 else f'{p.numerator} times'} in {p.denominator}"
    if p >= _FINE:
        return f"{bound} {_percent(p, rounding)} times in 100"
    opposite = ROUND_FLOOR if rounding == ROUND_CEILING else ROUND_CEILING
    many = 1 / p
    if many >= _SAYABLE:
        return "practically never" if bound == "at most" else "hardly ever"
    return f"{bound} once in {digits(many, opposite)}"


def sure(p: Fraction) -> str:
    """How sure somebody is at most, in words.

    >>> sure(Fraction(1, 4)), sure(Fraction(2, 3)), sure(Fraction(99_999, 100_000))
    ('25 %', '66.7 %', '99.999 %')
    """
    return f"{_percent(p, ROUND_CEILING)} %"


def _percent(p: Fraction, rounding: str) -> str:
    """A number out of a hundred; near 100, the digits are those of the rest."""
    if p <= _NEARLY or rounding == ROUND_FLOOR:
        return digits(100 * p, rounding)
    rest = Context(prec=_DIGITS - 1, rounding=ROUND_FLOOR).divide(
        Decimal(100 * (1 - p).numerator), Decimal(p.denominator)
    )
    return f"{(100 - rest).normalize():f}" if rest > _CERTAIN else "100"


def stated(prior: Fraction) -> tuple[str, Fraction]:
    """A belief in words, and the number these words state, which is not below it.

    >>> stated(Fraction(1, 10)), stated(Fraction(1, 3))
    (('10 %', Fraction(1, 10)), ('33.333334 %', Fraction(16666667, 50000000)))
    """
    shown = Context(prec=8, rounding=ROUND_CEILING).divide(
        Decimal(100 * prior.numerator), Decimal(prior.denominator)
    )
    return f"{shown.normalize():f} %", Fraction(shown) / 100


def factor(odds: Fraction) -> str | None:
    """How many times likelier at most, in words; None if the limit is not worth stating.

    >>> factor(Fraction(3)), factor(Fraction(27, 10)), factor(Fraction(10**9))
    ('3 times', '2.7 times', None)
    """
    return f"{digits(odds, ROUND_CEILING)} times" if odds <= 10**6 else None


def digits(x: Fraction, rounding: str) -> str:
    """A number to three digits, with commas.

    >>> digits(Fraction(200_001, 2), ROUND_CEILING), digits(Fraction(1, 3), ROUND_FLOOR)
    ('101,000', '0.333')
    """
    context = Context(prec=_DIGITS, rounding=rounding)
    short = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    plain = f"{short:,f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def posterior(prior: Fraction, odds: Fraction) -> Fraction:
    """What a belief becomes when its odds are multiplied: r·F/(1 + r·(F − 1)).

    >>> posterior(Fraction(1, 10), Fraction(3))               # 3r/(1 + 2r)
    Fraction(1, 4)
    """
    return prior * odds / (1 + prior * (odds - 1))
