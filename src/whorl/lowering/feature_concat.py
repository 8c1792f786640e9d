"""Convolutions whose results are joined along the features: they write where the joined tensor is to be.

A tensor that is joined with more and more features, as in a DenseNet, is never copied: all of these tensors begin in
the memory of the largest one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
from msgspec.structs import replace

from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer
from whorl.ir.native.view import Operands, View, fixed
from whorl.ir.types import TensorType
from whorl.lowering.block_convolution import BlockConvolution
from whorl.lowering.convolutions import dtype_of, is_static, readers_of, shape_of
from whorl.ops.movement.axes import Concat
from whorl.ops.native.index_maps import lengths

Readers = Mapping[Value, Sequence[Node | None]]


class FeatureConcat(Op, frozen=True):
    """Convolutions, and other tensors where a part is None, one after the other along the features.

    Inputs: those of each part, so many as `counts` says. `room` are the features that the memory has: more than the
    result, if others `goes_on` behind it; the first part of these is there already.
    """

    abstract: ClassVar[bool] = True

    parts: tuple[BlockConvolution | None, ...]
    counts: tuple[int, ...]
    room: int
    goes_on: bool = False

    def _parts(self) -> Iterator[tuple[BlockConvolution | None, slice]]:
        """Each part, and where its inputs are."""
        end = 0
        for part, count in zip(self.parts, self.counts, strict=True):
            yield part, slice(end, end + count)
            end += count

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        parts = [inputs[where][0] if part is None else part.run(*inputs[where]) for part, where in self._parts()]
        return np.concatenate(parts, axis=1)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        shape = tuple(map(fixed, lengths(outputs[0])))
        result, first, before = self._memory(k, inputs[0], (shape[0], self.room, *shape[2:])), 0, inputs[0].buffer
        for part, where in self._parts():
            operands = inputs[where]
            if part is not None:
                part.native(k, operands, (result, first))
                first += part.shape[0]
                continue
            if first or before is not result:
                with k.nest(operands[0].shape) as (n, c, *rest):
                    k.store(result, (n, k.add(c, k.const(first)), *rest), operands[0].at((n, c, *rest)))
            first += operands[0].fixed_shape[1]
        return [k.view_of(result, shape)]

    def _memory(self, k: NativeBuilder, before: View, shape: tuple[int, ...]) -> Buffer:
        """That of the first part, if the others go on in it."""
        if self.goes_on and before.buffer is not None and before.buffer.shape == shape:
            return before.buffer
        return k.temporary(before.dtype, shape)


def merge_feature_concats(body: Region) -> None:
    """Let convolutions whose results are only joined along the features write them where they are to be."""
    if not any(isinstance(node.op, BlockConvolution) for node in body.nodes):
        return
    _share_beginnings(body)
    readers, gone, concats = readers_of(body), set[Node](), list[Node]()
    for position, node in enumerate(body.nodes):
        if not _is_feature_concat(node):
            continue
        owners = [_merged_owner(v, readers) for v in node.inputs]
        if not any(owners):
            continue
        gone.update(owner for owner in owners if owner is not None)
        operands = [[v] if owner is None else owner.inputs for v, owner in zip(node.inputs, owners, strict=True)]
        parts = tuple(None if owner is None else owner.op for owner in owners)
        counts = tuple(len(values) for values in operands)
        op = FeatureConcat(parts, counts, shape_of(node.outputs[0])[1])  # type: ignore[arg-type]
        merged = Node(op, [v for values in operands for v in values], (), node.name)
        merged.outputs = node.outputs
        merged.outputs[0].owner = merged
        body.nodes[position] = merged
        concats.append(merged)
    body.nodes = [node for node in body.nodes if node not in gone]
    _go_on(concats, readers)


def _share_beginnings(body: Region) -> None:
    """Let a Concat of what another one has, and more, go on from that."""
    known: dict[tuple[Value | None, ...], Value] = {}
    for node in body.nodes:
        if not _is_feature_concat(node):
            continue
        inputs = tuple(node.inputs)
        for count in range(len(inputs) - 1, 1, -1):
            beginning = known.get(inputs[:count])
            if beginning is not None:
                node.inputs = [beginning, *inputs[count:]]
                break
        known.setdefault(inputs, node.outputs[0])


def _go_on(concats: Sequence[Node], readers: Readers) -> None:
    """Give tensors of one image the memory of the last one that begins with them."""
    following, makers = dict[Value, Node](), set[object](concats)
    for node in concats:
        first = node.inputs[0]
        assert isinstance(node.op, FeatureConcat) and first is not None
        is_free = node.op.parts[0] is None and first not in following and shape_of(first)[0] == 1
        if is_free and first.owner in makers and not any(r is None or r.regions for r in readers[first]):
            following[first] = node
    for node in reversed(concats):
        op, after = node.op, following.get(node.outputs[0])
        assert isinstance(op, FeatureConcat)
        room = op.room if after is None else after.op.room  # type: ignore[attr-defined]
        node.op = replace(op, room=room, goes_on=following.get(node.inputs[0]) is node)  # type: ignore[arg-type]


def _is_feature_concat(node: Node) -> bool:
    if not isinstance(node.op, Concat):
        return False
    values = [*node.inputs, *node.outputs]
    if not all(v is not None and is_static(v.type) and dtype_of(v) in (FLOAT32, FLOAT64) for v in values):
        return False
    rank = len(shape_of(node.outputs[0]))
    return node.op.axis in (1, 1 - rank) and math.prod(shape_of(node.outputs[0])) > 0


def _merged_owner(value: Value | None, readers: Readers) -> Node | None:
    """The convolution whose result is read here alone."""
    assert value is not None
    owner = value.owner
    if not isinstance(owner, Node) or not isinstance(owner.op, BlockConvolution) or len(readers[value]) != 1:
        return None
    return owner
