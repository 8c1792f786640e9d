"""A layer of OpenVINO's among hub nodes, for exporters that write nodes around it."""

from __future__ import annotations

from typing import Any, ClassVar

from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.graph import Node, Op
from whorl.ir.types import Fact, TensorType, tensor


class NativeLayer(Op, frozen=True):
    """A layer of opset `version` with its attributes and the types of its outputs. It can only be written."""

    abstract: ClassVar[bool] = True

    type: str
    version: int
    types: tuple[TensorType, ...]
    attributes: tuple[tuple[str, Any], ...] = ()

    def infer(self, *inputs: Fact | None) -> tuple[TensorType, ...]:
        return self.types


@exporter(NativeLayer)
def native_layer(op: NativeLayer, node: Node, write: NetWriter) -> list[Source]:
    inputs, types = [write.source(value) for value in node.inputs], [tensor(value) for value in node.outputs]
    return write.layer(op.type, op.version, inputs, types, node.name, **dict(op.attributes))
