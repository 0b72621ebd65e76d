"""Parameters that mechanisms share: one way to say how much noise, and a sensitivity."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from discreet.errors import InvalidArgument, UnboundedSensitivity
from discreet.exact import Number, number
from discreet.sensitivity import Sensitivity

Norm = Literal["l1", "l2", "linf"]


def exactly_one(**options: Number | None) -> tuple[str, Number]:
    """Return the name and value of the only option given; refuse none and several."""
    given = [(name, value) for name, value in options.items() if value is not None]
    if len(given) == 1:
        return given[0]
    names = list(options)
    raise InvalidArgument(
        name=" or ".join(names),
        expected="given, and only one of them",
        given=" and ".join(name for name, _ in given) or "none",
        hint=f"say {names[0]}= for the promise or {names[-1]}= for the noise",
    )


def positive_sensitivity(value: Number | Sensitivity, *, norm: Norm) -> Fraction:
    """Read a sensitivity: a number above 0, or a fact from ``discreet.sensitivity``.

    Of a fact the mechanism takes the norm that it is calibrated to. 0 would mean no noise.
    """
    if isinstance(value, Sensitivity):
        exact: Fraction = getattr(value, norm)
        return exact
    if isinstance(value, float) and value == float("inf"):
        raise UnboundedSensitivity(
            "sensitivity is infinite, so no noise is enough; bound what one person contributes, "
            "for example by clamping values to bounds=(lower, upper)"
        )
    exact = number(value, name="sensitivity")
    if exact > 0:
        return exact
    raise InvalidArgument(
        name="sensitivity",
        expected="above 0",
        given=InvalidArgument.describe_parameter(value),
        hint="a statistic that no person can change needs no mechanism, and one that "
        "somebody can change has a sensitivity above 0",
    )
