"""Gelu in its forms, and gates: equal to onnxruntime."""

import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import chance, compare, configurations, floats, lengths, model_of

import whorl


@pytest.mark.parametrize("name", ["Gelu", "BiasGelu", "FastGelu"])
def test_gelu_equals_onnxruntime(name):
    for rng in configurations():
        shape = lengths(rng, rng.integers(2, 4))
        has_bias = name == "BiasGelu" or (name == "FastGelu" and chance(rng))
        compare(name, [floats(rng, *shape) * 3, *([floats(rng, shape[-1])] if has_bias else [])])


def test_quick_gelu_equals_onnxruntime():
    for rng in configurations():
        attributes = {"alpha": float(np.float32(rng.uniform(0.5, 2)))} if chance(rng) else {}
        compare("QuickGelu", [floats(rng, *lengths(rng, rng.integers(1, 4)))], **attributes)


def test_scaled_silu_equals_onnxruntime():
    for rng in configurations():
        x = floats(rng, *lengths(rng, 2))
        scale = np.array(rng.uniform(0.5, 2), np.float32) if chance(rng) else None
        compare("ScaledSiLU", [x, scale], alpha=float(np.float32(rng.uniform(0.5, 2))))


def test_gated_add_equals_onnxruntime():
    for rng in configurations():
        shape = lengths(rng, 3)
        compare("GatedAdd", [floats(rng, *shape), floats(rng, *shape), floats(rng, *shape[:-1], 1)])


def test_linear_attention_gate_equals_onnxruntime():
    for rng in configurations():
        batch, time, heads = lengths(rng, 3)
        a, bias, scale = floats(rng, batch, time, heads), floats(rng, heads), floats(rng, heads)
        b = [floats(rng, batch, time, heads)] if chance(rng) else []
        compare("LinearAttentionGate", [a, bias, scale, *b], [True] * (1 + len(b)))


def test_unknown_activation_is_refused():
    x, w = np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 1, 1), np.float32)
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(model_of("FusedConv", [x, w], activation="Swirl"))
    assert str(caught.value) == "FusedConv 'node': activation 'Swirl' with the numbers [] is not known"
