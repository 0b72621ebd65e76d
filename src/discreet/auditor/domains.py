"""What a record can be, and pairs of neighbouring datasets of such records.

A domain is

- an interval ``(lower, upper)`` of integers or floats,
- a NumPy dtype (``np.int8`` to ``np.int64``, ``np.float32``, ``np.float64``, ``bool``): everything
  that fits in it, with NaN and infinities for floats,
- a list of values, or a list of whole datasets (lists or arrays of records),
- a function that makes a record from numbers in [0, 1), as many as it has parameters, or
- a tuple of such domains, for rows of several columns.

Numbers are passed on as NumPy arrays, everything else as lists of records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.auditor.searching.neighbouring import Changes, Sizes
from discreet.auditor.searching.records import read_domain
from discreet.auditor.searching.starts import starts
from discreet.auditor.searching.stream import Stream
from discreet.exact import integer
from discreet.neighbors import Relation


def neighbours(
    domain: Any,
    relation: Relation | str,
    *,
    tries: int = 1000,
    size: int | tuple[int, int] | None = None,
    shuffled: bool = True,
) -> Iterator[tuple[Any, Any]]:
    """Pairs of neighbouring datasets, nasty ones first, the same ones in every run.

    What ``domain`` can be, see above. ``size`` is the largest number of
    records, or (least, most); under replace a single number is the public size. Unless
    ``shuffled`` is False, neighbours may also come in different orders.

    >>> for x, y in neighbours((0.0, 1.0), "add-remove", tries=3):
    ...     print(x, y)
    [] [0.]
    [] [1.]
    [] [-0.]
    """
    told = Relation.parse(relation)
    changes = Changes(read_domain(domain), told, Sizes.read(size, told), shuffled)
    stream, left = Stream("neighbours"), integer(tries, name="tries", minimum=1)
    begun = (pair for pair in starts(changes) if changes.fits(pair))
    for turn in range(left):
        pair = next(begun, None) if turn % 2 == 0 or turn < 100 else None
        yield (pair or changes.fresh(stream, turn)).datasets(changes.domain)
