"""From a net to hub nodes: layers in the order of their needs, each by the importer of its type and opset."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from whorl.errors import LoadError, TypeRuleError, WhorlError
from whorl.formats.openvino.codes import FIXES, coded, problem, unsupported
from whorl.formats.openvino.document import Layer, Net
from whorl.formats.openvino.reading.context import BODY_READERS, ReadContext
from whorl.formats.openvino.reading.importer import IMPORTERS, Importer, Inputs, IrNode, find_importer
from whorl.formats.openvino.reading.opaque import opaque_layer
from whorl.formats.openvino.reading.parameters import compare_parameter
from whorl.formats.openvino.reading.saturation import narrow, saturated_type, widen
from whorl.formats.openvino.reading.variables import flag_name
from whorl.formats.openvino.reading.wiring import Origin, Wiring
from whorl.formats.openvino.shapes import fixed_shape
from whorl.formats.openvino.weights.read import constant
from whorl.formats.openvino.weights.stored_types import stored_type
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Region, Value
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.control.flow import If

_OPSET = re.compile(r"opset(\d{1,4})")
NEWEST_OPSET = 17
_NAMED_OPSETS = {"extension": 6, "experimental": 6, "util": 1}
"""The opsets that other version texts stand for."""
_SENSELESS = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)
"""What comes of numbers that no importer expects, such as an axis of 2**60."""
_ATTRIBUTES = {
    "parameter": ("element_type", "shape"),
    "const": ("element_type", "shape", "offset", "size"),
    "result": (),
    "readvalue": ("variable_id", "variable_type", "variable_shape"),
    "assign": ("variable_id", "variable_type", "variable_shape"),
}
"""The attributes of layers without an importer."""
_SINCE = {"loop": 5, "if": 8, "readvalue": 3, "assign": 3}
"""The first opset that has them."""
_IMPLIED = ("hidden_size", "auto_broadcast", "antialias")
"""Attributes without effect where an importer does not read them, here as in OpenVINO."""
_LATER = {"mvn": 2, "roipooling": 2, "reorgyolo": 2}
"""Types of layers that opset1 lacks although files of opset1 have them: the opset they are taken from."""


def read_net(net: Net, parameters: dict[int, Value], build: Builder, context: ReadContext) -> dict[int, Value]:
    """Add what the net computes to the builder's region. `parameters`: the values by the ids of Parameters.

    Gives the values by the ids of Results. Only layers that a Result or an Assign needs are read. Variables in
    `context.variables` hold afterwards what the net assigns. Errors: LoadError with a code.
    """
    reading = Reading(net, parameters, build, context)
    reading.read(reading.wiring.sinks())
    context.variables |= reading.assigned
    return reading.results


class Reading:
    """One net while it is read: the values of outputs so far."""

    def __init__(self, net: Net, parameters: dict[int, Value], build: Builder, context: ReadContext) -> None:
        self.wiring = Wiring(net, context)
        self.parameters, self.build, self.context = parameters, build, context
        self.values: dict[Origin, Value] = {}
        self.results: dict[int, Value] = {}
        self.assigned: dict[str, Value] = {}

    def read(self, roots: list[Layer]) -> None:
        """Read layers and all that they need. Initial values of variables are read by `states`."""
        nested = bool(self.context.regions)
        self.build.inference.depth += nested
        try:
            for layer in self.wiring.order(roots, self._is_ready):
                self._read_layer(layer)
        finally:
            self.build.inference.depth -= nested

    def _is_ready(self, layer: Layer) -> bool:
        """Whether a layer needs nothing of this net: what a variable is comes from outside, unless it has a flag."""
        return layer.type.lower() == "readvalue" and self._flag(layer) is None

    def _flag(self, layer: Layer) -> Value | None:
        """What tells whether the variable of a layer has a value yet."""
        return self.context.variables.get(flag_name(_attribute(layer, "variable_id")))

    def _read_layer(self, layer: Layer) -> None:
        where = self.context.location(layer)
        self._note_unknown(layer)
        try:
            values = self._values_of(layer)
        except TypeRuleError as error:
            raise LoadError(coded("OV506", error.message), where, error.fix or FIXES["OV506"]) from None
        except LoadError as error:
            inside = error.where and error.where != layer.title
            message = coded("OV501", error.message)
            fix = error.fix or FIXES.get(message[:5], "")
            raise type(error)(message, error.where if inside else where, fix) from None
        except WhorlError as error:
            raise error.at(where) from None
        except _SENSELESS as error:
            raise problem("OV501", f"has attributes or inputs that make no sense together: {error}", where) from None
        if len(layer.outputs) > len(values):
            raise problem("OV211", f"has {len(layer.outputs)} outputs, its type gives {len(values)}", where)
        for position, value in enumerate(values):
            self.values[layer.id, position] = value
        self._compare(layer, values)

    def _require_opset(self, layer: Layer) -> None:
        """Refuse a layer that only OpenVINO's own opsets have where it is of another set."""
        type, opset = layer.type.lower(), opset_of(layer)
        if type not in _ATTRIBUTES and type not in BODY_READERS:
            return
        if opset is None:
            raise problem(
                "OV503", f"is of {layer.version[:40]!r}, which does not have it", fix="write version='opset1'"
            )
        if opset < _SINCE.get(type, 1):
            self._note_opset(layer, opset, _SINCE[type])

    def _note_opset(self, layer: Layer, opset: int, first: int) -> None:
        self.context.warn("OV503", f"is of opset{opset}, which does not have it; read as of opset{first}", layer)

    def _values_of(self, layer: Layer) -> list[Value]:
        self._require_opset(layer)
        match layer.type.lower():
            case "parameter":
                return [self._parameter(layer)]
            case "const":
                return [self._constant(layer)]
            case "result":
                (self.results[layer.id],) = self._inputs(layer, 1)
                return [self.results[layer.id]]
            case "readvalue":
                return [self._variable(layer)]
            case "assign":
                (value,) = self._inputs(layer, 1)
                name = _attribute(layer, "variable_id")
                self.assigned[name] = value
                if self._flag(layer) is not None:
                    self.assigned[flag_name(name)] = self.build.constant(np.array(True), flag_name(name))
                return [value]
            case _:
                pass
        inputs = self._inputs(layer)
        if layer.type.lower() in BODY_READERS:
            return BODY_READERS[layer.type.lower()](layer, inputs, self.build, self.context)
        return self._imported(layer, inputs)

    def _imported(self, layer: Layer, inputs: list[Value]) -> list[Value]:
        outputs = self._importer(layer)
        if outputs is None:
            if layer.bodies:
                raise unsupported("OV505", "has bodies, and its type is not known")
            self.context.warn("OV504", "its type is not known; it cannot run, but is written back as it is", layer)
            return opaque_layer(layer, inputs, self.build)
        version, read = outputs
        names = output_names(layer)
        declared = [port.type for port in layer.outputs]
        short = self._short_type(layer, inputs)
        node_inputs = Inputs(inputs if short is None else widen(layer.type.lower(), inputs, short, self.build))
        node = IrNode(layer.type, version, layer.name, node_inputs, names, declared, layer.data)
        values = read(node, self.build)
        if node_inputs.seen < len(node_inputs):
            raise problem(
                "OV211", f"has {len(node_inputs)} inputs, its type takes {node_inputs.seen}", fix="remove the others"
            )
        self._note_unknown(layer, node.used)
        outputs = values if isinstance(values, list) else [values]
        return outputs if short is None else [narrow(outputs[0], short, names[0], self.build)]

    def _short_type(self, layer: Layer, inputs: list[Value]) -> np.dtype | None:
        """The type of 8 bits in which OpenVINO's CPU plugin saturates the output of a layer, if that is imitated."""
        if self.context.compat != "openvino-cpu":
            return None
        return saturated_type(layer.type.lower(), inputs, layer.data.get("destination_type", ""))

    def _importer(self, layer: Layer) -> tuple[int, Importer] | None:
        """What reads a layer; None for a type, or a set of operations, that is not known."""
        opset = opset_of(layer)
        if opset is None:
            return None
        entry = find_importer(layer.type, opset)
        versions = IMPORTERS.get(layer.type.lower(), [])
        if entry is None and versions:
            entry = versions[0]
            self._note_opset(layer, opset, entry[0])
        return entry

    def _inputs(self, layer: Layer, count: int | None = None) -> list[Value]:
        if count is not None and len(layer.inputs) != count:
            raise problem("OV211", f"has {len(layer.inputs)} inputs, its type takes {count}")
        origins = self.wiring.inputs_of(layer)
        return [self.values[origin] for origin in origins]

    def _parameter(self, layer: Layer) -> Value:
        if layer.id not in self.parameters:
            raise problem("OV303", "is fed by nothing", fix="map an input of the layer around the body to it")
        if self.context.regions:
            compare_parameter(layer, self.parameters[layer.id], self.context)
        return self.parameters[layer.id]

    def _constant(self, layer: Layer) -> Value:
        where = self.context.location(layer)
        stored = stored_type(_attribute(layer, "element_type"), where)
        shape = fixed_shape(_attribute(layer, "shape"), where)
        offset, size = (_size(layer, name) for name in ("offset", "size"))
        value = constant(self.context.weights, offset, size, stored, shape)
        if size > getattr(value, "nbytes_stored", size):
            self.context.warn("OV403", f"has {size} bytes, {value.nbytes_stored} are used", layer)
        return self.build.constant(value, (*output_names(layer), layer.name)[0])

    def _variable(self, layer: Layer) -> Value:
        name = _attribute(layer, "variable_id")
        if name not in self.context.variables:
            raise problem("OV604", f"the variable {name!r} has no value here")
        value, flag = self.context.variables[name], self._flag(layer)
        if flag is None:
            return value
        (first,) = self._inputs(layer, 1)
        return _chosen(flag, value, first, layer.name, self.build)

    def _note_unknown(self, layer: Layer, used: Collection[str] | None = None) -> None:
        """Note attributes that mean nothing: for layers that an importer reads, those that it did not ask for."""
        known = used if used is not None else _ATTRIBUTES.get(layer.type.lower())
        unknown = set() if known is None else layer.data.keys() - {*known, *_IMPLIED}
        for body in layer.bodies.values():
            unknown |= {name for entry in body.ports for name in entry.unknown}
        if unknown:
            self.context.warn("OV502", f"the attribute {sorted(unknown)[0]!r} is not known, and not used", layer)

    def _compare(self, layer: Layer, values: list[Value]) -> None:
        """Note where the file declares something else than what is computed."""
        for position, (port, value) in enumerate(zip(layer.outputs, values, strict=False)):
            if port.type is None or not isinstance(value.type, TensorType) or layer.type.lower() == "parameter":
                continue
            if port.type.dtype != value.type.dtype:
                self.context.warn("OV209", f"output {position} is declared {port.type}, computed {value.type}", layer)
            elif _contradict(port.type, value.type):
                self.context.warn("OV208", f"output {position} is declared {port.type}, computed {value.type}", layer)


