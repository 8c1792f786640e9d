"""Specialises a Loop to its operands: their shapes as types, and loop-invariant nodes hoisted to its preheader.

Sequences of equal tensors are carried as rows; the element type of an empty one follows from the tensor that the body
inserts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.constants import Constant
from whorl.ir.dims import Dim
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import AnyShape, Fact, Known, SequenceType, TensorType, Type, tensor, type_of
from whorl.ir.walk import clone_region
from whorl.lowering.branches import simplify_branches
from whorl.lowering.continuations import Continuations
from whorl.lowering.expressions import Unsupported
from whorl.lowering.ill_typed import set_aside
from whorl.ops.control.flow import Loop, Scanned
from whorl.ops.control.iteration import Iteration
from whorl.ops.sequence.sequences import SequenceInsert
from whorl.phases import Phase, in_phase
from whorl.runtime.compiled.preheader import LoopPreheader, hoist_to_preheader
from whorl.runtime.compiled.shape_signatures import DynamicDims


@in_phase(Phase.LOWER)
def specialise(
    node: Node, iteration: Iteration, dynamic: DynamicDims
) -> tuple[Node, LoopPreheader, list[np.ndarray | None]]:
    """A copy of a Loop typed for these operands, its preheader, and the captured values that are constants."""
    op = node.op
    assert isinstance(op, Loop)
    trip, condition, _, _, outer = op.split(node.inputs)
    facts = _facts(node, iteration, dynamic)
    body = clone_region(node.regions[0])
    copy = Node(op, [], [body], node.name)
    copy.inputs = [trip, condition, *facts]  # type: ignore[list-item]  # inference reads only types and elements
    types = _infer(copy)
    copy.outputs = [Value(v.name, t, copy, v.index) for v, t in zip(node.outputs, types, strict=False)]
    constants = [_constant(v) for v in outer]
    goes_on = not iteration.stops or _is_true(body.results[0])
    length = iteration.bound if goes_on else None
    preheader = hoist_to_preheader(body, copy, length, {n: x for n, x in enumerate(constants) if x is not None})
    fixed = constants + [_constant(v) for v in preheader.results]
    return copy, preheader, fixed


def _infer(loop: Node) -> Sequence[Type]:
    continuations = Continuations({})
    while True:
        inference = Inference()
        inference.depth = 1
        types = loop.op.infer_regions(loop, inference)
        if not simplify_branches(loop.regions[0], inference, continuations):
            set_aside(inference.ill_typed)
            return types


def _facts(node: Node, iteration: Iteration, dynamic: DynamicDims) -> list[Fact]:
    """What is known of the operands: carried, scanned, captured."""
    op = node.op
    assert isinstance(op, Loop)
    states, outer = _state_facts(node, iteration), op.split(node.inputs)[4]
    facts = [*states, *_scanned_facts(op, iteration, dynamic, len(states)), *_captured_facts(outer, iteration)]
    scanned = range(len(states), len(states) + len(op.scanned))
    return [fact if n in scanned else _with_dynamic(fact, n, dynamic) for n, fact in enumerate(facts)]


def _with_dynamic(fact: Fact, number: int, dynamic: DynamicDims) -> Fact:
    """The fact with names for its dynamic dims."""
    if not isinstance(fact.type, TensorType) or isinstance(fact.type.shape, AnyShape):
        return fact
    if all((number, axis) not in dynamic for axis in range(len(fact.type.shape))):
        return fact
    return Known(fact.type.with_shape(_named(fact.type.shape, number, dynamic)))


def _named(shape: Sequence[Dim], number: int, dynamic: DynamicDims) -> tuple[Dim, ...]:
    return tuple(dims.name(dynamic[number, axis]) if (number, axis) in dynamic else n for axis, n in enumerate(shape))


def _scanned_facts(op: Loop, iteration: Iteration, dynamic: DynamicDims, first: int) -> list[Fact]:
    facts: list[Fact] = []
    for number, (x, how) in enumerate(zip(iteration.rows, op.scanned, strict=True), first):
        slice = _named(x.shape[1:], number, dynamic)
        shape = _whole(x.shape[0], slice, how) if how.keep_axis else _unmoved((x.shape[0], *slice), how.axis)
        facts.append(Known(TensorType(x.dtype, shape)))
    return facts


def _captured_facts(outer: Sequence[Value], iteration: Iteration) -> list[Fact]:
    pairs = zip(iteration.captured, outer, strict=True)
    return [Known(type_of(x), _numbers(value)) for x, value in pairs]


def _state_facts(node: Node, iteration: Iteration) -> list[Fact]:
    """The types of the carried values; of an empty sequence, that of the tensors that the body puts into it."""
    facts: list[Fact] = [Known(type_of(x)) for x in iteration.state]
    empty = [n for n, x in enumerate(iteration.state) if isinstance(x, list) and not x]
    if not empty:
        return facts
    op = node.op
    assert isinstance(op, Loop)
    _, _, declared, _, outer = op.split(node.inputs)
    for n in empty:
        facts[n] = Known(declared[n].type)
    body = clone_region(node.regions[0])
    scanned = zip(_scanned_facts(op, iteration, {}, 0), op.scanned, strict=True)
    slices = [Known(how.slice_type(tensor(fact))) for fact, how in scanned]
    inputs = [*facts, *slices, *_captured_facts(outer, iteration)]
    for argument, fact in zip(body.arguments[2:], inputs, strict=True):
        argument.type, argument.known = fact.type, fact.known
    inference = Inference()
    inference.depth = 1
    inference.region(body)
    states = op.split(body.arguments)[2]
    for n in empty:
        facts[n] = Known(SequenceType(_inserted_type(body, states[n])))
    return facts


def _inserted_type(body: Region, sequence: Value) -> TensorType:
    """The type of the tensors put into a sequence that is empty at first."""
    for node in body.nodes:
        if isinstance(node.op, SequenceInsert) and node.inputs[0] is sequence and node.inputs[1] is not None:
            type = node.inputs[1].type
            if isinstance(type, TensorType) and not isinstance(type.shape, AnyShape):
                return type
    raise Unsupported(f"the shape of the tensors in {sequence.name!r} is not known")


def _whole(count: int, slice: tuple[Dim, ...], how: Scanned) -> tuple[Dim, ...]:
    """The shape of a scanned value whose slices keep the axis."""
    axis = how.axis % len(slice)
    return (*slice[:axis], count * how.part, *slice[axis + 1 :])


def _unmoved(shape: tuple[Dim, ...], axis: int) -> tuple[Dim, ...]:
    """The shape of a scanned value whose scanned axis was moved to the front."""
    rest, axis = list(shape[1:]), axis % len(shape)
    rest.insert(axis, shape[0])
    return tuple(rest)


def _numbers(value: Value | None) -> np.ndarray | None:
    """The known elements of an operand where all are numbers, which then are the same in every run."""
    if value is None or value.known is None or not all(isinstance(e, bool | int | float) for e in value.known.flat):
        return None
    return value.known


def _is_true(value: Value) -> bool:
    return value.known is not None and value.known.size == 1 and value.known.flat[0] is True


def _constant(value: Value | None) -> np.ndarray | None:
    if value is None or not isinstance(value.owner, Node) or not isinstance(value.owner.op, Constant):
        return None
    return value.owner.op.run()
