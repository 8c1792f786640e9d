"""Reading elements at indices."""

from __future__ import annotations

from whorl.errors import LoadError
from whorl.formats.onnx.versions.broadcasting import aligned
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import cast, emit, index, like, one
from whorl.formats.openvino.ops.movement import fixed_axis
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64, STRING
from whorl.ir.graph import Region, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.elementwise.arithmetic import Identity, Neg
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import GreaterOrEqual, Less, Where
from whorl.ops.elementwise.logic import And
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND
from whorl.ops.movement.shapes import Reshape, Shape, Squeeze, Unsqueeze
from whorl.ops.reduce.reductions import ReduceProd


@importer("Gather", 1, 7)
def gather_1(node: IrNode, build: Builder) -> list[Value]:
    """An index outside the axis, a negative one too, gives 0."""
    return _gathered(node, build, negative=False)


@importer("Gather", 8)
def gather_8(node: IrNode, build: Builder) -> list[Value]:
    """A negative index counts from the end; one outside the axis gives 0."""
    return _gathered(node, build, negative=True)


def _gathered(node: IrNode, build: Builder, negative: bool) -> list[Value]:
    x, indices, axis = node.required(0), node.required(1), fixed_axis(node, 2)
    batch = node.integer("batch_dims", 0)
    if batch < 0:
        batch += _rank(node, indices)
    if _is_inside(x, indices, axis, negative):
        if not batch:
            return emit(node, build, Gather(axis), x, indices)
        return emit(node, build, Identity(), _of_batches(node, build, x, indices, axis, batch))
    indices, length = cast(build, indices, INT64), one(build, build.add(Shape(axis, axis + 1 or None), x))
    least = build.add(Neg(), length) if negative else like(build, length, 0)
    valid = build.add(And(), build.add(GreaterOrEqual(), indices, least), build.add(Less(), indices, length))
    safe = build.add(Where(), valid, indices, like(build, length, 0))
    found = _of_batches(node, build, x, safe, axis, batch) if batch else build.add(Gather(axis), x, safe)
    mask = _over(node, build, valid, found, axis, batch)
    if tensor(found).dtype == BOOL:
        return emit(node, build, And(), mask, found)
    return emit(node, build, Where(), mask, found, like(build, found, 0))


def _rank(node: IrNode, value: Value) -> int:
    rank = tensor(value).rank
    if rank is None:
        raise LoadError(f"the rank of {value.name!r} is not known", node.title, "declare its shape")
    return rank


def _is_inside(x: Value, indices: Value, axis: int, negative: bool) -> bool:
    """Whether indices are surely inside the axis, or are the number of a loop's iteration, which only counts up."""
    if tensor(x).dtype == STRING or _is_counter(indices):
        return True
    known, shape = indices.known, tensor(x).shape
    if known is None or not all(isinstance(place, int) for place in known.flat):
        return False
    if isinstance(shape, AnyShape) or not -len(shape) <= axis < len(shape):
        length = None
    else:
        length = shape[axis]
    if not isinstance(length, int):
        return negative or min(known.flat, default=0) >= 0
    return all((-length if negative else 0) <= place < length for place in known.flat)


def _is_counter(value: Value) -> bool:
    """Whether a value is the first argument of a body, in another shape or element type perhaps."""
    while not isinstance(value.owner, Region):
        if not isinstance(value.owner.op, (Cast, Identity, Reshape, Squeeze, Unsqueeze)):
            return False
        source = value.owner.inputs[0]
        assert source is not None
        value = source
    is_first = value.owner.name == "body" and value.index == 0
    return is_first and tensor(value).dtype == INT64 and tensor(value).rank in (0, 1)


def _of_batches(node: IrNode, build: Builder, x: Value, indices: Value, axis: int, batch: int) -> Value:
    """Slices at indices that belong to the batch: GatherND on the axis behind the batch axes, which is moved there."""
    rank, width = _rank(node, x), _rank(node, indices) - batch
    if not 0 <= batch <= rank or width < 0:
        raise LoadError(f"batch_dims is {batch}, its inputs have rank {rank} and {width + batch}", node.title)
    axis %= rank
    moved = [*range(batch), axis, *(k for k in range(batch, rank) if k != axis)]
    if axis != batch:
        x = build.add(Transpose(tuple(moved)), x)
    found = build.add(GatherND(batch), x, build.add(Unsqueeze(), cast(build, indices, INT64), build.int64(-1)))
    before = [*range(batch + width, axis + width)]
    order = [*range(batch), *before, *range(batch, batch + width), *range(axis + width, rank - 1 + width)]
    return found if axis == batch else build.add(Transpose(tuple(order)), found)


def _over(node: IrNode, build: Builder, valid: Value, found: Value, axis: int, batch: int) -> Value:
    """The truth values of indices, with an axis of length 1 for every axis that comes behind them in the result."""
    if not batch and tensor(found).rank is None and axis >= 0:
        return aligned(build, found, valid, axis)
    rank, width = _rank(node, found), _rank(node, valid) - batch
    of_x = rank - width + 1
    behind = of_x - 1 - axis % of_x
    before = axis % of_x - batch if batch else 0
    axes = [*range(batch, batch + before), *range(batch + before + width, batch + before + width + behind)]
    return build.add(Unsqueeze(), valid, build.int64(*axes, name="axes")) if axes else valid


@importer("GatherElements", 6)
def gather_elements_6(node: IrNode, build: Builder) -> list[Value]:
    """Indices inside the axis."""
    return emit(node, build, GatherElements(node.integer("axis")), node.required(0), index(build, node.required(1)))


@importer("GatherND", 8)
def gather_nd_8(node: IrNode, build: Builder) -> list[Value]:
    """Indices inside the axes."""
    indices = cast(build, node.required(1), INT64)
    return emit(node, build, GatherND(node.integer("batch_dims", 0)), node.required(0), indices)


@importer("GatherND", 5)
def gather_nd_5(node: IrNode, build: Builder) -> list[Value]:
    """The batch axes of the result are joined into one."""
    batch, indices = node.integer("batch_dims", 0), cast(build, node.required(1), INT64)
    if batch < 2:
        return emit(node, build, GatherND(batch), node.required(0), indices)
    found = build.add(GatherND(batch), node.required(0), indices)
    joined = build.add(ReduceProd(), build.add(Shape(0, batch), found))
    return emit(node, build, Reshape(allowzero=1), found, build.add(Concat(0), joined, build.add(Shape(batch), found)))
