"""Reductions beyond the backend suite: empty sets, NaN, wrap-around, rounding, axes, inference and messages."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import elements, evaluate, floats, listed, shaped, types, unranked

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.reduce.logarithmic_reductions import ReduceLogSum, ReduceLogSumExp
from whorl.ops.reduce.reductions import (
    ArgMax,
    ArgMin,
    ReduceL1,
    ReduceL2,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    ReduceSumSquare,
)

N, M = dims.name("N"), dims.name("M")
INF, NAN = np.inf, np.nan
ALL = (
    ReduceL1,
    ReduceL2,
    ReduceLogSum,
    ReduceLogSumExp,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    ReduceSumSquare,
)
OF_NOTHING = {
    ReduceL1: 0,
    ReduceL2: 0,
    ReduceLogSum: -INF,
    ReduceLogSumExp: -INF,
    ReduceMax: -INF,
    ReduceMean: NAN,
    ReduceMin: INF,
    ReduceProd: 1,
    ReduceSum: 0,
    ReduceSumSquare: 0,
}
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]


def axes(*numbers):
    return np.array(numbers, np.int64)


def test_sum_along_axes_keeps_lengths_of_1():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(evaluate(ReduceSum(), x, axes(0, -1)), x.sum((0, 2), keepdims=True))
    np.testing.assert_array_equal(evaluate(ReduceSum(keepdims=0), x, axes(0, -1)), x.sum((0, 2)))


@pytest.mark.parametrize("op_class", ALL)
@pytest.mark.parametrize("dtype", FLOATS)
def test_reduction_of_nothing_is_the_identity(op_class, dtype):
    result = evaluate(op_class(), np.zeros((2, 0, 3), dtype), axes(1))
    assert result.dtype == dtype and result.shape == (2, 1, 3)
    np.testing.assert_array_equal(result.astype(np.float64), np.full((2, 1, 3), OF_NOTHING[op_class]))


@pytest.mark.parametrize("op_class", ALL)
def test_empty_result_has_the_right_shape(op_class):
    assert evaluate(op_class(keepdims=0), np.zeros((0, 3), np.float32), axes(1)).shape == (0,)


@pytest.mark.parametrize(("dtype", "least", "largest"), [(np.int8, -128, 127), (np.uint64, 0, 2**64 - 1), (bool, 0, 1)])
def test_extremes_of_no_integers_are_the_ends_of_their_type(dtype, least, largest):
    nothing = np.zeros((0,), dtype)
    assert evaluate(ReduceMax(keepdims=0), nothing) == least and evaluate(ReduceMin(keepdims=0), nothing) == largest
    assert evaluate(ReduceMax(), nothing).dtype == dtype


def test_mean_of_no_integers_is_0():
    assert evaluate(ReduceMean(keepdims=0), np.zeros(0, np.int32)) == 0


@pytest.mark.parametrize("op_class", ALL)
def test_scalar_reduces_to_a_scalar(op_class):
    result = evaluate(op_class(), np.array(3.0, np.float32))
    assert result.shape == () and result.dtype == np.float32
    np.testing.assert_array_equal(result, evaluate(op_class(keepdims=0), floats(3)))


def test_scalar_may_be_reduced_along_axis_0():
    assert evaluate(ReduceSum(), np.array(3.0, np.float32), axes(0)) == 3
    assert types(ReduceSum(), shaped(), listed(-1)) == "float32[]"


def test_bool_extremes_are_any_and_all():
    x = np.array([[True, False], [False, False], [True, True]])
    np.testing.assert_array_equal(evaluate(ReduceMax(keepdims=0), x, axes(1)), [True, False, True])
    np.testing.assert_array_equal(evaluate(ReduceMin(keepdims=0), x, axes(1)), [False, False, True])


@pytest.mark.parametrize("op_class", [ReduceMax, ReduceMin])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_wins_an_extreme(op_class, dtype):
    assert np.isnan(evaluate(op_class(keepdims=0), np.array([1, NAN, -1], dtype)).astype(np.float32))


def test_integer_sums_and_products_wrap():
    most = np.iinfo(np.int32).max
    assert evaluate(ReduceSum(keepdims=0), np.array([most, 1], np.int32)) == -(2**31)
    assert evaluate(ReduceProd(keepdims=0), np.array([most, 2], np.int32)) == -2
    assert evaluate(ReduceSumSquare(keepdims=0), np.array([2**16], np.uint32)) == 0
    assert evaluate(ReduceL1(keepdims=0), np.array([-(2**63)], np.int64)) == -(2**63)
    assert evaluate(ReduceSum(keepdims=0), np.array([200, 100], np.uint8)).dtype == np.uint8


@pytest.mark.parametrize(
    ("numbers", "dtype", "mean"),
    [
        ([-3, -4], np.int32, -3),
        ([3, 4], np.int64, 3),
        ([2**63 - 1], np.int64, 2**63 - 1),
        ([2**64 - 1], np.uint64, 2**64 - 1),
    ],
)
def test_integer_mean_is_truncated_and_exact(numbers, dtype, mean):
    result = evaluate(ReduceMean(keepdims=0), np.array(numbers, dtype))
    assert result == mean and result.dtype == dtype


def test_integer_norm_is_truncated():
    result = evaluate(ReduceL2(keepdims=0), np.array([3, 5], np.int32))
    assert result == 5 and result.dtype == np.int32


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_summed_in_float32(dtype):
    ones = np.ones(3072, dtype)
    assert evaluate(ReduceSum(keepdims=0), ones).astype(np.float32) == 3072
    assert evaluate(ReduceMean(keepdims=0), ones).astype(np.float32) == 1


def test_float16_norm_of_large_elements_is_finite():
    assert evaluate(ReduceL2(keepdims=0), np.full(4, 1000, np.float16)) == 2000


@pytest.mark.parametrize("passed", [None, axes()])
def test_noop_with_empty_axes_leaves_only_the_elementwise_part(passed):
    x = floats(-2, 3)
    np.testing.assert_array_equal(evaluate(ReduceSum(noop_with_empty_axes=1), x, passed), x)
    np.testing.assert_array_equal(evaluate(ReduceL1(noop_with_empty_axes=1, keepdims=0), x, passed), [2, 3])
    np.testing.assert_array_equal(evaluate(ReduceSumSquare(noop_with_empty_axes=1), x, passed), [4, 9])
    assert (
        types(ReduceL1(noop_with_empty_axes=1, keepdims=0), shaped(2), None if passed is None else listed())
        == "float32[2]"
    )


def test_noop_with_axes_reduces():
    assert evaluate(ReduceSum(noop_with_empty_axes=1), floats(2, 3), axes(0)).tolist() == [5]


def test_input_is_neither_changed_nor_required_to_be_contiguous():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)[::-1, ::2]
    before = x.copy()
    np.testing.assert_array_equal(evaluate(ReduceSumSquare(keepdims=0), x, axes(0)), (x * x).sum(0))
    np.testing.assert_array_equal(x, before)


def test_axes_out_of_range_or_twice_are_refused():
    x = np.zeros((2, 3), np.float32)
    for number, message in (
        ((2,), "axis 2 is outside [-2, 2) of a tensor of rank 2"),
        ((1, -1), "axes [1, -1] name an axis of a tensor of rank 2 twice"),
    ):
        with pytest.raises(RunError) as at_run_time:
            evaluate(ReduceSum(), x, axes(*number))
        with pytest.raises(TypeRuleError) as at_inference:
            types(ReduceSum(), shaped(2, 3), listed(*number))
        assert str(at_run_time.value) == str(at_inference.value) == message


@pytest.mark.parametrize(
    ("op", "facts", "expected"),
    [
        (ReduceSum(), (shaped(N, 3, M), listed(1)), "float32[N, 1, M]"),
        (ReduceSum(keepdims=0), (shaped(N, 3, M), listed(-1)), "float32[N, 3]"),
        (ReduceSum(), (shaped(N, 3),), "float32[1, 1]"),
        (ReduceSum(keepdims=0), (shaped(N, 3),), "float32[]"),
        (ReduceSum(keepdims=0), (unranked(),), "float32[]"),
        (ReduceSum(), (unranked(),), "float32[*]"),
        (ReduceSum(noop_with_empty_axes=1), (shaped(N),), "float32[N]"),
        (ReduceSum(), (shaped(1, N), shaped(1, dtype=np.int64)), "float32[1, ?]"),
        (ReduceSum(keepdims=0), (shaped(N, 3, M), shaped(2, dtype=np.int64)), "float32[?]"),
        (ReduceSum(keepdims=0), (shaped(N, 3), shaped(M, dtype=np.int64)), "float32[*]"),
        (ReduceSum(), (shaped(N, 3), shaped(M, dtype=np.int64)), "float32[?, ?]"),
        (ReduceSum(keepdims=0), (shaped(N, 3), shaped(0, dtype=np.int64)), "float32[]"),
        (ReduceMax(), (unranked(bool), unranked(np.int64)), "bool[*]"),
    ],
)
def test_shape_is_as_exact_as_the_axes_are_known(op, facts, expected):
    assert types(op, *facts) == expected


def test_inference_follows_reductions_of_shapes():
    shape = listed(N, 2, M)
    assert elements(ReduceProd(keepdims=0), shape) == N * M * 2
    assert elements(ReduceSum(), shape) == [N + M + 2]
    assert elements(ReduceMax(), listed(3, 8, 5)) == [8]
    assert elements(ReduceMin(keepdims=0), listed(N, N + 1)) == N
    assert elements(ReduceMax(noop_with_empty_axes=1), shape) == [N, 2, M]
    assert elements(ReduceSum(keepdims=0), listed(), listed(0)) == 0


def test_inference_does_not_follow_what_wraps_or_rounds():
    assert elements(ReduceProd(), listed(2**31, 2**32)) is None
    assert elements(ReduceSum(), listed(0.1, 0.2, dtype=np.float32)) is None
    assert elements(ReduceSum(), listed(1, 2), shaped(1, dtype=np.int64)) is None
    assert elements(ReduceMax(), listed()) is None


def test_argument_of_equal_elements_is_the_first_or_the_last():
    x = floats([2, 5, 5], [1, 1, 0])
    np.testing.assert_array_equal(evaluate(ArgMax(axis=1), x), [[1], [0]])
    np.testing.assert_array_equal(evaluate(ArgMax(axis=1, keepdims=0, select_last_index=1), x), [2, 1])
    np.testing.assert_array_equal(evaluate(ArgMin(axis=-2, keepdims=0, select_last_index=1), x), [1, 1, 1])
    assert evaluate(ArgMax(), x).dtype == np.int64


@pytest.mark.parametrize("dtype", FLOATS)
def test_argument_of_nan_is_the_first_nan(dtype):
    x = np.array([1, NAN, 3, NAN], dtype)
    assert evaluate(ArgMax(keepdims=0), x) == 1 and evaluate(ArgMin(keepdims=0), x) == 1
    assert evaluate(ArgMax(keepdims=0, select_last_index=1), x) == 3


def test_argument_along_an_empty_axis_is_refused():
    with pytest.raises(RunError) as caught:
        evaluate(ArgMax(axis=1), np.zeros((2, 0), np.float32))
    assert str(caught.value) == "axis 1 of shape [2, 0] is empty, there is nothing to point at"
    assert evaluate(ArgMax(axis=1), np.zeros((0, 0), np.float32)).shape == (0, 1)


def test_argument_of_a_scalar_is_0():
    assert evaluate(ArgMin(), np.array(7, np.uint8)) == 0


@pytest.mark.parametrize(
    ("op", "fact", "expected"),
    [
        (ArgMax(axis=-1), shaped(N, M), "int64[N, 1]"),
        (ArgMin(axis=0, keepdims=0), shaped(N, M), "int64[M]"),
        (ArgMax(), unranked(), "int64[*]"),
    ],
)
def test_argument_shape(op, fact, expected):
    assert types(op, fact) == expected


def test_argument_axis_out_of_range_is_refused():
    with pytest.raises(TypeRuleError) as caught:
        types(ArgMax(axis=2), shaped(N, M))
    assert str(caught.value) == "axis 2 is outside [-2, 2) of a tensor of rank 2"
