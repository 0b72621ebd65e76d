"""What came out of checking a certificate: what is proved, what is not, what failed."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.printable import one_line


@dataclass(frozen=True)
class Verdict:
    """Sentences under three headings. ``ok`` means that nothing failed, not that all is proved.

    >>> print(Verdict(proved=("the sums add up",), trusted=("the data",), failed=()))
    Proved:
      - the sums add up
    Taken on trust:
      - the data
    """

    proved: tuple[str, ...]
    trusted: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Did nothing fail?"""
        return not self.failed

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        parts = (("Failed", self.failed), ("Proved", self.proved), ("Taken on trust", self.trusted))
        lines = []
        for title, sentences in parts:
            if sentences:
                lines += [f"{title}:", *(f"  - {one_line(sentence)}" for sentence in sentences)]
        return "\n".join(lines)
