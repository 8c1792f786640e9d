"""Normalisation fused with sums, embeddings and gates: equal to onnxruntime."""

import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import chance, compare, configurations, floats, lengths, model_of

import whorl


def test_skip_layer_normalization_equals_onnxruntime():
    for rng in configurations():
        batch, time, size = (*lengths(rng, 2), int(rng.integers(2, 8)))
        skip = floats(rng, *[(batch, time, size), (time, size), (1, time, size)][rng.integers(3)])
        inputs = [floats(rng, batch, time, size), skip, floats(rng, size)]
        beta, bias = (floats(rng, size) if chance(rng) else None for _ in range(2))
        outputs = [True, False, False, True] if chance(rng) else [True]
        compare("SkipLayerNormalization", [*inputs, beta, bias], outputs, epsilon=1e-5)


def test_skip_simplified_layer_normalization_equals_onnxruntime():
    for rng in configurations():
        batch, time, size = (*lengths(rng, 2), int(rng.integers(2, 8)))
        inputs = [floats(rng, batch, time, size), floats(rng, batch, time, size), floats(rng, size)]
        bias = floats(rng, size) if chance(rng) else None
        outputs = [True, False, False, True] if chance(rng) else [True]
        compare("SkipSimplifiedLayerNormalization", [*inputs, bias], outputs, epsilon=1e-5)


def test_simplified_layer_normalization_equals_onnxruntime():
    for rng in configurations():
        shape = lengths(rng, 3)
        axis = int(rng.integers(-3, 3))
        inputs = [floats(rng, *shape), floats(rng, *shape[axis:])]
        outputs = [True] * int(rng.integers(1, 3))
        compare("SimplifiedLayerNormalization", inputs, outputs, domain="", axis=axis, epsilon=1e-5)


def test_layer_normalization_before_its_first_version_equals_onnxruntime():
    for rng in configurations():
        shape = lengths(rng, 3)
        inputs = [floats(rng, *shape), floats(rng, shape[-1]), floats(rng, shape[-1])]
        compare("LayerNormalization", inputs, domain="", opset=13, axis=-1, epsilon=1e-5)


def test_embed_layer_normalization_equals_onnxruntime():
    for rng in configurations():
        batch, time, size = (*lengths(rng, 2), int(rng.integers(2, 8)))
        ids = rng.integers(0, 7, (batch, time)).astype(np.int32)
        has_segments, has_mask, has_order = chance(rng), chance(rng), chance(rng)
        segments = rng.integers(0, 2, (batch, time)).astype(np.int32) if has_segments else None
        table = floats(rng, 2, size) if has_segments else None
        mask = rng.integers(0, 2, (batch, time)).astype(np.int32) if has_mask else None
        order = rng.integers(0, 6, (batch, time)).astype(np.int32) if has_order else None
        weights = floats(rng, 7, size), floats(rng, 6, size), table, floats(rng, size), floats(rng, size)
        outputs = [True, True, chance(rng)]
        compare("EmbedLayerNormalization", [ids, segments, *weights, mask, order], outputs)


def test_gated_rms_norm_equals_onnxruntime():
    for rng in configurations():
        batch, time, heads, size = lengths(rng, 4)
        shape = batch, time, heads * size
        kind = ["silu", "swish", "sigmoid"][rng.integers(3)]
        compare("GatedRMSNorm", [floats(rng, *shape), floats(rng, size), floats(rng, *shape)], activation=kind)


def test_gated_rms_norm_with_an_unknown_gate_is_refused():
    x, scale = np.ones((1, 4), np.float32), np.ones(4, np.float32)
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(model_of("GatedRMSNorm", [x, scale, x], activation="relu"))
    assert str(caught.value) == ("GatedRMSNorm 'node': activation 'relu' is not known\n  fix: silu, swish or sigmoid")
