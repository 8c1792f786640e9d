"""Nets and programs as text: what whorl writes for a program, and the program that it reads from layers."""

from __future__ import annotations

import pytest

from whorl.errors import SaveError
from whorl.formats.openvino.document import Layer, Net
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.formats.openvino.saving import write_net
from whorl.ir.graph import Module
from whorl.ir.infer import Inference
from whorl.ir.parse import parse_module
from whorl.ir.text import print_module


def program(text: str) -> Module:
    """A program with the types and known elements that inference gives."""
    module = parse_module(text)
    Inference().region(module.main)
    return module


def written(text: str) -> list[str]:
    """The layers that a program is written as: `type-opset(inputs) attribute=value ...`, each under its number."""
    net, _ = write_net(program(text))
    return shown(net)


def shown(net: Net) -> list[str]:
    """The layers of a net, which name their inputs by the numbers of lines, `line.output` where it is not the first."""
    lines = {layer.id: number for number, layer in enumerate(net.layers)}
    outputs = {layer.id: [port.id for port in layer.outputs] for layer in net.layers}
    lines_of_net = []
    for layer in net.layers:
        sources = {
            edge.to_port: _end(lines[edge.from_layer], outputs[edge.from_layer].index(edge.from_port))
            for edge in net.edges
            if edge.to_layer == layer.id
        }
        inputs = ", ".join(sources[port] for port in sorted(sources))
        lines_of_net.append(" ".join([f"{layer.type}-{layer.version.removeprefix('opset')}({inputs})", *_data(layer)]))
    return lines_of_net


def _end(line: int, output: int) -> str:
    return f"{line}.{output}" if output else str(line)


def _data(layer: Layer) -> list[str]:
    return [f"{key}={value}" for key, value in layer.data.items() if key not in ("offset", "size")]


def refused_to_write(text: str) -> str:
    """The whole message with which a program is refused."""
    with pytest.raises(SaveError) as caught:
        write_net(program(text))
    return str(caught.value)


def program_of(xml: bytes, weights: bytes = b"") -> str:
    """The program that IR is read as, without what it says beside the meaning."""
    module = load_ir(xml, IrOptions(), weights)
    return print_module(Module(module.main, module.output_names))
