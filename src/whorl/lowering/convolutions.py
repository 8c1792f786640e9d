"""Convolutions by fixed filters arranged for native code: filters packed once, what follows fused into the store.

Filters are laid out in blocks before the program. A normalization, a scale or a shift of each feature is folded into
them; a sum with another tensor, Relu and Clip are done before the result is stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct, field

from whorl.ir.constants import Constant
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT32
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.kernels.convolution.layout import pack_filters, unpack_filters
from whorl.kernels.plane.layout import PhaseSplit
from whorl.kernels.winograd.layout import POINTS, pays, transform_filters, untransform_filters
from whorl.ops.core.base import accumulator
from whorl.ops.elementwise.arithmetic import Add, Clip, Mul, Sum
from whorl.ops.elementwise.nonlinear import Relu
from whorl.ops.native.index_maps import cast_view, lengths, widen_view
from whorl.ops.reduce.normalization import BatchNormalization
from whorl.ops.windows.convolution import Conv, with_bias
from whorl.ops.windows.native_convolution import Ending, blocked, convolution, is_native
from whorl.ops.windows.native_winograd import winograd_convolution
from whorl.ops.windows.run_time_layout import layout_of

INPUTS: dict[type[Op], int] = {BatchNormalization: 4, Mul: 1, Add: 1}
"""How many inputs a step after a convolution has besides the value that it changes."""


def _folded(steps: Sequence[Op], values: Sequence[np.ndarray], factor: np.ndarray, term: np.ndarray) -> Any:
    """x * factor + term after steps on each feature alone."""
    rest = iter(values)
    for step in steps:
        operands = [next(rest).reshape(-1).astype(factor.dtype) for _ in range(INPUTS[type(step)])]
        match step:
            case BatchNormalization():
                scale, shift, mean, variance = operands
                change = scale / np.sqrt(variance + factor.dtype.type(step.epsilon))
                factor, term = factor * change, (term - mean) * change + shift
            case Mul():
                factor, term = factor * operands[0], term * operands[0]
            case Add():
                term = term + operands[0]
            case _:
                pass
    return factor, term


class FilterBlocks(Op, frozen=True):
    """Filters in blocks, each filter scaled by steps that follow its convolution."""

    abstract: ClassVar[bool] = True

    group: int
    steps: tuple[Op, ...] = ()
    is_transformed: bool = False
    """Whether they are for Winograd's convolution."""

    def run(self, w: np.ndarray, *values: np.ndarray) -> np.ndarray:
        dtype = accumulator(w.dtype)
        filters = w.reshape(len(w), -1).astype(dtype, copy=False)
        if self.steps:
            factor, _ = _folded(self.steps, values, np.ones(len(w), dtype), np.zeros(len(w), dtype))
            filters = filters * factor[:, None]
        pack = transform_filters if self.is_transformed else pack_filters
        return pack(filters.reshape(self.group, len(w) // self.group, filters.shape[1]))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return None if self.steps or self.is_transformed else [blocked(k, widen_view(k, inputs[0]), self.group)]


class FilterBias(Op, frozen=True):
    """The bias of a convolution, 0 where it has none, after steps that follow it."""

    abstract: ClassVar[bool] = True

    features: int
    has_bias: bool
    steps: tuple[Op, ...] = ()

    def run(self, *values: np.ndarray) -> np.ndarray:
        dtype = accumulator(values[0].dtype)
        bias = values[0].astype(dtype) if self.has_bias else np.zeros(self.features, dtype)
        _, bias = _folded(self.steps, values[self.has_bias :], np.ones(self.features, dtype), bias)
        return np.broadcast_to(bias, (self.features,)).astype(dtype)


class BlockConvolution(Op, frozen=True):
    """A convolution by filters in blocks, plus a tensor if it is given, kept within limits.

    Inputs: X, filters, bias, offsets of the taps where lengths are known, the tensor to add. `shape` is that of the
    filters before.
    """

    abstract: ClassVar[bool] = True

    any_length = True
    overwrites = 4

    op: Conv
    shape: tuple[int, ...]
    limits: tuple[float, float] | None = None
    is_transformed: bool = False

    def run(
        self,
        x: np.ndarray,
        packed: np.ndarray,
        bias: np.ndarray,
        offsets: np.ndarray | None,
        added: np.ndarray | None = None,
    ) -> np.ndarray:
        each = self.shape[0] // self.op.group
        unpack = untransform_filters if self.is_transformed else unpack_filters
        filters = np.concatenate([unpack(row, each) for row in packed]).reshape(self.shape)
        y = with_bias(self.op.run(x.astype(packed.dtype, copy=False), filters), bias)
        y = y if added is None else y + added
        return (y if self.limits is None else np.clip(y, *self.limits)).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [cast_view(k, self.native(k, inputs), inputs[0].dtype)]

    def native(self, k: NativeBuilder, inputs: Operands, into: tuple[Any, int] | None = None) -> Any:
        """The result in memory; in the features of a larger tensor from a number on, where that is given."""
        (x, packed, bias), offsets, added = inputs[:3], inputs.optional(3), inputs.optional(4)
        x, tracks = self.op.of_channels(k, x, self.shape), self.op.axes(x.shape, self.shape)
        ending = Ending(added, self.limits, into)
        if self.is_transformed:
            return winograd_convolution(k, x, packed, bias, self.shape[0], ending)
        return convolution(k, widen_view(k, x), packed, bias, tracks, self.shape[0], offsets, ending)


def lay_out_convolutions(body: Region, captured: Sequence[Value]) -> None:
    """Give every convolution by fixed filters these in blocks, and the steps that follow it alone."""
    fixed = set(captured)
    for node in body.nodes:
        if node.op.pure and not node.regions and all(v is None or v in fixed for v in node.inputs):
            fixed.update(node.outputs)
    readers = readers_of(body)
    fused: set[Node] = set()
    arranged: dict[Node, list[Node]] = {}
    for node in body.nodes:
        if node in fused or node.outputs[0] in fixed or not _is_arranged(node, fixed):
            continue
        chain = _Chain(node, fixed, readers, fused).follow()
        fused.update(chain.nodes)
        arranged[chain.nodes[-1]] = chain.arranged()
    if arranged:
        groups = [arranged.get(node, [] if node in fused else [node]) for node in body.nodes]
        body.nodes = [node for group in groups for node in group]


def readers_of(body: Region) -> dict[Value, list[Node | None]]:
    """The nodes that read each value, one entry a reading; None for a result of the region."""
    result: dict[Value, list[Node | None]] = {}
    for node in body.nodes:
        for value in node.inputs:
            if value is not None:
                result.setdefault(value, []).append(node)
    for value in body.results:
        result.setdefault(value, []).append(None)
    return result


def _is_arranged(node: Node, fixed: set[Value]) -> bool:
    """Whether a node is a convolution by fixed filters that kernels compute."""
    if not isinstance(node.op, Conv) or any(v is not None and v not in fixed for v in node.inputs[1:]):
        return False
    (data, *weights), (result,) = node.inputs, node.outputs
    if not all(v is None or is_static(v.type) for v in weights) or any(_rank(v) is None for v in (data, result)):
        return False
    x, w, y = _lengths(data), shape_of(weights[0]), _lengths(result)
    if 0 in y or not math.prod(w) or any(n is UNKNOWN for n in (*x, *y)):
        return False
    return is_native(node.op.axes(x, w), w[1] * node.op.group, accumulator(dtype_of(data)).itemsize)


def _rank(value: Value | None) -> int | None:
    return value.type.rank if value is not None and isinstance(value.type, TensorType) else None


def _lengths(value: Value | None) -> tuple[Dim, ...]:
    assert value is not None and isinstance(value.type, TensorType)
    return lengths(value.type)


def is_static(type: Type) -> bool:
    return (
        isinstance(type, TensorType)
        and not isinstance(type.shape, AnyShape)
        and all(isinstance(d, int) for d in type.shape)
    )


def shape_of(value: Value | None) -> tuple[int, ...]:
    assert value is not None and isinstance(value.type, TensorType) and not isinstance(value.type.shape, AnyShape)
    return tuple(int(d) for d in value.type.shape)  # type: ignore[arg-type]


def dtype_of(value: Value | None) -> np.dtype:
    assert value is not None and isinstance(value.type, TensorType)
    return value.type.dtype


class _Chain(Struct):
    """A convolution and the nodes that follow it alone and belong to no other one."""

    conv: Node
    fixed: set[Value]
    readers: Mapping[Value, Sequence[Node | None]]
    fused: set[Node]
    nodes: list[Node] = field(default_factory=list[Node])
    steps: list[Op] = field(default_factory=list[Op])
    values: list[Value] = field(default_factory=list[Value])
    added: Value | None = None
    limits: tuple[float, float] | None = None

    def follow(self) -> _Chain:
        """Take in what follows: steps on features, one sum with another tensor, bounds."""
        self.nodes.append(self.conv)
        if dtype_of(self.conv.outputs[0]) not in (FLOAT32, FLOAT64):
            return self
        while (node := self._reader()) is not None and self._is_step(node):
            self.nodes.append(node)
            self.steps.append(node.op)
            self.values += self._others(node)
        if (node := self._reader()) is not None and self._adds(node):
            self.nodes.append(node)
            self.added = self._others(node)[0]
        if (node := self._reader()) is not None and (bounds := _bounds(node)) is not None:
            self.nodes.append(node)
            self.limits = bounds
        return self

    def _reader(self) -> Node | None:
        """The only reader of the last node's only value, if it is free."""
        first, *more = self.nodes[-1].outputs
        readers = self.readers.get(first, ())
        alone = len(readers) == 1 and readers[0] not in self.fused
        return readers[0] if alone and not any(v in self.readers for v in more) else None

    def _others(self, node: Node) -> list[Value]:
        value = self.nodes[self.nodes.index(node) - 1 if node in self.nodes else -1].outputs[0]
        return [v for v in node.inputs if v is not value and v is not None]

    def _is_step(self, node: Node) -> bool:
        """Whether a node changes each feature alone, by fixed numbers."""
        if type(node.op) not in INPUTS or not all(v in self.fixed for v in self._others(node)):
            return False
        shape = _lengths(self.conv.outputs[0])
        if isinstance(node.op, BatchNormalization):
            return not node.op.training_mode and node.inputs[0] is self.nodes[-1].outputs[0]
        others = self._others(node)
        if len(others) != 1 or not is_static(others[0].type) or dtype_of(others[0]) != dtype_of(self.conv.outputs[0]):
            return False
        own = shape_of(others[0])
        return len(own) <= len(shape) and math.prod(own) in (1, _length(own, len(shape), 1))

    def _adds(self, node: Node) -> bool:
        if not isinstance(node.op, Add | Sum) or len(node.inputs) != 2 or len(self._others(node)) != 1:
            return False
        return self._others(node)[0].type == self.conv.outputs[0].type

    def arranged(self) -> list[Node]:
        """The nodes in the own_axis of all."""
        conv = self.conv.op
        x, w, *bias = (v for v in self.conv.inputs if v is not None)
        assert isinstance(conv, Conv)
        dtype, shape, steps = accumulator(dtype_of(x)), shape_of(w), tuple(self.steps)
        group, features = conv.group, shape[0]
        layout = layout_of(conv.axes(_lengths(x), shape), dtype.itemsize, features // group)
        is_transformed = dtype == dtype_of(x) and pays(layout, shape[1], features // group)
        size = features // group * shape[1] * (POINTS if is_transformed else math.prod(shape[2:]))
        blocks = _node(FilterBlocks(group, steps, is_transformed), [w, *self.values], dtype, (group, size), "blocks")
        term = _constant(np.zeros(features, dtype), "bias")
        if bias or steps:
            op = FilterBias(features, bool(bias), steps)
            term = _node(op, [*bias, *self.values], dtype, (features,), "bias")
        offsets = [_constant(layout.offsets(shape[1]), "offsets")] if isinstance(layout, PhaseSplit) else []
        table = offsets[0].outputs[0] if offsets else None
        inputs = [x, *blocks.outputs, *term.outputs, table, self.added]
        last = self.nodes[-1]
        op = BlockConvolution(conv, shape, self.limits, is_transformed)
        result = Node(op, inputs if self.added is not None else inputs[:-1], (), self.conv.name)
        result.outputs = last.outputs[:1]
        result.outputs[0].owner = result
        return [blocks, term, *offsets, result]


def _length(shape: Sequence[int], rank: int, axis: int) -> int:
    """The length of an axis of a shape that broadcasts to a rank."""
    own_axis = axis - (rank - len(shape))
    return shape[own_axis] if own_axis >= 0 else 1


def _bounds(node: Node) -> tuple[float, float] | None:
    """The bounds that a node keeps its value in, if it does no more and they are known."""
    if isinstance(node.op, Relu):
        return 0.0, math.inf
    if not isinstance(node.op, Clip):
        return None
    result: list[float] = []
    for value, default in zip((*node.inputs[1:], None, None), (-math.inf, math.inf), strict=False):
        if value is None:
            result.append(default)
        elif value.known is not None and value.known.size == 1 and isinstance(value.known.flat[0], float):
            result.append(value.known.flat[0])
    return (result[0], result[1]) if len(result) == 2 and result[0] <= result[1] else None


def _node(op: Op, inputs: Sequence[Value], dtype: np.dtype, shape: Sequence[int], name: str) -> Node:
    node = Node(op, inputs)
    node.outputs = [Value(name, TensorType(dtype, tuple(shape)), node, 0)]
    return node


def _constant(array: np.ndarray, name: str) -> Node:
    return _node(Constant(array), (), INT32 if array.dtype == INT32 else array.dtype, array.shape, name)
