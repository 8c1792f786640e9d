"""From a region to a net: layers in order, constants where they are read, Parameters for what comes from around."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from whorl.errors import SaveError, WhorlError, format_location
from whorl.formats.openvino.document import Edge, Layer, Net, Port
from whorl.formats.openvino.element_types import attribute_name
from whorl.formats.openvino.writing.dce import remove_unused_layers
from whorl.formats.openvino.writing.onnx_functions import defined
from whorl.formats.openvino.writing.sources import Attribute, Items, Rows, Source, Sources, Stored
from whorl.ir.build import Builder
from whorl.ir.constants import Constant, LazyArray, as_array
from whorl.ir.dtypes import BY_NAME, FLOAT32, is_integer
from whorl.ir.elements.base import elements_of
from whorl.ir.elements.mapped import mapped
from whorl.ir.graph import REGISTRY, Node, Op, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import AnyShape, SequenceType, TensorType

MAX_DEPTH = 64
"""Bodies inside bodies that OpenVINO reads."""
SMALL = 1 << 16
"""Elements of a constant that may be computed with while a file is written."""
FLOAT16 = BY_NAME["float16"]
DECOMPRESSION = {"decompression.version": "0"}
"""What OpenVINO notes at a Convert of constants that are stored in fewer bits."""

Exporter = Callable[[Node, "NetWriter"], Sources]


class FileState(Struct):
    """What all nets of a file share: the Const layers with their elements, names in use, the functions that write ops.

    With `compress` float32 constants are stored as float16. `rt_info` is what a file had beside the meaning of its
    layers, by their names.
    """

    exporters: Mapping[type[Op], Exporter]
    compress: bool = False
    weights: list[tuple[Layer, np.ndarray | LazyArray]] = field(default_factory=list)
    inference: Inference = field(default_factory=Inference)
    names: dict[str, int] = field(default_factory=dict)
    rt_info: Mapping[str, dict[str, str]] = field(default_factory=dict)

    def fresh(self, hint: str) -> str:
        """A layer name not yet taken, the hint itself if possible."""
        count = self.names.get(hint)
        name = hint
        while name in self.names:
            count = (count or 0) + 1
            name = f"{hint}_{count}"
        self.names[hint] = count or 0
        self.names.setdefault(name, 0)
        return name


class NetWriter:
    """Writes one region into one Net."""

    def __init__(self, shared: FileState, outer: NetWriter | None = None, path: tuple[str, ...] = ()) -> None:
        if len(path) > MAX_DEPTH:
            raise SaveError(f"bodies are nested deeper than {MAX_DEPTH}", fix="nest fewer")
        self.shared, self.outer, self.path = shared, outer, path
        self.in_iterator = False
        self.net = Net()
        self.parameters: list[Layer] = []
        self.results: list[Layer] = []
        self.sources: dict[Value, Source] = {}
        self.constants: dict[Value, np.ndarray | LazyArray] = {}
        self.captured: dict[Value, Value] = {}
        self.entries: list[tuple[Layer, Value | Source]] = []
        self.sequences: dict[Value, Stored] = {}
        self._count = 0
        self._node: Node | None = None

    # ---- what exporters call ---------------------------------------------------------------------------------

    def source(self, value: Value | None) -> Source:
        """Where a hub value comes from. A constant is written where it is first read, so is a Parameter for a
        captured value. Errors: SaveError for None and for what is no tensor."""
        if value is None:
            raise SaveError("lacks an input that OpenVINO needs")
        source = self.sources.get(value)
        if source is None:
            source = self.sources[value] = self._first_use(value)
        return source

    def layer(
        self,
        type: str,
        version: int,
        inputs: Sequence[Source],
        outputs: Sequence[TensorType],
        name: str = "",
        **attributes: Attribute,
    ) -> list[Source]:
        """Write a layer of opset `version`; attributes that are None are left out."""
        data = {key: _text(value) for key, value in attributes.items() if value is not None}
        layer = self.new_layer(type, f"opset{version}", name or self._hint(type), data)
        self.net.layers.append(layer)
        return self.connect(layer, inputs, outputs)

    def constant(self, value: np.ndarray | LazyArray, name: str = "") -> Source:
        """A Const layer; with `compress` float32 elements are stored as float16 and converted."""
        if self.shared.compress and value.dtype == FLOAT32 and (half := _halved(value)) is not None:
            (stored,) = self._const(half, name)
            (result,) = self.layer(
                "Convert", 1, [stored], [stored.type.with_dtype(FLOAT32)], name, destination_type=FLOAT32
            )
            self.net.layers[-1].rt_info |= DECOMPRESSION
            return result
        return self._const(value, name)[0]

    def constant_value(self, value: Value | None) -> np.ndarray | None:
        """The elements of a value that is a constant, or integers and truth values that inference knows."""
        if value is None or not isinstance(value.type, TensorType):
            return None
        elements = self._constant_of(value)
        return as_array(elements) if elements is not None else _known(value)

    def is_small_constant(self, value: Value) -> bool:
        """Whether `constant_value` gives the elements, and they are few."""
        elements = self._constant_of(value)
        if elements is None:
            return isinstance(value.type, TensorType) and _known(value) is not None
        return math.prod(elements.shape) <= SMALL

    def through(self, node: Node, build: Callable[..., Value | Sequence[Value]]) -> list[Source]:
        """Write hub nodes instead of the node: `build(builder, *inputs)` adds them and returns the node's outputs."""
        region = Region()
        arguments: list[Value | None] = []
        for value in node.inputs:
            if value is None:
                arguments.append(None)
                continue
            argument = region.add_argument(value.name, value.type, value.known)
            arguments.append(argument)
            self._alias(argument, value)
        built = build(Builder(region, self.shared.inference), *arguments)
        region.results = [built] if isinstance(built, Value) else list(built)
        self.nodes(region)
        return [self.source(value) for value in region.results]

    # ---- what writers of bodies and files call -----------------------------------------------------------------

    def nodes(self, region: Region, results: Sequence[Value] | None = None) -> None:
        """Write the nodes of a region that its results, or other values, need."""
        for node in live_nodes(region, region.results if results is None else results):
            self.node(node)

    def node(self, node: Node) -> None:
        """Write one hub node. Errors: SaveError with its location."""
        if isinstance(node.op, Constant):
            self.constants[node.outputs[0]] = node.op.value
            return
        around, self._node = self._node, node
        try:
            written = self._written(node)
        except WhorlError as error:
            raise SaveError(error.message, error.where or format_location(node.title, *self.path), error.fix) from None
        finally:
            self._node = around
        self.sources |= {
            value: source for value, source in zip(node.outputs, written, strict=False) if source is not None
        }

    def inline(self, region: Region, operands: Sequence[Value | None]) -> None:
        """Write the nodes of a region here, with operands for its arguments."""
        for argument, value in zip(region.arguments, operands, strict=True):
            if value is not None:
                self._alias(argument, value)
        self.nodes(region)

    def output_sources(self, results: Sequence[Value], outputs: Sequence[Value]) -> list[Source | None]:
        """Where results come from that are the outputs of a node; sequences are noted as such."""
        sources: list[Source | None] = []
        for value, output in zip(results, outputs, strict=False):
            if isinstance(value.type, SequenceType):
                self.sequences[output] = self.sequence(value)
                sources.append(None)
            else:
                sources.append(self.source(value))
        return sources

    def sequence(self, value: Value | None) -> Stored:
        """What a sequence is made of. Errors: SaveError."""
        stored = None if value is None else self.sequences.get(value)
        if stored is not None:
            return stored
        if value is None or value not in self.captured or self.outer is None:
            raise SaveError(f"{value!r} is no tensor, and OpenVINO has only tensors")
        around = self.outer.sequence(self.captured[value])
        sources = around.sources if isinstance(around, Items) else (around.source,)
        inside = tuple(self._entry(source, value.name) for source in sources)
        stored = self.sequences[value] = Items(inside) if isinstance(around, Items) else Rows(inside[0])
        return stored

    def child(self, title: str, arguments: Sequence[Value], operands: Sequence[Value | None]) -> NetWriter:
        """A writer for a body whose `arguments` are captured values; a Parameter is made where one is first read."""
        inner = NetWriter(self.shared, self, (title, *self.path))
        inner.captured = {a: v for a, v in zip(arguments, operands, strict=True) if v is not None}
        return inner

    def body_layer(self, type: str, version: int) -> Layer:
        """A layer that gets bodies, under its id and name; `finish_body_layer` writes it."""
        return self.new_layer(type, f"opset{version}", self._hint(type), {})

    def finish_body_layer(self, layer: Layer, inputs: Sequence[Source], types: Sequence[TensorType]) -> list[Source]:
        """Write a layer with bodies; the outer ends of output ports, counted from 0, become ids of ports."""
        for body in layer.bodies.values():
            for port in body.ports:
                if not port.is_input and port.external >= 0:
                    port.external += len(inputs)
        self.net.layers.append(layer)
        return self.connect(layer, inputs, types)

    def parameter(self, type: TensorType, name: str, names: tuple[str, ...] = ()) -> tuple[Layer, Source]:
        """A Parameter layer."""
        data = {"shape": shape_text(type), "element_type": attribute_name(type.dtype)}
        layer = self.new_layer("Parameter", "opset1", name, data)
        self.parameters.append(layer)
        (source,) = self.connect(layer, [], [type])
        layer.outputs[0].names = names
        return layer, source

    def result(self, source: Source, name: str) -> Layer:
        """A Result layer."""
        layer = self.new_layer("Result", "opset1", name, {})
        self.results.append(layer)
        self.connect(layer, [source], [])
        return layer

    def new_layer(self, type: str, version: str, name: str, data: dict[str, str]) -> Layer:
        """A layer under the next id, not yet in the net's list."""
        self._count += 1
        layer = Layer(self._count - 1, self.shared.fresh(name or type), type, version, data)
        layer.rt_info = dict(self.shared.rt_info.get(layer.name, {}))
        return layer

    def connect(self, layer: Layer, inputs: Sequence[Source], outputs: Sequence[TensorType]) -> list[Source]:
        """Give a layer its ports and the edges to its inputs."""
        layer.inputs = [Port(index, source.type) for index, source in enumerate(inputs)]
        layer.outputs = [Port(len(inputs) + index, type) for index, type in enumerate(outputs)]
        self.net.edges += [Edge(each.layer, each.port, layer.id, index) for index, each in enumerate(inputs)]
        return [Source(layer.id, port.id, type) for port, type in zip(layer.outputs, outputs, strict=True)]

    def finish(self) -> Net:
        """The net: Parameters, the layers that are read in the order they were written, Results."""
        self.net.layers = [*self.parameters, *self.net.layers, *self.results]
        dropped = {id(layer) for layer in remove_unused_layers(self.net) if layer.type == "Const"}
        if dropped:
            self.shared.weights = [entry for entry in self.shared.weights if id(entry[0]) not in dropped]
        return self.net

    # ---- inside --------------------------------------------------------------------------------------------------

    def _written(self, node: Node) -> Sequence[Source | None]:
        export = self.shared.exporters.get(type(node.op))
        if export is not None:
            written = export(node, self)
            return [written] if isinstance(written, Source) else written
        known = [_known(value) for value in node.outputs]
        if all(value is not None for value in known):
            return [self.constant(value) for value in known if value is not None]

        def simpler(build: Builder, *inputs: Value | None) -> Sequence[Value]:
            count = len(build.region.nodes)
            built = node.op.decompose(inputs, build)
            if built is not None and all(new.op.name in REGISTRY for new in build.region.nodes[count:]):
                return built
            del build.region.nodes[count:]  # with checks that native code alone makes
            return defined(node, build, inputs)

        return self.through(node, simpler)

    def _first_use(self, value: Value) -> Source:
        if not isinstance(value.type, TensorType):
            raise SaveError(f"{value!r} is no tensor, and OpenVINO has only tensors")
        elements = self._constant_of(value)
        if elements is not None:
            return self.constant(elements, value.name)
        operand = self.captured.get(value)
        if operand is None:
            raise SaveError(f"{value!r} is read before it is written")
        return self._entry(operand, value.name, value.type)

    def _entry(self, operand: Value | Source, name: str, type: TensorType | None = None) -> Source:
        """A Parameter for a value from around."""
        known = operand.type if type is None else type
        assert isinstance(known, TensorType)
        layer, source = self.parameter(known, name)
        self.entries.append((layer, operand))
        return source

    def _constant_of(self, value: Value) -> np.ndarray | LazyArray | None:
        elements = self.constants.get(value)
        if elements is None and value in self.captured and self.outer is not None:
            return self.outer._constant_of(self.captured[value])
        return elements

    def _alias(self, argument: Value, value: Value) -> None:
        """Let an argument of a temporary region be the value itself."""
        if isinstance(value.type, SequenceType):
            self.sequences[argument] = self.sequence(value)
        elif (elements := self._constant_of(value)) is not None:
            self.constants[argument] = elements
        else:
            self.sources[argument] = self.source(value)

    def _const(self, value: np.ndarray | LazyArray, name: str) -> list[Source]:
        type = TensorType(value.dtype, tuple(value.shape))
        data = {"element_type": attribute_name(value.dtype), "shape": ",".join(map(str, value.shape))}
        layer = self.new_layer("Const", "opset1", name or "constant", data)
        self.net.layers.append(layer)
        self.shared.weights.append((layer, value))
        return self.connect(layer, [], [type])

    def _hint(self, type: str) -> str:
        if self._node is None:
            return type
        return self._node.name or self._node.outputs[0].name


