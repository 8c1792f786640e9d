"""Sequences made ready for native code: empty ones that know their elements, and tensors whose parts are read in place.

A sequence of tensors of one shape lies in memory as their rows (`storage.memory_type`); the shape of what an empty one
will hold is that of the tensors put into it. A tensor that is split only to read its parts is not copied: a part is
read where the tensor lies, so parts may differ in length.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.infer import Inference, names_in_type, names_of
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import AnyShape, Fact, SequenceType, TensorType, tensor
from whorl.ir.walk import clone_region
from whorl.lowering.graph_program import RAGGED, ROWS, sequence_of
from whorl.ops.control.flow import If, Loop, first_captured
from whorl.ops.core.base import length_of
from whorl.ops.elementwise.arithmetic import Identity
from whorl.ops.native.index_maps import (
    broadcast_scalar,
    insert_at,
    map_indices,
    normalise_indices,
    read_element,
    read_index,
    read_int64,
    replace_at,
)
from whorl.ops.sequence.sequences import (
    SequenceAt,
    SequenceConstruct,
    SequenceEmpty,
    SequenceInsert,
    SequenceLength,
    SplitToSequence,
    part_ends,
)

# ---- empty sequences -----------------------------------------------------------------------------------------


class EmptyRows(Op, frozen=True):
    """A sequence without elements that will hold tensors of one type."""

    abstract: ClassVar[bool] = True
    any_length = True

    element: TensorType

    def infer(self) -> SequenceType:
        return SequenceType(self.element)

    def run(self) -> list[Any]:
        return []

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return SequenceEmpty(self.element.dtype).lower(k, inputs, outputs)

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        return EmptyRows(self.element.with_dtype(INT64))


def type_empty_sequences(region: Region) -> bool:
    """Say of empty sequences which tensors are put into them, as far as inference has found that; whether any changed.

    Only types over the names of the region's arguments, which mean the same everywhere inside.
    """
    visible, changed = names_of(region.arguments), False
    for node in region.nodes:
        for inner in node.regions:
            changed |= type_empty_sequences(inner)
        if isinstance(node.op, SequenceEmpty):
            sequence = node.outputs[0]
            types = itertools.chain(_inserted(sequence, region), _inserted_at_first(sequence, region, visible))
            element = next((type for type in types if names_in_type(type) <= visible), None)
            if element is not None:
                node.op, changed = EmptyRows(element), True
    return changed


def _inserted(sequence: Value, region: Region) -> Iterator[TensorType]:
    """The types of known shape of what is put into a sequence, in this region and those inside."""
    for node in region.nodes:
        for position in [n for n, value in enumerate(node.inputs) if value is sequence]:
            match node.op:
                case SequenceInsert() if position == 0 and node.inputs[1] is not None:
                    yield from _shaped(node.inputs[1])
                    yield from _inserted(node.outputs[0], region)
                case Identity():
                    yield from _inserted(node.outputs[0], region)
                case If() | Loop():
                    for value, inner in captured_arguments(node, position):
                        yield from _inserted(value, inner)
                    if isinstance(node.op, Loop) and position - 2 in range(node.op.carried):
                        for output in node.outputs[position - 2 : position - 1]:
                            yield from _inserted(output, region)
                case _:
                    pass


def _inserted_at_first(sequence: Value, region: Region, visible: set[str]) -> Iterator[TensorType]:
    """What the first iteration of a loop puts into a sequence that it carries.

    While nobody knows what a sequence holds, nobody knows what a loop carries that follows from its elements, either,
    and what it puts into the sequence may follow from that: a decoder's keys from its last token, say. Before the first
    iteration, carried values are of the types that they begin with.
    """
    for node in region.nodes:
        if not isinstance(node.op, Loop) or sequence not in node.op.split(node.inputs)[2]:
            continue
        _, _, carried, scanned, captured = node.op.split(node.inputs)
        body = clone_region(node.regions[0])
        _, _, states, slices, copies = node.op.split(body.arguments)
        for argument, value in zip((*states, *copies), (*carried, *captured), strict=True):
            if value is not None:
                argument.type, argument.known = value.type, value.known if argument in copies else None
        for argument, value, how in zip(slices, scanned, node.op.scanned, strict=True):
            argument.type, argument.known = how.slice_type(tensor(value)), None
        inference = Inference(visible)
        inference.depth = 1
        inference.region(body)
        for argument, value in zip(states, carried, strict=True):
            if value is sequence:
                yield from _inserted(argument, body)


def _shaped(value: Value) -> Iterator[TensorType]:
    type = value.type
    if isinstance(type, TensorType) and not isinstance(type.shape, AnyShape) and UNKNOWN not in type.shape:
        yield type


def captured_arguments(node: Node, position: int) -> Iterator[tuple[Value, Region]]:
    """What an operand of a loop or branch is inside."""
    for inner in node.regions:
        yield inner.arguments[position - (len(node.inputs) - len(inner.arguments))], inner


# ---- sequences as results -------------------------------------------------------------------------------------


def open_results(region: Region) -> tuple[tuple[int, int], ...]:
    """Let what a result is put together of at the end be results instead; where sequences are.

    They are the output where one begins, and of how many outputs it is made; `ROWS` or `RAGGED` for how it lies there.
    """
    results: list[Value] = []
    sequences: list[tuple[int, int]] = []
    for value in region.results:
        if not isinstance(value.type, SequenceType):
            results.append(value)
            continue
        elements, kind = _opened(value)
        sequences.append((len(results), kind))
        results += elements
    region.results = results
    return tuple(sequences)


def _opened(value: Value) -> tuple[list[Value], int]:
    owner = value.owner
    inputs = [v for v in owner.inputs if v is not None] if isinstance(owner, Node) else []
    match owner.op if isinstance(owner, Node) else None:
        case SequenceConstruct():
            return inputs, len(inputs)
        case RaggedResult():
            return inputs, RAGGED
        case _:
            return [value], ROWS


class RaggedResult(Op, frozen=True):
    """A sequence that leaves the program as its elements and its table."""

    abstract: ClassVar[bool] = True
    polymorphic = True

    def infer(self, elements: Fact, table: Fact) -> SequenceType:
        return SequenceType(TensorType(tensor(elements).dtype))

    def run(self, elements: np.ndarray, table: np.ndarray) -> list[np.ndarray]:
        return sequence_of(elements, table)


# ---- tensors that are split to be read -----------------------------------------------------------------------


class PartEnds(Op, frozen=True):
    """Where the parts of a tensor begin along an axis, and where the last one ends: int64 [parts + 1]."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    split: SplitToSequence

    def infer(self, data: Fact, split: Fact | None = None) -> TensorType:
        self.split.infer(data, split)
        return TensorType(INT64, (length_of(data, self.split.axis) + 1 if split is None else UNKNOWN,))

    def run(self, data: np.ndarray, split: np.ndarray | None = None) -> np.ndarray:
        return np.array([0, *part_ends(data.shape[self.split.axis], split)], np.int64)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        data, sizes = inputs[0], inputs.optional(1)
        length = data.shape[self.split.axis % len(data.shape)]
        if sizes is None:
            return [k.view(INT64, (length + 1,), lambda index: index[0], 0)]
        if not sizes.shape:
            return [_equal_ends(k, length, sizes)]
        return [_summed_ends(k, length, sizes)]


