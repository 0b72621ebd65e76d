"""Where words come from: never the same one twice, never without the operating system."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.errors import EntropyFailed
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise import entropy
from discreet.noise.entropy import POOL_WORDS, SystemEntropy
from discreet.testing import ScriptedEntropy, SeededEntropy, seeded, using

SOURCE = Path(discreet.__file__).parent


def distinct(*words: np.ndarray) -> bool:
    """Of n random words two are alike with probability n²/2^65: 1e-9 for 150,000."""
    together = np.concatenate(words)
    assert together.size < 150_000
    return np.unique(together).size == together.size


def test_words_are_distinct_in_any_portions():
    source = SystemEntropy()
    portions = [1, 2, 63, 64, 65, 100, POOL_WORDS, 1, 20_000, 3, 70_000, 0, 7]
    assert distinct(*[source.words(n) for n in portions])


def test_words_are_uniform(chi_square):
    """Each of the 64 bits of a million words, and their first 8 together; rate 1e-9."""
    words = SystemEntropy().words(1_000_000)
    for i in range(64):
        ones = int(((words >> np.uint64(i)) & np.uint64(1)).sum())
        assert abs(ones - 500_000) < 6.5 * 500  # 6.5 standard deviations: 8e-11
    bytes_ = np.bincount((words >> np.uint64(56)).astype(np.int64), minlength=256)
    assert chi_square(bytes_, [1 / 256] * 256) > 1e-9


def test_threads_never_share_a_word():
    source, found, start = SystemEntropy(), [], threading.Barrier(8)

    def work():
        start.wait()
        for n in (1, 5, 64, 65, 1000, 2, 3000):
            found.append(source.words(n))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 56 and distinct(*found)


FORKS = """
import ctypes, os, sys
import numpy as np
from discreet.noise import entropy

def child(fork):
    entropy.source().words(3)                     # so that there is a pool to inherit
    read, write = os.pipe()
    if fork() == 0:
        os.write(write, entropy.source().words(1000).tobytes())
        os._exit(0)
    own = entropy.source().words(1000)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), np.uint64)
    os.wait()
    assert theirs.size == 1000
    return np.concatenate([own, theirs])

forks = [os.fork, os.fork]
if sys.platform == "linux":
    forks.append(ctypes.CDLL(None).fork)          # behind the interpreter's back
