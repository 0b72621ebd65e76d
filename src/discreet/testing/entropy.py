"""Sources of words that can be repeated.

The further bits behind a word are a function of the word, so that a test can look at the
same real number through the fast path and through the slow one.
"""

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.noise import entropy
from discreet.noise.entropy import Source, Words


class SeededEntropy:
    """AES-256-CTR under a key made from a number: good randomness, no secrecy at all.

    ``seed`` is that number, any int: the same seed gives the same words, in the same order. For
    ``using``; most tests need ``seeded`` alone.

    >>> SeededEntropy(1).words(2).tolist() == SeededEntropy(1).words(2).tolist()
    True
    """

    parallel = False  # threads would take turns in an order of their own

    def __init__(self, seed: int) -> None:
        self._key = hashlib.sha256(f"discreet.testing {seed}".encode()).digest()
        self._cipher = Cipher(algorithms.AES(self._key), modes.CTR(bytes(16))).encryptor()

    def words(self, count: int) -> Words:
        """The next ``count`` words, uniform 64-bit numbers."""
        return np.frombuffer(self._cipher.update(bytes(8 * count)), np.uint64).copy()

    def fill(self, out: Words) -> None:
        """Write the next words into the array ``out``, as many as it holds."""
        out[:] = self.words(out.size)

    def extend(self, words: Words, tag: int) -> Words:
        """Encrypt each of ``words`` together with ``tag``: a further word for each of them."""
        blocks = np.empty((words.size, 2), np.uint64)
        blocks[:, 0], blocks[:, 1] = words, np.uint64(tag + 1)
        # A block cipher is a permutation, so different words have independent answers.
        cipher = Cipher(algorithms.AES(self._key), modes.ECB()).encryptor()
        return np.frombuffer(cipher.update(blocks.tobytes()), np.uint64)[::2].copy()


class ScriptedEntropy(SeededEntropy):
    """Chosen words first, then seeded ones: for draws one would wait a million years for.

    ``script`` is the list of chosen words, whole numbers from 0 to 2⁶⁴ − 1. ``seed`` is for those
    that follow, as in `SeededEntropy`; 0 if left out.

    >>> ScriptedEntropy([7, 0]).words(3)[:2].tolist()
    [7, 0]
    """

    def __init__(self, script: list[int], seed: int = 0) -> None:
        super().__init__(seed)
        self._script = np.array(script, np.uint64)

    def words(self, count: int) -> Words:
        """The next ``count`` words: of the script while there are some, then seeded ones."""
        chosen, self._script = self._script[:count], self._script[count:]
        return np.concatenate([chosen, super().words(count - chosen.size)])


@contextmanager
def using(source: Source) -> Iterator[None]:
    """Draw every word from ``source`` inside the block, in all threads of the process."""
    before = entropy._put_source(source)
    try:
        yield
    finally:
        entropy._put_source(before)


def seeded(seed: int) -> AbstractContextManager[None]:
    """Make every draw inside the block repeatable: the same ``seed``, any int, the same noise.

    For tests alone: whoever knows the seed can take the noise off.

    >>> import discreet as dp
    >>> mechanism = dp.Laplace(sensitivity=1, epsilon=1)
    >>> def draw():
    ...     with seeded(1):
    ...         return mechanism.release([0] * 5).tolist()
    >>> draw() == draw()
    True
    """
    return using(SeededEntropy(seed))
