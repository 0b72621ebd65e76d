"""What happens to an answer before it is sent, in plain words, from the law itself."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from discreet.balls import ball, upper_fraction
from discreet.laws.sharp import sharp
from discreet.survey.card_numbers import least_often, most_often
from discreet.survey.questions import Question
from discreet.survey.randomizers import Items, Levels, Projective, Randomizer, Response, Unary

_FEW: Final = 6  # marks that are named one by one
_BEYOND: Final = 30  # e^30 is more than any card says


def odds(randomizer: Randomizer) -> Fraction:
    """How many times likelier any report is with one answer than with another, at most.

    A quotient of the law's own probabilities where it has one, else e^ε rounded up.

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
            loss = min(randomizer.epsilon, Fraction(_BEYOND))
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
    """The other one of two answers: no is the opposite of yes, but a town has none."""
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
