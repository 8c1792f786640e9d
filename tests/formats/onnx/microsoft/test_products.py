"""Products fused with transposes, sums and activations: equal to onnxruntime."""

import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import chance, compare, configurations, floats, lengths, model_of

import whorl

ACTIVATIONS = [
    {},
    {"activation": "Relu"},
    {"activation": "Tanh"},
    {"activation": "Sigmoid"},
    {"activation": "LeakyRelu", "activation_params": [0.25]},
    {"activation": "Clip", "activation_params": [-0.5, 0.75]},
    {"activation": "HardSigmoid", "activation_params": [0.25, 0.5]},
]
GEMM_ACTIVATIONS = [
    {"activation": "Relu"},
    {"activation": "Tanh"},
    {"activation": "LeakyRelu", "activation_alpha": 0.25},
    {"activation": "Elu", "activation_alpha": 0.25},
]


def test_fused_matmul_equals_onnxruntime():
    for rng in configurations():
        rows, inner, columns, batch, more = lengths(rng, 5)
        a, b = floats(rng, batch, more, rows, inner), floats(rng, batch, more, inner, columns)
        attributes = {f"trans{x}": int(chance(rng)) for x in ("A", "B", "BatchA", "BatchB")}
        operands = []
        for x, letter in ((a, "A"), (b, "B")):
            moved = np.swapaxes(x, -1, -2) if attributes[f"trans{letter}"] else x
            operands.append(np.moveaxis(moved, -2, 0) if attributes[f"transBatch{letter}"] else moved)
        alpha = float(np.float32(rng.uniform(0.1, 2))) if chance(rng) else 1.0
        compare("FusedMatMul", operands, alpha=alpha, **attributes)


def test_transpose_matmul_equals_onnxruntime():
    for rng in configurations():
        rows, inner, columns, batch = lengths(rng, 4)
        a, b = floats(rng, batch, inner, rows), floats(rng, batch, inner, columns)
        compare("TransposeMatMul", [a, b], alpha=0.5, transA=1)


def test_fused_conv_equals_onnxruntime():
    for rng in configurations():
        batch, channels, filters = lengths(rng, 3)
        x, w = floats(rng, batch, channels, 6, 5), floats(rng, filters, channels, 3, 2)
        strides = [int(s) for s in rng.integers(1, 3, 2)]
        pads = [int(p) for p in rng.integers(0, 2, 4)]
        height, width = (
            (n + pads[k] + pads[k + 2] - size) // strides[k] + 1 for k, (n, size) in enumerate([(6, 3), (5, 2)])
        )
        b = floats(rng, filters) if chance(rng) else None
        z = floats(rng, batch, filters, height, width) if chance(rng) else None
        attributes = ACTIVATIONS[rng.integers(len(ACTIVATIONS))]
        compare("FusedConv", [x, w, b, z], strides=strides, pads=pads, kernel_shape=[3, 2], **attributes)


def test_fused_gemm_equals_onnxruntime():
    for rng in configurations():
        rows, inner, columns = lengths(rng, 3)
        trans_a, trans_b = int(chance(rng)), int(chance(rng))
        a = floats(rng, *((inner, rows) if trans_a else (rows, inner)))
        b = floats(rng, *((columns, inner) if trans_b else (inner, columns)))
        attributes = GEMM_ACTIVATIONS[rng.integers(len(GEMM_ACTIVATIONS))]
        c = [floats(rng, columns)] if chance(rng) else []
        compare("FusedGemm", [a, b, *c], alpha=0.5, beta=0.25, transA=trans_a, transB=trans_b, **attributes)


def test_matmul_integer_16_equals_onnxruntime():
    for rng in configurations():
        rows, inner, columns = lengths(rng, 3)
        a, b = (rng.integers(-3000, 3000, s).astype(np.int16) for s in ((rows, inner), (inner, columns)))
        compare("MatMulInteger16", [a, b])


def test_distances_equal_onnxruntime():
    for rng in configurations():
        rows, others, size = lengths(rng, 3)
        dtype = [np.float32, np.float64][rng.integers(2)]
        a, b = rng.standard_normal((rows, size)).astype(dtype), rng.standard_normal((others, size)).astype(dtype)
        compare("CDist", [a, b], metric=["euclidean", "sqeuclidean"][rng.integers(2)], tolerance=1e-4)


def test_distances_of_another_metric_are_refused():
    x = np.ones((2, 2), np.float32)
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(model_of("CDist", [x, x], metric="city"))
    assert str(caught.value) == ("CDist 'node': metric 'city' is not known\n  fix: euclidean or sqeuclidean")


def test_conv_transpose_with_dynamic_pads_equals_onnxruntime():
    for rng in configurations():
        batch, channels, filters = lengths(rng, 3)
        x, w = floats(rng, batch, channels, 4, 5), floats(rng, channels, filters, 3, 3)
        pads = rng.integers(0, 2, 4)
        b = floats(rng, filters) if chance(rng) else None
        strides = [int(s) for s in rng.integers(1, 3, 2)]
        compare("ConvTransposeWithDynamicPads", [x, w, pads, b], strides=strides, kernel_shape=[3, 3])


def test_embedding_of_words_equals_onnxruntime():
    for rng in configurations():
        count, width, size, filters = lengths(rng, 4)
        longest = width + int(rng.integers(0, 4))
        words = np.array([[*rng.integers(1, 9, n), *[0] * (longest - n)] for n in rng.integers(1, longest + 1, count)])
        weights, bias = floats(rng, filters, 1, width, size), floats(rng, filters)
        attributes = {"conv_window_size": width, "embedding_size": filters, "char_embedding_size": size}
        inputs = [words.astype(np.int32), weights, bias, floats(rng, 9, size)]
        compare("WordConvEmbedding", inputs, constants=(1, 2, 3), **(attributes if chance(rng) else {}))


def test_embedding_of_words_of_other_sizes_is_refused():
    inputs = [np.ones((1, 3), np.int32), *(np.ones(shape, np.float32) for shape in ((2, 1, 2, 4), (2,), (9, 4)))]
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(model_of("WordConvEmbedding", inputs, embedding_size=5))
    assert str(caught.value) == "WordConvEmbedding 'node': attribute 'embedding_size' is 5, its input has length 2"
