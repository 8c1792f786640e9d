"""Arithmetic, comparison and logic before NumPy broadcasting, and before Clip's bounds were inputs."""

from __future__ import annotations

import math

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.broadcasting import aligned, are_equal_shapes, write_operands
from whorl.formats.onnx.versions.limits import require_element_type
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT64, is_float, is_integer, name_of
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Clip, Mod
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.functions import Erf

_LARGEST = float(np.finfo(np.float32).max)


@importer("Abs", until=5)
@importer("Ceil", until=5)
@importer("Exp", until=5)
@importer("Floor", until=5)
@importer("Log", until=5)
@importer("Max", until=5)
@importer("Mean", until=5)
@importer("Min", until=5)
@importer("Neg", until=5)
@importer("Reciprocal", until=5)
@importer("Sqrt", until=5)
@importer("Sum", until=5)
@importer("Tanh", until=5)
def consuming_1(node: OnnxNode, build: Builder) -> list[Value]:
    """`consumed_inputs` was advice about memory."""
    return build.add_many(make_op(node, consumed_inputs=None), node.inputs, node.outputs, name=node.name)


@importer("Add", until=6)
@importer("And", until=6)
@importer("Div", until=6)
@importer("Equal", until=6)
@importer("Greater", until=6)
@importer("Less", until=6)
@importer("Mul", until=6)
@importer("Or", until=6)
@importer("Pow", until=6)
@importer("Sub", until=6)
@importer("Xor", until=6)
def operands_1(node: OnnxNode, build: Builder) -> list[Value]:
    """With `broadcast` the first axis of the right operand lies under `axis` of the left one."""
    x, y = node.required(0), node.required(1)
    axis = node.attribute("axis")
    if node.attribute("broadcast", 0) and axis is not None:
        y = aligned(build, x, y, axis)
    op = make_op(node, broadcast=None, axis=None, consumed_inputs=None)
    return build.add_many(op, [x, y], node.outputs, name=node.name)


@importer("Clip", until=10)
def clip_1(node: OnnxNode, build: Builder) -> list[Value]:
    """Bounds are attributes; version 6 gives them defaults, which bring infinities into the range of float32."""
    x = node.required(0)
    default = _LARGEST if node.version >= 6 else math.inf
    bounds = (node.attribute("min", -default), node.attribute("max", default))
    dtype = tensor(x).dtype
    with np.errstate(over="ignore"):
        arrays = [None if math.isinf(bound) else np.array(bound).astype(dtype) for bound in bounds]
    operands = [None if array is None else build.constant(array, "bound") for array in arrays]
    return build.add_many(Clip(), [x, *operands], node.outputs, name=node.name)


@importer("Erf", until=12)
def erf_9(node: OnnxNode, build: Builder) -> list[Value]:
    """Integers, which were allowed, are computed in float64."""
    x = node.required(0)
    dtype = tensor(x).dtype
    if not is_integer(dtype):
        return build.add_many(Erf(), [x], node.outputs, name=node.name)
    result = build.add(Erf(), build.add(Cast(FLOAT64), x), name=node.name)
    return build.add_many(Cast(dtype), [result], node.outputs)


def operands_of(node: Node) -> tuple[Value, Value]:
    """Both inputs of a node of two."""
    x, y = node.inputs
    assert x is not None and y is not None
    return x, y


@exporter("Add", until=6)
@exporter("And", until=6)
@exporter("Div", until=6)
@exporter("Equal", until=6)
@exporter("Greater", until=6)
@exporter("Less", until=6)
@exporter("Mul", until=6)
@exporter("Or", until=6)
@exporter("Sub", until=6)
@exporter("Xor", until=6)
def operands_6(node: Node, write: NodeWriter) -> None:
    """`broadcast` and `axis` where shapes differ."""
    write_operands(node.op.name, *operands_of(node), write.outputs(node)[0], write, node.name)


@exporter("GreaterOrEqual", until=11)
@exporter("LessOrEqual", until=11)
def comparison_11(node: Node, write: NodeWriter) -> None:
    """One comparison or the other: neither holds for NaN."""
    x, y = operands_of(node)
    strictly, equal = write.fresh("strictly"), write.fresh("equal")
    write_operands(node.op.name.removesuffix("OrEqual"), x, y, strictly, write)
    write_operands("Equal", x, y, equal, write)
    write.node("Or", [strictly, equal], write.outputs(node), name=node.name)


