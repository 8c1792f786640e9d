"""One operator of an ONNX model as nodes of MDF: ports for what is computed, parameters for the rest, and a function.

modeci_mdf passes inputs by position, gives a variadic input all that a node has, and knows no operator with a list of
results; what that cannot say is said by further nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.mdf.onnx.calls import GRAPHS
from whorl.formats.mdf.onnx.constants import make_constant, quote, write_value
from whorl.formats.mdf.onnx.operators import find_schema
from whorl.formats.mdf.onnx.scopes import Scope
from whorl.formats.onnx.attributes import attribute_value
from whorl.formats.onnx.context import domain_of, node_title
from whorl.formats.onnx.ordering import free_names
from whorl.formats.onnx.schemas import OpSchema
from whorl.mdf.model import InputPort, Node, OutputPort, Parameter

_SLICE = "data", "starts", "ends", "axes", "steps"
_VARIADIC = onnx.defs.OpSchema.FormalParameterOption.Variadic


def write_nodes(proto: NodeProto, scope: Scope) -> list[Node]:
    """The nodes for one operator, in the order in which they run. Errors: UnsupportedError, LoadError."""
    schema = find_schema(f"onnx::{proto.op_type}")
    if schema is None or domain_of(proto.domain):
        raise UnsupportedError(f"MDF has no function for {proto.op_type}", node_title(proto))
    slices = _split_to_slices(proto, scope) if proto.op_type == "Split" else []
    return slices or _Writer(proto, schema, scope).nodes


def give_out(id: str, value: object, port: str) -> Node:
    """A node that gives a constant out."""
    result = Parameter(name_function("Identity"), function="onnx::Identity", args={"input": "input"})
    parameters = {"input": make_constant("input", value), result.id: result}
    return Node(id, parameters=parameters, output_ports={port: OutputPort(port, result.id)})


def pass_on(id: str, source: str, port: str, name: str, scope: Scope) -> Node:
    """A node that gives a value out under another id."""
    result = Parameter(name_function("Identity"), function="onnx::Identity", args={"input": source})
    ports = {source: make_port(source, name, scope)}
    return Node(id, ports, parameters={result.id: result}, output_ports={port: OutputPort(port, result.id)})


def name_function(op_type: str) -> str:
    """How modeci_mdf's exporters call the parameter with a function; only so is it no input of a variadic one."""
    return f"onnx_{op_type}_1"


def make_port(id: str, name: str, scope: Scope) -> InputPort:
    port, type = InputPort(id), scope.types.get(name)
    if type is not None and type.HasField("tensor_type") and type.tensor_type.elem_type:
        port.type = onnx.TensorProto.DataType.Name(type.tensor_type.elem_type).lower()
        lengths = scope.lengths(name)
        port.shape = None if lengths is None or None in lengths else tuple(d for d in lengths if d is not None)
    return port


