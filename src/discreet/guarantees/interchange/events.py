"""Guarantees and the events of Google's dp_accounting, both ways.

An event says what was run, a guarantee what that promises. Reading takes the floats in an event
as the decimals they print, as everywhere here. Writing rounds to the side that claims more, so
no event claims less than the guarantee; where the installed dp_accounting has no event for a
notion, the tightest one above it is written, or none.

The noise of an event is relative to what one person adds. So what is read holds for adding or
removing a person, or replacing one by an empty record; for replacing one by another it holds as
`guarantee.group(2)`. Randomized response stands for replacing an answer by any other.
"""

from __future__ import annotations

from typing import Any

from discreet.errors import Refused
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.interchange.event_reading import read
from discreet.guarantees.interchange.event_writing import write


def from_dp_event(event: Any) -> Guarantee:
    """What a dp_accounting ``event`` promises; one without a known guarantee is refused.

    >>> from dp_accounting import dp_event
    >>> from_dp_event(dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(2.0), 16))
    GDP(mu=Fraction(2, 1))
    >>> from_dp_event(dp_event.PoissonSampledDpEvent(0.01, dp_event.LaplaceDpEvent(0.5)))
    SampledPair(LaplacePair(epsilon=Fraction(2, 1), steps=None), rate=Fraction(1, 100))
    """
    return read(_event_classes(), event)


def to_dp_event(guarantee: Guarantee) -> Any:
    """A dp_accounting event that claims no less privacy loss than the ``guarantee``.

    >>> from discreet.guarantees import GDP
    >>> to_dp_event(GDP(mu="1/10")), to_dp_event(GDP(mu=3))     # less noise claims more
    (GaussianDpEvent(noise_multiplier=10.0), GaussianDpEvent(noise_multiplier=0.3333333333333333))
    """
    return write(_event_classes(), guarantee)


def _event_classes() -> Any:
    try:
        from dp_accounting import dp_event
    except ImportError:
        raise Refused(
            "reading and writing DpEvents needs the package dp-accounting: "
            "install it with `pip install dp-accounting`"
        ) from None
    return dp_event
