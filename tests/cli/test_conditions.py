"""``--where``: a small grammar, read by our own parser."""

import contextlib
import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.query_text import condition
from discreet.errors import InvalidArgument
from discreet.query.expressions import in_words
from discreet.query.row import Row
from discreet.query.schema import Schema

SCHEMA = Schema.of(
    {
        "age": "integer",
        "city": "text",
        "income": "real",
        "member": "boolean",
        "since": "date",
        "seen": "timestamp",
        "first name": "text",
        "Größe": "real",
    }
)
DAY = datetime.date(2026, 1, 31)


def words(text: str) -> str:
    """What a condition was read as."""
    return in_words(condition(text, SCHEMA)(Row(SCHEMA)).expression)


READ = {
    "age >= 18": "age >= 18",
    "age>=18": "age >= 18",
    "age = 18": "age == 18",
    "age <> -3": "age != -3",
    "income < 1.5e3": "income < 1500.0",
    "city == 'A'": "city == 'A'",
    'city == "A"': "city == 'A'",
    "city == 'O''Hara'": 'city == "O\'Hara"',
    "city != 'and'": "city != 'and'",
    "member == true": "member == true",
    "since > 2026-01-31": f"since > {DAY}",
    "since > '2026-01-31'": f"since > {DAY}",
    "seen > 2026-01-31": f"seen > {DAY} 00:00:00",
    "seen > '2026-01-31'": f"seen > {DAY} 00:00:00",
    "city in ('A', 'B')": "city in ('A', 'B')",
    "age not in [1, 2]": "~(age in (1, 2))",
    "income is null": "is_null(income)",
    "income IS NOT NULL": "~is_null(income)",
    "'first name' == 'Ann'": "first name == 'Ann'",
    "`first name` == 'Ann'": "first name == 'Ann'",
    "Größe > 1.7": "Größe > 1.7",
    "age > 1 and age < 9 or city == 'A'": "((age > 1) & (age < 9)) | (city == 'A')",
    "age > 1 and (age < 9 or city == 'A')": "(age > 1) & ((age < 9) | (city == 'A'))",
    "not age > 1": "~(age > 1)",
    "member": "member == true",
    "not member and age > 1": "~(member == true) & (age > 1)",
    "(member) or age > 1": "(member == true) | (age > 1)",
}


@pytest.mark.parametrize("text", READ)
def test_conditions_are_read(text: str) -> None:
    """Catches a sign, a value or a precedence that is read as another."""
    assert words(text) == READ[text]


REFUSED = [
    *("", "  ", "age", "age >=", ">= 18", "age >= 18 and", "age >= 18 18", "(age >= 18"),
    *("age >= 18)", "1 < age < 9", "age == abc", "city == A", "age in ()", "age in 1"),
    *("age is 3", "age == 'A", "age ! 3", "height > 3", "age == null", "not", "()", "age >> 3"),
    *("__import__('os')", "age >= 18; drop table", "city == 'A' -- x", "lambda: 1", "age == 1e999"),
    *("age == nan", "age == inf", "since > '31.1.2026'", "city == '\0'", "age == 18 or"),
    *("(" * 60 + "age > 1" + ")" * 60, "age == 1 or " * 400 + "age == 1"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_condition_is_refused_in_one_sentence(text: str) -> None:
    """Catches text that is guessed at, run, or ends in another error than ours."""
    with pytest.raises(InvalidArgument) as caught:
        words(text)
    assert "\n" not in str(caught.value)


TOKENS = [
    *("age", "city", "'A'", '"B"', "18", "-1.5", "2026-01-31", "true", "==", "!=", "<", "<=", "="),
    *("and", "or", "not", "in", "is", "null", "(", ")", "[", "]", ",", "`x`", "%", "\\", "é", "{"),
]


@given(st.lists(st.sampled_from(TOKENS), max_size=12).map(" ".join) | st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Catches a text that raises something else: a traceback, or a loop."""
    with contextlib.suppress(InvalidArgument):
        words(text)
