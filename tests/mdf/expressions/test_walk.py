"""One walk over an expression, over any arithmetic: here one that writes what it does."""

import ast

import pytest

from whorl.mdf.expressions.syntax import parse
from whorl.mdf.expressions.walk import compile_tree


class Writing:
    """Values are texts; a choice and a logic operation show which parts they evaluate."""

    def literal(self, value):
        return repr(value)

    def unknown_name(self, name, names):
        return KeyError(f"no {name}")

    def unary(self, kind):
        return lambda operand: f"{kind.__name__}({operand})"

    def binary(self, kind):
        return lambda left, right: f"({left} {kind.__name__} {right})"

    def compare(self, kinds, first, others, names):
        return " ".join([first, *(f"{kind.__name__} {part(names)}" for kind, part in zip(kinds, others, strict=True))])

    def logic(self, is_or, parts, names):
        return (" or " if is_or else " and ").join(part(names) for part in parts)

    def choose(self, test, body, other, names):
        return f"{test} ? {body(names)}"

    def item(self, value, index):
        return f"{value}[{index}]"

    def attribute(self, value, name):
        return f"{value}.{name}"

    def slice(self, lower, upper, step):
        return f"{lower}:{upper}:{step}"

    def tuple(self, elements):
        return f"({', '.join(elements)})"

    def list(self, elements):
        return f"[{', '.join(elements)}]"

    def dict(self, keys, values):
        return str(dict(zip(keys, values, strict=True)))

    def call(self, function, name):
        return lambda arguments, keywords: f"{function.name}({', '.join(arguments)}){keywords or ''}"

    def draw(self, name, node, arguments, keywords):
        return f"draw {name}({', '.join(arguments)})"


def written(text, **names):
    tree = parse(text).tree
    assert isinstance(tree, ast.expr)
    return compile_tree(tree, Writing())(names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + 2 * a - 1", "((A Add (2 Mult A)) Sub 1)"),
        ("-a < 3 < 4", "USub(A) Lt 3 Lt 4"),
        ("a and 1", "A and 1"),
        ("1 if a else unknown", "A ? 1"),
        ("a[1:]", "A[1:None:None]"),
        ("a.T", "A.T"),
        ("numpy.pi", repr(3.141592653589793)),
        ("{'k': (a, [1])}", "{\"'k'\": '(A, [1])'}"),
        ("a.sum(axis=0)", "numpy.sum(A){'axis': '0'}"),
        ("max(a, 1)", "max(A, 1)"),
        ("np.random.normal(a)", "draw normal(A)"),
    ],
)
def test_every_form_is_an_operation_of_the_arithmetic(text, expected):
    assert written(text, a="A") == expected


def test_unknown_name_is_the_error_of_the_arithmetic():
    with pytest.raises(KeyError, match="no b"):
        written("b + 1", a="A")
