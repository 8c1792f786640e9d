"""Activation functions of opset 1, PRelu's slope before it broadcast, and functions that older opsets spell out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.broadcasting import aligned, reshaped
from whorl.formats.onnx.versions.limits import require_element_type
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, single
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.core.base import accumulator
from whorl.ops.elementwise.nonlinear import Celu, Gelu, PRelu, Selu, SwiGLU, Swish


@importer("Elu", until=5)
@importer("HardSigmoid", until=5)
@importer("LeakyRelu", until=5)
@importer("Relu", until=5)
@importer("Sigmoid", until=5)
def consuming_1(node: OnnxNode, build: Builder) -> list[Value]:
    """`consumed_inputs` was advice about memory."""
    return build.add_many(make_op(node, consumed_inputs=None), node.inputs, node.outputs, name=node.name)


@importer("Selu", until=5)
def selu_1(node: OnnxNode, build: Builder) -> list[Value]:
    """The defaults had four places."""
    op = Selu(node.attribute("alpha", single(1.6732)), node.attribute("gamma", single(1.0507)))
    return build.add_many(op, node.inputs, node.outputs, name=node.name)


@importer("PRelu", until=6)
def prelu_1(node: OnnxNode, build: Builder) -> list[Value]:
    """The slope has one value, or one for each place of axis 1."""
    x = node.required(0)
    return build.add_many(PRelu(), [x, aligned(build, x, node.required(1), 1)], node.outputs, name=node.name)


@exporter("PRelu", until=6)
def prelu_6(node: Node, write: NodeWriter) -> None:
    """The slope as one value, or one for each place of axis 1."""
    x, slope = node.inputs
    assert x is not None and slope is not None
    require_element_type(x, "PRelu", write)
    shape, rank = tensor(slope).shape, tensor(x).rank
    if isinstance(shape, AnyShape) or rank is None:
        raise SaveError(f"the slope is {slope.type} for {x.type}", fix="opset 7 or later can say it")
    wide = [rank - len(shape) + k for k, dim in enumerate(shape) if not dims.equal(dim, 1)]
    if wide not in ([], [1]):
        raise SaveError(f"the slope differs along axes {wide}", fix="opset 7 or later can say it")
    flat = reshaped(slope, (dims.product(shape),), write)
    write.node("PRelu", [write.name(x), flat], write.outputs(node), name=node.name)


class Spelled:
    """A function written as several nodes, in float32 where the input is narrower, so that only the end is rounded."""

    def __init__(self, node: Node, write: NodeWriter) -> None:
        self.node, self.write = node, write
        self.dtype = tensor(_required(node.inputs[0])).dtype
        self.wide = accumulator(self.dtype)
        if self.wide != self.dtype:
            require_element_type(node.inputs[0], "Cast", write)

    def inputs(self) -> list[str]:
        """The names of the inputs, widened."""
        names = [self.write.name(value) for value in self.node.inputs]
        return names if self.wide == self.dtype else [self.add("Cast", name, to=FLOAT32) for name in names]

    def add(self, op_type: str, *inputs: str | float, **attributes: Any) -> str:
        """A node of one result, numbers among the inputs being constants; returns the result's name."""
        result = self.write.fresh(op_type.lower())
        self._add(op_type, result, *inputs, **attributes)
        return result

    def end(self, op_type: str, *inputs: str | float, **attributes: Any) -> None:
        """The last node, whose result is the output."""
        (output,) = self.write.outputs(self.node)
        if self.wide == self.dtype:
            return self._add(op_type, output, *inputs, **attributes)
        self._add("Cast", output, self.add(op_type, *inputs, **attributes), to=self.dtype)

    def _add(self, op_type: str, result: str, *inputs: str | float, **attributes: Any) -> None:
        numbers = any(not isinstance(x, str) for x in inputs)
        names = [x if isinstance(x, str) else self.write.constant(np.array(x).astype(self.wide)) for x in inputs]
        if numbers and self.write.opset < 7:
            attributes["broadcast"] = 1
        self.write.node(op_type, names, [result], **attributes)


def _required(value: Value | None) -> Value:
    assert value is not None
    return value


Spelling = Callable[[Node, Spelled], None]


def spelled(name: str, *, until: int) -> Callable[[Spelling], Spelling]:
    """Register a function that spells an op out for opsets up to `until`."""

    def register(function: Spelling) -> Spelling:
        def export(node: Node, write: NodeWriter) -> None:
            function(node, Spelled(node, write))

        exporter(name, until=until)(export)
        return function

    return register


@spelled("HardSwish", until=13)
def hard_swish(node: Node, spell: Spelled) -> None:
    """x * HardSigmoid(x)."""
    (x,) = spell.inputs()
    spell.end("Mul", x, spell.add("HardSigmoid", x, alpha=1 / 6, beta=0.5))


@spelled("Mish", until=17)
def mish(node: Node, spell: Spelled) -> None:
    """x * tanh(softplus(x))."""
    (x,) = spell.inputs()
    spell.end("Mul", x, spell.add("Tanh", spell.add("Softplus", x)))


@spelled("Celu", until=27)
def celu(node: Node, spell: Spelled) -> None:
    """relu(x) + alpha * elu(min(x, 0) / alpha); float32 has a node of its own since 12."""
    op, write = node.op, spell.write
    assert isinstance(op, Celu)
    if write.opset >= 12 and spell.dtype == FLOAT32:
        names = [write.name(value) for value in node.inputs]
        return write.node("Celu", names, write.outputs(node), name=node.name, alpha=op.alpha)
    if op.alpha <= 0:
        raise SaveError(f"alpha is {op.alpha}", fix="opset 28 or later can say it")
    (x,) = spell.inputs()
    below = spell.add("Neg", spell.add("Relu", spell.add("Neg", x)))
    bent = spell.add("Mul", spell.add("Elu", spell.add("Div", below, op.alpha)), op.alpha)
    spell.end("Add", spell.add("Relu", x), bent)


@spelled("Gelu", until=19)
def gelu(node: Node, spell: Spelled) -> None:
    """x / 2 * (1 + erf(x / sqrt(2))), or the formula with tanh."""
    op = node.op
    assert isinstance(op, Gelu)
    (x,) = spell.inputs()
    if op.approximate == "tanh":
        cube = spell.add("Mul", spell.add("Mul", spell.add("Mul", x, x), x), 0.044715)
        inner = spell.add("Tanh", spell.add("Mul", spell.add("Add", x, cube), np.sqrt(2 / np.pi)))
    else:
        inner = spell.add("Erf", spell.add("Mul", x, np.sqrt(0.5)))
    spell.end("Mul", spell.add("Mul", x, 0.5), spell.add("Add", inner, 1.0))


@spelled("Swish", until=23)
def swish(node: Node, spell: Spelled) -> None:
    """x * sigmoid(alpha * x)."""
    op = node.op
    assert isinstance(op, Swish)
    (x,) = spell.inputs()
    spell.end("Mul", x, spell.add("Sigmoid", _scaled(x, op.alpha, spell)))


@spelled("SwiGLU", until=27)
def swiglu(node: Node, spell: Spelled) -> None:
    """gate * sigmoid(alpha * gate) * value."""
    op = node.op
    assert isinstance(op, SwiGLU)
    gate, value = spell.inputs()
    spell.end("Mul", spell.add("Mul", gate, spell.add("Sigmoid", _scaled(gate, op.alpha, spell))), value)


def _scaled(name: str, factor: float, spell: Spelled) -> str:
    return name if factor == 1 else spell.add("Mul", name, factor)
