"""Softmax, LogSoftmax and Hardmax beyond the backend suite."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, shaped, types, unranked

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.native.view import Operands
from whorl.ir.parse import parse_module
from whorl.lowering.builder import KernelBuilder
from whorl.ops.reduce.softmax import FEW, LONGEST, SHORTEST, Hardmax, LogSoftmax, Softmax
from whorl.runtime.session import Session

ALL = (Softmax, LogSoftmax, Hardmax)
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INF, NAN = np.inf, np.nan


@pytest.mark.parametrize("op_class", ALL)
@pytest.mark.parametrize("dtype", FLOATS)
def test_type_and_shape_stay(op_class, dtype):
    result = evaluate(op_class(axis=1), np.ones((2, 3, 4), dtype))
    assert result.dtype == dtype and result.shape == (2, 3, 4)


def test_large_elements_do_not_overflow():
    np.testing.assert_array_equal(evaluate(Softmax(), floats(1000, 1000)), [0.5, 0.5])
    np.testing.assert_allclose(evaluate(LogSoftmax(), floats(1000, 1000)), np.log([0.5, 0.5]), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_rounded_once(dtype):
    x = np.random.default_rng(0).normal(size=(5, 4096)).astype(dtype)
    exact = evaluate(Softmax(), x.astype(np.float64))
    np.testing.assert_array_equal(evaluate(Softmax(), x), exact.astype(np.float32).astype(dtype))


def test_infinite_elements():
    np.testing.assert_array_equal(evaluate(Softmax(), floats(-INF, 0)), [0, 1])
    np.testing.assert_array_equal(evaluate(LogSoftmax(), floats(-INF, 0)), [-INF, 0])
    for special in (floats(INF, 0), floats(-INF, -INF), floats(NAN, 0)):
        assert np.isnan(evaluate(Softmax(), special)).any()


def test_hardmax_marks_the_first_largest():
    x = floats([1, 3, 3], [NAN, 5, NAN], [-INF, -INF, -INF])
    np.testing.assert_array_equal(evaluate(Hardmax(), x), [[0, 1, 0], [1, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("op_class", ALL)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_empty_input_gives_an_empty_output(op_class, shape):
    assert evaluate(op_class(), np.zeros(shape, np.float32)).shape == shape


@pytest.mark.parametrize(
    ("shape", "axis", "is_one"),
    [
        ((3, SHORTEST), -1, True),
        ((3, SHORTEST - 1), -1, False),
        ((FEW, LONGEST + 1), -1, True),
        ((FEW - 1, LONGEST + 1), -1, False),
        ((SHORTEST, 4), 0, False),
    ],
)
def test_lines_that_suit_one_core_are_one_nest(shape, axis, is_one):
    k = KernelBuilder()
    x = k.view_of(k.temporary(np.dtype(np.float32), shape))
    views = Softmax(axis).lower(k, Operands([x]), [])
    assert views is not None
    k.materialise(views[0])
    assert (len(k.block) == 1) is is_one


@pytest.mark.parametrize("op_class", ALL)
def test_inference_keeps_the_type(op_class):
    n = dims.name("N")
    assert types(op_class(axis=0), shaped(n, 3, dtype=np.float16)) == "float16[N, 3]"
    assert types(op_class(axis=5), unranked()) == "float32[*]"


def test_axis_out_of_range_and_integers_are_refused():
    with pytest.raises(TypeRuleError) as caught:
        types(Softmax(axis=2), shaped(2, 3))
    assert str(caught.value) == "axis 2 is outside [-2, 2) of a tensor of rank 2"
    with pytest.raises(TypeRuleError) as caught:
        types(Softmax(), shaped(2, 3, dtype=np.int32))
    assert str(caught.value) == "does not accept int32"


MASKED = """main(%x: DTYPE[2, 40]) {
  %y: DTYPE[2, 40] = Softmax(%x)
  %t: DTYPE[40, 2] = Transpose(%x) {perm = (1, 0)}
  %z: DTYPE[40, 2] = Softmax(%t) {axis = 0}
  return y = %y, z = %z
}"""


@pytest.mark.parametrize(("dtype", "mask"), [("float32", -100), ("float64", -730)])
@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_powers_that_are_not_normal_are_zero(dtype: str, mask: int, backend: str) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (2, 40)).astype(dtype)
    x[:, 7:29] += mask
    x[0, 3] = mask + 30
    y, z = Session(parse_module(MASKED.replace("DTYPE", dtype)), backend=backend).execute(None, {"x": x})
    powers = np.exp(x - x.max(1, keepdims=True))
    powers[:, 7:29] = 0
    for result in (y, z.T):
        np.testing.assert_allclose(result, powers / powers.sum(1, keepdims=True), rtol=1e-6)
        assert not result[:, 7:29].any() and result[0, 3] > 0
