"""A cap as its owner stated it, and the account that keeps it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from discreet.guarantees.filters import Filter, Notion, in_words, plain, sum_of
from discreet.numeric import canonical
from discreet.numeric.exact import Number, probability
from discreet.numeric.short_fractions import is_short

Budget: TypeAlias = Pure | ZCDP | GDP | Approx


@dataclass(frozen=True)
class Cap:
    """A budget, and what it is kept as: one number that adds up, and a slack for δ₀ beside it.

    An (ε, δ) budget is kept as the ρ that implies it together with the slack, so the split of
    its δ is fixed, and written down, when the account is opened.

    >>> print(Cap.read(Approx(1, "1e-6"), slack=None))
    ε = 1 at δ = 1e-06, kept as ρ = 0.0229374476547, with δ₀ up to 5e-07 for what may fail outright
    """

    budget: Budget  #: as stated
    slack: Fraction  #: the most that δ₀ may add up to
    limit: Notion  #: the most that the other number may add up to

    @classmethod
    def read(cls, budget: Budget, slack: Number | None) -> Cap:
        """The cap of a budget; of an (ε, δ) budget, half of δ is slack unless stated."""
        match budget:
            case Approx(epsilon0=epsilon, delta0=delta):
                kept = delta / 2 if slack is None else _slack(slack)
                account = Filter.from_epsilon_delta(epsilon=epsilon, delta=delta, slack=kept)
                return cls(budget, kept, account.limit)
            case Pure() | ZCDP() | GDP():
                _check_size(budget)
                account = Filter(limit=budget, slack=0 if slack is None else _slack(slack))
                return cls(budget, account.slack, budget)
        raise InvalidArgument(
            name="budget",
            expected="dp.Pure, dp.ZCDP, dp.GDP or dp.Approx, such as dp.Pure(3)",
            given=InvalidArgument.describe_parameter(budget),
        )

    @property
    def opened(self) -> Filter:
        """The account with nothing spent."""
        return Filter(limit=self.limit, slack=self.slack)

    def check_stated_as(self, budget: Budget, slack: Number | None, *, whose: str) -> None:
        """Refuse another budget than this one, and another slack if one is given."""
        if budget != self.budget or (slack is not None and _slack(slack) != self.slack):
            raise Refused(
                f"the cap of the {whose} is {self}, and {Cap.read(budget, slack)} was given: a "
                "cap is never changed. Leave the budget out to go on with it"
            )

    def to_document(self) -> dict[str, Any]:
        """For the journal."""
        return {
            "budget": json.loads(self.budget.to_json()),
            "limit": json.loads(self.limit.to_json()),
            "slack": str(self.slack),
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Cap:
        """As the journal has it."""
        budget, limit = (
            Guarantee.from_json(canonical.text(document[name])) for name in ("budget", "limit")
        )
        assert isinstance(budget, Pure | ZCDP | GDP | Approx)
        assert isinstance(limit, Pure | ZCDP | GDP)
        return cls(budget, Fraction(document["slack"]), limit)

    def __str__(self) -> str:
        kept = in_words(type(self.limit), sum_of(self.limit), Fraction(0))
        slack = f", with δ₀ up to {plain(self.slack)} for what may fail outright"
        if isinstance(self.budget, Approx):
            stated = f"ε = {plain(self.budget.epsilon0)} at δ = {plain(self.budget.delta0)}"
            return f"{stated}, kept as {kept}{slack * (self.slack > 0)}"
        if isinstance(self.budget, GDP):
            kept = f"μ = {plain(self.budget.mu)}"
        return f"{kept}{slack * (self.slack > 0)}"


def _check_size(budget: Notion) -> None:
    size = budget.mu if isinstance(budget, GDP) else sum_of(budget)
    if not size or not is_short(size):
        raise InvalidArgument(
            name="budget",
            expected="above 0, and a fraction of at most 64 bits above and below the stroke",
            given=InvalidArgument.describe_parameter(size),
        )


def _slack(slack: Number) -> Fraction:
    return Fraction(0) if slack == 0 else probability(slack, name="slack")
