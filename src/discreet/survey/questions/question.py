"""What every question has, whatever it asks."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from numpy.typing import ArrayLike, NDArray

from discreet.survey.randomizers import Randomizer


class Question(Protocol):
    """A question as a frozen value: what is asked, and how an answer to it is randomized."""

    kind: ClassVar[str]  #: "yes_no", "choose_one", "choose_any" or "number"

    @property
    def name(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def epsilon(self) -> Fraction | None:
        """What was asked for; the law keeps ``randomizer.epsilon``, which is not above it."""

    @property
    def truth(self) -> Fraction | None:
        """The lecture's q, where the question was given by it."""

    @property
    def prior(self) -> Fraction | None:
        """How sure somebody is of an answer beforehand, for the card."""

    @property
    def permanent(self) -> bool:
        """Whether the first randomized answer is sent again in every wave."""

    @property
    def randomizer(self) -> Randomizer: ...

    @property
    def categories(self) -> Sequence[str]:
        """What can be answered, as texts; for a number the marks it is rounded to."""

    def why(self, respondents: int | None = None) -> str:
        """Which mechanism randomizes the answer, and why: the variances, or errors at so many."""

    def read(self, answer: object) -> Any:
        """The true answer of one person as a code; what is wrong is refused without its value."""

    def truths(self, column: ArrayLike) -> NDArray[Any]:
        """The true answers of many people as codes, for the randomizer."""

    def fields(self) -> dict[str, Any]:
        """What the question was made from, beside name and text; what is not given is left out."""

    def document(self) -> dict[str, Any]:
        """What the page and the collector need: texts and whole numbers."""
