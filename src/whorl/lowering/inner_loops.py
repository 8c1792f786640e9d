"""Hoisting out of inner loops and branches: packed weights, and products of slices.

Only ops move that cannot fail for known shapes, since the loop may have no iterations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.constants import Constant
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import names_of
from whorl.ir.types import TensorType, lengths_of
from whorl.lowering.block_convolution import ChannelTerms, FilterBias, FilterBlocks
from whorl.lowering.products import Hoisted, InPanels, PanelProduct, hoist_products, slice_captured
from whorl.ops.control.flow import Loop, Scanned
from whorl.ops.elementwise.arithmetic import Identity
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Slice, Transpose
from whorl.ops.movement.shapes import Reshape, Squeeze, Unsqueeze

LAID_OUT = (InPanels, FilterBlocks, FilterBias, ChannelTerms)
"""Ops that lay out what products and convolutions read again and again."""
MOVED = (*LAID_OUT, Transpose, Slice, Reshape, Squeeze, Unsqueeze, Identity, Cast)
"""Ops that move out of a loop: with known shapes they cannot fail, and they take no longer than reading a matrix."""


def move_out(node: Node, expected: set[Value] | None) -> list[Node]:
    """Nodes of the node's regions that lay matrices out, to run before it; it captures what they give.

    `wanted`: only what follows from these values, which it captures; None for all.
    """
    moved: list[Node] = []
    for region in node.regions:
        first = len(region.arguments) - _captured_count(node)
        outer = dict(
            zip(region.arguments[first:], node.inputs[len(node.inputs) - _captured_count(node) :], strict=True)
        )
        outer = {inner: v for inner, v in outer.items() if expected is None or v in expected}
        result = _laying_out(region, set(outer))
        for inner in result:
            moved.append(_copy_outside(inner, outer))
        region.nodes = [n for n in region.nodes if n not in result]
        _capture(node, region, [v for n in result for v in n.outputs], outer)
    return moved


def _captured_count(node: Node) -> int:
    match node.op:
        case Loop():
            return len(node.op.split(node.inputs)[4])
        case _:
            pass
    return len(node.inputs) - 1


def _laying_out(region: Region, known: set[Value]) -> list[Node]:
    """The nodes that lay out matrices and filters that follow from known values, and those on the way to them."""
    chains: dict[Value, list[Node]] = {v: [] for v in known}
    result: list[Node] = []
    for node in region.nodes:
        if isinstance(node.op, Constant):
            chains[node.outputs[0]] = [node]
        if not isinstance(node.op, MOVED) or not all(v is not None and v in chains for v in node.inputs):
            continue
        chain = [*(n for v in node.inputs if v is not None for n in chains[v]), node]
        chains[node.outputs[0]] = chain
        if isinstance(node.op, LAID_OUT):
            result += [n for n in chain if n not in result]
    return [n for n in region.nodes if n in result]


def _copy_outside(node: Node, outer: dict[Value, Value | None]) -> Node:
    copy = Node(node.op, [outer[v] for v in node.inputs if v is not None], (), node.name)
    copy.outputs = [Value(v.name, v.type, copy, v.index, v.known) for v in node.outputs]
    outer.update(zip(node.outputs, copy.outputs, strict=True))
    return copy


def _capture(node: Node, region: Region, values: Sequence[Value], outer: dict[Value, Value | None]) -> None:
    """Make values that are computed outside now arguments of the node's regions, where they are read."""
    for value in values:
        if not is_read(region, value):
            continue
        node.inputs.append(outer[value])
        for each in node.regions:
            argument = each.add_argument(value.name, value.type, value.known)
            if each is region:
                region.replace_uses({value: argument})


def is_read(region: Region, value: Value) -> bool:
    """Whether a node of a region reads a value, or its results hold it."""
    return value in region.results or any(value in node.inputs for node in region.nodes)


# ---- products of slices --------------------------------------------------------------------------------------


def products_of_slices(node: Node) -> list[Node]:
    """Nodes that multiply all slices of an inner loop at once before it; it then scans the products."""
    assert isinstance(node.op, Loop)
    op, body = node.op, node.regions[0]
    _, _, _, scanned, captured = op.split(node.inputs)
    _, _, _, slices, copies = op.split(body.arguments)
    length = op.length(node)
    if length is UNKNOWN or length == 0 or any(how.keep_axis for how in op.scanned):
        return []
    for number, value in slice_captured(body, copies, length):
        scanned.append(captured[number])
        slices.append(_scan(node, captured[number], value, False))
    outer = dict(zip(copies, captured, strict=True))
    made: list[Node] = []
    for hoisted in hoist_products(body, slices, copies, length, set(copies), frozenset(names_of(node.inputs))):
        how, panels = node.op.scanned[hoisted.rows], outer[hoisted.panels]
        made += _whole_product(hoisted, scanned[hoisted.rows], how, panels)
        _scan(node, made[-1].outputs[0], hoisted.output, how.reverse)
    return made


def _whole_product(hoisted: Hoisted, rows: Value, how: Scanned, panels: Value | None) -> list[Node]:
    """The product of all slices, the scanned axis first."""
    made: list[Node] = []
    assert isinstance(rows.type, TensorType)
    shape, dtype = list(_lengths(rows)), rows.type.dtype
    axis = how.axis % len(shape)
    if axis:
        order = (axis, *(n for n in range(len(shape)) if n != axis))
        shape = [shape[n] for n in order]
        rows = _add(made, Node(Transpose(order), [rows]), TensorType(dtype, tuple(shape)))
    product = Node(PanelProduct(hoisted.columns), [rows, panels])
    rows = _add(made, product, TensorType(dtype, (*shape[:-1], hoisted.columns)))
    target = (shape[0], *_lengths(hoisted.output))
    if target != _lengths(rows):
        sizes = Node(Constant(np.array([n if isinstance(n, int) else -1 for n in target], np.int64)), [])
        known = np.array(target, object)
        expected = _add(made, sizes, TensorType(np.dtype(np.int64), (len(target),)), known)
        _add(made, Node(Reshape(), [rows, expected]), TensorType(dtype, target))
    return made


def _add(made: list[Node], node: Node, type: TensorType, known: np.ndarray | None = None) -> Value:
    node.outputs = [Value("hoisted", type, node, 0, known)]
    made.append(node)
    return node.outputs[0]


def _lengths(value: Value) -> tuple[Dim, ...]:
    assert isinstance(value.type, TensorType)
    return lengths_of(value.type)


def _scan(node: Node, rows: Value, slice: Value, reverse: bool) -> Value:
    """Give a loop one more scanned value, whose slice is read in position of what the body computed."""
    assert isinstance(node.op, Loop)
    op, body = node.op, node.regions[0]
    position = 2 + op.carried + len(op.scanned)
    argument = Value(slice.name, slice.type, body, position)
    node.inputs.insert(position, rows)
    body.arguments.insert(position, argument)
    body.set_arguments(body.arguments)
    body.replace_uses({slice: argument})
    node.op = replace(op, scanned=(*op.scanned, Scanned(0, reverse)))
    return argument
