"""Reading elements at indices; OpenVINO's Gather gives zeros outside of the axis."""

from __future__ import annotations

from msgspec import Struct

from whorl.errors import LoadError, SaveError
from whorl.formats.onnx.versions.broadcasting import aligned
from whorl.formats.openvino.ops.movement.axes import fixed_axis
from whorl.formats.openvino.ops.nodes import cast, constant_of, emit, index, integers_of, like, one
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import combine, scalar, select, types_of
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dims import names_in
from whorl.ir.dtypes import BOOL, INT64, STRING
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.elementwise.arithmetic import Identity, Neg
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import GreaterOrEqual, Less, Where
from whorl.ops.elementwise.logic import And
from whorl.ops.ml.features import ArrayFeatureExtractor
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND
from whorl.ops.movement.selection import Compress, NonZero
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
    if _is_inside(x, indices, axis, negative, build):
        if not batch:
            return emit(node, build, Gather(axis), x, indices)
        return emit(node, build, Identity(), _of_batches(node, build, x, indices, axis, batch))
    indices, length = cast(build, indices, INT64), one(build, build.add(Shape(axis, axis + 1 or None), x))
    least = build.add(Neg(), length) if negative else like(build, length, 0)
    valid = build.add(And(), build.add(GreaterOrEqual(), indices, least), build.add(Less(), indices, length))
    safe = build.add(Where(), valid, indices, like(build, length, 0))
    gathered = _of_batches(node, build, x, safe, axis, batch) if batch else build.add(Gather(axis), x, safe)
    mask = _over(node, build, valid, gathered, axis, batch)
    if tensor(gathered).dtype == BOOL:
        return emit(node, build, And(), mask, gathered)
    return emit(node, build, Where(), mask, gathered, like(build, gathered, 0))


def _rank(node: IrNode, value: Value) -> int:
    rank = tensor(value).rank
    if rank is None:
        raise LoadError(f"the rank of {value.name!r} is not known", node.title, "declare its shape")
    return rank


def _is_inside(x: Value, indices: Value, axis: int, negative: bool, build: Builder) -> bool:
    """Whether indices are inside the axis, or are the number of a loop's iteration, which only counts up.

    An axis is taken to be long enough for constants where its length is not known, unless iterations change it.
    """
    if tensor(x).dtype == STRING or _is_counter(indices):
        return True
    known, shape = indices.known, tensor(x).shape
    if known is None or not all(isinstance(index, int) for index in known.flat):
        return False
    if isinstance(shape, AnyShape) or not -len(shape) <= axis < len(shape):
        length = None
    else:
        length = shape[axis]
    if not isinstance(length, int):
        owners = [build.inference.owners.get(name) for name in names_in(length or 0)]
        changes = any(isinstance(owner.owner, Region) for owner in owners if owner is not None)
        return not changes and (negative or min(known.flat, default=0) >= 0)
    return all((-length if negative else 0) <= index < length for index in known.flat)


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
    gathered = build.add(GatherND(batch), x, build.add(Unsqueeze(), cast(build, indices, INT64), build.int64(-1)))
    before = [*range(batch + width, axis + width)]
    order = [*range(batch), *before, *range(batch, batch + width), *range(axis + width, rank - 1 + width)]
    return gathered if axis == batch else build.add(Transpose(tuple(order)), gathered)


def _over(node: IrNode, build: Builder, valid: Value, gathered: Value, axis: int, batch: int) -> Value:
    """The truth values of indices, with an axis of length 1 for every axis that comes behind them in the result."""
    if not batch and tensor(gathered).rank is None and axis >= 0:
        return aligned(build, gathered, valid, axis)
    rank, width = _rank(node, gathered), _rank(node, valid) - batch
    of_x = rank - width + 1
    behind = of_x - 1 - axis % of_x
    before = axis % of_x - batch if batch else 0
    axes = [*range(batch, batch + before), *range(batch + before + width, batch + before + width + behind)]
    return build.add(Unsqueeze(), valid, build.int64(*axes, name="axes")) if axes else valid


def read_gather_elements(node: IrNode, build: Builder, op: GatherElements) -> list[Value]:
    """Indices inside the axis."""
    return emit(node, build, op, node.required(0), index(build, node.required(1)))


def read_gather_nd(node: IrNode, build: Builder, op: GatherND) -> list[Value]:
    """Indices inside the axes."""
    return emit(node, build, op, node.required(0), cast(build, node.required(1), INT64))


@importer("GatherND", 5)
def gather_nd_5(node: IrNode, build: Builder) -> list[Value]:
    """The batch axes of the result are merged into one."""
    batch, indices = node.integer("batch_dims", 0), cast(build, node.required(1), INT64)
    if batch < 2:
        return emit(node, build, GatherND(batch), node.required(0), indices)
    gathered = build.add(GatherND(batch), node.required(0), indices)
    batch_size = build.add(ReduceProd(), build.add(Shape(0, batch), gathered))
    return emit(
        node, build, Reshape(allowzero=1), gathered, build.add(Concat(0), batch_size, build.add(Shape(batch), gathered))
    )


