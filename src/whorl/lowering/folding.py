"""Nodes on constants, run once for all programs of a model, and matrices that are laid out once the code is there.

While LLVM works it takes more memory than at any other time; what is laid out then does not lie beside its matrix yet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

from msgspec import Struct, field

from whorl.errors import RunError
from whorl.ir.constants import Constant, FixedArray
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.types import TensorType
from whorl.lowering.block_convolution import FilterBlocks
from whorl.lowering.deferred import DeferredArray, run_on_arrays
from whorl.lowering.native_types import is_fixed, sizes
from whorl.lowering.products import InPanels
from whorl.ops.control.flow import first_captured

FOLDED_GROWTH = 1 << 16
"""Bytes by which a node on constants may make more than it reads and still run once, before the program."""


class Folded(Struct):
    """What nodes on constants gave, stored so that programs of one model share it."""

    results: dict[Hashable, tuple[tuple[object, ...], tuple[FixedArray, ...]]] = field(
        default_factory=dict[Hashable, tuple[tuple[object, ...], tuple[FixedArray, ...]]]
    )

    def run(self, node: Node, inputs: Sequence[FixedArray]) -> tuple[FixedArray, ...]:
        """The results of a pure node, computed once for the very same arrays."""
        return self._find((_identity(node.op), *map(id, inputs)), (node.op, *inputs), partial(_run, node, inputs))

    def stack(self, arrays: Sequence[FixedArray]) -> FixedArray:
        """The arrays side by side, once for the very same ones."""
        return self._find(tuple(map(id, arrays)), tuple(arrays), lambda: (DeferredArray.side_by_side(arrays),))[0]

    def _find(
        self, key: Hashable, source: tuple[object, ...], compute: Callable[[], tuple[FixedArray, ...]]
    ) -> tuple[FixedArray, ...]:
        """What was computed before; it holds its source, whose objects then stay those of the key."""
        if key not in self.results:
            self.results[key] = source, compute()
        return self.results[key][1]


def _identity(op: Op) -> Op | int:
    """What ops that mean the same have in common; the object itself where fields cannot be compared."""
    try:
        hash(op)
    except TypeError:
        return id(op)
    return op


def _run(node: Node, inputs: Sequence[FixedArray]) -> tuple[FixedArray, ...]:
    type = node.outputs[0].type
    if isinstance(node.op, InPanels | FilterBlocks) and isinstance(type, TensorType) and is_fixed(type):
        return (DeferredArray.by(node.op, inputs, type.dtype, sizes(type)),)
    return run_on_arrays(node.op, inputs)


def fold_nodes(region: Region, folded: Folded, captured: Mapping[Value, FixedArray] | None = None) -> None:
    """Put Constant nodes in the place of those that give the same in every run, also inside of branches and bodies.

    `captured` are arguments that are the same in every run.
    """
    fixed: dict[Value, FixedArray] = dict(captured or {})
    laid_out = _read_for_panels(region)
    for position, node in enumerate(region.nodes):
        if isinstance(node.op, Constant):
            fixed[node.outputs[0]] = node.op.value
            continue
        for inner in node.regions:
            outer = node.inputs[first_captured(node) :]
            pairs = zip(inner.arguments[len(inner.arguments) - len(outer) :], outer, strict=True)
            fold_nodes(inner, folded, {argument: fixed[v] for argument, v in pairs if v in fixed})
        inputs = [fixed[v] for v in node.inputs if v in fixed]
        if not node.op.pure or node.regions or len(inputs) < len(node.inputs):
            continue
        if node not in laid_out and not _is_small(node, inputs):
            continue
        try:
            values = folded.run(node, inputs)
        except (RunError, ValueError, ArithmeticError, IndexError, TypeError):
            continue
        if len(values) == len(node.outputs) == 1:
            fixed[node.outputs[0]] = values[0]
            region.nodes[position] = _replace_by_constant(node, values[0])


def _read_for_panels(region: Region) -> set[Node]:
    """Nodes whose results nobody reads but to lay a matrix out, which the program then reads in their place."""
    result: set[Node] = set()
    read: set[Value | None] = set(region.results)
    for node in reversed(region.nodes):
        is_fixed_size = all(isinstance(v.type, TensorType) and is_fixed(v.type) for v in node.outputs)
        if isinstance(node.op, InPanels) or (is_fixed_size and not read.intersection(node.outputs)):
            result.add(node)
        else:
            read.update(node.inputs)
    return result


def _is_small(node: Node, inputs: Sequence[FixedArray]) -> bool:
    """Whether the results take about as much memory as what they are made of."""
    made = 0
    for value in node.outputs:
        type = value.type
        if not isinstance(type, TensorType) or type.dtype == STRING or not is_fixed(type):
            return False
        made += math.prod(sizes(type)) * type.dtype.itemsize
    return isinstance(node.op, InPanels | FilterBlocks) or made <= max(map(_bytes, inputs), default=0) + FOLDED_GROWTH


def _bytes(value: FixedArray) -> int:
    return math.prod(value.shape) * value.dtype.itemsize


def _replace_by_constant(node: Node, value: FixedArray) -> Node:
    constant = Node(Constant(value), [], (), node.name)
    constant.outputs = node.outputs
    for output in constant.outputs:
        output.owner = constant
    return constant
