"""Random row expressions, of a given type and depth, on the columns of `tables`."""

from random import Random
from typing import Any

from discreet.query.expressions import Expression, column, literal
from discreet.query.schema import Type
from tests.engines.tables import COLUMNS, RAW, VALUES, B, D, I, M, R, T

# Literals are of ordinary size, and never NaN: the row proxy refuses others.
LITERALS = VALUES | {
    R: [x for x in VALUES[R] if abs(x) <= 1e100],
    T: ["", "A", "a", "ward", "it's", "\\", "%", "_", "ä", "🤦", "\n", " 12", "12"],
}


def expression(random: Random, kind: Type, depth: int) -> Expression:
    """An expression of a type, with at most so many operations above each other."""
    if depth <= 0 or random.random() < 0.15:
        return leaf(random, kind)
    make = random.choice(MAKERS[kind])
    return make(random, depth - 1)


def leaf(random: Random, kind: Type) -> Expression:
    if random.random() < 0.2 and kind is not RAW:
        return literal(random.choice(LITERALS[kind]))
    return column(random.choice([name for name, other in COLUMNS.items() if other is kind]))


def node(op: str, *kinds: Type, value: Any = None) -> Any:
    def make(random: Random, depth: int) -> Expression:
        args = tuple(expression(random, kind, depth) for kind in kinds)
        return Expression(op, args, value(random) if callable(value) else value)

    return make


def number(random: Random, depth: int) -> tuple[Expression, ...]:
    return expression(random, random.choice([I, R]), depth), expression(random, R, depth)


def mixed(op: str) -> Any:
    def make(random: Random, depth: int) -> Expression:
        pair = list(number(random, depth))
        random.shuffle(pair)
        return Expression(op, tuple(pair))

    return make


def compared(random: Random, depth: int) -> Expression:
    kind = random.choice([I, R, T, D, M, B])
    op = random.choice(["eq", "ne"] if kind is B else ["eq", "ne", "lt", "le", "gt", "ge"])
    return Expression(op, (expression(random, kind, depth), expression(random, kind, depth)))


def is_in(random: Random, depth: int) -> Expression:
    kind = random.choice([I, R, T, D, B, RAW])
    pool = LITERALS[T if kind is RAW else kind]
    listed = tuple(random.sample(pool, random.randrange(0, len(pool))))
    return Expression("is_in", (expression(random, kind, depth),), listed)


def missing(random: Random, depth: int) -> Expression:
    return Expression("is_null", (expression(random, random.choice(list(VALUES)), depth),))


def chosen(kind: Type) -> Any:
    def make(random: Random, depth: int) -> Expression:
        args: list[Expression] = []
        for _ in range(random.choice([1, 1, 2])):
            args += [expression(random, B, depth), expression(random, kind, depth)]
        last = literal(None) if random.random() < 0.2 else expression(random, kind, depth)
        return Expression("case", (*args, last))

    return make


def clipped(kind: Type) -> Any:
    def limits(random: Random) -> tuple[Any, Any]:
        low, high = sorted(random.sample(LITERALS[kind], 2))
        return low, high

    return node("clip", kind, value=limits)


def filled(kind: Type) -> Any:
    def make(random: Random, depth: int) -> Expression:
        filler = literal(random.choice(LITERALS[kind]))
        return Expression("fill_null", (expression(random, kind, depth), filler))

    return make


def text(random: Random) -> str:
    return random.choice(LITERALS[T])


def span(random: Random) -> tuple[int, int]:
    return random.choice([0, 1, 2, 4998, 2**31 - 1]), random.choice([0, 1, 3, 2**31 - 1])


ARITHMETIC = ("add", "sub", "mul")
MAKERS: dict[Type, list[Any]] = {
    B: [compared, compared, is_in, missing, node("and", B, B), node("or", B, B), node("not", B)]
    + [node("is_null", B), node("eq", B, B), node("ne", B, B)]
    + [node(op, T, value=text) for op in ("startswith", "endswith", "contains")]
    + [node("cast", kind, value=B) for kind in (I, T, RAW)],
    I: [node(op, I, I) for op in ARITHMETIC * 2]
    + [node("neg", I), node("abs", I)]
    + [node("floor", R), node("floordiv", I, I), mixed("floordiv"), node("length", T)]
    + [node("cast", kind, value=I) for kind in (B, R, T, RAW)]
    + [node(op, kind) for op in ("year", "month", "day", "weekday") for kind in (D, M)]
    + [node("hour", M)],
    R: [mixed(op) for op in (*ARITHMETIC, "div") * 2]
    + [node("div", I, I), node("neg", R)]
    + [node("abs", R)]
    + [node("cast", kind, value=R) for kind in (I, T, RAW)],
    T: [node(op, T) for op in ("lower", "upper", "strip")]
    + [node("concat", T, T)]
    + [node("substring", T, value=span)]
    + [node("cast", k, value=T) for k in (B, I, D, RAW)],
    D: [node("cast", kind, value=D) for kind in (T, RAW, M)],
    M: [],
    RAW: [],
}
for _kind, _makers in MAKERS.items():
    if _kind is not RAW:
        _makers += [chosen(_kind), filled(_kind)]
for _kind in (I, R):
    MAKERS[_kind].append(clipped(_kind))
MAKERS[RAW] = [lambda random, depth: leaf(random, RAW)]