def _chosen(condition: Value, a: Value, b: Value, name: str, build: Builder) -> Value:
    """The first value where the condition holds, else the second; their shapes may differ."""
    regions = [Region("then_branch"), Region("else_branch")]
    for index, region in enumerate(regions):
        arguments = [region.add_argument(value.name, value.type, value.known) for value in (a, b)]
        region.results = [arguments[index]]
    return build.add_many(If(), [condition, a, b], [name], regions, name)[0]


def _contradict(declared: TensorType, computed: TensorType) -> bool:
    """Whether no tensor has both shapes."""
    if isinstance(declared.shape, AnyShape) or isinstance(computed.shape, AnyShape):
        return False
    if len(declared.shape) != len(computed.shape):
        return True
    return any(dims.differ(a, b) for a, b in zip(declared.shape, computed.shape, strict=True))


def output_names(layer: Layer) -> list[str]:
    """A name for each output: a tensor name, else the layer's."""
    several = len(layer.outputs) > 1
    return [
        port.names[0] if port.names else f"{layer.name}.{position}" if several else layer.name
        for position, port in enumerate(layer.outputs)
    ]


def opset_of(layer: Layer) -> int | None:
    """The opset that a layer belongs to; None for a foreign set of operations. Errors: LoadError OV503."""
    text = layer.version.strip().lower()
    match = _OPSET.fullmatch(text)
    if match is None and text not in _NAMED_OPSETS:
        if not text:
            raise problem("OV503", "does not say its opset", fix="write version='opset1'")
        return None
    opset = int(match[1]) if match else _NAMED_OPSETS[text]
    if not 1 <= opset <= NEWEST_OPSET:
        raise problem("OV503", f"is of opset{opset}; opset1 to opset{NEWEST_OPSET} are known")
    return max(opset, _LATER.get(layer.type.lower(), 0))


def _attribute(layer: Layer, name: str) -> str:
    try:
        return layer.data[name]
    except KeyError:
        raise problem("OV501", f"lacks the attribute {name!r}") from None


def _size(layer: Layer, name: str) -> int:
    text = _attribute(layer, name).strip()
    if not text.isdecimal() or len(text) > 18:
        raise problem("OV501", f"{name} is {text[:40]!r}, expected a number of bytes")
    return int(text)
