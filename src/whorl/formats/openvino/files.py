"""IR files: an `.xml` with its `.bin` beside it, or the bytes of both, as a module."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np

import whorl.ops
from whorl.formats.openvino import ops
from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.control import read as control
from whorl.formats.openvino.document import Layer, Net
from whorl.formats.openvino.reading.context import IrOptions, ReadContext
from whorl.formats.openvino.reading.net import Reading
from whorl.formats.openvino.reading.parameters import parameter_type
from whorl.formats.openvino.reading.states import add_states, finish_states
from whorl.formats.openvino.weights.read import Weights, weights_in
from whorl.formats.openvino.xml.read import read_xml
from whorl.ir.build import Builder
from whorl.ir.collector import collector_paused
from whorl.ir.graph import Module, Region, Value, walk_regions
from whorl.ir.infer import Inference
from whorl.passes.dce import remove_unused_nodes

assert whorl.ops and control and ops


def load_ir(
    source: str | os.PathLike[str] | bytes, options: IrOptions, weights: str | os.PathLike[str] | bytes | None = None
) -> Module:
    """A module from the path of an `.xml`, whose `.bin` lies beside it unless `weights` names one, or from bytes.

    Errors: LoadError with a code.
    """
    try:
        with collector_paused(), np.errstate(all="ignore"):
            return _read(source, options, weights)
    except OSError as error:
        raise problem("OV101", f"cannot read {str(source)!r}: {error.strerror or error}") from None
    except RecursionError:
        raise problem("OV104", "bodies are nested too deep", fix="lower max_depth") from None


def _read(source: str | os.PathLike[str] | bytes, options: IrOptions, weights: Any) -> Module:
    if not isinstance(source, str | os.PathLike):
        return read_module(read_xml(bytes(source), options.max_depth), _weights(weights, None), options)
    path = Path(source)
    with path.open("rb") as file:
        net = read_xml(file, options.max_depth)
    return read_module(net, _weights(weights, path.with_suffix(".bin")), options)


def _weights(source: str | os.PathLike[str] | bytes | None, beside: Path | None) -> Weights:
    if isinstance(source, bytes | bytearray | memoryview):
        return Weights(bytes(source))
    path = beside if source is None else Path(source)
    return Weights(None) if path is None else weights_in(path)


def read_module(net: Net, weights: Weights, options: IrOptions) -> Module:
    """A net as a typed module. Errors: LoadError with a code."""
    context = ReadContext(weights, options)
    region = Region(net.name)
    build = Builder(region, Inference())
    parameters = _add_inputs(net, build, context)
    states = add_states(net, build, context)
    reading = Reading(net, parameters, build, context)
    sinks = reading.wiring.sinks()
    if not sinks:
        raise problem("OV207", "the net has no Result and no Assign", context.location())
    reading.read(sinks)
    context.variables |= reading.assigned
    results = [layer for layer in sinks if layer.id in reading.results]
    module = Module(region, [])
    arguments = {value.name: value for value in region.arguments}
    taken: dict[str, Value] = {}
    counts: dict[str, int] = {}
    outputs: dict[str, Any] = {}
    for layer in results:
        names, producer = _result_names(layer, reading)
        name, value = names[0] if names else producer, reading.results[layer.id]
        name = _unique(name, taken if arguments.get(name) is value else ChainMap(taken, arguments), counts)
        taken[name] = value
        outputs[name] = {"names": names, "layer": layer.name}
        module.output_names.append(name)
        region.results.append(value)
    finish_states(module, states, parameters, build, context)
    for root in (module.main, *(state.initial for state in module.states if state.initial is not None)):
        for inner in walk_regions(root):
            remove_unused_nodes(inner, lambda node: node.op.pure and not node.regions)
    module.metadata = _metadata(net, outputs, context, parameters)
    return module


def _add_inputs(net: Net, build: Builder, context: ReadContext) -> dict[int, Value]:
    """The Parameters as arguments, in the file's order."""
    parameters: dict[int, Value] = {}
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for layer in net.layers:
        if layer.type.lower() == "parameter":
            type = parameter_type(layer, context)
            names = layer.outputs[0].names if layer.outputs else ()
            name = _unique(names[0] if names else layer.name, taken, counts)
            taken.add(name)
            value = build.region.add_argument(name, type)
            build.inference.set_type(value, type)
            parameters[layer.id] = value
    return parameters


def _result_names(layer: Layer, reading: Reading) -> tuple[tuple[str, ...], str]:
    """The tensor names of an output, and the name of the layer that computes it."""
    (origin,) = reading.wiring.inputs_of(layer)
    producer = reading.wiring.layers[origin[0]]
    several = len(producer.outputs) > 1
    return (
        layer.output_names or producer.outputs[origin[1]].names,
        f"{producer.name}.{origin[1]}" if several else producer.name,
    )


def _unique(name: str, taken: Container[str], counts: dict[str, int]) -> str:
    """The name, or with a number behind where it is taken. `counts`: the last number behind each name."""
    candidate = name = name or "value"
    while candidate in taken:
        counts[name] = counts.get(name, 0) + 1
        candidate = f"{name}.{counts[name]}"
    return candidate


def _metadata(net: Net, outputs: dict[str, Any], context: ReadContext, parameters: dict[int, Value]) -> dict[str, Any]:
    """What the module does not represent, for writing it back."""
    inputs = {
        parameters[layer.id].name: {
            "names": layer.outputs[0].names,
            "layer": layer.name,
            "shape": layer.data["shape"],
            "rt_info": layer.rt_info,
        }
        for layer in net.layers
        if layer.id in parameters
    }
    return {
        "graph_name": net.name,
        "openvino": {
            "version": net.version,
            "rt_info": net.rt_info,
            "inputs": inputs,
            "outputs": outputs,
            "layers": {layer.name: layer.rt_info for layer in net.layers if layer.rt_info},
            "warnings": list(dict.fromkeys(context.warnings)),
        },
    }
