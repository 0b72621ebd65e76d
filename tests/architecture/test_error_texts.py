"""Texts of errors refer to arguments as data, so that each front end can say them its own way."""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from string import Formatter

from discreet import errors

SOURCE = Path(__file__).parents[2] / "src" / "discreet"
RAISED = {name for name, member in vars(errors).items() if isinstance(member, type)}
MADE = {"of", "of_data", "missing", "conflict", "unknown", "about"}
# An argument on its own, not one inside a call, which is an example of Python throughout.
ARGUMENT = re.compile(r"(?<![\w.\"'({\[-])[a-z_]{2,}=(?!=)")
CALL = re.compile(r"\([^()]*\)")


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """The calls that make an error or a phrase."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) if name in RAISED:
                    yield name, node
                case ast.Attribute(value=ast.Name(id="InvalidArgument"), attr=name) if name in MADE:
                    yield name, node


MADE_HERE = [
    (f"{path.relative_to(SOURCE)}:{call.lineno}", name, call)
    for path in sorted(SOURCE.rglob("*.py"))
    if "cli" not in path.parts and path.name != "errors.py"
    for name, call in calls(ast.parse(path.read_text(encoding="utf-8")))
]


def texts(call: ast.Call) -> Iterator[str]:
    """What is written out in the arguments of a call, and not inside of another one."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    chosen = [[a.body, a.orelse] if isinstance(a, ast.IfExp) else [a] for a in given]
    for text in chain.from_iterable(chosen):
        pieces = text.values if isinstance(text, ast.JoinedStr) else [text]
        yield "".join(str(p.value) if isinstance(p, ast.Constant) else "…" for p in pieces)


def test_no_text_names_an_argument_in_the_words_of_python() -> None:
    """Catches "say epsilon=" as plain text, which a shell would repeat as it is."""
    for where, name, call in MADE_HERE:
        for text in texts(call) if name != "Phrase" else ():
            assert not ARGUMENT.search(CALL.sub("", CALL.sub("", text))), f"{where}: {text}"


def test_a_phrase_has_a_part_for_each_hole() -> None:
    """Catches a hole without a part, a value that is no literal, and a template made at run time,
    in which somebody else's braces would be holes."""
    phrases = [(where, call) for where, name, call in MADE_HERE if name == "Phrase"]
    assert len(phrases) > 50
    for where, call in phrases:
        template = call.args[0]
        assert isinstance(template, ast.Constant) and isinstance(template.value, str), where
        holes = [hole for _, hole, _, _ in Formatter().parse(template.value) if hole is not None]
        assert len(call.args) - 1 == holes.count(""), where
        for argument, sign, value in (hole.partition("=") for hole in holes if hole):
            assert argument.isidentifier() and sign, where
            assert not value or ast.literal_eval(value) is not None
