"""Formulas: short calls that add nodes, of which the operators that onnxruntime adds are made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whorl.errors import UnsupportedError
from whorl.formats.onnx.importing import OnnxNode, importer
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import REGISTRY, Value
from whorl.ir.types import tensor

DOMAIN = "com.microsoft"
Operand = Value | float | Sequence[int] | np.ndarray | None


class Formula:
    """Adds nodes to a region: `f("Mul", x, 2.0)`. All of them have the name of the node that they stand for.

    A number becomes a constant of the element type of the first value among the operands, a sequence of numbers one of
    int64, an array one of its own type.
    """

    def __init__(self, build: Builder, name: str) -> None:
        self.build, self.name = build, name

    def __call__(self, op: str, *operands: Operand, **attributes: Any) -> Value:
        """The first output of a node."""
        return self.many(op, 1, *operands, **attributes)[0]

    def many(self, op: str, count: int, *operands: Operand, **attributes: Any) -> list[Value]:
        """All outputs of a node."""
        op_class = REGISTRY[op]
        if "output_count" in op_class.__struct_fields__:
            attributes["output_count"] = count
        first = next((x for x in operands if isinstance(x, Value)), None)
        values = [self._value(x, first) for x in operands]
        return self.build.add_many(op_class(**attributes), values, [op.lower()] * count, name=self.name)

    def _value(self, operand: Operand, first: Value | None) -> Value | None:
        match operand:
            case None | Value():
                return operand
            case np.ndarray():
                return self.build.constant(operand)
            case int() | float():
                dtype = FLOAT32 if first is None else tensor(first).dtype
                return self.build.constant(np.array(operand).astype(dtype))
            case _:
                return self.build.int64(*operand)

    # ---- frequent shapes of formulas -------------------------------------------------------------------------------

    def cast(self, x: Value, dtype: np.dtype) -> Value:
        """The elements in another type; the value itself if it has it."""
        return x if tensor(x).dtype == dtype else self("Cast", x, to=dtype)

    def length(self, x: Value, axis: int) -> Value:
        """The length of an axis, int64 of shape [1]."""
        return self("Shape", x, start=axis, end=axis + 1 if axis != -1 else None)

    def reshape(self, x: Value, *lengths: int | Value) -> Value:
        """The elements in a shape: 0 leaves a length as it is, a value is a length of shape [1]."""
        if all(isinstance(length, int) for length in lengths):
            return self("Reshape", x, [n for n in lengths if isinstance(n, int)])
        parts = [self.build.int64(n) if isinstance(n, int) else n for n in lengths]
        return self("Reshape", x, self("Concat", *parts, axis=0))

    def scalar(self, x: Value) -> Value:
        """The one element of a tensor, without axes."""
        return self("Reshape", x, np.empty(0, INT64))

    def slice(self, x: Value, start: int | Value, end: int | Value, axis: int) -> Value:
        """Elements along an axis; ends are numbers, or values of shape [1]."""
        starts, ends = ([bound] if isinstance(bound, int) else bound for bound in (start, end))
        return self("Slice", x, starts, ends, [axis])

    def swap_last(self, x: Value) -> Value:
        """The last two axes swapped, whatever the rank."""
        return self("Einsum", x, equation="...ij->...ji")

    def add_if(self, x: Value, *terms: Value | None) -> Value:
        """The sum with the terms that are not omitted."""
        for term in terms:
            x = x if term is None else self("Add", x, term)
        return x

    def range(self, stop: Value, start: Value | None = None) -> Value:
        """The int64 numbers below a bound of shape [1]."""
        first = self.build.constant(np.array(0, INT64)) if start is None else self.scalar(start)
        return self("Range", first, self.scalar(stop), self.build.constant(np.array(1, INT64)))


Decomposition = Callable[[OnnxNode, Formula], "Value | list[Value]"]


def contributed(*names: str, domain: str = DOMAIN) -> Callable[[Decomposition], Decomposition]:
    """Register a decomposition of operators; the values that it returns take the names of the node's outputs."""

    def register(decompose: Decomposition) -> Decomposition:
        @functools.wraps(decompose)
        def read(node: OnnxNode, build: Builder) -> list[Value]:
            result = decompose(node, Formula(build, node.name))
            values = result if isinstance(result, list) else [result]
            for value, name in zip(values, node.outputs, strict=False):
                value.name = name
            return values

        for name in names:
            importer(name, domain=domain)(read)
        return decompose

    return register


def require_default(node: OnnxNode, **defaults: Any) -> None:
    """Refuse attributes with other values than these."""
    for name, default in defaults.items():
        value = node.attribute(name, default)
        if value != default:
            raise UnsupportedError(f"attribute {name!r} is {value!r}; only {default!r} is implemented", node.title)


def require_omitted(node: OnnxNode, **positions: int) -> None:
    """Refuse inputs, by their names and positions."""
    for name, position in positions.items():
        if node.input(position) is not None:
            raise UnsupportedError(f"input {position} ({name}) is not implemented", node.title, "leave it out")


def rank_of(node: OnnxNode, position: int) -> int:
    """The rank of an input, on which the meaning of a few operators depends."""
    rank = tensor(node.required(position)).rank
    if rank is None:
        raise UnsupportedError(f"the rank of input {position} is unknown", node.title, "declare its shape")
    return rank
