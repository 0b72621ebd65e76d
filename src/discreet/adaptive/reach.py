"""What would do: the error, the number of questions or the sample that a wish needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.adaptive.bounds_table import row
from discreet.adaptive.doors import MOST_QUERIES, percent, upward
from discreet.adaptive.noise_widths import Noise, estimated_width
from discreet.errors import Refused
from discreet.mechanisms.statistical_queries import LARGEST_SAMPLE


def least_width(method: str, n: int, *, queries: int, failure: Fraction) -> float:
    """The least width of one method (about, for Laplace noise); 1 or more says nothing.

    >>> round(least_width("splitting", 10**4, queries=100, failure=Fraction(1, 20)), 4)
    0.2024
    """
    if method == "laplace":  # to compose it takes longer than a search may
        return estimated_width("laplace", n, queries=queries, failure=failure)
    return row(method, n, queries=queries, failure=failure).width


def most_queries(method: str, n: int, *, error: Fraction, failure: Fraction) -> int:
    """The most questions within this error, up to 10⁹; 0 if not even one is."""
    fewer, _ = _between(
        lambda k: least_width(method, n, queries=k, failure=failure) <= error,
        most=n if method == "splitting" else MOST_QUERIES,
    )
    return fewer


def least_records(
    methods: Sequence[str], *, queries: int, error: Fraction, failure: Fraction
) -> int | None:
    """So few records that some method is within the error; none if no sample is so large."""

    def short(n: int) -> bool:
        widths = (least_width(method, n, queries=queries, failure=failure) for method in methods)
        return all(width > error for width in widths)

    _, enough = _between(short, most=LARGEST_SAMPLE)
    return None if enough > LARGEST_SAMPLE else enough


def refusal(
    methods: Sequence[str],
    n: int,
    *,
    queries: int,
    error: Fraction | None,
    failure: Fraction,
) -> Refused:
    """Why so many questions to so few records cannot be that exact, and what would do.

    Without an error nothing is within 1, where two shares always are.
    """
    if "gaussian" in methods:  # these reach no further, but Laplace noise at one or two questions
        methods = [method for method in methods if method not in ("jung", "laplace", "tv")]
    wish = Fraction(1, 2) if error is None else error
    widths = (least_width(method, n, queries=queries, failure=failure) for method in methods)
    least = min(widths)
    most = max(most_queries(method, n, error=wish, failure=failure) for method in methods)
    records = least_records(methods, queries=queries, error=wish, failure=failure)
    ways = [f"an error of {upward(least)}"] if least < 1 else []
    ways += [f"{most:,} question{'s' * (most > 1)}"] if most else []
    ways += [f"{records:,} records"] if records else []
    about = "about " if tuple(methods) == ("laplace",) else ""
    would = f": {about}{', or '.join(ways)} would do" if ways else ""
    asked = f"{queries:,} adaptive question{'s' * (queries > 1)}"
    sure = f"at {percent(1 - failure)} confidence"
    if error is None:
        within = " for an error of 0.5" if ways else ""
        return Refused(
            f"about {asked} to {n:,} records nothing can be said {sure}, for every share is "
            f"within 1 of every other{would}{within}"
        )
    return Refused(
        f"{n:,} records cannot answer {asked} within {float(error):g} of the population "
        f"{sure}{would}"
    )


def says_nothing(
    noise: Noise, methods: Sequence[str], *, queries: int, failure: Fraction
) -> Refused:
    """Why this noise is of no use, and which would be."""
    names = [name for name in methods if name in ("gaussian", "jung", "tv")]
    name = "laplace" if noise.shape == "laplace" else names[0]
    best = row(name, noise.n, queries=queries, failure=failure)
    asked = f"{queries:,} adaptive question{'s' * (queries > 1)}"
    would = f": {best.noise} would give {upward(best.width)}" if best.width < 1 else ""
    return Refused(
        f"with this noise ({noise}) nothing can be said about {asked} to {noise.n:,} records at "
        f"{percent(1 - failure)} confidence, for every share is within 1 of every other{would}"
    )


def _between(holds: Callable[[int], bool], *, most: int) -> tuple[int, int]:
    """A number for which it holds and one above for which it does not, near to each other.

    What holds for a number holds for all below it. The first is 0 if it holds for none, the
    second most + 1 if for all; both are right to three digits, which are enough for advice.
    """
    low, high = 0, 1
    while high <= most and holds(high):
        low, high = high, 2 * high
    if high > most:
        low, high = (most, most + 1) if holds(most) else (low, most)
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high
