"""Whether the derivative of a parameter is linear in it, element by element, read off the expressions."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from whorl.mdf.expressions.syntax import parse
from whorl.mdf.functions.operators import spread_arguments
from whorl.mdf.functions.standard import STANDARD
from whorl.mdf.integration.dependencies import Dependencies
from whorl.mdf.model import Datum, Function

CONSTANT, LINEAR, OTHER = 0, 1, 2
"""How an expression hangs on a parameter: not at all, as a * x + b, or in any other way."""


def is_linear(dependencies: Dependencies, id: str) -> bool:
    """Whether the derivative of a parameter is a * x + b in the parameter x, with a and b that do not hang on it."""
    degrees = {id: LINEAR}
    for part in dependencies.parts([id], [id]):
        if not part.is_function and dependencies.node.parameters[part.id].conditions:
            return False
        degrees[part.id] = _function_degree(dependencies.function(part), degrees, dependencies.known)
    return _degree(dependencies.derivative(id), degrees, dependencies.known) <= LINEAR


def _function_degree(function: Function, degrees: Mapping[str, int], known: frozenset[str]) -> int:
    inside = dict(degrees)
    for name, argument in spread_arguments(function.function, function.args).items():
        inside[name] = _degree(argument, inside, known | inside.keys())
    if function.function in STANDARD:
        return degree(STANDARD[function.function][1].tree, inside)
    if function.function is not None:
        return OTHER if any(inside.values()) else CONSTANT
    return _degree(function.value, inside, known | inside.keys())


def _degree(text: Datum, degrees: Mapping[str, int], known: frozenset[str]) -> int:
    return degree(parse(text, known=known).tree, degrees) if isinstance(text, str) else CONSTANT


def degree(tree: ast.expr | None, degrees: Mapping[str, int]) -> int:
    """How an expression hangs on a parameter, by how the names in it do."""
    match tree:
        case ast.Name(id=name):
            return degrees.get(name, CONSTANT)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div()):
            return _chain_degree(tree, degrees)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return degree(operand, degrees)
        case ast.IfExp(test=test, body=body, orelse=other) if degree(test, degrees) == CONSTANT:
            return max(degree(body, degrees), degree(other, degrees))
        case None:
            return CONSTANT
        case _:
            names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
            return OTHER if any(degrees.get(name) for name in names) else CONSTANT


def _chain_degree(tree: ast.expr, degrees: Mapping[str, int]) -> int:
    """Sums and products of many terms lie deep to the left, and are gone along without recursion."""
    rest: list[ast.BinOp] = []
    while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        rest.append(tree)
        tree = tree.left
    result = degree(tree, degrees)
    for each in reversed(rest):
        right = degree(each.right, degrees)
        match each.op:
            case ast.Mult():
                result = min(result + right, OTHER)
            case ast.Div():
                result = OTHER if right else result
            case _:
                result = max(result, right)
    return result
