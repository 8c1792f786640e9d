"""Lengths and weights that session options change."""

import numpy as np
import pytest
from onnx_text import model

import whorl

MODEL = model("main (float[n, 2] x) => (float[n, 2] y) <float[2] w = {2, 3}> { y = Mul(x, w) }")


def weighted(name: str, array: np.ndarray) -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.add_external_initializers([name], [whorl.OrtValue.ortvalue_from_numpy(array)])
    return whorl.InferenceSession(MODEL, options)


def test_weights_are_replaced():
    (y,) = weighted("w", np.array([5, 7], np.float32)).run(None, {"x": np.ones((1, 2), np.float32)})
    assert y.tolist() == [[5, 7]]


def test_length_that_no_input_has_is_left_alone():
    options = whorl.SessionOptions()
    options.add_free_dimension_override_by_name("elsewhere", 3)
    assert whorl.InferenceSession(MODEL, options).get_inputs()[0].shape == ["n", 2]


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        (
            "w",
            np.ones(3, np.float32),
            "initializer 'w' is float32[2], not float32[3]\n  fix: give one of the same type",
        ),
        ("v", np.ones(2, np.float32), "the model has no initializer 'v'\n  fix: name weights that the model has"),
    ],
)
def test_weights_that_do_not_fit_are_refused(name, array, message):
    with pytest.raises(whorl.LoadError) as caught:
        weighted(name, array)
    assert str(caught.value) == message
