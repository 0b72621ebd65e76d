"""Names, texts and options of a questionnaire at the door.

All of them are single lines: they stand in a card, in a column's head and in a file of one
option a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from discreet.errors import InvalidArgument
from discreet.exact import integer

RESERVED: Final = ("survey", "id", "wave")  # columns of every report
LONGEST_NAME: Final = 60
LONGEST_TEXT: Final = 2000
MOST_OPTIONS: Final = 1 << 22

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_BROKEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def read_name(value: object) -> str:
    """A question's name: it heads a column of the reports, so it is a plain identifier.

    >>> read_name("smoker")
    'smoker'
    """
    named = isinstance(value, str) and _NAME.fullmatch(value) and len(value) <= LONGEST_NAME
    if not named or str(value).lower() in RESERVED:
        raise InvalidArgument(
            name="name",
            expected=f"a letter and then letters, digits or _, at most {LONGEST_NAME} of them, and "
            f"none of {', '.join(RESERVED)}, which every report has already",
            given=InvalidArgument.describe_parameter(value),
            hint='as in "smoker" or "town_2"',
        )
    return str(value)


def read_text(value: object, *, name: str) -> str:
    """A line of text that is not empty."""
    if isinstance(value, str) and _fits(value):
        return value
    raise InvalidArgument(
        name=name,
        expected=f"one line of text, at most {LONGEST_TEXT} characters, without spaces around it",
        given=InvalidArgument.describe_parameter(value),
        hint=_what_is_wrong(value) if isinstance(value, str) else "write it in quotes",
    )


def _what_is_wrong(text: str) -> str:
    """What a message that shows the beginning of a long text may not show."""
    if text != text.strip():
        return "it begins or ends with a space or a line break"
    if _BROKEN.search(text):
        return "it has a line break in it, or a sign that cannot be shown"
    return f"it has {len(text):,} characters"


def check_form(form: Any) -> Any:
    """Refuse what is no questionnaire, such as the reports in its place."""
    if hasattr(form, "questions") and hasattr(form, "waves"):
        return form
    raise InvalidArgument(
        name="questionnaire",
        expected="a Questionnaire",
        given=InvalidArgument.describe_data(form),
        hint='it comes first; read one from a file with Questionnaire.from_toml("health.toml")',
    )


def read_options(value: object) -> tuple[str, ...] | int:
    """Options as texts, or how many there are: then they are the numbers 0, 1, 2, ...

    >>> read_options(["red", "blue"]), read_options(10_000)
    (('red', 'blue'), 10000)
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        if isinstance(value, str) and not value.strip().isdecimal():
            raise InvalidArgument(
                name="options",
                expected="a list of texts, or a number of options",
                given=InvalidArgument.describe_parameter(value),
                hint='as in ["north", "south"]',
            )
        count = integer(value, name="options", minimum=2)
        _check_count(count)
        return count
    options = tuple(value)
    _check_count(len(options))
    if not _look_fine(options):
        for option in options:
            read_text(option, name="options")
    if len(set(options)) < len(options):
        seen: set[str] = set()
        twice = next(option for option in options if option in seen or seen.add(option))  # type: ignore[func-returns-value]
        raise InvalidArgument(
            name="options",
            expected="different from each other",
            given=f"{InvalidArgument.describe_parameter(twice)} twice",
            hint="list each option once",
        )
    return options


def _check_count(count: int) -> None:
    if not 2 <= count <= MOST_OPTIONS:
        raise InvalidArgument(
            name="options",
            expected=f"between 2 and {MOST_OPTIONS:,} of them",
            given=f"{count:,}",
            hint="a single thing to tick is a yes/no question"
            if count == 1
            else 'as in ["north", "south"]',
        )


def _look_fine(options: tuple[object, ...]) -> bool:
    """Whether one look at all of them finds nothing to look at again: quick for a million."""
    if set(map(type, options)) != {str}:
        return False
    texts: tuple[str, ...] = options  # type: ignore[assignment]
    return (
        not _BROKEN.search("".join(texts))
        and all(texts)
        and texts == tuple(map(str.strip, texts))
        and max(map(len, texts)) <= LONGEST_TEXT
    )


def _fits(text: str) -> bool:
    return 0 < len(text) <= LONGEST_TEXT and text == text.strip() and not _BROKEN.search(text)
