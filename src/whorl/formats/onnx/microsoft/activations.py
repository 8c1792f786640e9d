"""Gelu in its forms, and gates that scale or add."""

from __future__ import annotations

from whorl.errors import LoadError
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import Formula, contributed
from whorl.ir.dtypes import FLOAT32
from whorl.ir.graph import Value
from whorl.ir.types import tensor


@contributed("Gelu", "BiasGelu")
def gelu(node: OnnxNode, f: Formula) -> Value:
    """By the error function, of the sum with the bias."""
    return f("Gelu", f.add_if(node.required(0), node.input(1)))


@contributed("FastGelu")
def fast_gelu(node: OnnxNode, f: Formula) -> Value:
    """By the hyperbolic tangent, of the sum with the bias."""
    return f("Gelu", f.add_if(node.required(0), node.input(1)), approximate="tanh")


@contributed("QuickGelu")
def quick_gelu(node: OnnxNode, f: Formula) -> Value:
    """x sigmoid(alpha x)."""
    x = node.required(0)
    return f("Mul", x, f("Sigmoid", f("Mul", x, node.attribute("alpha", 1.702))))


@contributed("ScaledSiLU")
def scaled_silu(node: OnnxNode, f: Formula) -> Value:
    """z sigmoid(z) of z = scale x, each rounded to the element type."""
    x, scale = node.required(0), node.input(1)
    if scale is None:
        z = f("Mul", f.cast(x, FLOAT32), node.attribute("alpha", 1.0))
    else:
        z = f("Mul", f.cast(x, FLOAT32), f.cast(f.scalar(scale), FLOAT32))
    z = f.cast(z, tensor(x).dtype)
    return f("Mul", z, f("Sigmoid", z))


@contributed("GatedAdd")
def gated_add(node: OnnxNode, f: Formula) -> Value:
    """x + y gate."""
    return f("Add", node.required(0), f("Mul", node.required(1), node.required(2)))


@contributed("LinearAttentionGate")
def linear_attention_gate(node: OnnxNode, f: Formula) -> list[Value]:
    """decay_scale softplus(a + dt_bias) in float32, rounded once; and the sigmoid of b."""
    a, bias, scale, b = (*node.inputs, None)[:4]
    assert a is not None and bias is not None and scale is not None
    decay = f("Mul", scale, f("Softplus", f("Add", f.cast(a, FLOAT32), bias)))
    if b is None:
        return [f.cast(decay, tensor(a).dtype)]
    beta = f("Sigmoid", f.cast(b, FLOAT32))
    return [f.cast(decay, tensor(a).dtype), f.cast(beta, tensor(a).dtype)]


def activated(node: OnnxNode, f: Formula, x: Value) -> Value:
    """The activation that a fused operator names, of what it computed."""
    name = node.attribute("activation", "")
    numbers = list(node.attribute("activation_params", ()))
    for key, default in (("activation_alpha", 0.0), ("activation_beta", 0.0), ("activation_gamma", 0.0)):
        if key in node.attributes:
            numbers.append(node.attribute(key, default))
    match name, numbers:
        case "", _:
            return x
        case (("Relu" | "Tanh" | "Sigmoid" | "Softplus" | "Softsign" | "HardSwish"), _):
            return f(name, x)
        case (("LeakyRelu" | "Elu" | "ThresholdedRelu"), [alpha, *_]):
            return f(name, x, alpha=alpha)
        case "HardSigmoid", [alpha, beta, *_]:
            return f(name, x, alpha=alpha, beta=beta)
        case "Clip", [low, high, *_]:
            return f(name, x, low, high)
        case _:
            raise LoadError(f"activation {name!r} with the numbers {numbers} is not known")