def live_nodes(region: Region, results: Sequence[Value]) -> list[Node]:
    """The nodes of a region that some of its values need, in their order."""
    needed, live = set(results), []
    for node in reversed(region.nodes):
        if not needed.isdisjoint(node.outputs):
            live.append(node)
            needed.update(value for value in node.inputs if value is not None)
    return live[::-1]


def _text(value: Any) -> str:
    """An attribute as the file writes it."""
    match value:
        case bool() | np.bool_():
            return str(bool(value)).lower()
        case np.dtype():
            return attribute_name(value)
        case np.ndarray() | list() | tuple():
            return ",".join(map(_text, value))
        case float() | np.floating():
            return repr(float(value))
        case _:
            pass
    return str(value)


def shape_text(type: TensorType) -> str:
    """The shape of a Parameter as the file writes it."""
    if isinstance(type.shape, AnyShape):
        return "..."
    return ",".join(str(dim) if isinstance(dim, int) else "?" for dim in type.shape)


def _known(value: Value) -> np.ndarray | None:
    """The elements of an integer or bool value that inference knows as plain numbers."""
    if value.known is None or not isinstance(value.type, TensorType):
        return None
    dtype = value.type.dtype
    if not (is_integer(dtype) or dtype == np.bool_) or not all(isinstance(x, int) for x in value.known.flat):
        return None
    return value.known.astype(dtype)


def _halved(value: np.ndarray | LazyArray) -> LazyArray | None:
    """Float32 elements as float16, computed as they are read; None where one is beyond float16's range."""
    half = mapped(lambda block: block.astype(FLOAT16), [elements_of(value)], FLOAT16, tuple(value.shape))
    for before, after in zip(elements_of(value).blocks(), half.blocks(), strict=True):
        if (np.isinf(after) & ~np.isinf(before)).any():
            return None
    return half
