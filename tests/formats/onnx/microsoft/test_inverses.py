"""Inverses of matrices: equal to onnxruntime's."""

import numpy as np
import onnx
import pytest
from formats.onnx.microsoft.contributed_peer import compare, configurations, model_of

import whorl


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inverses_equal_onnxruntime(dtype):
    for rng in configurations():
        n, batch = int(rng.integers(1, 9)), [int(rng.integers(1, 4)) for _ in range(int(rng.integers(0, 3)))]
        compare("Inverse", [(rng.standard_normal((*batch, n, n)) + 3 * np.eye(n)).astype(dtype)])


def test_rows_are_swapped_where_a_pivot_is_0():
    x = np.array([[0, 2, 0], [0, 0, 4], [1, 0, 0]], np.float32)
    (actual,) = whorl.InferenceSession(model_of("Inverse", [x])).run(None, {"x0": x})
    np.testing.assert_array_equal(actual, np.float32([[0, 0, 1], [0.5, 0, 0], [0, 0.25, 0]]))


def test_matrix_without_an_inverse_has_no_numbers():
    x = np.ones((2, 2), np.float32)
    with np.errstate(all="ignore"):
        (actual,) = whorl.InferenceSession(model_of("Inverse", [x])).run(None, {"x0": x})
    assert not np.isfinite(actual).all()


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (0, 0)])
def test_no_matrices_have_no_inverses(shape):
    x = np.zeros(shape, np.float32)
    (actual,) = whorl.InferenceSession(model_of("Inverse", [x])).run(None, {"x0": x})
    assert actual.shape == shape


def test_half_precision_is_computed_in_float32():
    x = np.array([[4, 1], [2, 3]], np.float16)
    (actual,) = whorl.InferenceSession(model_of("Inverse", [x])).run(None, {"x0": x})
    assert actual.dtype == np.float16
    np.testing.assert_allclose(actual.astype(np.float64), np.linalg.inv(x.astype(np.float64)), rtol=2e-3)


def test_inverse_is_written_as_plain_onnx(tmp_path):
    x = np.array([[2, 1], [1, 3]], np.float32)
    whorl.save(model_of("Inverse", [x]), tmp_path / "plain.onnx")
    assert {entry.domain for entry in onnx.load(tmp_path / "plain.onnx").opset_import} <= {"", "ai.onnx"}
    (actual,) = whorl.InferenceSession(tmp_path / "plain.onnx").run(None, {"x0": x})
    np.testing.assert_allclose(actual, np.linalg.inv(x), rtol=1e-6)
