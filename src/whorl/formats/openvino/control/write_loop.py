"""A Loop as Loop-5, or as TensorIterator-1 where fixed lengths alone bound it.

The layers go round what the CPU plugin gets wrong: states that share memory, slices that nothing needs, what is left of
an earlier run where there is no iteration, joined rows in reverse or of several lengths. Each is a layer more, and a
differential test.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.errors import SaveError
from whorl.formats.openvino.control.write_bodies import BodyWriter, either, one_element, sliced_port
from whorl.formats.openvino.control.write_collected import Concatenation, concatenated_type, element_port, put_right
from whorl.formats.openvino.document import PortMap
from whorl.formats.openvino.writing.layers import axis_length, concatenate, reshape, scalar
from whorl.formats.openvino.writing.net import NetWriter, live_nodes
from whorl.formats.openvino.writing.sequences import rows_of, same_shape
from whorl.formats.openvino.writing.sources import Items, Rows, Source
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import INT64, name_of
from whorl.ir.graph import Node, Region, Value, walk
from whorl.ir.infer import region_title
from whorl.ir.types import AnyShape, SequenceType, TensorType, join, tensor
from whorl.ops.control.flow import Collected, Loop, Scanned, known_bool
from whorl.ops.core.base import known_ints
from whorl.ops.sequence.sequences import SequenceInsert

FOREVER = np.array([-1], np.int64)
LARGEST_TRIP = (1 << 31) - 1
"""OpenVINO's CPU plugin counts iterations in 32 bits."""
_COUNT = TensorType(INT64, ())
_IN_BYTES = ("int8", "uint8")
_IN_WORDS = ("int32", "int64", "uint32", "uint64", "bfloat16", "float16", "float32", "float64")
"""Types in which ONNX reduces by maximum, and by product."""
_ROWS = Collected()


class State(Struct, frozen=True):
    """How a state goes through a loop: by a Parameter, as elements `added` to a sequence, or (neither) unchanged."""

    parameter: int | None = None
    added: Value | None = None


class Output(Struct, frozen=True):
    """An output: the value from around that it is, or its type, and how it is collected."""

    source: Source | None
    type: TensorType = _COUNT
    concatenation: Concatenation | None = None


