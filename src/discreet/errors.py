"""Every exception that discreet raises on purpose.

::

    DiscreetError
    ├── InvalidArgument (ValueError)   the caller's mistake: name, expected, given, what to do
    ├── Refused                        well formed, but would break the promise
    │   ├── BudgetExceeded             asks for more than is left
    │   ├── RelationMismatch           holds under another neighbour relation than the stated one
    │   ├── UnboundedSensitivity       no finite noise can hide one person
    │   └── LedgerDamaged              the record of what was spent cannot be trusted
    ├── EngineError                    the database failed; carries no data values
    ├── EntropyFailed                  the operating system gave no randomness
    └── InternalError                  our bug: please report it

No message contains a value from the data. All of them survive pickling, so that they cross
process boundaries unchanged.

One warning is ours too: LooseBound (UserWarning), an upper bound that is wider than asked for.
"""

from __future__ import annotations

from functools import partial
from numbers import Number, Rational

_SHOWN_CHARACTERS = 40
_SHOWN_BITS = 512


class DiscreetError(Exception):
    """The root: catches everything discreet raises on purpose."""


class InvalidArgument(DiscreetError, ValueError):
    """The caller's mistake, in one sentence.

    `given` is a description, not the value: use `describe_parameter` for what an analyst typed
    and `describe_data` for anything that may hold records.

    >>> str(InvalidArgument(name="epsilon", expected="above 0", given="-1 (int)"))
    'epsilon must be above 0, got -1 (int)'
    """

    def __init__(self, *, name: str, expected: str, given: str, hint: str = "") -> None:
        self.name = name
        self.expected = expected
        self.given = given
        self.hint = hint
        sentence = f"{name} must be {expected}, got {given}"
        super().__init__(f"{sentence}; {hint}" if hint else sentence)

    def __reduce__(self) -> tuple[object, ...]:
        # The default would call the class with the finished sentence; the dict keeps the notes.
        build = partial(
            type(self), name=self.name, expected=self.expected, given=self.given, hint=self.hint
        )
        return build, (), self.__dict__

    @staticmethod
    def describe_data(value: object) -> str:
        """Describe anything by its type alone, which is safe for records.

        >>> InvalidArgument.describe_data([3, 1, 4])
        'a value of type list'
        """
        return f"a value of type {type(value).__name__}"

    @staticmethod
    def describe_parameter(value: object) -> str:
        """Describe a parameter by value and type; anything but a number or text by type alone.

        >>> InvalidArgument.describe_parameter(-1)
        '-1 (int)'
        >>> InvalidArgument.describe_parameter("one")
        "'one' (str)"
        >>> InvalidArgument.describe_parameter([3, 1, 4])
        'a value of type list'
        """
        if value is None:
            return "None"
        if not isinstance(value, Number | str) or _is_long(value):
            return InvalidArgument.describe_data(value)
        text = repr(value[:_SHOWN_CHARACTERS]) if isinstance(value, str) else str(value)
        return f"{text[: _SHOWN_CHARACTERS + 2]} ({type(value).__name__})"


def _is_long(value: object) -> bool:
    """Whether writing the number out would be slow, or refused by the interpreter."""
    if not isinstance(value, Rational):
        return False
    return max(int(value.numerator).bit_length(), int(value.denominator).bit_length()) > _SHOWN_BITS


class Refused(DiscreetError):
    """The request is well formed, but granting it would break the promise."""


class BudgetExceeded(Refused):
    """The request asks for more than is left.

    >>> str(BudgetExceeded(requested="ε = 2", spent="ε = 1.5", limit="ε = 3"))
    'the request needs ε = 2, but ε = 1.5 of ε = 3 is already spent'
    """

    def __init__(
        self,
        requested: object,
        spent: object,
        limit: object,
        left: object | None = None,
        account: str | None = None,
    ) -> None:
        super().__init__(requested, spent, limit, left, account)
        self.requested = requested
        self.spent = spent
        self.limit = limit
        self.left = left
        self.account = account

    def __str__(self) -> str:
        rest = "" if self.left is None else f", so {self.left} is left"
        whose = "" if self.account is None else f" ({self.account})"
        return (
            f"the request needs {self.requested}, but {self.spent} of {self.limit} is already "
            f"spent{rest}{whose}"
        )


class RelationMismatch(Refused):
    """The statement holds under another neighbour relation than the stated one."""


class UnboundedSensitivity(Refused):
    """One person can move the answer without limit, so no finite noise hides them."""


class LedgerDamaged(Refused):
    """The record of what was spent is truncated, reordered or edited."""


class EngineError(DiscreetError):
    """The database failed.

    Engines quote cells in their messages, so the text is ours alone, and it is raised outside
    the `except` block that caught theirs: neither `__cause__` nor `__context__` may remain.
    """


class EntropyFailed(DiscreetError):
    """The operating system gave no randomness, so nothing can be released."""


class InternalError(DiscreetError):
    """Our bug: a state that cannot happen. Please report it."""


class LooseBound(UserWarning):
    """An answer that holds but is not as tight as asked for: more memory or time would help."""


# -- texts that somebody else wrote ----------------------------------------------------------------


def one_line(text: str) -> str:
    """One line that a terminal shows and does not obey: unprintable characters are replaced.

    >>> one_line("patient\\nProved:\\x1b[2J")
    'patient�Proved:�[2J'
    """
    return "".join(c if c.isprintable() else "�" for c in text)
