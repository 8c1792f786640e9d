"""Attention with packed projections, of queries, keys and values, quantised, and recurrent: equal to onnxruntime."""

import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import chance, compare, configurations, floats, lengths, model_of

import whorl


def masks(rng, batch, queries, keys):
    """No mask, lengths, ends and starts, or 0 and 1 for every key, or for every pair; each row keeps a key."""
    ends = rng.integers(1, keys + 1, batch)
    match rng.integers(5):
        case 0:
            return None
        case 1:
            return ends.astype(np.int32)
        case 2:
            return np.concatenate([ends, rng.integers(0, ends)]).astype(np.int32)
        case 3:
            return (np.arange(keys) < ends[:, None]).astype(np.int32)
        case _:
            mask = rng.integers(0, 2, (batch, queries, keys)).astype(np.int32)
            mask[..., 0] = 1
            return mask


def test_attention_equals_onnxruntime():
    for rng in configurations(40):
        batch, time, heads, size, past = lengths(rng, 5, 4)
        past = past if chance(rng) else 0
        hidden = 5
        sizes = [heads * size, heads * size, heads * (size + 1)] if chance(rng) and not past else None
        width = sum(sizes) if sizes else 3 * heads * size
        earlier = floats(rng, 2, batch, heads, past, size) if past else None
        bias = floats(rng, batch, heads, time, time + past) if chance(rng) and not past else None
        mask = masks(rng, batch, time, time + past)
        inputs = [floats(rng, batch, time, hidden), floats(rng, hidden, width), floats(rng, width), mask, earlier, bias]
        attributes = {"num_heads": heads, "unidirectional": int(chance(rng))}
        if sizes:
            attributes["qkv_hidden_sizes"] = sizes
        if chance(rng):
            attributes["scale"] = 0.5
        outputs = [True, True] if past else [True]
        compare("Attention", inputs, outputs, tolerance=1e-4, constants=[1, 2], **attributes)


def test_quantized_attention_equals_onnxruntime():
    for rng in configurations():
        batch, time, heads, size = lengths(rng, 4, 4)
        hidden, width = 5, 3 * heads * size
        x = rng.integers(0, 256, (batch, time, hidden)).astype(np.uint8)
        dtype = [np.uint8, np.int8][rng.integers(2)]
        # Without VNNI onnxruntime saturates sums of two products of uint8 and int8 at 16 bits: 2 * 255 * 63 is below.
        weights = rng.integers(0, 64, (hidden, width)).astype(dtype)
        scales = np.array(0.01, np.float32), np.array(0.02, np.float32)
        mask = rng.integers(1, time + 1, batch).astype(np.int32) if chance(rng) else None
        zeros = np.array(120, np.uint8), np.array(50, dtype)
        inputs = [x, weights, floats(rng, width), *scales, mask, *zeros]
        attributes = {"num_heads": heads, "unidirectional": int(chance(rng))}
        compare("QAttention", inputs, tolerance=1e-4, constants=[1], **attributes)


def test_multi_head_attention_equals_onnxruntime():
    for rng in configurations(40):
        batch, queries, keys, heads, size = lengths(rng, 5, 4)
        past = int(rng.integers(1, 4)) if chance(rng) else 0
        inputs = [floats(rng, batch, queries, heads * size)]
        keys = queries if past else keys
        inputs += [floats(rng, batch, keys, heads * size), floats(rng, batch, keys, heads * size)]
        inputs.append(floats(rng, 3 * heads * size) if chance(rng) else None)
        total = keys + past
        ends = rng.integers(1, total + 1, batch)
        mask = (np.arange(total) < ends[:, None]).astype(np.int32) if chance(rng) else None
        bias = floats(rng, *[(1, heads), (batch, heads)][rng.integers(2)], queries, total) if chance(rng) else None
        earlier = [floats(rng, batch, heads, past, size), floats(rng, batch, heads, past, size)] if past else []
        outputs = [True] * 3 if past else [True]
        attributes = {"num_heads": heads, "unidirectional": int(chance(rng) and queries == keys)}
        compare("MultiHeadAttention", [*inputs, mask, bias, *earlier], outputs, tolerance=1e-4, **attributes)


def test_multi_head_attention_over_heads_of_keys_equals_onnxruntime():
    for rng in configurations():
        batch, queries, keys, heads, size = lengths(rng, 5, 4)
        others = [floats(rng, batch, heads, keys, size) for _ in range(2)]
        inputs = [floats(rng, batch, queries, heads * size), *others]
        compare("MultiHeadAttention", inputs, tolerance=1e-4, num_heads=heads)


def test_multi_head_attention_with_scores_as_output_is_refused():
    x = np.ones((1, 2, 4), np.float32)
    with pytest.raises(whorl.UnsupportedError) as caught:
        whorl.load(model_of("MultiHeadAttention", [x, x, x], [True] * 4, num_heads=2))
    assert str(caught.value) == "MultiHeadAttention 'node': output 3 (qk) is not implemented"


def test_attention_that_rotates_is_refused():
    x, w = np.ones((1, 2, 4), np.float32), np.ones((4, 12), np.float32)
    with pytest.raises(whorl.UnsupportedError) as caught:
        whorl.load(model_of("Attention", [x, w], num_heads=2, do_rotary=1))
    assert str(caught.value) == "Attention 'node': attribute 'do_rotary' is 1; only 0 is implemented"


def test_attention_with_a_shared_buffer_is_refused():
    x, w = np.ones((1, 2, 4), np.float32), np.ones((4, 12), np.float32)
    with pytest.raises(whorl.UnsupportedError) as caught:
        whorl.load(model_of("Attention", [x, w, None, None, None, None, np.ones(1, np.int32)], num_heads=2))
    assert str(caught.value) == (
        "Attention 'node': input 6 (past_sequence_length) is not implemented\n  fix: leave it out"
    )


def test_linear_attention_equals_onnxruntime():
    for rng in configurations():
        batch, time, heads, size = lengths(rng, 4, 4)
        rule = ["linear", "gated", "delta", "gated_delta"][rng.integers(4)]
        packed = [floats(rng, batch, time, heads * size) * 0.5 for _ in range(3)]
        past = floats(rng, batch, heads, size, size) if chance(rng) else None
        decay = -np.abs(floats(rng, batch, time, heads)) if "gated" in rule else None
        beta = rng.uniform(0, 1, (batch, time, heads)).astype(np.float32) if "delta" in rule else None
        attributes = {"q_num_heads": heads, "kv_num_heads": heads, "update_rule": rule}
        compare("LinearAttention", [*packed, past, decay, beta], [True, True], tolerance=1e-4, **attributes)


def test_causal_convolution_equals_onnxruntime():
    for rng in configurations():
        batch, channels, time = lengths(rng, 3)
        width = int(rng.integers(2, 5))
        bias = floats(rng, channels) if chance(rng) else None
        past = floats(rng, batch, channels, width - 1) if chance(rng) else None
        inputs = [floats(rng, batch, channels, time), floats(rng, channels, 1, width), bias, past]
        kind = ["none", "silu", "swish"][rng.integers(3)]
        compare("CausalConvWithState", inputs, [True, True], activation=kind)
