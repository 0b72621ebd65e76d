"""`compose`: what several guarantees promise together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil

from discreet.errors import InvalidArgument
from discreet.exact import integer, positive_float, sqrt_up
from discreet.guarantees.composition import Composition
from discreet.guarantees.convolution.reading import Parts, Start
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.pure import Pure
from discreet.guarantees.sampled import OneWay
from discreet.guarantees.short import bound_up
from discreet.guarantees.zcdp import ZCDP
from discreet.spelling import spelled

MOST = 10**9  # of one guarantee
_FINEST = 1e-9
_MANY = 64  # sums of more squares are rounded up to multiples of 2⁻¹⁶⁰


@spelled
def compose(
    guarantees: Iterable[Guarantee],
    *,
    tolerance: float | None = None,
    memory: int = 2**30,
) -> Guarantee:
    """What mechanisms promise that run on the same people, one after another.

    The list of ``guarantees`` is fixed beforehand; the questions may depend on earlier answers.
    Gaussians and zCDP have closed forms (μ² and ρ add up), as have equal pure guarantees;
    everything else is convolved. `tolerance` bounds upper/lower − 1 of the ε that are read: by
    default at most 1e-3, on a grid as fine as is cheap; a given one is reached as fast as
    possible. `memory` is a limit in bytes.

    Composing a composition with more goes on from what was computed for it.

    >>> from discreet.guarantees import GDP, Pure
    >>> compose([GDP(mu=3), GDP(mu=4)])
    GDP(mu=Fraction(5, 1))
    >>> round(compose([Pure(epsilon=1), GDP(mu=1)]).epsilon(1e-6), 3)
    5.82
    """
    tolerance, memory = _read_limits(tolerance, memory)
    longest, more = _read(guarantees)
    counts = {} if longest is None else longest.counts.copy()
    for g, count in more:
        counts[g] = counts.get(g, 0) + count
    starts = {} if longest is None else longest.followed_by(more)
    return simplest(counts, tolerance, memory, starts)


def _read_limits(tolerance: float | None, memory: int) -> tuple[float | None, int]:
    """A tolerance of 1e-9 or more, and memory of a MiB or more."""
    if tolerance is not None:
        tolerance = positive_float(tolerance, name="tolerance")
        if not _FINEST <= tolerance <= 1:
            raise InvalidArgument(
                name="tolerance",
                expected=f"from {_FINEST:g} to 1: upper/lower − 1 of the epsilon that is read",
                given=f"{tolerance:g}",
            )
    return tolerance, integer(memory, name="memory", minimum=2**20)


def _read(guarantees: Iterable[Guarantee]) -> tuple[Composition | None, Parts]:
    """The longest composition among them, and the parts of all others."""
    if isinstance(guarantees, Guarantee) or not isinstance(guarantees, Iterable):
        raise InvalidArgument(
            name="guarantees",
            expected="a list of guarantees",
            given=InvalidArgument.describe_parameter(guarantees),
            hint="write compose([g1, g2]); for k runs of one, g.repeat(k)",
        )
    listed = [getattr(g, "guarantee", g) for g in guarantees]  # mechanisms will do
    for place, g in enumerate(listed):
        if not isinstance(g, Guarantee):
            raise InvalidArgument(
                name=f"guarantees[{place}]",
                expected="a guarantee or a mechanism, such as Pure(1) or Laplace(...).guarantee",
                given=InvalidArgument.describe_parameter(g),
                hint="write compose([dp.Pure(1), dp.Pure(1)]); for k runs of one, g.repeat(k)",
            )
    compositions = [g for g in listed if isinstance(g, Composition)]
    longest = max(compositions, key=lambda g: len(g.parts), default=None)
    if longest is not None:
        listed.remove(longest)
    return longest, tuple(
        part for g in listed for part in (g.parts if isinstance(g, Composition) else ((g, 1),))
    )


def repeated(guarantee: Guarantee, k: int) -> Guarantee:
    """`guarantee.repeat(k)`."""
    times = integer(k, name="k", minimum=0)
    if times > MOST:
        raise InvalidArgument(name="k", expected=f"at most {MOST}", given=str(times))
    if times == 0:
        return Pure(0)
    if isinstance(guarantee, Composition):
        counts = {g: count * times for g, count in guarantee.parts}
        return simplest(counts, guarantee.tolerance, guarantee.memory)
    return simplest({guarantee: times})


def simplest(
    counts: dict[Guarantee, int],
    tolerance: float | None = None,
    memory: int = 2**30,
    starts: Mapping[bool, Start] | None = None,
) -> Guarantee:
    """One notion where there is one, else a composition; nothing composes to Pure(0)."""
    gaussians = [g for g in counts if type(g) is GDP]
    if len(gaussians) > 1 or any(counts[g] > 1 for g in gaussians):
        squares = _sum_up([g.mu**2 * counts.pop(g) for g in gaussians])
        counts[GDP(bound_up(sqrt_up(squares)))] = 1
    concentrated = [g for g in counts if type(g) is ZCDP]
    if len(concentrated) > 1 or any(counts[g] > 1 for g in concentrated):
        rho = _sum_up([g.rho * counts.pop(g) for g in concentrated])
        counts[ZCDP(bound_up(rho))] = 1
    _check_orders(counts)
    if not counts:
        return Pure(0)
    if len(counts) == 1 and 1 in counts.values():
        return next(iter(counts))
    return Composition.of(counts, tolerance, memory, starts or {})


def _check_orders(counts: Mapping[Guarantee, int]) -> None:
    """Neighbours are in one order for all mechanisms at once."""
    ways = {g.swapped for g in counts if type(g) is OneWay}
    if ways and (len(ways) > 1 or not all(isinstance(g, OneWay) or g._symmetric for g in counts)):
        raise InvalidArgument(
            name="guarantees",
            expected="one order of the neighbours: all .add, all .remove, or whole guarantees",
            given="a mix of them",
        )


def _sum_up(terms: list[Fraction]) -> Fraction:
    """The sum, exact for a few terms; each of many is rounded up, so that it stays short."""
    if len(terms) <= _MANY:
        return sum(terms, Fraction(0))
    return Fraction(sum(ceil(term * 2**160) for term in terms), 2**160)
