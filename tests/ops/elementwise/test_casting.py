"""Casts: every pair of element types, the ONNX tables, texts, bits, and what inference follows."""

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, listed, shaped
from named_dims import N, known_of

from whorl.errors import TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BY_NAME, COMPLEX, FLOATS, STRING, bits, name_of
from whorl.ir.types import TensorType
from whorl.ops.elementwise.casting import BitCast, Cast, CastLike

INF, NAN = np.inf, np.nan
REAL = [dtype for dtype in BY_NAME.values() if dtype not in COMPLEX]


def cast(values, to, source=np.float32, **attributes):
    op = Cast(BY_NAME[to], **attributes)
    result = evaluate(op, np.array(values, source))
    assert result.dtype == BY_NAME[to]
    return result.tolist() if result.dtype.kind != "V" and result.itemsize > 1 else result.astype(np.float64).tolist()


@pytest.mark.parametrize(("source", "target"), list(product(REAL, REAL)), ids=name_of)
def test_every_pair_keeps_small_numbers_and_shapes(source, target):
    numbers = ["1", "2"] if source == STRING else [1, 2]
    if {name_of(source), name_of(target)} & {"int2", "bool"}:
        numbers = numbers[:1] * 2
    x = np.array(numbers, object).astype(source)
    for value in (x, x[:1].reshape(()), x[:0], np.stack([x, x])[:, ::2]):
        result = evaluate(Cast(target), value)
        assert result.dtype == target and result.shape == value.shape
        assert Cast(target).infer(shaped(N, dtype=source)) == TensorType(target, (N,))
        back = evaluate(Cast(BY_NAME["float64"]), np.asarray(result))
        np.testing.assert_array_equal(back, evaluate(Cast(BY_NAME["float64"]), value))


def test_integers_keep_their_low_bits():
    assert cast([200, -129, 256], "int8", np.int16) == [-56, 127, 0]
    assert cast([-1], "uint64", np.int8) == [2**64 - 1]
    assert cast([9, -9, 7], "int4", np.int64) == [-7, 7, 7]
    assert cast([5, 2, -1], "uint2", np.int8) == [1, 2, 3]
    assert cast([-8, 7], "int2", ml_dtypes.int4) == [0, -1]


@pytest.mark.parametrize("source", sorted(map(name_of, FLOATS)))
def test_nonzero_is_true_nan_included(source):
    x = np.array([0.0, 1.0], np.float32).astype(BY_NAME[source])
    expected = [False, True] if source != "float8e8m0" else [bool(x[0] != 0), True]
    assert evaluate(Cast(BY_NAME["bool"]), x).tolist() == expected
    assert cast([NAN, -0.0], "bool") == [True, False]


def test_unknown_round_mode_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        Cast(BY_NAME["float8e8m0"], round_mode="even").infer(shaped(1))
    assert str(error.value) == "round_mode 'even' does not exist\n  fix: one of up, down, nearest"


def test_complex_is_cast_to_complex_only():
    x = np.array([1 + 2j], np.complex128)
    assert evaluate(Cast(BY_NAME["complex64"]), x).dtype == np.complex64
    assert evaluate(Cast(BY_NAME["complex64"]), np.array([True])).tolist() == [1 + 0j]
    with pytest.raises(TypeRuleError) as error:
        Cast(BY_NAME["float32"]).infer(shaped(1, dtype=np.complex64))
    assert str(error.value) == "cannot cast complex64 to float32"
    with pytest.raises(TypeRuleError) as error:
        Cast(BY_NAME["complex64"]).infer(shaped(1, dtype=object))
    assert str(error.value) == "cannot cast string to complex64"


def test_cast_to_its_own_dtype_is_the_input():
    x = np.zeros(3)
    assert Cast(x.dtype).run(x) is x


def test_castlike_takes_the_second_dtype_and_nothing_else():
    result = evaluate(CastLike(), np.array([1.7, -1.7]), np.zeros((0, 5), np.int16))
    assert result.dtype == np.int16 and result.tolist() == [1, -1]
    like = shaped(7, dtype=np.int32)
    assert CastLike().infer(shaped(N), like) == TensorType(np.dtype(np.int32), (N,))
    assert known_of(CastLike(), listed(N, 3), like) == [N, 3]


def test_cast_follows_dims_between_integers_that_hold_them():
    assert known_of(Cast(BY_NAME["int32"]), listed(N, 2**32 + 1)) == [N, 1]
    assert known_of(Cast(BY_NAME["float32"]), listed(N, 3)) == [None, 3.0]
    assert known_of(Cast(BY_NAME["int8"]), listed(N, 200)) == [None, -56]
    assert known_of(Cast(BY_NAME["int64"]), listed(UNKNOWN, 3.7, dtype=np.float32)) == [None, 3]
    assert known_of(Cast(BY_NAME["bool"]), listed(0, 5)) == [False, True]


@pytest.mark.parametrize(
    ("source", "target"),
    [pair for pair in product(REAL, REAL) if pair[0] != STRING and bits(pair[0]) == bits(pair[1])],
    ids=name_of,
)
def test_bitcast_there_and_back_is_the_input(source, target):
    x = np.array([0, 1], np.int8).astype(source)
    there = evaluate(BitCast(target), x)
    assert there.dtype == target and BitCast(target).infer(shaped(2, dtype=source)) == TensorType(target, (2,))
    if target != np.bool_:
        back = evaluate(BitCast(source), there)
        assert back.dtype == source
        np.testing.assert_array_equal(back.astype(np.float64), x.astype(np.float64))


def test_bitcast_of_four_bits_extends_the_sign():
    x = np.array([0, 7, 8, 15], ml_dtypes.uint4)
    assert evaluate(BitCast(BY_NAME["int4"]), x).astype(np.int8).tolist() == [0, 7, -8, -1]
    negative = np.array([-1, -8], ml_dtypes.int4)
    assert evaluate(BitCast(BY_NAME["uint4"]), negative).astype(np.int8).tolist() == [15, 8]


def test_bitcast_of_a_scalar_and_of_a_strided_array():
    assert evaluate(BitCast(BY_NAME["uint32"]), np.array(1.0, np.float32)) == 0x3F800000
    x = np.arange(6, dtype=np.float32).reshape(2, 3).T
    assert evaluate(BitCast(BY_NAME["int32"]), x).shape == (3, 2)


def test_bitcast_between_widths_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        BitCast(BY_NAME["int64"]).infer(shaped(2))
    assert str(error.value) == "float32 has 32 bits, int64 has 64\n  fix: use Cast to convert the values"
    with pytest.raises(TypeRuleError, match=r"^does not accept string$"):
        BitCast(BY_NAME["int64"]).infer(shaped(2, dtype=object))
