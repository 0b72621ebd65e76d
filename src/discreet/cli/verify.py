"""``discreet verify``: which parts of a certificate are proved, and which are taken on trust."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Exit

from discreet.cli import failures
from discreet.cli.failures import SHELL
from discreet.cli.options import Text, Texts, argument, option
from discreet.cli.output import AsJson, console, note, say, show_document
from discreet.cli.paths import (
    check_ledger_exists,
    check_outputs,
    check_public_key,
    key_files,
    ledger_files,
)
from discreet.errors import InvalidArgument, one_line

if TYPE_CHECKING:
    from discreet.certificate import Certificate


_registry = partial(option, panel="The registry's record")


@dataclass(frozen=True)
class Registry:
    """What the registry needs about a deployment that is not in a certificate."""

    registry: Path | None = _registry(
        "Write a record in the YAML form of the OpenDP Deployments Registry, if nothing failed.",
        "FILE",
    )
    curator: Text = _registry("Who publishes the data.", "NAME")
    curator_type: Text = _registry("What they are.", "Government|Industry|Nonprofit")
    intended_use: Text = _registry("What the release is for.", "TEXT")
    region: Text = _registry("Where the people are.", "TEXT")
    author: Texts = _registry("Who writes the record. Repeat for more.", "NAME")
    sector: Text = _registry("The sector, if it may be published.", "TEXT")
    product: Text = _registry("The data product's name; that of the dataset unless given.", "NAME")

    def check(self, *, kept: list[str]) -> None:
        """Refuse a file that cannot be written, and missing facts."""
        if self.registry is None:
            return
        check_outputs({"--registry": self.registry}, kept=kept)
        needed = ("curator", "curator_type", "intended_use", "region", "author")
        missing = [f"--{n.replace('_', '-')}" for n in needed if not getattr(self, n)]
        if missing:
            raise InvalidArgument(
                "--registry",
                "given with what a certificate cannot know",
                f"nothing for {', '.join(missing)}",
            )

    def write(self, certificate: Certificate) -> None:
        from discreet.certificate.registry import registry_record

        facts = asdict(self)
        place, authors, name = (facts.pop(field) for field in ("registry", "author", "product"))
        record = registry_record(certificate, authors=authors, name=name, **facts)
        place.write_text(record, encoding="utf-8")


def verify(
    *,
    certificate: Path = argument("The file that --certificate wrote.", "CERTIFICATE"),
    ledger: Text = option("Look its charge up in this ledger: a file or an address.", "FILE|URL"),
    public_key: Text = option(
        "Demand that it was signed with this key: a file, or 64 hexadecimal digits.", "FILE|HEX"
    ),
    result: Path | None = option(
        "Compare the released values with this file, .csv or .parquet.", "FILE"
    ),
    registry: Registry,
    printed: AsJson,
) -> None:
    """Check a certificate: recompute its guarantee by another route, check hash and signature.

    Exits with 1 if something is wrong, and says what is proved and what is taken on trust.

    \b
    Example:
      discreet verify certificate.json
      discreet verify certificate.json --ledger people.ledger
      discreet verify certificate.json --registry record.yaml \\
        --curator "City of A" --curator-type Government \\
        --intended-use planning --region "City of A" --author "Ann Author"
    """
    from discreet.certificate import Certificate
    from discreet.certificate import verify as check

    if not certificate.is_file():
        raise InvalidArgument(
            "CERTIFICATE",
            "a file that release wrote with --certificate",
            f"a missing one: there is no file {certificate}",
            code="not-found",
        )
    if ledger is not None:
        check_ledger_exists(ledger)
    check_public_key(public_key)
    read_too = [] if result is None else [str(result)]
    registry.check(
        kept=[str(certificate), *read_too, *ledger_files(ledger), *key_files(public_key)]
    )
    read = Certificate.load(certificate)
    verdict = check(read, ledger=ledger, public_key=public_key, result=result)
    written = registry.registry if verdict.ok else None
    if written is not None:
        registry.write(read)
    parts = {"failed": verdict.failed, "proved": verdict.proved, "trusted": verdict.trusted}
    told = {name: [SHELL(words) for words in part] for name, part in parts.items()}
    signed = bool(read.document.get("signature"))
    ending = _ending(told, signed=signed, compared=public_key is not None)
    if printed.json:
        about = str(read).splitlines()
        facts = {"ok": verdict.ok, "signed": signed, "verdict": ending, "certificate": about}
        show_document("verify", {**facts, **told, "registry": written and str(written)})
    else:
        say(*str(read).splitlines(), "")
        _tell(told)
        style = "bold red" if told["failed"] else "bold green" if signed else "bold yellow"
        say("", ending, style=style)
        if written is not None:
            note(f"the registry's record is in {written}")
    if not verdict.ok:
        raise Exit(failures.FAILED_CHECK)


def _ending(told: dict[str, list[str]], *, signed: bool, compared: bool) -> str:
    """The verdict in one line: what failed, or how much is proved, and whether it is signed."""
    if told["failed"]:
        return f"FAILED: {'; '.join(told['failed'])}"
    proved, trusted = len(told["proved"]), len(told["trusted"])
    points = f"{proved} point{'s' * (proved != 1)} proved, {trusted} taken on trust"
    key = "the key you gave" if compared else "a key that you did not name: see --public-key"
    end = f"signed with {key}" if signed else "not signed, so anyone could have written it"
    return f"Nothing failed: {points}; {end}"


def _tell(told: dict[str, list[str]]) -> None:
    from rich.text import Text

    out = console()
    titles = {
        "failed": ("Failed", "bold red", "✗"),
        "proved": ("Proved", "bold green", "✓"),
        "trusted": ("Taken on trust", "bold yellow", "?"),
    }
    for name, sentences in told.items():
        title, style, mark = titles[name]
        if sentences:
            out.print(Text(f"{title}:", style=style))
        for sentence in sentences:
            line = Text().append(f"  {mark} ", style).append(one_line(sentence))
            out.print(line, soft_wrap=not out.is_terminal)
