"""Whether an expression computes every element on its own, so that axes may be added behind all others."""

from __future__ import annotations

import ast

import numpy as np

from whorl.mdf.expressions.syntax import Expression, dotted_name
from whorl.mdf.functions.names import find_function


def is_elementwise(expression: Expression) -> bool:
    """Arithmetic, comparisons, choices, and functions of single numbers."""
    if expression.tree is None:
        return np.ndim(expression.text) == 0
    return all(map(_is_elementwise, ast.walk(expression.tree)))


def _is_elementwise(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.MatMult()) | ast.Subscript() | ast.List() | ast.Tuple() | ast.Dict() | ast.Slice():
            return False
        case ast.Attribute():
            return dotted_name(node) is not None
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _maps_numbers(name) and (name != "round" or len(arguments) == 1)
        case ast.Call(func=function, keywords=keywords):
            return not keywords and _maps_numbers(dotted_name(function))
        case _:
            pass
    return True


def _maps_numbers(name: str | None) -> bool:
    function = find_function(name)
    return function is not None and function.is_elementwise
