"""Two laws compared from one side: P, under which events are likelier, against Q.

Whatever route computes them (a finite partition, or half-lines where the ratio is monotone), the
same three answers are needed: the hockey stick at an x, the largest log ratio, and the event that
shows either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any, Protocol, Self

from discreet.numeric.balls import arb

# -- events: sets of outputs, in words and as a test -----------------------------------------------


@dataclass(frozen=True)
class Event:
    """A set of outputs.

    >>> event = Event("the output is at least 3", lambda output: output >= 3)
    >>> event(4), str(event)
    (True, 'the output is at least 3')
    """

    words: str
    test: Callable[[Any], bool] = field(repr=False, compare=False)

    def __call__(self, output: Any) -> bool:
        return self.test(output)

    def __str__(self) -> str:
        return self.words


_NAN = object()


def name_of(outcome: Any) -> Any:
    """What tells outcomes apart: themselves; but NaN, which equals nothing, is one outcome.

    >>> name_of((1, float("nan"))) == name_of((1, float("nan")))
    True
    """
    if isinstance(outcome, tuple):
        return tuple(map(name_of, outcome))
    return _NAN if isinstance(outcome, Real) and outcome != outcome else outcome


def is_one_of(outcomes: list[Any]) -> Event:
    """The outputs in the list."""
    shown = ", ".join(map(_number, outcomes[:6]))
    names = [name_of(outcome) for outcome in outcomes]
    if len(outcomes) == 1:
        return Event(f"the output is {shown}", lambda output: bool(name_of(output) == names[0]))
    rest = f" and {len(outcomes) - 6} more" if len(outcomes) > 6 else ""
    return Event(f"the output is one of {shown}{rest}", lambda output: name_of(output) in names)


def at_most(x: Any) -> Event:

    return Event(f"the output is at most {_number(x)}", lambda output: output <= x)


def at_least(x: Any) -> Event:

    return Event(f"the output is at least {_number(x)}", lambda output: output >= x)


def any_of(events: list[Event]) -> Event:
    """The union of the events."""
    if len(events) == 1:
        return events[0]
    shown = ", or ".join(event.words for event in events[:4])
    rest = f", or one of {len(events) - 4} further events" if len(events) > 4 else ""
    return Event(shown + rest, lambda output: any(event(output) for event in events))


def _number(x: Any) -> str:
    return repr(float(x)) if isinstance(x, Fraction) and x.denominator > 1 else str(x)


# -- one side of a comparison ----------------------------------------------------------------------


BITS = 256  # the working precision: laws answer with 80 bits and more


@dataclass(frozen=True)
class ShownEvent:
    """An event with its probabilities under P and under Q."""

    event: Event
    first: arb
    second: arb


@dataclass(frozen=True)
class Loss:
    """The largest log ratio of P to Q: a ball, exact where known, or unbounded."""

    ball: arb | None  #: None: no finite number bounds it
    exact: Fraction | None
    shown: ShownEvent
    complete: bool = True  #: False: tails were left out, so it is a lower bound


class Side(Protocol):
    """P against Q."""

    @property
    def swapped(self) -> Side:
        """Q against P."""

    def hockey(self, x: Fraction) -> arb:
        """A ball that holds the supremum of P(E) − e^x·Q(E) over events E, for x ≥ 0."""

    def event(self, x: Fraction) -> ShownEvent | None:
        """An event near that supremum; None where it is the empty event."""

    def loss(self, above: Fraction) -> Loss:
        """The largest log ratio; where it is unbounded, an event that shows more than `above`."""

    @property
    def ends(self) -> Fraction | None:
        """The x from which the hockey stick is constant: no finite ratio explains what is left.

        None, here and below, where it is not known.
        """
        return None

    def kinks(self) -> list[Fraction] | None:
        """Where the hockey stick bends, nearly, if that is a short list."""
        return None

    def renyi(self, order: Fraction) -> arb | None:
        """log Σ p^order·q^(1 − order), for order > 1."""
        return None


@dataclass(frozen=True)
class TwoLaws(Side):
    """P against Q, both given as laws."""

    first: Any
    second: Any

    @property
    def swapped(self) -> Self:
        return type(self)(self.second, self.first)
