"""Rewrites sequences of tensors that differ in shape as tables (`ragged`), together with all that they become.

That goes through loops, branches and what captures them. Sequences may be made, split, changed, read and joined; where
anything else is done with one, or the rank of what it holds is not known, it remains as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from whorl.ir.constants import Constant
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.types import AnyShape, SequenceType, TensorType
from whorl.lowering.ragged import PartRows, RaggedAt, RaggedConcat, RaggedLength, RaggedSequence, Shape, ShapeRow
from whorl.lowering.ragged_edits import ErasedElements, ErasedRow, InsertedElements, InsertedRow, RowAt
from whorl.lowering.sequences import EmptyRows, PartEnds, RaggedResult, captured_arguments
from whorl.ops.control.flow import If, Loop
from whorl.ops.elementwise.arithmetic import Identity
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.shapes import Reshape
from whorl.ops.sequence.sequences import (
    ConcatFromSequence,
    SequenceAt,
    SequenceConstruct,
    SequenceEmpty,
    SequenceErase,
    SequenceInsert,
    SequenceLength,
    SplitToSequence,
)

# ---- which sequences -----------------------------------------------------------------------------------------


class Family(Struct, eq=False):
    """Sequences that become each other, and the types of the tensors in them.

    `has_others`: something is done with one of them that tables have no form for. `are_parts`: one is the parts of a
    tensor, which may differ in number, too.
    """

    members: list[Value] = field(default_factory=list[Value])
    elements: list[TensorType] = field(default_factory=list[TensorType])
    readers: int = 0
    has_others: bool = False
    are_parts: bool = False

    @property
    def shape(self) -> Shape | None:
        """What is known of the shape of all tensors; None where their ranks are not known or differ."""
        shapes = [type.shape for type in self.elements]
        ranks = {None if isinstance(shape, AnyShape) else len(shape) for shape in shapes}
        if len(ranks) != 1 or None in ranks or len({type.dtype for type in self.elements}) > 1:
            return None
        columns = zip(*(shape for shape in shapes if not isinstance(shape, AnyShape)), strict=True)
        each = [set(column) for column in columns]
        return tuple(n if len(column) == 1 and isinstance(n := next(iter(column)), int) else None for column in each)

    @property
    def is_ragged(self) -> bool:
        """Whether the sequences must, and can, be tables."""
        if self.has_others or self.shape is None:
            return False
        if len(self.members) == 1 and not (self.readers or self.are_parts):
            return False
        return any(_differs(value.type) for value in self.members)


def _differs(type: object) -> bool:
    if not isinstance(type, SequenceType) or not isinstance(type.element, TensorType):
        return True
    return isinstance(type.element.shape, AnyShape) or UNKNOWN in type.element.shape


class _Families:
    """The families of all sequences of a region and of those inside."""

    def __init__(self, region: Region) -> None:
        self.of: dict[Value, Family] = {}
        for argument in region.arguments:
            if isinstance(argument.type, SequenceType):
                self.family(argument).has_others = True
        self._walk(region)

    def family(self, value: Value) -> Family:
        if value not in self.of:
            self.of[value] = Family([value])
        return self.of[value]

    def join(self, value: Value | None, other: Value) -> None:
        if value is None or not isinstance(other.type, SequenceType):
            return
        a, b = self.family(value), self.family(other)
        if a is not b:
            a.members += b.members
            a.elements += b.elements
            a.readers, a.has_others = a.readers + b.readers, a.has_others or b.has_others
            a.are_parts = a.are_parts or b.are_parts
            self.of.update(dict.fromkeys(b.members, a))

    def _walk(self, region: Region) -> None:
        for node in region.nodes:
            for inner in node.regions:
                self._walk(inner)
            self._node(node)

    def _node(self, node: Node) -> None:
        sequences = [v for v in (*node.inputs, *node.outputs) if v is not None and isinstance(v.type, SequenceType)]
        if not sequences:
            return
        match node.op:
            case SequenceAt() | SequenceLength() | ConcatFromSequence():
                self.family(sequences[0]).readers += 1
            case SequenceInsert():
                self._add(sequences[0], node.inputs[1:2])
                self.join(sequences[0], node.outputs[0])
            case SequenceErase():
                self.join(sequences[0], node.outputs[0])
            case SequenceConstruct():
                self._add(sequences[0], node.inputs)
            case SplitToSequence(axis=0) | RaggedSequence():
                element = node.outputs[0].type.element if isinstance(node.outputs[0].type, SequenceType) else None
                family = self.family(sequences[0])
                family.are_parts = family.are_parts or isinstance(node.op, SplitToSequence)
                if isinstance(element, TensorType):
                    family.elements.append(element)
            case SequenceEmpty() | EmptyRows():
                self.family(sequences[0])
            case Identity():
                self.join(node.inputs[0], node.outputs[0])
            case If() | Loop():
                self._control(node)
            case _:
                for value in sequences:
                    self.family(value).has_others = True

    def _add(self, sequence: Value, elements: Sequence[Value | None]) -> None:
        types = [v.type for v in elements if v is not None]
        self.family(sequence).elements += [type for type in types if isinstance(type, TensorType)]
        self.family(sequence).has_others |= not all(isinstance(type, TensorType) for type in types)

    def _control(self, node: Node) -> None:
        for position, value in enumerate(node.inputs):
            if value is not None and isinstance(value.type, SequenceType):
                for argument, _ in captured_arguments(node, position):
                    self.join(value, argument)
        for inner in node.regions:
            first, carried = (1, node.op.carried) if isinstance(node.op, Loop) else (0, 0)
            for number, result in enumerate(inner.results[first:]):
                for output in node.outputs[number : number + 1]:
                    self.join(result, output)
                if number < carried:
                    self.join(result, inner.arguments[2 + number])
                elif first and isinstance(result.type, SequenceType):
                    self.family(result).has_others = True


# ---- the rewrite ---------------------------------------------------------------------------------------------


def open_ragged(region: Region) -> bool:
    """Rewrite sequences of tensors that differ in shape; whether there are any. Types are to be inferred again."""
    families = _Families(region)
    shapes: dict[Value, Shape] = {}
    for value, family in families.of.items():
        if family.is_ragged and family.shape is not None:
            shapes[value] = family.shape
    if not shapes:
        return False
    _Rewrite(shapes, families).region(region, is_outermost=True)
    return True


Pair = tuple[Value, Value]
"""The elements of a sequence, and its table."""


class _Rewrite:
    def __init__(self, shapes: dict[Value, Shape], families: _Families) -> None:
        self.shapes, self.families = shapes, families
        self.pairs: dict[Value, Pair] = {}
        self.nodes: list[Node] = []

    def region(self, region: Region, is_outermost: bool = False) -> None:
        outer, self.nodes = self.nodes, []
        for node in region.nodes:
            if any(v in self.shapes for v in (*node.inputs, *node.outputs)):
                self._node(node)
            else:
                for inner in node.regions:
                    self.region(inner)
                self.nodes.append(node)
        if is_outermost:
            region.results = [self._result(v) if v in self.pairs else v for v in region.results]
        else:
            region.results = [*self._opened(region.results)]
        region.nodes, self.nodes = self.nodes, outer

    def _result(self, value: Value) -> Value:
        return self._add(RaggedResult(), [*self.pairs[value]], value.name)

    def _opened(self, values: Sequence[Any]) -> Iterator[Any]:
        """Values with a pair for each sequence."""
        for value in values:
            yield from self.pairs.get(value, (value,))

    def _add(self, op: Op, inputs: Sequence[Value | None], name: str) -> Value:
        node = Node(op, inputs, (), name)
        node.outputs = [Value(name, TensorType(INT64), node, 0)]
        self.nodes.append(node)
        return node.outputs[0]

    def _node(self, node: Node) -> None:
        match node.op:
            case SequenceEmpty() | EmptyRows():
                self._define(node, self._empty(node))
            case SequenceConstruct():
                pair = self._empty(node)
                for value in node.inputs:
                    pair = self._append(pair, value, node.name)
                self._define(node, pair)
            case SequenceInsert() if len(node.inputs) < 3 or node.inputs[2] is None:
                self._define(node, self._append(self._pair(node), node.inputs[1], node.name))
            case SequenceInsert():
                self._define(node, self._insert(self._pair(node), node))
            case SequenceErase():
                self._define(node, self._erase(self._pair(node), node))
            case SplitToSequence():
                ends = self._add(PartEnds(node.op), node.inputs, node.name)
                table = self._add(PartRows(), [node.inputs[0], ends], node.name)
                self._define(node, (self._flat(node.inputs[0], node.name), table))
            case RaggedSequence():
                elements, table = (v for v in node.inputs if v is not None)
                self._define(node, (elements, table))
            case Identity():
                self._define(node, self._pair(node))
            case SequenceAt():
                node.op, node.inputs = RaggedAt(self._shape(node)), [*self._pair(node), node.inputs[1]]
                self.nodes.append(node)
            case SequenceLength():
                node.op, node.inputs = RaggedLength(), list[Value | None](self._pair(node)[1:])
                self.nodes.append(node)
            case ConcatFromSequence():
                node.op, node.inputs = RaggedConcat(node.op, self._shape(node)), list[Value | None](self._pair(node))
                self.nodes.append(node)
            case _:
                self._control(node)

    def _define(self, node: Node, pair: Pair) -> None:
        self.pairs[node.outputs[0]] = pair

    def _pair(self, node: Node) -> Pair:
        value = node.inputs[0]
        assert value is not None
        return self.pairs[value]

    def _shape(self, node: Node) -> Shape:
        value = node.inputs[0]
        assert value is not None
        return self.shapes[value]

    def _empty(self, node: Node) -> Pair:
        family = self.families.of[node.outputs[0]]
        columns = 1 + len(self.shapes[node.outputs[0]])
        arrays = np.empty(0, family.elements[0].dtype), np.empty((0, columns), np.int64)
        elements, table = (self._add(Constant(array), [], node.name) for array in arrays)
        return elements, table

    def _flat(self, value: Value | None, name: str) -> Value:
        return self._add(Reshape(), [value, self._add(Constant(np.array([-1], np.int64)), [], name)], name)

    def _append(self, pair: Pair, value: Value | None, name: str) -> Pair:
        row = self._add(ShapeRow(), [pair[0], value], name)
        elements = self._add(Concat(0), [pair[0], self._flat(value, name)], name)
        return elements, self._add(Concat(0), [pair[1], row], name)

    def _insert(self, pair: Pair, node: Node) -> Pair:
        (elements, table), (_, value, position) = pair, node.inputs
        row = self._add(RowAt(True), [table, position], node.name)
        longer = self._add(InsertedElements(), [elements, table, self._flat(value, node.name), row], node.name)
        return longer, self._add(InsertedRow(), [elements, table, value, row], node.name)

    def _erase(self, pair: Pair, node: Node) -> Pair:
        (elements, table), rank = pair, len(self._shape(node))
        row = self._add(RowAt(False), [table, *node.inputs[1:]], node.name)
        rest = self._add(ErasedElements(rank), [elements, table, row], node.name)
        return rest, self._add(ErasedRow(rank), [table, row], node.name)

    def _control(self, node: Node) -> None:
        op = node.op
        if isinstance(op, Loop):
            more = sum(v in self.shapes for v in node.inputs[2 : 2 + op.carried])
            node.op = replace(op, carried=op.carried + more)
        node.inputs = [*self._opened(node.inputs)]
        for inner in node.regions:
            for argument in inner.arguments:
                self._twin(argument, inner)
            inner.set_arguments(self._opened(inner.arguments))
            self.region(inner)
        for output in node.outputs:
            self._twin(output, node)
        node.outputs = [*self._opened(node.outputs)]
        for index, output in enumerate(node.outputs):
            output.index = index
        self.nodes.append(node)

    def _twin(self, value: Value, owner: Node | Region) -> None:
        """Two values for a sequence that a loop or branch takes or gives."""
        if value in self.shapes:
            dtype = self.families.of[value].elements[0].dtype
            types = TensorType(dtype, (UNKNOWN,)), TensorType(INT64, (UNKNOWN, 1 + len(self.shapes[value])))
            elements, table = (Value(value.name, type, owner, 0) for type in types)
            self.pairs[value] = elements, table
