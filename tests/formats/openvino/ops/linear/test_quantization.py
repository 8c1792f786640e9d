"""Quantization."""

import numpy as np
import pytest
from formats.openvino.one_layer import Fixed, check_layer, check_node

from whorl.ops.linear.quantization import DequantizeLinear, DynamicQuantizeLinear, QuantizeLinear

X = np.random.default_rng(17).standard_normal((2, 3, 4, 6)).astype(np.float32) * 10


def numbers(*elements: float) -> np.ndarray:
    return np.array(elements, np.float32)


@pytest.mark.parametrize(("levels", "low", "high"), [(256, -1.0, 1.0), (16, 0.0, 10.0), (5, -1.0, 1.0)])
def test_fake_quantization(levels: int, low: float, high: float) -> None:
    bounds = [Fixed(numbers(n)) for n in (-2, 3, low, high)]
    check_layer("FakeQuantize", 1, [np.round(X) / 4, *bounds], {"levels": levels, "auto_broadcast": "numpy"})


def test_fake_quantization_of_channels() -> None:
    column = (1, 3, 1, 1)
    bounds = [Fixed(numbers(*n).reshape(column)) for n in ((-1, -2, -3), (1, 2, 3), (-1, -4, -3), (1, 2, 4))]
    check_layer("FakeQuantize", 1, [X, *bounds], {"levels": 255, "auto_broadcast": "numpy"}, dynamic=[False])


@pytest.mark.parametrize("constants", [(1, 2), ()], ids=["constant", "computed"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_quantization_written(dtype: type, constants: tuple[int, ...]) -> None:
    dynamic = [False, True] if constants else [False]
    zeros = np.array([3, 1, 0], dtype)
    check_node(QuantizeLinear(), [X, np.array(0.25, np.float32), np.array(3, dtype)], constants, dynamic=dynamic)
    check_node(QuantizeLinear(), [X, numbers(0.5, 0.25, 2), zeros], constants, dynamic=dynamic)
    small = np.arange(72, dtype=dtype).reshape(2, 3, 12)
    check_node(DequantizeLinear(), [small, numbers(0.5, 0.3, 2), zeros], constants, dynamic=dynamic)


def test_quantization_in_blocks_written() -> None:
    scales = np.abs(X[..., :2]) + 1
    check_node(QuantizeLinear(axis=-1, block_size=4), [X, 2 ** np.round(np.log2(scales))], (1,), dynamic=[False])
    levels = np.arange(144, dtype=np.uint8).reshape(X.shape)
    check_node(DequantizeLinear(axis=-1, block_size=4), [levels, scales], (1,), dynamic=[False])


def test_quantization_by_range_written() -> None:
    x = np.array([[-3, 0, 5.3], [252, 17.2, 100.9]], np.float32)
    check_node(DynamicQuantizeLinear(), [x], outputs=3)
    check_node(DynamicQuantizeLinear(), [x * 0], outputs=3)
