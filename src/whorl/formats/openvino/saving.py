"""IR files out: `.xml` with weights in a `.bin` beside it; never a half-written file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino import ops
from whorl.formats.openvino.control import write as control_out
from whorl.formats.openvino.document import Net
from whorl.formats.openvino.ops.sequence import sequences as sequences_out
from whorl.formats.openvino.shapes import shape_of
from whorl.formats.openvino.writing import opaque as opaque_out
from whorl.formats.openvino.writing.exporter import Source
from whorl.formats.openvino.writing.net import NetWriter, Weights, shape_text
from whorl.formats.openvino.xml.write import xml_of
from whorl.formats.writing import element_bytes, write_whole
from whorl.ir.constants import as_array
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Module, State, Value
from whorl.ir.infer import Inference, names_of
from whorl.ir.types import AnyShape, Shape, TensorType

assert control_out and opaque_out and ops and sequences_out


def save_openvino(module: Module, path: Path, *, compress: bool = False) -> None:
    """Write `.xml`, and `.bin` beside it. With `compress` float32 constants are kept as float16. Errors: SaveError."""
    net, weights = write_net(module, compress=compress)
    try:
        write_whole(
            {
                path.with_suffix(".bin"): lambda file: _write_weights(file, weights),
                path: lambda file: file.writelines(line.encode() for line in xml_of(net)),
            }
        )
    except OSError as error:
        raise SaveError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def write_net(module: Module, *, compress: bool = False) -> tuple[Net, Weights]:
    """The net of a module, and its constants, whose places in the weights file are not yet said.

    Inputs with defaults become constants, as IR has no such inputs. Errors: SaveError.
    """
    region, kept = module.main, module.metadata.get("openvino", {})
    values = [value for node in module.nodes() for value in node.outputs]
    weights = Weights(
        compress, inference=Inference(names_of([*region.arguments, *values])), kept=kept.get("layers", {})
    )
    write = NetWriter(weights)
    states = {state.input: state for state in module.states}
    inputs = [argument for argument in region.arguments if argument.name not in states]
    for argument in inputs:
        if argument.name in module.defaults:
            write.held[argument] = module.defaults[argument.name]
        else:
            _write_input(write, argument, kept.get("inputs", {}).get(argument.name, {}))
    weights.names |= dict.fromkeys(module.output_names, 0)
    for argument in region.arguments:
        if argument.name in states:
            _read_state(write, argument, states[argument.name], inputs)
    write.nodes(region)
    _write_results(write, module, kept.get("outputs", {}))
    net = write.finish()
    net.name = module.metadata.get("graph_name") or "main"
    net.rt_info = dict(kept.get("rt_info", {}))
    return net, weights


def _write_input(write: NetWriter, argument: Value, kept: Mapping[str, Any]) -> None:
    """A Parameter; names, and lengths between bounds, are those that a file said."""
    type = _tensor_type(argument)
    layer, write.sources[argument] = write.parameter(
        type, kept.get("layer") or argument.name, kept.get("names") or (argument.name,)
    )
    shape = kept.get("shape")
    if shape is not None and _agrees(shape_of(shape, argument.name), type.shape):
        layer.data["shape"] = shape
    layer.rt_info = dict(kept.get("rt_info", {}))


def _tensor_type(argument: Value) -> TensorType:
    if not isinstance(argument.type, TensorType):
        raise SaveError(f"the input {argument.name!r} is {argument.type}, and OpenVINO has only tensors")
    return argument.type


def _agrees(said: Shape, shape: Shape) -> bool:
    """Whether two shapes are the same where one of them says a number."""
    if isinstance(said, AnyShape) or isinstance(shape, AnyShape):
        return said is shape
    numbers = [[dim if isinstance(dim, int) else None for dim in each] for each in (said, shape)]
    return numbers[0] == numbers[1]


def _read_state(write: NetWriter, argument: Value, state: State, inputs: list[Value]) -> None:
    """A ReadValue for the argument that brings a state in."""
    type = _tensor_type(argument)
    initial: list[Source] = []
    if state.initial is not None:
        write.inline(state.initial, inputs)
        initial = [write.source(value) for value in state.initial.results]
    said = {"variable_id": state.name, "variable_type": type.dtype, "variable_shape": shape_text(type)}
    (write.sources[argument],) = write.layer("ReadValue", 6, initial, [type], argument.name, **said)


def _write_results(write: NetWriter, module: Module, kept: Mapping[str, Any]) -> None:
    """Results under their names; a value that is an input, or has a name already, goes through an Identity.

    What is a state afterwards is assigned instead."""
    states = {state.output: state for state in module.states}
    pairs = [(write.source(value), name) for value, name in zip(module.main.results, module.output_names, strict=True)]
    ports = {(layer.id, port.id): port for layer in [*write.parameters, *write.net.layers] for port in layer.outputs}
    named: set[Source] = set()
    for source, name in pairs:
        if name in states:
            write.layer("Assign", 6, [source], [source.type], name, variable_id=states[name].name)
            continue
        names = tuple(kept.get(name, {}).get("names") or (name,))
        port = ports[source.layer, source.port]
        if port.names and (source in named or name not in port.names):
            (source,) = write.layer("Identity", 16, [source], [source.type], name)
            port = write.net.layers[-1].outputs[0]
        port.names = names
        named.add(source)
        write.result(source, kept.get(name, {}).get("layer") or name).output_names = names


def _write_weights(file: BinaryIO, weights: Weights) -> None:
    """Append every constant that differs from those before it, and say in its layer where it lies."""
    places: dict[bytes, tuple[int, int]] = {}
    for layer, value in weights.constants:
        start, content = file.tell(), blake2b(digest_size=20)
        for piece in _string_bytes(as_array(value)) if value.dtype == STRING else element_bytes(value):
            content.update(piece)
            file.write(piece)
        place = places.setdefault(content.digest(), (start, file.tell() - start))
        if place[0] != start:
            file.seek(start)
            file.truncate()
        layer.data |= {"offset": str(place[0]), "size": str(place[1])}


def _string_bytes(value: np.ndarray) -> Iterator[bytes]:
    """How many strings there are, where each begins, where the last ends, and their bytes."""
    texts = [str(text).encode("utf-8", "surrogateescape") for text in value.reshape(-1)]
    ends = np.cumsum([0, *map(len, texts)])
    if ends[-1] >= 1 << 31:
        raise SaveError("a string constant holds 2 GiB or more, which OpenVINO cannot say")
    yield np.array([len(texts), *ends], np.int32).tobytes()
    yield b"".join(texts)
