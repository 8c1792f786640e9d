"""A whole region as one kernel program: inputs, constants and outputs as buffers, scratch memory planned in one block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.op import Op, as_values
from whorl.ir.types import AnyShape, Fact, TensorType
from whorl.ir.walk import clone_region
from whorl.kernel.optimise import optimise
from whorl.kernel.program import Buffer, Program
from whorl.lowering.arena import Arena, plan_arena, swapped_pairs, used_buffers
from whorl.lowering.builder import MOST_TRIPS, KernelBuilder, Unsupported, View
from whorl.lowering.convolutions import FilterBlocks
from whorl.lowering.layout import prepare
from whorl.lowering.places import Target, fill_all, fixed_type, sizes
from whorl.lowering.products import InPanels
from whorl.lowering.regions import lower_region

FOLDED_GROWTH = 1 << 16
"""Bytes by which a node on constants may make more than it reads and still run once, before the program."""


@dataclass(frozen=True)
class GraphProgram:
    """The program of a region at fixed shapes, and where its values lie among the program's buffers.

    Buffers, in order: the inputs, by `inputs` their positions among the region's arguments; `constants`, whose contents
    are the same in every run; the outputs. Scratch buffer n begins at byte `arena.offsets[n]` of `arena.size` bytes.
    """

    program: Program
    inputs: tuple[int, ...]
    constants: tuple[np.ndarray, ...]
    outputs: tuple[TensorType, ...]
    arena: Arena
    may_fail: bool


@dataclass
class Folded:
    """What nodes on constants gave, kept so that programs of one model share it."""

    results: dict[tuple, tuple[tuple[Any, ...], tuple[np.ndarray, ...]]] = field(default_factory=dict)

    def run(self, node: Node, inputs: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The results of a pure node, computed once for the very same arrays."""
        key = (_identity(node.op), *map(id, inputs))
        if key not in self.results:
            with np.errstate(all="ignore"):
                values = as_values(node.op.run(*inputs))
            self.results[key] = (node.op, *inputs), values
        return self.results[key][1]


def _identity(op: Op) -> Op | int:
    """What ops that mean the same have in common; the object itself where fields cannot be compared."""
    try:
        hash(op)
    except TypeError:
        return id(op)
    return op


def lower_graph(
    region: Region, arguments: Sequence[Fact], folded: Folded | None = None, most_trips: int = MOST_TRIPS
) -> GraphProgram:
    """The kernel program of a region for arguments of known shapes; their known elements hold in every run.

    Nodes on constants run here, once for all programs that share `folded`. A loop that wants more than `most_trips`
    iterations is refused, or fails where only the run knows it. Raises Unsupported with the reason, and the
    region's own node, where something has no native form; TypeRuleError where inference refuses the region.
    """
    special = specialised(region, arguments)
    origins = {v: node for copy, node in zip(special.nodes, region.nodes, strict=True) for v in copy.outputs}
    try:
        prepare(special, ())
        _drop_unread(special)
        _fold(special, folded or Folded())
        _drop_unread(special)
        return _lower(special, most_trips)
    except Unsupported as reason:
        found = [origins[v] for v in reason.node.outputs if v in origins] if reason.node is not None else []
        raise reason.at(found[0] if found else None) from None


def specialised(region: Region, arguments: Sequence[Fact]) -> Region:
    """A copy of a region typed for these arguments."""
    special = clone_region(region)
    for value, fact in zip(special.arguments, arguments, strict=True):
        value.type, value.known = fact.type, fact.known
    inference = Inference()
    inference.region(special)
    return special


def _fold(region: Region, folded: Folded) -> None:
    """Put Constant nodes in the place of those that give the same in every run."""
    fixed: dict[Value, np.ndarray] = {}
    for position, node in enumerate(region.nodes):
        if isinstance(node.op, Constant):
            fixed[node.outputs[0]] = as_array(node.op.value)
            continue
        inputs = [fixed[v] for v in node.inputs if v in fixed]
        if not node.op.pure or node.regions or len(inputs) < len(node.inputs) or not _is_small(node, inputs):
            continue
        try:
            values = folded.run(node, inputs)
        except (RunError, ValueError, ArithmeticError, IndexError, TypeError):
            continue
        if len(values) == len(node.outputs) == 1 and isinstance(values[0], np.ndarray):
            fixed[node.outputs[0]] = values[0]
            region.nodes[position] = _given(node, values[0])


