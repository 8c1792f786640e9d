"""The table of element types: one name each, disjoint kinds, and the bits that a file takes."""

import ml_dtypes
import numpy as np
import pytest

from whorl.ir.dtypes import (
    BOOL,
    BY_NAME,
    COMPLEX,
    COMPUTED_FLOATS,
    FLOATS,
    INTEGERS,
    NAMES,
    SIGNED,
    STRING,
    UNSIGNED,
    bits,
    is_float,
    is_integer,
    name_of,
    single,
)


def test_each_element_type_has_one_name():
    assert len(NAMES) == len(BY_NAME) and all(BY_NAME[name_of(dtype)] == dtype for dtype in BY_NAME.values())


@pytest.mark.parametrize(
    ("dtype", "name"), [("datetime64[s]", "datetime64[s]"), (np.longdouble, str(np.dtype("longdouble")))]
)
def test_type_that_is_none_of_ours_has_the_name_that_numpy_gives(dtype, name):
    assert name_of(np.dtype(dtype)) == name


def test_every_type_is_of_one_kind():
    kinds = [SIGNED, UNSIGNED, FLOATS, COMPLEX, frozenset((BOOL, STRING))]
    assert sorted(map(name_of, (dtype for kind in kinds for dtype in kind))) == sorted(BY_NAME)
    assert COMPUTED_FLOATS < FLOATS and INTEGERS == SIGNED | UNSIGNED


@pytest.mark.parametrize("name", BY_NAME)
def test_kind_agrees_with_the_numbers_that_the_type_has(name):
    dtype = BY_NAME[name]
    if is_integer(dtype):
        limits = ml_dtypes.iinfo(dtype)
        assert (int(limits.min) < 0) is (dtype in SIGNED) and bits(dtype) == limits.bits
    elif is_float(dtype):
        assert np.ones(1, dtype).astype(np.float64) == 1 and bits(dtype) == ml_dtypes.finfo(dtype).bits
    else:
        assert dtype in (BOOL, STRING) or dtype in COMPLEX


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("int2", 2),
        ("uint4", 4),
        ("float4e2m1", 4),
        ("float6e3m2", 6),
        ("bool", 8),
        ("float16", 16),
        ("complex128", 128),
        ("string", 0),
    ],
)
def test_bits_count_an_element_in_a_file(name, count):
    assert bits(BY_NAME[name]) == count


@pytest.mark.parametrize(("value", "number"), [(0.1, 0.10000000149011612), (1e-46, 0.0), (-0.0, -0.0), (2.0, 2.0)])
def test_float_attribute_is_a_number_of_float32(value, number):
    assert single(value) == number and np.signbit(single(value)) == np.signbit(number)
    assert np.isnan(single(float("nan"))) and single(float("inf")) == float("inf")
