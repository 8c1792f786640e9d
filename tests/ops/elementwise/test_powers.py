"""Pow: its element type, integers that wrap, and zero to a negative power."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import shaped
from onnx_text import model
from runtime.native_sessions import session as native_session

from whorl.errors import RunError
from whorl.ir.graph import as_values
from whorl.ir.types import TensorType
from whorl.ops.elementwise.powers import Pow

BFLOAT16 = ml_dtypes.bfloat16


def run(op, *inputs):
    """`op.run` as the interpreter calls it: no warning may get out."""
    with np.errstate(all="ignore"):
        return as_values(op.run(*inputs))[0]


def same(result, expected, dtype):
    expected = np.array(expected, dtype)
    assert result.dtype == dtype
    if dtype == BFLOAT16:
        result, expected = result.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(result, expected, strict=True)


def test_pow_has_the_dtype_of_the_base():
    base = np.array([4, 9])
    for x, y, expected in (
        (np.float32, np.int64, [16, 81]),
        (np.float16, np.float32, [16, 81]),
        (np.int32, np.float32, [16, 81]),
        (BFLOAT16, np.uint8, [16, 81]),
        (np.int64, np.uint64, [16, 81]),
    ):
        same(run(Pow(), base.astype(x), np.array(2, y)), expected, x)
        assert Pow().infer(shaped(2, dtype=x), shaped(dtype=y)) == TensorType(np.dtype(x), (2,))


def test_pow_of_integers_wraps():
    same(run(Pow(), np.array([3, 2], np.int32), np.array([40, 32])), [689956897, 0], np.int32)


def test_pow_to_a_negative_integer_truncates_and_of_zero_is_an_error():
    same(run(Pow(), np.array([2, 1, -1, -1]), np.array([-1, -5, -3, -2])), [0, 1, -1, 1], np.int64)
    with pytest.raises(RunError) as error:
        run(Pow(), np.array([0]), np.array([-1]))
    assert str(error.value) == "zero to a negative power has no integer value"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_native_cube_is_a_product(dtype):
    name = {np.float16: "float16", np.float32: "float", np.float64: "double"}[dtype]
    text = f"main ({name}[n] x) => ({name}[n] y) {{ e = Constant<value_int = 3>() y = Pow(x, e) }}"
    largest = np.finfo(dtype).max
    x = np.array([0, -0.0, 1, -2, 0.1, 1.7, -3.3, 1e-3, np.inf, -np.inf, np.nan, largest, -largest], dtype)
    (y,) = native_session(model(text)).run(None, {"x": x})
    expected = run(Pow(), x, np.array(3))
    assert y.dtype == dtype
    np.testing.assert_allclose(y, expected, rtol=2 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(np.signbit(y[:10]), np.signbit(expected[:10]))
