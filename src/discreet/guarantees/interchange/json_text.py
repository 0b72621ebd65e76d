"""JSON from anywhere: parsed, or refused in a sentence."""

from __future__ import annotations

import json

from discreet.errors import InvalidArgument

_LONGEST = 2**24  # characters


def parse(text: str, *, deepest: int) -> object:
    """The value that a JSON text stands for; `deepest` is for the message only.

    >>> parse('{"a": [1]}', deepest=2)
    {'a': [1]}
    >>> parse('{"a": 1, "a": 2}', deepest=2)
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: text must be JSON with each key once, got one twice
    """
    if not isinstance(text, str):
        given = InvalidArgument.describe_parameter(text)
        raise InvalidArgument(name="text", expected="JSON text", given=given)
    if len(text) > _LONGEST:
        raise InvalidArgument(
            name="text", expected=f"at most {_LONGEST:,} characters", given=f"{len(text):,}"
        )
    try:
        return json.loads(text, object_pairs_hook=_each_key_once)
    except RecursionError:
        raise InvalidArgument(
            name="text", expected=f"nested at most {deepest} deep", given="far deeper"
        ) from None
    except InvalidArgument:
        raise
    except ValueError as error:  # not JSON, or a whole number of thousands of digits
        given = f"text that is not: {str(error)[:60]}"
        raise InvalidArgument(name="text", expected="JSON", given=given) from None


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    # Readers differ in which of two they take, so a promise could have two meanings.
    document = dict(pairs)
    if len(document) != len(pairs):
        raise InvalidArgument(name="text", expected="JSON with each key once", given="one twice")
    return document