def _is_small(node: Node, inputs: Sequence[np.ndarray]) -> bool:
    """Whether the results take about as much memory as what they are made of."""
    made = 0
    for value in node.outputs:
        type = value.type
        if not isinstance(type, TensorType) or type.dtype == STRING or not is_static(type):
            return False
        made += math.prod(sizes(type)) * type.dtype.itemsize
    return (
        isinstance(node.op, InPanels | FilterBlocks)
        or made <= max((x.nbytes for x in inputs), default=0) + FOLDED_GROWTH
    )


def is_static(type: TensorType) -> bool:
    """Whether every length is a number."""
    return not isinstance(type.shape, AnyShape) and all(isinstance(d, int) for d in type.shape)


def _given(node: Node, value: np.ndarray) -> Node:
    constant = Node(Constant(value), [], (), node.name)
    constant.outputs = node.outputs
    for output in constant.outputs:
        output.owner = constant
    return constant


def _drop_unread(region: Region) -> None:
    """Leave out nodes whose values nobody reads."""
    read = set(region.results)
    kept: list[Node] = []
    for node in reversed(region.nodes):
        if read.intersection(node.outputs):
            read.update(v for v in node.inputs if v is not None)
            kept.append(node)
    region.nodes = kept[::-1]


def _lower(region: Region, most_trips: int) -> GraphProgram:
    k = KernelBuilder()
    k.most_trips = most_trips
    read = {v for node in region.nodes for v in node.inputs} | set(region.results)
    inputs = {n: v for n, v in enumerate(region.arguments) if v in read}
    buffers = {n: _argument(v, k) for n, v in inputs.items()}
    env = {v: _view(buffers[n], v, k) for n, v in inputs.items()}
    results = lower_region(region, env, k)
    outputs = [_output_type(v) for v in region.results]
    targets, outs = _placed(results, outputs, k)
    fill_all(k, targets)
    used = used_buffers(k.block)
    scratch = [b for b in k.scratch if b in used and b not in outs]
    given = [(b, array) for b, array in k.constants.items() if b in used]
    program = Program([], [*buffers.values(), *(b for b, _ in given), *outs], scratch, k.block, k.calls)
    optimise(program)
    arrays = tuple(np.ascontiguousarray(array) for _, array in given)
    return GraphProgram(program, tuple(buffers), arrays, tuple(outputs), plan_arena(program), k.may_fail)


def _output_type(value: Value) -> TensorType:
    try:
        return fixed_type(value.type, f"output {value.name!r}")
    except Unsupported as reason:
        raise reason.at(value.owner if isinstance(value.owner, Node) else None) from None


def _argument(value: Value, k: KernelBuilder) -> Buffer:
    type = fixed_type(value.type, f"input {value.name!r}")
    buffer = Buffer(f"{value.name}.in", type.dtype, sizes(type))
    k.fixed.add(buffer)
    return buffer


def _view(buffer: Buffer, value: Value, k: KernelBuilder) -> View:
    view = k.view_of(buffer)
    return View(view.dtype, view.shape, view.at, 1, buffer, value.known)


def _placed(
    results: Sequence[View], types: Sequence[TensorType], k: KernelBuilder
) -> tuple[list[Target], list[Buffer]]:
    """A buffer for each output: the scratch memory where it lies already, else one that is still to be filled."""
    trading = {b for pair in swapped_pairs(k.block) for b in pair}
    targets: list[Target] = []
    outs: list[Buffer] = []
    for n, (view, type) in enumerate(zip(results, types, strict=True)):
        if view.shape != sizes(type):
            raise Unsupported(f"output {n} has another shape than inference says")
        lies = _whole(view, k)
        if lies in k.scratch and not lies.grows and lies not in trading and lies not in outs:
            outs.append(lies)
            continue
        out = Buffer(f"out{n}", type.dtype, sizes(type))
        outs.append(out)
        targets.append((view, out, ()))
    return targets, outs


def _whole(view: View, k: KernelBuilder) -> Buffer | None:
    """The buffer that holds a tensor and nothing else, row-major."""
    if view.buffer is not None and view.buffer.shape == view.shape:
        return view.buffer
    found = k.contiguous(view)
    if found is None:
        return None
    buffer, origin = found
    is_start = all(k.number(position) == 0 for position in origin)
    return buffer if is_start and _count(buffer) == view.size else None


def _count(buffer: Buffer) -> int:
    """The elements of a buffer; 0 where only the run knows."""
    return 0 if buffer.grows else math.prod(n for n in buffer.shape if isinstance(n, int))
