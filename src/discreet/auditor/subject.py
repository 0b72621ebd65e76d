"""What is audited: a function that somebody wrote, or an object with a promise of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.guarantees import Guarantee
from discreet.inputs import Categories, Numbers


@dataclass(frozen=True)
class Subject:
    """A function to run, and what is claimed of it if it says so itself."""

    run: Callable[..., Any]
    claim: Guarantee | None
    many: Callable[..., Any] | None = None  #: n outputs at once, where the mechanism draws arrays

    @classmethod
    def of(cls, thing: Any) -> Subject:
        """A mechanism is its ``release`` under its ``guarantee``; any other callable is itself.

        >>> Subject.of(abs).claim is None
        True
        """
        release, promise = getattr(thing, "release", None), getattr(thing, "guarantee", None)
        if callable(release) and isinstance(promise, Guarantee) and not isinstance(thing, type):
            numbers = isinstance(getattr(thing, "inputs", None), Numbers | Categories)
            return cls(release, promise, partial(_together, release) if numbers else None)
        if not callable(thing):
            raise InvalidArgument(
                name="run",
                expected="a function of one input, or an object with release and guarantee",
                given=InvalidArgument.describe_data(thing),
            )
        return cls(thing, None)

    def drawn(self, batched: bool) -> tuple[Callable[..., Any], bool]:
        """What to call, and whether it returns n outputs at once."""
        return (self.run, batched) if batched or self.many is None else (self.many, True)

    def claimed(self, claim: Guarantee | None) -> Guarantee:
        """The claim that was given, or else the subject's own."""
        chosen = self.claim if claim is None else claim
        if chosen is None:
            raise InvalidArgument(
                name="claim",
                expected="what the function promises",
                given="nothing",
                hint="say claim=dp.Pure(1), or whatever it is",
            )
        return chosen


def _together(release: Callable[..., Any], value: Any, size: int) -> Any:
    """Noise on each of n copies: as n releases would have it."""
    return release(np.full((size, *np.shape(value)), value))
