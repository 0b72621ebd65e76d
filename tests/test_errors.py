"""The exception tree: its shape, its sentences, and its trip between processes."""

import contextlib
import copy
import gc
import inspect
import pickle
import weakref
from decimal import Decimal
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest

from discreet import errors
from discreet.errors import (
    Argument,
    BudgetExceeded,
    Cast,
    Code,
    DiscreetError,
    Idiom,
    InvalidArgument,
    Phrase,
    Refused,
    Words,
)
from discreet.hints import meant, spelled, unknown

EXAMPLES = [
    DiscreetError("something"),
    InvalidArgument(name="epsilon", expected="above 0", given="-1 (int)", hint="try 0.5"),
    InvalidArgument.of(
        "bounds", Idiom.PAIR, 3, hint=Phrase("as in {bounds=(0, 9)}"), code="refused"
    ),
    Refused(
        "no", remedy=Phrase("say {create=True}, or {}", Cast("age", "real")), code="key-reused"
    ),
    Refused("no"),
    BudgetExceeded(Fraction(2), Fraction(3, 2), Fraction(3)),
    errors.RelationMismatch("no"),
    errors.UnboundedSensitivity("no"),
    errors.LedgerDamaged("no"),
    errors.EngineError("the database failed"),
    errors.EntropyFailed("the operating system gave no randomness"),
    errors.InternalError("a bug"),
]


def test_tree_in_the_docstring_is_the_tree_in_the_code():
    """Catches a class that was added, renamed or moved without redrawing the tree."""
    assert errors.__doc__ is not None
    drawn = errors.__doc__.split("::")[1].split("No message")[0]
    public = {
        name
        for name, member in vars(errors).items()
        if isinstance(member, type) and issubclass(member, DiscreetError)
    }
    assert public == {word for word in drawn.split() if word in vars(errors)}
    assert public == {type(example).__name__ for example in EXAMPLES}
    children = {error.__name__ for error in Refused.__subclasses__()}
    assert children >= {line.split()[2] for line in drawn.splitlines() if "│   " in line}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_errors_survive_pickling(error, protocol):
    """Catches a constructor that pickle cannot call again, which hangs process pools."""
    error.add_note("seen on the way")
    back = pickle.loads(pickle.dumps(error, protocol))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


def test_references_survive_pickling():
    """Catches an error from another process that a front end can say in Python's words only."""
    back = pickle.loads(pickle.dumps(EXAMPLES[3]))
    assert isinstance(back.remedy, Phrase)
    assert back.remedy.parts == (Cast("age", "real"),)
    assert (back.code, back.remedy) == ("key-reused", 'say create=True, or row.age.cast("real")')


class Loud(Words):
    """A front end of its own."""

    def argument(self, one: Argument) -> str:
        return f"{one.name.upper()} {one.value}"


def test_a_front_end_says_all_in_its_words():
    """Catches a reference that a rendering forgets, and a value that is taken for a hole."""
    hint = Phrase('as in {keys=["{}"]} or {}', Phrase("{}, {epsilon=0.5}", Argument("unit", "{x}")))
    error = InvalidArgument.of("keys", Phrase("given with {delta=}"), "{y}", hint=hint)
    assert str(error) == (
        'keys must be given with delta=, got \'{y}\' (str); as in keys=["{}"] or unit="{x}", '
        "epsilon=0.5"
    )
    assert error.sentence(Loud()).endswith("as in KEYS ['{}'] or UNIT {x}, EPSILON 0.5")


def test_an_error_is_data():
    """Catches a class without a code of its own, and fields that are in the sentence alone."""
    codes = [type(error).code for error in EXAMPLES if type(error) is not DiscreetError]
    assert len(set(codes)) == len({type(error) for error in EXAMPLES}) - 1
    assert set(codes) <= set(get_args(Code))
    asked = InvalidArgument.unknown("column", ["age", "ward"], "agee", hint='did you mean "age"?')
    facts = (asked.code, asked.parameter, asked.expected, asked.given, asked.remedy)
    assert facts == (
        *("unknown-name", "column", "one of age, ward", "'agee' (str)", 'did you mean "age"?'),
    )
    assert InvalidArgument.of("delta", "given", None).code == "missing-argument"
    assert InvalidArgument.missing("delta").code == "missing-argument"
    assert InvalidArgument.conflict("rho and mu").code == "conflicting-arguments"
    renamed = asked.about("--mean")
    assert (renamed.code, renamed.parameter) == ("unknown-name", "--mean")


def test_errors_survive_copying():
    for error in EXAMPLES:
        assert str(copy.copy(error)) == str(error)


