"""A certificate: a JSON document in one canonical form, which says what was released and how."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.certificate.json_schema import misfits
from discreet.errors import Idiom, InvalidArgument, one_line
from discreet.guarantees import Guarantee
from discreet.numeric import canonical
from discreet.numeric.exact import round_up

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


# -- certificate -----------------------------------------------------------------------------------


FORMAT: Final = "discreet certificate"
VERSION: Final = 1
_LARGEST: Final = 2**26  # characters of a file that is read


@dataclass(frozen=True)
class Certificate:
    """What was released about whom, under which promise, with what error, and where the ledger
    records it. ``verify`` says how much of it can be proved.

    Nothing in it depends on the data except the digest of the released values. It comes with
    a result (``result.certificate``), or is read by ``load`` or ``from_json``, which check what
    they are given; ``text`` is its canonical JSON.

    >>> Certificate.from_json('{"format":"discreet certificate","version":1}').document["version"]
    1
    """

    text: str  #: canonical JSON

    @property
    def document(self) -> dict[str, Any]:
        """Its content as a dictionary, a new one each time."""
        parsed: dict[str, Any] = json.loads(self.text)
        return parsed

    def to_json(self) -> str:
        """The canonical text, all of which is signed except the signature itself."""
        return self.text

    @classmethod
    def of(cls, document: dict[str, Any]) -> Certificate:
        """From a document of JSON values without floats."""
        return cls(canonical.text(document))

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate from ``text``, the JSON of one; other text is refused.

        Whether it holds is for ``verify`` to say.
        """
        document = None
        if isinstance(text, str) and len(text) <= _LARGEST:
            try:
                document = json.loads(
                    text, parse_float=_no_float, parse_constant=_no_float, object_pairs_hook=_once
                )
            except (ValueError, RecursionError):
                document = None
        if not isinstance(document, dict):
            raise InvalidArgument(
                "certificate",
                "a JSON object with every key once and no decimal numbers",
                "something else",
                hint=Idiom.CERTIFICATE,
            )
        try:
            made = cls.of(document)
            made.text.encode()  # half a character is none
            return made
        except (UnicodeError, RecursionError):
            raise InvalidArgument(
                "certificate", "text in UTF-8, not too deep", "something else"
            ) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to the file ``path``, as one line of JSON. An existing file is replaced."""
        Path(path).write_text(f"{self.text}\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read it from the file ``path``, which ``save`` wrote; refused if it cannot be read."""
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(_LARGEST + 1)
        except (OSError, UnicodeError) as error:
            raise InvalidArgument(
                "certificate",
                "the path of a text file that can be read",
                f"one that cannot ({getattr(error, 'strerror', None) or 'not UTF-8'})",
                hint=Idiom.CERTIFICATE,
            ) from None
        return cls.from_json(text)

    def verify(
        self,
        *,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        public_key: str | os.PathLike[str] | None = None,
        result: Any = None,
    ) -> Verdict:
        """What can be proved of it, by code other than that which issued it, and what is taken on
        trust.

        ``public_key`` (a file, or 64 hexadecimal digits) says whose signature it must have;
        ``ledger`` (a path, an address or a `Ledger`) where its charge must be recorded; ``result``
        (CSV, Parquet, Arrow, or a result) which values it must be about. What is left out is not
        checked, and the verdict says so.
        """
        from discreet.certificate.verification import verify

        return verify(self, ledger=ledger, public_key=public_key, result=result)

    @property
    def digest(self) -> str:
        """The digest that it states: SHA-256 of everything but digest and signature."""
        return str(self.document.get("digest"))

    @property
    def guarantee(self) -> Guarantee:
        """The promise."""
        return Guarantee.from_json(json.dumps(self.document["guarantee"]["document"]))

    def __str__(self) -> str:
        told = self.document
        if wrong := misfits(told):
            return f"Certificate in a form that this version does not know: {wrong[0]}"
        signed = "signed" if told["signature"] else "not signed"
        record, rows = told["ledger"], told["released"]["rows"]
        place = f"record {record['record']} of ledger {record['id']}" if record else "no ledger"
        lines = (
            f"Certificate of a release from {told['dataset']}, {told['time']}",
            told["query"]["words"],
            f"Protects {told['protects']['words']}: {told['guarantee']['words']}.",
            f"{rows:,} row{'s' * (rows != 1)}; {place}; {signed}.",
        )
        return "\n".join(map(one_line, lines))

    __repr__ = __str__


def content(document: dict[str, Any]) -> dict[str, Any]:
    """The part of a document that its digest covers."""
    return {name: value for name, value in document.items() if name not in ("digest", "signature")}


def message(document: dict[str, Any]) -> bytes:
    """The bytes that are signed."""
    told = {name: value for name, value in document.items() if name != "signature"}
    return canonical.text(told).encode()


def in_words(points: list[dict[str, str]]) -> str:
    """A guarantee's (ε, δ), for reading; ε rounded up.

    >>> in_words([{"epsilon": "1/2", "delta": "1/1000000"}])
    'ε = 0.5 at δ = 1e-06'
    """
    if not points:
        return "no ε at a δ worth telling"
    epsilon, delta = (Fraction(points[0][name]) for name in ("epsilon", "delta"))
    at = f" at δ = {round_up(delta):.6g}" if delta else ""
    return f"ε = {round_up(epsilon):.6g}{at}"


def _no_float(text: str) -> None:
    raise ValueError


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


# -- verdict: what is proved, what is not, what failed ---------------------------------------------


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
