"""Which sizes of a key tell the most about one unit: the envelope of all coins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Line = tuple[int, int, int]  # low, high and a name


def worst_coins(chances: Sequence[int]) -> tuple[int, ...]:
    """The n for which the coin (chances[n], chances[n + 1]) is the worst one at some x ≥ 0.

    The chances grow; they are integers, in units of the last one, which is certainty. In
    K = e^x each coin is a line high − K·low, and the worst ones are the upper envelope over
    K ≥ 1: those with the unit first, and those without it first.

    >>> worst_coins([0, 1, 2, 6, 9, 10])
    (0, 2, 3, 4)
    """
    one, last = chances[-1], len(chances) - 1
    shown = [(chances[n], chances[n + 1], n) for n in range(last)]
    hidden = [(one - chances[n + 1], one - chances[n], n) for n in reversed(range(last))]
    return tuple(sorted({*_envelope(shown), *_envelope(hidden)}))


def _envelope(lines: Iterable[Line]) -> list[int]:
    """Names of the lines high − K·low that are highest somewhere on K ≥ 1; `low` grows."""
    kept: list[Line] = []
    for line in lines:
        low, high, _ = line
        # The last one kept is highest at K = 1. What falls faster and is not above it there
        # never is.
        if kept and high - low <= kept[-1][1] - kept[-1][0]:
            continue
        while kept and (low == kept[-1][0] or (len(kept) > 1 and _hides(kept[-2:], line))):
            kept.pop()
        kept.append(line)
    return [name for _, _, name in kept]


def _hides(two: Sequence[Line], third: Line) -> bool:
    """Whether the third line passes the first, going down in K, no later than the second does."""
    (low, high, _), (low2, high2, _), (low3, high3, _) = *two, third
    # Two lines meet at K = (high′ − high)/(low′ − low).
    return (high3 - high) * (low2 - low) >= (high2 - high) * (low3 - low)
