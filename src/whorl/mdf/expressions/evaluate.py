"""The value of an expression by Python's and NumPy's own arithmetic: what the reference engine computes."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.mdf.expressions.syntax import Expression, as_number_array, dotted_name, read_number, shortened
from whorl.mdf.functions.vocabulary import BUILTINS, CONSTANTS, MAX_ELEMENTS, TYPE_NAMES, TYPES, find_function

MAX_BITS = 4096
"""The largest whole number that arithmetic may make."""
MAX_ITEMS = 1_000_000
"""The longest list or text that arithmetic may make."""

Draw = Callable[[str, int, Sequence[Any], Mapping[str, Any]], Any]
"""A random draw: the name of the function (`normal`), which draw of the expression it is, and its arguments."""


def evaluate(expression: Expression, names: Mapping[str, Any], collapse: bool = False, draw: Draw | None = None) -> Any:
    """The value of an expression over the values of ids.

    Python's numbers stay Python's; lists of a file are arrays; division by zero gives infinities and NaN. `collapse`
    makes a whole float that arithmetic gave an int. Errors: RunError with the expression.
    """
    text = expression.text
    if not isinstance(text, str):
        return as_number_array(text)
    if text in names:
        return _looked_up(names[text])
    tree = expression.tree
    if isinstance(tree, ast.Constant) and not isinstance(tree.value, str):
        return tree.value
    try:
        with np.errstate(all="ignore"):
            value = _Evaluation(expression, names, draw).of(tree)
    except RunError as error:
        raise RunError(f"expression {shortened(text)}: {error.message}", expression.place, error.fix) from None
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError) as error:
        raise RunError(f"expression {shortened(text)}: {error or 'no memory'}", expression.place) from None
    if collapse and type(value) is float and value.is_integer():
        return int(value)
    return value


def _looked_up(value: Any) -> Any:
    if isinstance(value, str):
        number = read_number(value)
        return value if number is None else number
    return as_number_array(value)


class _Evaluation:
    """One walk over a tree."""

    def __init__(self, expression: Expression, names: Mapping[str, Any], draw: Draw | None) -> None:
        self.expression, self.names, self.draw = expression, names, draw

    def of(self, node: ast.expr | None) -> Any:
        match node:
            case None:
                return None
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.named(name)
            case ast.BinOp():
                return self.chain(node)
            case ast.UnaryOp(op=op, operand=operand):
                return _UNARY[type(op)](self.of(operand))
            case ast.BoolOp():
                return self.logic(node)
            case ast.Compare():
                return self.comparison(node)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.of(body if self.of(test) else other)
            case ast.Subscript(value=value, slice=index):
                return self.of(value)[self.of(index)]
            case ast.Call():
                return self.call(node)
        return self.collection(node)

    def collection(self, node: ast.expr | None) -> Any:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(self.of(lower), self.of(upper), self.of(step))
            case ast.Tuple(elts=elements):
                return tuple(map(self.of, elements))
            case ast.List(elts=elements):
                return list(map(self.of, elements))
            case ast.Dict(keys=keys, values=values):
                return {self.of(key): self.of(value) for key, value in zip(keys, values, strict=True)}
            case ast.Attribute(value=value, attr=attribute):
                dotted = dotted_name(node)
                return CONSTANTS[dotted] if dotted else getattr(self.of(value), attribute)
        raise RunError(f"{type(node).__name__} has no value")

    def named(self, name: str) -> Any:
        try:
            return self.names[name]
        except KeyError:
            known = ", ".join(list(self.names)[:8]) or "nothing"
            raise RunError(f"{name!r} is not known here", fix=f"known are {known}") from None

    def chain(self, node: ast.expr) -> Any:
        operations = []
        while isinstance(node, ast.BinOp):
            operations.append((type(node.op), node.right))
            node = node.left
        value = self.of(node)
        for kind, right in reversed(operations):
            value = binary(kind, value, self.of(right))
        return value

    def logic(self, node: ast.BoolOp) -> Any:
        value = None
        for part in node.values:
            value = self.of(part)
            if bool(value) == isinstance(node.op, ast.Or):
                return value
        return value

    def comparison(self, node: ast.Compare) -> Any:
        left, value = self.of(node.left), True
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.of(other)
            value = COMPARISONS[type(op)](left, right)
            if len(node.ops) > 1 and not value:
                return value
            left = right
        return value

    def call(self, node: ast.Call) -> Any:
        arguments = list(map(self.of, node.args))
        keywords = {keyword.arg: self.of(keyword.value) for keyword in node.keywords if keyword.arg}
        if isinstance(node.func, ast.Name):
            return _guarded_builtin(node.func.id, arguments, keywords)
        dotted = dotted_name(node.func)
        if dotted is None and isinstance(node.func, ast.Attribute):
            dotted = f"numpy.{node.func.attr}"
            arguments.insert(0, self.of(node.func.value))
        if dotted is not None and dotted.startswith("numpy.random."):
            return self.drawn(dotted.removeprefix("numpy.random."), node, arguments, keywords)
        return call_function(str(dotted), arguments, keywords)

    def drawn(self, name: str, node: ast.Call, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if self.draw is None:
            raise RunError(f"numpy.random.{name} draws numbers, and there is no generator here")
        return self.draw(name, self.expression.draws.index(node), arguments, keywords)


def binary(kind: type[ast.operator], a: Any, b: Any) -> Any:
    """One operation of arithmetic; what Python would raise for a number out of range is what NumPy gives."""
    _check_growth(kind, a, b)
    try:
        value = BINARY[kind](a, b)
    except (ZeroDivisionError, OverflowError):
        return BINARY[kind](np.float64(a), np.float64(b)).item()
    if isinstance(value, complex):
        return math.nan
    return value


def _check_growth(kind: type[ast.operator], a: Any, b: Any) -> None:
    """Refuse whole numbers, lists, texts and arrays that a short expression could make huge."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.size * b.size > MAX_ELEMENTS:
        _check_joined(kind is ast.MatMult, a, b)
    if kind is ast.Pow and type(a) is int and type(b) is int and b > 0 and a.bit_length() * b > MAX_BITS:
        raise RunError(f"{a} ** {b} is too large", fix="write one of the numbers with a decimal point")
    if kind is ast.Mult:
        if type(a) is int and type(b) is int and a.bit_length() + b.bit_length() > MAX_BITS:
            raise RunError("a product of whole numbers is too large")
        for items, count in ((a, b), (b, a)):
            if isinstance(items, str | list | tuple) and isinstance(count, int) and len(items) * count > MAX_ITEMS:
                raise RunError(f"a list or text would have more than {MAX_ITEMS} items")
    if kind is ast.Mod and isinstance(a, str):
        raise RunError("a text has no remainder")


