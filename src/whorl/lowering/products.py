"""Products in a loop body arranged for native code: fixed operands packed once, products of slices taken at once.

A product by a matrix that does not change reads its packed weights, made with the program where the
matrix is a constant, else before the loop. The products of a loop's slices are taken for all iterations before the
loop. float16 and bfloat16 stay so in packed weights and are widened in registers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.infer import names_of
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, TensorType, Type, lengths_of
from whorl.kernels.machine import FEW_ROWS, SHARED_BYTES
from whorl.kernels.product.layout import pack_matrix, packed_shape, panel_width, unpack_matrix
from whorl.kernels.product.meaning import NARROW
from whorl.ops.core.base import COMPUTED_FLOATS, accumulator, widen
from whorl.ops.elementwise.arithmetic import Identity
from whorl.ops.elementwise.casting import Cast
from whorl.ops.linear.native_products import SMALL, multiply_views, pack_columns
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.movement.axes import Transpose
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Reshape, Squeeze, Unsqueeze
from whorl.ops.native.index_maps import transpose_view, widen_view

_KNOWN = COMPUTED_FLOATS
"""Element types that kernels multiply."""
LEAST = 2
"""What a length that only the run knows surely is, where a product is worth panels."""
HOISTED_BYTES = 1 << 30
"""Memory that products taken before a loop may use."""
SHARED_PRODUCTS = 1 << 27
"""Memory that they may use where slices have more rows than few: less is won there."""


class InPanels(Op, frozen=True):
    """A matrix [K, N] in panels so wide; its transpose where asked."""

    abstract: ClassVar[bool] = True

    any_length = True

    width: int
    transposed: bool = False

    def run(self, matrix: np.ndarray) -> np.ndarray:
        return pack_matrix(matrix.T if self.transposed else matrix, self.width)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        matrix = transpose_view(k, inputs[0], (1, 0)) if self.transposed else inputs[0]
        return [k.view_of(pack_columns(k, matrix, self.width))]


class PanelProduct(Op, frozen=True):
    """The product with a matrix of so many columns that is in panels; `wide` leaves it as its sums are kept."""

    abstract: ClassVar[bool] = True

    any_length = True

    columns: int
    wide: bool = False

    def run(self, a: np.ndarray, panels: np.ndarray) -> np.ndarray:
        a, matrix = widen(a) if self.wide else a, unpack_matrix(panels, self.columns)
        return MatMul().run(a, matrix.astype(a.dtype, copy=False))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        a, panels = inputs
        a = widen_view(k, a) if self.wide else a
        matrix = k.view(a.dtype, (panels.shape[1], self.columns), _no_element, 0)
        return [multiply_views(k, a, matrix, panels)]


class ProductSum(Op, frozen=True):
    """What a Gemm does with the product of its operands, in its element type."""

    abstract: ClassVar[bool] = True

    any_length = True

    op: Gemm
    dtype: np.dtype

    def run(self, result: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
        return self.op.run_sum(result, c).astype(self.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        result, c = inputs[0], inputs.optional(1)
        return self.op.lower_sum(k, result, c, outputs[0])


def _no_element(index: Any) -> Any:
    raise TypeError("a matrix in panels has no elements of its own")


def laid_out(node: Node, fixed: set[Value]) -> list[Node]:
    """A product by a fixed matrix as a product by that matrix in panels; other nodes as they are."""
    match node.op:
        case MatMul():
            a, b = node.inputs
            if b in fixed and _is_matrix(b) and _is_worth(node):
                return _by_panels(node, _stored(b, fixed), False)
            if a in fixed and _is_matrix(a) and _is_worth(node) and b is not None and len(_lengths(b)) <= 2:
                return _turned(node, a, b)
        case Gemm(transA=0, transB=turned) if node.inputs[1] in fixed and _is_worth(node):
            return _by_panels(node, _stored(node.inputs[1], fixed), bool(turned))
        case _:
            pass
    return [node]


def _stored(matrix: Value | None, fixed: set[Value]) -> Value | None:
    """What a float32 matrix is converted from, if kernels do that as they read it."""
    node = matrix.owner if matrix is not None else None
    if not isinstance(node, Node) or node.op != Cast(FLOAT32) or node.inputs[0] not in fixed:
        return matrix
    source = node.inputs[0]
    return source if _dtype(source) in NARROW else matrix


def _by_panels(node: Node, b: Value | None, turned: bool) -> list[Node]:
    assert b is not None
    inner, columns = _shape(b)[::-1] if turned else _shape(b)
    rows = dims.product(_lengths(node.outputs[0])[:-1])
    panels = _in_panels(b, (inner, columns), rows, turned)
    inputs = [node.inputs[0], panels.outputs[0]]
    if not isinstance(node.op, Gemm):
        return [panels, _taking(node, Node(PanelProduct(columns), inputs, (), node.name))]
    dtype = _dtype(node.outputs[0])
    wide = TensorType(accumulator(dtype), _lengths(node.outputs[0]))
    product = _node(PanelProduct(columns, True), inputs, wide, "product")
    total = Node(ProductSum(node.op, dtype), [*product.outputs, *node.inputs[2:]], (), node.name)
    return [panels, product, _taking(node, total)]


def _in_panels(matrix: Value, shape: tuple[int, int], rows: Dim, turned: bool) -> Node:
    """A matrix of that shape, or its transpose, laid out for products of so many rows; for any number as for few."""
    width = panel_width(rows if isinstance(rows, int) else 1, FLOAT32 if _dtype(matrix) in NARROW else _dtype(matrix))
    return _node(InPanels(width, turned), [matrix], _type(matrix, packed_shape(*shape, width)), "panels")


def _turned(node: Node, a: Value, b: Value) -> list[Node]:
    """a @ b with a fixed, as (b' @ a')'."""
    rows, inner = _shape(a)
    columns = dims.product(_lengths(b)[1:])
    panels = _in_panels(a, (inner, rows), columns, True)
    op = PanelProduct(rows)
    if len(_lengths(b)) == 1:
        return [panels, _taking(node, Node(op, [b, panels.outputs[0]], (), node.name))]
    left = _node(Transpose(), [b], _type(b, (columns, inner)), "turned")
    product = _node(op, [left.outputs[0], panels.outputs[0]], _type(b, (columns, rows)), "product")
    return [panels, left, product, _taking(node, Node(Transpose(), product.outputs, (), node.name))]


