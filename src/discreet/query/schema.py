"""What columns a table has: their types, and whether a value may be missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from discreet.errors import Argument, InvalidArgument, Phrase
from discreet.hints import meant
from discreet.numeric.exact import interval

#: What other libraries call these types.
_ALIASES: Final = {
    "int": "integer",
    "float": "real",
    "double": "real",
    "str": "text",
    "string": "text",
    "bool": "boolean",
    "datetime": "timestamp",
}


_DELIMITERS: Final = ("\t", ";", "|", ",")


class Type(Enum):
    """What a cell can hold. NaN is not a number here: wherever it is read, it counts as missing."""

    BOOLEAN = "boolean"
    INTEGER = "integer"  # of at most 64 bits
    REAL = "real"  # a double; decimals are read as doubles
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    RAW = "raw"  # a cell of a CSV file: text that takes the type it is used as
    OTHER = "other"  # nothing a row expression can use

    @classmethod
    def parse(cls, value: Type | str, *, name: str = "type") -> Type:
        """Read a type by its name; RAW and OTHER cannot be asked for.

        >>> Type.parse("integer")
        <Type.INTEGER: 'integer'>
        """
        offered = [kind for kind in cls if kind not in (cls.RAW, cls.OTHER)]
        for kind in offered:
            if value in (kind, kind.value):
                return kind
        raise InvalidArgument.of(
            name,
            ", ".join(f'"{kind.value}"' for kind in offered[:-1]) + f' or "{offered[-1].value}"',
            value,
            hint=meant(_ALIASES.get(str(value), str(value)), [k.value for k in offered], '"{}"'),
        )

    @property
    def is_number(self) -> bool:
        """Is it a type that can be added up?"""
        return self in (Type.INTEGER, Type.REAL)

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Domain:
    """The range that, by the owner's word, holds all values of a column except missing ones."""

    lower: int | float
    upper: int | float


@dataclass(frozen=True, slots=True)
class Declared:
    """What the owner of a table says about a column: its type, where that is not stored, and the
    range of its values."""

    type: Type | None = None
    domain: tuple[Any, Any] | None = None

    @classmethod
    def read(cls, said: Type | str | Mapping[str, Any]) -> Declared:
        """A type, or a dict with a type, a domain or both.

        >>> Declared.read({"type": "integer", "domain": (0, 120)})
        Declared(type=<Type.INTEGER: 'integer'>, domain=(0, 120))
        """
        if not isinstance(said, Mapping):
            return cls(Type.parse(said, name="schema"))
        if not said or not set(said) <= {"type", "domain"}:
            raise InvalidArgument(
                "schema",
                'a type, or a dict of "type" and "domain"',
                f"a dict of {', '.join(map(repr, said)) or 'nothing'}",
                hint='as in dp.table(..., schema={"age": {"type": "integer", "domain": (0, 120)}})',
            )
        kind = said.get("type")
        return cls(None if kind is None else Type.parse(kind, name="schema"), said.get("domain"))

    def domain_of(self, kind: Type, *, argument: str) -> Domain | None:
        """The domain, checked for a column of this type; only numbers can have one."""
        if self.domain is None:
            return None
        if not kind.is_number:
            raise InvalidArgument(argument, "without a domain, unless it is a number", str(kind))
        lower, upper = interval(self.domain, name=argument)
        if kind is Type.INTEGER:
            return Domain(max(math.ceil(lower), -(2**63)), min(math.floor(upper), 2**63 - 1))
        if max(abs(lower), abs(upper)) > 10**100:
            raise InvalidArgument(argument, "a domain between -1e100 and 1e100", "a wider one")
        return Domain(float(lower), float(upper))


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, its type, and what is known of its values."""

    name: str
    type: Type
    nullable: bool = True
    domain: Domain | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table, in order.

    >>> schema = Schema.of({"ward": "text", "days": "integer"})
    >>> schema["days"].type, schema.names
    (<Type.INTEGER: 'integer'>, ('ward', 'days'))
    >>> schema["day"]
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: column must be one of ward, days, got 'day' (str); did you \
mean "days"?
    """

    fields: tuple[Field, ...]

    @classmethod
    def of(cls, types: Mapping[str, Type | str]) -> Schema:
        """A schema made from names and types."""
        return cls(tuple(Field(name, Type.parse(kind)) for name, kind in types.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(field.name for field in self.fields)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __getitem__(self, name: str) -> Field:
        return self.field(name)

    def field(self, name: str, *, argument: str = "column") -> Field:
        """The column of this name, or an error that says which there are."""
        for field in self.fields:
            if field.name == name:
                return field
        names = ", ".join(self.names[:20]) + (", ..." if len(self.names) > 20 else "")
        raise InvalidArgument.of(
            argument,
            f"one of {names}",
            name,
            code="unknown-name",
            hint=self._delimiter_hint() or meant(str(name), self.names, '"{}"'),
        )

    def _delimiter_hint(self) -> str:
        """A hint for a header line that was not split, so that it names the only column."""
        signs = [sign for sign in _DELIMITERS if sign in "".join(self.names)]
        if len(self.names) != 1 or not signs:
            return ""
        return Phrase(
            "the first line was read as the name of one column: say {}",
            Argument("delimiter", signs[0]),
        )

    def with_field(self, field: Field) -> Schema:
        """This schema with a column added, or replaced if it has one of that name."""
        if field.name in self:
            return Schema(tuple(field if old.name == field.name else old for old in self.fields))
        return Schema((*self.fields, field))
