"""One way to write a document: what is hashed and signed must be the same bytes everywhere.

JSON with sorted keys, no spaces, and no floats: two programs print the same float differently,
and a budget in floats is no budget. Exact numbers are text, as in ``"1/2"``.
"""

from __future__ import annotations

import hashlib
import json

from discreet.errors import InternalError, InvalidArgument

_PLAIN = (str, int, bool, type(None))


def text(document: object) -> str:
    """The document as canonical JSON.

    >>> text({"b": [1, None], "a": "1/2"})
    '{"a":"1/2","b":[1,null]}'
    """
    _check(document)
    written = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(
            "text",
            "made of whole characters",
            "a text with half a character (a lone surrogate) in it",
        ) from None
    return written


def digest(document: object) -> str:
    """The SHA-256 of the canonical text, in hexadecimal.

    >>> digest({"a": "1/2"})[:16]
    '99ec53c5263b3c64'
    """
    return hashlib.sha256(text(document).encode()).hexdigest()


def _check(value: object) -> None:
    kind = type(value)
    if kind is dict:
        for key, each in value.items():  # type: ignore[attr-defined]
            if type(key) is not str:
                raise _foreign(key)
            _check(each)
    elif kind is list:
        for each in value:  # type: ignore[attr-defined]
            _check(each)
    elif kind not in _PLAIN:
        raise _foreign(value)


def _foreign(value: object) -> InternalError:
    return InternalError(f"a canonical document holds a value of type {type(value).__name__}")