def _check_joined(is_product: bool, *arrays: np.ndarray) -> None:
    """Refuse arrays whose broadcast or product of matrices would be larger than any shape in a file."""
    a, b = arrays[0], arrays[-1]
    try:
        if is_product and a.ndim > 1 and b.ndim > 1:
            size = math.prod(np.broadcast_shapes(a.shape[:-2], b.shape[:-2])) * a.shape[-2] * b.shape[-1]
        else:
            size = math.prod(np.broadcast_shapes(*(array.shape for array in arrays)))
    except ValueError:
        return
    if size > MAX_ELEMENTS:
        raise RunError(f"the result would have more than {MAX_ELEMENTS} elements")


BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def call_function(name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """A function of math or numpy; numbers outside its domain give NaN, as NumPy has it."""
    function, limit = find_function(name) or (None, 0)
    if function is None:
        raise RunError(f"{name} is not a known function")
    if len(arguments) > limit:
        raise RunError(f"{name} has {len(arguments)} arguments by position, at most {limit} are taken")
    if "dtype" in keywords:
        keywords["dtype"] = _dtype(keywords["dtype"])
    _check_size(name.removeprefix("numpy."), arguments, keywords)
    arrays = [value for value in (*arguments, *keywords.values()) if isinstance(value, np.ndarray)]
    if len(arrays) > 1 and math.prod(float(array.size) for array in arrays) > MAX_ELEMENTS:
        _check_joined(name in ("numpy.dot", "numpy.matmul"), *arrays)
    try:
        return function(*arguments, **keywords)
    except (ValueError, OverflowError):
        twin = _TWINS.get(name)
        if twin is None or keywords or not all(isinstance(x, int | float) for x in arguments):
            raise
        return twin(*map(np.float64, arguments)).item()


_TWINS: dict[str, Any] = {
    f"math.{name}": getattr(np, twin or name)
    for name, twin in {
        **dict.fromkeys(("sqrt", "exp", "log", "log10", "log2", "log1p", "expm1", "sin", "cos", "tan", "sinh", "cosh")),
        "pow": "power", "acos": "arccos", "asin": "arcsin", "atanh": "arctanh", "acosh": "arccosh", "fmod": "fmod",
    }.items()
}  # fmt: skip


def _dtype(value: Any) -> Any:
    if isinstance(value, str) and value in TYPE_NAMES:
        return TYPE_NAMES[value]
    if isinstance(value, type) and (value in TYPES.values() or value in (int, float, bool)):
        return value
    raise RunError(f"{value!r} is not a type of elements", fix=f"use one of {', '.join(TYPE_NAMES)}")


def _check_size(name: str, arguments: list[Any], keywords: dict[str, Any]) -> None:
    """Refuse to make an array larger than any shape in a file may be."""
    size = _sizes(name, [*arguments, *keywords.values()])
    if size > MAX_ELEMENTS:
        raise RunError(f"numpy.{name} would make more than {MAX_ELEMENTS} elements")


def _sizes(name: str, values: list[Any]) -> float:
    match name:
        case "zeros" | "ones" | "full" | "broadcast_to":
            shape = values[-1] if name == "broadcast_to" else values[0]
            return math.prod(map(float, np.ravel(shape)))
        case "eye" | "identity":
            return float(values[0]) ** 2
        case "arange":
            numbers = [float(x) for x in values if isinstance(x, int | float | np.number)]
            span = abs(numbers[0]) if len(numbers) == 1 else abs(numbers[1] - numbers[0])
            return span / abs(numbers[2]) if len(numbers) > 2 and numbers[2] else span
        case "linspace" | "logspace":
            return max((float(x) for x in values[2:] if isinstance(x, int)), default=50.0)
        case "outer" | "kron" | "tensordot" | "inner":
            return float(np.size(values[0])) * float(np.size(values[1]))
        case "tile" | "repeat":
            return float(np.size(values[0])) * float(np.max(np.abs(values[1]))) ** max(np.size(values[1]), 1)
    return 0.0


def _guarded_builtin(name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    if name == "pow":
        return binary(ast.Pow, arguments[0], arguments[1])
    if name in ("int", "float") and arguments and isinstance(arguments[0], str) and len(arguments[0]) > 100:
        raise RunError("the text is too long for a number")
    return BUILTINS[name](*arguments, **keywords)
