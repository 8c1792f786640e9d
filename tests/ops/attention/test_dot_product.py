"""Attention against onnxruntime and a plain loop over queries and keys."""

import math

import ml_dtypes
import numpy as np
import pytest
from ops.attention.samples import configuration, normal
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.attention.dot_product import Attention

FLOAT32 = np.dtype(np.float32)
LOWEST = np.finfo(np.float32).min


def run(op, inputs):
    with np.errstate(all="ignore"):
        return op.run(*inputs)


@pytest.mark.parametrize("seed", range(60))
def test_random_configuration_equals_onnxruntime(seed):
    attributes, inputs = configuration(seed)
    expected = onnxruntime_run(single_node("Attention", inputs, 24, 4, **attributes), feeds(inputs))
    for mine, theirs in zip(run(Attention(**attributes), inputs), expected, strict=True):
        # onnxruntime masks with the lowest finite number
        np.testing.assert_allclose(np.maximum(mine, LOWEST), theirs, rtol=1e-4, atol=1e-5)


def attended(op, offset, i, j, nonpad):
    """Whether query i may attend key j, masks aside."""
    position = offset + i
    return (
        (not op.is_causal or j <= position)
        and (op.left_window_size < 0 or j >= position - op.left_window_size)
        and (op.right_window_size < 0 or j <= position + op.right_window_size)
        and (nonpad is None or j < nonpad)
    )


