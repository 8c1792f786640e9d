"""Writing If and Loop: If-8, and Loop-5 or TensorIterator-1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.control.write_bodies import BodyWriter, one_element
from whorl.formats.openvino.control.write_loop import LoopWriter
from whorl.formats.openvino.document import PortMap
from whorl.formats.openvino.writing.dims import shape_vector
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sequences import rows_of
from whorl.formats.openvino.writing.sources import Items, Rows, Source
from whorl.ir.dims import Dim
from whorl.ir.graph import Node, Value
from whorl.ir.infer import region_title
from whorl.ir.types import AnyShape, SequenceType, TensorType, Type, join, tensor
from whorl.ops.control.flow import If, Loop, known_bool
from whorl.ops.core.base import known_ints
from whorl.passes.evaluate import Budget, Evaluator, Stopped

MOST_ITERATIONS = 10_000
"""Iterations that are gone through for constants."""


@exporter(If)
def write_if(op: If, node: Node, write: NetWriter) -> Sequence[Source | None]:
    """Each branch has Parameters of its own for what it captures. A branch that is surely taken is written alone."""
    constants = _evaluated(node, write)
    if constants is not None:
        return constants
    condition = node.inputs[0]
    taken = None if condition is None else known_bool(condition)
    if taken is not None:
        region = node.regions[0 if taken else 1]
        write.inline(region, node.inputs[1:])
        return write.output_sources(region.results, node.outputs)
    inputs = [one_element(write.source(condition), write)]
    layer = write.body_layer("If", 8)
    children = [write.child(region_title(node, k), node.regions[k].arguments, node.inputs[1:]) for k in (0, 1)]
    for child, region in zip(children, node.regions, strict=True):
        child.nodes(region)
    pairs = zip(*(region.results for region in node.regions), strict=True)
    sources = [_branches(index, pair, children) for index, pair in enumerate(pairs)]
    for index, key in enumerate(("then_body", "else_body")):
        body = BodyWriter(children[index], write, inputs)
        for position, pair in enumerate(sources):
            body.ports.append(PortMap(False, position, body.result(pair[index], "result")))
        layer.bodies[key] = body.finish()
    types = [tensor_of(join(*(source.type for source in pair))) for pair in sources]
    return _outputs(node, write.finish_body_layer(layer, inputs, types), write)


def _branches(index: int, values: Sequence[Value], children: Sequence[NetWriter]) -> list[Source]:
    """What both branches give of one output: tensors, or the rows of sequences. Errors: SaveError for other ranks."""
    if isinstance(values[0].type, SequenceType):
        stored = [child.sequence(value) for child, value in zip(children, values, strict=True)]
        full = next((h for h in stored if not isinstance(h, Items) or h.sources), None)
        element = full.element if isinstance(full, Rows) else full.sources[0].type if full is not None else None
        sources = [rows_of(h, child, element).source for h, child in zip(stored, children, strict=True)]
    else:
        sources = [child.source(value) for child, value in zip(children, values, strict=True)]
    then, other = (source.type for source in sources)
    if then.rank is None or then.rank != other.rank:
        raise SaveError(
            f"output {index} is {then} in then_branch and {other} in else_branch",
            fix="give both branches one rank; OpenVINO runs nothing whose rank is open",
        )
    return sources


def _outputs(node: Node, sources: Sequence[Source], write: NetWriter) -> list[Source | None]:
    """The outputs of a node whose layer gives tensors; those that are sequences are their rows."""
    stored: list[Source | None] = []
    for value, source in zip(node.outputs, sources, strict=False):
        if isinstance(value.type, SequenceType):
            write.sequences[value] = Rows(source)
        stored.append(None if isinstance(value.type, SequenceType) else source)
    return stored


def tensor_of(type: Type) -> TensorType:
    """A type that is one of tensors."""
    assert isinstance(type, TensorType)
    return type


@exporter(Loop)
def write_loop(op: Loop, node: Node, write: NetWriter) -> Sequence[Source | None]:
    """Slices in their canonical forms, a condition in every body, no state that is another one's Parameter."""
    constants = _evaluated(node, write)
    if constants is not None:
        return constants
    if _never_runs(node, op):
        initial = write.output_sources(op.split(node.inputs)[2], node.outputs)
        return [*initial, *_nothing_collected(node, op, write)]
    return _outputs(node, LoopWriter(node, op, write).write_layer(), write)


def _evaluated(node: Node, write: NetWriter) -> list[Source] | None:
    """The outputs of a node that takes constants alone; None where they are not to be had within some seconds.

    OpenVINO computes such nodes as it compiles, and fails at some.
    """
    if not all(value is None or write.is_small_constant(value) for value in node.inputs):
        return None
    inputs = [write.constant_value(value) for value in node.inputs]
    try:
        outputs = Evaluator(Budget(MOST_ITERATIONS, 2.0, 1 << 26)).node(node, inputs)
    except Stopped:
        return None
    if not all(isinstance(value, np.ndarray) for value in outputs):
        return None
    return [write.constant(array, value.name) for array, value in zip(outputs, node.outputs, strict=False)]


def _never_runs(node: Node, op: Loop) -> bool:
    trip, condition, *_ = op.split(node.inputs)
    count = known_ints(trip)
    if (count is not None and count[0] <= 0) or (condition is not None and known_bool(condition) is False):
        return True
    return op.length(node) == 0


def _nothing_collected(node: Node, op: Loop, write: NetWriter) -> list[Source]:
    """What a loop that does not run collects: no elements, of the shape that is known of them."""
    if op.last:
        raise SaveError("never runs, so that there is no last iteration to take values from")
    sources = []
    for value, how in zip(node.outputs[op.carried :], op.collected, strict=False):
        type = tensor(value)
        if isinstance(type.shape, AnyShape):
            raise SaveError(f"never runs, and the rank of {value!r} is not known")
        shape = list(type.shape)
        shape[how.axis] = 0
        sources.append(_empty(type, tuple(shape), value.name, write))
    return sources


def _empty(type: TensorType, shape: tuple[Dim, ...], name: str, write: NetWriter) -> Source:
    """A tensor without elements; lengths that are not known are 0."""
    target = None if all(isinstance(dim, int) for dim in shape) else shape_vector(write, shape)
    if target is None:
        numbers = [dim if isinstance(dim, int) else 0 for dim in shape]
        return write.constant(np.zeros(numbers, type.dtype), name)
    zero = write.constant(np.zeros((), type.dtype), name)
    return write.layer("Broadcast", 3, [zero, target], [type], mode="numpy")[0]
