"""Linear quantization: granularity, saturation, precision, narrow floats, and messages."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, shaped
from named_dims import M, N, shape_of
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.formats.onnx.dtypes import TO_ONNX
from whorl.ir.dtypes import BY_NAME
from whorl.ops.linear.quantization import RANGES, DequantizeLinear, DynamicQuantizeLinear, QuantizeLinear

INF, NAN = np.inf, np.nan
ONE = np.array(1, np.float32)


def run(op, *inputs):
    return evaluate(op, *inputs)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


@pytest.mark.parametrize("target", RANGES, ids=str)
def test_quantize_saturates_to_the_range_of_every_integer_type(target):
    low, high = RANGES[target]
    result = run(QuantizeLinear(), floats(-1e9, 1e30, -INF, INF, NAN, 0.5, 1.5), ONE, scalar(0, target))
    assert result.dtype == target
    assert result.astype(np.int32).tolist() == [low, high, low, high, 0, 0, min(2, high)]


def test_quantize_without_zero_point_gives_uint8_or_what_is_requested_for():
    assert run(QuantizeLinear(), floats(300, -1), ONE).dtype == np.uint8
    requested = QuantizeLinear(output_dtype=BY_NAME["int4"])
    assert run(requested, floats(300, -1), ONE).astype(np.int8).tolist() == [7, -1]
    assert requested.infer(shaped(N), shaped()).dtype == BY_NAME["int4"]


@pytest.mark.parametrize("target", [np.int8, np.uint8, np.int16, np.uint16])
def test_quantize_and_back_agree_with_onnxruntime(target):
    rng = np.random.default_rng(0)
    x, scale = rng.normal(size=(3, 4, 5)).astype(np.float32) * 9, rng.uniform(0.01, 1, 4).astype(np.float32)
    zero_point = rng.integers(*RANGES[np.dtype(target)], 4).astype(target)
    inputs = [x, scale, zero_point]
    model = single_node("QuantizeLinear", inputs, 21, axis=1)
    model.graph.output[0].type.tensor_type.elem_type = TO_ONNX[np.dtype(target)]
    (theirs,) = onnxruntime_run(model, feeds(inputs))
    mine = run(QuantizeLinear(), *inputs)
    np.testing.assert_array_equal(mine, theirs)
    inputs = [mine, scale, zero_point]
    (back,) = onnxruntime_run(single_node("DequantizeLinear", inputs, 21, axis=1), feeds(inputs))
    np.testing.assert_array_equal(run(DequantizeLinear(), *inputs), back)


def test_blocks_share_a_scale_and_the_last_may_be_short():
    x, scale = floats(1, 2, 3, 4, 5).reshape(1, 5), floats(1, 2, 5).reshape(1, 3)
    blocked = QuantizeLinear(axis=-1, block_size=2)
    assert run(blocked, x, scale).tolist() == [[1, 2, 2, 2, 1]]
    back = run(DequantizeLinear(axis=-1, block_size=2), np.array([[1, 2, 2, 2, 1]], np.uint8), scale)
    assert back.tolist() == [[1, 2, 4, 4, 5]]


def test_division_is_rounded_to_the_precision_or_to_the_type_of_the_scale():
    x = scalar(3.4999)
    assert run(QuantizeLinear(), x, scalar(1)) == 3
    assert run(QuantizeLinear(), x, scalar(1, np.float16)) == 4
    assert run(QuantizeLinear(precision=np.dtype(np.float16)), x, scalar(1)) == 4


def test_int32_is_divided_in_the_type_of_the_scale():
    assert run(QuantizeLinear(), np.array([100, -7]), scalar(2)).tolist() == [50, 0]


@pytest.mark.parametrize("target", ["float8e4m3fn", "float8e5m2", "float4e2m1", "float6e2m3", "float6e3m2"])
def test_narrow_floats_saturate(target):
    dtype = BY_NAME[target]
    result = run(QuantizeLinear(), floats(1e9, -1e9, 4), scalar(2), scalar(0, dtype))
    largest = float(ml_dtypes.finfo(dtype).max)
    assert result.dtype == dtype and result.astype(np.float32).tolist() == [largest, -largest, 2]


def test_float8_without_saturation_overflows_to_nan():
    result = run(QuantizeLinear(saturate=0), floats(1e9), ONE, scalar(0, BY_NAME["float8e4m3fn"]))
    assert np.isnan(result.astype(np.float32)).all()


def test_dequantize_rounds_the_product_once():
    x = np.array([-32768, 32767], np.int16)
    result = run(DequantizeLinear(), x, scalar(0.5, np.float16), scalar(32767, np.int16))
    assert result.dtype == np.float16 and result.tolist() == [-32768, 0]
    wide = run(DequantizeLinear(output_dtype=np.dtype(np.float32)), x, scalar(0.1, np.float16))
    assert wide.dtype == np.float32
    np.testing.assert_array_equal(wide, x.astype(np.float32) * np.float32(np.float16(0.1)))


def test_dequantize_by_powers_of_two():
    scale = scalar(4, BY_NAME["float8e8m0"])
    x = np.array([-3, 6], np.float32).astype(BY_NAME["float4e2m1"])
    assert run(DequantizeLinear(output_dtype=np.dtype(np.float32)), x, scale).tolist() == [-12, 24]
    with pytest.raises(TypeRuleError) as error:
        DequantizeLinear().infer(shaped(2, dtype=x.dtype), shaped(dtype=scale.dtype))
    assert str(error.value) == "cannot give float8e8m0\n  fix: set output_dtype to a type with arithmetic"


def test_dequantize_of_int32_keeps_the_difference_exact():
    low = np.array([-(2**31)], np.int32)
    assert run(DequantizeLinear(), low, ONE, scalar(2**31 - 1, np.int32)).tolist() == [-(2.0**32)]


@pytest.mark.parametrize("shape", [(), (0, 3), (1,)])
def test_scalars_and_empties_keep_their_shape(shape):
    x = np.zeros(shape, np.float32)
    quantized = run(QuantizeLinear(axis=0), x, floats(2))
    assert np.shape(quantized) == shape and np.shape(run(DequantizeLinear(axis=0), quantized, floats(2))) == shape


def test_infer_follows_the_input():
    assert shape_of(QuantizeLinear(), shaped(N, M), shaped(M)) == (N, M)
    assert shape_of(DequantizeLinear(block_size=2), shaped(2, N, dtype=np.int8), shaped(2, M)) == (2, N)
    assert shape_of(QuantizeLinear(), shaped(2, 4), shaped(1, N)) == (2, 4)


@pytest.mark.parametrize(
    ("op", "scale", "message"),
    [
        (QuantizeLinear(), (3,), "the scale is float32[3], which does not fit axis 1 of float32[2, 4]"),
        (QuantizeLinear(axis=0), (2, 4), "the scale is float32[2, 4], which does not fit axis 0 of float32[2, 4]"),
        (
            QuantizeLinear(block_size=3),
            (2, 3),
            "the scale is float32[2, 3], which does not fit blocks of 3 along axis 1 of float32[2, 4]",
        ),
        (QuantizeLinear(axis=2), (2,), "axis 2 is outside [-2, 2) of a tensor of rank 2"),
    ],
)
def test_scale_that_fits_nowhere_is_an_error(op, scale, message):
    with pytest.raises(TypeRuleError) as error:
        op.infer(shaped(2, 4), shaped(*scale))
    assert str(error.value) == message
    with pytest.raises(RunError, match="which does not fit"):
        run(op, np.zeros((2, 4), np.float32), np.ones(scale, np.float32))


def test_zero_point_of_another_type_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        QuantizeLinear(output_dtype=np.dtype(np.int8)).infer(shaped(2), shaped(), shaped(dtype=np.uint8))
    assert str(error.value) == "output_dtype is int8, the zero point uint8"
    with pytest.raises(TypeRuleError) as error:
        DequantizeLinear().infer(shaped(2, dtype=np.int8), shaped(), shaped(dtype=np.uint8))
    assert str(error.value) == "x is int8, the zero point uint8"


def test_dynamic_quantization_keeps_zero_exact():
    y, scale, zero_point = run(DynamicQuantizeLinear(), floats(1, 2, -3))
    assert (scale, zero_point) == (np.float32(5) / np.float32(255), 153)
    assert y.dtype == zero_point.dtype == np.uint8 and y.tolist() == [204, 255, 0]


@pytest.mark.parametrize("x", [floats(0, 0), floats()], ids=["zeros", "empty"])
def test_dynamic_quantization_of_nothing_but_zeros_has_scale_one(x):
    y, scale, zero_point = run(DynamicQuantizeLinear(), x)
    assert y.tolist() == [0] * len(x) and (scale, zero_point) == (1, 0)
