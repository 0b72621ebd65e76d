"""pure-ldp on the same surveys, in its own environment; started by surveys.

Imports nothing of ours. Prints a line of JSON: its version, and for each oracle the seconds that
one respondent takes, randomized, aggregated and estimated. It goes through respondents one by one
in Python, so fewer of them do.
"""

from __future__ import annotations

import json
import time
import warnings
from importlib import metadata
from typing import Any

import numpy as np
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import (
    HadamardResponseClient,
    HadamardResponseServer,
)
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer

EPSILON = 1
# pure-ldp numbers items from 1.


def main() -> None:
    """Measure each oracle once."""
    warnings.simplefilter("ignore")
    hadamard = HadamardResponseServer(EPSILON, 10_000)
    hashing = {"d": 10_000, "use_olh": True}
    oracles: dict[str, tuple[Any, Any, int, int]] = {
        "direct": (DEClient(EPSILON, 16), DEServer(EPSILON, 16), 16, 200_000),
        "hadamard": (
            HadamardResponseClient(EPSILON, 10_000, hadamard.get_hash_funcs()),
            hadamard,
            10_000,
            20_000,
        ),
        "hashing": (LHClient(EPSILON, **hashing), LHServer(EPSILON, **hashing), 10_000, 200),
    }
    found = {name: _seconds(*oracle) for name, oracle in oracles.items()}
    print(json.dumps({"version": metadata.version("pure-ldp"), "seconds": found}))


def _seconds(client: Any, server: Any, items: int, respondents: int) -> float:
    truths = np.random.default_rng(1).integers(1, items + 1, respondents).tolist()
    start = time.perf_counter()
    for truth in truths:
        server.aggregate(client.privatise(truth))
    server.estimate(1, suppress_warnings=True)
    return (time.perf_counter() - start) / respondents


if __name__ == "__main__":
    main()
