"""Uniform integers below a bound: dice without bias.

32 random bits w give ⌊w·n/2^32⌋, and every result is met by ⌊2^32/n⌋ or one more values of w.
Drawing again where w·n mod 2^32 < 2^32 mod n leaves equally many for each (Lemire 2019).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.noise import entropy
from discreet.noise.workspace import in_blocks

LARGEST_BOUND: Final = 1 << 32


def integers(bound: int, size: int) -> NDArray[np.int64]:
    """Return ``size`` independent integers, uniform in 0 … bound − 1."""
    if not 1 <= bound <= LARGEST_BOUND:
        raise InvalidArgument(
            name="bound",
            expected=f"between 1 and {LARGEST_BOUND}",
            given=InvalidArgument.describe_parameter(bound),
        )
    source = entropy.source()
    out = np.empty(size, np.int64)

    def work(start: int, end: int) -> None:
        part = out[start:end]
        redraw = _draw(part, bound, source)
        while redraw.size:
            again = np.empty(redraw.size, np.int64)
            rejected = _draw(again, bound, source)
            part[redraw] = again
            redraw = redraw[rejected]

    in_blocks(work, size, source)
    return out


def _draw(out: NDArray[np.int64], bound: int, source: entropy.Source) -> NDArray[np.intp]:
    """Fill ``out`` and return the places to draw again."""
    bits = source.words((out.size + 1) // 2).view(np.uint32)[: out.size]
    product = np.multiply(bits, bound, dtype=np.uint64)
    np.right_shift(product, 32, out=out.view(np.uint64))
    if LARGEST_BOUND % bound == 0:
        return np.empty(0, np.intp)
    low = product.astype(np.uint32)
    return np.flatnonzero(low < LARGEST_BOUND % bound)
