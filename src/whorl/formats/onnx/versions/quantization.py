"""Quantization before blocks, `output_dtype` and `precision`, and while all scales were float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.dtypes import from_onnx
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.limits import require_element_type, require_result_type
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, name_of
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.linear.quantization import UINT8, DequantizeLinear, QuantizeLinear


@importer("DequantizeLinear")
@importer("QuantizeLinear")
def linear_10(node: OnnxNode, build: Builder) -> list[Value]:
    """Element type number 0 means that none is asked for."""
    kinds = {key: node.attribute(key) for key in ("output_dtype", "precision")}
    dtypes = {key: from_onnx(number, f"attribute {key!r}") if number else None for key, number in kinds.items()}
    return build.add_many(make_op(node, **dtypes), node.inputs, node.outputs, name=node.name)


@exporter("QuantizeLinear", until=22)
def quantize_22(node: Node, write: NodeWriter) -> None:
    """x and the scale have one type, in which they are divided; the zero point alone says the type of the result."""
    op = node.op
    assert isinstance(op, QuantizeLinear)
    x, scale, zero_point = _inputs(node)
    divided = tensor(scale).dtype
    if op.precision not in (None, divided):
        raise SaveError(f"divides in {name_of(op.precision)}", fix="opset 23 or later can say it")
    require_element_type(scale, "QuantizeLinear", write, 1)
    require_result_type(node.outputs[0], "QuantizeLinear", write)
    name = write.name(x)
    if tensor(x).dtype != divided and write.opset >= 19:
        write.node("Cast", [name], [name := write.fresh("x")], to=divided)
    else:
        require_element_type(x, "QuantizeLinear", write)
    target = tensor(node.outputs[0]).dtype
    offset = write.name(zero_point)
    if zero_point is None and target != UINT8 and write.opset < 21:
        offset = write.constant(np.zeros(_static(scale), target), "zero_point")
    attributes = _along(op.axis, op.block_size, scale, write)
    if write.opset >= 19:
        attributes["saturate"] = op.saturate
    dtypes = target if write.opset >= 21 and zero_point is None else None
    inputs = [name, write.name(scale), offset]
    write.node("QuantizeLinear", inputs, write.outputs(node), name=node.name, output_dtype=dtypes, **attributes)


@exporter("DequantizeLinear", until=22)
def dequantize_22(node: Node, write: NodeWriter) -> None:
    """The scale's type is the result's: another result is computed in float32 and rounded."""
    op = node.op
    assert isinstance(op, DequantizeLinear)
    x, scale, zero_point = _inputs(node)
    require_element_type(x, "DequantizeLinear", write)
    attributes = _along(op.axis, op.block_size, scale, write)
    target, factor = tensor(node.outputs[0]).dtype, write.name(scale)
    plain = target == tensor(scale).dtype
    if plain:
        require_element_type(scale, "DequantizeLinear", write, 1)
    elif tensor(scale).dtype != FLOAT32:
        require_element_type(scale, "Cast", write)
        write.node("Cast", [factor], [factor := write.fresh("scale")], to=FLOAT32)
    (output,) = write.outputs(node)
    result = output if plain or target == FLOAT32 else write.fresh("value")
    inputs = [write.name(x), factor, write.name(zero_point)]
    write.node("DequantizeLinear", inputs, [result], name=node.name, **attributes)
    if result != output:
        write.node("Cast", [result], [output], to=target)


def _inputs(node: Node) -> tuple[Value, Value, Value | None]:
    x, scale, zero_point = (*node.inputs, None)[:3]
    assert x is not None and scale is not None
    return x, scale, zero_point


def _along(axis: int, block_size: int, scale: Value, write: NodeWriter) -> dict[str, Any]:
    """Attributes for the axis and its blocks; SaveError where the target cannot say them."""
    shape = tensor(scale).shape
    single = not isinstance(shape, AnyShape) and dims.equal(dims.product(shape), 1)
    if block_size and write.opset < 21:
        raise SaveError(f"there is a scale for every block of {block_size}", fix="opset 21 or later can say it")
    if write.opset < 13:
        if not single:
            raise SaveError(f"the scale is {scale.type}, not one number", fix="opset 13 or later can say it")
        return {}
    return {"axis": axis} | ({"block_size": block_size} if block_size else {})


def _static(scale: Value) -> tuple[int, ...]:
    shape = tensor(scale).shape
    lengths = () if isinstance(shape, AnyShape) else tuple(dim for dim in shape if isinstance(dim, int))
    if isinstance(shape, AnyShape) or len(lengths) < len(shape):
        raise SaveError(f"needs a zero point as long as the scale, {scale.type}", fix="opset 21 or later can say it")
    return lengths
