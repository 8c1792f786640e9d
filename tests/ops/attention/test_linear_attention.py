"""LinearAttention and CausalConvWithState against their formulas written out."""

import math

import ml_dtypes
import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.attention.linear_attention import CausalConvWithState, LinearAttention

FLOAT32 = np.dtype(np.float32)
BATCH, TIME, HEADS, SHARED, D_K, D_V = 2, 4, 2, 3, 3, 5
RULES = {"linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True)}


def tensors(rule, per_key=True, per_head=True, past=True):
    rng = np.random.default_rng(0)
    query, key, value = (rng.normal(size=(BATCH, TIME, n)) for n in (HEADS * SHARED * D_K, HEADS * D_K, HEADS * D_V))
    state = rng.normal(size=(BATCH, HEADS, D_K, D_V)) if past else None
    decay = -rng.uniform(size=(BATCH, TIME, HEADS * (D_K if per_key else 1)))
    beta = rng.uniform(size=(BATCH, TIME, HEADS if per_head else 1))
    gated, delta = RULES[rule]
    inputs = [query, key, value, state, decay if gated else None, beta if delta else None]
    return [None if x is None else x.astype(np.float32) for x in inputs]


def plainly(query, key, value, past, decay, beta):
    """The recurrence one head and one token at a time."""
    output, states = np.zeros((BATCH, TIME, HEADS * SHARED, D_V)), np.zeros((BATCH, HEADS, D_K, D_V))
    states = states if past is None else past.astype(float)
    for b, h in np.ndindex(BATCH, HEADS):
        for t in range(TIME):
            k, v = key[b, t, h * D_K : (h + 1) * D_K], value[b, t, h * D_V : (h + 1) * D_V]
            if decay is not None:
                g = decay[b, t].reshape(HEADS, -1)[h]
                states[b, h] = np.exp(g)[:, None] * states[b, h]
            if beta is not None:
                v = beta[b, t, h % beta.shape[2]] * (v - states[b, h].T @ k)
            states[b, h] += np.outer(k, v)
            for q in range(h * SHARED, (h + 1) * SHARED):
                output[b, t, q] = states[b, h].T @ query[b, t, q * D_K : (q + 1) * D_K] / math.sqrt(D_K)
    return output.reshape(BATCH, TIME, -1), states


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("per_key", [False, True])
@pytest.mark.parametrize("per_head", [False, True])
@pytest.mark.parametrize("past", [False, True])
def test_equals_the_recurrence_written_out(rule, per_key, per_head, past):
    inputs = tensors(rule, per_key, per_head, past)
    op = LinearAttention(q_num_heads=HEADS * SHARED, kv_num_heads=HEADS, update_rule=rule)
    for mine, expected in zip(op.run(*inputs), plainly(*inputs), strict=True):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, expected, rtol=1e-4, atol=1e-5)


def test_token_by_token_equals_all_at_once():
    query, key, value, state, decay, beta = tensors("gated_delta")
    op = LinearAttention(q_num_heads=HEADS * SHARED, kv_num_heads=HEADS, scale=0.5)
    output, final = op.run(query, key, value, state, decay, beta)
    for t in range(TIME):
        now = slice(t, t + 1)
        step, state = op.run(query[:, now], key[:, now], value[:, now], state, decay[:, now], beta[:, now])
        np.testing.assert_allclose(step, output[:, now], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state, final, rtol=1e-5, atol=1e-6)


def test_state_keeps_its_own_type():
    inputs = tensors("linear")
    narrow = [x if x is None or k == 3 else x.astype(np.float16) for k, x in enumerate(inputs)]
    op = LinearAttention(q_num_heads=HEADS * SHARED, kv_num_heads=HEADS, update_rule="linear")
    output, state = op.run(*narrow)
    assert output.dtype == np.float16 and state.dtype == np.float32
    without = op.run(*narrow[:3])
    assert without[1].dtype == np.float16


def test_no_tokens_leave_the_state():
    inputs = tensors("linear")
    op = LinearAttention(q_num_heads=HEADS * SHARED, kv_num_heads=HEADS, update_rule="linear")
    output, state = op.run(*(x[:, :0] for x in inputs[:3]), inputs[3])
    assert output.shape == (BATCH, 0, HEADS * SHARED * D_V)
    np.testing.assert_array_equal(state, inputs[3])


def fact(*shape, dtype=FLOAT32):
    return Known(TensorType(dtype, shape))


