"""Attention over a buffer of past keys, and rotary positions: equal to onnxruntime."""

import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import chance, compare, configurations, floats, lengths, model_of

import whorl


def caches(rng, positions, columns):
    angles = rng.uniform(0, 6, (positions, columns))
    return [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]


def test_rotary_embedding_equals_onnxruntime():
    for rng in configurations():
        batch, time, heads = lengths(rng, 3)
        size = int(rng.integers(1, 4)) * 2
        x = floats(rng, batch, heads, time, size) if chance(rng) else floats(rng, batch, time, heads * size)
        is_partial = chance(rng) and x.ndim == 3 and size > 2
        offset = rng.integers(0, 3, 1)
        positions = offset if chance(rng) else rng.integers(0, 9, (batch, time))
        attributes = {"interleaved": int(chance(rng))}
        if is_partial:
            attributes |= {"num_heads": heads, "rotary_embedding_dim": 2}
        columns = 1 if is_partial else size // 2
        compare("RotaryEmbedding", [x, positions, *caches(rng, 9, columns)], **attributes)


def grouped(rng, past, count, batch, has_rotary):
    """Inputs for rows of as many past tokens each, over a buffer that is as long as the longest."""
    shared, group, size = int(rng.integers(1, 3)), int(rng.integers(1, 3)), 16
    total = max(past) + count
    buffers = [floats(rng, batch, shared, max(past), size) for _ in range(2)] if max(past) else [None, None]
    new = [floats(rng, batch, count, heads * size) for heads in (shared * group, shared, shared)]
    if chance(rng):
        new = [np.concatenate(new, axis=2), None, None]
    ends = np.array(past, np.int32) + count - 1
    tables = caches(rng, total, size // 2) if has_rotary else []
    attributes = {"num_heads": shared * group, "kv_num_heads": shared}
    return [*new, *buffers, ends, np.array(total, np.int32), *tables], attributes


def test_group_query_attention_equals_onnxruntime():
    for rng in configurations(40):
        batch, count = lengths(rng, 2, 4)
        length = int(rng.integers(0, 5)) if chance(rng) else 0
        if length:
            batch, count = (batch, 1) if chance(rng) else (1, count)
        inputs, attributes = grouped(rng, [length] * batch, count, batch, has_rotary := chance(rng))
        attributes |= {"do_rotary": int(has_rotary), "rotary_interleaved": int(has_rotary and chance(rng))}
        if chance(rng):
            attributes["local_window_size"] = int(rng.integers(1, 5))
        if chance(rng):
            attributes["softcap"] = 2.0
        if chance(rng):
            attributes["smooth_softmax"] = 1
        compare("GroupQueryAttention", inputs, [True] * 3, tolerance=1e-4, **attributes)


def test_group_query_attention_of_rows_of_other_lengths_equals_onnxruntime():
    for rng in configurations():
        batch = int(rng.integers(2, 4))
        past = rng.integers(1, 6, batch).tolist()
        inputs, attributes = grouped(rng, past, 1, batch, has_rotary := chance(rng))
        compare("GroupQueryAttention", inputs, [True] * 3, tolerance=1e-4, do_rotary=int(has_rotary), **attributes)


def test_group_query_attention_with_quantised_keys_is_refused():
    rng = np.random.default_rng(0)
    inputs, attributes = grouped(rng, [0], 2, 1, False)
    with pytest.raises(whorl.UnsupportedError) as caught:
        whorl.load(model_of("GroupQueryAttention", inputs, [True] * 3, k_quant_type="PER_TENSOR", **attributes))
    assert str(caught.value) == (
        "GroupQueryAttention 'node': attribute 'k_quant_type' is 'PER_TENSOR'; only 'NONE' is implemented"
    )
