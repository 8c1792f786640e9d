"""Writing If and Loop: If-8, and Loop-5, or TensorIterator-1 where fixed lengths alone bound the loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.document import Body, PortMap
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter
from whorl.formats.openvino.writer import NetWriter
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import region_title
from whorl.ir.types import AnyShape, TensorType, tensor
from whorl.ops.base import known_ints
from whorl.ops.control import Collected, Loop, Scanned, known_bool

FOREVER = np.array([-1], np.int64)
_COUNT = TensorType(INT64, ())
LARGEST_TRIP = (1 << 31) - 1
"""OpenVINO's CPU plugin counts iterations in 32 bits."""


@exporter("If")
def write_if(node: Node, write: LayerWriter) -> Sequence[Source | None]:
    """Each branch has Parameters of its own for what it captures. A branch that is surely taken is written alone."""
    assert isinstance(write, NetWriter)
    condition = node.inputs[0]
    taken = None if condition is None else known_bool(condition)
    if taken is not None:
        region = node.regions[0 if taken else 1]
        write.inline(region, node.inputs[1:])
        return write.given(region.results, node.outputs)
    _require_equal_ranks(node)
    inputs = [_one(write.source(condition), write)]
    layer = write.body_layer("If", 8)
    for index, key in enumerate(("then_body", "else_body")):
        region = node.regions[index]
        child = write.child(region_title(node, index), region.arguments, node.inputs[1:])
        child.nodes(region)
        body = BodyWriter(child, write, inputs)
        results = body.results(region.results)
        body.ports += [PortMap(False, index, result) for index, result in enumerate(results)]
        layer.bodies[key] = body.finish()
    return write.finish_body_layer(layer, inputs, [tensor(value) for value in node.outputs])


def _require_equal_ranks(node: Node) -> None:
    pairs = zip(*(region.results for region in node.regions), strict=True)
    for index, (then, other) in enumerate(pairs):
        ranks = [value.type.rank if isinstance(value.type, TensorType) else None for value in (then, other)]
        if ranks[0] != ranks[1] or ranks[0] is None:
            raise SaveError(
                f"output {index} is {then.type} in then_branch and {other.type} in else_branch",
                fix="give both branches one rank; OpenVINO runs nothing whose rank is open",
            )


@exporter("Loop")
def write_loop(node: Node, write: LayerWriter) -> Sequence[Source | None]:
    """Slices in their canonical forms, a condition in every body, no state that is another one's Parameter."""
    assert isinstance(write, NetWriter)
    op = node.op
    assert isinstance(op, Loop)
    if _never_runs(node, op):
        return [*map(write.source, op.split(node.inputs)[2]), *_nothing_collected(node, op, write)]
    _require_ranks(node, op)
    return LoopWriter(node, op, write).write_layer()


def _never_runs(node: Node, op: Loop) -> bool:
    trip, condition, *_ = op.split(node.inputs)
    count = known_ints(trip)
    if (count is not None and count[0] <= 0) or (condition is not None and known_bool(condition) is False):
        return True
    return op.length(node) == 0


def _nothing_collected(node: Node, op: Loop, write: NetWriter) -> list[Source]:
    """What a loop that does not run collects: no elements, of the shape that is known of them."""
    if op.last:
        raise SaveError("never runs, so that there is no last iteration to take values from")
    sources = []
    for value in node.outputs[op.carried :]:
        type = tensor(value)
        if isinstance(type.shape, AnyShape):
            raise SaveError(f"never runs, and the rank of {value!r} is not known")
        shape = tuple(dim if isinstance(dim, int) else 0 for dim in type.shape)
        sources.append(write.constant(np.zeros(shape, type.dtype), value.name))
    return sources


def _require_ranks(node: Node, op: Loop) -> None:
    _, _, states, slices, _ = op.split(node.regions[0].arguments)
    for value in (*states, *slices):
        if not isinstance(value.type, TensorType) or value.type.rank is None:
            fix = "OpenVINO runs nothing whose rank is open" if isinstance(value.type, TensorType) else ""
            raise SaveError(f"carries {value!r}, which no OpenVINO loop does", fix=fix)


def _one(source: Source, write: NetWriter) -> Source:
    """A tensor of one element with at most one axis, as counts and conditions must be."""
    shape = source.type.shape
    if not isinstance(shape, AnyShape) and len(shape) < 2 and all(dim == 1 for dim in shape):
        return source
    return reshaped(source, (), write)


def reshaped(source: Source, shape: tuple[int, ...], write: LayerWriter) -> Source:
    """The elements in a shape of which all dims are given."""
    target = write.constant(np.array(shape, np.int64), "shape")
    type = source.type.with_shape(shape)
    return write.layer("Reshape", 1, [source, target], [type], special_zero=False)[0]


