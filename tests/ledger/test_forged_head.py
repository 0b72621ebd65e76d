"""Heads that somebody without the key can write: none of them is believed."""

from dataclasses import replace

import pytest

import discreet as dp
from discreet import signing
from discreet.ledger.head import SLOT, _checksum, _slot


def forge(path, signature):
    """Put another signature into both slots of the head, with checksums that are right."""
    slots = []
    for place in range(2):
        head = _slot(path.read_bytes()[place * SLOT : (place + 1) * SLOT])
        assert head is not None
        text = replace(head, signature=signature(head)).to_text()
        slots.append(f"{text}\n{_checksum(text)}\n".encode().ljust(SLOT, b" "))
    path.write_bytes(b"".join(slots))


def test_a_head_must_have_the_signature_of_a_head(sealed, key):
    """Catches a signature that is only looked at for being there, and the seal of a record, which
    everybody can read in the journal: with it, the charges after that record could be cut off."""
    private = signing.load_private(key)
    path = sealed.with_name("x.ledger.head")
    forge(path, lambda head: signing.sign(private, head.message("head")))
    dp.Ledger(sealed).close()  # the true one, or nothing would be shown
    for signature in (
        lambda head: "00" * 64,
        lambda head: signing.sign(private, head.message("record")),
        lambda head: signing.sign(private, replace(head, number=head.number + 1).message("head")),
    ):
        forge(path, signature)
        with pytest.raises(dp.LedgerDamaged, match="head is not signed"):
            dp.Ledger(sealed)
