"""Volumes sampled at the points of a grid."""

import numpy as np
import pytest
from formats.openvino.net_text import refused_to_write
from formats.openvino.one_layer import check_node

from whorl.ops.image.sampling import GridSample

NUMBERS = np.random.default_rng(19)


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_volumes_written(mode: str, padding: str) -> None:
    positions = NUMBERS.uniform(-1.4, 1.4, (2, 2, 3, 4, 3)).astype(np.float32)
    check_node(
        GridSample(int(padding == "border"), mode, padding), [normal(2, 3, 4, 5, 6), positions], rtol=1e-4, atol=1e-5
    )


def test_lines_written() -> None:
    points = NUMBERS.uniform(-1.4, 1.4, (2, 4, 1)).astype(np.float32)
    check_node(GridSample(), [normal(2, 3, 5), points], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_axes_of_one_element_written(padding: str) -> None:
    points = NUMBERS.uniform(-1.5, 1.5, (1, 2, 2, 2, 3)).astype(np.float32)
    for corners in (0, 1):
        check_node(GridSample(corners, "linear", padding), [normal(1, 1, 1, 2, 3), points], rtol=1e-4, atol=1e-5)


def test_volumes_of_doubles_written() -> None:
    points = NUMBERS.uniform(-1.5, 1.5, (1, 2, 2, 2, 3))
    check_node(GridSample(), [normal(1, 1, 2, 2, 3).astype(np.float64), points], rtol=1e-4, atol=1e-5)


def test_volumes_by_cubic_curves_are_refused() -> None:
    text = """
        main(%x: float32[1, 1, 2, 2, 3], %grid: float32[1, 2, 2, 2, 3]) {
            %y: float32[1, 1, 2, 2, 2] = GridSample "g" (%x, %grid) {mode = "cubic"}
            return y = %y
        }"""
    assert refused_to_write(text) == "GridSample 'g': samples volumes by cubic curves\n  fix: mode linear"
