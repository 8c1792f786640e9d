"""The meaning of expressions: Python's and NumPy's own arithmetic, which the engine computes with."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from whorl.errors import RunError
from whorl.mdf.expressions.syntax import Expression, as_number_array, read_number, shortened
from whorl.mdf.expressions.walk import Part, compile_tree
from whorl.mdf.functions.arithmetic import BINARY, COMPARISONS, UNARY, check_result
from whorl.mdf.functions.names import TYPE_NAMES, TYPES
from whorl.mdf.functions.table import Function
from whorl.mdf.model import Datum

Draw = Callable[[str, int, Sequence[Datum], Mapping[str, Datum]], Datum]
"""A random draw: the name of the function (`normal`), which draw of the expression it is, and its arguments."""
Evaluator = Callable[[Mapping[str, Datum]], Datum]
"""An expression as a function of the values of ids."""
Names = Mapping[str, Datum]
_PRODUCTS = ("numpy.dot", "numpy.matmul")
_FAILURES = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError)


def evaluate(expression: Expression, names: Names, collapse: bool = False, draw: Draw | None = None) -> Datum:
    """The value of an expression over the values of ids.

    Python's numbers stay Python's; lists of a file are arrays; division by zero gives infinities and NaN. `collapse`
    makes a whole float that arithmetic gave an int. Errors: RunError with the expression.
    """
    text = expression.text
    if not isinstance(text, str):
        return as_number_array(text)
    if text in names:
        return _look_up(names[text])
    with np.errstate(all="ignore"):
        return compile_expression(expression, draw, collapse)(names)


def compile_expression(expression: Expression, draw: Draw | None = None, collapse: bool = True) -> Evaluator:
    """The function from the values of ids to the value of an expression. Errors of a call: RunError."""
    text, tree = expression.text, expression.tree
    if not isinstance(text, str) or tree is None:
        constant = read_only(as_number_array(text))
        return lambda names: constant
    if isinstance(tree, ast.Constant) and not isinstance(tree.value, str):
        number = tree.value
        return lambda names: number
    compute = compile_tree(tree, OnArrays(expression, draw))
    is_name = isinstance(tree, ast.Name) and tree.id == text

    def value(names: Names) -> Datum:
        try:
            result = compute(names)
        except RunError as error:
            raise RunError(f"expression {shortened(text)}: {error.message}", expression.location, error.fix) from None
        except _FAILURES as error:
            raise RunError(f"expression {shortened(text)}: {error or 'no memory'}", expression.location) from None
        if is_name:
            return _look_up(result)
        return int(result) if collapse and type(result) is float and result.is_integer() else result

    return value


def _look_up(value: Datum) -> Datum:
    if isinstance(value, str):
        number = read_number(value)
        return value if number is None else number
    return as_number_array(value)


def read_only(value: Datum) -> Datum:
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return value


class OnArrays:
    """NumPy's arithmetic, over anything that Python has an operator for."""

    def __init__(self, expression: Expression, draw: Draw | None) -> None:
        self.expression, self.drawer = expression, draw

    def literal(self, value: Datum) -> Datum:
        return value

    def unknown_name(self, name: str, names: Names) -> Exception:
        known = ", ".join(list(names)[:8]) or "nothing"
        return RunError(f"{name!r} is not known here", fix=f"known are {known}")

    def unary(self, kind: type[ast.unaryop]) -> Callable[[Datum], Datum]:
        return UNARY[kind]

    def binary(self, kind: type[ast.operator]) -> Callable[[Datum, Datum], Datum]:
        return BINARY[kind]

    def compare(
        self, kinds: Sequence[type[ast.cmpop]], first: Datum, others: Sequence[Part[Datum]], names: Names
    ) -> Datum:
        value, left = None, first
        for kind, other in zip(kinds, others, strict=True):
            right = other(names)
            value = COMPARISONS[kind](left, right)
            if len(kinds) > 1 and not value:
                return value
            left = right
        return value

    def logic(self, is_or: bool, parts: Sequence[Part[Datum]], names: Names) -> Datum:
        value = None
        for part in parts:
            value = part(names)
            if bool(value) == is_or:
                return value
        return value

    def choose(self, test: Datum, body: Part[Datum], other: Part[Datum], names: Names) -> Datum:
        return body(names) if test else other(names)

    def item(self, value: Datum, index: Datum) -> Datum:
        return value[index]

    def attribute(self, value: Datum, name: str) -> Datum:
        return getattr(value, name)

    def slice(self, lower: Datum, upper: Datum, step: Datum) -> Datum:
        return slice(lower, upper, step)

    def tuple(self, elements: Sequence[Datum]) -> Datum:
        return tuple(elements)

    def list(self, elements: Sequence[Datum]) -> Datum:
        return list(elements)

    def dict(self, keys: Sequence[Datum], values: Sequence[Datum]) -> Datum:
        return dict(zip(keys, values, strict=True))

    def call(self, function: Function, name: str) -> Callable[[Sequence[Datum], dict[str, Datum]], Datum]:
        """A function of math or numpy; numbers outside its domain give NaN, as NumPy has it."""
        meaning, is_product = function.meaning, function.name in _PRODUCTS

        def apply(arguments: Sequence[Datum], keywords: dict[str, Datum]) -> Datum:
            if "dtype" in keywords:
                keywords["dtype"] = _find_dtype(keywords["dtype"])
            if keywords or len(arguments) > 1 or function.elements is not None:
                function.check_call(arguments, list(keywords.values()))
                operands = (*arguments, *keywords.values())
                check_result(is_product, *(value for value in operands if isinstance(value, np.ndarray)))
            try:
                return meaning(*arguments, **keywords)
            except (ValueError, OverflowError):
                numbers = [value for value in arguments if isinstance(value, int | float)]
                if function.limit_values is None or keywords or len(numbers) < len(arguments):
                    raise
                return function.limit_values(*map(np.float64, numbers)).item()

        return apply

    def draw(self, name: str, node: ast.Call, arguments: Sequence[Datum], keywords: dict[str, Datum]) -> Datum:
        if self.drawer is None:
            raise RunError(f"numpy.random.{name} draws numbers, and there is no generator here")
        return self.drawer(name, self.expression.draws.index(node), arguments, keywords)


def _find_dtype(value: Datum) -> type:
    if isinstance(value, str) and value in TYPE_NAMES:
        return TYPE_NAMES[value]
    if isinstance(value, type) and (value in TYPES.values() or value in (int, float, bool)):
        return value
    raise RunError(f"{value!r} is not a type of elements", fix=f"use one of {', '.join(TYPE_NAMES)}")
