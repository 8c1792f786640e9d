"""Conversion of arrays: to integers, to narrow floats, to texts and back."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError
from whorl.formats.onnx.dtypes import TO_ONNX
from whorl.ir.dtypes import BY_NAME
from whorl.ops.elementwise.casting import Cast

INF, NAN = np.inf, np.nan


FLOAT8 = ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]


def cast(values, to, source=np.float32, **attributes):
    op = Cast(BY_NAME[to], **attributes)
    result = evaluate(op, np.array(values, source))
    assert result.dtype == BY_NAME[to]
    return result.tolist() if result.dtype.kind != "V" and result.itemsize > 1 else result.astype(np.float64).tolist()


def test_floats_beyond_the_carrier_become_its_smallest_integer():
    x = [3e9, NAN, -3e9, 300.5, -1.5, 1e20, INF, -INF]
    low = -(2**31)
    assert cast(x, "int32") == [low, low, low, 300, -1, low, low, low]
    assert cast(x, "int8") == [0, 0, 0, 44, -1, 0, 0, 0]
    assert cast(x, "uint32") == [3_000_000_000, 0, 2**32 - 3_000_000_000, 300, 2**32 - 1, 0, 0, 0]
    assert cast(x, "int64")[:2] == [3_000_000_000, -(2**63)]


def test_uint64_takes_floats_between_the_int64_and_its_own_limit():
    x = [2.0**63, 1.5 * 2**63, 2.0**64, -1.0, NAN]
    assert cast(x, "uint64", np.float64) == [2**63, 3 * 2**62, 2**63, 2**64 - 1, 2**63]


@pytest.mark.parametrize("target", ["int8", "uint8", "int16", "int32", "int64"])
def test_floats_to_integers_agree_with_onnxruntime(target):
    x = np.array([300.7, -300.7, 3e9, -3e9, NAN, INF, 0.99, -0.99], np.float32)
    model = single_node("Cast", [x], 21, to=TO_ONNX[BY_NAME[target]])
    model.graph.output[0].type.tensor_type.elem_type = TO_ONNX[BY_NAME[target]]
    (theirs,) = onnxruntime_run(model, feeds([x]))
    np.testing.assert_array_equal(evaluate(Cast(BY_NAME[target]), x), theirs)


@pytest.mark.parametrize("target", FLOAT8)
def test_float8_follows_both_tables(target):
    x = [0.0, NAN, INF, -INF, 1e6, -1e6]
    largest = float(ml_dtypes.finfo(BY_NAME[target]).max)
    for source in (np.float16, np.float32, np.float64, ml_dtypes.bfloat16):
        with np.errstate(over="ignore"):
            saturated = cast(x, target, source)
            free = cast(x, target, source, saturate=0)
        np.testing.assert_array_equal(saturated, [0, NAN, largest, -largest, largest, -largest])
        over = INF if target == "float8e5m2" else NAN
        np.testing.assert_array_equal(free, [0, NAN, over, -over, over, -over])


def test_integers_saturate_to_float8():
    assert cast([1000, -1000, 3], "float8e4m3fn", np.int64) == [448, -448, 3]


def test_float8_without_negative_zero_has_plain_zero():
    assert not np.signbit(cast([-0.0], "float8e4m3fnuz")[0])
    assert np.signbit(cast([-0.0], "float8e4m3fn")[0])


def test_float4_and_float6_always_saturate():
    for target, largest in (("float4e2m1", 6), ("float6e2m3", 7.5), ("float6e3m2", 28)):
        assert cast([INF, -1e9, 0.5], target, saturate=0) == [largest, -largest, 0.5]


def test_e8m0_rounds_to_powers_of_two():
    x = [1, 1.25, 1.5, 1.75, 2, 0.124]
    assert cast(x, "float8e8m0") == [1, 2, 2, 2, 2, 0.125]
    assert cast(x, "float8e8m0", round_mode="down") == [1, 1, 1, 1, 2, 0.0625]
    assert cast(x, "float8e8m0", round_mode="nearest") == [1, 1, 2, 2, 2, 0.125]


def test_e8m0_follows_the_table_at_its_ends():
    x = [0.0, NAN, INF, 2.0**200, 2.0**-200, -1.0]
    low, high = 2.0**-127, 2.0**127
    np.testing.assert_array_equal(cast(x, "float8e8m0", np.float64), [low, NAN, high, high, low, NAN])
    free = cast(x, "float8e8m0", np.float64, saturate=0, round_mode="nearest")
    np.testing.assert_array_equal(free, [NAN] * 6)


def test_numbers_are_written_as_the_shortest_text_that_reads_back():
    x = [0.47892547, 100.0, 1e20, -0.0, NAN, INF, -INF]
    assert cast(x, "string") == ["0.47892547", "100.0", "1e+20", "-0.0", "NaN", "INF", "-INF"]
    assert cast([0.1], "string", np.float16) == ["0.1"]
    assert cast([0.1], "string", ml_dtypes.bfloat16) == ["0.100097656"]
    assert cast([-8, 7], "string", ml_dtypes.int4) == ["-8", "7"]
    assert cast([2**64 - 1], "string", np.uint64) == ["18446744073709551615"]
    assert cast([True, False], "string", np.bool_) == ["1", "0"]


def test_texts_are_read_as_numbers():
    texts = ["3.14", "1e-5", "1E8", "+INF", "inf", "-INF", "NaN", " 7 "]
    np.testing.assert_array_equal(cast(texts, "float64", object), [3.14, 1e-5, 1e8, INF, INF, -INF, NAN, 7])
    assert cast(["100.5", "-1", "300", "1e3"], "uint8", object) == [100, 255, 44, 232]
    assert cast(["9223372036854775807", "18446744073709551615"], "uint64", object) == [2**63 - 1, 2**64 - 1]
    assert cast(["0", "0.0", "2"], "bool", object) == [False, False, True]
    assert cast(["1000", "-8"], "float8e4m3fn", object) == [448, -8]


@pytest.mark.parametrize("text", ["Hello World!", "", "0x10"])
def test_text_that_is_no_number_is_an_error(text):
    with pytest.raises(RunError) as error:
        cast([text], "float32", object)
    assert str(error.value) == f"{text!r} is not a number, so it has no value in float32"


def test_text_of_an_infinity_has_no_integer():
    with pytest.raises(RunError) as error:
        cast(["INF"], "int32", object)
    assert str(error.value) == "'INF' has no value in int32"
