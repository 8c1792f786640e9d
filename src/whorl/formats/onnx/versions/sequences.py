"""Optionals before opset 18, where plain tensors and sequences are not yet taken for optionals."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.ir.graph import Node
from whorl.ir.types import OptionalType, SequenceType


@exporter("OptionalGetElement", until=17)
def optional_get_element_17(node: Node, write: NodeWriter) -> None:
    """What is no optional passes through an Identity."""
    (value,) = node.inputs
    assert value is not None
    if isinstance(value.type, OptionalType):
        write.node("OptionalGetElement", [write.name(value)], write.outputs(node), name=node.name)
        return
    if isinstance(value.type, SequenceType) and write.opset < 14:
        raise SaveError(f"passes on {value.type}", fix="opset 14 or later can say it")
    write.node("Identity", [write.name(value)], write.outputs(node), name=node.name)


@exporter("OptionalHasElement", until=17)
def optional_has_element_17(node: Node, write: NodeWriter) -> None:
    """The answer about what is no optional is a constant."""
    value = node.inputs[0] if node.inputs else None
    if value is not None and isinstance(value.type, OptionalType):
        write.node("OptionalHasElement", [write.name(value)], write.outputs(node), name=node.name)
        return
    answer = write.constant(np.array(value is not None), "has_element")
    write.node("Identity", [answer], write.outputs(node), name=node.name)
