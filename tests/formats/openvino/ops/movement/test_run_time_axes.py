"""Axes that only a run knows."""

import numpy as np
import pytest
from formats.openvino.net_text import written
from formats.openvino.one_layer import check_node

from whorl.ops.movement.shapes import Squeeze, Unsqueeze

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("axes", [[0], [1], [-1], [0, 1], [-1, 0], [2, -4], [3, 1]], ids=str)
def test_axes_inserted_in_any_order_and_from_either_end(axes: list[int]) -> None:
    check_node(Unsqueeze(), [X, np.array(axes)])


@pytest.mark.parametrize("axes", [[0], [-1], [0, 2], [-1, -3]], ids=str)
def test_axes_dropped_in_any_order_and_from_either_end(axes: list[int]) -> None:
    check_node(Squeeze(), [X[:1, :, None], np.array(axes)])


def test_axes_of_nothing_and_of_one_number() -> None:
    check_node(Unsqueeze(), [np.zeros((0, 3), np.float32), np.array([1])])
    check_node(Unsqueeze(), [np.array(3, np.float32), np.array([0, 1])])
    check_node(Squeeze(), [np.ones((1, 1), np.float32), np.array([0, 1])])


def test_rank_of_the_result_is_fixed_by_the_number_of_axes() -> None:
    text = """
        main(%x: float32[N, 3], %axes: int64[2]) {
            %y: float32[a, b, c, d] = Unsqueeze(%x, %axes)
            return y = %y
        }"""
    assert written(text)[-2].startswith("Reshape-1(0, ")


def test_unknown_number_of_axes_is_left_to_openvino() -> None:
    text = """
        main(%x: float32[N, 3], %axes: int64[k]) {
            %y: float32[*] = Unsqueeze(%x, %axes)
            return y = %y
        }"""
    assert written(text)[-2] == "Unsqueeze-1(0, 1)"
