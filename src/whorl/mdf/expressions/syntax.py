"""The expressions of MDF files: Python's syntax, of which a whitelist is allowed. Nothing is ever handed to Python.

An id of the node is looked up before a text is parsed, so ids need not be Python.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection

import numpy as np
from msgspec import Struct

from whorl.errors import LoadError, RunError
from whorl.mdf.functions.names import ATTRIBUTES, CONSTANTS, MODULES, RANDOM, find_function
from whorl.mdf.model import Datum, Graph, LiteralText

MAX_LENGTH = 20_000
MAX_DEPTH = 120
"""How deep parts of an expression may lie in each other; a chain of sums counts once."""


class Expression(Struct, frozen=True):
    """A value as a file says it: a number, list or object as it is, or text that is parsed.

    `tree` is None for what is no text. `names` are the ids that it reads, `draws` its calls of numpy.random in order.
    """

    text: Datum
    location: str = ""
    tree: ast.expr | None = None
    names: frozenset[str] = frozenset()
    draws: tuple[ast.Call, ...] = ()


def parse(text: Datum, location: str = "", known: Collection[str] = ()) -> Expression:
    """A checked expression. No text at all is itself.

    A text that is one of the `known` ids is that id, whether it is Python or not.
    Errors: LoadError with the expression and the part of it that is refused.
    """
    if not isinstance(text, str):
        return Expression(own_value(text), location)
    if text in known:
        return Expression(text, location, ast.Name(text, ast.Load()), frozenset([text]))
    if isinstance(text, LiteralText):
        return Expression(text, location, ast.Constant(str(text)))
    number = read_number(text) if text else ""
    if number is not None:
        return Expression(text, location, ast.Constant(number))
    return _Checker(text, location).expression()


def own_value(value: Datum) -> Datum:
    """A value of a file; objects, which functions may change in place, are copied."""
    has_objects = isinstance(value, list) and any(isinstance(entry, dict) for entry in value)
    return copy.deepcopy(value) if has_objects or (isinstance(value, dict) and not has_graphs(value)) else value


def has_graphs(value: Datum) -> bool:
    """Whether an object holds graphs, as bodies of loops are."""
    return isinstance(value, Graph) or (isinstance(value, dict) and any(map(has_graphs, value.values())))


def read_number(text: str) -> int | float | None:
    """The number that a whole text is, as `int` and then `float` read it."""
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return None


_BINARY = (
    ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow | ast.MatMult | ast.BitAnd | ast.BitOr
    | ast.BitXor
)  # fmt: skip
_COMPARISONS = ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.In | ast.NotIn
_LITERALS = int | float | bool | str | None
_FIX = "expressions have numbers, names, arithmetic, comparisons, and/or/not, if-else, subscripts, math.* and numpy.*"


class _Checker:
    """Goes over the tree of one expression and refuses what is not allowed."""

    def __init__(self, text: str, location: str) -> None:
        self.text, self.location = text, location
        self.names: set[str] = set()
        self.draws: list[ast.Call] = []

    def expression(self) -> Expression:
        if len(self.text) > MAX_LENGTH:
            raise self.error(f"has {len(self.text)} characters, at most {MAX_LENGTH} are read")
        try:
            tree = ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            reason = getattr(error, "msg", None) or str(error)
            raise self.error(f"is not an expression: {reason}") from None
        except (RecursionError, MemoryError):
            raise self.error("is nested too deeply") from None
        self.check(tree, 0)
        draws = sorted(self.draws, key=lambda call: (call.lineno, call.col_offset))
        return Expression(self.text, self.location, tree, frozenset(self.names), tuple(draws))

    def error(self, what: str, fix: str = "") -> LoadError:
        return LoadError(f"expression {shortened(self.text)} {what}", self.location, fix)

    def refusal(self, node: ast.AST, what: str = "is not allowed") -> LoadError:
        part = ast.get_source_segment(self.text.strip(), node) or type(node).__name__
        return self.error(f"is refused: {shortened(part)} {what}", _FIX)

    def check(self, node: ast.expr, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self.error("is nested too deeply")
        match node:
            case ast.Constant(value=value):
                if not isinstance(value, _LITERALS):
                    raise self.refusal(node)
            case ast.Name(id=name):
                self.name(node, name)
            case ast.BinOp():
                self.chain(node, depth)
            case ast.Call():
                self.call(node, depth)
            case ast.Attribute():
                self.attribute(node, depth)
            case _:
                for child in self.children(node):
                    self.check(child, depth + 1)

    def children(self, node: ast.expr) -> list[ast.expr]:
        match node:
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not() | ast.Invert(), operand=operand):
                return [operand]
            case ast.BoolOp(values=values):
                return values
            case ast.Compare(left=left, ops=ops, comparators=others):
                if not all(isinstance(op, _COMPARISONS) for op in ops):
                    raise self.refusal(node)
                return [left, *others]
            case ast.IfExp(test=test, body=body, orelse=other):
                return [test, body, other]
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return elements
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return [key for key in keys if key] + values
            case ast.Subscript(value=value, slice=index):
                return [value, index]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return [part for part in (lower, upper, step) if part]
            case _:
                pass
        raise self.refusal(node)

    def chain(self, node: ast.expr, depth: int) -> None:
        """Sums and products of many terms lie deep to the left, and are gone along without recursion."""
        while isinstance(node, ast.BinOp):
            if not isinstance(node.op, _BINARY):
                raise self.refusal(node)
            self.check(node.right, depth + 1)
            node = node.left
        self.check(node, depth + 1)

    def name(self, node: ast.AST, name: str) -> None:
        if name in MODULES or name.startswith("__"):
            raise self.refusal(node)
        self.names.add(name)

    def attribute(self, node: ast.Attribute, depth: int) -> None:
        """`numpy.pi`, or `x.T` and the like."""
        if (dotted := dotted_name(node)) is not None:
            if dotted not in CONSTANTS:
                raise self.refusal(node)
            return
        if node.attr not in ATTRIBUTES:
            raise self.refusal(node)
        self.check(node.value, depth + 1)

    def call(self, node: ast.Call, depth: int) -> None:
        match node.func:
            case ast.Name(id=name) if find_function(name) is not None:
                pass
            case ast.Attribute(value=value, attr=attribute) as function:
                dotted = dotted_name(function)
                if dotted in RANDOM:
                    self.draws.append(node)
                elif dotted is None and find_function(f"numpy.{attribute}") is not None:
                    self.check(value, depth + 1)
                elif dotted is None or find_function(dotted) is None:
                    raise self.refusal(node.func)
            case _:
                raise self.refusal(node.func)
        for argument in node.args:
            self.check(argument, depth + 1)
        for keyword in node.keywords:
            if keyword.arg in (None, "out", "like", "subok"):
                raise self.refusal(node, f"has an argument that is not allowed: {keyword.arg or '**'}")
            self.check(keyword.value, depth + 1)


def dotted_name(node: ast.expr) -> str | None:
    """`numpy.linalg.norm` for an attribute of a module; None where it starts with anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in MODULES:
        return None
    return ".".join([MODULES[node.id], *reversed(parts)])


def shortened(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


class Items(list):
    """A sequence of ONNX while a graph runs; any other list is an array."""


def as_number_array(value: Datum) -> Datum:
    """A list as an array of its own, as values of a file are used. Errors: RunError for rows of two lengths."""
    if not isinstance(value, list | np.ndarray) or isinstance(value, Items):
        return value
    try:
        return np.array(value)
    except ValueError:
        fix = "give all rows one length"
        raise RunError(f"{shortened(str(value))} is no array: its rows have different lengths", fix=fix) from None
