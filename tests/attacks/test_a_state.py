"""Attack A9: seeds, forks and shared state.

Each test is named after its entry in docs/attacks.md, states its false-alarm rate, and rejects
a planted sampler that has the flaw.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from discreet import laws
from discreet.mechanisms.laplace import Laplace

WORKERS = """
import multiprocessing, sys
import numpy as np
from discreet.mechanisms.laplace import Laplace
from discreet.noise import entropy

def first(_):
    words = entropy.source().words(1000)
    return words, Laplace(sensitivity=1, scale=2**40).release(np.zeros(1000, np.int64))

if __name__ == "__main__":
    before = first(None)                    # the parent has drawn, and has words in store
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(8) as pool:           # a task each, so that every worker starts afresh
        answers = pool.map(first, range(8), chunksize=1)
    words = np.concatenate([w for w, _ in [before, *answers, first(None)]])
    draws = [d.tobytes() for _, d in [before, *answers, first(None)]]
    assert words.size == 10_000
    assert np.unique(words).size == words.size, "words were shared"
    assert len(set(draws)) == len(draws), "draws were shared"
    together = np.concatenate([d for _, d in answers])
    assert np.unique(together).size > together.size - 10, "draws were shared"
    print("distinct")
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a9_workers_never_share_noise(method, tmp_path):
    """Eight workers and their parent: all words and draws differ. False-alarm rate 1e-11."""
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    command = [sys.executable, str(script), method]
    run = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert run.stdout.strip() == "distinct", run.stderr


def test_a9_the_planted_error_is_seen(tmp_path):
    """A generator that is copied by fork, as NumPy's are."""
    script = tmp_path / "workers.py"
    planted = "from discreet.testing import SeededEntropy\nentropy._put_source(SeededEntropy(1))\n"
    script.write_text(WORKERS.replace("def first", planted + "\ndef first", 1))
    run = subprocess.run(
        [sys.executable, str(script), "fork"], capture_output=True, text=True, timeout=900
    )
    assert "were shared" in run.stderr


def test_a9_laws_are_not_seeded():
    """The same mechanism twice, and its law: two different draws from one law."""
    mechanism = Laplace(sensitivity=1, scale=2**40)
    assert mechanism.release(0) != mechanism.release(0)
    assert mechanism.law(0) == laws.DiscreteLaplace(center=0, scale=2**40)
