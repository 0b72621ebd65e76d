"""A stream of numbers for searching, the same in every run: it decides what is tried, not noise."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Stream:
    """SHA-256 of a label and a counter, 64 bits at a time.

    >>> Stream("tries").below(1000) == Stream("tries").below(1000)
    True
    """

    def __init__(self, label: str) -> None:
        self._label = label.encode()
        self._count = 0
        self._words: list[int] = []

    def word(self) -> int:
        """64 bits."""
        if not self._words:
            digest = hashlib.sha256(self._label + self._count.to_bytes(8, "big")).digest()
            self._words = [int.from_bytes(digest[i : i + 8], "big") for i in range(0, 32, 8)]
            self._count += 1
        return self._words.pop()

    def unit(self) -> float:
        """A multiple of 2⁻⁵³ in [0, 1)."""
        return (self.word() >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """One of 0, 1, ... n − 1."""
        return (self.word() << 64 | self.word()) % n

    def choose(self, items: Sequence[T]) -> T:
        """One of some things."""
        return items[self.below(len(items))]

    def picks(self, items: Sequence[T], many: int) -> list[T]:
        """So many of them, with repetitions; at most 256 are told apart."""
        data = b"".join(self.word().to_bytes(8, "big") for _ in range(-(-many // 8)))
        return [items[byte % len(items)] for byte in data[:many]]

    def order(self, items: Sequence[T]) -> list[T]:
        """All of them, in some order."""
        left = list(items)
        for i in range(len(left) - 1, 0, -1):
            j = self.below(i + 1)
            left[i], left[j] = left[j], left[i]
        return left
