"""A slice of a loop as a loop: some of its iterations, from any on; its results have what the next slice needs."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.constants import Constant
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape, Known, TensorType, Type, tensor
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.elementwise.arithmetic import Add

COUNT = dims.name("slice")
"""The iterations of a slice, at most: the length of all that it scans."""
COUNTED = np.dtype(np.uint8)
"""The element type of what a slice scans for its length alone, where the loop scans nothing."""


class LoopSlice(Struct, frozen=True):
    """A slice of a loop that `stops` where a condition ends it, or that does as many iterations as it scans rows.

    The arguments of `region`: whether to go on, if it stops; the carried values; the rows of the scanned ones as an
    `Iteration` has them, or COUNTED elements without meaning where nothing `is_scanned`; the values with the numbers
    `captured` among those that the loop captures, the others being constants; the number of the first iteration. The
    outputs of the node: the carried values; the last ones; if it stops the number of the last iteration within the
    slice, and the body's condition; collected rows.
    """

    region: Region
    node: Node
    stops: bool
    is_scanned: bool
    captured: tuple[int, ...]

    @property
    def constants(self) -> list[Node]:
        """The nodes of the constants that the loop captures."""
        owners = {value.owner: None for value in self.node.inputs if value is not None}
        return [owner for owner in owners if isinstance(owner, Node)]


def slice_of(loop: Node) -> LoopSlice:
    """A slice of a Loop. Errors: TypeRuleError where it scans or collects what is no tensor."""
    op, body, region = loop.op, clone_region(loop.regions[0]), Region("slice")
    assert isinstance(op, Loop)
    stops = loop.inputs[1] is not None
    sliced = Loop(
        op.carried,
        tuple(Scanned() for _ in op.scanned) or (Scanned(),),
        tuple(Collected() for _ in op.collected),
        op.last + 2 * stops,
        op.keep_shapes,
    )
    _count_from_first(body)
    if not op.scanned:
        row, at = Value("row", TensorType(COUNTED, ()), body, 0), 2 + op.carried
        body.set_arguments([*body.arguments[:at], row, *body.arguments[at:]])
    if stops:
        at = 1 + op.carried + op.last
        body.results[at:at] = [body.arguments[0], body.results[0]]
    _, _, states, slices, copies = sliced.split(body.arguments)
    inputs: list[Value | None] = [None, region.add_argument("go_on", TensorType(BOOL, ())) if stops else None]
    inputs += [region.add_argument(v.name, v.type) for v in states]
    inputs += [region.add_argument(v.name, _rows_type(v.type, COUNT)) for v in slices]
    outer = [value if _is_constant(value) else None for value in op.split(loop.inputs)[4]]
    inputs += [v or region.add_argument(copy.name, copy.type) for copy, v in zip(copies, (*outer, None), strict=True)]
    node = Node(sliced, inputs, [body], loop.name)
    first = 1 + sliced.carried + sliced.last
    types = [v.type for v in body.results[1:first]]
    types += [_rows_type(v.type, UNKNOWN if stops else COUNT) for v in body.results[first:]]
    node.outputs = [Value(f"out{n}", type, node, n) for n, type in enumerate(types)]
    captured = tuple(n for n, value in enumerate(outer) if value is None)
    return LoopSlice(region, node, stops, bool(op.scanned), captured)


def _is_constant(value: Value | None) -> bool:
    return value is not None and isinstance(value.owner, Node) and isinstance(value.owner.op, Constant)


def _count_from_first(body: Region) -> None:
    """Let a body capture the number of the first iteration, and count from there."""
    number, first = body.arguments[0], body.add_argument("first", TensorType(INT64, ()))
    if number not in body.used_values():
        return
    node = Node(Add(), [number, first])
    node.outputs = [Value(number.name, number.type, node, 0)]
    body.replace_uses({number: node.outputs[0]})
    body.nodes.insert(0, node)


def _rows_type(slice: Type, count: Dim) -> TensorType:
    type = tensor(Known(slice), "what a loop scans or collects")
    return type if isinstance(type.shape, AnyShape) else type.with_shape((count, *type.shape))
