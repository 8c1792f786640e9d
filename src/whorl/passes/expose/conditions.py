"""Conditions on values of a body, written as `abs(h) > 1e6`, as nodes of that body."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from whorl.errors import RunError
from whorl.ir.constants import Constant
from whorl.ir.dtypes import BOOL, STRING
from whorl.ir.graph import Op, Region, Value
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import Abs, Add, Div, Mul, Neg, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, IsInf, IsNaN, Less, LessOrEqual
from whorl.ops.elementwise.logic import And, Not, Or
from whorl.ops.reduce.reductions import ReduceMax, ReduceMean, ReduceMin, ReduceSum
from whorl.passes.expose.adding import Captures, add
from whorl.passes.expose.scopes import NamedValue, Scope, matches, values_in

DOUBLE = np.dtype(np.float64)
NUMERIC: Mapping[type[ast.AST], Callable[[], Op]] = {ast.Add: Add, ast.Sub: Sub, ast.Mult: Mul, ast.Div: Div}
COMPARISONS: Mapping[type[ast.AST], Callable[[], Op]] = {
    ast.Lt: Less,
    ast.LtE: LessOrEqual,
    ast.Gt: Greater,
    ast.GtE: GreaterOrEqual,
    ast.Eq: Equal,
}
FUNCTIONS: Mapping[str, Callable[[], Op]] = {
    "abs": Abs,
    "isnan": IsNaN,
    "isinf": IsInf,
    "min": lambda: ReduceMin(keepdims=0),
    "max": lambda: ReduceMax(keepdims=0),
    "sum": lambda: ReduceSum(keepdims=0),
    "mean": lambda: ReduceMean(keepdims=0),
    "any": lambda: ReduceMax(keepdims=0),
    "all": lambda: ReduceMin(keepdims=0),
}


def add_condition(scopes: Sequence[Scope], text: str) -> NamedValue:
    """A truth value that says whether a condition holds for any element, in the innermost body that it reads of.

    Names are those of values, or their paths in quotation marks; numbers are compared as float64. Errors: RunError.
    """
    tree, matching = _parse(text), find_values(scopes, text)
    scope = max((each.scope for each in matching.values()), key=lambda scope: len(scope.chain))
    for each in matching.values():
        if each.scope is not scope and each.scope not in scope.chain:
            raise _refusal(text, f"reads values of {each.scope.path!r} and of {scope.path!r}, which never meet")
    captures = Captures()
    values = {name: captures.bring(scope, each.value, each.scope) for name, each in matching.items()}
    types = {name: each.value.type for name, each in matching.items()}
    for name, type in types.items():
        if not isinstance(type, TensorType) or type.dtype == STRING:
            raise _refusal(text, f"compares {name!r}, which is {type}")
    dtypes = {name: type.dtype for name, type in types.items() if isinstance(type, TensorType)}
    result, dtype = _Translation(text, scope.region, values, dtypes).value(tree)
    if dtype != BOOL:
        raise _refusal(text, "is a number")
    answer = add(scope.region, ReduceMax(keepdims=0), result)
    return NamedValue(answer, scope, text)


def find_values(scopes: Sequence[Scope], text: str) -> dict[str, NamedValue]:
    """The values that a condition reads, by the names that it calls them. Errors: RunError."""
    names = dict.fromkeys(name for node in ast.walk(_parse(text)) if (name := _name_of(node)))
    if not names:
        raise _refusal(text, "reads no value")
    return {name: _find(scopes, name, text) for name in names}


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refusal(text, "is not an expression") from None


def _refusal(text: str, problem: str) -> RunError:
    return RunError(f"the condition {text!r} {problem}", fix="write a comparison such as 'abs(h) > 1e6' or 'isnan(h)'")


def _name_of(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) if name not in FUNCTIONS:
            return name
        case ast.Constant(value=str() as path):
            return path
        case _:
            return ""


def _find(scopes: Sequence[Scope], name: str, text: str) -> NamedValue:
    matching = [each for scope in scopes if scope.chain for each in values_in(scope) if matches(each, name)]
    if not matching:
        raise RunError(
            f"the condition {text!r} reads {name!r}, which no body has", fix="`whorl trace` lists the values"
        )
    if len(matching) > 1:
        listed = ", ".join(repr(each.path) for each in matching)
        raise RunError(f"the condition {text!r} reads {name!r}, which may be {listed}", fix="write one of these paths")
    return matching[0]


class _Translation:
    """One expression as nodes of one region; every part has a value and its element type."""

    def __init__(self, text: str, region: Region, values: Mapping[str, Value], dtypes: Mapping[str, np.dtype]) -> None:
        self.text, self.region, self.values, self.dtypes = text, region, values, dtypes

    def value(self, node: ast.expr) -> tuple[Value, np.dtype]:
        if name := _name_of(node):
            value = self.values[name]
            if self.dtypes[name] == BOOL:
                return value, BOOL
            return add(self.region, Cast(to=DOUBLE), value), DOUBLE
        match node:
            case ast.Constant(value=int() | float() as number):
                return add(self.region, Constant(np.array(number, np.float64))), DOUBLE
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return add(self.region, Neg(), self._of(operand, DOUBLE)), DOUBLE
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return add(self.region, Not(), self._of(operand, BOOL)), BOOL
            case ast.BinOp(left=left, op=op, right=right) if type(op) in NUMERIC:
                operands = self._of(left, DOUBLE), self._of(right, DOUBLE)
                return add(self.region, NUMERIC[type(op)](), *operands), DOUBLE
            case ast.BoolOp(op=op, values=[first, *others]):
                result = self._of(first, BOOL)
                for other in others:
                    operation = And() if isinstance(op, ast.And) else Or()
                    result = add(self.region, operation, result, self._of(other, BOOL))
                return result, BOOL
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._comparison([left, *others], ops), BOOL
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
                return self._call(name, argument)
            case _:
                raise _refusal(self.text, f"has {ast.unparse(node)!r}, which it may not")

    def _of(self, node: ast.expr, dtype: np.dtype) -> Value:
        value, actual = self.value(node)
        if actual != dtype:
            kind = "a number" if dtype == DOUBLE else "a truth value"
            raise _refusal(self.text, f"has {ast.unparse(node)!r} where {kind} is expected")
        return value

    def _comparison(self, operands: Sequence[ast.expr], ops: Sequence[ast.cmpop]) -> Value:
        terms: list[Value] = []
        for left, op, right in zip(operands, ops, operands[1:], strict=False):
            kind = ast.Eq if isinstance(op, ast.NotEq) else type(op)
            if kind not in COMPARISONS:
                raise _refusal(self.text, f"has a comparison by {type(op).__name__}")
            term = add(self.region, COMPARISONS[kind](), self._of(left, DOUBLE), self._of(right, DOUBLE))
            terms.append(add(self.region, Not(), term) if isinstance(op, ast.NotEq) else term)
        result = terms[0]
        for term in terms[1:]:
            result = add(self.region, And(), result, term)
        return result

    def _call(self, name: str, argument: ast.expr) -> tuple[Value, np.dtype]:
        is_logical = name in ("any", "all")
        value = self._of(argument, BOOL if is_logical else DOUBLE)
        dtype = BOOL if is_logical or name in ("isnan", "isinf") else DOUBLE
        return add(self.region, FUNCTIONS[name](), value), dtype
