"""Expressions as nodes of the hub, in float64: they compute the numbers that `arrays` gives.

What reads no value of the region is computed at once by `arrays`; a choice, `and` and `or` are made for each element.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from whorl.errors import LoadError, RunError, TypeRuleError, UnsupportedError
from whorl.ir.build import Builder
from whorl.ir.graph import Op, Value
from whorl.ir.types import AnyShape
from whorl.mdf.expressions.arrays import OnArrays
from whorl.mdf.expressions.syntax import Expression, parse, shortened
from whorl.mdf.expressions.walk import Part, compile_tree
from whorl.mdf.functions.builder import NodeBuilder, Operand
from whorl.mdf.functions.numeric import FLOOR_DIVIDE
from whorl.mdf.functions.table import Formula, Function
from whorl.ops.elementwise.arithmetic import Add, Div, Mod, Mul, Neg, Sub
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.elementwise.logic import And, Not, Or, Xor
from whorl.ops.elementwise.powers import Pow
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Transpose

EmittedDraw = Callable[[str, int, Sequence[Operand], Mapping[str, Operand]], Value]
"""A random draw: the function (`normal`), which draw of the expression it is, and its arguments."""
_INTERPRET = "run the model by the interpreter"
_BITS: dict[type[ast.operator], Op] = {ast.BitAnd: And(), ast.BitOr: Or(), ast.BitXor: Xor()}
_BINARY: dict[type[ast.operator], Op] = {
    ast.Add: Add(), ast.Sub: Sub(), ast.Mult: Mul(), ast.Div: Div(), ast.Mod: Mod(), ast.Pow: Pow(),
    ast.MatMult: MatMul(),
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], Op] = {
    ast.Lt: Less(), ast.LtE: LessOrEqual(), ast.Gt: Greater(), ast.GtE: GreaterOrEqual()
}  # fmt: skip


def emit(
    expression: Expression, values: Mapping[str, Operand], build: Builder, draw: EmittedDraw | None = None
) -> Value:
    """Add nodes that compute an expression over the values of ids, and return the result.

    Numbers are float64, truth values bool. Errors: UnsupportedError for what only the interpreter can say, LoadError
    for an id that is not known.
    """
    nodes = NodeBuilder(build)
    if not isinstance(expression.text, str) or expression.tree is None:
        return nodes.value(expression.text)
    if expression.text in values:
        return nodes.value(values[expression.text])
    try:
        return nodes.value(compile_tree(expression.tree, _OnNodes(expression, nodes, draw))(values))
    except (TypeRuleError, LoadError, RunError) as error:
        if error.where:
            raise
        kind = LoadError if isinstance(error, RunError | TypeRuleError) else type(error)
        raise kind(
            f"expression {shortened(expression.text)}: {error.message}", expression.location, error.fix
        ) from None


def is_known(operand: object) -> bool:
    """Whether a value is known before the run."""
    if isinstance(operand, list | tuple):
        return all(map(is_known, operand))
    return not isinstance(operand, Value)


Names = Mapping[str, Operand]


class _OnNodes:
    """Partial evaluation: operations on what is known are those of NumPy, all others add nodes."""

    def __init__(self, expression: Expression, nodes: NodeBuilder, draw: EmittedDraw | None) -> None:
        self.expression, self.nodes, self.drawer = expression, nodes, draw
        self.known = OnArrays(expression, None)

    def literal(self, value: object) -> Operand:
        return self.known.literal(value)

    def unknown_name(self, name: str, names: Names) -> Exception:
        return LoadError(f"{name!r} is not known here", fix=f"known are {', '.join(list(names)[:8])}")

    def unary(self, kind: type[ast.unaryop]) -> Callable[[Operand], Operand]:
        known = self.known.unary(kind)
        return lambda operand: known(operand) if is_known(operand) else self._unary(kind, operand)

    def _unary(self, kind: type[ast.unaryop], operand: Operand) -> Value:
        nodes = self.nodes
        if kind is ast.Not:
            return nodes.add(Not(), nodes.truth(operand))
        if kind is ast.USub:
            return nodes.compute(Neg(), operand)
        if kind is ast.UAdd:
            return nodes.number(operand)
        value = nodes.value(operand)
        if not nodes.is_truth(value):
            raise UnsupportedError("~ is only for truth values")
        return nodes.add(Not(), value)

    def binary(self, kind: type[ast.operator]) -> Callable[[Operand, Operand], Operand]:
        known = self.known.binary(kind)
        return lambda a, b: known(a, b) if is_known(a) and is_known(b) else self._binary(kind, a, b)

    def _binary(self, kind: type[ast.operator], left: Operand, right: Operand) -> Value:
        """Of two truth values only products and quotients: what their sum is depends on where they are from."""
        nodes = self.nodes
        a, b = nodes.value(left), nodes.value(right)
        are_truths = nodes.is_truth(a) and nodes.is_truth(b)
        if kind in _BITS:
            if not are_truths:
                raise UnsupportedError("&, | and ^ are only for truth values")
            return nodes.add(_BITS[kind], a, b)
        if are_truths and kind not in (ast.Mult, ast.Div):
            raise UnsupportedError("two truth values are added or the like", fix=_INTERPRET)
        return emit_formula(FLOOR_DIVIDE, nodes, [a, b]) if kind is ast.FloorDiv else nodes.compute(_BINARY[kind], a, b)

    def compare(
        self, kinds: Sequence[type[ast.cmpop]], first: Operand, others: Sequence[Part[Operand]], names: Names
    ) -> Operand:
        operands = [first, *(other(names) for other in others)]
        if all(map(is_known, operands)):
            return self.known.compare(kinds, first, [lambda names, each=each: each for each in operands[1:]], names)
        results = [self._compare(kind, *pair) for kind, *pair in zip(kinds, operands[:-1], operands[1:], strict=True)]
        return functools.reduce(lambda a, b: self.nodes.add(And(), a, b), results)

    def _compare(self, kind: type[ast.cmpop], left: Operand, right: Operand) -> Value:
        nodes = self.nodes
        if kind in (ast.Eq, ast.NotEq):
            equal = nodes.add(Equal(), *nodes.alike(left, right))
            return nodes.add(Not(), equal) if kind is ast.NotEq else equal
        if kind not in _COMPARISONS:
            raise UnsupportedError("`in` has no form in a compiled model", fix=_INTERPRET)
        return nodes.compute(_COMPARISONS[kind], left, right)

    def logic(self, is_or: bool, parts: Sequence[Part[Operand]], names: Names) -> Operand:
        """The first part that decides, or the last one, element by element."""
        nodes, operands = self.nodes, [part(names) for part in parts]
        if all(map(is_known, operands)):
            return self.known.logic(is_or, [lambda names, each=each: each for each in operands], names)
        result = operands[-1]
        for operand in reversed(operands[:-1]):
            value, other = nodes.value(operand), nodes.value(result)
            if nodes.is_truth(value) and nodes.is_truth(other):
                result = nodes.add(Or() if is_or else And(), value, other)
            else:
                result = self._select(value, *((value, other) if is_or else (other, value)))
        return result

    def choose(self, test: Operand, body: Part[Operand], other: Part[Operand], names: Names) -> Operand:
        if is_known(test):
            return self.known.choose(test, body, other, names)
        return self._select(test, body(names), other(names))

    def _select(self, test: Operand, body: Operand, other: Operand) -> Value:
        """One of two values of the same rank, element by element."""
        nodes = self.nodes
        values = nodes.alike(body, other)
        ranks = [nodes.type(value).rank for value in values]
        if None not in ranks and ranks[0] != ranks[1]:
            raise UnsupportedError(f"a choice is between {ranks[0]} and {ranks[1]} axes", fix=_INTERPRET)
        return nodes.add(Where(), nodes.truth(test), *values)

    def item(self, value: Operand, index: Operand) -> Operand:
        if is_known(value) and is_known(index):
            return self.known.item(value, index)
        return self.nodes.item(value, index)

    def attribute(self, value: Operand, name: str) -> Operand:
        if not isinstance(value, Value):
            return self.known.attribute(value, name)
        if name == "T":
            return self.nodes.add(Transpose(), value)
        shape = self.nodes.type(value).shape
        if isinstance(shape, AnyShape) or not all(isinstance(dim, int) for dim in shape):
            raise UnsupportedError(f"{name} is not known before the run")
        lengths = tuple(dim for dim in shape if isinstance(dim, int))
        return {"shape": lengths, "ndim": len(lengths), "size": int(np.prod(lengths))}[name]

    def slice(self, lower: Operand, upper: Operand, step: Operand) -> Operand:
        if not all(map(is_known, (lower, upper, step))):
            raise UnsupportedError("the bounds of a slice are not known before the run")
        return slice(lower, upper, step)

    def tuple(self, elements: Sequence[Operand]) -> Operand:
        return tuple(elements)

    def list(self, elements: Sequence[Operand]) -> Operand:
        return list(elements)

    def dict(self, keys: Sequence[Operand], values: Sequence[Operand]) -> Operand:
        raise UnsupportedError("Dict has no form in a compiled model", fix=_INTERPRET)

    def call(self, function: Function, name: str) -> Callable[[Sequence[Operand], dict[str, Operand]], Operand]:
        known, native = self.known.call(function, name), function.native

        def apply(arguments: Sequence[Operand], keywords: dict[str, Operand]) -> Operand:
            if all(map(is_known, (*arguments, *keywords.values()))):
                return known(arguments, dict(keywords))
            if native is None:
                raise UnsupportedError(f"{name} has no form in a compiled model", fix=_INTERPRET)
            try:
                if isinstance(native, Formula):
                    return emit_formula(native, self.nodes, arguments, **keywords)
                return native(self.nodes, *arguments, **keywords)
            except TypeError as error:
                raise UnsupportedError(f"{name} has arguments that are not compiled: {error}") from None

        return apply

    def draw(self, name: str, node: ast.Call, arguments: Sequence[Operand], keywords: dict[str, Operand]) -> Operand:
        if self.drawer is None:
            raise UnsupportedError(f"numpy.random.{name} draws numbers, and there is no generator here")
        return self.drawer(name, self.expression.draws.index(node), arguments, keywords)


def emit_formula(formula: Formula, nodes: NodeBuilder, operands: Sequence[Operand], **unknown: Operand) -> Value:
    """The nodes of a function that is put together of others. TypeError for other arguments than its own."""
    ids = formula.arguments.split()
    if len(operands) != len(ids) or unknown:
        raise TypeError(f"it takes {', '.join(ids)}")
    names: dict[str, Operand] = dict(zip(ids, map(nodes.number, operands), strict=True))
    *steps, (_, last) = _read_formula(formula.text)
    for id, step in steps:
        names[id] = emit(step, names, nodes.build)
    return emit(last, names, nodes.build)


@functools.cache
def _read_formula(text: str) -> list[tuple[str, Expression]]:
    lines = [line.strip().split(" = ") for line in text.strip().splitlines()]
    return [(line[0], parse(line[-1])) for line in lines]