words = np.concatenate([child(fork) for fork in forks])
assert np.unique(words).size == words.size, "a word was shared"
print(words.size)
"""


def test_parent_and_forked_child_never_share_a_word():
    run = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= 4000


def test_the_fork_test_would_see_a_shared_stream():
    """The planted error: a source that nobody re-keys gives parent and child the same words."""
    broken = FORKS.replace(
        "def child",
        "from discreet.testing import SeededEntropy\n"
        "entropy._put_source(SeededEntropy(1))\n\ndef child",
        1,
    )
    run = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True)
    assert "a word was shared" in run.stderr


def test_the_key_changes_every_so_often(monkeypatch):
    keys = []
    real = os.urandom
    monkeypatch.setattr(entropy, "REKEY_BYTES", 8 * 1000)
    monkeypatch.setattr(os, "urandom", lambda n: keys.append(real(n)) or keys[-1])
    source = SystemEntropy()
    words = [source.words(500) for _ in range(20)]  # 10,000 words, 1,000 a key
    assert len(keys) == 10 == len(set(keys))
    assert distinct(*words)


def test_forgetting_drops_the_pool(monkeypatch):
    """What is left in store under an old key is not handed out under a new one."""
    source = SystemEntropy()
    source.words(1)
    stored = source._local.stream._pool.copy()
    assert stored.size == POOL_WORDS - 1
    source.forget()
    drawn = [source.words(1) for _ in range(POOL_WORDS - 1)]  # one by one: these use the pool
    assert distinct(stored, *drawn)


def test_interrupting_a_refill_shares_no_word(monkeypatch):
    """A signal handler that draws while the pool is filled gets words of its own."""
    source, inner = SystemEntropy(), []
    real = entropy._Stream.encrypt

    def interrupted(self, out):
        real(self, out)
        if not inner:
            inner.append(np.empty(0, np.uint64))
            inner.append(source.words(5))

    monkeypatch.setattr(entropy._Stream, "encrypt", interrupted)
    outer = [source.words(5) for _ in range(300)]
    assert distinct(*outer, *inner)


def test_interrupting_a_small_request_shares_no_word():
    """The same between taking words from the pool and handing them out."""
    source, inner = SystemEntropy(), []

    class Interrupted(np.ndarray):
        def __setitem__(self, place, words):
            inner.append(source.words(5))
            super().__setitem__(place, words)

    outer = np.empty(5, np.uint64).view(Interrupted)
    source.words(5)
    source.fill(outer)
    assert len(inner) == 1 and distinct(outer, *inner, source.words(5))


@pytest.mark.parametrize("failure", [OSError("gone"), NotImplementedError("none here")])
@pytest.mark.parametrize("value", [1, 2.5, [1] * 100, np.zeros(2000), np.zeros(300_000, np.int64)])
@pytest.mark.parametrize(
    "mechanism", [Laplace(sensitivity=1, epsilon=1), Gaussian(sensitivity=1, sigma=1)]
)
def test_without_entropy_nothing_is_released(mechanism, value, failure, monkeypatch):
    def fail(count):
        raise failure

    monkeypatch.setattr(os, "urandom", fail)
    with using(SystemEntropy()), pytest.raises(EntropyFailed, match="nothing was released"):
        mechanism.release(value)


def test_too_few_random_bytes_are_a_failure(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: b"short")
    with pytest.raises(EntropyFailed):
        SystemEntropy().words(1)


# Seeds ----------------------------------------------------------------------------------------


def modules():
    for module in pkgutil.walk_packages([str(SOURCE)], "discreet."):
        if not module.name.startswith("discreet.testing"):
            yield importlib.import_module(module.name)


def callables():
    """Every public function, class and method of the package outside ``discreet.testing``."""
    for module in [discreet, *modules()]:
        for name, member in vars(module).items():
            if name.startswith("_") or not getattr(member, "__module__", "").startswith("discreet"):
                continue
            if inspect.isclass(member):
                yield f"{module.__name__}.{name}", member
                for inner, method in vars(member).items():
                    if callable(method) and (not inner.startswith("_") or inner == "__init__"):
                        yield f"{module.__name__}.{name}.{inner}", method
            elif callable(member):
                yield f"{module.__name__}.{name}", member


def parameters(function) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return set()


SEEDS = {"seed", "random_state", "rng", "generator", "prng", "random", "bit_generator"}


def test_there_is_no_seed():
    found = {name: parameters(member) for name, member in callables()}
    assert len(found) > 100
    assert not {name for name, names in found.items() if names & SEEDS}
    assert parameters(seeded) & SEEDS  # the search can find one


def test_only_testing_replaces_the_source():
    uses = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "_put_source" in path.read_text()
    }
    assert uses == {"noise/entropy.py", "testing.py"}
    assert isinstance(entropy.source(), SystemEntropy)


def test_no_other_randomness_is_used():
    """No module of the package draws from NumPy's or Python's generators."""
    for path in SOURCE.rglob("*.py"):
        if "testing" not in path.parts:
            text = path.read_text()
            assert "import random" not in text and "np.random" not in text, path
            assert "secrets" not in text.split(), path


def test_the_source_comes_back_after_the_block():
    before = entropy.source()
    with pytest.raises(ZeroDivisionError), seeded(1):
        1 / 0  # noqa: B018
    assert entropy.source() is before


# The repeatable sources -----------------------------------------------------------------------


def test_a_seed_repeats_a_draw():
    mechanism = Laplace(sensitivity=1, scale=1000)
    with seeded(4):
        first = mechanism.release([0] * 50)
    with seeded(4):
        again = mechanism.release([0] * 50)
    with seeded(5):
        other = mechanism.release([0] * 50)
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_what_lies_behind_a_word_is_a_function_of_it():
    source = SeededEntropy(1)
    words = source.words(1000)
    further = source.extend(words, 7)
    assert np.array_equal(further[300:400], source.extend(words[300:400], 7))
    assert distinct(words, further, source.extend(words, 8), source.words(1000))


def test_a_script_comes_first():
    source = ScriptedEntropy([1, 2, 3])
    assert source.words(2).tolist() == [1, 2]
    rest = source.words(3)
    assert rest[0] == 3 and distinct(rest)
    filled = np.empty(4, np.uint64)
    ScriptedEntropy([9]).fill(filled)
    assert filled[0] == 9
