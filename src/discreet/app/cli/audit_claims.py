"""A claim as it is typed: ``epsilon=1``, ``epsilon=1,delta=1e-5``, ``rho=0.1``, and so on."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from discreet.app.cli.dialect import called
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee

#: What the names of a claim, in order, make of it, by the name in discreet.guarantees.
_NOTIONS: Final = {
    ("epsilon",): "Pure",
    ("epsilon", "delta"): "Approx",
    ("rho",): "ZCDP",
    ("mu",): "GDP",
    ("tv",): "TotalVariation",
}
_ORDER: Final = ("epsilon", "delta", "rho", "mu", "tv")
_LETTERS: Final = {"ε": "epsilon", "δ": "delta", "ρ": "rho", "μ": "mu"}
_FORMS: Final = ("epsilon=1", "epsilon=1,delta=1e-5", "rho=0.1", "mu=1", "tv=0.2")
HOW: Final = "say " + " or ".join(f"--claim {form}" for form in _FORMS)


def claim_of(text: str) -> Guarantee:
    """A guarantee from what was typed; its numbers are exact.

    >>> claim_of("epsilon=1/3"), claim_of("delta=1e-5, epsilon=1")
    (Pure(epsilon=Fraction(1, 3)), Approx(epsilon=Fraction(1, 1), delta=Fraction(1, 100000)))
    """
    from discreet import guarantees

    given: dict[str, str] = {}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        name = _LETTERS.get(name, name)
        if name in given or name not in _ORDER or not number:
            raise _unreadable(text)
        given[name] = number
    notion = _NOTIONS.get(tuple(name for name in _ORDER if name in given))
    if notion is None:
        raise _unreadable(text)
    kind: Any = getattr(guarantees, notion)
    with ExitStack() as told:
        for name in given:
            told.enter_context(called(f"the {name} of --claim", name))
        return kind(**given)  # type: ignore[no-any-return]


def _unreadable(text: str) -> InvalidArgument:
    return InvalidArgument(
        name="--claim",
        expected="one claim with its numbers",
        given=InvalidArgument.describe_parameter(text),
        hint=HOW,
    )