class _Writer:
    """One node while it is written; `nodes` are those that it needs before it, and itself."""

    def __init__(self, proto: NodeProto, schema: OpSchema, scope: Scope) -> None:
        self.proto, self.schema, self.scope = proto, schema, scope
        self.node = Node(scope.ids_of.new(proto.name or proto.op_type))
        self.args: dict[str, object] = {}
        self.nodes: list[Node] = []
        self._add_attributes()
        is_list = bool(schema.inputs) and schema.inputs[0].option == _VARIADIC
        if is_list and proto.op_type not in GRAPHS:
            self._add_list(schema.inputs[0].name)
        else:
            for index, name in enumerate(proto.input):
                self._add_input(index, name)
            self._fill_in()
        for name in sorted(free_names(proto) & scope.ids.keys() - set(proto.input)):
            self._add_port(name)
        self._add_function()
        self.nodes.append(self.node)

    def _add_attributes(self) -> None:
        for attribute in self.proto.attribute:
            value = self._attribute(attribute)
            if value is not None:
                self.node.parameters[attribute.name] = value
        if self.proto.op_type == "BatchNormalization":
            # modeci_mdf looks at it whether it is there or not.
            self.node.parameters.setdefault("training_mode", Parameter("training_mode", 0))

    def _attribute(self, attribute: AttributeProto) -> Parameter | None:
        """A parameter, or None for what the operator has anyway."""
        name, scope = attribute.name, self.scope
        if attribute.type == AttributeProto.GRAPH:
            graph = scope.body(attribute.g)
            return Parameter(name, {f"graph_{graph.id}": graph})
        value = attribute_value(attribute, scope.folder)
        if isinstance(value, np.ndarray):
            return make_constant(name, value)
        known = self.schema.attributes.get(name)
        if known is not None and known.default_value.type and attribute_value(known.default_value, None) == value:
            return None
        return Parameter(name, quote(value) if isinstance(value, str) else write_value(value, has_rank=False))

    def _add_input(self, index: int, name: str) -> None:
        formal = self.schema.inputs[min(index, len(self.schema.inputs) - 1)]
        key = formal.name if index < len(self.schema.inputs) else f"{formal.name}_{index}"
        if not name:
            return
        if name in self.scope.ids:
            self.args[key] = self.scope.ids[name]
            self._add_port(name)
        else:
            self.node.parameters[key] = make_constant(key, self._constant(name), self._has_rank(index))
            self.args[key] = key

    def _constant(self, name: str) -> object:
        if name not in self.scope.constants:
            raise LoadError(f"input {name!r} is not produced by any node", node_title(self.proto))
        return self.scope.constants[name]

    def _add_port(self, name: str) -> None:
        id = self.scope.ids[name]
        self.node.input_ports[id] = make_port(id, name, self.scope)

    def _has_rank(self, index: int) -> bool:
        """Whether a number has to stay without axes: nothing computed beside it of its kind surely has one."""
        formal = self.schema.inputs
        kind = formal[min(index, len(formal) - 1)].type_str
        others = [
            name
            for name, other in zip(self.proto.input, formal, strict=False)
            if other.type_str == kind and name in self.scope.ids
        ]
        return not any(self.scope.lengths(name) for name in others)

    def _add_list(self, formal: str) -> None:
        """A variadic input as the text that lists its ids: ports in order, then parameters in order."""
        listed, listed_names = [], set[str]()
        last_port = max((at for at, name in enumerate(self.proto.input) if name in self.scope.ids), default=-1)
        for at, name in enumerate(self.proto.input):
            if name in self.scope.ids and name not in listed_names:
                id = self.scope.ids[name]
                self._add_port(name)
            elif name in self.scope.ids or at < last_port:
                id = self._pass_on(name)
            else:
                id = self.scope.ids_of.new(f"{formal}_{at}")
                self.node.parameters[id] = make_constant(id, self._constant(name))
            listed_names.add(name)
            listed.append(id)
        self.args[formal] = str(listed)

    def _pass_on(self, name: str) -> str:
        """The id of a further port for a constant, or for what another port has already."""
        ids, scope = self.scope.ids_of, self.scope
        node, port = ids.new(f"{name}_value"), ids.new(name)
        if name in scope.ids:
            self.nodes.append(pass_on(node, scope.ids[name], port, name, scope))
        else:
            self.nodes.append(give_out(node, self._constant(name), port))
        self.node.input_ports[port] = make_port(port, name, scope)
        return port

    def _fill_in(self) -> None:
        """Write out optional inputs that are left out before others: modeci_mdf would take those in their place."""
        for name, formal in zip(self.proto.input, self.schema.inputs, strict=False):
            value = None if name else _find_substitute(self.proto, formal.name, self.scope)
            if value is not None:
                self.node.parameters[formal.name] = make_constant(formal.name, value)
                self.args[formal.name] = formal.name
        order = [formal.name for formal in self.schema.inputs]
        self.args = dict(sorted(self.args.items(), key=lambda item: order.index(item[0]) if item[0] in order else 99))

    def _add_function(self) -> None:
        node, proto = self.node, self.proto
        if proto.op_type == "Split" and len(proto.input) < 2:
            node.parameters["num_outputs"] = Parameter("num_outputs", len(proto.output))
        id = name_function(proto.op_type)
        node.parameters[id] = Parameter(id, function=f"onnx::{proto.op_type}", args=self.args)
        has_several = _count_results(proto, self.schema) > 1 or proto.op_type == "BatchNormalization"
        for index, name in enumerate(proto.output):
            if name:
                port = self.scope.ids[name]
                node.output_ports[port] = OutputPort(port, f"{id}[{index}]" if has_several else id)


