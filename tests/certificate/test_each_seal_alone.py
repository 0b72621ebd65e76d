"""Digest and signature, each where the other cannot help."""

import pytest

from discreet.certificate import Certificate, verify
from discreet.certificate.issue import sealed
from discreet.signing import create_key, load_private

from .releases import certificate


def failures(document):
    return " ".join(verify(Certificate.of(document)).failed)


@pytest.mark.parametrize("name", ["dataset", "asked"])
def test_a_change_without_a_signature_is_seen_by_the_digest(name):
    """Catches a digest that nobody computes: an unsigned certificate has nothing else."""
    document = certificate().document
    assert document["signature"] is None and failures(document) == ""
    last = "1" if document[name][-1] != "1" else "2"
    changed = {**document, name: document[name][:-1] + last}
    assert "its digest is not that of its content" in failures(changed)


def test_a_change_with_its_digest_is_seen_by_the_signature(tmp_path):
    """Catches a signature that is only there: whoever edits can compute the digest anew."""
    create_key(tmp_path / "office.key")
    document = certificate(key=load_private(tmp_path / "office.key")).document
    assert failures(document) == ""
    changed = sealed({**document, "dataset": "another"}, None).document
    forged = {**changed, "signature": document["signature"]}
    assert forged["digest"] != document["digest"]
    found = failures(forged)
    assert "its signature does not belong to its content" in found and "digest" not in found
