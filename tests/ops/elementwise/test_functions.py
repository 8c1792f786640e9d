"""Functions of one number: their special values, and one rounding for narrow floats."""

import ml_dtypes
import numpy as np
import pytest

from whorl.errors import TypeRuleError
from whorl.ir.graph import as_values
from whorl.ir.types import Known, TensorType
from whorl.ops.elementwise.functions import Acosh, Asin, Atanh, Cosh, Erf, Exp, Log, Sinh, Sqrt, Tanh

BFLOAT16 = ml_dtypes.bfloat16


def run(op, *values, dtype=np.float32):
    with np.errstate(all="ignore"):
        result = as_values(op.run(np.array(values, dtype)))[0]
    assert result.dtype == dtype
    return result.astype(np.float64).tolist()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, BFLOAT16])
def test_special_values_follow_ieee(dtype):
    nan, inf = np.nan, np.inf
    np.testing.assert_array_equal(run(Exp(), -inf, 0, inf, nan, dtype=dtype), [0, 1, inf, nan])
    np.testing.assert_array_equal(run(Log(), 0, 1, -1, inf, dtype=dtype), [-inf, 0, nan, inf])
    np.testing.assert_array_equal(run(Sqrt(), 4, -1, inf, dtype=dtype), [2, nan, inf])
    np.testing.assert_array_equal(run(Erf(), -inf, 0, inf, nan, dtype=dtype), [-1, 0, 1, nan])
    np.testing.assert_array_equal(run(Tanh(), -inf, inf, dtype=dtype), [-1, 1])
    np.testing.assert_array_equal(run(Asin(), 2, dtype=dtype), [nan])
    np.testing.assert_array_equal(run(Acosh(), 0.5, 1, dtype=dtype), [nan, 0])
    np.testing.assert_array_equal(run(Atanh(), 1, 2, dtype=dtype), [inf, nan])


@pytest.mark.parametrize("op", [Exp(), Log(), Sinh(), Cosh(), Erf()])
@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16])
def test_narrow_floats_are_rounded_once(op, dtype):
    x = np.linspace(0.1, 5, 99).astype(dtype)
    with np.errstate(all="ignore"):
        exact = op.run(x.astype(np.float64))
        np.testing.assert_array_equal(op.run(x), exact.astype(np.float32).astype(dtype))


def test_function_of_integers_is_an_error():
    with pytest.raises(TypeRuleError, match=r"^does not accept int64$"):
        Exp().infer(Known(TensorType(np.dtype(np.int64))))
