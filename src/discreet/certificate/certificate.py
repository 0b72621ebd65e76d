"""A certificate: a JSON document in one canonical form, which says what was released and how."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.auditor.certificate.json_schema import misfits
from discreet.auditor.certificate.verification import Verdict, verify_document
from discreet.errors import Idiom, InvalidArgument, one_line
from discreet.numeric import canonical

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee
    from discreet.ledger.ledger import Ledger

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
            with suppress(ValueError, RecursionError):
                document = json.loads(
                    text, parse_float=_no_float, parse_constant=_no_float, object_pairs_hook=_once
                )
        if not isinstance(document, dict):
            raise InvalidArgument(
                "certificate",
                "a JSON object with every key once and no decimal numbers",
                "something else",
                hint=Idiom.CERTIFICATE,
            )
        try:
            return cls.of(document)
        except RecursionError:
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
        found = None
        if ledger is not None:
            from discreet.certificate.ledger_check import look_up

            found = look_up(self.document, ledger, public_key)
        return verify_document(self.document, public_key=public_key, result=result, ledger=found)

    @property
    def digest(self) -> str:
        """The digest that it states: SHA-256 of everything but digest and signature."""
        return str(self.document.get("digest"))

    @property
    def guarantee(self) -> Guarantee:
        """The promise."""
        from discreet.guarantees import Guarantee

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


def verify(
    certificate: Certificate | str | os.PathLike[str],
    *,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    public_key: str | os.PathLike[str] | None = None,
    result: Any = None,
) -> Verdict:
    """Check a certificate, or the file it is in, as far as it can be.

    Its guarantee is recomputed from sensitivities and noise, by code other than that which issued
    it. ``public_key`` (a file, or 64 hexadecimal digits) says whose signature it must have,
    ``ledger`` where its charge must be recorded, and ``result`` (CSV, Parquet, Arrow, or a result)
    which values it must be about.
    """
    if not isinstance(certificate, Certificate):
        certificate = Certificate.load(certificate)
    return certificate.verify(ledger=ledger, public_key=public_key, result=result)


def _no_float(text: str) -> None:
    raise ValueError


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found