def _node(op: Op, inputs: Sequence[Value | None], type: Type, name: str) -> Node:
    node = Node(op, inputs)
    node.outputs = [Value(name, type, node, 0)]
    return node


def _taking(old: Node, new: Node) -> Node:
    """The new node, which gives the values of the old one."""
    new.outputs = old.outputs
    for value in new.outputs:
        value.owner = new
    return new


def _shape(value: Value) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType) and not isinstance(value.type.shape, AnyShape)
    return tuple(int(d) for d in value.type.shape)  # type: ignore[arg-type]


def _dtype(value: Value | None) -> np.dtype:
    assert value is not None and isinstance(value.type, TensorType)
    return value.type.dtype


def _lengths(value: Value) -> tuple[Dim, ...]:
    assert isinstance(value.type, TensorType)
    return lengths_of(value.type)


def _type(like: Value, shape: Sequence[Dim]) -> TensorType:
    return TensorType(_dtype(like), tuple(shape))


def _is_static(value: Value | None) -> bool:
    type = None if value is None else value.type
    return (
        isinstance(type, TensorType)
        and not isinstance(type.shape, AnyShape)
        and all(isinstance(d, int) for d in type.shape)
    )


def _is_matrix(value: Value | None) -> bool:
    return value is not None and _is_static(value) and len(_shape(value)) == 2


def _is_worth(node: Node) -> bool:
    """Whether a product is large enough, and of an element type that kernels multiply."""
    values = [v for v in (*node.inputs, *node.outputs) if v is not None]
    types = [v.type for v in values]
    if (
        any(not isinstance(t, TensorType) or isinstance(t.shape, AnyShape) for t in types)
        or _dtype(values[0]) not in _KNOWN
    ):
        return False
    lengths = [*_lengths(node.outputs[0]), *_lengths(values[0])[-1:]]
    is_sure = UNKNOWN not in lengths and bool(_lengths(values[0]))
    return is_sure and math.prod(n if isinstance(n, int) else LEAST for n in lengths) > SMALL


