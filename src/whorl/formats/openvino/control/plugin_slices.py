"""Slices and their number as OpenVINO's CPU plugin has them, under compat "openvino-cpu".

Two formulas count iterations. The core takes both ends of a slice as indices, and declares shapes by that; the plugin
takes them as what lies between rows. Where a length is known to both, the plugin runs what they agree on. It begins
at the first row, or at the last part, whatever the ends are, and a Loop heeds no ends at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.control.port_maps import Connections
from whorl.formats.openvino.control.slices import length_along, not_whole, require_axis, require_parts
from whorl.formats.openvino.document import Layer, PortMap
from whorl.formats.openvino.reading.context import ReadContext
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ops.core.base import known_ints
from whorl.ops.elementwise.arithmetic import Add, Div, Mod, Sub
from whorl.ops.elementwise.comparison import Equal, Less, LessOrEqual, Where
from whorl.ops.elementwise.logic import And
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Shape


def apply_plugin_slices(connections: Connections, inputs: Sequence[Value], layer: Layer, context: ReadContext) -> None:
    """Refuse what the plugin refuses of axes and parts, and what makes it read outside of memory or leave it undefined.

    Errors: LoadError OV311, OV312.
    """
    where = context.location(layer)
    for entry in (*connections.sliced, *connections.concatenated):
        if entry.axis is not None and entry.axis < 0:
            kind = "sliced input" if entry.is_input else "concatenated output"
            raise problem("OV312", f"the axis of a {kind} is {entry.axis}", where, "count it from the first")
    for entry in connections.sliced:
        require_axis(entry, inputs[entry.external], where)
        require_parts(entry, where)
    is_loop = layer.type.lower() == "loop"
    number = known_ints(inputs[0]) if is_loop else declared_count(connections, inputs)
    connections.outputs = [_concatenation(entry, number is not None, where) for entry in connections.outputs]


def _concatenation(entry: PortMap, is_fixed: bool, where: str) -> PortMap:
    """Concatenations whose length only a run knows take parts of the length of their stride.

    `is_fixed`: the number of iterations is known before.
    """
    if entry.axis is None:
        return entry
    if is_fixed or entry.stride == 0:
        require_parts(entry, where)
    return replace(entry, part_size=abs(entry.stride))


def plugin_count(
    connections: Connections, inputs: Sequence[Value], build: Builder, layer: Layer, context: ReadContext
) -> Value:
    """A TensorIterator's number of iterations. Errors: LoadError OV311, OV313; at run time a Gather fails."""
    where = context.location(layer)
    lengths = {entry.external: length_along(entry, inputs[entry.external]) for entry in connections.sliced}
    declared, counts = declared_count(connections, inputs), list[int]()
    for entry in connections.sliced:
        if (length := lengths[entry.external]) is not None:
            counts.append(_known_count(entry, length, where))
    if declared is not None:
        counts += [_known_count(entry, declared * entry.part_size, where) for entry in connections.concatenated]
        counts += [declared] * bool(connections.concatenated)
    if len(set(counts)) > 1:
        text = f"There are at least two different iterations numbers: {min(counts)} and {max(counts)}"
        raise problem("OV313", text, where, "slice and join as many parts, over the whole of each axis")
    open_slices = [entry for entry in connections.sliced if lengths[entry.external] is None]
    if open_slices:
        return _open_count(open_slices, counts[:1], inputs, build, layer)
    return build.int64(counts[0] if counts else 1, name="trip_count")


def declared_count(connections: Connections, inputs: Sequence[Value]) -> int | None:
    """The core's number, which declares shapes: by the last slice of known length, else by the first concatenation."""
    declared = None
    for entry in connections.sliced:
        if (length := length_along(entry, inputs[entry.external])) is not None and entry.part_size > 0:
            start, end = (n + length * (n < 0) for n in (entry.start, entry.end))
            declared = (abs(end - start) + 1) // entry.part_size
    if connections.sliced or not connections.concatenated:
        return declared
    first = connections.concatenated[0]
    return abs(first.end - first.start) // max(first.part_size, 1)


def _known_count(entry: PortMap, length: int, where: str) -> int:
    """The plugin's count over an axis of a known length."""
    start, end = (n + (length + 1) * (n < 0) for n in (entry.start, entry.end))
    low, high = (end, start) if entry.stride < 0 else (start, end)
    step = abs(entry.stride)
    if not 0 <= low < high <= length or high - low < step:
        raise not_whole(entry, where, f"name rows that an axis of length {length} has, in the direction of stride")
    if (high - low) % step:
        text = f"Each iteration must be the same size: length ({high - low}) is not divisible by step ({step})"
        raise problem("OV311", text, where, "choose ends that whole parts lie between")
    return (high - low) // step


def _open_count(
    entries: Sequence[PortMap], others: Sequence[int], inputs: Sequence[Value], build: Builder, layer: Layer
) -> Value:
    """The count of slices whose lengths a run knows, all equal to each other and to `others`; an error otherwise."""
    counts, checks = [build.int64(other) for other in others], list[Value]()
    for entry in entries:
        axis, step = entry.axis or 0, build.int64(abs(entry.stride))
        length = build.add(Shape(axis, axis + 1), inputs[entry.external])
        start, end = (
            build.int64(n) if n >= 0 else build.add(Add(), length, build.int64(n + 1)) for n in (entry.start, entry.end)
        )
        low, high = (end, start) if entry.stride < 0 else (start, end)
        rows, zero = build.add(Sub(), high, low), build.int64(0)
        checks += [build.add(LessOrEqual(), zero, low), build.add(Less(), low, high)]
        checks += [build.add(LessOrEqual(), high, length), build.add(Equal(), build.add(Mod(), rows, step), zero)]
        counts.append(build.add(Div(), rows, step))
    checks += [build.add(Equal(), counts[0], other) for other in counts[1:]]
    is_valid = checks[0]
    for check in checks[1:]:
        is_valid = build.add(And(), is_valid, check)
    index = build.add(Where(), is_valid, build.int64(0), build.int64(1))
    return build.add(Gather(0), counts[0], index, name=f"{layer.name}: iterations by start, end and stride")
