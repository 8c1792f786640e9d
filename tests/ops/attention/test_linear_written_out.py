"""LinearAttention as a loop and its convolution as one of ONNX's, interpreted and compiled, against `run`."""

import numpy as np
import pytest
from onnx_text import model
from written_out import check_written_out

import whorl
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.attention.linear_attention import CausalConvWithState, LinearAttention
from whorl.runtime.session import Session

RULES = {"linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True)}
RNG = np.random.default_rng(0)


def normal(*shape, dtype=np.float32):
    return RNG.normal(size=shape).astype(dtype)


def tokens(rule, per_key=True, per_head=True, past=True, dtype=np.float32):
    """Two batches, four tokens, six query heads that share two states of 3 by 5."""
    decay, beta = (-(normal(2, 4, 6 if per_key else 2) ** 2), normal(2, 4, 2 if per_head else 1))
    gated, delta = RULES[rule]
    inputs = [normal(2, 4, 18), normal(2, 4, 6), normal(2, 4, 10), None, decay if gated else None]
    inputs = [None if x is None else x.astype(dtype) for x in (*inputs, beta if delta else None)]
    inputs[3] = normal(2, 2, 3, 5) if past else None
    return inputs


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("per_key", "per_head", "past"), [(True, True, True), (False, False, False)])
def test_attention_is_a_loop_over_tokens(rule, per_key, per_head, past):
    op = LinearAttention(q_num_heads=6, kv_num_heads=2, update_rule=rule)
    check_written_out(op, tokens(rule, per_key, per_head, past), 2, 1e-5)


def test_attention_of_narrow_floats_is_rounded_once():
    op = LinearAttention(q_num_heads=6, kv_num_heads=2, scale=0.5)
    check_written_out(op, tokens("gated_delta", dtype=np.float16), 2, 2e-3)


@pytest.mark.parametrize("activation", ["none", "silu"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_convolution_is_one_of_each_channel(activation, dtype):
    x, weight, bias, past = (normal(*s, dtype=dtype) for s in ((2, 4, 5), (4, 1, 3), (4,), (2, 4, 2)))
    op, tolerance = CausalConvWithState(activation=activation), 5e-3 if dtype == np.float16 else 1e-5
    for inputs in ((x, weight, bias, past), (x, weight), (x[:, :, :1], weight, None, past)):
        check_written_out(op, inputs, 2, tolerance)


def test_lengths_that_may_differ_remain_one_op():
    region, build = Region(), None
    build = Builder(region, Inference())
    shapes = [(dims.name(name), 4, 6) for name in "abc"]
    q, k, v = (region.add_argument("x", TensorType(np.dtype(np.float32), shape)) for shape in shapes)
    assert LinearAttention(q_num_heads=2, kv_num_heads=2, update_rule="linear").decompose([q, k, v], build) is None
    assert CausalConvWithState().decompose([q, k], build) is None


def test_tokens_and_batches_are_of_any_number():
    graph = """main (float[b, t, 18] q, float[b, t, 6] k, float[b, t, 10] v)
        => (float[b, t, 30] y, float[b, 2, 3, 5] s) {
        y, s = LinearAttention<q_num_heads = 6, kv_num_heads = 2, update_rule = "linear">(q, k, v)
    }"""
    made = Session(whorl.load(model(graph, 27)), backend="native")
    op = LinearAttention(q_num_heads=6, kv_num_heads=2, update_rule="linear")
    for batch, time in ((2, 4), (1, 9), (3, 1), (2, 0)):
        inputs = [normal(batch, time, n) for n in (18, 6, 10)]
        for actual, expected in zip(
            made.execute(None, dict(zip("qkv", inputs, strict=True))), op.run(*inputs), strict=True
        ):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
    assert [(verdict.how, verdict.calls) for verdict in made.explain()] == [("native", [])]
