"""Hardmax written as the place of the largest element, marked."""

import numpy as np
import pytest
from formats.openvino.net_text import written
from formats.openvino.one_layer import check_node

from whorl.ops.reduce.softmax import Hardmax

X = (np.arange(24, dtype=np.float32).reshape(2, 3, 4) * 7) % 5


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_largest_element_along_any_axis_written(axis: int) -> None:
    check_node(Hardmax(axis), [X])


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_largest_element_of_other_floats_written(dtype: type) -> None:
    check_node(Hardmax(), [X.astype(dtype)])


def test_first_of_equal_elements_is_the_largest() -> None:
    check_node(Hardmax(), [np.ones((2, 3), np.float32)])


def test_marks_have_the_type_of_x() -> None:
    lines = written("main(%x: float16[N, 3]) { %y: float16[N, 3] = Hardmax(%x) return y = %y }")
    assert lines[-2].startswith("OneHot-")
    assert "Const-1() element_type=f16 shape=2" in lines
