"""What elementwise ops share: broadcasting, one element type, extremes of zeros."""

import numpy as np
import pytest
from evaluation import shaped
from named_dims import M, N, shape_of

from whorl.errors import TypeRuleError
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.elementwise.arithmetic import (
    Add,
    Clip,
    Max,
    Min,
)
from whorl.ops.elementwise.nonlinear import Relu


def test_add_broadcasts_named_dims():
    assert shape_of(Add(), shaped(N, 1, 3), shaped(4, 1)) == (N, 4, 3)
    assert shape_of(Add(), shaped(N), shaped(M)) == (None,)
    assert Add().infer(shaped(N), Known(TensorType(np.dtype(np.float32)))).shape is UNRANKED


def test_add_of_shapes_that_do_not_broadcast_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        Add().infer(shaped(2, 3), shaped(2, 4))
    assert str(error.value) == (
        "cannot broadcast [2, 3] with [2, 4]: lengths 3 and 4 do not broadcast\n  fix: make them equal or one of them 1"
    )


def test_add_of_two_dtypes_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        Add().infer(shaped(2), shaped(2, dtype=np.int64))
    assert str(error.value) == "inputs have different element types: float32, int64\n  fix: insert a Cast"


def test_add_of_strings_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        Add().infer(shaped(2, dtype=object), shaped(2, dtype=object))
    assert str(error.value) == "does not accept string"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_extremes_of_zeros_have_the_sign_that_they_have_in_float32(dtype):
    x, y = np.array([0.0, -0.0, -0.0, np.nan, 1]), np.array([-0.0, 0.0, np.nan, -0.0, -0.0])
    bound = np.array(-0.0)
    cases = ((Max(), (x, y)), (Min(), (x, y)), (Clip(), (x, bound)), (Clip(), (x, None, bound)), (Relu(), (x,)))
    for op, operands in cases:
        narrow, wide = (
            [None if v is None else v.astype(t) for v in operands] for t in (BY_NAME[dtype], np.dtype(np.float32))
        )
        actual, expected = op.run(*narrow).astype(np.float32), op.run(*wide)
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(np.signbit(actual[actual == 0]), np.signbit(expected[actual == 0]))
