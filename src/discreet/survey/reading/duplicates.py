"""Which reports came twice: ids seen so far, in eight bytes each.

Of an id of 128 bits, 64 mixed ones are kept. Two different ids among n have the same 64 bits with
probability below n²/2⁶⁵, three in a million for n = 10⁷, and then one report is set aside that
need not be. Nobody gains by aiming at it: who knows an id can send that id itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.survey.reading.texts import Flags

Keys = NDArray[np.uint64]


class Seen:
    """A growing set of keys in sorted runs, each at least twice as long as the next."""

    def __init__(self) -> None:
        self._runs: list[Keys] = []

    def __len__(self) -> int:
        return sum(run.size for run in self._runs)

    def add(self, ids: NDArray[np.uint64]) -> Flags:
        """Keep these ids (two words a row); which rows are the first with theirs?

        >>> seen = Seen()
        >>> seen.add(np.array([[0, 1], [0, 2], [0, 1]], np.uint64)).tolist()
        [True, True, False]
        >>> seen.add(np.array([[0, 2], [3, 1]], np.uint64)).tolist()
        [False, True]
        """
        keys = _keys(ids)
        order = np.argsort(keys, kind="stable")  # of equal keys the earliest stays first
        keys = keys[order]
        first = np.ones(keys.size, np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        first &= ~self._has(keys)
        self._keep(keys[first])
        fresh = np.zeros(keys.size, np.bool_)
        fresh[order[first]] = True
        return fresh

    def common(self, other: Seen) -> int:
        """How many keys both have."""
        return sum(int(np.count_nonzero(self._has(run))) for run in other._runs)

    def update(self, other: Seen) -> None:
        """Keep all keys of another set that has none in common with this one."""
        for run in other._runs:
            self._keep(run)

    def _has(self, keys: Keys) -> Flags:
        found = np.zeros(keys.size, np.bool_)
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, keys), run.size - 1)
            found |= run[place] == keys
        return found

    def _keep(self, keys: Keys) -> None:
        if not keys.size:
            return
        self._runs.append(keys)
        self._runs.sort(key=len, reverse=True)
        while len(self._runs) > 1 and self._runs[-2].size < 2 * self._runs[-1].size:
            shorter, longer = self._runs.pop(), self._runs.pop()
            # sorting by merging is linear for two sorted halves
            self._runs.append(np.sort(np.concatenate([longer, shorter]), kind="stable"))


def _keys(ids: NDArray[np.uint64]) -> Keys:
    """64 bits that depend on all 128: ids that count 0, 1, 2, … are fine too."""
    return _mixed(ids[:, 0] ^ _mixed(ids[:, 1]))


def _mixed(x: Keys) -> Keys:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014), a permutation of 64-bit words."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
