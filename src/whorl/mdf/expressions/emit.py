"""An expression as nodes of the hub, in float64: the numbers that evaluating it gives."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from whorl.errors import LoadError, RunError, TypeRuleError, UnsupportedError
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape
from whorl.mdf.expressions.evaluate import evaluate
from whorl.mdf.expressions.syntax import Expression, dotted_name, shortened
from whorl.mdf.functions.builder import Nodes, Part
from whorl.mdf.functions.native import FUNCTIONS, METHODS
from whorl.ops.elementwise.arithmetic import Add, Div, Mod, Mul, Neg, Sub
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.elementwise.logic import And, Not, Or, Xor
from whorl.ops.elementwise.powers import Pow
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Transpose

EmittedDraw = Callable[[str, int, Sequence[Part], Mapping[str, Part]], Value]
"""A random draw: the function (`normal`), which draw of the expression it is, and its arguments."""


def emit(expression: Expression, values: Mapping[str, Value], build: Builder, draw: EmittedDraw | None = None) -> Value:
    """Add nodes that compute an expression over the values of ids, and return the result.

    Numbers are float64, truth values bool; a choice is made for each element. Errors: UnsupportedError for what only
    the interpreter can say, LoadError for an id that is not known.
    """
    nodes = Nodes(build)
    if not isinstance(expression.text, str):
        return nodes.value(expression.text)
    if expression.text in values:
        return values[expression.text]
    try:
        return nodes.value(_Emission(expression, values, nodes, draw).of(expression.tree))
    except (TypeRuleError, LoadError, RunError) as error:
        if error.where:
            raise
        kind = LoadError if isinstance(error, RunError | TypeRuleError) else type(error)
        raise kind(f"expression {shortened(expression.text)}: {error.message}", expression.place, error.fix) from None


_INTERPRET = "run the model by the interpreter"


class _Emission:
    """One walk over a tree. What reads no id is computed at once and stays a number."""

    def __init__(
        self, expression: Expression, values: Mapping[str, Value], nodes: Nodes, draw: EmittedDraw | None
    ) -> None:
        self.expression, self.values, self.nodes, self.draw = expression, values, nodes, draw

    def of(self, node: ast.expr | None) -> Part:
        if node is None or _is_fixed(node):
            return None if node is None else evaluate(Expression("", "", node), {})
        match node:
            case ast.Name(id=name):
                return self.named(name)
            case ast.BinOp():
                return self.chain(node)
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, self.of(operand))
            case ast.BoolOp(op=op, values=parts):
                return self.logic(isinstance(op, ast.And), [self.of(part) for part in parts])
            case ast.Compare():
                return self.comparison(node)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.choice(self.of(test), self.of(body), self.of(other))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return [self.of(element) for element in elements]
            case ast.Subscript(value=value, slice=index):
                return self.nodes.item(self.of(value), self.index(index))
            case ast.Attribute(value=value, attr=attribute):
                return self.attribute(self.nodes.value(self.of(value)), attribute)
            case ast.Call():
                return self.call(node)
        raise UnsupportedError(f"{type(node).__name__} has no form in a compiled model", fix=_INTERPRET)

    def named(self, name: str) -> Value:
        if name not in self.values:
            raise LoadError(f"{name!r} is not known here", fix=f"known are {', '.join(list(self.values)[:8])}")
        return self.values[name]

    def chain(self, node: ast.expr) -> Part:
        operations = []
        while isinstance(node, ast.BinOp):
            operations.append((node.op, node.right))
            node = node.left
        part = self.of(node)
        for op, right in reversed(operations):
            part = binary(self.nodes, op, part, self.of(right))
        return part

    def unary(self, op: ast.unaryop, part: Part) -> Value:
        match op:
            case ast.Not():
                return self.nodes.add(Not(), self.nodes.truth(part))
            case ast.USub():
                return self.nodes.add(Neg(), self.nodes.number(part))
            case ast.Invert() if self.nodes.is_truth(self.nodes.value(part)):
                return self.nodes.add(Not(), self.nodes.value(part))
            case ast.UAdd():
                return self.nodes.number(part)
        raise UnsupportedError("~ is only for truth values")

    def logic(self, is_and: bool, parts: list[Part]) -> Part:
        """The first part that decides, or the last one, element by element."""
        found = parts[-1]
        for part in reversed(parts[:-1]):
            value, other = self.nodes.value(part), self.nodes.value(found)
            if self.nodes.is_truth(value) and self.nodes.is_truth(other):
                found = self.nodes.add(And() if is_and else Or(), value, other)
            else:
                found = self.choice(part, *((found, part) if is_and else (part, found)))
        return found

    def comparison(self, node: ast.Compare) -> Value:
        left, found = self.of(node.left), []
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.of(other)
            found.append(compared(self.nodes, op, left, right))
            left = right
        value = found[0]
        for other in found[1:]:
            value = self.nodes.add(And(), value, other)
        return value

    def choice(self, test: Part, body: Part, other: Part) -> Value:
        """One of two values of the same rank, element by element."""
        values = self.nodes.alike(body, other)
        ranks = [self.nodes.type(value).rank for value in values]
        if None not in ranks and ranks[0] != ranks[1]:
            raise UnsupportedError(f"a choice is between {ranks[0]} and {ranks[1]} axes", fix=_INTERPRET)
        return self.nodes.add(Where(), self.nodes.truth(test), *values)

    def index(self, node: ast.expr) -> Part:
        """What stands in the brackets: parts, slices of numbers, or a tuple of these."""
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [self.of(part) for part in (lower, upper, step)]
                if any(isinstance(bound, Value) for bound in bounds):
                    raise UnsupportedError("the bounds of a slice are not known before the run")
                return slice(*bounds)
            case ast.Tuple(elts=elements):
                return tuple(map(self.index, elements))
        return self.of(node)

    def attribute(self, value: Value, name: str) -> Part:
        if name == "T":
            return self.nodes.add(Transpose(), value)
        shape = self.nodes.type(value).shape
        if isinstance(shape, AnyShape) or not all(isinstance(dim, int) for dim in shape):
            raise UnsupportedError(f"{name} is not known before the run")
        lengths = [dim for dim in shape if isinstance(dim, int)]
        return {"shape": tuple(lengths), "ndim": len(lengths), "size": int(np.prod(lengths))}[name]

    def call(self, node: ast.Call) -> Part:
        arguments = [self.of(argument) for argument in node.args]
        keywords = {keyword.arg: self.of(keyword.value) for keyword in node.keywords if keyword.arg}
        dotted = dotted_name(node.func)
        if dotted is not None and dotted.startswith("numpy.random."):
            if self.draw is None:
                raise UnsupportedError(f"{dotted} draws numbers, and there is no generator here")
            return self.draw(dotted.rsplit(".", 1)[-1], self.expression.draws.index(node), arguments, keywords)
        if isinstance(node.func, ast.Attribute) and dotted is None:
            arguments.insert(0, self.of(node.func.value))
            function = FUNCTIONS.get(node.func.attr) if node.func.attr in METHODS else None
        else:
            function = FUNCTIONS.get(dotted.split(".", 1)[-1] if dotted else ast.unparse(node.func))
        if function is None:
            raise UnsupportedError(f"{ast.unparse(node.func)} has no form in a compiled model", fix=_INTERPRET)
        try:
            return function(self.nodes, *arguments, **keywords)
        except TypeError as error:
            raise UnsupportedError(f"{ast.unparse(node.func)} has arguments that are not compiled: {error}") from None


def _is_fixed(node: ast.expr) -> bool:
    """Nothing is read and nothing drawn, so the value is known at once."""
    for part in ast.walk(node):
        if isinstance(part, ast.Slice | ast.Dict):
            return False
        if isinstance(part, ast.Attribute) and (dotted_name(part) or "").startswith("numpy.random"):
            return False
        if isinstance(part, ast.Name) and not _names_function(part, node):
            return False
    return True


def _names_function(name: ast.Name, root: ast.expr) -> bool:
    """Whether a name is a module, or a function that is called, and no id."""
    if name.id in ("math", "numpy", "np"):
        return True
    return any(isinstance(part, ast.Call) and part.func is name for part in ast.walk(root))


def binary(nodes: Nodes, op: ast.operator, left: Part, right: Part) -> Value:
    """An operation of arithmetic. Of two truth values only products: what their sum is hangs on where they are from."""
    if isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
        a, b = nodes.value(left), nodes.value(right)
        if not nodes.is_truth(a) or not nodes.is_truth(b):
            raise UnsupportedError("&, | and ^ are only for truth values")
        return nodes.add({ast.BitAnd: And, ast.BitOr: Or, ast.BitXor: Xor}[type(op)](), a, b)
    a, b = nodes.value(left), nodes.value(right)
    if nodes.is_truth(a) and nodes.is_truth(b) and not isinstance(op, ast.Mult | ast.Div):
        raise UnsupportedError("two truth values are added or the like", fix=_INTERPRET)
    a, b = nodes.number(a), nodes.number(b)
    match op:
        case ast.Add():
            return nodes.add(Add(), a, b)
        case ast.Sub():
            return nodes.add(Sub(), a, b)
        case ast.Mult():
            return nodes.add(Mul(), a, b)
        case ast.Div():
            return nodes.add(Div(), a, b)
        case ast.Mod():
            return nodes.add(Mod(), a, b)
        case ast.Pow():
            return nodes.add(Pow(), a, b)
        case ast.MatMult():
            return nodes.add(MatMul(), a, b)
    return FUNCTIONS["floor_divide"](nodes, a, b)


def compared(nodes: Nodes, op: ast.cmpop, left: Part, right: Part) -> Value:
    """One comparison."""
    a, b = nodes.alike(left, right)
    if isinstance(op, ast.Eq | ast.NotEq):
        equal = nodes.add(Equal(), a, b)
        return nodes.add(Not(), equal) if isinstance(op, ast.NotEq) else equal
    kinds = {ast.Lt: Less, ast.LtE: LessOrEqual, ast.Gt: Greater, ast.GtE: GreaterOrEqual}
    if type(op) not in kinds:
        raise UnsupportedError("`in` has no form in a compiled model", fix=_INTERPRET)
    return nodes.add(kinds[type(op)](), nodes.number(a), nodes.number(b))
