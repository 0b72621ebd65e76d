"""Random words: AES-256 in counter mode, keyed by the operating system.

Each thread has a stream of its own, so no lock is taken and no word is handed out twice.
A stream is thrown away, with every word it had in store, after a fork (in the child) and
after ``REKEY_BYTES``; the next word then comes under a fresh key from ``os.urandom``.
There is no seed. ``discreet.testing`` can put another source in place for the length of a
``with`` block, which is the only way to repeat a draw.
"""

import os
import threading
from typing import Final, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from discreet.errors import EntropyFailed

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
    """One key, one thread."""

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
        # The pool is taken out while it is used: whoever interrupts this thread to draw
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
    """Return the source in force."""
    return _source


def _put_source(new: Source) -> Source:
    """Put ``new`` in force and return the old one. For ``discreet.testing`` alone."""
    global _source
    old, _source = _source, new
    return old
