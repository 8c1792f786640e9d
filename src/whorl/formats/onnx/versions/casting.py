"""Cast while its target was a word, and casts that older opsets cannot say."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.onnx.dtypes import FROM_ONNX
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer
from whorl.formats.onnx.protos import TensorProto
from whorl.formats.onnx.versions.limits import require_element_type, require_result_type
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.casting import Cast, CastLike


@importer("Cast", until=5)
def cast_1(node: OnnxNode, build: Builder) -> list[Value]:
    """`to` is the name of an element type."""
    return build.add_many(Cast(_named(node.attribute("to", ""), node.title)), node.inputs, node.outputs, name=node.name)


def _named(text: str, where: str) -> np.dtype:
    number = TensorProto.DataType.items()
    dtype = next((FROM_ONNX[n] for name, n in number if name == text.upper() and n in FROM_ONNX), None)
    if dtype is None:
        raise LoadError(f"attribute 'to' is {text!r}, which names no element type", where)
    return dtype


@exporter("Cast", until=27)
def cast_27(node: Node, write: NodeWriter) -> None:
    """`saturate` and `round_mode` speak of targets that opsets without them do not have."""
    op = node.op
    assert isinstance(op, Cast)
    _write_cast(node, op.to, op.saturate, op.round_mode, write)


@exporter("CastLike", until=14)
def cast_like_14(node: Node, write: NodeWriter) -> None:
    """Cast to the element type that the second input has."""
    op, target = node.op, tensor(node.outputs[0]).dtype
    assert isinstance(op, CastLike)
    _write_cast(node, target, op.saturate, op.round_mode, write)


def _write_cast(node: Node, target: np.dtype, saturate: int, round_mode: str, write: NodeWriter) -> None:
    require_element_type(node.inputs[0], "Cast", write)
    require_result_type(node.outputs[0], "Cast", write)
    write.node(
        "Cast",
        [write.name(node.inputs[0])],
        write.outputs(node),
        name=node.name,
        to=target,
        saturate=saturate if write.opset >= 19 else None,
        round_mode=round_mode if write.opset >= 24 else None,
    )
