"""Questionnaires for the tests of the page: one with every kind of randomizer."""

from functools import cache
from typing import Any

from discreet.survey import ChooseAny, ChooseOne, Number, Questionnaire, YesNo

MOODS = ["very well", "well", "so-so", "badly", "prefer not to say"]
PETS = ["cat", "dog", "fish", "none"]
HAD = ["flu", "mumps", "measles", "a cold"]
TOWNS = [f"Town {number}" for number in range(40)]
TRADES = [f"Trade {number}" for number in range(13)]

TRUTHS: dict[str, Any] = {
    "smoker": 1,
    "mood": 3,
    "pet": 1,
    "town": 7,
    "trade": 12,
    "had": [True, False, False, True],
    "drinks": [True, False, True, False],
    "sleep": 31,  # quarters of an hour
    "walk": 5,
}


@cache
def every_kind() -> Questionnaire:
    """Each randomizer at least once, and projective response over two fields."""
    return Questionnaire(
        "Every kind",
        [
            YesNo("smoker", "Do you smoke?", truth=0.4),
            ChooseOne("mood", "How are you?", options=MOODS, epsilon=1, mechanism="response"),
            ChooseOne("pet", "Which pet?", options=PETS, epsilon=1, mechanism="unary"),
            ChooseOne("town", "Where?", options=TOWNS, epsilon="1/4", mechanism="projective"),
            ChooseOne("trade", "What?", options=TRADES, epsilon="1.3", mechanism="projective"),
            ChooseAny("had", "Which have you had?", options=HAD, epsilon=4, mechanism="items"),
            ChooseAny(
                "drinks", "Which drinks?", options=PETS, epsilon=2, most=2, mechanism="unary"
            ),
            Number("sleep", "How long?", bounds=(0, 24), step="1/4", epsilon=3, unit="hours"),
            Number("walk", "How far?", bounds=(0, 24), step=1, truth=0.3, unit="km"),
        ],
    )