def _equal_ends(k: NativeBuilder, length: Dim, size: View) -> View:
    """Ends of parts of one length, the last one being shorter where it must."""
    part, total = k.let(read_int64(k, size)), k.length(length)
    k.fail_unless(k.compare("gt", part, k.const(0)))
    rest = k.compare("gt", k.apply("rem", total, part), k.const(0))
    count = k.let(k.add(k.div(total, part), k.cast(rest, INT64)))

    def at(index: Index) -> Expr:
        return k.apply("min", k.mul(index[0], part), total)

    return k.view(INT64, (k.new_length(k.let(k.add(count, k.const(1)))),), at, 2)


def _summed_ends(k: NativeBuilder, length: Dim, sizes: View) -> View:
    """Ends of parts whose lengths lie in a tensor; the program fails unless they divide the axis."""
    (parts,) = sizes.shape
    ends, total = k.temporary(INT64, (parts + 1,)), k.length(length)
    end = k.variable(INT64, "end", once=False)
    k.assign(end, k.const(0))
    k.store(ends, (k.const(0),), end)
    with k.loop(parts) as number:
        size = k.let(read_index(k, sizes, (number,)))
        left = k.sub(total, end)
        k.fail_unless(k.apply("and", k.compare("ge", size, k.const(0)), k.compare("le", size, left)))
        k.assign(end, k.add(end, size))
        k.store(ends, (k.add(number, k.const(1)),), end)
    k.fail_unless(k.compare("eq", end, total))
    return k.view_of(ends, (parts + 1,))


