"""One small error in our own code, and the tests that should notice it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/discreet")

Kind = Literal[
    "sign",
    "scale",
    "off by one",
    "bound swapped",
    "clamp removed",
    "noise reused",
    "count forgotten",
    "seed fixed",
    "salt dropped",
    "rounding",  # to the other side, or of something else
    "check dropped",  # a comparison or a refusal that is gone
    "order swapped",  # of two steps, or of two directions
]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A place in the code, what stands there and what is put there instead."""

    id: str
    file: str  #: under src/discreet
    old: str  #: occurs exactly once
    new: str
    kind: Kind
    harm: str  #: what would go wrong for a person
    tests: tuple[str, ...]  #: that should kill it: files or test functions, as few as will do
    survives: str = ""  #: why no test can kill it, if that is so

    def apply(self, text: str) -> str:
        """The mutated file."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.id}: its text occurs {text.count(self.old)} times")
        return text.replace(self.old, self.new)
