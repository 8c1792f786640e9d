"""One walk over an expression: it makes a function of names of the tree, over any arithmetic.

`arrays` is the meaning, in Python's and NumPy's arithmetic; `nodes` adds nodes to a region. A choice and `and`, `or`
get their parts unevaluated, since Python evaluates one of them and a region all.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from whorl.errors import RunError
from whorl.mdf.expressions.syntax import dotted_name
from whorl.mdf.functions.names import CONSTANTS, find_function
from whorl.mdf.functions.table import Function

T = TypeVar("T")
Part = Callable[[Mapping[str, T]], T]
"""A part of an expression as a function of the values of names."""


class Arithmetic(Protocol[T]):
    """What the operations of an expression are, over values of type T."""

    def literal(self, value: object) -> T: ...
    def unknown_name(self, name: str, names: Mapping[str, T]) -> Exception: ...
    def unary(self, kind: type[ast.unaryop]) -> Callable[[T], T]: ...
    def binary(self, kind: type[ast.operator]) -> Callable[[T, T], T]: ...
    def compare(
        self, kinds: Sequence[type[ast.cmpop]], first: T, others: Sequence[Part[T]], names: Mapping[str, T]
    ) -> T: ...
    def logic(self, is_or: bool, parts: Sequence[Part[T]], names: Mapping[str, T]) -> T: ...
    def choose(self, test: T, body: Part[T], other: Part[T], names: Mapping[str, T]) -> T: ...
    def item(self, value: T, index: T) -> T: ...
    def attribute(self, value: T, name: str) -> T: ...
    def slice(self, lower: T, upper: T, step: T) -> T: ...
    def tuple(self, elements: Sequence[T]) -> T: ...
    def list(self, elements: Sequence[T]) -> T: ...
    def dict(self, keys: Sequence[T], values: Sequence[T]) -> T: ...
    def call(self, function: Function, name: str) -> Callable[[Sequence[T], dict[str, T]], T]: ...
    def draw(self, name: str, node: ast.Call, arguments: Sequence[T], keywords: dict[str, T]) -> T: ...


def compile_tree(node: ast.expr, arithmetic: Arithmetic[T]) -> Part[T]:
    """The function that a tree is. What it raises for values is the arithmetic's business."""
    compile = lambda part: compile_tree(part, arithmetic)  # noqa: E731
    match node:
        case ast.Constant(value=value):
            constant = arithmetic.literal(value)
            return lambda names: constant
        case ast.Name(id=name):
            return _compile_name(name, arithmetic)
        case ast.BinOp():
            return _compile_chain(node, arithmetic)
        case ast.UnaryOp(op=op, operand=operand):
            apply, part = arithmetic.unary(type(op)), compile(operand)
            return lambda names: apply(part(names))
        case ast.BoolOp(op=op, values=values):
            is_or, parts = isinstance(op, ast.Or), [compile(value) for value in values]
            return lambda names: arithmetic.logic(is_or, parts, names)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            kinds, first, others = [type(op) for op in ops], compile(left), [compile(other) for other in comparators]
            return lambda names: arithmetic.compare(kinds, first(names), others, names)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            condition, then, other = compile(test), compile(body), compile(orelse)
            return lambda names: arithmetic.choose(condition(names), then, other, names)
        case ast.Subscript(value=value, slice=index):
            whole, inner = compile(value), compile(index)
            return lambda names: arithmetic.item(whole(names), inner(names))
        case ast.Call():
            return _compile_call(node, arithmetic)
        case _:
            pass
    return _compile_collection(node, arithmetic)


def _compile_collection(node: ast.expr, arithmetic: Arithmetic[T]) -> Part[T]:
    compile = lambda part: compile_tree(part, arithmetic)  # noqa: E731
    match node:
        case ast.Slice(lower=lower, upper=upper, step=step):
            absent = ast.Constant(None)
            low, high, by = compile(lower or absent), compile(upper or absent), compile(step or absent)
            return lambda names: arithmetic.slice(low(names), high(names), by(names))
        case ast.Tuple(elts=elements):
            parts = [compile(element) for element in elements]
            return lambda names: arithmetic.tuple([part(names) for part in parts])
        case ast.List(elts=elements):
            parts = [compile(element) for element in elements]
            return lambda names: arithmetic.list([part(names) for part in parts])
        case ast.Dict(keys=keys, values=values):
            known, entries = [compile(key) for key in keys if key], [compile(value) for value in values]
            return lambda names: arithmetic.dict([key(names) for key in known], [entry(names) for entry in entries])
        case ast.Attribute(value=value, attr=attribute):
            dotted = dotted_name(node)
            if dotted is not None:
                constant = arithmetic.literal(CONSTANTS[dotted])
                return lambda names: constant
            whole = compile(value)
            return lambda names: arithmetic.attribute(whole(names), attribute)
        case _:
            pass
    raise RunError(f"{type(node).__name__} has no value")


def _compile_name(name: str, arithmetic: Arithmetic[T]) -> Part[T]:
    def find(names: Mapping[str, T]) -> T:
        try:
            return names[name]
        except KeyError:
            raise arithmetic.unknown_name(name, names) from None

    return find


def _compile_chain(node: ast.expr, arithmetic: Arithmetic[T]) -> Part[T]:
    """Sums and products of many terms lie deep to the left, and are gone along without recursion."""
    operations: list[tuple[Callable[[T, T], T], Part[T]]] = []
    while isinstance(node, ast.BinOp):
        operations.append((arithmetic.binary(type(node.op)), compile_tree(node.right, arithmetic)))
        node = node.left
    first = compile_tree(node, arithmetic)
    if len(operations) == 1:
        apply, second = operations[0]
        return lambda names: apply(first(names), second(names))

    def compute(names: Mapping[str, T]) -> T:
        value = first(names)
        for apply, right in reversed(operations):
            value = apply(value, right(names))
        return value

    return compute


def _compile_call(node: ast.Call, arithmetic: Arithmetic[T]) -> Part[T]:
    arguments = [compile_tree(argument, arithmetic) for argument in node.args]
    keywords = {each.arg: compile_tree(each.value, arithmetic) for each in node.keywords if each.arg}
    name = node.func.id if isinstance(node.func, ast.Name) else dotted_name(node.func)
    if name is None and isinstance(node.func, ast.Attribute):
        name = f"numpy.{node.func.attr}"
        arguments.insert(0, compile_tree(node.func.value, arithmetic))
    if name is not None and name.startswith("numpy.random."):
        drawn = name.removeprefix("numpy.random.")
        return lambda names: arithmetic.draw(
            drawn, node, [part(names) for part in arguments], {key: part(names) for key, part in keywords.items()}
        )
    function = find_function(name)
    if function is None:
        raise RunError(f"{name} is not a known function")
    apply = arithmetic.call(function, ast.unparse(node.func))
    if keywords:
        return lambda names: apply(
            [part(names) for part in arguments], {key: part(names) for key, part in keywords.items()}
        )
    return lambda names: apply([part(names) for part in arguments], {})
