"""What a pipeline reports to an auditor that replays it: exact values that met noise, and outputs.

`Recorder` is all that code under audit has to know. A pipeline gets one as its second argument; a
Session finds the one in force with `current`. Outside a replay there is none, and nothing is
recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from discreet.numeric.exact import Number
from discreet.sensitivity import Sensitivity

T = TypeVar("T")

Norm: TypeAlias = Literal["l0", "linf", "l1", "l2", "range"]
"""How a change is measured: the number of values that change, the largest change, the sum of the
changes, their Euclidean length; `range`, for choices by score: largest minus least change, row by
row of a two-dimensional array, added up."""

Declared: TypeAlias = Sensitivity | Mapping[Norm, Number] | Number


class Recorder(Protocol):
    """Called by a pipeline where exact values meet noise, and where something is released."""

    def reached(
        self,
        name: str,
        values: Any,
        *,
        sensitivity: Declared,
        norm: Norm = "l1",
        noise: object = None,
        question: object = None,
        absent: int | None = None,
    ) -> None:
        """The exact ``values`` are about to get noise, for a declared ``sensitivity``.

        ``values`` is a number, an array, or a dict of numbers by key. ``sensitivity`` is a number
        in ``norm``, or several at once: a `Sensitivity`, or ``{"l1": 3, "linf": 1}``; 0 says that
        the values are public. ``noise`` is whatever decides the noise (a scale, a name): it must
        be the same for neighbours, and so must the ``question``, if what is asked can vary, as a
        filter can. ``absent`` is what a missing key of a dict counts as; without it, neighbours
        must have the same keys.
        """
        ...

    def released(self, name: str, output: T, *, drawn: bool = False) -> T:
        """The ``output`` was released; go on with what this returns.

        In the first run that is the output itself, in the second that of the first run: what
        follows is compared given the same answers, as in the theorem on composition. Where every
        noisy value passes through here, what a pipeline returns must be equal, too. What was
        released has the ``name`` of what reached its noise; ``drawn`` says that nothing did, since
        the output is random and was drawn without looking at the data, as a salt is.
        """
        ...


_CURRENT: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def current() -> Recorder | None:
    """The recorder of the replay that is under way, if one is.

    >>> current() is None
    True
    """
    return _CURRENT.get()


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Put a recorder in force for the length of a block, in this thread."""
    before = _CURRENT.set(recorder)
    try:
        yield
    finally:
        _CURRENT.reset(before)
