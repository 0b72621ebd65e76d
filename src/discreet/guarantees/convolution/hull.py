"""The lower convex hull of a profile's upper bounds.

Several true facts about one mechanism bound its profile from above, and so does the least of
them at each ε. That need not be convex in e^ε, but the true profile is, so it lies below the
convex hull of the dots as well.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.guarantees.bands import FloatArray


def lower_hull(x: FloatArray, values: FloatArray) -> NDArray[np.intp]:
    """The places of the hull's corners, in e^x, of dots (x, values) with x increasing.

    One pass that drops the dots above a line between others (Andrew 1979). Slopes are scaled by
    the e^x of the point between, so that nothing overflows. Whichever dots are kept, the lines
    between them lie above every convex function below the dots.

    >>> lower_hull(np.log([1.0, 2.0, 3.0]), np.array([0.4, 0.3, 0.0])).tolist()
    [0, 2]
    """
    at, heights = x.tolist(), values.tolist()
    kept = [0]
    for j in range(1, len(at)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            before = (heights[b] - heights[a]) / -math.expm1(at[a] - at[b])
            after = (heights[j] - heights[b]) / math.expm1(min(at[j] - at[b], 700.0))
            if before < after:
                break
            kept.pop()
        kept.append(j)
    return np.array(kept)
