"""The published list: randomized response, and outputs whose form gives them away (X22 to X36)."""

from __future__ import annotations

from math import e, exp
from typing import Any

import numpy as np

import discreet as dp
from tests.auditor.zoo import drawing
from tests.auditor.zoo.case import REPLAY, Case
from tests.auditor.zoo.drawing import real
from tests.auditor.zoo.laws import Laws, laws

ONE = dp.Pure(1)
TRUTH = e / (1 + e)


def last_bit_raw(value: Any, size: int) -> Any:
    bits = np.array(value, np.int8)
    lies = drawing.flips(1, size * (bits.size - 1)).reshape(size, -1)
    return np.concatenate([bits[:-1] ^ lies, np.tile(bits[-1:], (size, 1))], axis=1)


def truth_or_coin(value: int, size: int) -> Any:
    lies = drawing.flips(1, size)
    return np.where(lies, drawing.fair(size), value).astype(np.int8)


def response(value: int, size: int) -> Any:
    return (value ^ drawing.flips(1, size)).astype(np.int8)


def clip_passes_nan(value: float, size: int) -> Any:
    """np.clip keeps NaN; the noise is exact, and so is the sum but for NaN itself."""
    clipped = np.clip(value, 0.0, 1.0)
    return clipped + real(drawing.laplace(1, size))


def keys_from_data(value: dict[str, int], size: int) -> list[dict[str, int]]:
    noise = drawing.discrete_laplace(1, size * len(value)).reshape(size, -1).tolist()
    return [dict(zip(value, (n + z for n, z in zip(value.values(), row, strict=True)), strict=True))
            for row in noise]  # fmt: skip


def wrapping_sum(value: Any) -> int:
    """The exact sum as int64 would have it."""
    return (sum(value) + 2**63) % 2**64 - 2**63


def wrapped(value: Any, size: int) -> Any:
    return np.full(size, wrapping_sum(value)) + drawing.discrete_laplace(1, size)


def apart() -> Laws:
    """Outputs that cannot be mistaken for one another."""
    return laws([1.0, 0.0], [0.0, 1.0])


CASES = [
    Case(
        "X22",
        "randomized response on 4 bits, the last one raw",
        last_bit_raw,
        ((1, 0, 1, 0), (1, 0, 1, 1)),
        ONE,
        apart,
        True,
        printed={"epsilon": "inf", "hs": "1"},
    ),
    Case(
        "X24",
        "the truth with probability e/(1 + e), else a fair coin",
        truth_or_coin,
        (0, 1),
        ONE,
        lambda: laws([(1 + TRUTH) / 2, (1 - TRUTH) / 2], [(1 - TRUTH) / 2, (1 + TRUTH) / 2]),
        True,
        printed={"epsilon": "1.861995", "hs": ".5000"},
    ),
    Case(
        "X30",
        "a clip that passes NaN",
        clip_passes_nan,
        (0.0, float("nan")),
        ONE,
        apart,
        True,
        printed={"epsilon": "inf", "hs": "1"},
    ),
    Case(
        "X35",
        "group keys from the data, no threshold",
        keys_from_data,
        ({"flu": 40, "rare": 1}, {"flu": 40}),
        ONE,
        apart,
        True,
        printed={"epsilon": "inf", "hs": "1"},
    ),
    Case(
        "X36",
        "an int64 sum that wraps",
        wrapped,
        ((2**63 - 1, 0), (2**63 - 1, 1)),
        ONE,
        apart,
        True,
        routes=(REPLAY,),
        printed={"epsilon": "inf", "hs": "1"},
    ),
    Case(
        "V05",
        "binary randomized response",
        response,
        (0, 1),
        ONE,
        lambda: laws([1 / (1 + exp(-1)), 1 / (1 + e)], [1 / (1 + e), 1 / (1 + exp(-1))]),
        False,
        printed={"epsilon": "1"},
    ),
]
