"""Aggregates as they are typed, as in ``--mean income:0:200000`` or ``--mean pay=income:0:9``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import discreet as dp
from discreet.app.cli.dialect import called
from discreet.app.cli.values import REAL, listed, typed
from discreet.errors import InvalidArgument
from discreet.numeric.exact import integer
from discreet.query.aggregates import Aggregate
from discreet.query.schema import Schema, Type

Named = tuple[str, Aggregate]


def bounded(option: str, texts: list[str]) -> Iterator[Named]:
    """``--sum``, ``--mean``, ``--median``, ``--variance`` and ``--std``: a column, two bounds.

    >>> [(name, mean)] = bounded("mean", ["pay=income:0:0.5"])
    >>> name, mean.bounds
    ('pay', (Fraction(0, 1), Fraction(1, 2)))
    """
    build: Callable[..., Aggregate] = getattr(dp, option)
    for text in texts:
        name, (column, lower, upper) = _from_right(
            text, f"--{option}", ("column", "lower", "upper")
        )
        with called(f"the bounds of --{option}", "bounds"):
            made = build(column, bounds=(lower, upper))
        yield name or f"{option}_{column}", made


def quantiles(texts: list[str]) -> Iterator[Named]:
    """``--quantile``: a column, one share or several with commas, two bounds.

    >>> [name for name, _ in quantiles(["income:0.9:0:9", "income:0.25,0.75:0:9"])]
    ['p90_income', 'quantile_income']
    """
    parts = ("column", "share", "lower", "upper")
    for text in texts:
        name, (column, share, lower, upper) = _from_right(text, "--quantile", parts)
        shares = listed(share, option="--quantile")
        asked: Any = shares if len(shares) > 1 else shares[0]
        with called("--quantile"):
            made = dp.quantile(column, asked, bounds=(lower, upper))
        yield name or f"{_percentile(made.probabilities)}_{column}", made


def histograms(texts: list[str], schema: Schema) -> Iterator[Named]:
    """``--histogram``: a column and edges; for a column that holds no numbers, its categories.

    >>> schema = Schema.of({"age": "integer", "city": "text"})
    >>> [(name, ages), (_, cities)] = histograms(["age:0,18,65", "city:A,B"], schema)
    >>> name, len(ages.edges), cities.categories
    ('age', 3, ('A', 'B'))
    """
    for text in texts:
        name, (column, items) = _from_left(text, "--histogram", ("column", "edges or categories"))
        kind = schema.field(column, argument="the column of --histogram").type
        values = listed(items, option="--histogram")
        numbers = kind is Type.RAW and all(REAL.fullmatch(value) for value in values)
        with called("--histogram"):
            if kind.is_number or numbers:
                made = dp.histogram(column, edges=values)
            else:
                categories = [typed(value, kind, option="--histogram") for value in values]
                made = dp.histogram(column, categories=categories)
        yield name or column, made


def commonest(option: str, texts: list[str], schema: Schema) -> Iterator[Named]:
    """``--top-k`` and ``--most-common``: a column, how many, and what can occur."""
    parts = ("column", "k", "candidates") if option == "--top-k" else ("column", "candidates")
    for text in texts:
        name, (column, *several, items) = _from_left(text, option, parts)
        kind = schema.field(column, argument=f"the column of {option}").type
        candidates = [typed(item, kind, option=option) for item in listed(items, option=option)]
        if several:
            k = integer(several[0], name="k of --top-k", minimum=1)
            yield name or f"top_{column}", dp.top_k(column, k, candidates=candidates)
        else:
            yield name or f"commonest_{column}", dp.most_common(column, candidates=candidates)


def once(pairs: list[Named]) -> dict[str, Aggregate]:
    """All of them by name, which must differ."""
    named: dict[str, Aggregate] = {}
    for name, aggregate in pairs:
        if name in named:
            raise InvalidArgument(
                name=f'the name "{name}"',
                expected="that of one aggregate",
                given="that of two",
                hint="put a name before one of them, as in --mean pay=income:0:200000",
            )
        named[name] = aggregate
    return named


# -- reading ---------------------------------------------------------------------------------------


def _from_right(text: str, option: str, parts: tuple[str, ...]) -> tuple[str, list[str]]:
    """Numbers stand on the right, so the column's name may hold colons."""
    name, rest = _name(text)
    return name, _checked(rest.rsplit(":", len(parts) - 1), text, option, parts)


def _from_left(text: str, option: str, parts: tuple[str, ...]) -> tuple[str, list[str]]:
    name, rest = _name(text)
    return name, _checked(rest.split(":", len(parts) - 1), text, option, parts)


def _name(text: str) -> tuple[str, str]:
    name, sign, rest = text.partition("=")
    return (name.strip(), rest) if sign and ":" not in name else ("", text)


def _checked(found: list[str], text: str, option: str, parts: tuple[str, ...]) -> list[str]:
    found = [part.strip() for part in found]
    if len(found) != len(parts) or "" in found:
        examples = {
            "share": "income:0.9:0:200000",
            "lower": "income:0:200000",
            "k": "city:3:A,B,C,D",
            "candidates": "city:A,B,C",
        }
        example = examples.get(parts[1], "age:0,18,65,100")
        raise InvalidArgument(
            name=option,
            expected=":".join(parts),
            given=InvalidArgument.describe_parameter(text),
            hint=f"as in {option} {example}, or with a name, {option} name={example}",
        )
    return found


def _percentile(shares: tuple[Fraction, ...]) -> str:
    return f"p{float(100 * shares[0]):g}" if len(shares) == 1 else "quantile"
