"""Expressions as functions of Python, for engines that evaluate the same text again and again.

A function does what `evaluate` does. It knows the common forms; what is not one of them, and whatever fails, is left
to `evaluate`, so that there is one meaning and one wording of errors.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.mdf.expressions.evaluate import BINARY, COMPARISONS, Draw, binary, evaluate
from whorl.mdf.expressions.syntax import Expression, as_number_array, dotted_name, read_number
from whorl.mdf.functions.vocabulary import find_function

Names = Mapping[str, Any]
Value = Callable[[Names], Any]

MAX_DEPTH = 80
PLAIN = frozenset({float, np.float64, np.ndarray})
"""Types whose products cannot grow without bound."""
ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    kind: BINARY[kind] for kind in (ast.Add, ast.Sub, ast.Div, ast.MatMult)
}
"""What needs no look at its operands; the others can grow without bound, or refuse some."""
FAILURES = (RunError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError)
UNGUARDED = frozenset({"exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "log", "abs", "maximum", "minimum",
    "where", "arctan", "arcsin", "arccos", "sum", "dot", "matmul", "fabs", "square", "floor"})  # fmt: skip
"""Functions of NumPy whose results are no larger than what goes in."""


def value_of(expression: Expression, draw: Draw | None = None) -> Value:
    """A function from the values of ids to the value of `expression`, whole floats collapsed as the reference does."""
    text, tree = expression.text, expression.tree
    if not isinstance(text, str):
        constant = read_only(as_number_array(text))
        return lambda names: constant
    if isinstance(tree, ast.Constant) and not isinstance(tree.value, str):
        number = tree.value
        return lambda names: number
    if isinstance(tree, ast.Name) and tree.id == text:
        return looked_up(expression)
    fast = None if expression.draws or is_deep(tree) else part_of(tree)

    def slow(names: Names) -> Any:
        return evaluate(expression, names, collapse=True, draw=draw)

    return slow if fast is None else guarded(fast, slow)


def is_deep(tree: ast.expr | None) -> bool:
    """Whether functions that call each other could not go to the end of an expression."""
    level: list[ast.AST] = [tree] if tree is not None else []
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return bool(level)


def guarded(fast: Value, slow: Value) -> Value:
    def value(names: Names) -> Any:
        try:
            found = fast(names)
        except FAILURES:
            return slow(names)
        return int(found) if found.__class__ is float and found.is_integer() else found

    return value


def looked_up(expression: Expression) -> Value:
    name = expression.text

    def value(names: Names) -> Any:
        try:
            found = names[name]
        except KeyError:
            return evaluate(expression, names)
        if found.__class__ is str:
            number = read_number(found)
            return found if number is None else number
        return np.array(found) if found.__class__ is list else found

    return value


def read_only(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return value


def part_of(node: ast.expr | None) -> Value | None:
    """A function for a part of an expression; None where it has another form than the common ones."""
    match node:
        case ast.Constant(value=constant):
            return lambda names: constant
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.BinOp(left=left, op=op, right=right):
            return joined(type(op), part_of(left), part_of(right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = part_of(operand)
            return None if inner is None else lambda names: -inner(names)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if not isinstance(op, ast.In | ast.NotIn):
            return both(COMPARISONS[type(op)], part_of(left), part_of(right))
        case ast.IfExp(test=test, body=body, orelse=other):
            return chosen(part_of(test), part_of(body), part_of(other))
        case ast.BoolOp(op=op, values=[left, right]):
            return logical(isinstance(op, ast.Or), part_of(left), part_of(right))
        case ast.Subscript(value=value, slice=index):
            return both(operator.getitem, part_of(value), part_of(index))
        case ast.Call(func=ast.Attribute() as function, args=arguments, keywords=[]):
            return called(dotted_name(function), [part_of(argument) for argument in arguments])
    return None


def both(function: Callable[[Any, Any], Any], left: Value | None, right: Value | None) -> Value | None:
    if left is None or right is None:
        return None
    return lambda names: function(left(names), right(names))


def joined(kind: type[ast.operator], left: Value | None, right: Value | None) -> Value | None:
    """Sums and quotients as they are; products and powers only of numbers that may not grow without bound."""
    if left is None or right is None:
        return None
    function = ARITHMETIC.get(kind)

    def simple(names: Names) -> Any:
        a, b = left(names), right(names)
        return binary(kind, a, b) if may_grow(a, b) else function(a, b)  # pyright: ignore[reportOptionalCall]

    def product(names: Names) -> Any:
        a, b = left(names), right(names)
        is_plain = (a.__class__ in PLAIN or b.__class__ in PLAIN) and not may_grow(a, b)
        return a * b if is_plain else binary(ast.Mult, a, b)

    def other(names: Names) -> Any:
        return binary(kind, left(names), right(names))

    return simple if function is not None else product if kind is ast.Mult else other


def may_grow(a: Any, b: Any) -> bool:
    """Whether two arrays are joined to a larger one."""
    return a.__class__ is np.ndarray and b.__class__ is np.ndarray and a.shape != b.shape


def chosen(test: Value | None, body: Value | None, other: Value | None) -> Value | None:
    if test is None or body is None or other is None:
        return None
    return lambda names: body(names) if test(names) else other(names)


def logical(is_or: bool, left: Value | None, right: Value | None) -> Value | None:
    if left is None or right is None:
        return None
    if is_or:
        return lambda names: left(names) or right(names)
    return lambda names: left(names) and right(names)


def called(name: str | None, arguments: list[Value | None]) -> Value | None:
    """A call of a NumPy function that makes nothing large; all others check their arguments first."""
    found = find_function(name) if name else None
    if found is None or name is None or name.removeprefix("numpy.") not in UNGUARDED or len(arguments) > found[1]:
        return None
    function = found[0]
    match arguments:
        case [argument] if argument is not None:
            return lambda names: function(argument(names))
        case _:
            parts = [argument for argument in arguments if argument is not None]
            if len(parts) < len(arguments):
                return None
            return lambda names: function(*(part(names) for part in parts))
