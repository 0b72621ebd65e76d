"""A privacy claim as a test: fails when the auditor finds a violation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from discreet.auditor.audit import audit
from discreet.auditor.subject import Subject

if TYPE_CHECKING:
    from discreet.auditor.finding import Finding
    from discreet.guarantees import Guarantee

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
    ``guarantee``, which is then the claim unless another is given. ``pair`` are two neighbouring
    inputs, or ``neighbors`` are many such pairs; a mechanism with a law needs neither, and is then
    tried on neighbours that its law suggests. It stops after ``seconds`` (5 unless given) or
    ``samples`` outputs of each input; with ``batched=True``, ``run(value, size=n)`` returns n
    outputs at once. All else is as in ``dp.audit``. A correct
    function fails with probability 1 - ``confidence`` at most: of a thousand such tests, run every
    day, one may fail for nothing once in 2,700 years. Passing is not a proof.

    >>> import discreet as dp
    >>> from discreet.testing import assert_private
    >>> count = dp.Laplace(sensitivity=1, epsilon=1)
    >>> assert_private(count, samples=2_000).violated
    False
    >>> assert_private(lambda x: x, pair=(10, 11), claim=dp.Pure(1), samples=2_000)
    Traceback (most recent call last):
        ...
    discreet.testing.asserting.PrivacyViolated: ...
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
