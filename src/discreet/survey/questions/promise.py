"""How much a question may tell: its ε or the lecture's q, and what goes with it on the card."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from discreet.errors import InvalidArgument
from discreet.exact import Number, positive, probability
from discreet.mechanisms.mechanism import exactly_one


class Promise(NamedTuple):
    """Exactly one of `epsilon` and `truth`, a prior for the card, and whether it is permanent."""

    epsilon: Fraction | None
    truth: Fraction | None
    prior: Fraction | None
    permanent: bool

    @classmethod
    def of(cls, question: Any) -> Promise:
        """What a question was given."""
        return cls(question.epsilon, question.truth, question.prior, question.permanent)

    @property
    def asked(self) -> dict[str, Fraction]:
        """The one that was given, by its name."""
        if self.truth is not None:
            return {"truth": self.truth}
        assert self.epsilon is not None
        return {"epsilon": self.epsilon}


def read_promise(
    epsilon: Number | None, truth: Number | None, prior: Number | None, permanent: bool
) -> Promise:
    """Read what a question promises; there is no default.

    >>> read_promise(None, 0.5, None, False).asked
    {'truth': Fraction(1, 2)}
    """
    exactly_one(epsilon=epsilon, truth=truth)
    if not isinstance(permanent, bool):
        raise InvalidArgument(
            name="permanent",
            expected="True or False",
            given=InvalidArgument.describe_parameter(permanent),
        )
    return Promise(
        epsilon=None if epsilon is None else positive(epsilon, name="epsilon"),
        truth=None if truth is None else probability(truth, name="truth"),
        prior=None if prior is None else probability(prior, name="prior"),
        permanent=permanent,
    )


def given(**fields: Any) -> dict[str, Any]:
    """The fields that say something: neither None nor False nor an empty text."""
    silent = (None, False, "")
    return {name: value for name, value in fields.items() if not any(value is x for x in silent)}
