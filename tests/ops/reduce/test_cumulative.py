"""CumSum and CumProd beyond the backend suite."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import elements, evaluate, floats, listed, shaped, types, unranked

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.reduce.cumulative import CumProd, CumSum

FIRST = np.array(0, np.int32)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (CumSum(), [1, 3, 6]),
        (CumSum(exclusive=1), [0, 1, 3]),
        (CumSum(reverse=1), [6, 5, 3]),
        (CumSum(exclusive=1, reverse=1), [5, 3, 0]),
        (CumProd(), [1, 2, 6]),
        (CumProd(exclusive=1), [1, 1, 2]),
        (CumProd(reverse=1), [6, 6, 3]),
        (CumProd(exclusive=1, reverse=1), [6, 3, 1]),
    ],
)
def test_totals_run_forward_or_back(op, expected):
    np.testing.assert_array_equal(evaluate(op, floats(1, 2, 3), FIRST), expected)
    assert elements(op, listed(1, 2, 3), listed(0)) == expected


@pytest.mark.parametrize("axis", [np.array(-1), np.array([1], np.int32), np.array([[1]])])
def test_axis_is_one_element_of_any_rank(axis):
    x = np.arange(6, dtype=np.int64).reshape(2, 3)
    np.testing.assert_array_equal(evaluate(CumSum(), x, axis), x.cumsum(1))


def test_integers_keep_their_type_and_wrap():
    result = evaluate(CumSum(), np.array([2**31 - 1, 1], np.int32), FIRST)
    assert result.dtype == np.int32 and result.tolist() == [2**31 - 1, -(2**31)]
    assert evaluate(CumProd(), np.array([16, 16], np.uint8), FIRST).tolist() == [16, 0]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_summed_in_float32(dtype):
    assert evaluate(CumSum(), np.ones(3072, dtype), FIRST)[-1].astype(np.float32) == 3072


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_empty_axis_remains_empty(exclusive, reverse):
    assert evaluate(CumProd(exclusive, reverse), np.zeros((2, 0), np.float32), np.array(1)).shape == (2, 0)


def test_nan_and_infinity_stay_out_of_exclusive_totals_before_them():
    np.testing.assert_array_equal(evaluate(CumSum(exclusive=1), floats(1, np.nan, 2), FIRST), [0, 1, np.nan])


def test_wrong_axis_is_refused():
    for axis, message in (
        (np.array(2), "axis 2 is outside [-2, 2) of a tensor of rank 2"),
        (np.array([0, 1]), "axis has shape [2], expected one element"),
    ):
        with pytest.raises(RunError) as caught:
            evaluate(CumSum(), np.zeros((2, 3), np.float32), axis)
        assert str(caught.value) == message
    with pytest.raises(TypeRuleError) as refused:
        types(CumSum(), shaped(2, 3), listed(2))
    assert str(refused.value) == "axis 2 is outside [-2, 2) of a tensor of rank 2"
    with pytest.raises(TypeRuleError) as refused:
        types(CumSum(), shaped(2, 3), shaped(2, dtype=np.int64))
    assert str(refused.value) == "axis is int64[2], expected one integer"


def test_inference_keeps_the_type_and_follows_shapes():
    n = dims.name("N")
    assert types(CumSum(), shaped(n, 3), unranked(np.int64)) == "float32[N, 3]"
    assert elements(CumSum(), listed(n, 2, n), listed(0)) == [n, n + 2, n * 2 + 2]
    assert elements(CumProd(), listed(2**40, 2**40), listed(0)) is None
    assert elements(CumSum(), listed(0.5, dtype=np.float32), listed(0)) is None
