"""Convolutions against onnxruntime over random configurations, and what the source says beyond it."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, listed, shaped, types, unranked
from ops.windows.samples import Case, normal
from peer import assert_same

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.windows import convolution, deformable_convolution, transposed_convolution
from whorl.ops.windows.convolution import Conv, ConvInteger, QLinearConv
from whorl.ops.windows.deformable_convolution import DeformConv
from whorl.ops.windows.transposed_convolution import Col2Im, ConvTranspose

N, C, H, W = (dims.name(text) for text in "NCHW")
HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]


@pytest.mark.parametrize("seed", range(25))
def test_conv_is_onnxruntimes(seed):
    case = Case(seed)
    assert_same("Conv", [case.x(), case.w(), case.bias()], 11, **case.attributes)


def quantized_inputs(case, w, scales):
    """The inputs of QLinearConv of some weights: two of three have one scale for all features."""
    rng, features = case.rng, case.group * case.features
    x, zero = rng.integers(0, 256, case.x().shape).astype(np.uint8), np.array(rng.integers(0, 256), np.uint8)
    many = () if rng.integers(3) else (features,)
    x_scale, w_scale, y_scale = (np.array(scale, np.float32) for scale in scales)
    bias = rng.integers(-999, 999, features).astype(np.int32)
    weights = [w, np.full(many, w_scale), np.zeros(many, w.dtype), y_scale, np.array(90, np.uint8), bias]
    return [x, x_scale, zero, *weights]


@pytest.mark.parametrize("seed", range(15))
def test_quantized_convolutions_are_onnxruntimes(seed):
    case = Case(seed, rank=1 + seed % 2)
    # Without VNNI onnxruntime saturates sums of two products of uint8 and int8 at 16 bits: 2 * 255 * 63 is below.
    kind, limit = ((np.uint8, 256), (np.int8, 64))[seed % 2]
    w = case.rng.integers(0, limit, case.w().shape).astype(kind)
    x, scale, zero, *rest = quantized_inputs(case, w, (0.1, 0.003, 0.05))
    assert_same("ConvInteger", [x, w, zero, np.array(7, kind)], 10, [np.int32], 0, 0, **case.attributes)
    assert_same("QLinearConv", [x, scale, zero, *rest], 10, [np.uint8], 0, 0, **case.attributes)


@pytest.mark.parametrize("seed", range(15))
def test_quantized_convolutions_of_any_integers_are_exact(seed):
    case = Case(seed, rank=1 + seed % 2)
    w = case.rng.integers(-128, 128, case.w().shape).astype(np.int8)
    x, scale, zero, *rest = quantized_inputs(case, w, (1 / 8, 1 / 256, 1 / 16))
    options = {key: value if isinstance(value, int | str) else tuple(value) for key, value in case.attributes.items()}
    # Numbers of float32 are exact below 2**24, which bounds these sums.
    sums = evaluate(Conv(**options), x.astype(np.float32) - zero, w.astype(np.float32))
    np.testing.assert_array_equal(evaluate(ConvInteger(**options), x, w, zero, np.array(0, np.int8)), sums)
    bias = rest[-1].reshape(-1, *[1] * (x.ndim - 2))
    expected = np.clip(np.rint((sums + bias) / 128) + 90, 0, 255)
    result = evaluate(QLinearConv(**options), x, scale, zero, *rest)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", HALVES)
def test_halves_are_summed_in_float32_and_rounded_once(dtype):
    rng = np.random.default_rng(0)
    x, w, b = normal(rng, 2, 6, 5, 5).astype(dtype), normal(rng, 4, 6, 3, 3).astype(dtype), normal(rng, 4).astype(dtype)
    t = normal(rng, 6, 4, 3, 3).astype(dtype)
    for op, weights in ((Conv(), w), (ConvTranspose(), t)):
        result = evaluate(op, x, weights, b)
        wide = evaluate(op, *(v.astype(np.float32) for v in (x, weights, b)))
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, wide.astype(dtype))


def test_float64_keeps_its_precision():
    x, w = np.full((1, 1, 3), 1e-12), np.array([[[1.0, 1e12, 1.0]]])
    assert evaluate(Conv(), x, w).item() - 1 == pytest.approx(2e-12, rel=1e-3)


def test_integer_sums_wrap_at_32_bits():
    x, w = np.full((1, 40000, 1), 255, np.uint8), np.full((1, 40000, 1), 255, np.uint8)
    assert evaluate(ConvInteger(), x, w).item() == 40000 * 255 * 255 - 2**32


def test_quantized_result_saturates_and_rounds_halves_to_even():
    x, one = np.array([[[5, 1, 3, 120, 255]]], np.uint8), np.float32(1)
    w, zero = np.ones((1, 1, 1), np.uint8), np.uint8(0)
    arrays = [np.asarray(v) for v in (x, one, zero, w, one, zero, np.float32(2), np.uint8(200))]
    assert evaluate(QLinearConv(), *arrays).tolist() == [[[202, 200, 202, 255, 255]]]


@pytest.mark.parametrize("batch", [0, 2])
def test_empty_batches_and_spatial_axes_give_empty_results(batch):
    x = np.ones((batch, 2, 0 if batch else 4), np.float32)
    w = np.ones((3, 2, 1), np.float32)
    assert evaluate(Conv(), x, w).shape == (batch, 3, x.shape[2])
    assert evaluate(ConvTranspose(), x, np.ones((2, 3, 1), np.float32)).shape == (batch, 3, x.shape[2])


def test_no_channels_give_the_bias():
    x, w, b = np.ones((1, 0, 4), np.float32), np.ones((2, 0, 3), np.float32), np.array([1, 2], np.float32)
    assert evaluate(Conv(), x, w, b).tolist() == [[[1, 1], [2, 2]]]


@pytest.mark.parametrize("limit", [1, 40, 1000])
def test_small_blocks_give_the_same(monkeypatch, limit):
    rng = np.random.default_rng(0)
    x, w = normal(rng, 2, 4, 6, 5, 4), normal(rng, 6, 2, 3, 2, 2)
    transposed, offset = normal(rng, 4, 3, 3, 2, 2), normal(rng, 2, 36, 6, 4, 3)
    cases = [
        (Conv(group=2, pads=(1, 0, 0, 1, 0, 0), dilations=(1, 1, 1)), [x, w]),
        (ConvTranspose(group=2, strides=(2, 1, 1), pads=(1, 0, 1, 0, 1, 0)), [x, transposed]),
        (DeformConv(group=2, pads=(1, 0, 0, 1, 0, 0)), [x, w, offset]),
    ]
    expected = [evaluate(op, *inputs) for op, inputs in cases]
    for module in (convolution, transposed_convolution, deformable_convolution):
        monkeypatch.setattr(module, "COLUMN_LIMIT", limit)
    for (op, inputs), whole in zip(cases, expected, strict=True):
        np.testing.assert_allclose(evaluate(op, *inputs), whole, rtol=1e-4, atol=1e-5)


def test_inputs_are_neither_changed_nor_required_to_be_contiguous():
    rng = np.random.default_rng(0)
    x, w = normal(rng, 4, 8, 2, 3).T, normal(rng, 2, 2, 2, 5).T
    remaining = x.copy(), w.copy()
    for value in (x, w):
        value.flags.writeable = False
    result = evaluate(Conv(), x, w)
    np.testing.assert_array_equal(result, evaluate(Conv(), *remaining))


# ---- types ---------------------------------------------------------------------------------------------------------


def test_named_dims_follow_the_formula():
    w = shaped(8, 3, 3, 3)
    same = Conv(auto_pad="SAME_UPPER", strides=(2, 2))
    assert types(Conv(pads=(1, 1, 1, 1)), shaped(N, 3, H, W), w) == "float32[N, 8, H, W]"
    assert types(Conv(strides=(2, 2)), shaped(N, 3, H, W), w) == "float32[N, 8, floor(H+1, 2)-1, floor(W+1, 2)-1]"
    assert types(same, shaped(N, 3, H, W), w) == "float32[N, 8, floor(H+1, 2), floor(W+1, 2)]"
    transposed = ConvTranspose(strides=(2, 2), pads=(1, 1, 1, 1), output_padding=(1, 1))
    assert types(transposed, shaped(N, 8, H, W), w) == "float32[N, 3, 2*H, 2*W]"


def test_what_is_not_known_is_not_claimed():
    assert types(Conv(), unranked(), unranked()) == "float32[*]"
    assert types(Conv(), unranked(), shaped(8, 3, 3, 3)) == "float32[?, 8, ?, ?]"
    assert types(Conv(kernel_shape=(3,)), unranked(np.float16), unranked(np.float16)) == "float16[?, ?, ?]"
    assert types(Conv(), shaped(N, C, H), unranked(), shaped(7)) == "float32[N, 7, ?]"
    assert types(ConvInteger(), unranked(np.uint8), unranked(np.int8)) == "int32[*]"
    assert types(Col2Im(), shaped(N, 12, 5), listed(H, W), listed(2, 2)) == "float32[N, 3, H, W]"
    assert types(Col2Im(), shaped(N, 12, 5), shaped(2, dtype=np.int64), shaped(2, dtype=np.int64)) == (
        "float32[N, ?, ?, ?]"
    )


@pytest.mark.parametrize(
    ("op", "facts", "message"),
    [
        (Conv(), [shaped(1, 4, 5), shaped(8, 3, 3)], "the number of channels of X is both 4 and 3"),
        (Conv(group=2), [shaped(1, 4, 5), shaped(7, 2, 3)], "7 features do not split into 2 groups"),
        (Conv(strides=(1, 1)), [shaped(1, 4, 5), shaped(8, 4, 3)], "strides has 2 entries, expected 1"),
        (Conv(strides=(0,)), [shaped(1, 4, 5), shaped(8, 4, 3)], "strides is [0], expected positive numbers"),
        (Conv(kernel_shape=(2,)), [shaped(1, 4, 5), shaped(8, 4, 3)], "kernel axis 0 is both 2 and 3"),
        (Conv(), [shaped(1, 4, 5), shaped(8, 4, 3, 3)], "W has rank 4, expected 3"),
        (Conv(), [shaped(5), shaped(8, 4, 3)], "a tensor of rank 1 has no batch and channel axes"),
        (
            Conv(auto_pad="SAME"),
            [shaped(1, 4, 5), shaped(8, 4, 3)],
            "auto_pad is 'SAME'\n  fix: one of NOTSET, SAME_UPPER, SAME_LOWER, VALID",
        ),
        (Conv(), [shaped(1, 4, 5, dtype=np.int32)] * 2, "does not accept int32"),
        (ConvTranspose(pads=(9, 9)), [shaped(1, 1, 3)] * 2, "the padding leaves [-13] elements of the spatial axes"),
        (
            Col2Im(),
            [shaped(1, 7, 4), listed(3, 3), listed(2, 2)],
            "7 rows of X do not split into blocks of 4",
        ),
        (Col2Im(), [shaped(1, 8, 5), listed(3, 3), listed(2, 2)], "the number of blocks is both 5 and 4"),
    ],
)
def test_ill_typed_convolution_says_why(op, facts, message):
    with pytest.raises(TypeRuleError) as raised:
        op.infer(*facts)
    assert str(raised.value) == message


def test_arrays_that_do_not_fit_are_a_run_error():
    with pytest.raises(RunError, match="the number of channels of X is both 4 and 3"):
        evaluate(Conv(), np.ones((1, 4, 5), np.float32), np.ones((8, 3, 3), np.float32))