@exporter("Pow", until=11)
def power_11(node: Node, write: NodeWriter) -> None:
    """The exponent has the base's element type."""
    x, y = operands_of(node)
    base, exponent = tensor(x).dtype, tensor(y).dtype
    if base == exponent:
        return write_operands("Pow", x, y, write.outputs(node)[0], write, node.name)
    require_element_type(x, "Pow", write)
    if write.opset < 7 or not is_integer(exponent):
        named = f"the base is {name_of(base)}, the exponent {name_of(exponent)}"
        raise SaveError(named, fix="opset 12 or later can say it")
    write.node("Cast", [write.name(y)], [cast := write.fresh("exponent")], to=base)
    write.node("Pow", [write.name(x), cast], write.outputs(node), name=node.name)


@exporter("Max", until=7)
@exporter("Mean", until=7)
@exporter("Min", until=7)
@exporter("Sum", until=7)
def several_7(node: Node, write: NodeWriter) -> None:
    """All inputs have one shape; sums of others are written as additions."""
    first, *others = (value for value in node.inputs if value is not None)
    require_element_type(first, node.op.name, write)
    names = [write.name(value) for value in node.inputs]
    if all(are_equal_shapes(first, other) for other in others):
        return write.node(node.op.name, names, write.outputs(node), name=node.name)
    if node.op.name in ("Max", "Min") or write.opset < 7:
        shown = " and ".join(str(value.type) for value in (first, *others))
        raise SaveError(f"{shown} broadcast", fix="opset 8 or later can say it")
    results = [write.fresh("total") for _ in names[1:]]
    if node.op.name == "Sum":
        results[-1] = write.outputs(node)[0]
    for left, right, result in zip([names[0], *results], names[1:], results, strict=False):
        write.node("Add", [left, right], [result])
    if node.op.name == "Mean":
        count = write.constant(np.array(len(names)).astype(tensor(first).dtype), "count")
        write.node("Div", [results[-1], count], write.outputs(node), name=node.name)


@exporter("Clip", until=10)
def clip_10(node: Node, write: NodeWriter) -> None:
    """Bounds as attributes; an infinite one keeps a default from taking its place."""
    x, *bounds = (*node.inputs, None, None)[:3]
    require_element_type(x, "Clip", write)
    values = [_bound(bound, default, write) for bound, default in zip(bounds, (-math.inf, math.inf), strict=True)]
    write.node("Clip", [write.name(x)], write.outputs(node), name=node.name, min=values[0], max=values[1])


def _bound(bound: Value | None, default: float, write: NodeWriter) -> float:
    if bound is None:
        return default
    value = write.constant_value(bound)
    if value is None:
        raise SaveError("a bound is computed at run time", fix="opset 11 or later can say it")
    number = float(value.reshape(-1)[0])
    if float(np.float32(number)) != number and tensor(bound).dtype == FLOAT64:
        raise SaveError(f"the bound {number} is no float32", fix="opset 11 or later can say it")
    return number


@exporter("Mod", until=27)
def modulus_27(node: Node, write: NodeWriter) -> None:
    """Floats only have the truncated remainder: where its sign differs from the divisor's, the divisor is added."""
    op, (x, y) = node.op, operands_of(node)
    assert isinstance(op, Mod)
    require_element_type(x, "Mod", write)
    names, result = [write.name(x), write.name(y)], write.outputs(node)
    if op.fmod or not is_float(tensor(x).dtype):
        return write.node("Mod", names, result, name=node.name, fmod=op.fmod or None)
    zero = write.constant(np.zeros((), tensor(x).dtype), "zero")
    rest, moved, wrong = write.fresh("remainder"), write.fresh("moved"), write.fresh("wrong")
    write.node("Mod", names, [rest], name=node.name, fmod=1)
    sides = []
    for first, second in (("Less", "Greater"), ("Greater", "Less")):
        signs = [write.fresh("sign"), write.fresh("sign")]
        write.node(first, [rest, zero], signs[:1])
        write.node(second, [names[1], zero], signs[1:])
        write.node("And", signs, [side := write.fresh("opposite")])
        sides.append(side)
    write.node("Or", sides, [wrong])
    write.node("Add", [rest, names[1]], [moved])
    write.node("Where", [wrong, moved, rest], result)
