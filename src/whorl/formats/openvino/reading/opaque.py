"""Layers of types that have no importer: one opaque node each."""

from __future__ import annotations

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.document import Layer
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ir.types import TensorType
from whorl.ops.core.opaque import OpaqueLayer


def opaque_layer(layer: Layer, inputs: list[Value], build: Builder) -> list[Value]:
    """The layer as one node that has the types its ports declare. Errors: LoadError OV404 where they declare none."""
    types: list[TensorType] = []
    for position, port in enumerate(layer.outputs):
        if port.type is None:
            raise problem("OV404", f"its type is not known, and output {position} declares no element type")
        types.append(port.type)
    op = OpaqueLayer(
        layer.type,
        layer.version,
        tuple(layer.data.items()),
        tuple(types),
        tuple(layer.rt_info.items()),
        tuple(port.names for port in layer.outputs),
    )
    names = [port.names[0] if port.names else f"{layer.name}.{k}" for k, port in enumerate(layer.outputs)]
    return build.add_many(op, inputs, names, name=layer.name)
