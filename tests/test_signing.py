"""Keys and signatures."""

import os
import subprocess
import sys

import pytest

from discreet.errors import InvalidArgument, Refused
from discreet.signing import (
    create_key,
    is_signed,
    load_private,
    load_public,
    public_hex,
    read_public,
    sign,
)


def test_a_key_signs_and_only_its_own_message(tmp_path):
    """Catches a check that passes another message, signature or key."""
    public = create_key(tmp_path / "a.key")
    other = create_key(tmp_path / "b.key")
    key = load_private(tmp_path / "a.key")
    signature = sign(key, b"message")
    assert public == public_hex(key) == load_public(tmp_path / "a.key.pub")
    assert is_signed(public, b"message", signature)
    assert not is_signed(public, b"messages", signature)
    assert not is_signed(other, b"message", signature)
    changed = ("0" if signature[0] != "0" else "1") + signature[1:]
    assert not is_signed(public, b"message", changed)
    assert not is_signed("no key", b"message", signature)
    assert sign(key, b"message") == signature


def test_keys_are_private_and_never_overwritten(tmp_path):
    """Catches a key that others can read, and one that is lost to a second call."""
    create_key(tmp_path / "a.key")
    before = (tmp_path / "a.key").read_bytes()
    assert os.stat(tmp_path / "a.key").st_mode & 0o777 == 0o600
    with pytest.raises(Refused, match="exists already"):
        create_key(tmp_path / "a.key")
    (tmp_path / "a.key").unlink()
    with pytest.raises(Refused, match="exists already"):
        create_key(tmp_path / "a.key")  # its public half is still there
    assert before and not (tmp_path / "a.key").exists()
    with pytest.raises(InvalidArgument):
        create_key(tmp_path / "nowhere" / "a.key")


def test_a_key_that_others_can_read_is_refused(tmp_path):
    """Catches a signature that anybody on the machine could have made."""
    create_key(tmp_path / "a.key")
    os.chmod(tmp_path / "a.key", 0o644)
    with pytest.raises(Refused, match="chmod 600"):
        load_private(tmp_path / "a.key")


def test_files_that_hold_no_key_are_refused(tmp_path):
    """Without a word of what is in them."""
    path = tmp_path / "secret.txt"
    path.write_text("my diary")
    os.chmod(path, 0o600)
    for load in (load_private, load_public, read_public):
        with pytest.raises(InvalidArgument) as caught:
            load(path)
        assert "diary" not in str(caught.value)
        with pytest.raises(InvalidArgument):
            load(tmp_path / "none.key")


def test_public_keys_are_read_from_digits_and_files(tmp_path):
    """As digits, as a file of its own, and as the private key's file."""
    public = create_key(tmp_path / "a.key")
    for given in (public, public.upper(), tmp_path / "a.key.pub", str(tmp_path / "a.key")):
        assert read_public(given) == public


def test_importing_stays_light():
    """cryptography is loaded where it is used."""
    code = "import sys, discreet.signing; assert 'cryptography' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