def _count_results(proto: NodeProto, schema: OpSchema) -> int:
    graphs = [attribute.g for attribute in proto.attribute if attribute.name in GRAPHS.get(proto.op_type, ())]
    if graphs:
        return len(graphs[0].output) - (proto.op_type == "Loop")
    return len(proto.output) if proto.op_type == "Split" else len(schema.outputs)


def _find_substitute(proto: NodeProto, formal: str, scope: Scope) -> object:
    """What stands for an optional input that is left out, where there is such a value."""
    match proto.op_type, formal:
        case "Clip", "min":
            dtype = scope.dtype(proto.input[0])
            if dtype is None:
                return None
            return np.array(-np.inf if dtype.kind == "f" else np.iinfo(dtype).min, dtype)
        case "Resize", "roi" | "scales":
            return np.zeros(0, np.float32)
        case "Slice", "axes":
            starts = scope.constants.get(proto.input[1])
            return None if starts is None else np.arange(np.size(starts))
        case "LSTM" | "GRU" | "RNN", "B":
            lengths = scope.lengths(proto.input[1])
            if lengths is None or lengths[0] is None or lengths[1] is None:
                return None
            return np.zeros((lengths[0], 2 * lengths[1]), scope.dtype(proto.input[1]) or np.float32)
        case _:
            pass
    return None


def _split_to_slices(proto: NodeProto, scope: Scope) -> list[Node]:
    """A Split as a Slice for each part; none where the lengths of the parts are not known."""
    axis, lengths = _find_integer(proto, "axis", 0), scope.lengths(proto.input[0])
    parts = _find_part_lengths(proto, None if lengths is None else lengths[axis], scope)
    if parts is None:
        return []
    ends, nodes = np.cumsum(parts).tolist(), []
    for name, start, end in zip(proto.output, [0, *ends], ends, strict=False):
        if not name:
            continue
        values = {
            f"{proto.name or 'Split'}_{what}": at for what, at in (("starts", start), ("ends", end), ("axes", axis))
        }
        inner = scope.with_constants({key: np.array([at]) for key, at in values.items()})
        slice = onnx.helper.make_node("Slice", [proto.input[0], *values], [name], name=proto.name or "Split")
        nodes += write_nodes(slice, inner)
    return nodes


def _find_part_lengths(proto: NodeProto, whole: int | None, scope: Scope) -> list[int] | None:
    """How long the parts of a Split are; None where only the run knows."""
    if len(proto.input) > 1 and proto.input[1]:
        sizes = scope.constants.get(proto.input[1])
        return None if sizes is None else np.asarray(sizes).tolist()
    if whole is None:
        return None
    count = len(proto.output)
    size = -(-whole // count)
    return [max(0, min(size, whole - at * size)) for at in range(count)]


def _find_integer(proto: NodeProto, name: str, default: int) -> int:
    return next((attribute.i for attribute in proto.attribute if attribute.name == name), default)


def find_conflicts(nodes: Iterable[NodeProto], plain: Mapping[str, str]) -> set[str]:
    """Ids that values must not have: a node that reads them would take them for another of its inputs or attributes."""
    conflicts: set[str] = set()
    for node in nodes:
        schema = find_schema(f"onnx::{node.op_type}")
        if schema is None:
            continue
        formal = [parameter.name for parameter in schema.inputs]
        known = {*formal, *schema.attributes, *(_SLICE if node.op_type == "Split" else ())}
        own = {plain[name]: at for at, name in reversed(list(enumerate(node.input))) if name in plain}
        is_list = bool(formal) and schema.inputs[0].option == _VARIADIC
        for name in free_names(node):
            id = plain.get(name, name)
            at = own.get(id, len(formal))
            if id in known and (is_list or at >= len(formal) or formal[at] != id):
                conflicts.add(id)
    return conflicts
