"""``discreet key``: keys that sign ledgers and certificates."""

from __future__ import annotations

from pathlib import Path

from discreet.cli.options import argument, group
from discreet.cli.output import AsJson
from discreet.cli.paths import check_outputs


def create(
    *,
    file: Path = argument("Where the private key goes.", "FILE"),
    printed: AsJson,
) -> None:
    """Make a key: the private half in FILE, for you alone; the public half in FILE.pub.

    \b
    Example:
      discreet key create office.key
    """
    from discreet.signing import create_key

    check_outputs({"FILE": file})
    public = create_key(file)
    beside = file.with_name(file.name + ".pub")
    printed.tell(
        "key create",
        {"file": str(file), "public_file": str(beside), "key": public},
        f"the private key is in {file}: keep it to yourself",
        f"the public key is in {beside}: hand it out",
        public,
    )


key_app = group("key", "Keys that sign ledgers and certificates.", create)
