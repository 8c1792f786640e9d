"""IR files out: `.xml` with weights in a `.bin` beside it; never a half-written file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whorl.errors import SaveError
from whorl.formats.openvino import ops
from whorl.formats.openvino.control import write as control
from whorl.formats.openvino.document import Net
from whorl.formats.openvino.shapes import shape_of
from whorl.formats.openvino.weights.write import write_constants
from whorl.formats.openvino.writing import opaque
from whorl.formats.openvino.writing.exporter import EXPORTERS
from whorl.formats.openvino.writing.net import FileState, NetWriter, shape_text
from whorl.formats.openvino.writing.sources import Source
from whorl.formats.openvino.xml.write import xml_of
from whorl.formats.options import SaveOptions
from whorl.formats.writing import write_whole
from whorl.ir.graph import Module, State, Value
from whorl.ir.infer import Inference, names_of
from whorl.ir.types import AnyShape, Shape, TensorType

assert control and opaque and ops


def save(module: Module, path: Path, options: SaveOptions) -> None:
    """Write a module, as the registry of formats asks for it."""
    save_openvino(module, path, compress=options.compress_to_fp16)


def save_openvino(module: Module, path: Path, *, compress: bool = False) -> None:
    """Write `.xml`, and `.bin` beside it. With `compress` float32 constants become float16. Errors: SaveError."""
    net, state = write_net(module, compress=compress)
    try:
        write_whole(
            {
                path.with_suffix(".bin"): lambda file: write_constants(file, state.weights),
                path: lambda file: file.writelines(line.encode() for line in xml_of(net)),
            }
        )
    except OSError as error:
        raise SaveError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def write_net(module: Module, *, compress: bool = False) -> tuple[Net, FileState]:
    """The net of a module, and its constants, whose positions in the weights file are not yet known.

    Inputs with defaults become constants, as IR has no such inputs. Errors: SaveError.
    """
    region, metadata = module.main, module.metadata.get("openvino", {})
    values = [value for node in module.nodes() for value in node.outputs]
    inference = Inference(names_of([*region.arguments, *values]))
    shared = FileState(EXPORTERS, compress, inference=inference, rt_info=metadata.get("layers", {}))
    write = NetWriter(shared)
    states = {state.input: state for state in module.states}
    inputs = [argument for argument in region.arguments if argument.name not in states]
    for argument in inputs:
        if argument.name in module.defaults:
            write.constants[argument] = module.defaults[argument.name]
        else:
            _write_input(write, argument, metadata.get("inputs", {}).get(argument.name, {}))
    shared.names |= dict.fromkeys(module.output_names, 0)
    for argument in region.arguments:
        if argument.name in states:
            _read_state(write, argument, states[argument.name], inputs)
    write.nodes(region)
    _write_results(write, module, metadata.get("outputs", {}))
    net = write.finish()
    net.name = module.metadata.get("graph_name") or "main"
    net.rt_info = dict(metadata.get("rt_info", {}))
    return net, shared


def _write_input(write: NetWriter, argument: Value, metadata: Mapping[str, Any]) -> None:
    """A Parameter; names, and lengths between bounds, are those of the file that was read."""
    type = _tensor_type(argument)
    names = metadata.get("names") or (argument.name,)
    layer, write.sources[argument] = write.parameter(type, metadata.get("layer") or argument.name, names)
    shape = metadata.get("shape")
    if shape is not None and _agrees(shape_of(shape, argument.name), type.shape):
        layer.data["shape"] = shape
    layer.rt_info = dict(metadata.get("rt_info", {}))


def _tensor_type(argument: Value) -> TensorType:
    if not isinstance(argument.type, TensorType):
        raise SaveError(f"the input {argument.name!r} is {argument.type}, and OpenVINO has only tensors")
    return argument.type


def _agrees(declared: Shape, shape: Shape) -> bool:
    """Whether two shapes have the same rank and the same numbers."""
    if isinstance(declared, AnyShape) or isinstance(shape, AnyShape):
        return declared is shape
    numbers = [[dim if isinstance(dim, int) else None for dim in each] for each in (declared, shape)]
    return numbers[0] == numbers[1]


def _read_state(write: NetWriter, argument: Value, state: State, inputs: list[Value]) -> None:
    """A ReadValue for the argument that brings a state in."""
    type = _tensor_type(argument)
    initial: list[Source] = []
    if state.initial is not None:
        write.inline(state.initial, inputs)
        initial = [write.source(value) for value in state.initial.results]
    (write.sources[argument],) = write.layer(
        "ReadValue", 6, initial, [type], argument.name,
        variable_id=state.name, variable_type=type.dtype, variable_shape=shape_text(type),
    )  # fmt: skip


def _write_results(write: NetWriter, module: Module, metadata: Mapping[str, Any]) -> None:
    """Results under their names; a value that is an input, or has a name already, goes through an Identity.

    What is a state afterwards is assigned instead.
    """
    states = {state.output: state for state in module.states}
    pairs = [(write.source(value), name) for value, name in zip(module.main.results, module.output_names, strict=True)]
    ports = {(layer.id, port.id): port for layer in [*write.parameters, *write.net.layers] for port in layer.outputs}
    named: set[Source] = set()
    for source, name in pairs:
        if name in states:
            write.layer("Assign", 6, [source], [source.type], name, variable_id=states[name].name)
            continue
        names = tuple(metadata.get(name, {}).get("names") or (name,))
        port = ports[source.layer, source.port]
        if port.names and (source in named or name not in port.names):
            (source,) = write.layer("Identity", 16, [source], [source.type], name)
            port = write.net.layers[-1].outputs[0]
        port.names = names
        named.add(source)
        write.result(source, metadata.get(name, {}).get("layer") or name).output_names = names
