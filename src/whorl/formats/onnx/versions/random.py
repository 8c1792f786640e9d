"""Dropout while its mode and ratio were attributes, and draws that older opsets spell out."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import asdict

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer
from whorl.formats.onnx.versions.limits import require_element_type, require_result_type
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.casting import Cast
from whorl.ops.random.distributions import Bernoulli, Dropout


@importer("Dropout", until=11)
def dropout_1(node: OnnxNode, build: Builder) -> list[Value]:
    """The ratio is an attribute, and so is `is_test` before 7; later nothing trains. Before 10 the mask is no bool."""
    x = node.required(0)
    ratio = build.constant(np.array(node.attribute("ratio", 0.5), FLOAT32), "ratio")
    training = None
    if node.version < 7 and not node.attribute("is_test", 0):
        training = build.constant(np.array(True), "training_mode")
    results = build.add_many(Dropout(), [x, ratio, training], node.outputs, name=node.name)
    if node.version >= 10 or len(results) == 1:
        return results
    return [results[0], build.add(Cast(tensor(x).dtype), results[1], name=node.outputs[1])]


@exporter("Dropout", until=11)
def dropout_11(node: Node, write: NodeWriter) -> None:
    """The ratio as an attribute, and the mode as `is_test` before 7."""
    x, ratio, training = (*node.inputs, None, None)[:3]
    require_element_type(x, "Dropout", write)
    trains = bool(_constant(training, 0, "the mode", write))
    chance = _constant(ratio if trains else None, 0.5, "the ratio", write)
    if trains and write.opset >= 7:
        raise SaveError("trains", fix="opset 12 or later can say it")
    mode: dict[str, Any] = {} if write.opset >= 7 else {"is_test": int(not trains)}
    outputs = write.outputs(node)
    named = len(outputs) == 1 or write.opset >= 10
    if named:
        return write.node("Dropout", [write.name(x)], outputs, name=node.name, ratio=chance, **mode)
    if not trains and write.opset < 7:
        raise SaveError("the mask is used", fix="opset 7 or later can say it")
    mask = write.fresh("mask")
    write.node("Dropout", [write.name(x)], [outputs[0], mask], name=node.name, ratio=chance, **mode)
    write.node("Cast", [mask], [outputs[1]], to=BOOL)


def _constant(value: Value | None, default: float, what: str, write: NodeWriter) -> float:
    if value is None:
        return default
    array = write.constant_value(value)
    if array is None:
        raise SaveError(f"{what} is computed at run time", fix="opset 12 or later can say it")
    return float(array.reshape(-1)[0])


@exporter("Bernoulli", until=14)
def bernoulli_14(node: Node, write: NodeWriter) -> None:
    """1 where a uniform number is below the probability."""
    op, (probability,) = node.op, node.inputs
    assert isinstance(op, Bernoulli)
    require_element_type(probability, "RandomUniformLike", write)
    name, result = write.name(probability), write.outputs(node)[0]
    write.node("RandomUniformLike", [name], [drawn := write.fresh("drawn")], name=node.name, seed=op.seed)
    hit = result if tensor(node.outputs[0]).dtype == BOOL else write.fresh("hit")
    write.node("Less", [drawn, name], [hit])
    if hit != result:
        write.node("Cast", [hit], [result], to=tensor(node.outputs[0]).dtype)


@exporter("RandomNormal", until=21)
@exporter("RandomNormalLike", until=21)
@exporter("RandomUniform", until=21)
@exporter("RandomUniformLike", until=21)
def draw_21(node: Node, write: NodeWriter) -> None:
    """Some element types cannot be drawn."""
    require_result_type(node.outputs[0], node.op.name, write)
    attributes = asdict(node.op)
    write.node(node.op.name, [write.name(x) for x in node.inputs], write.outputs(node), name=node.name, **attributes)