@exporter(Gather)
def write_gather(op: Gather, node: Node, write: NetWriter) -> list[Source]:
    """The axis is an input; negative indices count from the end."""
    return _layer(node, write, node.inputs, op.axis, 8)


@rewritten(ArrayFeatureExtractor)
def array_feature_extractor(_op: ArrayFeatureExtractor, build: Builder, x: Value, indices: Value) -> Value:
    """Features by number along the last axis; a vector is one row."""
    rank = tensor(x).rank
    if rank is None:
        raise SaveError("takes features of a tensor whose rank is not known", fix="declare the shape of its input")
    rows = build.add(Unsqueeze(), x, build.int64(0)) if rank == 1 else x
    return build.add(Gather(-1), rows, build.add(Reshape(), indices, build.int64(-1)))


@rewritten(Compress)
def compress(op: Compress, build: Builder, x: Value, condition: Value) -> Value:
    """Slices at the indices that are true."""
    indices = build.add(Reshape(), build.add(NonZero(), condition), build.int64(-1))
    if op.axis is None:
        return build.add(Gather(), build.add(Reshape(), x, build.int64(-1)), indices)
    return build.add(Gather(op.axis), x, indices)


@exporter(Where)
def write_where(op: Where, node: Node, write: NetWriter) -> Source | list[Source]:
    """Select, but a Gather where the choice is between slices and zeros for indices outside of the axis.

    Of truth values by logic: OpenVINO's CPU plugin fails where the condition is also one of them.
    """
    guarded = _guarded(node)
    if guarded is not None:
        return _layer(node, write, [guarded.x, guarded.indices], guarded.axis, guarded.version)
    condition, x, y = (write.source(value) for value in node.inputs)
    (result,) = types_of(node.outputs)
    if result.dtype != BOOL:
        return select(write, condition, x, y, result)
    (other,) = write.layer("LogicalNot", 1, [condition], [condition.type])
    chosen, others = (combine(write, "LogicalAnd", *pair, result) for pair in ((condition, x), (other, y)))
    return combine(write, "LogicalOr", chosen, others, result)


def _layer(node: Node, write: NetWriter, inputs: list[Value | None], axis: int, version: int) -> list[Source]:
    x, indices = (write.source(value) for value in inputs)
    return write.layer("Gather", version, [x, indices, scalar(write, axis)], types_of(node.outputs), batch_dims=0)


class _Guarded(Struct, frozen=True):
    """Slices of x, zeros for indices outside of the axis; in version 8 negative ones count from the end."""

    x: Value
    indices: Value
    axis: int
    version: int


def _guarded(node: Node) -> _Guarded | None:
    """The Gather that a choice comes from, as it was read."""
    mask, slices, zero = node.inputs
    gather = _owner(slices, Gather)
    chosen = None if gather is None else _owner(gather.inputs[1], Where)
    if gather is None or chosen is None or not _is_zero(zero) or not _is_zero(chosen.inputs[2]):
        return None
    op, x, (valid, indices, _) = gather.op, gather.inputs[0], chosen.inputs
    assert isinstance(op, Gather)
    if x is None or indices is None or not _is_over(mask, valid, x, op.axis):
        return None
    both = _owner(valid, And)
    low, high = (None, None) if both is None else (_owner(both.inputs[0], GreaterOrEqual), _owner(both.inputs[1], Less))
    if low is None or high is None or low.inputs[0] is not indices or high.inputs[0] is not indices:
        return None
    least, length = low.inputs[1], high.inputs[1]
    if not _is_length(length, x, op.axis):
        return None
    negative = _owner(least, Neg)
    if negative is not None and negative.inputs[0] is length:
        return _Guarded(x, indices, op.axis, 8)
    return _Guarded(x, indices, op.axis, 7) if _is_zero(least) else None


def _owner(value: Value | None, kind: type[Op]) -> Node | None:
    """The node of a kind that gives a value."""
    owner = None if value is None else value.owner
    return owner if isinstance(owner, Node) and isinstance(owner.op, kind) else None


def _is_zero(value: Value | None) -> bool:
    elements = constant_of(value)
    return elements is not None and elements.size == 1 and not elements.reshape(-1)[0]


def _is_over(mask: Value | None, valid: Value | None, x: Value, axis: int) -> bool:
    """Whether the mask is the truth values with an axis of length 1 for each axis of x behind the one of indices."""
    rank, count = tensor(x).rank, None if valid is None else tensor(valid).rank
    if rank is None or count is None:
        return False
    behind = rank - 1 - axis % rank
    inserted = _owner(mask, Unsqueeze)
    if inserted is None:
        return mask is valid and not behind
    return inserted.inputs[0] is valid and integers_of(inserted.inputs[1]) == list(range(count, count + behind))


def _is_length(value: Value | None, x: Value, axis: int) -> bool:
    """Whether it is the length of an axis of x."""
    reshaped = _owner(value, Reshape)
    node = _owner(value if reshaped is None else reshaped.inputs[0], Shape)
    return node is not None and node.inputs[0] is x and node.op == Shape(axis, axis + 1 or None)
