"""Ops that only onnx-mlir has, as the ONNX nodes that compute them.

Source: onnx-mlir's AdditionalONNXOps.td, and for UpsampleAndPad its shape inference and lowering.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

from whorl.errors import LoadError
from whorl.formats.mlir.affine import read_affine_map
from whorl.formats.mlir.syntax import Opaque, Operation
from whorl.ir.types import AnyShape, TensorType, Type

_INT, _FLOAT, _INTS = AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.INTS
MOST_MAPPED = 1 << 22
"""Elements of a tensor whose map is looked at element by element."""


class Body(Struct):
    """The nodes that compute an op; names that are not given are made up."""

    operation: Operation
    inputs: Sequence[str]
    outputs: Sequence[str]
    nodes: list[NodeProto] = field(default_factory=list)

    def node(self, op_type: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node, without the attributes that are None; returns the name of its output."""
        name = output or f"own.{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        return name

    def constant(self, *values: int) -> str:
        """A vector of integers."""
        return self.node("Constant", value=numpy_helper.from_array(np.array(values, np.int64)))

    def length(self, value: str, axis: int, output: str = "") -> str:
        """The length of one axis, as a vector of one element."""
        return self.node("Shape", value, output=output, start=axis, end=None if axis == -1 else axis + 1)

    def input(self, index: int) -> str:
        return self.inputs[index] if index < len(self.inputs) else ""

    def output(self, index: int) -> str:
        return self.outputs[index] if index < len(self.outputs) else ""

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.operation.attributes.get(name, default)

    def type(self, index: int) -> Type | None:
        types = self.operation.types.inputs
        return types[index] if index < len(types) else None

    def rank(self, index: int) -> int | None:
        """The rank of an operand as the text has it; None where it has none."""
        type = self.type(index)
        return None if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape) else len(type.shape)


class OwnOp(Struct, frozen=True):
    """How many operands an op takes, the kinds of its attributes, and what adds its nodes to a body."""

    operands: tuple[int, int]
    kinds: dict[str, int]
    expand: Callable[[Body], object]


def nodes_of(operation: Operation, inputs: Sequence[str], outputs: Sequence[str]) -> list[NodeProto]:
    """The nodes that compute one of `OWN_OPS` from names of operands and results. Errors: LoadError."""
    name = operation.name.removeprefix("onnx.")
    own = OWN_OPS[name]
    least, most = own.operands
    if not least <= len(inputs) <= most or not all(inputs[:least]):
        raise LoadError(
            f"{name} has {len(inputs)} operands, expected {least}" + (f" to {most}" if most > least else "")
        )
    body = Body(operation, inputs, outputs)
    own.expand(body)
    return body.nodes


def _dim(body: Body) -> None:
    """The length of one axis, as a vector of one element."""
    axis, rank = _integer(body, "axis", 0), body.rank(0)
    if rank is not None and not -rank <= axis < rank:
        raise LoadError(f"axis {axis} is outside [{-rank}, {rank - 1}]")
    body.length(body.input(0), axis, body.output(0))


def _integer(body: Body, name: str, default: int) -> int:
    value = body.attribute(name, default)
    if not isinstance(value, int):
        raise LoadError(f"attribute {name!r} is not what it has to be: an integer")
    return value


def _integers(body: Body, name: str) -> list[int] | None:
    value = body.attribute(name)
    if value is None:
        return None
    if not isinstance(value, tuple) or not all(isinstance(item, int) for item in value):
        raise LoadError(f"attribute {name!r} is not what it has to be: a list of integers")
    return list(value)


def _concat_shape_transpose(body: Body) -> None:
    """The operands joined along `axis`: some lengths of that, and its transpose."""
    if body.attribute("axis") is None:
        raise LoadError("ConcatShapeTranspose lacks the attribute 'axis'")
    concatenated = body.node("Concat", *body.inputs, axis=_integer(body, "axis", 0))
    if body.output(0):
        end = None if body.attribute("end") is None else _integer(body, "end", 0)
        body.node("Shape", concatenated, output=body.output(0), start=_integer(body, "start", 0), end=end)
    if body.output(1):
        body.node("Transpose", concatenated, output=body.output(1), perm=_integers(body, "perm"))


def _rms_layer_normalization(body: Body) -> None:
    """X / sqrt(mean(X * X) + epsilon), computed in `stash_type`, times the scale, plus B."""
    stash = _integer(body, "stash_type", TensorProto.FLOAT)
    axes = _normalized_axes(body)
    x = body.node("Cast", body.input(0), to=stash)
    mean = body.node("ReduceMean", body.node("Mul", x, x), axes, keepdims=1)
    small = helper.make_tensor("", TensorProto.FLOAT, (), [float(body.attribute("epsilon", 1e-5))])
    epsilon = body.node("Cast", body.node("Constant", value=small), to=stash)
    deviation = body.node("Sqrt", body.node("Add", mean, epsilon))
    inverse = body.node("Reciprocal", deviation, output=body.output(1))
    normal = body.node("CastLike", body.node("Mul", x, inverse), body.input(0))
    shift = body.input(2)
    scaled = body.node("Mul", normal, body.input(1), output="" if shift else body.output(0))
    if shift:
        body.node("Add", scaled, shift, output=body.output(0))


def _normalized_axes(body: Body) -> str:
    axis, rank = _integer(body, "axis", -1), body.rank(0)
    if rank is not None and not -rank <= axis < rank:
        raise LoadError(f"axis {axis} is outside [{-rank}, {rank - 1}]")
    if axis >= 0 and rank is None:
        raise LoadError(f"axis {axis} of a tensor without rank", fix="give the operand a rank, or a negative axis")
    return body.constant(*range(axis if axis < 0 else axis - (rank or 0), 0))


