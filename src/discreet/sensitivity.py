"""How far one unit can move an answer: facts about common queries under either relation.

The sensitivity of f is the largest change f(x) − f(x′) over all neighbours x and x′. Its size is
measured by the number of coordinates that change (l0), the largest change in one of them (linf),
the sum of the changes (l1) and their Euclidean length (l2). Every fact here is for the unit *one
row*; values are exact, and an irrational l2 is rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from discreet.errors import Phrase, RelationMismatch
from discreet.hints import spelled, unknown
from discreet.neighbors import Relation
from discreet.numeric.exact import Number, integer, interval, positive, sqrt_up

__all__ = [
    "Sensitivity",
    "bounded_mean",
    "bounded_sum",
    "count",
    "counts",
    "histogram",
    "proportion",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """Upper bounds on one unit's influence, all above zero: zero would mean no noise.

    For the change of all numbers of an answer when one unit changes: ``l0`` is how many of them
    change, ``linf`` by how much one of them does, ``l1`` the sum of these changes (what Laplace
    noise takes) and ``l2`` the root of the sum of their squares (what Gaussian noise takes).

    >>> import discreet as dp
    >>> two_sums = Sensitivity(l0=2, linf=60, l1=120, l2=85)         # 60·√2 is 84.9
    >>> print(dp.Laplace(sensitivity=two_sums, epsilon=1).scale)
    120
    >>> print(dp.Gaussian(sensitivity=two_sums, mu=1).sigma)
    85
    """

    l0: int
    linf: Fraction
    l1: Fraction
    l2: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "l0", integer(self.l0, name="l0", minimum=1))
        for name in ("linf", "l1", "l2"):
            object.__setattr__(self, name, positive(getattr(self, name), name=name))

    @classmethod
    def spread(cls, *, cells: int, each: Number) -> Sensitivity:
        """At most `cells` coordinates change, by at most `each`.

        >>> Sensitivity.spread(cells=4, each=1)
        Sensitivity(l0=4, linf=Fraction(1, 1), l1=Fraction(4, 1), l2=Fraction(2, 1))
        """
        cells = integer(cells, name="cells", minimum=1)
        step = positive(each, name="each")
        return cls(l0=cells, linf=step, l1=cells * step, l2=step * sqrt_up(Fraction(cells)))


@spelled
def count(*, relation: Relation | str) -> Sensitivity:
    """The number of rows with some property: 1 under either ``relation``.

    >>> count(relation="add-remove").l1
    Fraction(1, 1)
    """
    return counts(k=1, relation=relation)


@spelled
def counts(*, k: int, relation: Relation | str) -> Sensitivity:
    """``k`` counts of any properties: one row may have all of them, so all k move by 1.

    It is the same under either ``relation``.

    >>> counts(k=10, relation="add-remove").l1
    Fraction(10, 1)
    """
    Relation.parse(relation)  # the answer is the same for both, but anything else is refused
    return Sensitivity.spread(cells=integer(k, name="k", minimum=1), each=1)


@spelled
def histogram(*, relation: Relation | str) -> Sensitivity:
    """Counts of disjoint cells, however many: a row is in one, and a replaced row also leaves one.

    ``relation`` is "add-remove" or "replace".

    >>> histogram(relation="add-remove").l1, histogram(relation="replace").l1
    (Fraction(1, 1), Fraction(2, 1))
    """
    return Sensitivity.spread(cells=Relation.parse(relation).add_remove_steps, each=1)


@spelled
def proportion(*, n: int, relation: Relation | str) -> Sensitivity:
    """The share of ``n`` rows with some property, n public: 1/n when a row is replaced.

    ``relation`` must be "replace": under add-remove n is not public, and it is refused.

    >>> proportion(n=1000, relation="replace").l1
    Fraction(1, 1000)
    """
    return bounded_mean(bounds=(0, 1), n=n, relation=relation)


@spelled
def bounded_sum(*, bounds: tuple[Number, Number], relation: Relation | str) -> Sensitivity:
    """The sum of values clamped to `bounds`.

    A row that appears adds its value, which may be either bound; a row that is replaced moves
    the sum by at most the width. ``relation`` says which of the two is hidden.

    >>> bounded_sum(bounds=(-3, 1), relation="add-remove").l1
    Fraction(3, 1)
    >>> bounded_sum(bounds=(-3, 1), relation="replace").l1
    Fraction(4, 1)
    """
    lower, upper = interval(bounds, name="bounds")
    if Relation.parse(relation) is Relation.ADD_REMOVE:
        return Sensitivity.spread(cells=1, each=max(abs(lower), abs(upper)))
    return Sensitivity.spread(cells=1, each=upper - lower)


@spelled
def bounded_mean(*, bounds: tuple[Number, Number], n: int, relation: Relation | str) -> Sensitivity:
    """The mean of ``n`` values clamped to ``bounds``, n public: the width over n.

    ``relation`` must be "replace": under add-remove n is not public, and it is refused.

    >>> bounded_mean(bounds=(0, 60), n=100, relation="replace").l1
    Fraction(3, 5)
    """
    lower, upper = interval(bounds, name="bounds")
    rows = integer(n, name="n", minimum=1)
    if Relation.parse(relation) is Relation.ADD_REMOVE:
        raise RelationMismatch(
            Phrase(
                "a mean or proportion over a public number of rows does not exist under "
                'add-remove, where the number of rows is protected; use {relation="replace"}, '
                "or release a noisy sum and a noisy count"
            )
        )
    return Sensitivity.spread(cells=1, each=(upper - lower) / rows)


if not TYPE_CHECKING:  # a type checker would then accept every name

    def __getattr__(name: str) -> NoReturn:
        raise unknown("discreet.sensitivity", name, __all__)
