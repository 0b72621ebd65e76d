"""What is audited: a function that somebody wrote, or an object with a promise of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import nextafter
from typing import Any

import numpy as np

from discreet.errors import Idiom, InvalidArgument, Phrase
from discreet.guarantees import Guarantee
from discreet.inputs import Categories, Numbers, UnitCounts

Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Subject:
    """A function to run, and what is claimed of it if it says so itself."""

    run: Callable[..., Any]
    claim: Guarantee | None
    many: Callable[..., Any] | None = None  #: n outputs at once, where the mechanism draws arrays
    mechanism: Any = None  #: whose ``release`` it is

    @classmethod
    def of(cls, thing: Any) -> Subject:
        """A mechanism is its ``release`` under its ``guarantee``; any other callable is itself.

        >>> Subject.of(abs).claim is None
        True
        """
        release, promise = getattr(thing, "release", None), getattr(thing, "guarantee", None)
        if callable(release) and isinstance(promise, Guarantee) and not isinstance(thing, type):
            numbers = isinstance(getattr(thing, "inputs", None), Numbers | Categories)
            together = partial(_together, release) if numbers else None
            return cls(release, promise, together, mechanism=thing)
        if not callable(thing):
            raise InvalidArgument.of_data(
                "run", "a function of one input, or an object with release and guarantee", thing
            )
        return cls(thing, None)

    def drawn(self, batched: bool) -> tuple[Callable[..., Any], bool]:
        """What to call, and whether it returns n outputs at once; its signature is checked."""
        if self.many is not None:
            return self.many, True
        check_call(self.run, batched=batched)
        return self.run, batched

    def claimed(self, claim: Guarantee | None) -> Guarantee:
        """The claim that was given, or else the subject's own."""
        chosen = self.claim if claim is None else claim
        if chosen is None:
            raise InvalidArgument.missing(
                "claim",
                "what the function promises",
                hint=Phrase("say {}, or whatever it is", Idiom.CLAIM),
            )
        return chosen

    def pairs(self, claim: Guarantee, worst: Pair | None = None) -> list[Pair]:
        """Neighbours to draw from where none were given, if there is a law to ask.

        Some are simple, some far apart, and one may be the worst that the exact route has found.

        >>> import discreet as dp
        >>> Subject.of(dp.Laplace(sensitivity=1, epsilon=1)).pairs(dp.Pure(1))
        [(0, 1)]
        """
        if not (hasattr(self.mechanism, "law") and hasattr(self.mechanism, "inputs")):
            return []
        from discreet.auditor.verify import distinguishing_pairs

        found = distinguishing_pairs(self.mechanism, claim) + ([] if worst is None else [worst])
        released = {repr(pair): pair for pair in map(self._as_released, found)}
        return [pair for pair in released.values() if self._takes(pair[0])]

    def _as_released(self, pair: Pair) -> Pair:
        """Neighbours of the exact route as ``release`` takes them."""
        if isinstance(self.mechanism.inputs, UnitCounts):
            return [pair[0]], [pair[1]]  # a law is that of one key, a release is of many
        if not all(isinstance(value, Fraction) for value in pair):
            return pair
        whole = all(value.denominator == 1 for value in pair)
        first, second = (int(value) if whole else _float(value) for value in pair)
        return first, second

    def _takes(self, value: Any) -> bool:
        try:
            self.run(value)
        except Exception:  # as for queries, which are functions, while the law is about a mean
            return False
        return True


def check_call(run: Callable[..., Any], *, batched: bool) -> None:
    """Refuse a function whose signature does not allow the calls that will be made.

    >>> check_call(lambda x, y: x + y, batched=False)
    Traceback (most recent call last):
        ...
    discreet.errors.InvalidArgument: run must be a function of one input, got one that needs x \
and y; write a function of one input that calls it
    """
    try:
        # What a decorator passes on is its own business.
        signature = inspect.signature(run, follow_wrapped=False)
    except (TypeError, ValueError):  # as for some functions written in C
        return
    one, many = _takes(signature, 1), _takes(signature, 1, size=1)
    if many if batched else one:
        return
    if batched and one:
        expected, given = "a function of an input and size", "one without a parameter size"
        hint: str = Phrase("leave {batched=True} out, and it is called once for each output")
    elif many:
        expected, given = "a function of one input", "one that needs size too"
        hint = Phrase("say {batched=True} if it returns that many outputs at once")
    else:
        expected, given = "a function of one input", f"one that {_needs(signature, batched)}"
        hint = "write a function of one input that calls it"
    raise InvalidArgument("run", expected, given, hint=hint)


def _takes(signature: inspect.Signature, *values: Any, **named: Any) -> bool:
    try:
        signature.bind(*values, **named)
    except TypeError:
        return False
    return True


def _needs(signature: inspect.Signature, batched: bool) -> str:
    """The parameters that must be given, by name."""
    some = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.default is parameter.empty and parameter.kind not in some
        if not (batched and name == "size")
    ]
    return f"needs {' and '.join(names)}" if names else "takes none"


def _together(release: Callable[..., Any], value: Any, size: int) -> Any:
    """Noise on each of n copies, as n releases would add it."""
    return release(np.full((size, *np.shape(value)), value))


def _float(value: Fraction) -> float:
    """The nearest float towards 0, so that it is no further than a neighbour may be."""
    nearest = float(value)
    return nextafter(nearest, 0.0) if abs(Fraction(nearest)) > abs(value) else nearest
