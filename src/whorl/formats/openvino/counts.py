"""How often the body of a Loop or TensorIterator runs: trip counts, and what slices and concatenations say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.document import Layer, PortMap
from whorl.formats.openvino.frame import Frame
from whorl.formats.openvino.port_maps import Connections, is_canonical
from whorl.ir.build import Builder
from whorl.ir.dtypes import BY_NAME, INT64, is_integer
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.base import known_ints
from whorl.ops.casting import Cast
from whorl.ops.comparison import Less, Where
from whorl.ops.elementwise import Abs, Add, Div, Sub
from whorl.ops.shapes import Shape

INT32 = BY_NAME["int32"]
"""What OpenVINO's CPU plugin counts in."""
_FOREVER = np.iinfo(np.int64).max


def loop_count(trip: Value, build: Builder, frame: Frame, where: str) -> Value | None:
    """A Loop's trip count; None, or the largest number at run time, where it is negative."""
    type = tensor(trip, "the trip count")
    if not is_integer(type.dtype):
        text = f"Unsupported element type for trip_count input. Expected int32 or int64. It is {type}"
        raise problem("OV318", text, where, "insert a Convert")
    if not isinstance(type.shape, AnyShape):
        if len(type.shape) > 1:
            text = f"Rank of TripCount input must be equal to 0 or 1, it is {len(type.shape)}"
            raise problem("OV318", text, where, "Reshape it")
        if any(isinstance(dim, int) and dim != 1 for dim in type.shape):
            text = f"The number of values in the TripCount is not 1: it is {type}"
            raise problem("OV318", text, where, "give one element")
    if frame.profile == "ov-cpu" and type.dtype != INT32:
        trip, type = build.add(Cast(to=INT32), trip, name=trip.name), type.with_dtype(INT32)
    known = known_ints(trip)
    if known is not None and len(known) == 1 and known[0] < 0:
        return None
    if type.dtype != INT64:
        trip = build.add(Cast(to=INT64), trip, name=trip.name)
    if known is not None:
        return trip
    zero, forever = (build.constant(np.array(n, np.int64)) for n in (0, _FOREVER))
    return build.add(Where(), build.add(Less(), trip, zero), forever, trip, name=trip.name)


def iterator_count(
    found: Connections, inputs: Sequence[Value], build: Builder, layer: Layer, frame: Frame
) -> Value | None:
    """A TensorIterator's number of iterations, None where its slices bound it."""
    where = frame.place(layer)
    if not found.sliced:
        return build.constant(np.array(_concatenations(found.concatenated, where), np.int64), "trip_count")
    counts = {entry.external: _known_count(entry, inputs[entry.external]) for entry in found.sliced}
    numbers = {count for count in counts.values() if count is not None}
    if len(numbers) > 1:
        low, high, *_ = sorted(numbers)
        text = f"There are at least two different iterations numbers: {low} and {high}"
        raise problem("OV313", text, where, "slice inputs of one length")
    if all(is_canonical(entry) for entry in found.sliced):
        return None
    first = next(entry for entry in found.sliced if not is_canonical(entry))
    _require_agreement(found, first, inputs, where)
    return _count(first, inputs[first.external], build)


def _concatenations(entries: Sequence[PortMap], where: str) -> int:
    """The number of iterations without slices: what concatenated outputs say, or one."""
    counts = []
    for entry in entries:
        length, low = abs(entry.end - entry.start), entry.end if entry.stride < 0 else entry.start
        if low != 0 or length % entry.part_size:
            text = f'Invalid "start","stride","end" values in an iteration component: "start" = {entry.start}, '
            text += f'"stride" = {entry.stride}, "end" = {entry.end} of output {entry.external}'
            raise problem("OV311", text, where, "count from 0 in whole parts")
        counts.append(length // entry.part_size)
    if len(set(counts)) > 1:
        text = f"There are at least two different iterations numbers: {min(counts)} and {max(counts)}"
        raise problem("OV313", text, where, "concatenate outputs of one length")
    return counts[0] if counts else 1


def _known_count(entry: PortMap, value: Value) -> int | None:
    """The number of iterations that an input gives at run time, where its length is known."""
    length = _length(entry, value)
    if length is None:
        return None
    start, end = (n if n >= 0 else length + 1 + n for n in (entry.start, entry.end))
    return abs(end - start) // entry.part_size


def _length(entry: PortMap, value: Value) -> int | None:
    shape = tensor(value).shape
    length = None if isinstance(shape, AnyShape) else shape[entry.axis or 0]
    return length if isinstance(length, int) else None


def _require_agreement(found: Connections, entry: PortMap, inputs: Sequence[Value], where: str) -> None:
    """OpenVINO counts an end that is not negative in two ways; outputs of fixed length tell them apart."""
    value = inputs[entry.external]
    length, count = _length(entry, value), _known_count(entry, value)
    if length is None or not found.concatenated:
        return
    start, end = (n if n >= 0 else length + n for n in (entry.start, entry.end))
    by_shape = (abs(end - start) + 1) // entry.part_size
    if by_shape != count:
        text = f"There are at least two different iterations numbers: {count} and {by_shape}"
        raise problem("OV313", text, where, "write a negative end")


def _count(entry: PortMap, value: Value, build: Builder) -> Value:
    """The number of iterations of an input as its length at run time gives it."""
    axis = entry.axis or 0
    length = build.add(Shape(axis, axis + 1), value)
    start, end = (
        build.int64(n) if n >= 0 else build.add(Add(), length, build.int64(n + 1)) for n in (entry.start, entry.end)
    )
    rows = build.add(Abs(), build.add(Sub(), end, start))
    return build.add(Div(), rows, build.int64(entry.part_size), name="trip_count")
