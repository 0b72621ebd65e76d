"""Random words: AES-256 in counter mode, keyed by the operating system.

Each thread has a stream of its own, so no lock is taken and no word is handed out twice.
A stream is thrown away, with every word it had in store, after a fork (in the child) and
after ``REKEY_BYTES``; the next word then comes under a fresh key from ``os.urandom``.
There is no seed. ``discreet.testing`` can put another source in place for the duration of a
``with`` block, which is the only way to repeat a draw.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Protocol, TypeVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from discreet.errors import EntropyFailed
from discreet.numeric.balls import arb, ball, precision

Words = NDArray[np.uint64]

REKEY_BYTES: Final = 1 << 32
POOL_WORDS: Final = 512  # small requests share one call of the cipher
_NO_WORDS: Final = np.empty(0, np.uint64)
_PIECE: Final = 1 << 16  # words encrypted at a time
_ZEROS: Final = memoryview(bytes(8 * _PIECE))  # counter mode turns zeros into key stream


class Source(Protocol):
    """Where random words come from."""

    parallel: bool  # may several threads draw at once?

    def words(self, count: int) -> Words:
        """Return ``count`` independent uniform 64-bit words."""
        ...

    def fill(self, out: Words) -> None:
        """Fill ``out`` with independent uniform 64-bit words."""
        ...

    def extend(self, words: Words, tag: int) -> Words:
        """Return a further independent uniform word for each of ``words``.

        ``tag`` says which further word is wanted. A secure source ignores both arguments; a
        repeatable one makes the answer a function of them, so that a test can look at the
        same real number twice.
        """
        ...


class _Stream:
    """The words of one thread, under one key."""

    def __init__(self) -> None:
        try:
            seed = os.urandom(48)
            self._cipher: CipherContext = Cipher(
                algorithms.AES(seed[:32]), modes.CTR(seed[32:])
            ).encryptor()
        except Exception as failure:
            raise EntropyFailed(
                "The operating system gave no randomness, so nothing was released. "
                "Check that os.urandom works on this machine."
            ) from failure
        self._left = REKEY_BYTES
        self._pool: Words = _NO_WORDS

    @property
    def spent(self) -> bool:
        return self._left <= 0

    def encrypt(self, out: Words) -> None:
        for start in range(0, out.size, _PIECE):
            part = out[start : start + _PIECE]
            self._cipher.update_into(_ZEROS[: part.nbytes], part.view(np.uint8).data)
        self._left -= out.nbytes

    def fill(self, out: Words) -> None:
        if out.size > POOL_WORDS // 8:
            self.encrypt(out)
            return
        # The pool is taken out while it is used: code that interrupts this thread to draw
        # makes a pool of its own, and no word is handed out twice.
        pool, self._pool = self._pool, _NO_WORDS
        if pool.size < out.size:
            pool = np.empty(POOL_WORDS, np.uint64)
            self.encrypt(pool)
        out[:], self._pool = pool[: out.size], pool[out.size :]


class SystemEntropy:
    """The source used for every release."""

    parallel = True

    def __init__(self) -> None:
        self._local = threading.local()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Drop every stream: the next word, in any thread, comes under a fresh key."""
        self._local = threading.local()

    def _stream(self) -> _Stream:
        local, process = self._local, os.getpid()
        stream: _Stream | None = getattr(local, "stream", None)
        # The fork hook already drops streams. The process number catches a fork made in C,
        # behind the interpreter's back.
        if stream is None or stream.spent or local.process != process:
            stream = _Stream()
            local.stream, local.process = stream, process
        return stream

    def fill(self, out: Words) -> None:
        self._stream().fill(out)

    def words(self, count: int) -> Words:
        out = np.empty(count, np.uint64)
        self.fill(out)
        return out

    def extend(self, words: Words, tag: int) -> Words:
        return self.words(words.size)


_source: Source = SystemEntropy()


def source() -> Source:
    """Return the source in use."""
    return _source


def _put_source(new: Source) -> Source:
    """Put ``new`` in place and return the old one. For ``discreet.testing`` alone."""
    global _source
    old, _source = _source, new
    return old


# -- a word is the beginning of a real number ------------------------------------------------------
# A uniform real U in [0, 1) has infinitely many random bits. A draw looks at the first 64 (or
# fewer) of them, which pins U to an interval. Where that interval is too wide to decide how the
# draw is rounded, more bits are revealed, of the *same* U. A ``Tape`` remembers what was revealed,
# so that each bit is drawn only once.


T = TypeVar("T")

PREFETCH: Final = 8  # words for a single draw: enough for nearly all of them


@dataclass(frozen=True)
class Tape:
    """The bits behind a few words, revealed as they are asked for."""

    source: Source
    words: Words
    _revealed: dict[int, Words] = field(default_factory=dict)

    def more(self, tag: int) -> Words:
        """Return the further word called ``tag`` behind each word."""
        if tag not in self._revealed:
            self._revealed[tag] = self.source.extend(self.words, tag)
        return self._revealed[tag]


class Draw:
    """The bits behind one word, in plain integers: the quick way for a single number."""

    def __init__(self, source: Source) -> None:
        self._source = source
        first, *rest = source.words(PREFETCH).tolist()
        self.word: int = first
        self._store: list[int] = rest
        self._revealed: dict[int, int] = {}

    def more(self, tag: int) -> int:
        """Return the further word called ``tag``."""
        if tag not in self._revealed:
            self._revealed[tag] = (
                self._store.pop() if self._store else int(self._source.words(1)[0])
            )
        return self._revealed[tag]

    def tape(self) -> Tape:
        """Return the same bits as a tape, for the slow path."""
        revealed = {tag: np.array([word], np.uint64) for tag, word in self._revealed.items()}
        return Tape(self._source, np.array([self.word], np.uint64), revealed)


class Real:
    """A uniform real in [0, 1), known to ``bits`` bits so far: those of the integer ``first``."""

    def __init__(self, tape: Tape, index: int, *, first: int, bits: int, tag: int) -> None:
        self._tape, self._index, self._tag = tape, index, tag
        self.first, self.bits = first, bits

    def refine(self) -> None:
        """Reveal 64 more bits."""
        self.first = (self.first << 64) | int(self._tape.more(self._tag)[self._index])
        self.bits += 64
        self._tag += 1

    def ball(self) -> arb:
        """Return a ball around every real that begins with the known bits."""
        from flint import arb

        half = Fraction(1, 1 << (self.bits + 1))
        return arb(ball((2 * self.first + 1) * half), ball(half))


def settle(reals: list[Real], attempt: Callable[[], T | None]) -> T:
    """Call ``attempt`` with ever more bits of ``reals`` known, until it is certain.

    ``attempt`` works in ball arithmetic and returns None where the balls leave a doubt. It
    ends with probability one: what is decided depends on continuous laws.
    """
    while True:
        with precision(max(real.bits for real in reals) + 96):
            answer = attempt()
        if answer is not None:
            return answer
        for real in reals:
            real.refine()


def nearest(value: arb) -> int | None:
    """Return ⌊value + ½⌋ where the whole ball agrees on it, else None."""
    rounded = (value + ball(Fraction(1, 2))).floor().unique_fmpz()
    return None if rounded is None else int(rounded)
