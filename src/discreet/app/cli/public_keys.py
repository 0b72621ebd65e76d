"""The public half of a key, as it is given to check a signature."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import InvalidArgument

_DIGITS = 64


def check_public(key: str | None) -> None:
    """Refuse a file that is not there, and a private key: whoever checks should not have one."""
    if key is None or is_hexadecimal(key):
        return
    path = Path(key)
    if not path.is_file():
        raise InvalidArgument(
            name="--public-key",
            expected=f"a file, or {_DIGITS} hexadecimal digits",
            given=f"the name of none: there is no file {key}",
        )
    with open(path, "rb") as file:
        content = file.read(4096)
    if b"PRIVATE KEY" in content:
        beside = f"{path.name}.pub"
        raise InvalidArgument(
            name="--public-key",
            expected="the public half of a key",
            given="the private one, which signs and stays with its owner",
            hint=f"the public one is in {beside}, or in what its owner handed out",
        )


def is_hexadecimal(text: str, digits: int = _DIGITS) -> bool:
    """Are these so many hexadecimal digits?

    >>> is_hexadecimal("ab" * 32), is_hexadecimal("office.key.pub")
    (True, False)
    """
    return len(text) == digits and set(text.lower()) <= set("0123456789abcdef")
