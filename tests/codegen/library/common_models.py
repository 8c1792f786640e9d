"""Models such as exporters write, in text: neighbours, machines, forests, lists, decoders, scans, branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from msgspec import Struct
from onnx_text import model
from ops.ml.test_trees import random_forest, votes

F32 = np.dtype(np.float32)
Feeds = Mapping[str, np.ndarray]
RNG = np.random.default_rng(7)


class Common(Struct, frozen=True):
    """A model, and what to feed for a length."""

    proto: onnx.ModelProto
    draw: Callable[[np.random.Generator, int], Feeds]


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(F32)


def rows(width: int) -> Callable[[np.random.Generator, int], Feeds]:
    """Feeds x [n, width]."""
    return lambda rng, n: {"x": floats(rng, n, width)}


def weighted(text: str, **weights: np.ndarray) -> onnx.ModelProto:
    """A model with initializers."""
    made = model(text)
    made.graph.initializer.extend(onnx.numpy_helper.from_array(w, name) for name, w in weights.items())
    return made


def neighbours(outputs: str, result: str) -> onnx.ModelProto:
    """The three nearest of twenty points, by a Scan over rows as skl2onnx writes it, and what follows from them."""
    text = f"""main (float[n, 4] x) => ({outputs}) {{
        distances = Scan <num_scan_inputs = 1, body = step (float[4] row) => (float[20] away) {{
            gap = Sub(points, row)
            square = Mul(gap, gap)
            last = Constant<value_ints = [1]> ()
            away = ReduceSum<keepdims = 0>(square, last)
        }}> (x)
        k = Constant<value_ints = [3]> ()
        axis = Constant<value_ints = [1]> ()
        values, indices = TopK<largest = 0>(distances, k)
        {result}
    }}"""
    return weighted(text, points=floats(RNG, 20, 4), labels=RNG.integers(0, 3, 20), targets=floats(RNG, 20, 2))


CLASSIFIER = neighbours(
    "int64[n] label, float[n, 3] counts",
    """found = Gather(labels, indices)
        classes = Constant<value_int = 3> ()
        switch = Constant<value_floats = [0.0, 1.0]> ()
        each = OneHot(found, classes, switch)
        counts = ReduceSum<keepdims = 0>(each, axis)
        label = ArgMax<axis = 1, keepdims = 0>(counts)""",
)
REGRESSOR = neighbours(
    "float[n, 2] y",
    "found = Gather(targets, indices) y = ReduceMean<keepdims = 0>(found, axis)",
)


def machine_learned(name: str, attributes: dict[str, Any]) -> onnx.ModelProto:
    """One classifier of ai.onnx.ml over rows of four."""
    helper, types = onnx.helper, onnx.TensorProto
    node = helper.make_node(name, ["x"], ["label", "scores"], domain="ai.onnx.ml", **attributes)
    outputs = [
        helper.make_tensor_value_info("label", types.INT64, ["n"]),
        helper.make_tensor_value_info("scores", types.FLOAT, ["n", 3]),
    ]
    graph = helper.make_graph([node], name, [helper.make_tensor_value_info("x", types.FLOAT, ["n", 4])], outputs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def support_vectors() -> onnx.ModelProto:
    attributes = {
        "classlabels_ints": [3, 5, 8],
        "coefficients": floats(RNG, 2 * 9).tolist(),
        "kernel_type": "RBF",
        "kernel_params": [0.25, 0.0, 3.0],
        "rho": floats(RNG, 3).tolist(),
        "support_vectors": floats(RNG, 9 * 4).tolist(),
        "vectors_per_class": [2, 3, 4],
    }
    return machine_learned("SVMClassifier", attributes)


def forest() -> onnx.ModelProto:
    nodes, leaves = random_forest(RNG, trees=7)
    attributes = nodes | votes(RNG, "class", leaves, 3) | {"classlabels_int64s": [5, 6, 7]}
    return machine_learned("TreeEnsembleClassifier", attributes)


STACK = model("""main (float[n, 4] x) => (float[m, 4] y) {
    zero = Constant<value_int = 0> ()
    shape = Shape(x)
    count = Gather(shape, zero)
    true = Constant<value = bool {1}> ()
    none = SequenceEmpty<dtype = 1> ()
    start = Constant<value_floats = [0.0, 0.0, 0.0, 0.0]> ()
    last, states = Loop (count, true, start, none) <
        body = step (int64 i, bool go, float[4] h, seq(float[4]) s) => (bool on, float[4] g, seq(float[4]) t) {
            on = Identity(go)
            row = Gather(x, i)
            sum = Add(h, row)
            g = Tanh(sum)
            t = SequenceInsert(s, g)
        }>
    y = ConcatFromSequence<axis = 0, new_axis = 1>(states)
}""")

DECODER = weighted(
    """main (int64[2, 1] token, float[2, n, 8] keys, float[2, n, 8] values)
        => (float[2, 1, 9] logits, float[2, a, 8] k, float[2, b, 8] v) {
        h = Gather(table, token)
        [norm] x = LayerNormalization(h, scale)
        q = MatMul(x, wq)
        own_key = MatMul(x, wk)
        own_value = MatMul(x, wv)
        k = Concat<axis = 1>(keys, own_key)
        v = Concat<axis = 1>(values, own_value)
        turned = Transpose<perm = [0, 2, 1]>(k)
        scores = MatMul(q, turned)
        weights = Softmax<axis = -1>(scores)
        mixed = MatMul(weights, v)
        sum = Add(h, mixed)
        logits = MatMul(sum, head)
    }""",
    table=floats(RNG, 9, 8),
    scale=floats(RNG, 8),
    **{name: floats(RNG, 8, 8) for name in ("wq", "wk", "wv")},
    head=floats(RNG, 8, 9),
)


def draw_decoder(rng: np.random.Generator, n: int) -> Feeds:
    return {"token": rng.integers(0, 9, (2, 1)), "keys": floats(rng, 2, n, 8), "values": floats(rng, 2, n, 8)}


MAMBA = weighted(
    """main (float[n, 4] x) => (float[n, 4] y) {
        both = MatMul(x, enter)
        inner, gate = Split<axis = 1, num_outputs = 2>(both)
        columns = Transpose(inner)
        zero = Constant<value_ints = [0]> ()
        image = Unsqueeze(columns, zero)
        near = Conv<group = 6, kernel_shape = [3], pads = [2, 0]>(image, kernel)
        flat = Squeeze(near, zero)
        back = Transpose(flat)
        logistic = Sigmoid(back)
        u = Mul(back, logistic)
        moved = MatMul(u, delta)
        step = Softplus(moved)
        projected = MatMul(u, project)
        b, c = Split<axis = 1, num_outputs = 2>(projected)
        last, out = Scan <num_scan_inputs = 4,
            body = scan (float[6, 3] h, float[6] s, float[6] v, float[3] p, float[3] r)
            => (float[6, 3] g, float[6] o) {
            axis = Constant<value_ints = [1]> ()
            column = Unsqueeze(s, axis)
            exponent = Mul(column, decay)
            kept = Exp(exponent)
            old = Mul(h, kept)
            scaled = Mul(s, v)
            input = Unsqueeze(scaled, axis)
            new = Mul(input, p)
            g = Add(old, new)
            o = MatMul(g, r)
        }> (start, step, u, b, c)
        open = Sigmoid(gate)
        swish = Mul(gate, open)
        product = Mul(out, swish)
        y = MatMul(product, leave)
    }""",
    enter=floats(RNG, 4, 12),
    kernel=floats(RNG, 6, 1, 3),
    delta=floats(RNG, 6, 6),
    project=floats(RNG, 6, 6),
    decay=-np.abs(floats(RNG, 6, 3)),
    start=np.zeros((6, 3), F32),
    leave=floats(RNG, 6, 4),
)

LSTM = weighted(
    "main (float[n, 2, 4] x) => (float[n, 1, 2, 6] y, float[1, 2, 6] h, float[1, 2, 6] c) "
    "{ y, h, c = LSTM<hidden_size = 6>(x, w, r, bias) }",
    w=floats(RNG, 1, 24, 4),
    r=floats(RNG, 1, 24, 6),
    bias=floats(RNG, 1, 48),
)

VITERBI = model("""main (float[n, 5] scores, float[5, 5] moves) => (int64[n] path) {
    first = Constant<value_ints = [0]> ()
    second = Constant<value_ints = [1]> ()
    end = Constant<value_ints = [9223372036854775807]> ()
    zero = Constant<value_int = 0> ()
    start = Gather(scores, zero)
    rest = Slice(scores, second, end, first)
    best, origins = Scan <num_scan_inputs = 1, body = forward (float[5] b, float[5] s) => (float[5] c, int64[5] o) {
        axis = Constant<value_ints = [1]> ()
        column = Unsqueeze(b, axis)
        all = Add(column, moves)
        zero_axis = Constant<value_ints = [0]> ()
        most = ReduceMax<keepdims = 0>(all, zero_axis)
        o = ArgMax<axis = 0, keepdims = 0>(all)
        c = Add(most, s)
    }> (start, rest)
    state = ArgMax<axis = 0, keepdims = 0>(best)
    root, earlier = Scan <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
        body = backward (int64 s, int64[5] o) => (int64 t, int64 out) {
        t = Gather(o, s)
        out = Identity(t)
    }> (state, origins)
    last = Unsqueeze(state, first)
    path = Concat<axis = 0>(earlier, last)
}""")

BRANCH = model("""main (float[n, 4] x) => (float[m, 4] y) {
    zero = Constant<value_int = 0> ()
    four = Constant<value_int = 4> ()
    one = Constant<value_float = 1.0> ()
    shape = Shape(x)
    count = Gather(shape, zero)
    long = Greater(count, four)
    z = If (long) <
        then_branch = mean () => (float[1, 4] a) {
            axis = Constant<value_ints = [0]> ()
            a = ReduceMean<keepdims = 1>(x, axis)
        },
        else_branch = twice () => (float[p, 4] b) { doubled = Add(x, x) b = Concat<axis = 0>(x, doubled) }>
    y = Add(z, one)
}""")

EULER = weighted(
    """main (float[3] x, int64 steps) => (float[3] y) {
        true = Constant<value = bool {1}> ()
        y = Loop (steps, true, x) <body = step (int64 i, bool go, float[3] u) => (bool on, float[3] w) {
            on = Identity(go)
            other = Gather(u, indices)
            gap = Sub(other, u)
            moved = Mul(gap, u)
            scaled = Mul(moved, rate)
            w = Add(u, scaled)
        }>
    }""",
    indices=np.array([1, 2, 0]),
    rate=np.array([0.01, 0.02, 0.03], F32),
)

COMMON = {
    "nearest neighbours": Common(CLASSIFIER, rows(4)),
    "nearest neighbours, regression": Common(REGRESSOR, rows(4)),
    "support vectors": Common(support_vectors(), rows(4)),
    "forest": Common(forest(), rows(4)),
    "append and stack": Common(STACK, rows(4)),
    "decoder": Common(DECODER, draw_decoder),
    "Mamba": Common(MAMBA, rows(4)),
    "LSTM": Common(LSTM, lambda rng, n: {"x": floats(rng, n, 2, 4)}),
    "Viterbi": Common(VITERBI, lambda rng, n: {"scores": floats(rng, n, 5), "moves": floats(rng, 5, 5)}),
    "branch by length": Common(BRANCH, rows(4)),
    "Euler steps": Common(EULER, lambda rng, n: {"x": floats(rng, 3), "steps": np.array(n)}),
}
"""By what they are."""