class LoopWriter:
    """One Loop on its way into a Loop or TensorIterator layer."""

    def __init__(self, node: Node, op: Loop, write: NetWriter) -> None:
        self.node, self.op, self.write = node, op, write
        self.region = node.regions[0]
        self.is_iterator = not write.in_iterator and _is_iterator(node, op)
        self.arguments, self.captured = op.split(self.region.arguments)[2], op.split(node.inputs)[4]
        self.initial = op.split(node.inputs)[2]
        self.child = write.child(region_title(node, 0), op.split(self.region.arguments)[4], self.captured)
        self.child.in_iterator = write.in_iterator or self.is_iterator
        self.body = BodyWriter(self.child, write, [])
        self.surely_runs = self.is_iterator or _surely_runs(node, op)
        self.ports = 0

    def write_layer(self) -> list[Source]:
        """Write the layer, and give where the outputs of the node come from."""
        if not self.is_iterator:
            self.body.inputs += [self._trip_count(), self._condition()]
        self._number_and_condition()
        self._slices()
        states = [self._state(index) for index in range(self.op.carried)]
        results = list(self.region.results)
        for index, state in enumerate(states, 1):
            results[index] = state.added or results[index]
        self.child.nodes(self.region, results)
        outputs = self._results(states, results)
        types = [output.type for output in outputs if output.source is None]
        if not self.surely_runs:
            self._count(self.ports)
            types.append(_COUNT)
        layer = self.write.body_layer("TensorIterator" if self.is_iterator else "Loop", 1 if self.is_iterator else 5)
        layer.bodies["body"] = self.body.finish()
        sources = self.write.finish_body_layer(layer, self.body.inputs, types)
        written = iter(sources)
        count = None if self.surely_runs else sources[-1]
        completed = [
            self._output_source(k, output, output.source or next(written), count) for k, output in enumerate(outputs)
        ]
        return [self._after(k, source, states) for k, source in enumerate(completed)]

    def _count(self, index: int) -> None:
        """A state that counts the iterations."""
        layer, count = self.child.parameter(_COUNT, "count")
        self.body.add_input(self.write.constant(np.array(0, np.int64), "none"), PortMap(True, -1, layer.id))
        one = self.child.constant(np.array(1, np.int64), "one")
        (more,) = self.child.layer("Add", 1, [count, one], [_COUNT], "count", auto_broadcast="numpy")
        result = self.body.result(more, "count")
        self.body.back_edges.append((result, layer.id))
        self.body.ports.append(PortMap(False, index, result))

    def _output_source(self, index: int, output: Output, source: Source, count: Source | None) -> Source:
        """An output, also where no iteration was run: OpenVINO's CPU plugin then leaves what an earlier run collected,
        and forgets the initial value of a state that the body does not read."""
        if output.concatenation is not None:
            return put_right(source, output.concatenation, count, self.node.outputs[index], self.write)
        is_state = output.source is None and index < self.op.carried
        if count is None or not is_state or self._needs_itself(index):
            return source
        initial = self.initial[index]
        if isinstance(initial.type, SequenceType):
            first = rows_of(self.write.sequence(initial), self.write).source
        else:
            first = self.write.source(initial)
        return either(count, source, first, output.type, self.write)

    def _needs_itself(self, index: int) -> bool:
        """Whether a state is surely computed from what it was, or the condition is."""
        dependent = reached(self.region, [self.arguments[index]])
        goes_on = self.node.inputs[1] is not None and not known_bool(self.region.results[0])
        return self.region.results[1 + index] in dependent or (goes_on and self.region.results[0] in dependent)

    def _after(self, index: int, source: Source, states: list[State]) -> Source:
        """An output of the node: for a sequence that was added to, its rows behind those it had."""
        if index >= self.op.carried or states[index].added is None:
            return source
        before = self.write.sequence(self.initial[index])
        if isinstance(before, Items) and not before.sources:
            return source
        return concatenate(self.write, [rows_of(before, self.write).source, source], 0)

    def _trip_count(self) -> Source:
        """The number of iterations; -1 where only the condition ends the loop."""
        trip, _, _, scanned, _ = self.op.split(self.node.inputs)
        count = self.op.length(self.node)
        if isinstance(count, int) and count <= LARGEST_TRIP and not self.op.slices_suffice:
            return self.write.constant(np.array(count, np.int64), "trip_count")
        known = known_ints(trip)
        if known is not None and known[0] > LARGEST_TRIP:
            trip = None
        lengths = [] if self.op.slices_suffice else [*zip(scanned, self.op.scanned, strict=True)][:1]
        counts = [self._length(x, how) for x, how in lengths]
        if trip is not None and known is not None:
            counts.append(self.write.constant(np.array(max(known[0], 0), np.int64), "trip_count"))
        elif trip is not None:
            counts.append(self._at_least_zero(one_element(self.write.source(trip), self.write)))
        if not counts:
            return self.write.constant(FOREVER, "trip_count")
        least, *others = counts
        for other in others:
            (least,) = self.write.layer("Minimum", 1, [least, other], [least.type], auto_broadcast="numpy")
        return least

    def _at_least_zero(self, count: Source) -> Source:
        """A trip count of at least zero: a negative one would mean for ever."""
        dtype = count.type.dtype
        zero = self.write.constant(np.zeros((), dtype), "zero")
        (count,) = self.write.layer("Maximum", 1, [count, zero], [count.type], auto_broadcast="numpy")
        if dtype == INT64:
            return count
        return self.write.layer("Convert", 1, [count], [count.type.with_dtype(INT64)], destination_type=INT64)[0]

    def _length(self, value: Value, how: Scanned) -> Source:
        """The number of slices of a scanned input."""
        source = self.write.source(value)
        length = axis_length(self.write, source, how.axis % (source.type.rank or 1))
        if how.part == 1:
            return length
        inputs = [length, scalar(self.write, how.part)]
        return self.write.layer("Divide", 1, inputs, [_COUNT], auto_broadcast="numpy", m_pythondiv=True)[0]

    def _condition(self) -> Source:
        condition = self.node.inputs[1]
        if condition is None or known_bool(condition):
            return self.write.constant(np.array(True), "condition")
        return one_element(self.write.source(condition), self.write)

    def _number_and_condition(self) -> None:
        """What the body sees of the iteration: its number, and a condition that holds."""
        number, go_on, *_ = self.region.arguments
        self.child.constants[go_on] = np.full((1,) * (tensor(go_on).rank or 0), True)
        if self.is_iterator or not _is_used(self.region, number):
            return
        type = tensor(number)
        plain = type if type.rank in (0, 1) else type.with_shape(())
        layer, source = self.child.parameter(plain, number.name)
        self.body.ports.append(PortMap(True, -1, layer.id, purpose="current_iteration"))
        self.child.sources[number] = source if plain is type else reshape(self.child, source, (1,) * (type.rank or 0))

    def _state(self, index: int) -> State:
        """A state: its Parameter, unless no iteration changes it, or each puts an element behind a sequence."""
        state, value, result = self.arguments[index], self.initial[index], self.region.results[1 + index]
        if result is state:
            self.child.captured[state] = value
            return State()
        if isinstance(state.type, SequenceType):
            added = self._added(state, result)
            return State(added=added) if added is not None else State(self._rows(state, value))
        if not isinstance(state.type, TensorType) or state.type.rank is None:
            raise SaveError(f"carries {state!r}, which no OpenVINO loop does", fix="carry tensors of one rank")
        layer, self.child.sources[state] = self.child.parameter(state.type, state.name)
        self.body.add_input(self.write.source(value), PortMap(True, -1, layer.id))
        return State(layer.id)

    def _added(self, state: Value, result: Value) -> Value | None:
        """The element that each iteration puts behind a sequence that it does not read."""
        node = result.owner
        if not isinstance(node, Node) or not isinstance(node.op, SequenceInsert) or node.inputs[0] is not state:
            return None
        nodes, results = live_nodes(self.region, self.region.results), self.region.results
        readers = [each for each in nodes if state in each.inputs or result in each.inputs]
        is_alone = readers == [node] and state not in results and results.count(result) == 1
        return node.inputs[1] if is_alone and node.inputs[2:] in ([], [None]) else None

    def _rows(self, state: Value, initial: Value) -> int:
        """The Parameter of a sequence that goes round as the rows of one tensor."""
        stored = self.write.sequence(initial)
        element = inserted(self.region, state) if isinstance(stored, Items) and not stored.sources else None
        first = rows_of(stored, self.write, element).source
        shape = () if isinstance(first.type.shape, AnyShape) else first.type.shape[1:]
        layer, source = self.child.parameter(first.type.with_shape((UNKNOWN, *shape)), state.name)
        self.child.sequences[state] = Rows(source)
        self.body.add_input(first, PortMap(True, -1, layer.id))
        return layer.id

    def _slices(self) -> None:
        slices, scanned = self.op.split(self.region.arguments)[3], self.op.split(self.node.inputs)[3]
        for argument, value, how in zip(slices, scanned, self.op.scanned, strict=True):
            if not self.op.slices_suffice and not _is_read(self.region, argument):
                continue
            whole = tensor(value)
            axis = how.axis % (whole.rank or 1)
            sliced = replace(how, axis=axis, keep_axis=True).slice_type(whole)
            layer, source = self.child.parameter(sliced, argument.name)
            self.body.add_input(self.write.source(value), sliced_port(True, layer.id, axis, how.part, how.reverse))
            if not how.keep_axis:
                index = self.child.constant(np.array([axis], np.int64), "axis")
                (source,) = self._without_axis(source, index, tensor(argument))
            self.child.sources[argument] = source

    def _without_axis(self, source: Source, axis: Source, type: TensorType) -> list[Source]:
        """A slice without its axis of length 1.

        Where states are carried as the product, or maximum, of its one element: of a Squeeze the CPU plugin makes a
        view, writes a state that is computed from it over the slice, and reads the next slice in the state's place.
        """
        name = name_of(type.dtype)
        if not self.op.carried or name not in (*_IN_BYTES, *_IN_WORDS):
            return self.child.layer("Squeeze", 1, [source, axis], [type])
        reduction = "ReduceMax" if name in _IN_BYTES else "ReduceProd"
        return self.child.layer(reduction, 1, [source, axis], [type], keep_dims=False)

    def _results(self, states: list[State], results: list[Value]) -> list[Output]:
        """Results of the body, and what the outputs of the node are."""
        body, op = self.body, self.op
        if not self.is_iterator:
            body.ports.append(PortMap(False, -1, self._goes_on(), purpose="execution_condition"))
        outputs = []
        for index, value in enumerate(results[1 : 1 + max(op.carried, len(self.node.outputs))]):
            state = states[index] if index < op.carried else None
            if state is not None and state == State():
                outputs.append(self._unchanged(index))
            elif state is not None and state.added is None:
                outputs.append(self._carried(state, value, index))
            elif index >= len(self.node.outputs):
                continue
            elif index < op.carried or index >= op.carried + op.last:
                how = _ROWS if index < op.carried else op.collected[index - op.carried - op.last]
                outputs.append(self._collected(value, how))
            else:
                outputs.append(
                    Output(None, self._port(body.result(self.child.source(value), value.name), tensor(value)))
                )
        return outputs[: len(self.node.outputs)]

    def _unchanged(self, index: int) -> Output:
        initial = self.initial[index]
        if isinstance(initial.type, SequenceType):
            return Output(rows_of(self.write.sequence(initial), self.write).source)
        return Output(self.write.source(initial))

    def _carried(self, state: State, value: Value, index: int) -> Output:
        if isinstance(value.type, SequenceType):
            before = self.child.sequences[self.arguments[index]]
            source = rows_of(self.child.sequence(value), self.child).source
            if not isinstance(before, Rows) or not same_shape(before.element, Rows(source).element):
                raise SaveError(f"carries {value!r}, whose elements may differ in shape", fix="use one fixed shape")
            type = before.source.type
        else:
            source, type = self.child.source(value), tensor(self.arguments[index])
        result = self.body.result(source, value.name)
        self.body.back_edges.append((result, state.parameter or 0))
        return Output(None, self._port(result, type) if index < len(self.node.outputs) else type)

    def _collected(self, value: Value, how: Collected) -> Output:
        source, port, concatenation = element_port(value, how, self.child, self.is_iterator)
        port.internal = self.body.result(source, value.name)
        port.external, self.ports = self.ports, self.ports + 1
        self.body.ports.append(port)
        return Output(None, concatenated_type(source.type, concatenation.axis), concatenation)

    def _port(self, result: int, type: TensorType) -> TensorType:
        """Make a Result an output of the layer."""
        self.body.ports.append(PortMap(False, self.ports, result))
        self.ports += 1
        return type

    def _goes_on(self) -> int:
        answer = self.region.results[0]
        if self.node.inputs[1] is None or known_bool(answer):
            return self.body.result(self.child.constant(np.array(True), "goes_on"), "goes_on")
        return self.body.result(one_element(self.child.source(answer), self.child), "goes_on")


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
    """Whether a TensorIterator expresses it: the lengths of its inputs, fixed and not zero, alone bound the loop."""
    trip, condition, _, scanned, _ = op.split(node.inputs)
    number = node.regions[0].arguments[0]
    lengths = {how.length(tensor(x)) for x, how in zip(scanned, op.scanned, strict=True)}
    fixed = len(lengths) == 1 and all(isinstance(length, int) and length > 0 for length in lengths)
    plain = trip is None and condition is None and not _is_used(node.regions[0], number)
    # Without a slice that something needs, OpenVINO's CPU plugin does not know the number of iterations.
    return plain and fixed and _all_need_slices(op, node.regions[0])


