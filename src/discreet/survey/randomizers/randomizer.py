"""What every randomizer of answers can do."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.guarantees import Guarantee
from discreet.inputs import Categories

Counts = NDArray[np.int64]
Reports = NDArray[np.signedinteger[Any]]


class Randomizer(Protocol):
    """Truths in, reports out, column by column; and back to how many reports support what.

    Reports are integers below ``outcomes``, or rows of ``outcomes`` bits, where −1 stands for
    an item that was not asked. ``counts`` of several batches may be added up before
    ``supports_of`` and ``asked_of`` read them.
    """

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def report(self) -> Literal["integer", "bits"]: ...
    @property
    def outcomes(self) -> int: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def guarantee(self) -> Guarantee: ...
    @property
    def inputs(self) -> Categories: ...

    def randomize(self, truths: ArrayLike) -> Reports: ...

    def law(self, truth: Any) -> laws.Finite: ...

    def counts(self, reports: ArrayLike) -> Counts: ...

    def supports_of(self, counts: Counts) -> Counts: ...

    def asked_of(self, counts: Counts) -> Counts: ...

    def supports(self, reports: ArrayLike) -> Counts: ...

    def asked(self, reports: ArrayLike) -> Counts: ...

    def variance(self, share: float | None = None) -> float: ...

    def document(self) -> dict[str, int | str]: ...
