"""How often the body of a Loop or TensorIterator runs: trip counts, slices and concatenations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.control.plugin_slices import plugin_count
from whorl.formats.openvino.control.port_maps import Connections
from whorl.formats.openvino.control.slices import is_canonical, length_along, not_whole
from whorl.formats.openvino.document import Layer, PortMap
from whorl.formats.openvino.reading.context import ReadContext
from whorl.ir.build import Builder
from whorl.ir.dtypes import BY_NAME, INT64, is_integer
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.core.base import known_ints
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Less, Where

INT32 = BY_NAME["int32"]
"""What OpenVINO's CPU plugin counts in where the number comes at run time."""
_FOREVER = np.iinfo(np.int64).max


def loop_count(trip: Value, build: Builder, context: ReadContext, where: str) -> Value | None:
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
    known = known_ints(trip)
    if context.compat == "openvino-cpu" and type.dtype != INT32 and known is None:
        trip, type = build.add(Cast(to=INT32), trip, name=trip.name), type.with_dtype(INT32)
    if known is not None and len(known) == 1 and known[0] < 0:
        return None
    if type.dtype != INT64:
        trip = build.add(Cast(to=INT64), trip, name=trip.name)
    if known is not None:
        return trip
    zero, forever = (build.constant(np.array(n, np.int64)) for n in (0, _FOREVER))
    return build.add(Where(), build.add(Less(), trip, zero), forever, trip, name=trip.name)


def iterator_count(
    connections: Connections, inputs: Sequence[Value], build: Builder, layer: Layer, context: ReadContext
) -> Value | None:
    """A TensorIterator's number of iterations, None where its slices bound it. Errors: LoadError OV311, OV313."""
    where = context.location(layer)
    if context.compat == "openvino-cpu":
        return plugin_count(connections, inputs, build, layer, context)
    if not connections.sliced:
        counts = [_concatenated_count(entry, where) for entry in connections.concatenated]
        _require_agreement(counts, "concatenate outputs of one length", where)
        return build.constant(np.array((*counts, 1)[0], np.int64), "trip_count")
    lengths = [(entry, length_along(entry, inputs[entry.external])) for entry in connections.sliced]
    numbers = [length // entry.part_size for entry, length in lengths if length is not None]
    _require_agreement(numbers, "slice inputs of one length", where)
    return None


def _require_agreement(counts: Sequence[int], fix: str, where: str) -> None:
    if len(set(counts)) > 1:
        text = f"There are at least two different iterations numbers: {min(counts)} and {max(counts)}"
        raise problem("OV313", text, where, fix)


def _concatenated_count(entry: PortMap, where: str) -> int:
    """The number of iterations by a concatenated output where there are no slices; 1 by default."""
    if is_canonical(entry) and entry.part_size == 1:
        return 1
    low, high = (entry.end, entry.start) if entry.stride < 0 else (entry.start, entry.end)
    if low != 0 or high <= 0 or high % entry.part_size:
        raise not_whole(entry, where, "count from 0 in whole parts")
    return high // entry.part_size
