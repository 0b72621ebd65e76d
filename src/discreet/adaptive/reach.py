"""What would do: the error, the number of questions or the sample that a wish needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.adaptive.bounds_table import row
from discreet.adaptive.noise_widths import estimated_width
from discreet.errors import Refused

_LARGEST = 10**12  # records or questions: beyond, nobody asks


def least_width(method: str, n: int, *, queries: int, failure: Fraction) -> float:
    """The least width of one method (about, for Laplace noise); 1 or more says nothing.

    >>> round(least_width("splitting", 10**4, queries=100, failure=Fraction(1, 20)), 4)
    0.2024
    """
    if method == "laplace":  # to compose it takes longer than a search may
        return estimated_width("laplace", n, queries=queries, failure=failure)
    return row(method, n, queries=queries, failure=failure).width


def most_queries(method: str, n: int, *, error: Fraction, failure: Fraction) -> int:
    """The most questions within this error; 0 if not even one is."""
    return _largest(
        lambda k: least_width(method, n, queries=k, failure=failure) <= error,
        most=n if method == "splitting" else _LARGEST,
    )


def least_records(
    methods: Sequence[str], *, queries: int, error: Fraction, failure: Fraction
) -> int | None:
    """The fewest records with which some method is within the error; none below 10¹²."""

    def short(n: int) -> bool:
        widths = (least_width(method, n, queries=queries, failure=failure) for method in methods)
        return all(width > error for width in widths)

    found = _largest(short, most=_LARGEST)
    return None if found >= _LARGEST else found + 1


def refusal(
    methods: Sequence[str], n: int, *, queries: int, error: Fraction, failure: Fraction
) -> Refused:
    """Why so many questions to so few records cannot be that exact, and what would do."""
    if "gaussian" in methods:  # these never reach further
        methods = [method for method in methods if method not in ("jung", "laplace", "tv")]
    widths = (least_width(method, n, queries=queries, failure=failure) for method in methods)
    least = min(widths)
    most = max(most_queries(method, n, error=error, failure=failure) for method in methods)
    records = least_records(methods, queries=queries, error=error, failure=failure)
    ways = [f"an error of {_up(least)}"] if least < 1 else []
    ways += [f"{most:,} question{'s' * (most > 1)}"] if most else []
    ways += [f"{records:,} records"] if records else []
    would = f": {', or '.join(ways)} would do" if ways else ""
    return Refused(
        f"{n:,} records cannot answer {queries:,} adaptive questions within {float(error):g} of "
        f"the population at {100 * float(1 - failure):g} % confidence{would}"
    )


def _largest(holds: Callable[[int], bool], *, most: int) -> int:
    """The largest number up to ``most`` for which it holds; 0 if for none. It holds up to there."""
    low, high = 0, 1
    while high <= most and holds(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > max(1, low // 1000):  # three digits are enough for advice
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _up(width: float) -> str:
    """Four decimals, rounded up."""
    return f"{-(-Fraction(width) * 10**4 // 1) / 10**4:g}"
