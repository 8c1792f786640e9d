"""What axis, start, end, stride and part_size of a port map mean, by the text of TensorIterator-1 and Loop-5.

`start` and `end` are the first and the last index, both within; a negative one counts from the end. Where OpenVINO's
own readings of that give different rows, as for an end that is not negative, the slice is refused.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from whorl.errors import LoadError
from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.control.port_maps import Connections
from whorl.formats.openvino.document import Layer, PortMap
from whorl.formats.openvino.reading.context import ReadContext
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.elementwise.arithmetic import Add, Max
from whorl.ops.elementwise.comparison import Less, Where
from whorl.ops.movement.axes import Slice
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Reshape, Shape


def apply_slices(
    connections: Connections, inputs: list[Value], build: Builder, layer: Layer, context: ReadContext
) -> None:
    """Check the slices of a body, and cut its `inputs` so that all parts of what is left follow each other.

    Errors: LoadError OV311, OV312.
    """
    where = context.location(layer)
    for entry in connections.sliced:
        whole = _with_axis(entry, inputs[entry.external], where)
        if not is_canonical(whole):
            _require_rows(whole, where)
            inputs[entry.external] = _cut(whole, inputs[entry.external], layer, build, where)
            _note_cut(whole, layer, context)
        connections.fed[entry.internal] = canonical(whole)
    connections.outputs = [_in_order(connections, entry, where) for entry in connections.outputs]


def is_canonical(entry: PortMap) -> bool:
    """Whether parts follow each other over the whole axis, from its start or from its end."""
    forward = (entry.start, entry.end, entry.stride) == (0, -1, entry.part_size)
    return forward or (entry.start, entry.end, entry.stride) == (-1, 0, -entry.part_size)


def canonical(entry: PortMap) -> PortMap:
    """The entry over the whole axis, in its direction."""
    start, end = (-1, 0) if entry.stride < 0 else (0, -1)
    return replace(entry, start=start, end=end)


def require_parts(entry: PortMap, where: str) -> None:
    """Refuse parts that overlap or leave gaps. Errors: LoadError OV311."""
    if entry.part_size < 1 or abs(entry.stride) != entry.part_size:
        raise problem(
            "OV311",
            f"{_describe(entry)} takes parts that overlap or leave gaps",
            where,
            "let part_size be the absolute value of stride",
        )


def not_whole(entry: PortMap, where: str, fix: str) -> LoadError:
    """The error for numbers that do not say which rows, OV311."""
    text = f'Invalid "start","stride","end" values in an iteration component: {_describe(entry)}'
    return problem("OV311", text, where, fix)


def length_along(entry: PortMap, value: Value) -> int | None:
    """The length of a sliced input along its axis, where it is known."""
    shape = tensor(value, "a sliced input").shape
    length = None if isinstance(shape, AnyShape) else shape[entry.axis or 0]
    return length if isinstance(length, int) else None


def require_axis(entry: PortMap, value: Value, where: str) -> None:
    """Refuse an axis that a sliced input does not have. Errors: LoadError OV312."""
    axis, shape = entry.axis or 0, tensor(value, "a sliced input").shape
    if not isinstance(shape, AnyShape) and not -len(shape) <= axis < len(shape):
        raise problem(
            "OV312",
            f'Invalid "axis" value in an iteration component: {axis}, dimensions number = {len(shape)} (out of range)',
            where,
        )


def _with_axis(entry: PortMap, value: Value, where: str) -> PortMap:
    """The entry with its axis counted from the first one, where the rank is known."""
    require_axis(entry, value, where)
    require_parts(entry, where)
    rank = tensor(value).rank
    return entry if rank is None else replace(entry, axis=(entry.axis or 0) % rank)


def _in_order(connections: Connections, entry: PortMap, where: str) -> PortMap:
    """A concatenation: the sign of its stride alone gives the order; without slices its ends give a number."""
    if entry.axis is None:
        return entry
    require_parts(entry, where)
    if connections.sliced or connections.condition is not None:
        if not is_canonical(entry) and (entry.start, entry.end) != (0, -1):
            fix = f"leave out start and end: the results of all iterations are joined; {_PLUGIN}"
            raise not_whole(entry, where, fix)
        return canonical(entry)
    return entry


_PLUGIN = (
    "compat 'openvino-cpu' takes the number of iterations from such values and the parts as if they were not there, "
    "as OpenVINO's CPU plugin does"
)


def _require_rows(entry: PortMap, where: str) -> None:
    """Refuse ends that OpenVINO reads in two ways: as the indices of rows, and as what lies between rows."""
    first, last = _ends(entry)
    if first < 0 or last >= 0:
        start, end = ("negative", "not negative") if entry.stride < 0 else ("not negative", "negative")
        fix = f"write a start that is {start} and an end that is {end}, which OpenVINO reads in one way only; {_PLUGIN}"
        raise not_whole(entry, where, fix)


def _ends(entry: PortMap) -> tuple[int, int]:
    """The index of the first and of the last row, in the order of the axis."""
    return (entry.end, entry.start) if entry.stride < 0 else (entry.start, entry.end)


def _cut(entry: PortMap, value: Value, layer: Layer, build: Builder, where: str) -> Value:
    """The rows between the ends, both within. None of them is an error, in a Loop only where one is needed."""
    (first, last), length = _ends(entry), length_along(entry, value)
    axis, name = entry.axis or 0, f"{value.name}_cut"
    if length is None and layer.type.lower() != "loop":
        return _cut_by_index(first, last, axis, value, build, name)
    if length is not None and first > length + last:
        text = f"{_describe(entry)} lies outside the axis, whose length is {length}"
        raise problem("OV311", text, where, "name rows that the value has")
    limits = [build.int64(n) for n in (first, last + 1 or _TO_THE_END, axis)]
    return build.add(Slice(), value, *limits, name=name)


_TO_THE_END = np.iinfo(np.int64).max


def _cut_by_index(first: int, last: int, axis: int, value: Value, build: Builder, name: str) -> Value:
    """The rows by their indices, since a Slice would take what is outside for nothing."""
    shape = build.add(Shape(axis, axis + 1 or None), value)
    length = build.add(Reshape(), shape, build.int64())
    stop = build.add(Add(), length, _whole(build, last + 1))
    start = build.add(Where(), build.add(Less(), _whole(build, first), stop), _whole(build, first), length)
    stop = build.add(Max(), stop, build.add(Add(), start, _whole(build, 1)))
    rows = build.add(Range(), start, stop, _whole(build, 1))
    return build.add(Gather(axis), value, rows, name=name)


def _whole(build: Builder, number: int) -> Value:
    return build.constant(np.array(number, np.int64))


def _note_cut(entry: PortMap, layer: Layer, context: ReadContext) -> None:
    text = (
        f"{_describe(entry)} leaves out rows, by the text; OpenVINO's CPU plugin counts as many and begins at the first"
    )
    context.warn("OV311", text, layer)


def _describe(entry: PortMap) -> str:
    return (
        f'"start" = {entry.start}, "stride" = {entry.stride}, "end" = {entry.end}, "part_size" = {entry.part_size} '
        f"of {'input' if entry.is_input else 'output'} {entry.external}"
    )