def test_infer_follows_named_dims():
    b, t = dims.name("B"), dims.name("T")
    op = LinearAttention(q_num_heads=4, kv_num_heads=2, update_rule="linear")
    output, state = op.infer(fact(b, t, 12), fact(b, t, 6), fact(b, t, 10))
    assert str(output) == "float32[B, T, 20]" and str(state) == "float32[B, 2, 3, 5]"
    unranked = Known(TensorType(FLOAT32, UNRANKED))
    assert [x.rank for x in op.infer(unranked, unranked, unranked)] == [3, 4]


Q, K, V, DECAY, BETA = fact(1, 2, 12), fact(1, 2, 6), fact(1, 2, 10), fact(1, 2, 2), fact(1, 2, 1)


@pytest.mark.parametrize(
    ("rule", "heads", "inputs", "message"),
    [
        ("gated", 4, (Q, K, V), "update_rule 'gated' needs decay"),
        ("linear", 4, (Q, K, V, None, None, BETA), "update_rule 'linear' takes no beta"),
        ("fast", 4, (Q, K, V), "update_rule 'fast' does not exist"),
        ("linear", 3, (Q, K, V), "3 query heads cannot share 2 states"),
        ("gated", 4, (Q, K, V, None, fact(1, 2, 5)), "decay has 5 columns, expected 2 or 6"),
        ("linear", 4, (Q, K, fact(1, 2, 9)), "9 columns are not divisible by 2 heads"),
        ("linear", 4, (Q, K, V, fact(1, 2, 4, 5)), "key size is both 3 and 4"),
    ],
)
def test_infer_refuses(rule, heads, inputs, message):
    with pytest.raises(TypeRuleError) as caught:
        LinearAttention(q_num_heads=heads, kv_num_heads=2, update_rule=rule).infer(*inputs)
    assert caught.value.message == message


# ---- the convolution -----------------------------------------------------------------------------------------------


def convolution_tensors(taps=3, length=5):
    rng = np.random.default_rng(1)
    shapes = (2, 4, length), (4, 1, taps), (4,), (2, 4, taps - 1)
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("activation", ["none", "silu", "swish"])
@pytest.mark.parametrize("taps", [1, 3])
def test_convolution_equals_its_formula(activation, taps):
    x, weight, bias, past = convolution_tensors(taps)
    y, present = CausalConvWithState(activation=activation).run(x, weight, bias, past)
    padded = np.concatenate([past, x], axis=2)
    for b, c, t in np.ndindex(2, 4, 5):
        value = bias[c] + padded[b, c, t : t + taps] @ weight[c, 0]
        value = value if activation == "none" else value / (1 + math.exp(-value))
        assert y[b, c, t] == pytest.approx(value, rel=1e-4, abs=1e-5)
    np.testing.assert_array_equal(present, padded[:, :, 5:])


def test_convolution_column_by_column_equals_all_at_once():
    x, weight, bias, _ = convolution_tensors()
    whole, final = CausalConvWithState().run(x, weight, bias)
    state = None
    for t in range(x.shape[2]):
        y, state = CausalConvWithState().run(x[:, :, t : t + 1], weight, bias, state)
        np.testing.assert_allclose(y[:, :, 0], whole[:, :, t], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(state, final)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_convolution_of_narrow_floats_is_rounded_once(dtype):
    narrow = [value.astype(dtype) for value in convolution_tensors()]
    exact, _ = CausalConvWithState(activation="silu").run(*(value.astype(np.float64) for value in narrow))
    y, present = CausalConvWithState(activation="silu").run(*narrow)
    assert y.dtype == present.dtype == dtype
    half_ulp = 1.01 * float(ml_dtypes.finfo(dtype).eps) / 2
    np.testing.assert_allclose(y.astype(np.float64), exact, rtol=half_ulp, atol=1e-6)


def test_convolution_refuses():
    with pytest.raises(TypeRuleError) as caught:
        CausalConvWithState(activation="relu").infer(fact(1, 2, 3), fact(2, 1, 3))
    assert caught.value.message == "activation 'relu' does not exist"
    with pytest.raises(TypeRuleError) as caught:
        CausalConvWithState().infer(fact(1, 2, 3), fact(2, 1, 3), None, fact(1, 2, 3))
    assert caught.value.message == "length of past_state is both 2 and 3"
    ones = np.ones((1, 2, 3), np.float32)
    with pytest.raises(RunError, match="channels is both 2 and 3"):
        CausalConvWithState().run(ones, np.ones((3, 1, 3), np.float32))
