"""ConstantOfShape, Range, EyeLike."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import listed, shaped
from named_dims import FLOAT32, INT64, M, N, check_has, known_of, scalar, shape_of

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.movement.filling import ConstantOfShape, EyeLike, Range


def ints(*numbers):
    return np.array(numbers, np.int64)


def test_constant_of_shape_repeats_the_value():
    assert ConstantOfShape().run(ints(2, 3)).tolist() == [[0.0] * 3] * 2
    assert ConstantOfShape().run(ints(2)).dtype == FLOAT32
    assert ConstantOfShape(np.array([5], np.int8)).run(ints()).tolist() == 5
    assert ConstantOfShape(np.array([1.5], ml_dtypes.bfloat16)).run(ints(2)).dtype == ml_dtypes.bfloat16


def test_constant_of_shape_of_great_size_takes_the_memory_of_one_element():
    great = ConstantOfShape(np.array([5], np.int8)).run(ints(2**40, 2))
    assert great.shape == (2**40, 2) and great[-1, -1] == 5 and great.strides == (0, 0)
    assert not great.flags.writeable


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2**62, 4), "float32[4611686018427387904, 4] has more elements than memory can ever hold"),
        ((2, -1), "shape is [2, -1], lengths must not be negative"),
    ],
)
def test_constant_of_shape_refuses_impossible_shapes(shape, message):
    with pytest.raises(RunError) as caught:
        ConstantOfShape().run(ints(*shape))
    assert str(caught.value) == message


def test_constant_of_shape_follows_dims():
    assert shape_of(ConstantOfShape(), listed(N, 3, M)) == (N, 3, M)
    assert shape_of(ConstantOfShape(), shaped(2, dtype=np.int64)) == (None, None)
    assert shape_of(ConstantOfShape(), Known(TensorType(INT64))) is UNRANKED
    assert known_of(ConstantOfShape(ints(7)), listed(3)) == [7, 7, 7]
    assert known_of(ConstantOfShape(ints(7)), listed(10**6)) is None


@pytest.mark.parametrize(
    ("start", "limit", "delta", "expected"),
    [(3, 9, 3, [3, 6]), (10, 4, -2, [10, 8, 6]), (0, 7, 3, [0, 3, 6]), (5, 5, 1, []), (5, 0, 1, []), (0, 5, -1, [])],
)
@pytest.mark.parametrize(
    "dtype", [np.int16, np.int32, np.int64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
)
def test_range_stops_before_the_limit(dtype, start, limit, delta, expected):
    actual = Range().run(*(np.array(v, dtype) for v in (start, limit, delta)))
    assert actual.dtype == dtype and actual.astype(np.float64).tolist() == expected


def test_range_multiplies_instead_of_adding_up():
    actual = Range().run(*(np.array(v, np.float32) for v in (0, 100, 0.1)))
    np.testing.assert_array_equal(actual, np.arange(actual.size, dtype=np.float32) * np.float32(0.1))


def test_range_of_float16_is_computed_in_the_stash_type():
    ends = [np.array(v, np.float16) for v in (1, 3, 0.0015)]
    wide, narrow = Range().run(*ends), Range(stash_type=np.dtype(np.float16)).run(*ends)
    exact = 1 + np.arange(wide.size) * float(ends[2])
    np.testing.assert_array_equal(wide, exact.astype(np.float16))
    assert (narrow != wide[: narrow.size]).any()


@pytest.mark.parametrize(
    ("values", "dtype", "message"),
    [
        ((0, 5, 0), np.int64, "delta is 0"),
        ((0, np.inf, 1), np.float32, "no range goes from 0.0 to inf by 1.0"),
        ((0, np.nan, 1), np.float32, "no range goes from 0.0 to nan by 1.0"),
        (
            (0, 2**62, 1),
            np.int64,
            "int64[4611686018427387904] takes 36893488147419103232 bytes, more than this machine's memory",
        ),
    ],
)
def test_range_refuses_what_never_ends(values, dtype, message):
    with pytest.raises(RunError) as caught, np.errstate(all="ignore"):
        Range().run(*(np.array(v, dtype) for v in values))
    assert str(caught.value) == message


def test_range_of_extreme_integers_does_not_overflow():
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    assert Range().run(np.array(least), np.array(most), np.array(most)).tolist() == [least, -1, most - 1]


def test_range_over_named_dims():
    assert shape_of(Range(), scalar(0), scalar(N), scalar(1)) == (N,)
    assert shape_of(Range(), scalar(M), scalar(N + M), scalar(1)) == (N,)
    assert shape_of(Range(), scalar(0), scalar(N), scalar(UNKNOWN)) == (None,)
    assert shape_of(Range(), *[scalar(v, np.float32) for v in (0.0, 1.0, 0.25)]) == (4,)
    assert known_of(Range(), scalar(5), scalar(0), scalar(-2)) == [5, 3, 1]
    for ends in ((0, N, 2), (N, 0, -1), (2, N, 3), (N, 2 * N, 1), (0, N - 2, 1)):
        assert check_has(Range(), *map(scalar, ends), sizes=range(7))


def test_range_refuses_other_types():
    with pytest.raises(TypeRuleError, match="does not accept uint8"):
        Range().infer(*[scalar(1, np.uint8)] * 3)


@pytest.mark.parametrize("k", [0, 1, -1, 5, -5, 2**62, -(2**62)])
def test_eye_like_sets_one_diagonal(k):
    actual = EyeLike(np.dtype(np.int8), k).run(np.zeros((2, 3), np.float32))
    assert actual.dtype == np.int8
    assert actual.tolist() == [[int(column - row == k) for column in range(3)] for row in range(2)]


def test_eye_like_takes_matrices():
    assert EyeLike().infer(shaped(N, 3)) == TensorType(FLOAT32, (N, 3))
    with pytest.raises(TypeRuleError, match=r"takes a matrix, got float32\[2\]"):
        EyeLike().infer(shaped(2))
