"""What the page makes of random words, read a second time, in Python.

Written from the laws, not from the page's script: one function a randomizer, each returns the
report and takes the words that the page takes, in its order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.survey.randomizers.projective import Space
from discreet.testing import SeededEntropy

GRID = 2**53


def seeded_words(seed: int, count: int) -> np.ndarray:
    """Words of 32 bits that are the same in every run."""
    return SeededEntropy(seed).words((count + 1) // 2).view(np.uint32)[:count]


def as_words(*numbers: int) -> list[int]:
    """The words that the page reads as these integers below 2^53."""
    return [word for number in numbers for word in (number >> 32 << 11, number & 0xFFFFFFFF)]


class Words:
    """A row of words of 32 bits that is used up."""

    def __init__(self, words: Any) -> None:
        self._rest = iter(np.asarray(words).tolist())

    def uniform(self) -> int:
        """21 bits of one word, 32 of the next."""
        high = next(self._rest) // 2**11
        return high * 2**32 + next(self._rest)

    def coin(self, threshold: int) -> bool:
        return self.uniform() < threshold

    def die(self, sides: int) -> int:
        while (drawn := self.uniform()) // sides == GRID // sides and GRID % sides:
            pass
        return drawn % sides

    def mark(self) -> str:
        return "".join(f"{next(self._rest):08x}" for _ in range(4))


def response(words: Words, truth: int, law: dict[str, int]) -> int:
    if law["categories"] == 2:
        return truth ^ words.coin(law["flip"])
    replaced, thrown = words.coin(law["replace"]), words.die(law["categories"])
    return thrown if replaced else truth


def unary(words: Words, truth: Any, law: dict[str, int]) -> str:
    true = {truth} if isinstance(truth, int) else {i for i, each in enumerate(truth) if each}
    bits = [
        words.coin(GRID // 2 if option in true else law["raise"])
        for option in range(law["categories"])
    ]
    return "".join("01"[bit] for bit in bits)


def items(words: Words, truth: list[bool], law: dict[str, int]) -> str:
    taken: list[int] = []
    for last in range(law["categories"] - law["drawn"], law["categories"]):
        item = words.die(last + 1)
        taken.append(last if item in taken else item)
    bits = ["-"] * law["categories"]
    for item in taken:
        bits[item] = "01"[truth[item] ^ words.coin(law["flip"])]
    return "".join(bits)


def levels(words: Words, truth: int, law: dict[str, int]) -> int:
    up = (truth * (law["levels"] - 1) + words.die(law["steps"])) // law["steps"]
    return response(words, up, {**law, "categories": law["levels"]})


def projective(words: Words, truth: int, law: dict[str, int]) -> int:
    """The drawn vectors, counted through: the n-th that has the product that was drawn."""
    q, space = law["prime"], Space(law["prime"], law["dimension"])
    vectors = q ** (law["dimension"] - 1)
    away = words.coin(law["away"])
    drawn = words.die(vectors) if away else 1 + words.die(vectors - 1)
    (true,) = space.codes(np.array([truth]))
    place = int(space.powers[space.leading(np.array([true]))[0]])
    high, low = divmod(drawn, place)
    codes = low + place * np.arange(q) + high * place * q
    (right,) = codes[space.inner(codes, true) == away]
    return int(space.numbers(np.array([right]))[0])


READ: dict[str, Callable[[Words, Any, dict[str, int]], int | str]] = {
    "response": response,
    "unary": unary,
    "items": items,
    "levels": levels,
    "projective": projective,
}


def read_report(words: Words, document: dict[str, Any], truths: dict[str, Any]) -> dict[str, Any]:
    """The whole report of a questionnaire without permanent answers."""
    report = {"survey": document["survey"], "id": words.mark(), "wave": 1}
    for question in document["questions"]:
        law = question["randomizer"]
        report[question["name"]] = READ[law["kind"]](words, truths[question["name"]], law)
    return report
