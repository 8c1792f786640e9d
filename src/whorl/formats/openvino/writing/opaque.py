"""Writing back layers of unknown types."""

from __future__ import annotations

from msgspec.structs import replace

from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.graph import Node
from whorl.ops.core.opaque import OpaqueLayer


@exporter(OpaqueLayer)
def write_opaque(op: OpaqueLayer, node: Node, write: NetWriter) -> list[Source]:
    """The layer as the file had it."""
    inputs = [write.source(value) for value in node.inputs]
    layer = write.new_layer(op.type, op.version, node.name, dict(op.attributes))
    layer.rt_info = dict(op.rt_info)
    write.net.layers.append(layer)
    sources = write.connect(layer, inputs, op.types)
    layer.outputs = [replace(port, names=names) for port, names in zip(layer.outputs, op.names, strict=True)]
    return sources
