"""OpenVINO's Loop, TensorIterator and If as the hub's Loop and If.

Slices keep their axis and have `part` rows, collected elements are concatenated, a Result that no Parameter takes over
is a last value. `Loop.slices_suffice` says OpenVINO's rule for slices: the trip count and the condition end the loop,
and it fails where slices run out before. A last value of no iteration is an error; with compat "openvino-cpu" it is
carried from zeros or from nothing instead, as the plugin has it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.control.changing import changes_of, without_changing
from whorl.formats.openvino.control.plugin_slices import apply_plugin_slices
from whorl.formats.openvino.control.port_maps import Connections, connections, require_mapped
from whorl.formats.openvino.control.slices import apply_slices
from whorl.formats.openvino.control.trip_counts import iterator_count, loop_count
from whorl.formats.openvino.document import Body, Layer, PortMap
from whorl.formats.openvino.element_types import element_type
from whorl.formats.openvino.reading.context import BODY_READERS, ReadContext
from whorl.formats.openvino.reading.net import output_names, read_net
from whorl.formats.openvino.reading.variables import variable_names
from whorl.formats.openvino.shapes import shape_of
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64, STRING, is_integer, name_of
from whorl.ir.graph import Region, Value
from whorl.ir.types import AnyShape, TensorType, Type, tensor
from whorl.ops.control.flow import Collected, If, Loop, Scanned, known_bool
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Slice
from whorl.ops.movement.shapes import Reshape


def read_loop(layer: Layer, inputs: list[Value], build: Builder, context: ReadContext) -> list[Value]:
    """Loop-5: a trip count where any negative one is no bound, a condition, and slices that must suffice."""
    where = context.location(layer)
    if len(inputs) < 2:
        raise problem("OV211", f"has {len(inputs)} inputs, the trip count and the condition are two", where)
    body = LoopBody(layer, inputs, build, context)
    connections = body.links
    require_mapped(connections, 2, len(inputs), where)
    if connections.condition is None:
        raise problem(
            "OV316", "no output of the body has the purpose execution_condition", where, "map a Result with it"
        )
    condition = _condition(inputs[1], "ExecutionCondition", where)
    if known_bool(condition) is False:
        context.warn("OV315", "the condition is always false: no iteration runs", layer)
    trip = loop_count(inputs[0], build, context, where)
    values = body.read(trip, condition, slices_suffice=True)
    _require_ranks(values, layer, context)
    if context.compat == "openvino-cpu" and known_bool(condition) is False:
        return [_emptied(value, entry, build) for value, entry in zip(values, connections.outputs, strict=True)]
    return values


def _emptied(value: Value, entry: PortMap, build: Builder) -> Value:
    """What the CPU plugin gives of a loop whose condition is constant and false: nothing along the first axis."""
    type = tensor(value)
    if entry.axis is not None:
        return build.constant(np.zeros(0, type.dtype), value.name)
    if type.rank == 0:
        return value
    return build.add(Slice(), value, build.int64(0), build.int64(0), build.int64(0), name=value.name)


def read_tensor_iterator(layer: Layer, inputs: list[Value], build: Builder, context: ReadContext) -> list[Value]:
    """TensorIterator-1: its slices, or else its first concatenated output, say how often the body runs."""
    where = context.location(layer)
    body = LoopBody(layer, inputs, build, context)
    require_mapped(body.links, 0, len(inputs), where)
    if any(each.type.lower() == "tensoriterator" for each in body.body.net.layers):
        raise problem("OV320", "No nested TensorIterator", where, "make the inner one a Loop")
    if body.links.number is not None or body.links.condition is not None:
        raise problem("OV324", "a TensorIterator has no iteration number and no condition", where, "make it a Loop")
    trip = iterator_count(body.links, body.inputs, build, layer, context)
    values = body.read(trip, None, slices_suffice=trip is not None and bool(body.links.sliced))
    _require_ranks(values, layer, context)
    return values


_OPEN = ("dynamic", "undefined")
"""Element types that leave open which one it is."""


class LoopBody:
    """The body of a Loop or TensorIterator on its way into a hub Loop."""

    def __init__(self, layer: Layer, inputs: list[Value], build: Builder, context: ReadContext) -> None:
        self.layer, self.inputs, self.build, self.context = layer, list(inputs), build, context
        self.body = _body(layer, "body", context)
        self.links = links = connections(layer, self.body, inputs, context)
        if context.compat == "openvino-cpu":
            apply_plugin_slices(links, self.inputs, layer, context)
        else:
            apply_slices(links, self.inputs, build, layer, context)
        whole = [entry for entry in links.fed.values() if entry.axis is None]
        self.states = [entry for entry in whole if entry.internal in links.back]
        self.invariant = [entry for entry in whole if entry.internal not in links.back]
        self.variables = variable_names(context, self.body.net)
        self.region, self.parameters = Region("body"), dict[int, Value]()
        self.inside = context.inside(f"body of {layer.title}")
        self.changing = context.changing.setdefault(id(layer), set())
        self.after: list[Value] = []

    def read(self, trip: Value | None, condition: Value | None, slices_suffice: bool) -> list[Value]:
        """Read the body and add the Loop; returns the outputs of the layer.

        What layers become may depend on lengths. Where inference then says that iterations change those of carried
        values, what was read is dropped, and read again with lengths that are not known.
        """
        nodes, warnings = len(self.build.region.nodes), len(self.context.warnings)
        while True:
            values = self._read(trip, condition, slices_suffice)
            if not self._learns_what_changes():
                self.context.variables |= dict(zip(self.variables, self.after[len(self.states) :], strict=True))
                return values
            del self.build.region.nodes[nodes:], self.context.warnings[warnings:]
            self.region, self.parameters = Region("body"), dict[int, Value]()
            self.inside = self.context.inside(f"body of {self.layer.title}")

    def _read(self, trip: Value | None, condition: Value | None, slices_suffice: bool) -> list[Value]:
        context, region, connections = self.context, self.region, self.links
        scanned = [Scanned(entry.axis or 0, entry.stride < 0, True, entry.part_size) for entry in connections.sliced]
        operands = self._arguments(scanned)
        go_on = region.arguments[1]
        results = read_net(self.body.net, self.parameters, Builder(region, self.build.inference), self.inside)
        answer = go_on if connections.condition is None else _condition(
            results[connections.condition], "BodyExecutionCondition", context.location(self.layer)
        )  # fmt: skip
        after = [results[connections.back[entry.internal]] for entry in self.states]
        after += [self.inside.variables[name] for name in self.variables]
        self._check_states(after)
        last = list(dict.fromkeys(e.internal for e in connections.outputs if self._gives_last(e)))
        concatenated = connections.concatenated
        region.results = [answer, *after, *(results[id] for id in (*last, *(e.internal for e in concatenated)))]
        collected = tuple(Collected(e.axis or 0, e.stride < 0, False, None, e.part_size) for e in concatenated)
        initial = (
            []
            if context.compat != "openvino-cpu"
            else self._without_last(region.results[1 + len(after) :][: len(last)])
        )
        operands[len(after) : len(after)] = initial
        count = len(after) + len(initial)
        op = Loop(count, tuple(scanned), collected, len(last) - len(initial), False, slices_suffice)
        names = [value.name for value in region.results[1:]]
        values = self.build.add_many(op, [trip, condition, *operands], names, [region], self.layer.name)
        self.after = values[: len(after)]
        return self._outputs(values, last, len(after))

    def _carried(self) -> list[Value]:
        """The values of the first iteration."""
        return [self.inputs[e.external] for e in self.states] + [self.context.variables[v] for v in self.variables]

    def _learns_what_changes(self) -> bool:
        """Whether carried values change a length, or their rank, that was not known to change."""
        first, before = self._carried(), len(self.changing)
        self.changing |= changes_of(first, self.region.arguments[2 : 2 + len(first)])
        return len(self.changing) > before

    def _arguments(self, scanned: Sequence[Scanned]) -> list[Value]:
        """Give the region its arguments; returns the operands that they stand for, but for the first two."""
        region, connections = self.region, self.links
        number = region.add_argument("iteration", self._number_type())
        region.add_argument("keep_going", TensorType(BOOL, ()))
        for k, entry in enumerate(self.states):
            type = without_changing(self.inputs[entry.external].type, k, self.changing)
            self.build.inference.set_type(self._argument(entry, type), type)
        outer = [self.context.variables[name] for name in self.variables]
        for k, (name, value) in enumerate(zip(self.variables, outer, strict=True), len(self.states)):
            type = without_changing(value.type, k, self.changing)
            self.inside.variables[name] = region.add_argument(name, type)
            self.build.inference.set_type(self.inside.variables[name], type)
        for entry, how in zip(connections.sliced, scanned, strict=True):
            type = how.slice_type(tensor(self.inputs[entry.external], "a sliced input"))
            self.build.inference.set_type(self._argument(entry, type), type)
        for entry in self.invariant:
            value = self.inputs[entry.external]
            self._argument(entry, value.type).known = value.known
        if connections.number is not None:
            self._number(number, connections.number.internal)
        operands = [
            [self.inputs[e.external] for e in part] for part in (self.states, connections.sliced, self.invariant)
        ]
        return [*operands[0], *outer, *operands[1], *operands[2]]

    def _argument(self, entry: PortMap, type: Type) -> Value:
        value = self.region.add_argument(self.links.parameters[entry.internal].name, type)
        self.parameters[entry.internal] = value
        return value

    def _number_type(self) -> TensorType:
        """The type of the iteration number: int64, with the rank of the Parameter that takes it."""
        if self.links.number is None:
            return TensorType(INT64, ())
        parameter = self.links.parameters[self.links.number.internal]
        where = self.context.location(self.layer)
        shape = shape_of(parameter.data.get("shape", ""), where)
        if isinstance(shape, AnyShape):
            return TensorType(INT64, ())
        if len(shape) > 1 or any(isinstance(dim, int) and dim != 1 for dim in shape):
            text = (
                f"Rank of CurrentIteration input must be equal to 0 or 1; {parameter.title} is declared {list(shape)}"
            )
            raise problem("OV318", text, where, "declare one element")
        return TensorType(INT64, (1,) * len(shape))

    def _number(self, number: Value, id: int) -> None:
        """Let the Parameter of the iteration number take it in its element type."""
        parameter, where = self.links.parameters[id], self.context.location(self.layer)
        declared = parameter.data.get("element_type", "i64")
        dtype = INT64 if declared in _OPEN else element_type(declared, f"element_type of {parameter.title}")
        if not is_integer(dtype):
            text = "Unsupported element type for current iteration input. Expected int32 or int64."
            raise problem("OV318", f"{text} {parameter.title} is {name_of(dtype)}", where, "convert it in the body")
        if self.links.number is not None and self.links.number.external >= 0:
            self.context.warn("OV314", "the current iteration has an input, which is not used: it counts", self.layer)
        if dtype != INT64:
            number = Builder(self.region, self.build.inference).add(Cast(to=dtype), number, name=parameter.name)
        self.parameters[id] = number

    def _check_states(self, after: Sequence[Value]) -> None:
        for state, result in zip(self.region.arguments[2 : 2 + len(self.states)], after, strict=False):
            before, then = tensor(state), tensor(result)
            if before.dtype != then.dtype:
                raise problem(
                    "OV326",
                    f"{state.name!r} is {name_of(before.dtype)}, the back edge to it brings {name_of(then.dtype)}",
                    self.context.location(self.layer),
                    "insert a Convert before its Result",
                )

    def _gives_last(self, entry: PortMap) -> bool:
        """Whether an output is the value of the last iteration that no Parameter takes over."""
        return entry.axis is None and entry.internal not in {self.links.back[e.internal] for e in self.states}

    def _without_last(self, results: Sequence[Value]) -> list[Value]:
        """Let values of the last iteration be carried, with zeros at first; returns those."""
        region, position = self.region, 2 + len(self.states) + len(self.variables)
        initial = []
        for result in results:
            shape = tensor(result).shape
            sizes = (0,) if isinstance(shape, AnyShape) else [dim if isinstance(dim, int) else 0 for dim in shape]
            dtype = tensor(result).dtype
            zeros = np.full(sizes, "", object) if dtype == STRING else np.zeros(sizes, dtype)
            initial.append(self.build.constant(zeros, result.name))
            region.arguments.insert(position, Value(result.name, initial[-1].type, region, position))
            position += 1
        region.set_arguments(region.arguments)
        return initial

    def _outputs(self, values: Sequence[Value], last: Sequence[int], carried: int) -> list[Value]:
        """The outputs of the layer, by what the Loop gives."""
        connections, next_collected = self.links, carried + len(last)
        by_result = {id: carried + k for k, id in enumerate(last)}
        for k, entry in reversed(list(enumerate(self.states))):
            by_result[connections.back[entry.internal]] = k
        indices = []
        for entry in connections.outputs:
            indices.append(by_result[entry.internal] if entry.axis is None else next_collected)
            next_collected += entry.axis is not None
        for index, name in zip(indices, output_names(self.layer), strict=True):
            values[index].name = name
        return [values[index] for index in indices]


def _require_ranks(values: Sequence[Value], layer: Layer, context: ReadContext) -> None:
    """Refuse outputs whose rank only a run knows where the CPU plugin is imitated, which does not take them."""
    if context.compat != "openvino-cpu":
        return
    for k, value in enumerate(values):
        if tensor(value).rank is None:
            text = f"CPU plug-in doesn't support {layer.type} operation with dynamic rank: output {k} is {value.type}"
            raise problem(
                "OV506", text, context.location(layer), "let the output have one rank, or leave out the option"
            )


def _body(layer: Layer, key: str, context: ReadContext) -> Body:
    body = layer.bodies.get(key)
    if body is None:
        raise problem("OV301", f"Missing body part: {layer.type} has no {key}.", context.location(layer))
    return body


def _condition(value: Value, what: str, where: str) -> Value:
    """A condition that is checked: one truth value, of rank 0 or 1."""
    type = tensor(value, what)
    if type.dtype != BOOL:
        raise problem("OV319", f"the {what} is {type}, expected boolean", where, "insert a Convert or a comparison")
    _require_rank(value, what, "OV319", where)
    return value


def _require_rank(value: Value, what: str, code: str, where: str) -> None:
    shape = tensor(value, what).shape
    if isinstance(shape, AnyShape):
        return
    if len(shape) > 1:
        raise problem(code, f"Rank of {what} input must be equal to 0 or 1, it is {len(shape)}", where, "Reshape it")
    if any(isinstance(dim, int) and dim != 1 for dim in shape):
        text = f"The number of values in the {what} is not 1, it is {', '.join(map(str, shape))}"
        raise problem(code, text, where, "give one element")


# ---- If ----------------------------------------------------------------------------------------------------------


def read_if(layer: Layer, inputs: list[Value], build: Builder, context: ReadContext) -> list[Value]:
    """If-8: the branches become regions that take whatever either of them captures."""
    where = context.location(layer)
    if not inputs:
        raise problem("OV211", "has no inputs, the first one is the condition", where)
    condition = _branch_condition(inputs[0], build, layer, context)
    bodies = [_body(layer, key, context) for key in ("then_body", "else_body")]
    branches = [_branch(layer, key, body, inputs, context) for key, body in zip(_KEYS, bodies, strict=True)]
    used = sorted({entry.external for each in branches for entry in each.fed.values()})
    variables = variable_names(context, *(body.net for body in bodies))
    outer = [*(inputs[k] for k in used), *(context.variables[name] for name in variables)]
    regions = []
    for key, body, each in zip(_KEYS, bodies, branches, strict=True):
        region, inside = Region(key.replace("body", "branch")), context.inside(f"{key} of {layer.title}")
        arguments = [region.add_argument(value.name, value.type, value.known) for value in outer]
        by_external = dict(zip(used, arguments, strict=False))
        inside.variables = dict(zip(variables, arguments[len(used) :], strict=True))
        parameters = {id: by_external[entry.external] for id, entry in each.fed.items()}
        results = read_net(body.net, parameters, Builder(region, build.inference), inside)
        region.results = [results[entry.internal] for entry in each.outputs]
        region.results += [inside.variables[name] for name in variables]
        regions.append(region)
    _match_results(regions, known_bool(condition), build, where)
    names = [*output_names(layer), *variables]
    values = build.add_many(If(), [condition, *outer], names, regions, layer.name)
    context.variables |= dict(zip(variables, values[len(layer.outputs) :], strict=True))
    _require_ranks(values[: len(layer.outputs)], layer, context)
    return values[: len(layer.outputs)]


_KEYS = ("then_body", "else_body")


def _branch_condition(value: Value, build: Builder, layer: Layer, context: ReadContext) -> Value:
    """The condition of an If; OpenVINO takes an integer for one, too."""
    where = context.location(layer)
    _require_rank(value, "If condition", "OV319", where)
    if is_integer(tensor(value).dtype):
        context.warn("OV319", f"the condition is {value.type}, expected boolean; other than 0 is taken for true", layer)
        return build.add(Cast(to=BOOL), value, name=value.name)
    return _condition(value, "If condition", where)


def _branch(layer: Layer, key: str, body: Body, inputs: list[Value], context: ReadContext) -> Connections:
    mapped = {entry.external for entry in body.ports if not entry.is_input and entry.external >= 0}
    if len(mapped) < len(layer.outputs):
        raise problem(
            "OV321",
            f"Incorrect associating in {key}! It maps {len(mapped)} outputs, the layer has {len(layer.outputs)}",
            context.location(layer),
            "map a Result of each branch to each output",
        )
    links = connections(layer, body, inputs, context)
    if links.number is not None or links.condition is not None or links.sliced or links.concatenated or links.back:
        fix = "map inputs and outputs whole, without purpose and back edges"
        raise problem("OV324", f"{key} of an If has no iterations", context.location(layer), fix)
    return links


def _match_results(regions: Sequence[Region], taken: bool | None, build: Builder, where: str) -> None:
    """Branches give the same element types; where one gives a scalar and the other a tensor of one axis, both do."""
    for k, pair in enumerate(zip(*(region.results for region in regions), strict=True)):
        then, other = (tensor(value) for value in pair)
        if then.dtype != other.dtype:
            raise problem(
                "OV322",
                f"type of then_body output is not equal type of else_body output: {name_of(then.dtype)} and "
                f"{name_of(other.dtype)} of output {k}",
                where,
                "insert a Convert in a branch",
            )
        if taken is None and {then.rank, other.rank} == {0, 1}:
            _with_an_axis(regions[0 if then.rank == 0 else 1], k, build)


def _with_an_axis(region: Region, index: int, build: Builder) -> None:
    inner = Builder(region, build.inference)
    value = region.results[index]
    region.results[index] = inner.add(Reshape(), value, inner.int64(1), name=value.name)


BODY_READERS.update({"loop": read_loop, "tensoriterator": read_tensor_iterator, "if": read_if})
