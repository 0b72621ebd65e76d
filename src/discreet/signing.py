"""Ed25519 keys: who signed a document, checked by anyone who has the public half.

A private key is a PEM file that only its owner may read. The public key is beside it, with
``.pub`` at the end of the name, and is meant to be handed out. `cryptography` is imported on
first use, so that `import discreet` stays light.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import Idiom, InvalidArgument, Phrase, Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_LARGEST = 2**16  # bytes of a key file; ours have about a hundred
_HINT = Phrase("make one with {}", Idiom.KEY_FILE)


def create_key(path: str | os.PathLike[str]) -> str:
    """Make a new key: the private half at ``path``, readable by its owner alone, the public half
    at ``path`` + ".pub". Never overwrites. Returns the public half in hexadecimal.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> public = create_key(folder / "office.key")
    >>> load_public(folder / "office.key.pub") == public == public_hex(
    ...     load_private(folder / "office.key"))
    True
    """
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(
        form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo
    )
    place = Path(path)
    beside = place.with_name(place.name + ".pub")
    for one in (place, beside):
        if one.exists():
            raise _taken(one)
    _write_new(place, private, mode=0o600)
    _write_new(beside, public, mode=0o644)
    return public_hex(key)


def load_private(path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    """The private key in a PEM file; refused where others may read it."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = _read(path)
    if b"PUBLIC KEY" in content:
        raise InvalidArgument(
            "key",
            "the private half of a key, which signs",
            "a public half",
            hint=Phrase("to check a signature, give it as {public_key=}"),
        )
    if os.name == "posix" and os.stat(path).st_mode & 0o077:
        raise Refused(
            "people other than its owner can read the private key",
            remedy="protect it with chmod 600, and make a new one if somebody may have copied it",
        )
    key = None
    with contextlib.suppress(ValueError, TypeError):
        key = load_pem_private_key(content, password=None)
    if isinstance(key, Ed25519PrivateKey):
        return key
    raise InvalidArgument(
        "key",
        "a file with an Ed25519 private key in PEM, without a password",
        "another file",
        hint=_HINT,
    )


def load_public(path: str | os.PathLike[str]) -> str:
    """The public key in a PEM file, in hexadecimal; a private key's file will do too."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ed25519

    content = _read(path)
    with contextlib.suppress(ValueError, TypeError):
        key = form.load_pem_public_key(content)
        if isinstance(key, ed25519.Ed25519PublicKey):
            return key.public_bytes_raw().hex()
    with contextlib.suppress(ValueError, TypeError):
        private = form.load_pem_private_key(content, password=None)
        if isinstance(private, ed25519.Ed25519PrivateKey):
            return public_hex(private)
    raise InvalidArgument(
        "public_key",
        "a file with an Ed25519 public key in PEM, or the key as 64 hexadecimal digits",
        "another file",
        hint=_HINT,
    )


def read_public(key: str | os.PathLike[str]) -> str:
    """A public key as 64 hexadecimal digits, given as these or as the path of its file.

    >>> read_public("AB" * 32) == "ab" * 32
    True
    """
    text = str(key)
    return text.lower() if is_hexadecimal(text) else load_public(key)


def is_hexadecimal(text: str) -> bool:
    """Whether this text is 64 hexadecimal digits: a public key, or the hash of a record.

    >>> is_hexadecimal("ab" * 32), is_hexadecimal("office.key.pub")
    (True, False)
    """
    return len(text) == 64 and set(text.lower()) <= set("0123456789abcdef")


def public_hex(key: Ed25519PrivateKey) -> str:
    """The public half of a private key, as 64 hexadecimal digits."""
    return key.public_key().public_bytes_raw().hex()


def sign(key: Ed25519PrivateKey, message: bytes) -> str:
    """The signature of a message, as 128 hexadecimal digits; the same each time it is made."""
    return key.sign(message).hex()


def is_signed(public: str, message: bytes, signature: str) -> bool:
    """Whether the owner of this public key signed this message; False for what is not a key.

    >>> is_signed("00", b"", "00")
    False
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST)
    except OSError as error:
        raise InvalidArgument(
            "key",
            "the path of a file that can be read",
            f"one that cannot ({error.strerror})",
            hint=_HINT,
        ) from None


def _write_new(path: Path, content: bytes, *, mode: int) -> None:
    """Create the file with this mode from the start, and refuse to write over another."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise _taken(path) from None
    except OSError as error:
        raise InvalidArgument(
            "path", "a place where a file can be made", f"another ({error.strerror})"
        ) from None
    with open(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)


def _taken(path: Path) -> Refused:
    return Refused(
        f"{path.name} exists already, and a key that is overwritten cannot be recovered",
        remedy="choose another name",
        code="already-there",
    )
