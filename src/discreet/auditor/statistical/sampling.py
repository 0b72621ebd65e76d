"""Drawing outputs: from one callable, for two inputs, within seconds or a number of samples."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from discreet.auditor.statistical.outputs import Outputs, Reader, joined
from discreet.auditor.statistical.reading import Raised
from discreet.errors import InternalError, InvalidArgument

Run = Callable[..., Any]

_CHUNK = 1 << 17  # numbers drawn at once where runs come in batches
_SLICE = 0.1  # seconds between two looks at the clock


@dataclass
class Sampler:
    """Draws outputs of a pair of inputs, and knows how long one takes."""

    run: Run
    pair: tuple[Any, Any]
    batched: bool
    reader: Reader = field(default_factory=Reader)
    drawn: list[int] = field(default_factory=lambda: [0, 0])
    width: int = 1
    last: tuple[int, float] = (0, 0.0)  #: how many outputs the last call gave, in how many seconds

    @property
    def seconds_each(self) -> float:
        """How long one output takes, by the last call."""
        size, seconds = self.last
        return max(seconds / size, 1e-9) if size else 1e-3

    @property
    def chunk(self) -> int:
        """How many outputs to draw before the clock is looked at.

        A call may cost as much as a thousand outputs, so sizes grow as long as calls are short.
        """
        size, seconds = self.last
        if size == 0:
            return 1
        grown = size * 8 if seconds < _SLICE / 4 else size * 2
        if seconds > _SLICE:
            grown = max(1, int(size * _SLICE / seconds))
        return min(grown, max(256, _CHUNK // self.width))

    def both(self, n: int) -> tuple[Outputs, Outputs]:
        """n outputs of each input, taking turns in who comes first."""
        first = sum(self.drawn) // max(1, n) % 2
        parts = {side: self.draw(side, n) for side in (first, 1 - first)}
        return parts[0], parts[1]

    def draw(self, side: int, n: int) -> Outputs:
        """n outputs of one input."""
        parts: list[Outputs] = []
        while n > 0:
            size = min(n, self.chunk)
            started = time.perf_counter()
            part = self.reader.read(self._outputs(side, size))
            if len(part) != size:
                raise InternalError(f"{len(part)} of {size} outputs were read")
            seconds = time.perf_counter() - started
            if size >= self.last[0] or n > size:  # not the short rest of a draw
                self.last = size, seconds
            self.width = max(self.width, part.width)
            parts.append(part)
            self.drawn[side] += size
            n -= size
        return parts[0] if len(parts) == 1 else joined(parts)

    def _outputs(self, side: int, size: int) -> Any:
        value = self.pair[side]
        if not self.batched:
            return [_attempt(self.run, value) for _ in range(size)]
        try:
            outputs = self.run(value, size=size)
        except (Exception, SystemExit):
            raise BatchRaised from None
        if not hasattr(outputs, "__len__") or len(outputs) != size:
            raise InvalidArgument(
                name="run",
                expected="with batched=True, n outputs along the first axis for size=n",
                given=f"{len(outputs)} for size={size}" if hasattr(outputs, "__len__") else "one",
                hint="leave batched out for a function that returns one output",
            )
        return outputs

    def one_by_one(self) -> Sampler:
        """The same, from the start, in batches of one."""
        return Sampler(partial(_single, self.run), self.pair, batched=False, reader=self.reader)


class BatchRaised(Exception):
    """A batch ended in an error, and nobody knows which of its outputs did.

    Such a batch cannot be replaced: batches that happen to have no error would be kept, and
    errors counted too rarely. So all that was drawn is given up, and drawn anew one by one.
    """


def _single(run: Run, value: Any) -> Any:
    return run(value, size=1)[0]


def _attempt(run: Run, value: Any) -> Any:
    try:
        return run(value)
    except (Exception, SystemExit) as error:  # outputs like any other
        return Raised.by(error)