class PartCount(Op, frozen=True):
    """The number of parts whose ends are given, an int64 scalar."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    def infer(self, ends: Fact) -> TensorType:
        return TensorType(INT64, ())

    def run(self, ends: np.ndarray) -> np.ndarray:
        return np.array(len(ends) - 1, np.int64)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [broadcast_scalar(k, k.const(inputs[0].shape[0] - 1), ())]


class PartAt(Op, frozen=True):
    """The part of a tensor at a position, from where the parts end."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    split: SplitToSequence
    drops_axis: bool
    length: int | None

    def infer(self, data: Fact, ends: Fact, position: Fact) -> TensorType:
        operand = tensor(data)
        if isinstance(operand.shape, AnyShape):
            return operand
        axis = self.split.axis % len(operand.shape)
        length = () if self.drops_axis else (UNKNOWN if self.length is None else self.length,)
        return operand.with_shape((*operand.shape[:axis], *length, *operand.shape[axis + 1 :]))

    def run(self, data: np.ndarray, ends: np.ndarray, position: np.ndarray) -> np.ndarray:
        sizes = None if self.drops_axis else np.diff(ends)
        return SequenceAt().run(self.split.run(data, sizes), position)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        data, ends, position = inputs
        axis = self.split.axis % len(data.shape)
        number = read_element(k, k.materialise(normalise_indices(k, position, ends.shape[0] - 1)))
        start = k.let(ends.at((number,)))
        if self.drops_axis:
            shape = (*data.shape[:axis], *data.shape[axis + 1 :])
            return [map_indices(k, data, shape, lambda index: insert_at(index, axis, start))]
        length: Dim | None = self.length
        if length is None:
            length = k.new_length(k.let(k.sub(ends.at((k.add(number, k.const(1)),)), start)))
        shape = replace_at(data.shape, axis, length)
        return [map_indices(k, data, shape, lambda index: replace_at(index, axis, k.add(index[axis], start)))]


def read_parts(region: Region) -> bool:
    """Let what reads parts of a split tensor read the tensor, if nothing else is done with them; whether any does."""
    changed = False
    for node in region.nodes:
        for inner in node.regions:
            changed |= read_parts(inner)
        if isinstance(node.op, SplitToSequence) and _is_only_read(node.outputs[0], region):
            (parts,), data = node.outputs, node.inputs[0]
            assert data is not None
            part = PartAt(node.op, not node.op.keepdims and len(node.inputs) < 2, _length_of_parts(parts, node.op))
            node.op, changed = PartEnds(node.op), True
            parts.type = TensorType(INT64)
            _read_from(region, parts, data, part)
    return changed


def _length_of_parts(parts: Value, split: SplitToSequence) -> int | None:
    """The length along the axis that all parts have, if it is a number."""
    element = parts.type.element if isinstance(parts.type, SequenceType) else None
    if not isinstance(element, TensorType) or isinstance(element.shape, AnyShape):
        return None
    length = element.shape[split.axis]
    return length if isinstance(length, int) else None


def _is_only_read(sequence: Value, region: Region) -> bool:
    """Whether only its parts and its length are read, in regions inside too."""
    if sequence in region.results:
        return False
    for node in region.nodes:
        for position in [n for n, value in enumerate(node.inputs) if value is sequence]:
            if isinstance(node.op, SequenceAt | SequenceLength) and position == 0:
                continue
            is_captured = isinstance(node.op, If | Loop) and position >= first_captured(node)
            if not is_captured or not all(_is_only_read(v, inner) for v, inner in captured_arguments(node, position)):
                return False
    return True


def _read_from(region: Region, parts: Value, data: Value, part: PartAt) -> None:
    """Let the readers of a sequence read a tensor instead; `parts`, once the sequence, says where its parts end."""
    for node in region.nodes:
        match node.op:
            case SequenceAt() if node.inputs[0] is parts:
                node.op, node.inputs = part, [data, parts, node.inputs[1]]
            case SequenceLength() if node.inputs[0] is parts:
                node.op = PartCount()
            case If() | Loop() if parts in node.inputs:
                aliases = [
                    alias
                    for n, value in enumerate(node.inputs)
                    if value is parts
                    for alias in captured_arguments(node, n)
                ]
                node.inputs.append(data)
                copies = {inner: inner.add_argument(data.name, data.type, data.known) for inner in node.regions}
                for alias, inner in aliases:
                    alias.type = parts.type
                    _read_from(inner, alias, copies[inner], part)
            case _:
                pass
