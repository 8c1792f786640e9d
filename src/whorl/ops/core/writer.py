"""Writing an op out as simpler nodes: short names for the nodes that most of them need."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.graph import NodeBuilder, Value
from whorl.ir.types import Fact, lengths_of, tensor
from whorl.ops.elementwise.arithmetic import Add, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Concat, Slice, Transpose
from whorl.ops.movement.shapes import Reshape, Squeeze, Unsqueeze


class Writer:
    """Adds nodes on values of known shapes."""

    def __init__(self, build: NodeBuilder) -> None:
        self.build = build
        self.node = build.add

    def number(self, value: float, dtype: np.dtype) -> Value:
        return self.build.constant(np.array(value, dtype))

    def cast(self, x: Value, dtype: np.dtype) -> Value:
        return x if tensor(x).dtype == dtype else self.node(Cast(dtype), x)

    def add(self, x: Value, y: Value) -> Value:
        return self.node(Add(), x, y)

    def sub(self, x: Value, y: Value) -> Value:
        return self.node(Sub(), x, y)

    def mul(self, x: Value, y: Value) -> Value:
        return self.node(Mul(), x, y)

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        return x if sizes_of(x) == tuple(shape) else self.node(Reshape(), x, self.build.int64(*shape))

    def reshape_lengths(self, x: Value, shape: Sequence[Dim]) -> Value:
        """x in another shape, of which each length but one is a number or that of the same axis of x."""
        old = lengths_of(tensor(x))
        if old == tuple(shape):
            return x
        sizes = [n if isinstance(n, int) else 0 if old[axis : axis + 1] == (n,) else -1 for axis, n in enumerate(shape)]
        return self.node(Reshape(), x, self.build.int64(*sizes))

    def transpose(self, x: Value, order: Sequence[int]) -> Value:
        """The axes in another order."""
        return x if list(order) == sorted(order) else self.node(Transpose(tuple(order)), x)

    def unsqueeze(self, x: Value, *axes: int) -> Value:
        """New axes of length 1."""
        return self.node(Unsqueeze(), x, self.build.int64(*axes))

    def squeeze(self, x: Value, *axes: int) -> Value:
        """Without these axes of length 1; without axes of length 1 at all, where none is named."""
        if not axes:
            return self.node(Squeeze(), x) if sizes_of(x) else x
        return self.node(Squeeze(), x, self.build.int64(*axes))

    def slice(self, x: Value, axis: int, start: int, stop: int, step: int = 1) -> Value:
        """Elements along an axis."""
        numbers = (self.build.int64(n) for n in (start, stop, axis, step))
        return self.node(Slice(), x, *numbers)

    def concat(self, parts: Sequence[Value], axis: int) -> Value:
        """Tensors one after the other along an axis."""
        return parts[0] if len(parts) == 1 else self.build.add_many(Concat(axis), parts, ["concat"])[0]


def sizes_of(fact: Fact) -> tuple[int, ...]:
    """A shape whose lengths are all known."""
    return tuple(int(d) for d in tensor(fact).shape)  # type: ignore[union-attr, arg-type]


def has_elements(*facts: Fact | None) -> bool:
    """Whether every tensor has a shape, in which each length is a number above 0 or one that has a name."""
    shapes = [tensor(fact).shape for fact in facts if fact is not None]
    return all(isinstance(shape, tuple) and UNKNOWN not in shape and 0 not in shape for shape in shapes)


def is_fixed(*facts: Fact | None) -> bool:
    """Whether every length of every tensor is a number above 0."""
    shapes = [tensor(fact).shape for fact in facts if fact is not None]
    return all(isinstance(shape, tuple) and all(isinstance(d, int) and d > 0 for d in shape) for shape in shapes)
