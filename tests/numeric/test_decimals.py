"""Numbers in sentences: rounded up, and readable."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.numeric.decimals import chance, decimal_down, decimal_up, percent, text, times

numbers = st.fractions(0, 10**30, max_denominator=10**30) | st.fractions(0, 10)


def parsed(words: str) -> Fraction:
    """The number that a reader takes from the page."""
    words = words.replace(",", "").replace(" × 10^", "e")
    return Fraction(words.replace("10^", "1e") if words.startswith("10^") else words)


@given(numbers)
def test_never_below(x):
    """Catches rounding to nearest, which prints 2.71 for e, and a lost exponent."""
    assert x <= parsed(text(x)) <= x * Fraction(101, 100)
    assert decimal_down(x) <= x <= decimal_up(x)
    assert decimal_up(decimal_up(x)) == decimal_up(x)


@given(st.fractions(0, 1))
def test_probabilities(x):
    """Catches a percentage above 100 or below the truth, and '1 in N' with N rounded up."""
    assert x <= parsed(percent(x).removesuffix(" %")) / 100 <= 1
    words = chance(x)
    shown = (
        1 / parsed(words.removeprefix("1 in "))
        if words.startswith("1 in ")
        else parsed(words.removesuffix(" %")) / 100
    )
    assert x <= shown <= x * Fraction(11, 10)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ("0", "0"),
        ("0.1", "0.1"),
        ("1000", "1,000"),
        ("999.5", "1,000"),
        ("1234567", "1,240,000"),
        ("9999999", "10^7"),
        ("1e-5", "10^-5"),
        ("1.2345e-7", "1.24 × 10^-7"),
        ("1e400", "10^400"),
    ],
)
def test_spelling(x, words):
    """Catches zeros at the end, missing commas and Python's 1E+7."""
    assert text(Fraction(x)) == words


def test_factors():
    """A factor of 1 is not said as '1 times as likely'."""
    assert times(Fraction(1)) == "at most as likely"
    assert times(Fraction("1.0001")) == "at most 1.01 times as likely"
