"""onnxruntime's exceptions are classes of whorl."""

import numpy as np
import pytest
from onnx_text import model
from onnxruntime.capi import onnxruntime_pybind11_state as theirs

import whorl

ABSENT = {"DeviceReset", "ModelLoaded", "ModelRequiresCompilation", "NotFound"}
"""What no runtime of whorl's meets."""


def test_every_exception_of_onnxruntime_has_a_class():
    ours = whorl.capi.onnxruntime_pybind11_state
    names = {n for n, v in vars(theirs).items() if isinstance(v, type) and issubclass(v, Exception)}
    assert {name for name in names if not hasattr(ours, name)} == ABSENT
    assert all(issubclass(getattr(ours, name), whorl.WhorlError) for name in names - ABSENT)


def test_missing_input_is_a_value_error_and_an_invalid_argument():
    session = whorl.InferenceSession(model("main (float[2] x) => (float[2] y) { y = Neg(x) }"))
    with pytest.raises(ValueError, match="missing inputs: 'x'") as caught:
        session.run(None, {})
    assert isinstance(caught.value, whorl.capi.onnxruntime_pybind11_state.InvalidArgument)
    with pytest.raises(RuntimeError, match="has shape"):
        session.run(None, {"x": np.ones(3, np.float32)})