def test_invalid_argument_is_a_value_error_with_its_parts():
    """Catches a lost base class, or parts that are only in the text."""
    error = InvalidArgument(name="delta", expected="below 1", given="2 (int)", hint="try 1e-6")
    assert isinstance(error, ValueError)
    assert (error.name, error.expected) == ("delta", "below 1")
    assert (error.given, error.hint) == ("2 (int)", "try 1e-6")
    assert str(error) == "delta must be below 1, got 2 (int); try 1e-6"


def test_budget_exceeded_keeps_its_numbers():
    error = BudgetExceeded(requested=2, spent=1, limit=3)
    assert (error.requested, error.spent, error.limit) == (2, 1, 3)
    assert str(error) == "the request needs 2, but 1 of 3 is already spent"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True (bool)"),
        (0.5, "0.5 (float)"),
        (np.float64("nan"), "nan (float64)"),
        (np.int8(3), "3 (int8)"),
        (Fraction(1, 3), "1/3 (Fraction)"),
        (Decimal("-Infinity"), "-Infinity (Decimal)"),
        ("abc", "'abc' (str)"),
        ("x" * 10**6, f"'{'x' * 40}' (str)"),
        (1 << 3_321_929, "a value of type int"),
        (Fraction(1, 1 << 3_321_929), "a value of type Fraction"),
        ([1, 2], "a value of type list"),
        (np.array([1, 2]), "a value of type ndarray"),
        (object(), "a value of type object"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_parameters_are_described_shortly(value, text):
    """Catches messages of a megabyte, and containers (which may be data) shown by value."""
    assert InvalidArgument.describe_parameter(value) == text


def test_data_is_never_described_by_value():
    for secret in (41.5, "Ann", [41], np.array([41]), {"name": "Ann"}):
        text = InvalidArgument.describe_data(secret)
        assert "41" not in text
        assert "Ann" not in text
        assert type(secret).__name__ in text


class Kept:
    """Something with a method, to be called wrongly."""

    @spelled
    def ask(self, question, *, epsilon, weight=1):
        """What is under test."""
        return question, epsilon, weight


@pytest.mark.parametrize(
    ("arguments", "named", "told"),
    [
        ((1, 2), {}, "ask() got 2 positional arguments, but takes 1: write ask("),
        ((1,), {}, "ask() needs epsilon: write ask(question, epsilon=, [weight=])"),
        ((), {}, "ask() needs question and epsilon: write"),
        ((1,), {"eps": 1}, "ask() has no argument eps=, did you mean epsilon=? Write ask("),
        ((1,), {"zzz": 1}, "ask() has no argument zzz=: write ask("),
        ((1,), {"question": 1, "epsilon": 1}, "multiple values for argument 'question'"),
    ],
)
def test_a_call_that_does_not_fit_shows_how_it_does(arguments, named, told):
    """Catches self among the arguments that are counted, and Python's words in place of ours."""
    with pytest.raises(TypeError) as caught:
        Kept().ask(*arguments, **named)
    assert told in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_refused_call_lets_its_arguments_go():
    """Catches rows that are kept alive by the error's own traceback until the collector runs."""
    rows = np.zeros(3)
    gone = weakref.ref(rows)
    gc.disable()
    try:
        with contextlib.suppress(TypeError):
            Kept().ask(rows, eps=1)
        del rows
        assert gone() is None
    finally:
        gc.enable()


def test_a_type_error_from_within_is_left_alone():
    """Catches a mistake inside a function that is taken for one in its call."""

    @spelled
    def broken(value):
        return value + "text"

    with pytest.raises(TypeError, match="unsupported operand"):
        broken(1)


def test_a_spelled_function_is_the_same_to_whoever_looks():
    """Catches a signature, a docstring or examples that are lost on the way."""
    assert list(inspect.signature(Kept.ask).parameters) == ["self", "question", "epsilon", "weight"]
    assert Kept.ask.__doc__ == "What is under test."
    assert Kept.ask.__globals__ is globals()  # where doctest looks
    assert Kept().ask(1, epsilon=2) == (1, 2, 1)


def test_unknown_names_suggest_the_nearest():
    assert (
        str(unknown("dp", "laplace", ["Laplace"])) == "dp has no 'laplace'; did you mean Laplace?"
    )
    assert str(unknown("x", "zzz", ["a", "b"])) == "x has no 'zzz'; there are a, b"
    assert "dir()" in str(unknown("x", "zzz", [f"name{i}" for i in range(20)]))
    assert meant("zzz", ["smoker"]) == ""
