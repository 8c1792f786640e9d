"""Pooling: norms with a fractional `p` in version 1, attributes and outputs that came later, RoiAlign before 16."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from whorl.errors import SaveError, UnsupportedError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.limits import require_element_type
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ops.image.regions import RoiAlign
from whorl.ops.windows.pooling import Pool


@importer("LpPool", until=1)
@importer("GlobalLpPool", until=1)
def norm_1(node: OnnxNode, build: Builder) -> list[Value]:
    """`p` was a float."""
    p = node.attribute("p", 2.0)
    if p != int(p):
        raise UnsupportedError(f"p is {p}; only whole numbers are implemented", node.title)
    return build.add_many(make_op(node, p=int(p)), node.inputs, node.outputs, name=node.name)


@importer("RoiAlign", until=10)
def roi_align_10(node: OnnxNode, build: Builder) -> list[Value]:
    """The first version does not shift the regions by half an element."""
    op = make_op(node, coordinate_transformation_mode="output_half_pixel")
    return build.add_many(op, node.inputs, node.outputs, name=node.name)


@exporter("RoiAlign", until=15)
def write_roi_align_10(node: Node, write: NodeWriter) -> None:
    """Only regions without the shift can be said."""
    op = node.op
    assert isinstance(op, RoiAlign)
    if op.coordinate_transformation_mode != "output_half_pixel":
        raise SaveError("regions shifted by half an element cannot be said", fix="opset 16 or later can say it")
    require_element_type(node.inputs[0], op.name, write)
    attributes = _fields(op)
    del attributes["coordinate_transformation_mode"]
    write.node(op.name, [write.name(x) for x in node.inputs], write.outputs(node), name=node.name, **attributes)


@exporter("AveragePool", until=18)
@exporter("MaxPool", until=11)
@exporter("LpPool", until=17)
def write_pool(node: Node, write: NodeWriter) -> None:
    """Attributes that the target lacks are left out where they change nothing."""
    op = node.op
    assert isinstance(op, Pool)
    require_element_type(node.inputs[0], op.name, write)
    schema = write.schema(op.name, "")
    outputs = write.outputs(node)[: schema.max_output]
    if len(outputs) < len(node.outputs):
        raise SaveError("the places of the largest elements cannot be said", fix="opset 8 or later can say them")
    attributes = {}
    for name, value in _fields(op).items():
        if name in schema.attributes:
            attributes[name] = value
        elif _changes_something(name, value, len(outputs)):
            raise SaveError(f"{name}={value!r} cannot be said", fix="choose a newer opset")
    write.node(op.name, [write.name(x) for x in node.inputs], outputs, name=node.name, **attributes)


def _changes_something(name: str, value: Any, outputs: int) -> bool:
    if name == "dilations":
        return any(step != 1 for step in value or ())
    return bool(value) and (name != "storage_order" or outputs > 1)


def _fields(op: Struct) -> dict[str, Any]:
    """The attributes of an op by name."""
    return {name: value for name, value in asdict(op).items() if name != "output_count"}
