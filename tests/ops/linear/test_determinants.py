"""Determinants: by NumPy, and in native code at any number of matrices."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, shaped, types, unranked
from native_forms import run_form
from onnx_text import model
from runtime.native_sessions import session

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ops.core.pieces import LARGE
from whorl.ops.linear.determinants import FEW, Det, determinants_view

N, M = (dims.name(text) for text in "NM")


def normal(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


def test_determinant_of_each_matrix():
    x = normal(2, 5, 3, 3)
    np.testing.assert_allclose(evaluate(Det(), x), np.linalg.det(x.astype(np.float64)), rtol=1e-5)
    assert evaluate(Det(), np.zeros((2, 0, 0), np.float32)).tolist() == [1, 1]
    assert evaluate(Det(), np.eye(2, dtype=np.float16)).dtype == np.float16
    assert types(Det(), shaped(N, M, M)) == "float32[N]" and types(Det(), unranked()) == "float32[*]"


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_determinant_refuses_what_is_not_square(shape):
    with pytest.raises(TypeRuleError) as caught:
        types(Det(), shaped(*shape))
    assert str(caught.value) == f"shape {list(shape)} does not end in a square matrix"


def native(x):
    return run_form(lambda k, view: determinants_view(k, view, x.shape[-1]), x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 3, 4, FEW, FEW + 1, 20])
def test_native_determinants_equal_numpy(size, dtype):
    x = normal(5, 2, size, size, dtype=dtype)
    exact = np.linalg.det(x.astype(np.longdouble).astype(np.float64))
    np.testing.assert_allclose(native(x), exact, rtol=1e-4 if dtype is np.float32 else 1e-12)
    assert native(x[0, 0]).shape == ()


def test_rows_are_swapped_and_columns_without_a_pivot_give_0():
    turned = np.array([[0, 2, 0], [0, 0, 3], [5, 0, 0]], np.float32)
    singular = np.array([[1, 2, 3], [2, 4, 6], [0, 0, 7]], np.float32)
    assert native(np.stack([turned, turned[[1, 0, 2]], singular, 0 * turned])).tolist() == [30, -30, 0, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [4, 2 * FEW])
def test_product_of_pivots_does_not_overflow_on_the_way(size, dtype):
    large = np.finfo(dtype).max / 16
    x = np.diag(np.array([large, large, *[1 / large] * 2, *[1] * (size - 4)], dtype))
    assert abs(native(x) - np.linalg.det(x)) < 1e-3


def test_nan_and_no_elements():
    x = normal(4, 4)
    x[2, 1] = np.nan
    assert np.isnan(native(x)) and np.isnan(evaluate(Det(), x))
    assert native(np.zeros((3, 0, 0), np.float32)).tolist() == [1, 1, 1]
    assert native(np.zeros((0, 3, 3), np.float32)).shape == (0,)


@pytest.mark.parametrize("dtype", ["float", "double", "float16", "bfloat16"])
def test_session_takes_any_number_of_matrices(dtype):
    proto = model(f"main ({dtype}[n, m, 3, 3] x) => ({dtype}[n, m] y) {{ y = Det(x) }}", opset=22)
    made, oracle = session(proto), session(proto, "interpreter")
    kind = {"float": np.float32, "double": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}[dtype]
    for shape in ((2, 3), (1, 5), (0, 4), (7, 1), (20, 30)):
        x = normal(*shape, 3, 3, dtype=kind)
        expected, ours = (each.run(None, {"x": x})[0] for each in (oracle, made))
        assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
        eps = float(ml_dtypes.finfo(kind).eps)
        np.testing.assert_allclose(ours.astype(float), expected.astype(float), rtol=64 * eps, atol=64 * eps)
    assert {verdict.how for verdict in made.explain()} == {"native"}


def test_large_matrices_are_left_to_numpy():
    made = session(model(f"main (float[{LARGE}, {LARGE}] x) => (float y) {{ y = Det(x) }}"))
    assert made.run(None, {"x": np.eye(LARGE, dtype=np.float32)})[0] == 1
    assert {verdict.how for verdict in made.explain()} == {"interpreted"}