def _upsample_and_pad(body: Body) -> None:
    """Of the last axes, `strides` - 1 zeros between the elements, then `pads` zeros before and behind them."""
    rank, strides, pads = body.rank(0), _integers(body, "strides"), _integers(body, "pads")
    count = len(strides) if strides is not None else len(pads) // 2 if pads is not None else 0
    strides, pads = strides or [1] * count, pads or [0] * (2 * count)
    if rank is not None and count > rank:
        raise LoadError(f"{count} strides are more than the rank {rank}")
    if any(stride <= 0 for stride in strides):
        raise LoadError(f"strides are {strides}, expected positive numbers")
    if len(pads) != 2 * count:
        raise LoadError(f"there are {len(pads)} pads, expected two for each of {count} axes")
    value = body.node("Identity", body.input(0))
    zero = body.node("CastLike", body.constant(0), value)
    for axis, stride in zip(range(-count, 0), strides, strict=True):
        value = _spread(body, value, axis, stride, zero) if stride > 1 else value
    scalar = body.node("Squeeze", zero)
    axes = body.constant(*range(-count, 0))
    body.node("Pad", value, body.constant(*pads), scalar, axes, output=body.output(0))


def _spread(body: Body, value: str, axis: int, stride: int, zero: str) -> str:
    """Zeros between the elements along an axis: position k holds element k / stride, or a zero put behind the last."""
    length = body.node("Squeeze", body.length(value, axis))
    step, one = body.node("Squeeze", body.constant(stride)), body.node("Squeeze", body.constant(1))
    none = body.node("Squeeze", body.constant(0))
    last = body.node("Mul", body.node("Sub", length, one), step)
    positions = body.node("Range", none, body.node("Add", last, one), one)
    is_element = body.node("Equal", body.node("Mod", positions, step), none)
    index = body.node("Where", is_element, body.node("Div", positions, step), length)
    scalar, axes = body.node("Squeeze", zero), body.constant(axis)
    return body.node("Gather", body.node("Pad", value, body.constant(0, 1), scalar, axes), index, axis=axis)


def _layout_transform(body: Body) -> None:
    """The same elements: a layout says how they lie in memory, not what they are."""
    body.node("Identity", body.input(0), output=body.output(0))


def _shape_transform(body: Body) -> None:
    """The elements at the indices to which an affine map takes theirs."""
    types, type = body.attribute("index_map"), body.type(0)
    if not isinstance(types, Opaque):
        raise LoadError("ShapeTransform lacks the affine map 'index_map'")
    shape = type.shape if isinstance(type, TensorType) and not isinstance(type.shape, AnyShape) else (None,)
    lengths = [dim for dim in shape if isinstance(dim, int)]
    if len(lengths) < len(shape):
        raise LoadError("ShapeTransform needs an operand of a static shape")
    if math.prod(lengths) > MOST_MAPPED:
        raise LoadError(f"ShapeTransform of {math.prod(lengths)} elements; up to {MOST_MAPPED} are read")
    try:
        source = _sources(types.text, lengths)
    except ValueError as error:
        raise LoadError(f"index_map: {error}") from None
    strides = _strides(source)
    if strides is None:
        flat = body.node("Reshape", body.input(0), body.constant(-1))
        index = body.node("Constant", value=numpy_helper.from_array(source))
        body.node("Gather", flat, index, output=body.output(0))
        return
    order = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    digits = body.node("Reshape", body.input(0), body.constant(*(source.shape[axis] for axis in order)))
    body.node("Transpose", digits, output=body.output(0), perm=[order.index(axis) for axis in range(len(order))])


def _sources(text: str, lengths: Sequence[int]) -> np.ndarray:
    """For each place of the result the number of the element that lies there. Errors: ValueError."""
    targets = read_affine_map(text, lengths)
    if not math.prod(lengths):
        raise ValueError("the operand has no elements")
    shape = [int(target.max()) + 1 for target in targets]
    if any((target < 0).any() for target in targets) or math.prod(shape) != math.prod(lengths):
        raise ValueError(f"it does not give each of {math.prod(lengths)} elements a place of its own in {shape}")
    flat = np.ravel_multi_index(targets, shape).reshape(-1) if targets else np.zeros(1, np.int64)
    source = np.full(math.prod(lengths), -1, np.int64)
    source[flat] = np.arange(flat.size)
    if (source < 0).any():
        raise ValueError(f"it takes two elements to one place in {shape}")
    return source.reshape(shape)


def _strides(source: np.ndarray) -> list[int] | None:
    """The steps in the operand along each axis of the result, where they are those of a reshape and a transpose."""
    strides = [int(source.take(1, axis).flat[0]) if length > 1 else 0 for axis, length in enumerate(source.shape)]
    grids = np.indices(source.shape, sparse=True)
    linear = sum((grid * stride for grid, stride in zip(grids, strides, strict=True)), np.int64(0))
    return strides if np.array_equal(source, np.broadcast_to(linear, source.shape)) else None


OWN_OPS: dict[str, OwnOp] = {
    "Dim": OwnOp((1, 1), {"axis": _INT}, _dim),
    "ConcatShapeTranspose": OwnOp(
        (1, 1 << 16), {"axis": _INT, "start": _INT, "end": _INT, "perm": _INTS}, _concat_shape_transpose
    ),
    "RMSLayerNormalization": OwnOp(
        (2, 3), {"axis": _INT, "epsilon": _FLOAT, "stash_type": _INT}, _rms_layer_normalization
    ),
    "UpsampleAndPad": OwnOp((1, 1), {"strides": _INTS, "pads": _INTS}, _upsample_and_pad),
    "LayoutTransform": OwnOp((1, 1), {}, _layout_transform),
    "ShapeTransform": OwnOp((1, 1), {}, _shape_transform),
}
"""The ops by their names."""
