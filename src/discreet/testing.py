"""For tests, papers and teaching: repeatable noise, and claims as tests. Never for a real release.

This is the only place in the package where a draw can be repeated. Nothing else imports it.

>>> import discreet as dp
>>> from discreet.testing import seeded
>>> coin = dp.Laplace(sensitivity=1, epsilon=1)
>>> with seeded(7):
...     first = coin.release(100)
>>> with seeded(7):
...     again = coin.release(100)
>>> first == again
True
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.auditor.audit import audit
from discreet.auditor.replay import replay as replay_with
from discreet.auditor.replay_finding import ReplayFinding
from discreet.auditor.subject import Subject
from discreet.noise import entropy
from discreet.noise.entropy import Source, Words

if TYPE_CHECKING:
    from discreet.auditor.finding import Finding
    from discreet.guarantees import Guarantee


__all__ = [
    "PrivacyViolated",
    "ScriptedEntropy",
    "SeededEntropy",
    "assert_private",
    "replay",
    "seeded",
    "using",
]


# -- repeatable entropy ----------------------------------------------------------------------------


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
    """Chosen words first, then seeded ones: for draws too rare to wait for.

    ``script`` is the list of chosen words, whole numbers from 0 to 2⁶⁴ − 1. ``seed`` is for the
    words that follow, as in `SeededEntropy`; 0 if left out.

    >>> ScriptedEntropy([7, 0]).words(3)[:2].tolist()
    [7, 0]
    """

    def __init__(self, script: list[int], seed: int = 0) -> None:
        super().__init__(seed)
        self._script = np.array(script, np.uint64)

    def words(self, count: int) -> Words:
        """The next ``count`` words: from the script while it lasts, then seeded ones."""
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

    For tests alone: whoever knows the seed can remove the noise.

    >>> import discreet as dp
    >>> mechanism = dp.Laplace(sensitivity=1, epsilon=1)
    >>> def draw():
    ...     with seeded(1):
    ...         return mechanism.release([0] * 5).tolist()
    >>> draw() == draw()
    True
    """
    return using(SeededEntropy(seed))


# -- replays with repeatable entropy ---------------------------------------------------------------


def replay(run: Callable[..., Any], pair: tuple[Any, Any], *, seed: int = 0) -> ReplayFinding:
    """`discreet.replay`, with the same random words on both neighbours.

    ``run`` and ``pair`` are as there: a function of one input, and two neighbouring inputs.
    ``seed``, any int, decides the words; 0 if left out.

    A session needs this only for a test that is the same each time. Mechanisms that are used
    directly report nothing to the recorder: where their outputs decide what comes next, the
    comparison needs outputs that repeat.

    >>> import discreet as dp, pyarrow as pa
    >>> def released(rows):
    ...     people = dp.table(pa.table({"age": rows}))
    ...     query = people.agg(n=dp.count(), total=dp.sum("age", bounds=(0, 120)))
    ...     return dp.Session(people, budget=dp.Pure(1)).release(query, epsilon=1)
    >>> print(replay(released, pair=([34, 51], [34, 51, 990])))
    no violation found: 2 points reached the noise in the same way from pair[0] and pair[1], \
none further apart than declared. This is about these two inputs and is not a proof
    """
    return replay_with(run, pair, same_noise=lambda: seeded(seed))


# -- a privacy claim as a test ---------------------------------------------------------------------


_AGAIN = (
    "To see it again: catch this error, and call error.finding.witness.replay(run), with the "
    "function, or the release of the mechanism, as it is or as it was repaired; it draws anew and "
    "tests the same event alone."
)


class PrivacyViolated(AssertionError):
    """A claim does not hold; ``finding`` says why, with a witness that can be replayed."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding}\n{_AGAIN}")
        self.finding = finding


def assert_private(
    run: Callable[..., Any] | Any,
    pair: tuple[Any, Any] | None = None,
    claim: Guarantee | None = None,
    *,
    neighbors: Iterable[tuple[Any, Any]] | Callable[[], tuple[Any, Any]] | None = None,
    seconds: float | None = None,
    samples: int | None = None,
    confidence: float = 1 - 1e-9,
    batched: bool = False,
) -> Finding:
    """Fail if ``run`` is less private than claimed; else return what was found.

    ``run`` is a function of one input, or a mechanism: an object with ``release`` and
    ``guarantee``, which is then the claim unless another is given. ``pair`` is two neighbouring
    inputs, or ``neighbors`` is many such pairs; a mechanism with a law needs neither, and is then
    tried on neighbours that its law suggests. It stops after ``seconds`` (5 unless given) or
    ``samples`` outputs of each input; with ``batched=True``, ``run(value, size=n)`` returns n
    outputs at once. All else is as in ``dp.audit``. A correct function fails with probability
    1 - ``confidence`` at most: of a thousand such tests, run every day, one may fail without cause
    once in 2,700 years. Passing is not a proof.

    >>> import discreet as dp
    >>> from discreet.testing import assert_private
    >>> count = dp.Laplace(sensitivity=1, epsilon=1)
    >>> assert_private(count, samples=2_000).violated
    False
    >>> assert_private(lambda x: x, pair=(10, 11), claim=dp.Pure(1), samples=2_000)
    Traceback (most recent call last):
        ...
    discreet.testing.PrivacyViolated: ...
    """
    __tracebackhide__ = True  # pytest then shows the line of the test that called this
    subject = Subject.of(run)
    chosen = subject.claimed(claim)
    function, at_once = subject.drawn(batched)
    if pair is None and neighbors is None:
        neighbors = subject.pairs(chosen) or None
    finding = audit(
        function,
        pair,
        chosen,
        neighbors=neighbors,
        seconds=seconds,
        samples=samples,
        confidence=confidence,
        batched=at_once,
    )
    if finding.violated:
        raise PrivacyViolated(finding)
    return finding