def _is_read(region: Region, argument: Value) -> bool:
    """Whether a node that a result needs reads an argument."""
    return argument in region.results or any(argument in node.inputs for node in live_nodes(region, region.results))


def reached(region: Region, arguments: Iterable[Value]) -> set[Value]:
    """What is surely computed from arguments: not counting inner bodies, nor what inference knows anyway."""
    values = set(arguments)
    for node in region.nodes:
        if not node.regions and not values.isdisjoint(node.inputs):
            values.update(value for value in node.outputs if value.known is None)
    return values


def _all_need_slices(op: Loop, body: Region) -> bool:
    """Whether every result of a body is computed from a slice, not counting what goes through inner bodies."""
    _, _, states, slices, _ = op.split(body.arguments)
    reachable, count = set(slices), 0
    while len(reachable) > count:
        count = len(reachable)
        reachable = reached(body, reachable)
        reachable.update(state for state, after in zip(states, body.results[1:], strict=False) if after in reachable)
    return reachable.issuperset(body.results[1:])


def _is_used(region: Region, value: Value) -> bool:
    """Whether a region reads one of its arguments."""
    return value in region.results or any(value in node.inputs for node in region.nodes)


def inserted(region: Region, state: Value) -> TensorType | None:
    """The one type of tensors that a body puts into sequences; None where there is none of fixed shape."""
    values = [node.inputs[1] for node in walk(region) if isinstance(node.op, SequenceInsert)]
    types = [value.type for value in values if value is not None and isinstance(value.type, TensorType)]
    element = state.type.element if isinstance(state.type, SequenceType) else None
    types = [type for type in types if isinstance(element, TensorType) and type.dtype == element.dtype]
    if not types:
        return None
    common = types[0]
    for type in types[1:]:
        union = join(common, type)
        assert isinstance(union, TensorType)
        common = union
    return common
