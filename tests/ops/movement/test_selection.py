"""OneHot, Compress, NonZero, Unique, TopK, Trilu."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import listed, shaped
from named_dims import M, N, check_has, known_of, scalar, shape_of
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.movement.selection import Compress, NonZero, OneHot, TopK, Trilu, Unique

NAN = float("nan")


def ints(*numbers):
    return np.array(numbers, np.int64)


def floats(*numbers):
    return np.array(numbers, np.float32)


# ---- OneHot --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [-2, -1, 0, 1])
def test_one_hot_adds_an_axis(axis):
    inputs = [ints(-1, 0, 2, 3, -4), np.array(3), floats(2, 7)]
    expected = onnxruntime_run(single_node("OneHot", inputs, 13, axis=axis), feeds(inputs))[0]
    np.testing.assert_array_equal(OneHot(axis).run(*inputs), expected)


def test_one_hot_of_other_types():
    assert OneHot().run(floats(1.9, -1.2, 5), np.array([2.0]), np.array(["no", "yes"], dtype=object)).tolist() == [
        ["no", "yes"],
        ["no", "yes"],
        ["no", "no"],
    ]
    assert OneHot().run(np.array([2**64 - 1, 1], np.uint64), np.array(2), ints(0, 1)).tolist() == [[0, 0], [0, 1]]
    assert OneHot().run(np.array(1), np.array(0), ints(0, 1)).shape == (0,)


def test_one_hot_infers_its_depth():
    assert shape_of(OneHot(), shaped(N, 3, dtype=np.int64), scalar(M), shaped(2)) == (N, 3, M)
    assert shape_of(OneHot(0), shaped(N), scalar(4.0, np.float32), shaped(2)) == (4, N)
    assert shape_of(OneHot(1), shaped(N), shaped(dtype=np.int64), shaped(2)) == (N, None)
    with pytest.raises(RunError, match="depth is -1"):
        OneHot().run(ints(0), np.array(-1), ints(0, 1))


# ---- Compress, NonZero ---------------------------------------------------------------------------------------------


def test_compress_takes_where_the_condition_has():
    x = np.arange(6).reshape(2, 3)
    assert Compress(axis=-1).run(x, np.array([False, True])).tolist() == [[1], [4]]
    assert Compress().run(x, np.array([True, False, False, True])).tolist() == [0, 3]
    with pytest.raises(RunError, match="condition is true at 2, axis 0 has length 2"):
        Compress(axis=0).run(x, np.array([True, False, True]))


def test_compress_counts_a_known_condition():
    condition = listed(True, False, True, dtype=np.bool_)
    assert shape_of(Compress(0), shaped(N, 4), condition) == (2, 4)
    assert shape_of(Compress(), shaped(N, 4), shaped(3, dtype=np.bool_)) == (None,)
    assert known_of(Compress(0), listed(N, 2, M), condition) == [N, M]
    with pytest.raises(TypeRuleError, match=r"condition is float32\[2\], expected a row of bool"):
        Compress().infer(shaped(3), shaped(2))


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.array([[1, 0], [1, 1]]), [[0, 1, 1], [0, 0, 1]]),
        (floats(0, -0.0, NAN), [[2]]),
        (np.array(["", "a"], dtype=object), [[1]]),
        (np.array([0, 2], ml_dtypes.int4), [[1]]),
        (np.zeros((2, 2)), [[], []]),
    ],
)
def test_non_zero_lists_locations_in_order(x, expected):
    actual = NonZero().run(x)
    assert actual.dtype == np.int64 and actual.tolist() == expected


def test_non_zero_of_a_scalar_has_no_rows():
    assert NonZero().run(np.array(5)).shape == (0, 1)
    assert NonZero().run(np.array(0)).shape == (0, 0)


def test_non_zero_infers_its_rows():
    assert shape_of(NonZero(), shaped(N, 3)) == (2, None)
    assert shape_of(NonZero(), listed(1, 0, 2)) == (1, 2)
    assert known_of(NonZero(), listed(1, 0, 2)) == [[0, 2]]
    assert shape_of(NonZero(), listed(N, 0, 2)) == (1, None)


# ---- Unique --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("in_order", [0, 1])
def test_unique_as_onnxruntime(axis, in_order):
    x = np.random.default_rng(1).integers(0, 2, (3, 5, 2)).astype(np.float32)
    attributes = {"sorted": in_order} | ({} if axis is None else {"axis": axis})
    mine = Unique(axis, in_order).run(x)
    theirs = onnxruntime_run(model_with_counts(x, attributes), feeds([x]))
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def model_with_counts(x, attributes):
    model = single_node("Unique", [x], 13, 4, **attributes)
    for output in model.graph.output[1:]:
        output.type.tensor_type.elem_type = 7
    return model


def test_unique_takes_nans_as_one_value_above_all_numbers():
    values, first, inverse, counts = Unique().run(floats(NAN, 2, NAN, -1, 2))
    assert values[:2].tolist() == [-1, 2] and np.isnan(values[2])
    assert (first.tolist(), inverse.tolist(), counts.tolist()) == ([3, 1, 0], [2, 1, 2, 0, 1], [1, 2, 2])


def test_unique_of_texts_and_small_types():
    values, first, inverse, counts = Unique(sorted=0).run(np.array(["b", "a", "b"], dtype=object))
    assert (values.tolist(), first.tolist(), inverse.tolist(), counts.tolist()) == (
        ["b", "a"],
        [0, 1],
        [0, 1, 0],
        [2, 1],
    )
    values, *_ = Unique().run(np.array([3, -2, 3], ml_dtypes.bfloat16))
    assert values.dtype == ml_dtypes.bfloat16 and values.tolist() == [-2, 3]


def test_unique_of_empty_tensors():
    assert [part.shape for part in Unique().run(np.zeros((0, 3)))] == [(0,)] * 4
    assert [part.shape for part in Unique(axis=0).run(np.zeros((2, 0)))] == [(1, 0), (1,), (2,), (1,)]


def test_unique_infers_what_does_not_depend_on_the_values():
    values, first, inverse, counts = Unique(axis=1).infer(shaped(N, M, 3))
    assert values.shape[0] == N and values.shape[2] == 3 and inverse.shape == (M,)
    assert first.rank == counts.rank == 1
    assert Unique().infer(shaped(N, 3))[2].shape == (N * 3,)


# ---- TopK ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("largest", "values", "positions"), [(1, [3, 3, 2], [1, 3, 2]), (0, [1, 1, 2], [0, 4, 2])])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, ml_dtypes.bfloat16, np.float32, np.uint64])
def test_top_k_takes_the_first_of_equals(dtype, largest, values, positions):
    actual = TopK(largest=largest).run(np.array([1, 3, 2, 3, 1], dtype), ints(3))
    assert actual[0].dtype == dtype and actual[0].tolist() == values
    assert actual[1].dtype == np.int64 and actual[1].tolist() == positions


def test_top_k_has_nan_above_all_numbers():
    x = floats(1, NAN, np.inf, NAN)
    assert TopK().run(x, ints(3))[1].tolist() == [1, 3, 2]
    assert TopK(largest=0).run(x, ints(3))[1].tolist() == [0, 2, 1]


def test_top_k_along_an_axis_as_onnxruntime():
    x = np.random.default_rng(2).integers(0, 9, (4, 3, 2)).astype(np.float32)
    for axis in (0, 1, -1):
        model = single_node("TopK", [x, ints(2)], 11, 2, axis=axis)
        model.graph.output[1].type.tensor_type.elem_type = 7
        for a, b in zip(TopK(axis).run(x, ints(2)), onnxruntime_run(model, feeds([x, ints(2)])), strict=True):
            np.testing.assert_array_equal(a, b)


def test_top_k_infers_and_refuses():
    assert shape_of(TopK(0), shaped(N, 3), listed(M)) == (M, 3)
    assert shape_of(TopK(0), shaped(N, 3), shaped(1, dtype=np.int64)) == (None, 3)
    assert shape_of(TopK(0), Known(TensorType(np.dtype(np.float32))), listed(2)) is UNRANKED
    with pytest.raises(TypeRuleError, match=r"k is 4, axis 1 of float32\[N, 3\] has length 3"):
        TopK().infer(shaped(N, 3), listed(4))
    with pytest.raises(RunError, match="k is 4, axis 0 has length 3"):
        TopK().run(floats(1, 2, 3), ints(4))
    with pytest.raises(TypeRuleError, match="does not accept string"):
        TopK().infer(shaped(3, dtype=object), listed(1))


# ---- Trilu ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 0, 1, -1, 9, -9, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("upper", [0, 1])
def test_trilu_keeps_one_side_of_a_diagonal(upper, k):
    x = np.arange(1, 13).reshape(2, 2, 3)
    number = 0 if k is None else max(min(k, 9), -9)
    expected = np.triu(x, number) if upper else np.tril(x, number)
    np.testing.assert_array_equal(Trilu(upper).run(x, None if k is None else np.array(k)), expected)


def test_trilu_of_texts_and_flags():
    assert Trilu().run(np.array([["a", "b"], ["c", "d"]], dtype=object)).tolist() == [["a", "b"], ["", "d"]]
    assert Trilu(0).run(np.ones((2, 2), np.bool_)).tolist() == [[True, False], [True, True]]
    with pytest.raises(TypeRuleError, match="takes matrices"):
        Trilu().infer(shaped(3))
    assert check_has(Trilu(), shaped(N, M))