# ---- products of slices --------------------------------------------------------------------------------------


class Hoisted(Struct, frozen=True):
    """Products of the slices of a scanned value by one matrix in panels, taken for all iterations before the loop.

    `rows` is the number of the scanned value.
    """

    rows: int
    inner: int
    columns: int
    panels: Value
    output: Value


def hoist_products(
    body: Region,
    slices: Sequence[Value],
    captured: Sequence[Value],
    length: Dim,
    ready: set[Value],
    names: frozenset[str],
) -> list[Hoisted]:
    """Take products of slices by matrices in panels out of a body; their outputs are to be scanned instead.

    Only where a slice has few rows: its product takes as long as reading the matrix, and all of them together less.
    With more rows, where the matrix fills a cache that cores share, and is larger than the products of an iteration.
    `ready`: only by these matrices. `names`: also of slices whose lengths have these names, and whose rows may be few.
    """
    sources = {value: n for n, value in enumerate(slices)}
    fixed = set(captured)
    result: list[Hoisted] = []
    rest: list[Node] = []
    for node in body.nodes:
        if node.op.pure and not node.regions and all(v is None or v in fixed for v in node.inputs):
            fixed.update(node.outputs)
        source = next((sources[v] for v in node.inputs[:1] if v in sources), None)
        if source is not None and isinstance(node.op, Identity | Reshape | Unsqueeze | Squeeze):
            sources[node.outputs[0]] = source
        if source is None or not isinstance(node.op, PanelProduct):
            rest.append(node)
            continue
        a, panels = node.inputs
        assert a is not None and panels is not None
        is_known = _is_static(a) or (_lengths(a) == _lengths(slices[source]) and names_of((a,)) <= names)
        if not is_known or panels not in ready or not _is_worth_hoisting(node, length):
            rest.append(node)
            continue
        inner, columns = _shape(panels)[1], node.op.columns
        result.append(Hoisted(source, inner, columns, panels, node.outputs[0]))
    body.nodes = rest
    return result


def _is_worth_hoisting(node: Node, length: Dim) -> bool:
    *rows, columns = _lengths(node.outputs[0])
    count, dtype = dims.product(rows), _dtype(node.inputs[1])
    if dtype in NARROW:
        return False
    if isinstance(count, int) and count > FEW_ROWS:
        inner = _lengths(node.inputs[0])[-1]  # type: ignore[arg-type]
        matrix, products = (dims.product((*n, columns)) * dtype.itemsize for n in ((inner,), (length, count)))
        if not (isinstance(inner, int) and isinstance(matrix, int) and isinstance(products, int)):
            return False
        return 2 * count <= inner and matrix >= SHARED_BYTES and products <= SHARED_PRODUCTS
    bytes = dims.product((length, FEW_ROWS, columns)) * _dtype(node.outputs[0]).itemsize
    return not isinstance(bytes, int) or bytes <= HOISTED_BYTES


def slice_captured(body: Region, captured: Sequence[Value], length: Dim) -> list[tuple[int, Value]]:
    """Take out of a body each Gather of row i of a captured value that has a row for every iteration i, and no other.

    With the number of the captured value, the value that is now to be scanned.
    """
    numbers = {value: n for n, value in enumerate(captured)}
    result: list[tuple[int, Value]] = []
    rest: list[Node] = []
    for node in body.nodes:
        number = numbers.get(node.inputs[0]) if isinstance(node.op, Gather) and node.inputs[0] is not None else None
        if number is None or not _reads_row(node, body.arguments[0], length):
            rest.append(node)
            continue
        result.append((number, node.outputs[0]))
    body.nodes = rest
    return result


def _reads_row(node: Node, i: Value, length: Dim) -> bool:
    assert isinstance(node.op, Gather)
    data, row = node.inputs
    if data is None or row is not i or not _is_static(i) or _shape(i) != ():
        return False
    shape = _lengths(data)
    return node.op.axis in (0, -len(shape)) and shape[0] == length
