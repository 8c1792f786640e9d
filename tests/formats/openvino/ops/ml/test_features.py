"""The preparation of features written as IR."""

from __future__ import annotations

import numpy as np
import pytest
from formats.openvino.net_text import written
from formats.openvino.one_layer import check_node

from whorl.ops.ml.features import Scaler


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize(("offset", "scale"), [((), ()), ((1.5,), (0.5,)), ((1.0, -2.0, 3.5), (2.0, 0.25, -1.0))])
@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 4, 3)])
def test_scaled_features_written(shape: tuple[int, ...], offset: tuple, scale: tuple, dtype: type) -> None:
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    check_node(Scaler(offset, scale), [x])


def test_one_number_for_all_features_has_no_axis() -> None:
    text = """
        main(%x: float32[N, 3]) {
            %y: float32[N, 3] = Scaler(%x) {offset = (1.5,), scale = (0.5,)}
            return y = %y
        }"""
    assert written(text) == [
        "Parameter-1() shape=?,3 element_type=f32",
        "Const-1() element_type=f32 shape=",
        "Subtract-1(0, 1) auto_broadcast=numpy",
        "Const-1() element_type=f32 shape=",
        "Multiply-1(2, 3) auto_broadcast=numpy",
        "Result-1(4)",
    ]


def test_doubles_are_scaled_as_such_and_then_narrowed() -> None:
    text = """
        main(%x: float64[3]) {
            %y: float32[3] = Scaler(%x) {offset = (1.0, 2.0, 3.0), scale = (0.5, 1.0, 2.0)}
            return y = %y
        }"""
    assert written(text)[-3:] == [
        "Multiply-1(2, 3) auto_broadcast=numpy",
        "Convert-1(4) destination_type=f32",
        "Result-1(5)",
    ]