class BodyWriter:
    """A body that is written: its Results, and the ports that connect it."""

    def __init__(self, child: NetWriter, write: NetWriter, inputs: list[Source]) -> None:
        self.child, self.write, self.inputs = child, write, inputs
        self.ports: list[PortMap] = []
        self.back_edges: list[tuple[int, int]] = []
        self._used: set[Source] = set()

    def results(self, values: Iterable[Value]) -> list[int]:
        """The ids of Results for values of the body."""
        return [self.result(self.child.source(value), value.name) for value in values]

    def result(self, source: Source, name: str) -> int:
        """The id of a Result. OpenVINO's CPU plugin mixes up states whose Result is a Parameter, or another's too."""
        if source in self._used or any(layer.id == source.layer for layer in self.child.parameters):
            (source,) = self.child.layer("Identity", 16, [source], [source.type], name)
        self._used.add(source)
        return self.child.result(source, name).id

    def add_input(self, source: Source, port: PortMap) -> None:
        """Connect an input of the layer to a Parameter."""
        port.external = len(self.inputs)
        self.inputs.append(source)
        self.ports.append(port)

    def finish(self) -> Body:
        """The body, with an input for every Parameter that was made for a captured value."""
        for layer, operand in self.child.entries:
            source = operand if isinstance(operand, Source) else self.write.source(operand)
            self.add_input(source, PortMap(True, -1, layer.id))
        return Body(self.child.finish(), self.ports, self.back_edges)


def either(count: Source, some: Source, none: Source, type: TensorType, write: NetWriter) -> Source:
    """One value where a count is above zero, another where it is zero."""
    zero = write.constant(np.array(0, np.int64), "zero")
    test = TensorType(BOOL, ())
    inputs = write.layer("Greater", 1, [count, zero], [test], auto_broadcast="numpy")
    layer = write.body_layer("If", 8)
    for key, source in (("then_body", some), ("else_body", none)):
        child = write.child(f"{key} of If", [], [])
        body = BodyWriter(child, write, inputs)
        parameter, inside = child.parameter(source.type, "value")
        body.add_input(source, PortMap(True, -1, parameter.id))
        body.ports.append(PortMap(False, 0, body.result(inside, "value")))
        layer.bodies[key] = body.finish()
    return write.finish_body_layer(layer, inputs, [type])[0]