def plainly(op, q, k, v, mask, past_key, past_value, nonpad):
    """Y for inputs of rank 4, one query at a time in Python floats."""
    if past_key is not None:
        k, v = np.concatenate([past_key, k], axis=2), np.concatenate([past_value, v], axis=2)
    (batch, heads, queries, size), (_, kv_heads, keys, _) = q.shape, k.shape
    y = np.zeros((batch, heads, queries, v.shape[3]))
    scale = 1 / math.sqrt(size) if op.scale is None else op.scale
    full = None if mask is None else np.broadcast_to(mask, (batch, heads, queries, keys))
    for b, h, i in np.ndindex(batch, heads, queries):
        limit = None if nonpad is None else int(nonpad[b])
        offset = past_key.shape[2] if past_key is not None else 0 if limit is None else limit - queries
        weights = np.zeros(keys)
        for j in range(keys):
            allowed = attended(op, offset, i, j, limit)
            score = scale * float(q[b, h, i].astype(float) @ k[b, h * kv_heads // heads, j].astype(float))
            score = op.softcap * math.tanh(score / op.softcap) if op.softcap else score
            if full is not None and full.dtype == bool:
                allowed = allowed and full[b, h, i, j]
            elif full is not None:
                score += float(full[b, h, i, j])
            weights[j] = math.exp(score) if allowed else 0
        if weights.sum():
            y[b, h, i] = weights / weights.sum() @ v[b, h * kv_heads // heads].astype(float)
    return y


@pytest.mark.parametrize("seed", range(60))
def test_windows_equal_the_plain_loop(seed):
    attributes, inputs = configuration(seed, windows=True)
    op = Attention(**attributes)
    y = run(op, inputs)[0]
    heads = attributes.get("q_num_heads"), attributes.get("kv_num_heads"), attributes.get("kv_num_heads")
    if heads[0]:
        split = [x.reshape(*x.shape[:2], n, -1).swapaxes(1, 2) for x, n in zip(inputs[:3], heads, strict=True)]
        expected = plainly(op, *split, *inputs[3:]).swapaxes(1, 2).reshape(y.shape)
    else:
        expected = plainly(op, *inputs)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_row_that_attends_nothing_is_zero():
    rng = np.random.default_rng(0)
    q, k, v = normal(rng, 1, 1, 2, 3), normal(rng, 1, 1, 2, 3), normal(rng, 1, 1, 2, 3)
    mask = np.array([[False, False], [True, False]])
    y, _, _, weights = run(Attention(qk_matmul_output_mode=3), (q, k, v, mask))
    assert not y[0, 0, 0].any() and weights[0, 0].tolist() == [[0, 0], [1, 0]]
    np.testing.assert_array_equal(y[0, 0, 1], v[0, 0, 0])


@pytest.mark.parametrize("backend", ["interpreter", "native"])
def test_scores_of_minus_infinity_that_no_mask_made_give_nan(backend):
    q, k = np.full((1, 1, 1, 2), -np.inf, np.float32), np.ones((1, 1, 3, 2), np.float32)
    options = whorl.SessionOptions()
    options.backend = backend
    model = single_node("Attention", [q, k, k], 24)
    (y,) = whorl.InferenceSession(model, options).run(None, feeds([q, k, k]))
    assert np.isnan(y).all()


@pytest.mark.parametrize("backend", ["interpreter", "native"])
def test_mask_of_nan_gives_nan(backend):
    q, mask = np.ones((1, 1, 2, 2), np.float32), np.array([[np.nan], [-np.inf]], np.float32)
    options = whorl.SessionOptions()
    options.backend = backend
    inputs = [q, q[:, :, :1], q[:, :, :1], mask]
    (y,) = whorl.InferenceSession(single_node("Attention", inputs, 24), options).run(None, feeds(inputs))
    np.testing.assert_array_equal(y, [[[[np.nan, np.nan], [0, 0]]]])


def test_mask_shorter_than_the_keys_leaves_the_rest_out():
    rng = np.random.default_rng(1)
    q, k, v = normal(rng, 1, 1, 2, 3), normal(rng, 1, 1, 5, 3), normal(rng, 1, 1, 5, 3)
    for mask in (np.ones((2, 3), np.bool_), np.zeros((2, 3), np.float32)):
        y = run(Attention(), (q, k, v, mask))[0]
        np.testing.assert_allclose(y, run(Attention(), (q, k[:, :, :3], v[:, :, :3]))[0], rtol=1e-6)


def test_no_keys_give_zero():
    q, k = np.ones((2, 2, 3, 4), np.float32), np.ones((2, 1, 0, 4), np.float32)
    y, _, _, scores = run(Attention(), (q, k, k))
    assert y.shape == (2, 2, 3, 4) and not y.any() and scores.shape == (2, 2, 3, 0)


def test_heads_of_size_zero_attend_evenly():
    q, v = np.ones((1, 1, 2, 0), np.float32), np.array([[[[1.0], [3.0]]]], np.float32)
    assert run(Attention(), (q, q, v))[0].tolist() == [[[[2], [2]]]]


def test_raw_scores_come_before_softcap():
    q = np.full((1, 1, 1, 1), 3, np.float32)
    outputs = [run(Attention(softcap=2.0, qk_matmul_output_mode=mode), (q, q, q))[3].item() for mode in range(4)]
    np.testing.assert_allclose(outputs, [9, 2 * math.tanh(4.5), 2 * math.tanh(4.5), 1], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_rounded_once(dtype):
    rng = np.random.default_rng(2)
    q, k, v = (normal(rng, 2, 3, 5, 8).astype(dtype) for _ in range(3))
    exact = run(Attention(is_causal=1), [x.astype(np.float64) for x in (q, k, v)])[0]
    y, present_key, _, scores = run(Attention(is_causal=1), (q, k, v))
    assert y.dtype == present_key.dtype == scores.dtype == dtype
    half_ulp = 1.01 * float(ml_dtypes.finfo(dtype).eps) / 2
    np.testing.assert_allclose(y.astype(np.float64), exact, rtol=half_ulp, atol=1e-6)


def test_softmax_precision_rounds_the_weights():
    rng = np.random.default_rng(3)
    q, k, v = (normal(rng, 1, 1, 4, 8) for _ in range(3))
    op = Attention(softmax_precision=np.dtype(np.float16), qk_matmul_output_mode=3)
    weights = run(op, (q, k, v))[3]
    assert weights.dtype == np.float32
    np.testing.assert_array_equal(weights, weights.astype(np.float16).astype(np.float32))


# ---- types ---------------------------------------------------------------------------------------------------------


def fact(*shape, dtype=FLOAT32):
    return Known(TensorType(dtype, shape))


def test_infer_follows_named_dims():
    b, s, p = dims.name("B"), dims.name("S"), dims.name("P")
    q, k, v = fact(b, s, 12), fact(b, s, 6), fact(b, s, 10)
    past = fact(b, 2, p, 3), fact(b, 2, p, 5)
    types = Attention(q_num_heads=4, kv_num_heads=2).infer(q, k, v, None, *past)
    assert [str(t) for t in types] == [
        "float32[B, S, 20]",
        "float32[B, 2, P+S, 3]",
        "float32[B, 2, P+S, 5]",
        "float32[B, 4, S, P+S]",
    ]


def test_infer_of_unranked_inputs_knows_the_ranks_that_are_fixed():
    unranked = Known(TensorType(FLOAT32, UNRANKED))
    assert [t.rank for t in Attention().infer(unranked, unranked, unranked)] == [None, 4, 4, 4]


MASK_ROWS = "attn_mask without its last axis"
Q, K, V = fact(1, 4, 3, 8), fact(1, 2, 5, 8), fact(1, 2, 5, 6)


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        (Attention(), (fact(1, 3, 8), K, V), "Q, K and V have ranks [3, 4]"),
        (Attention(), (fact(1, 3, 8),) * 3, "Q has rank 3 and its number of heads is not given"),
        (Attention(), (Q, fact(1, 3, 5, 8), fact(1, 3, 5, 6)), "4 query heads cannot share 3 key heads"),
        (Attention(), (Q, K, V, None, K), "past_key and past_value must be given together"),
        (Attention(), (Q, fact(1, 2, 5, 7), V), "head size of Q and K is both 8 and 7"),
        (Attention(left_window_size=-2), (Q, K, V), "a window size is below -1"),
        (Attention(), (Q, K, V, fact(3, 6)), "attn_mask is for 6 keys, there are 5"),
        (Attention(), (Q, K, V, fact(2, 5)), f"{MASK_ROWS} has shape [2], which does not broadcast to [1, 4, 3]"),
    ],
)
def test_infer_refuses(op, inputs, message):
    with pytest.raises(TypeRuleError) as caught:
        op.infer(*inputs)
    assert caught.value.message == message


def test_run_refuses_what_infer_refuses():
    q = np.ones((1, 1, 2, 3), np.float32)
    with pytest.raises(RunError) as caught:
        Attention().run(q, q, q, np.ones((2, 4), np.bool_))
    assert str(caught.value) == "attn_mask is for 4 keys, there are 2"
