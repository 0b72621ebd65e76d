"""One way to write a document: what is hashed and signed is the same bytes everywhere."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InternalError, InvalidArgument
from discreet.numeric import canonical

PLAIN = st.none() | st.booleans() | st.integers() | st.text()
DOCUMENTS = st.recursive(
    PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(document=DOCUMENTS)
def test_a_document_survives_and_has_one_text(document):
    """Catches a text that depends on the order of keys, or loses something."""
    text = canonical.text(document)
    assert json.loads(text) == document
    assert canonical.text(json.loads(text)) == text
    if isinstance(document, dict):
        shuffled = dict(reversed(list(document.items())))
        assert canonical.digest(shuffled) == canonical.digest(document)


@pytest.mark.parametrize("odd", [0.5, float("nan"), Fraction(1, 2), b"x", {1: 2}, (1, 2), {"x"}])
def test_floats_and_others_are_refused_wherever_they_are(odd):
    """Two programs print the same float differently."""
    for document in (odd, [odd], {"a": [{"b": odd}]}):
        with pytest.raises(InternalError):
            canonical.text(document)


def test_half_characters_are_refused():
    """They cannot be written as UTF-8, so nothing with them can be hashed."""
    with pytest.raises(InvalidArgument, match="half a character"):
        canonical.text({"name": "n\ud800"})