class LoopWriter:
    """One Loop on its way into a Loop or TensorIterator layer."""

    def __init__(self, node: Node, op: Loop, write: NetWriter) -> None:
        self.node, self.op, self.write = node, op, write
        self.region = node.regions[0]
        self.is_iterator = not write.in_iterator and _is_iterator(node, op)
        captured = op.split(node.inputs)[4]
        self.child = write.child(region_title(node, 0), op.split(self.region.arguments)[4], captured)
        self.child.in_iterator = write.in_iterator or self.is_iterator
        self.body = BodyWriter(self.child, write, [])
        self.surely_runs = self.is_iterator or _surely_runs(node, op)

    def write_layer(self) -> list[Source]:
        """Write the layer, and give where the outputs of the node come from."""
        if not self.is_iterator:
            self.body.inputs += [self._trip_count(), self._condition()]
        self._number_and_condition()
        kept = self._carried()
        self._slices()
        self.child.nodes(self.region)
        outputs = self._results(kept)
        types = [tensor(value) for value, source in zip(self.node.outputs, outputs, strict=True) if source is None]
        if not self.surely_runs:
            self._count(len(types))
            types.append(_COUNT)
        layer = self.write.body_layer("TensorIterator" if self.is_iterator else "Loop", 1 if self.is_iterator else 5)
        layer.bodies["body"] = self.body.finish()
        sources = self.write.finish_body_layer(layer, self.body.inputs, types)
        written = iter(sources)
        outputs = [next(written) if source is None else source for source in outputs]
        return outputs if self.surely_runs else self._settled(outputs, sources[-1])

    def _count(self, index: int) -> None:
        """A state that counts the iterations."""
        layer, count = self.child.parameter(_COUNT, "count")
        self.body.add_input(self.write.constant(np.array(0, np.int64), "none"), PortMap(True, -1, layer.id))
        one = self.child.constant(np.array(1, np.int64), "one")
        (more,) = self.child.layer("Add", 1, [count, one], [_COUNT], "count", auto_broadcast="numpy")
        result = self.body.result(more, "count")
        self.body.back_edges.append((result, layer.id))
        self.body.ports.append(PortMap(False, index, result))

    def _settled(self, outputs: list[Source], count: Source) -> list[Source]:
        """What holds where no iteration was run. OpenVINO's CPU plugin then leaves what an earlier run collected, and
        forgets the initial value of a state that the body does not read."""
        op, write = self.op, self.write
        states, initial = op.split(self.region.arguments)[2], op.split(self.node.inputs)[2]
        settled = []
        for index, (source, value) in enumerate(zip(outputs, self.node.outputs, strict=True)):
            if index < op.carried and not is_used(self.region, states[index]):
                source = either(count, source, write.source(initial[index]), tensor(value), write)
            elif index >= op.carried + op.last:
                source = self._counted(source, op.collected[index - op.carried - op.last], index, count)
            settled.append(source)
        return settled

    def _counted(self, source: Source, how: Collected, index: int, count: Source) -> Source:
        """As many collected elements as there were iterations."""
        write, element = self.write, tensor(self.region.results[1 + index])
        rank = source.type.rank or 1
        parts = 1 if how.stack or isinstance(element.shape, AnyShape) else element.shape[how.axis]
        if parts != 1:
            factor = write.constant(np.array(parts, np.int64), "part")
            (count,) = write.layer("Multiply", 1, [count, factor], [_COUNT], auto_broadcast="numpy")
        zero, one, axis = (write.constant(np.array([k], np.int64)) for k in (0, 1, how.axis % rank))
        stop = reshaped(count, (1,), write)
        return write.layer("Slice", 8, [source, zero, stop, one, axis], [source.type])[0]

    def _trip_count(self) -> Source:
        """The number of iterations; -1 where only the condition ends the loop."""
        trip, _, _, scanned, _ = self.op.split(self.node.inputs)
        count = self.op.length(self.node)
        if isinstance(count, int) and count <= LARGEST_TRIP:
            return self.write.constant(np.array([count], np.int64), "trip_count")
        known = known_ints(trip)
        if known is not None and known[0] > LARGEST_TRIP:
            trip = None
        counts = [self._length(x, how) for x, how in zip(scanned, self.op.scanned, strict=True)][:1]
        if trip is not None:
            counts.append(self._at_least_zero(_one(self.write.source(trip), self.write)))
        if not counts:
            return self.write.constant(FOREVER, "trip_count")
        least, *others = counts
        for other in others:
            (least,) = self.write.layer("Minimum", 1, [least, other], [least.type], auto_broadcast="numpy")
        return least

    def _at_least_zero(self, count: Source) -> Source:
        """A count that is given: none below zero, which would mean for ever."""
        dtype = count.type.dtype
        zero = self.write.constant(np.zeros((), dtype), "zero")
        (count,) = self.write.layer("Maximum", 1, [count, zero], [count.type], auto_broadcast="numpy")
        if dtype == INT64:
            return count
        return self.write.layer("Convert", 1, [count], [count.type.with_dtype(INT64)], destination_type=INT64)[0]

    def _length(self, value: Value, how: Scanned) -> Source:
        """The number of slices of a scanned input."""
        source = self.write.source(value)
        rank, scalar = tensor(value).rank or 0, TensorType(INT64, ())
        (shape,) = self.write.layer("ShapeOf", 3, [source], [TensorType(INT64, (rank,))], output_type=INT64)
        index, axis = (self.write.constant(np.array(k, np.int64)) for k in (how.axis % rank, 0))
        (length,) = self.write.layer("Gather", 8, [shape, index, axis], [scalar], batch_dims=0)
        if how.part == 1:
            return length
        part = self.write.constant(np.array(how.part, np.int64), "part")
        return self.write.layer("Divide", 1, [length, part], [scalar], auto_broadcast="numpy", m_pythondiv=True)[0]

    def _condition(self) -> Source:
        condition = self.node.inputs[1]
        if condition is None or known_bool(condition):
            return self.write.constant(np.array([True]), "condition")
        return _one(self.write.source(condition), self.write)

    def _number_and_condition(self) -> None:
        """What the body sees of the iteration: its number, and a condition that holds."""
        number, go_on, *_ = self.region.arguments
        self.child.held[go_on] = np.full((1,) * (tensor(go_on).rank or 0), True)
        if self.is_iterator or not is_used(self.region, number):
            return
        type = tensor(number)
        plain = type if type.rank in (0, 1) else type.with_shape(())
        layer, source = self.child.parameter(plain, number.name)
        self.body.ports.append(PortMap(True, -1, layer.id, purpose="current_iteration"))
        self.child.sources[number] = source if plain is type else reshaped(source, (1,) * (type.rank or 0), self.child)

    def _carried(self) -> list[int | None]:
        """Parameters of the states. A state that no iteration changes is a captured value: for it None is answered."""
        states, initial = self.op.split(self.region.arguments)[2], self.op.split(self.node.inputs)[2]
        kept: list[int | None] = []
        for state, value, result in zip(states, initial, self.region.results[1:], strict=False):
            if result is state:
                self.child.captured[state] = value
                kept.append(None)
                continue
            layer, self.child.sources[state] = self.child.parameter(tensor(state), state.name)
            self.body.add_input(self.write.source(value), PortMap(True, -1, layer.id))
            kept.append(layer.id)
        return kept

    def _slices(self) -> None:
        slices, scanned = self.op.split(self.region.arguments)[3], self.op.split(self.node.inputs)[3]
        for argument, value, how in zip(slices, scanned, self.op.scanned, strict=True):
            whole = tensor(value)
            axis = how.axis % (whole.rank or 1)
            kept = replace(how, axis=axis, keep_axis=True).slice_type(whole)
            layer, source = self.child.parameter(kept, argument.name)
            self.body.add_input(self.write.source(value), _sliced(True, layer.id, axis, how.part, how.reverse))
            if not how.keep_axis:
                index = self.child.constant(np.array([axis], np.int64), "axis")
                (source,) = self.child.layer("Squeeze", 1, [source, index], [tensor(argument)])
            self.child.sources[argument] = source

    def _results(self, kept: list[int | None]) -> list[Source | None]:
        """Results of the body; for each output of the node, where it comes from if not from the layer."""
        child, body, op = self.child, self.body, self.op
        if not self.is_iterator:
            body.ports.append(PortMap(False, -1, self._goes_on(), purpose="execution_condition"))
        values = self.region.results[1 : 1 + len(self.node.outputs)]
        initial = op.split(self.node.inputs)[2]
        outputs: list[Source | None] = []
        for index, value in enumerate(self.region.results[1 : 1 + max(op.carried, len(values))]):
            if index < op.carried and kept[index] is None:
                outputs.append(self.write.source(initial[index]))
                continue
            source, how = child.source(value), None
            if index >= op.carried + op.last:
                source, how = self._element(value, source, op.collected[index - op.carried - op.last])
            result = body.result(source, value.name)
            if index < op.carried:
                body.back_edges.append((result, kept[index] or 0))
            if index < len(values):
                port = how or PortMap(False, 0, result)
                port.internal, port.external = result, sum(source is None for source in outputs)
                body.ports.append(port)
                outputs.append(None)
        return outputs[: len(values)]

    def _goes_on(self) -> int:
        answer = self.region.results[0]
        if self.node.inputs[1] is None or known_bool(answer):
            return self.body.result(self.child.constant(np.array([True]), "goes_on"), "goes_on")
        return self.body.result(_one(self.child.source(answer), self.child), "goes_on")

    def _element(self, value: Value, source: Source, how: Collected) -> tuple[Source, PortMap]:
        """What is concatenated of a collected value, and how."""
        type = source.type
        if isinstance(type.shape, AnyShape):
            raise SaveError(f"collects {value!r}, whose rank is not known")
        if how.stack:
            axis = how.axis % (len(type.shape) + 1)
            index = self.child.constant(np.array([axis], np.int64), "axis")
            whole = type.with_shape((*type.shape[:axis], 1, *type.shape[axis:]))
            (source,) = self.child.layer("Unsqueeze", 1, [source, index], [whole])
            return source, _sliced(False, 0, axis, 1, how.reverse)
        axis = how.axis % len(type.shape)
        part = type.shape[axis]
        if not isinstance(part, int):
            raise SaveError(f"concatenates {value!r} along axis {axis}, whose length is not known")
        return source, _sliced(False, 0, axis, part, how.reverse)


