"""Drawing outputs: from one callable, for two inputs, within seconds or a number of samples."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from discreet.auditor.sampling.outputs import Outputs, Raised, Reader, joined
from discreet.errors import Argument, InternalError, InvalidArgument, Phrase
from discreet.numeric.exact import integer, positive_float

# -- draws for two inputs --------------------------------------------------------------------------


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
        """n outputs of each input, which take turns to come first."""
        first = sum(self.drawn) // max(1, n) % 2
        parts = {side: self.draw(side, n) for side in (first, 1 - first)}
        return parts[0], parts[1]

    def draw(self, side: int, n: int) -> Outputs:
        parts: list[Outputs] = []
        while n > 0:
            size = min(n, self.chunk)
            started = time.perf_counter()
            part = self.reader.read(self._outputs(side, size))
            if len(part) != size:
                raise InternalError(f"{len(part)} of {size} outputs were read")
            seconds = time.perf_counter() - started
            if size >= self.last[0] or n > size:  # not the short remainder of a draw
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
        many = len(outputs) if hasattr(outputs, "__len__") else None
        if many != size:
            raise InvalidArgument(
                "run",
                Phrase("with {batched=True}, n outputs along the first axis for size=n"),
                "one" if many is None else Phrase("{} for {}", str(many), Argument("size", size)),
                hint="leave batched out for a function that returns one output",
            )
        return outputs

    def one_by_one(self) -> Sampler:
        """A new sampler of the same pair that draws in batches of one."""
        return Sampler(partial(_single, self.run), self.pair, batched=False, reader=self.reader)


class BatchRaised(Exception):
    """A batch ended in an error, and nobody knows which of its outputs caused it.

    Such a batch cannot be replaced: batches that happen to have no error would be kept, and
    errors counted too rarely. So all that was drawn is discarded, and drawn again one by one.
    """


def _single(run: Run, value: Any) -> Any:
    return run(value, size=1)[0]


def _attempt(run: Run, value: Any) -> Any:
    try:
        return run(value)
    except (Exception, SystemExit) as error:  # outputs like any other
        return Raised.by(error)


# -- how much to draw for each purpose -------------------------------------------------------------
# About half of the outputs choose, the other half test.


_SECONDS = 5.0
_SCREEN, _CHOOSE, _COMPARE = 0.2, 0.4, 0.55  # when each ends, as a share of the time
_DRAW = 0.15  # share of the time for drawing the outputs on which events are chosen
_ROWS = 1 << 18  # at most this many of these outputs
_NUMBERS = 1 << 23  # at most this many numbers in them
_NUMBERS_A_SECOND = 160_000  # as many as leave time to look at them
_COMPARED = 1 << 19  # this many outputs are enough to find the best of some events
_FEW = 1 << 12
_SCARCE = 4000  # if fewer outputs per side are affordable, their number is limited too
_SLOW = 1.1  # of the seconds: where calls take long, the last one may end a little late


@dataclass(frozen=True)
class Pace:
    """A limit on seconds, on samples per side, or both; and when it started."""

    seconds: float  #: infinite: samples are the limit
    samples: int | None
    started: float

    def measured(self, sampler: Sampler) -> Pace:
        """Draw until it is clear how long an output takes; if that is long, limit outputs too."""
        sampler.draw(0, 1)  # first calls are slow, and say nothing about the others
        if math.isinf(self.seconds):
            return self
        size, each = 1, float("inf")
        while True:
            for side in (0, 1):
                sampler.draw(side, size)
            short = size * sampler.seconds_each < 0.02 * self.seconds
            # Calls that cost the same for four times as many outputs have not shown their cost.
            if size >= _FEW or not (short or sampler.seconds_each < 0.5 * each):
                break
            size, each = 4 * size, sampler.seconds_each
        left = self.seconds - self._spent
        affordable = max(4, int(left / 2 / sampler.seconds_each))
        if affordable >= _SCARCE:
            return self
        return replace(self, samples=min(sampler.drawn) + affordable)

    @property
    def is_scarce(self) -> bool:
        """Whether there are too few outputs to spare some for a first look and a comparison."""
        return self.samples is not None and self.samples < 512

    def first_look(self, sampler: Sampler) -> int:
        """Outputs per side for a first look: a twentieth of what there is time for."""
        most = min(_FEW if sampler.batched else _FEW // 4, max(64, _NUMBERS // sampler.width))
        part = self._affordable(0.05, sampler) if self.samples is None else self.samples // 16
        return max(8, min(most, part))

    def rows_to_choose(self, sampler: Sampler) -> int:
        """Outputs per side on which events are chosen."""
        most = max(64, min(_ROWS, _NUMBERS // sampler.width))
        if self.samples is not None:
            part = (self.samples - min(sampler.drawn)) // 3 if self.is_scarce else self.samples // 4
            return max(2, min(most, part))
        by_thinking = int(_NUMBERS_A_SECOND * self.seconds / (3 + sampler.width))
        return max(8, min(most, self._affordable(_DRAW, sampler), by_thinking))

    def screening_is_over(self) -> bool:
        """Whether looking through all features has taken its share of the time."""
        return self.has_used(_SCREEN)

    def choosing_is_over(self) -> bool:
        """Whether a closer look at the best of them has taken its share of the time."""
        return self.has_used(_CHOOSE)

    def comparing_is_over(self, sampler: Sampler, compared: int) -> bool:
        """Whether the second part of the outputs is drawn."""
        if self.samples is None:
            done = self.has_used(_COMPARE)
        else:
            done = self.is_scarce or min(sampler.drawn) >= self.samples // 2
        return done or compared >= _COMPARED

    def is_over(self, sampler: Sampler) -> bool:
        """Whether everything is drawn."""
        if self.samples is not None:
            return self.has_used(_SLOW) or min(sampler.drawn) >= self.samples
        return self.has_used(1.0)

    def allows(self, sampler: Sampler, n: int) -> bool:
        """Whether n more outputs per side would leave half of everything."""
        if self.samples is not None:
            return min(sampler.drawn) + n <= self.samples // 2
        return self._spent + 2 * n * sampler.seconds_each < 0.5 * self.seconds

    def share(self, sampler: Sampler) -> float:
        """The share of the whole that is done."""
        if self.samples is not None:
            return min(1.0, min(sampler.drawn) / self.samples)
        return min(1.0, self._spent / self.seconds)

    def next_chunk(self, sampler: Sampler, *, comparing: bool = False) -> int:
        """Outputs per side to draw before the next check."""
        if self.samples is None:
            return sampler.chunk
        end = self.samples // 2 if comparing else self.samples
        return max(1, min(sampler.chunk, end - min(sampler.drawn)))

    def expected_tests(self, sampler: Sampler) -> float:
        """About how many outputs per side there will be to test on."""
        if self.samples is not None:
            return max(1.0, self.samples / 2)
        return max(64.0, (1 - _COMPARE) * self.seconds / 2 / (sampler.seconds_each + 1e-7))

    def has_used(self, share: float) -> bool:
        """Whether this share of the time is over."""
        return self._spent > share * self.seconds

    def part(self, share: float, sampler: Sampler) -> int:
        """How many outputs per side fit into a share of it."""
        if self.samples is not None:
            return int(share * self.samples)
        return self._affordable(share, sampler)

    def without(self, samples: int) -> Pace:
        """What is left of it now, after this many samples per side."""
        now = time.perf_counter()
        left = None if self.samples is None else max(64, self.samples - samples)
        return Pace(max(0.1, self.seconds - (now - self.started)), left, now)

    def _affordable(self, share: float, sampler: Sampler) -> int:
        """How many outputs per side fit into a share of the time."""
        return int(share * self.seconds / 2 / sampler.seconds_each)

    @property
    def _spent(self) -> float:
        return time.perf_counter() - self.started


def read_pace(seconds: float | None, samples: int | None, started: float) -> Pace:
    """Read the limits; at most one of the two may be given."""
    if seconds is not None and samples is not None:
        raise InvalidArgument.conflict("samples", "None where seconds are given", "both of them")
    if samples is not None:
        return Pace(math.inf, integer(samples, name="samples", minimum=64), started)
    given = _SECONDS if seconds is None else positive_float(seconds, name="seconds")
    return Pace(given, None, started)
