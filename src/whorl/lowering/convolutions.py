"""Convolutions by fixed filters arranged for native code: filters packed once, what is around them taken in.

Steps on the channels of the image are done where windows are gathered; a sum with another tensor, Relu and Clip,
before the result is stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from whorl.ir.constants import Constant
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT32
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.kernels.plane.layout import PhaseSplit
from whorl.kernels.winograd.layout import POINTS, pays
from whorl.lowering.block_convolution import INPUTS, BlockConvolution, ChannelTerms, FilterBias, FilterBlocks
from whorl.ops.core.base import accumulator
from whorl.ops.elementwise.arithmetic import Add, Clip, Sum
from whorl.ops.elementwise.nonlinear import Relu
from whorl.ops.native.index_maps import lengths
from whorl.ops.reduce.normalization import BatchNormalization
from whorl.ops.windows.convolution import Conv
from whorl.ops.windows.native_convolution import is_native
from whorl.ops.windows.native_normalized import takes_in_normalization
from whorl.ops.windows.native_planes import goes_by_planes
from whorl.ops.windows.run_time_layout import layout_of


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
        chain = _Chain(node, fixed, readers, fused).precede().follow()
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
    """A convolution, the steps on its image, and the nodes that follow it alone, none of which belongs to another."""

    conv: Node
    fixed: set[Value]
    readers: Mapping[Value, Sequence[Node | None]]
    fused: set[Node]
    nodes: list[Node] = field(default_factory=list[Node])
    steps: list[Node] = field(default_factory=list[Node])
    added: Value | None = None
    limits: tuple[float, float] | None = None
    before: list[Node] = field(default_factory=list[Node])
    is_rectified: bool = False

    def precede(self) -> _Chain:
        """Take in the steps on channels of the image, by numbers known before the program, and Relu behind them."""
        conv, (x, w, *_) = self.conv.op, self.conv.inputs
        assert isinstance(conv, Conv)
        is_taken = conv.group == 1 and takes_in_normalization(conv.axes(_lengths(x), shape_of(w)), shape_of(w)[0])
        if not is_taken or dtype_of(x) not in (FLOAT32, FLOAT64):
            return self
        last, steps = self._owner(x), list[Node]()
        relu = [last] if last is not None and isinstance(last.op, Relu) else []
        node = self._owner(relu[0].inputs[0]) if relu else last
        while node is not None and (value := _changed(node, self.fixed)) is not None:
            if not all(_is_constant(v) for v in node.inputs if v is not value):
                break
            steps.insert(0, node)
            node = self._owner(value)
        if steps:
            self.before, self.is_rectified, self.nodes = steps, bool(relu), [*steps, *relu]
        return self

    def _owner(self, value: Value | None) -> Node | None:
        """The free node that computes a value, and nothing else that is read, for one reader."""
        if value is None or not isinstance(owner := value.owner, Node):
            return None
        if owner in self.fused or len(self.readers[value]) > 1:
            return None
        return owner if not any(v in self.readers for v in owner.outputs if v is not value) else None

    def follow(self) -> _Chain:
        """Take in what follows: steps on features, one sum with another tensor, bounds."""
        self.nodes.append(self.conv)
        if dtype_of(self.conv.outputs[0]) not in (FLOAT32, FLOAT64):
            return self
        while (node := self._reader()) is not None and _changed(node, self.fixed) is not None:
            self.nodes.append(node)
            self.steps.append(node)
        if (node := self._reader()) is not None and self._adds(node):
            self.added = self._others(node)[0]
            self.nodes.append(node)
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
        return [v for v in node.inputs if v is not self.nodes[-1].outputs[0] and v is not None]

    def _adds(self, node: Node) -> bool:
        if not isinstance(node.op, Add | Sum) or len(node.inputs) != 2 or len(self._others(node)) != 1:
            return False
        return self._others(node)[0].type == self.conv.outputs[0].type

    def arranged(self) -> list[Node]:
        """The nodes in the place of all."""
        conv = self.conv.op
        x, w, *bias = (v for v in self.conv.inputs if v is not None)
        assert isinstance(conv, Conv)
        dtype, shape = accumulator(dtype_of(x)), shape_of(w)
        steps, values = _numbers_of(self.steps, self.fixed)
        group, features = conv.group, shape[0]
        tracks = conv.axes(_lengths(x), shape)
        layout = layout_of(tracks, dtype.itemsize, features // group)
        is_transformed = dtype == dtype_of(x) and pays(layout, shape[1], features // group)
        size = features // group * shape[1] * (POINTS if is_transformed else math.prod(shape[2:]))
        blocks = _node(FilterBlocks(group, steps, is_transformed), [w, *values], dtype, (group, size), "blocks")
        term = _constant(np.zeros(features, dtype), "bias")
        if bias or steps:
            op = FilterBias(features, bool(bias), steps)
            term = _node(op, [*bias, *values], dtype, (features,), "bias")
        image, offsets, terms = x, list[Node](), list[Node]()
        if self.before:
            image, (before, numbers) = _changed(self.before[0], self.fixed), _numbers_of(self.before, self.fixed)
            terms = [_node(ChannelTerms(shape[1], before), numbers, dtype, (shape[1], 3), "terms")]
        elif isinstance(layout, PhaseSplit) and not goes_by_planes(tracks, shape[1], features // group):
            offsets = [_constant(layout.offsets(shape[1]), "offsets")]
        table = offsets[0].outputs[0] if offsets else None
        inputs = [image, *blocks.outputs, *term.outputs, table, self.added, *(n.outputs[0] for n in terms)]
        while inputs[-1] is None:
            inputs.pop()
        last = self.nodes[-1]
        op = BlockConvolution(conv, shape, self.limits, is_transformed, self.is_rectified)
        result = Node(op, inputs, (), self.conv.name)
        result.outputs = last.outputs[:1]
        result.outputs[0].owner = result
        return [blocks, term, *offsets, *terms, result]


def _changed(node: Node, fixed: set[Value]) -> Value | None:
    """The tensor [N, features, ...] each feature of which a node changes alone, by fixed numbers, if it is a step."""
    if type(node.op) not in INPUTS:
        return None
    changed = [v for v in node.inputs if v is not None and v not in fixed]
    if len(changed) != 1 or dtype_of(first := changed[0]) not in (FLOAT32, FLOAT64):
        return None
    if isinstance(node.op, BatchNormalization):
        return None if node.op.training_mode or first is not node.inputs[0] else first
    shape, others = _lengths(first), [v for v in node.inputs if v is not None and v is not first]
    if not all(is_static(v.type) and dtype_of(v) == dtype_of(first) for v in others):
        return None
    own, features = shape_of(others[0]), _lengths(node.outputs[0])[1:2]
    if len(own) > len(shape) or features != shape[1:2]:
        return None
    return first if math.prod(own) in (1, _length(own, len(shape), 1)) else None


def _is_constant(value: Value | None) -> bool:
    return value is not None and isinstance(value.owner, Node) and isinstance(value.owner.op, Constant)


def _numbers_of(steps: Sequence[Node], fixed: set[Value]) -> tuple[tuple[Op, ...], list[Value]]:
    """The steps that nodes do, and the numbers that they take."""
    values = [v for node in steps for v in node.inputs if v is not None and v in fixed]
    return tuple(node.op for node in steps), values


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
