"""Uniform integers below a bound: dice without bias.

32 random bits w give ⌊w·n/2^32⌋, and every result comes from ⌊2^32/n⌋ values of w, or one more.
Drawing again where w·n mod 2^32 < 2^32 mod n leaves equally many for each (Lemire 2019). For
dice with few sides 16 bits will do, and the arithmetic takes a quarter of the memory.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.noise import entropy
from discreet.noise.workspace import chunks, in_blocks, room

LARGEST_BOUND: Final = 1 << 32
MOST_SIDES: Final = 1 << 8  # then at most one throw in 256 is repeated
_SIXTEEN_BITS: Final = 1 << 16

_Draw = Callable[[NDArray[Any], int, entropy.Source], NDArray[np.intp]]


def integers(bound: int, size: int) -> NDArray[np.int64]:
    """Return ``size`` independent integers, uniform in 0 … bound − 1."""
    if not 1 <= bound <= LARGEST_BOUND:
        raise InvalidArgument.of("bound", f"between 1 and {LARGEST_BOUND}", bound)
    out = np.empty(size, np.int64)
    _fill(out, bound, _draw)
    return out


def dice(sides: int, size: int) -> NDArray[np.uint16]:
    """Return ``size`` independent throws 0 … sides − 1 of a fair die with at most 256 sides."""
    if not 1 <= sides <= MOST_SIDES:
        raise InvalidArgument.of("sides", f"between 1 and {MOST_SIDES}", sides)
    out = np.empty(size, np.uint16)
    _fill(out, sides, _throw)
    return out


def _fill(out: NDArray[Any], bound: int, draw: _Draw) -> None:
    """Draw every place, then those that must be drawn again, until none is left."""
    source = entropy.source()

    def work(start: int, end: int) -> None:
        for chunk in chunks(end - start):
            part = out[start:end][chunk]
            redraw = draw(part, bound, source)
            while redraw.size:
                again = np.empty(redraw.size, out.dtype)
                rejected = draw(again, bound, source)
                part[redraw] = again
                redraw = redraw[rejected]

    in_blocks(work, out.size, source)


def _draw(out: NDArray[np.int64], bound: int, source: entropy.Source) -> NDArray[np.intp]:
    """Fill ``out`` from 32 bits per place and return the places to draw again."""
    with room() as space:
        words = space.words("die", (out.size + 1) // 2)
        source.fill(words)
        product = out.view(np.uint64)
        product[:] = words.view(np.uint32)[: out.size]
        product *= np.uint64(bound)
        if LARGEST_BOUND % bound == 0:
            product >>= np.uint64(32)
            return np.empty(0, np.intp)
        low = words.view(np.uint32)[: out.size]  # its bits have been used
        np.copyto(low, product, casting="unsafe")
        product >>= np.uint64(32)
        return np.flatnonzero(low < LARGEST_BOUND % bound)


def _throw(out: NDArray[np.uint16], sides: int, source: entropy.Source) -> NDArray[np.intp]:
    """Fill ``out`` from 16 bits per place and return the places to draw again."""
    with room() as space:
        words = space.words("die", (out.size + 3) // 4)
        source.fill(words)
        bits = words.view(np.uint16)[: out.size]
        product = space.words("throw", (out.size + 1) // 2).view(np.uint32)[: out.size]
        np.multiply(bits, np.uint32(sides), out=product)
        bits *= np.uint16(sides % _SIXTEEN_BITS)  # modulo 2^16: decides what is drawn again
        np.right_shift(product, np.uint32(16), out=product)
        np.copyto(out, product, casting="unsafe")
        return np.flatnonzero(bits < _SIXTEEN_BITS % sides)
