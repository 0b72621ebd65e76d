"""Two laws compared from one side: P, under which events are likelier, against Q.

Whatever route computes them (a finite partition, or half-lines where the ratio is monotone), the
same three answers are needed: the hockey stick at an x, the largest log ratio, and the event that
shows either.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from discreet.auditor.exactly.event import Event

if TYPE_CHECKING:
    from flint import arb

BITS = 256  # the working precision: laws answer with 80 bits and more


@dataclass(frozen=True)
class Shown:
    """An event with its probabilities under P and under Q."""

    event: Event
    first: arb
    second: arb


@dataclass(frozen=True)
class Loss:
    """The largest log ratio of P to Q: a ball, exact where known, or unbounded."""

    ball: arb | None  #: None: no finite number bounds it
    exact: Fraction | None
    shown: Shown
    complete: bool = True  #: False: tails were left out, so it is a lower bound


class Side(Protocol):
    """P against Q."""

    @property
    def swapped(self) -> Side:
        """Q against P."""

    def hockey(self, x: Fraction) -> arb:
        """A ball that holds the supremum of P(E) − e^x·Q(E) over events E, for x ≥ 0."""

    def event(self, x: Fraction) -> Shown | None:
        """An event near that supremum; None where it is the empty one."""

    def loss(self, above: Fraction) -> Loss:
        """The largest log ratio; where it is unbounded, an event that shows more than `above`."""

    @property
    def ends(self) -> Fraction | None:
        """From where on the hockey stick is constant: what no ratio, however large, explains."""

    def kinks(self) -> list[Fraction] | None:
        """Where the hockey stick bends, nearly, if that is a short list."""

    def renyi(self, order: Fraction) -> arb | None:
        """log Σ p^order·q^(1 − order), for order > 1; None where it is not computed."""
