"""What the importers of several families share."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.reading.importer import IrNode
from whorl.ir.build import Builder
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import BY_NAME, INT64
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.core.base import MAX_RANK
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.filling import Range
from whorl.ops.movement.shapes import Reshape, Shape, Size


def emit(node: IrNode, build: Builder, op: Op, *inputs: Value | None) -> list[Value]:
    """The hub node that gives the layer's outputs."""
    return build.add_many(op, inputs, node.outputs, name=node.name)


def constant_of(value: Value | None) -> np.ndarray | None:
    """The elements of a constant, converted ones included; None for all else."""
    casts: list[Cast] = []
    while value is not None and isinstance(value.owner, Node):
        op = value.owner.op
        if isinstance(op, Constant):
            elements = as_array(op.value)
            for cast in reversed(casts):
                elements = cast.run(elements)
            return elements
        if not isinstance(op, Cast):
            return None
        casts.append(op)
        value = value.owner.inputs[0]
    return None


def integers_of(value: Value | None) -> list[int] | None:
    """The elements of an integer constant in a row; None for all else."""
    elements = constant_of(value)
    return None if elements is None else [int(element) for element in elements.reshape(-1)]


def number_of(value: Value | None) -> float | None:
    """The number that a constant of one element holds; None for all else."""
    elements = constant_of(value)
    return float(elements.reshape(-1)[0]) if elements is not None and elements.size == 1 else None


def cast(build: Builder, x: Value, dtype: np.dtype) -> Value:
    """The value in an element type."""
    return x if tensor(x).dtype == dtype else build.add(Cast(dtype), x)


def index(build: Builder, x: Value) -> Value:
    """Indices in an element type that ONNX has for them: int32 as it is, others as int64."""
    return x if tensor(x).dtype == BY_NAME["int32"] else cast(build, x, INT64)


def listed(build: Builder, x: Value) -> Value:
    """The integers of a tensor with at most one axis, as int64 with one axis."""
    elements = constant_of(x)
    if elements is not None:
        return build.constant(elements.reshape(-1).astype(np.int64))
    return flat(build, cast(build, x, INT64))


def flat(build: Builder, x: Value) -> Value:
    """The elements of a tensor in a row."""
    return x if tensor(x).rank == 1 else build.add(Reshape(), x, build.int64(-1))


def one(build: Builder, x: Value) -> Value:
    """A tensor of one element without axes."""
    return x if tensor(x).rank == 0 else build.add(Reshape(), x, build.int64(name="scalar"))


def like(build: Builder, x: Value, number: float) -> Value:
    """A number without axes in the element type of a value."""
    return build.constant(np.array(number).astype(tensor(x).dtype))


def length_of(value: Value) -> int | None:
    """How many numbers there are for axes, where the type has it; a scalar is a list of one. Errors: LoadError."""
    shape = tensor(value).shape
    if isinstance(shape, AnyShape) or len(shape) > 1:
        return None
    length = shape[0] if shape else 1
    if isinstance(length, int) and length > MAX_RANK:
        raise LoadError(f"is given numbers for {length} axes; {MAX_RANK} are possible")
    return length if isinstance(length, int) else None


def whole(build: Builder, element: int) -> Value:
    """An int64 without axes."""
    return build.constant(np.array(element, np.int64))


def axes_of(build: Builder, x: Value) -> Value:
    """The numbers of all axes."""
    rank = tensor(x).rank
    if rank is not None:
        return build.int64(*range(rank), name="axes")
    return build.add(Range(), whole(build, 0), build.add(Size(), build.add(Shape(), x)), whole(build, 1))


def length_of_axis(build: Builder, x: Value, axis: int) -> Value:
    """The length of an axis without axes."""
    shape = tensor(x).shape
    if not isinstance(shape, AnyShape) and isinstance(length := shape[axis], int):
        return whole(build, length)
    return build.add(Reshape(), build.add(Shape(axis, axis + 1 or None), x), build.int64())


def counted(build: Builder, length: Value) -> Value:
    """0, 1, 2 and so on."""
    return build.add(Range(), whole(build, 0), length, whole(build, 1))
