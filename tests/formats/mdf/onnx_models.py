"""Small ONNX models of many kinds, as exporters write them: texts of graphs, and weights drawn for their names."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import onnx

TEXTS: dict[str, str] = {
    "convolution net": """net (float[2, 3, 8, 8] x) => (float[2, 5] probabilities) {
        c1 = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, conv1_weight, conv1_bias)
        n1 = BatchNormalization(c1, bn_scale, bn_shift, bn_mean, bn_variance)
        r1 = Relu(n1)
        p1 = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r1)
        c2 = Conv(p1, conv2_weight)
        r2 = Relu(c2)
        g = GlobalAveragePool(r2)
        f = Flatten(g)
        y = Gemm<transB = 1>(f, fc_weight, fc_bias)
        probabilities = Softmax<axis = 1>(y)
    }""",
    "same padding": """net (float[1, 2, 7, 7] x) => (float[1, 4, 4, 4] y) {
        y = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, same_weight)
    }""",
    "separable convolution": """net (float[1, 4, 6, 6] x) => (float[1, 8, 6, 6] y) {
        limit = Constant<value_float = 6.0>()
        low = Constant<value_float = 0.0>()
        d = Conv<group = 4, pads = [1, 1, 1, 1]>(x, depth_weight)
        d6 = Clip(d, low, limit)
        y = Conv(d6, point_weight)
    }""",
    "transposed convolution": """net (float[1, 2, 4, 4] x) => (y) {
        t = ConvTranspose<strides = [2, 2]>(x, transposed_weight)
        y = LeakyRelu<alpha = 0.2>(t)
    }""",
    "inception": """net (float[1, 3, 6, 6] x) => (float[1, 11, 6, 6] y) {
        a = Conv(x, branch1_weight)
        b = Conv<pads = [1, 1, 1, 1]>(x, branch2_weight)
        c = AveragePool<kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]>(x)
        y = Concat<axis = 1>(a, b, c, x)
    }""",
    "residual": """net (float[1, 4, 5, 5] x) => (y) {
        a = Conv<pads = [1, 1, 1, 1]>(x, res_weight)
        b = Relu(a)
        s = Add(b, x)
        n = LRN<size = 3>(s)
        y = InstanceNormalization(n, inst_scale, inst_shift)
    }""",
    "perceptron": """net (float[2, 6] x) => (y) {
        a = Gemm<alpha = 0.5, beta = 2.0, transB = 1>(x, mlp1_weight, mlp1_bias)
        b = Tanh(a)
        c = PRelu(b, mlp_slope)
        y = Gemm(c, mlp2_weight)
    }""",
    "shapes": """net (float[2, 3, 4] x) => (y, z) {
        s = Constant<value_ints = [4, -1]>()
        t = Transpose<perm = [2, 0, 1]>(x)
        r = Reshape(t, s)
        one = Constant<value_ints = [1]>()
        u = Unsqueeze(r, one)
        y = Flatten<axis = 2>(u)
        z = Squeeze(u, one)
    }""",
    "reshape to a scalar": """net (float[1, 1] x) => (float[] y, float[2] z) {
        none = Constant<value = int64[0] {}>()
        y = Reshape(x, none)
        pair = Constant<value_floats = [2.0, 3.0]>()
        z = Mul(y, pair)
    }""",
    "reductions": """net (float[2, 3, 4] x) => (a, b, c, d, e, f) {
        axes = Constant<value_ints = [1]>()
        a = ReduceSum<keepdims = 0>(x, axes)
        b = ReduceMean<axes = [0, 2]>(x)
        c = ReduceMax<axes = [-1], keepdims = 0>(x)
        d = ReduceL2(x)
        e = ArgMax<axis = 2, keepdims = 0>(x)
        f = ReduceProd<keepdims = 0>(x)
    }""",
    "indexing": """net (float[3, 4] x) => (row, part, picked) {
        first = Constant<value_int = 1>()
        row = Gather(x, first)
        starts = Constant<value_ints = [0, 1]>()
        ends = Constant<value_ints = [3, 4]>()
        steps = Constant<value_ints = [2, 1]>()
        part = Slice(x, starts, ends, , steps)
        places = Constant<value = int64[2, 2] {0, 1, 2, 3}>()
        picked = GatherND(x, places)
    }""",
    "splits": """net (float[2, 6] x) => (a, b, joined) {
        sizes = Constant<value_ints = [1, 5]>()
        a, rest = Split<axis = 1>(x, sizes)
        left, b, right = Split<axis = 1>(x)
        joined = Concat<axis = -1>(right, left)
    }""",
    "variadic": """net (float[2, 2] x, float[2, 2] w) => (joined, sum, most, mean) {
        joined = Concat<axis = 0>(row, x, x, row, w)
        sum = Sum(x, x, w, row)
        least = Min(w, x)
        most = Max(least, row)
        mean = Mean(x)
    }""",
    "attention": """net (float[1, 4, 8] x) => (y) {
        q = MatMul(x, query)
        k = MatMul(x, key)
        v = MatMul(x, value)
        kt = Transpose<perm = [0, 2, 1]>(k)
        raw = MatMul(q, kt)
        root = Constant<value_float = 2.8284271>()
        scaled = Div(raw, root)
        weights = Softmax(scaled)
        y = MatMul(weights, v)
    }""",
    "layer normalization": """net (float[2, 8] x) => (y) {
        two = Constant<value_float = 2.0>()
        tiny = Constant<value_float = 0.00001>()
        m = ReduceMean<axes = [-1]>(x)
        d = Sub(x, m)
        p = Pow(d, two)
        v = ReduceMean<axes = [-1]>(p)
        e = Add(v, tiny)
        s = Sqrt(e)
        y = Div(d, s)
    }""",
    "recurrent": """net (float[3, 1, 2] x, float[2, 1, 3] h) => (y, y_h) {
        y, y_h = GRU<hidden_size = 3, direction = "bidirectional", linear_before_reset = 1>(x, gru_w, gru_r, gru_b)
        unused = Add(h, h)
    }""",
    "long short-term memory": """net (float[3, 1, 2] x) => (y, y_h, y_c) {
        y, y_h, y_c = LSTM<hidden_size = 3>(x, lstm_w, lstm_r)
    }""",
    "resizing": """net (float[1, 1, 3, 3] x) => (y, z) {
        scales = Constant<value_floats = [1.0, 1.0, 2.0, 2.0]>()
        y = Resize<mode = "linear", coordinate_transformation_mode = "asymmetric">(x, , scales)
        pads = Constant<value_ints = [0, 0, 1, 1, 0, 0, 1, 1]>()
        z = Pad<mode = "reflect">(x, pads)
    }""",
    "padding": """net (float[2, 3] x) => (y) {
        pads = Constant<value_ints = [0, 1, 1, 0]>()
        fill = Constant<value_float = 1.5>()
        y = Pad(x, pads, fill)
    }""",
    "einsum": """net (float[2, 3] a, float[3, 4] b) => (y, z) {
        y = Einsum<equation = "ij, jk -> ik">(a, b)
        z = Einsum<equation = "ij->ji">(a)
    }""",
    "choices": """net (float[2, 3] x) => (y, small) {
        zero = Constant<value_float = 0.0>()
        big = Greater(x, zero)
        small = Not(big)
        n = Neg(x)
        w = Where(small, n, x)
        f = Cast<to = 1>(big)
        y = Mul(w, f)
    }""",
    "sizes": """net (float[2, 3] x) => (y, r, filled) {
        s = Shape(x)
        filled = ConstantOfShape<value = float[1] {2.5}>(s)
        e = ReduceMax<axes = [0]>(x)
        y = Expand(e, s)
        zero = Constant<value_int = 0>()
        one = Constant<value_int = 1>()
        count = Gather(s, one)
        r = Range(zero, count, one)
    }""",
    "best": """net (float[2, 5] x) => (values, places, sums, hot) {
        k = Constant<value_ints = [2]>()
        values, places = TopK(x, k)
        axis = Constant<value_int = 1>()
        sums = CumSum(x, axis)
        depth = Constant<value_int = 5>()
        range = Constant<value_floats = [0.0, 1.0]>()
        hot = OneHot(places, depth, range)
    }""",
    "depth to space": """net (float[1, 4, 2, 2] x) => (y) {
        y = DepthToSpace<blocksize = 2, mode = "CRD">(x)
    }""",
    "clip from above": """net (float[2, 3] x) => (y) {
        limit = Constant<value_float = 0.5>()
        y = Clip(x, , limit)
    }""",
    "names": """net (float[2, 2] "input.1", float[2, 2] A, float[2, 2] max) => (float[2, 2] "onnx::out_1", w) {
        "onnx::MatMul_3" = MatMul("input.1", A)
        "/layer/x" = Softmax(max)
        inputs = Clip("/layer/x")
        axis = Concat<axis = 0>("onnx::MatMul_3", inputs)
        "onnx::out_1" = MatMul("onnx::MatMul_3", max)
        w = ReduceSum(axis)
    }""",
    "dropout": """net (float[2, 3] x) => (y, same) {
        d = Dropout(x)
        i = Identity(d)
        y = HardSwish(i)
        same = Constant<value_floats = [1.0, 2.0]>()
    }""",
    "passed through": """net (float[2, 3] x, float[3] b) => (x2, float[3] b) {
        x2 = Add(x, b)
    }""",
    "whole numbers": """net (int64[4] n) => (int64[4] y, bool[4] even) {
        two = Constant<value_int = 2>()
        rest = Mod(n, two)
        zero = Constant<value_int = 0>()
        even = Equal(rest, zero)
        y = Div(n, two)
    }""",
}
LOOPS: dict[str, str] = {
    "loop": """net (float[2] x) => (float[2] last, float[3, 2] rows) {
        n = Constant<value_int = 3>()
        last, rows = Loop(n, , x) <body = body (int64 i, bool go, float[2] a) => (bool on, float[2] b, float[2] row) {
            on = Identity(go)
            half = Constant<value_float = 0.5>()
            b = Mul(a, half)
            row = Add(b, x)
        }>
    }""",
    "scan": """net (float[2] start, float[4, 2] rows) => (float[2] last, float[4, 2] states) {
        last, states = Scan<
            num_scan_inputs = 1, body = body (float[2] h, float[2] row) => (float[2] next, float[2] out) {
            sum = Add(h, row)
            next = Tanh(sum)
            out = Identity(next)
        }>(start, rows)
    }""",
    "branches": """net (float[3] x) => (float[3] y) {
        zero = Constant<value_float = 0.0>()
        s = ReduceSum<keepdims = 0>(x)
        positive = Greater(s, zero)
        y = If(positive) <
            then_branch = one () => (float[3] a) { a = Neg(x) },
            else_branch = two () => (float[3] b) { b = Exp(x) }
        >
    }""",
}
"""Models that `deloop` makes flat, since modeci_mdf has no loops."""
WEIGHTS: dict[str, tuple[int, ...]] = {
    "conv1_weight": (4, 3, 3, 3), "conv1_bias": (4,), "bn_scale": (4,), "bn_shift": (4,), "bn_mean": (4,),
    "bn_variance": (4,), "conv2_weight": (6, 4, 2, 2), "fc_weight": (5, 6), "fc_bias": (5,),
    "same_weight": (4, 2, 3, 3), "depth_weight": (4, 1, 3, 3), "point_weight": (8, 4, 1, 1),
    "transposed_weight": (2, 3, 2, 2), "branch1_weight": (2, 3, 1, 1), "branch2_weight": (3, 3, 3, 3),
    "res_weight": (4, 4, 3, 3), "inst_scale": (4,), "inst_shift": (4,), "mlp1_weight": (5, 6), "mlp1_bias": (5,),
    "mlp_slope": (5,), "mlp2_weight": (5, 2), "row": (1, 2), "query": (8, 8), "key": (8, 8), "value": (8, 8),
    "gru_w": (2, 9, 2), "gru_r": (2, 9, 3), "gru_b": (2, 18), "lstm_w": (1, 12, 2), "lstm_r": (1, 12, 3),
}  # fmt: skip


def numbers(name: str, shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Numbers that hang on a name only; whole ones from 0 to 9, others between -1 and 1, variances above 0."""
    draw = np.random.default_rng(zlib.crc32(name.encode()))
    if np.dtype(dtype).kind != "f":
        return draw.integers(0, 10, shape).astype(dtype)
    drawn = draw.uniform(0.5 if "variance" in name else -1, 1, shape).astype(dtype)
    return drawn


def parsed(text: str, opset: int = 15) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')


def model_of(text: str, opset: int = 15) -> onnx.ModelProto:
    """The model of a text, with weights for the names that have none."""
    model = parsed(text, opset)
    used = {name for node in model.graph.node for name in node.input}
    made = {name for node in model.graph.node for name in node.output} | {info.name for info in model.graph.input}
    for name in sorted(used & WEIGHTS.keys() - made):
        model.graph.initializer.append(onnx.numpy_helper.from_array(numbers(name, WEIGHTS[name]), name))
    typed = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    for own, info in zip(model.graph.output, typed.graph.output, strict=True):
        own.CopyFrom(info)
    onnx.checker.check_model(model)
    return model


def feeds_of(model: onnx.ModelProto, **lengths: int) -> dict[str, np.ndarray]:
    """Numbers for all inputs; named lengths are given."""
    feeds = {}
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        shape = tuple(lengths[dim.dim_param] if dim.dim_param else dim.dim_value for dim in dims)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        feeds[info.name] = numbers(info.name, shape, dtype)
    return feeds
