"""Comparisons and choices: NaN, texts, and what is decided about dims."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, listed, shaped
from named_dims import M, N, check_has, known_of, scalar, shape_of

from whorl.errors import TypeRuleError
from whorl.ir.dims import UNKNOWN, call
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, IsInf, IsNaN, Less, LessOrEqual, Where


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ml_dtypes.bfloat16])
def test_nan_compares_false_with_everything(dtype):
    x, y = np.array([np.nan, 1, np.nan], dtype), np.array([1, np.nan, np.nan], dtype)
    for op in (Equal(), Less(), LessOrEqual(), Greater(), GreaterOrEqual()):
        assert not evaluate(op, x, y).any()
    assert Equal().run(np.array(0.0, dtype), np.array(-0.0, dtype))


def test_equal_of_texts_compares_them_whole():
    x, y = np.array(["a", "", "ab"], object), np.array(["a", "b", "a"], object)
    result = Equal().run(x, y)
    assert result.dtype == np.bool_ and result.tolist() == [True, False, False]


def test_less_of_uint64_beyond_int64_is_exact():
    assert Less().run(np.array([2**63], np.uint64), np.array([2**63 + 1], np.uint64)).tolist() == [True]


def test_comparisons_of_dims_are_decided_where_proved_else_forms():
    x, y = listed(N, N, N + 1, N, -1), listed(-1, N + 1, N, M, N)
    assert known_of(Equal(), x, y) == [False, False, False, call("equal", N, M), False]
    assert known_of(Less(), x, y) == [False, True, False, call("less", N, M), True]
    assert known_of(LessOrEqual(), x, y) == [False, True, False, 1 - call("less", M, N), True]
    assert known_of(Greater(), x, y) == [True, False, True, call("less", M, N), False]
    assert known_of(GreaterOrEqual(), x, y) == [True, False, True, 1 - call("less", N, M), False]
    for op in (Equal(), Less(), LessOrEqual(), Greater(), GreaterOrEqual()):
        assert check_has(op, x, y) == 25


def test_isinf_asks_for_the_signs_it_is_reported_to():
    x = np.array([np.inf, -np.inf, np.nan, 0], np.float32)
    assert IsInf().run(x).tolist() == [True, True, False, False]
    assert IsInf(detect_negative=0).run(x).tolist() == [True, False, False, False]
    assert IsInf(detect_positive=0).run(x).tolist() == [False, True, False, False]
    assert IsInf(detect_negative=0, detect_positive=0).run(x).tolist() == [False] * 4


def test_float8_without_infinity_has_nan():
    x = np.array([np.inf, np.nan, 1], np.float32).astype(ml_dtypes.float8_e4m3fn)
    assert IsInf().run(x).tolist() == [False, False, False]
    assert IsNaN().run(x).tolist() == [True, True, False]
    assert IsInf().run(np.array([np.inf], ml_dtypes.float8_e5m2)).tolist() == [True]


def test_where_broadcasts_all_three_and_keeps_the_dtype():
    result = Where().run(np.array([[True], [False]]), np.array([1, 2], np.int8), np.array(9, np.int8))
    assert result.dtype == np.int8 and result.tolist() == [[1, 2], [9, 9]]
    assert shape_of(Where(), shaped(N, 1, dtype=bool), shaped(3), shaped()) == (N, 3)


def test_where_takes_texts():
    result = Where().run(np.array([True, False]), np.array("a", object), np.array("b", object))
    assert result.tolist() == ["a", "b"]


def test_where_of_a_condition_that_is_no_bool_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        Where().infer(shaped(2, dtype=np.int64), shaped(2), shaped(2))
    assert str(error.value) == "the condition is int64, expected bool"


def test_where_follows_dims_through_known_conditions():
    condition = listed(True, False, UNKNOWN, UNKNOWN, dtype=bool)
    assert known_of(Where(), condition, listed(N, N, N, N), listed(M, M, M, N)) == [N, M, None, N]
    assert known_of(Where(), listed(True, False, dtype=bool), scalar(N), listed(1, 2)) == [N, 2]