def _sliced(is_input: bool, layer: int, axis: int, part: int, reverse: bool) -> PortMap:
    """A port that takes a slice, or joins one, in the canonical form."""
    start, end, stride = (-1, 0, -part) if reverse else (0, -1, part)
    return PortMap(is_input, 0, layer, axis, start, end, stride, part)


def _surely_runs(node: Node, op: Loop) -> bool:
    """Whether at least one iteration is certain."""
    trip, condition, _, scanned, _ = op.split(node.inputs)
    counts = [how.length(tensor(x)) for x, how in zip(scanned, op.scanned, strict=True)]
    known = known_ints(trip)
    if trip is not None:
        counts.append(known[0] if known else UNKNOWN)
    return all(isinstance(count, int) and count > 0 for count in counts) and (
        condition is None or known_bool(condition) is True
    )


def _is_iterator(node: Node, op: Loop) -> bool:
    """Whether a TensorIterator says it: the lengths of its inputs, fixed and not zero, alone bound the loop."""
    trip, condition, _, scanned, _ = op.split(node.inputs)
    number = node.regions[0].arguments[0]
    lengths = {how.length(tensor(x)) for x, how in zip(scanned, op.scanned, strict=True)}
    fixed = len(lengths) == 1 and all(isinstance(length, int) and length > 0 for length in lengths)
    return trip is None and condition is None and fixed and not is_used(node.regions[0], number)


def is_used(region: Region, value: Value) -> bool:
    """Whether a region reads one of its arguments."""
    return value in region.results or any(value in node.inputs for node in region.nodes)
