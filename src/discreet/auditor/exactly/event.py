"""An event: a set of outputs, in words and as a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any


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
        """Whether the output is in the set."""
        return self.test(output)

    def __str__(self) -> str:
        return self.words


_NAN = object()


def name_of(outcome: Any) -> Any:
    """What outcomes are told apart by: themselves, but NaN, which equals nothing, is one outcome.

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
    """The outputs up to x."""
    return Event(f"the output is at most {_number(x)}", lambda output: output <= x)


def at_least(x: Any) -> Event:
    """The outputs from x on."""
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
