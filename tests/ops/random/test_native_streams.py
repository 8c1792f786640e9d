"""Native draws equal NumPy's generator to the last bit, also beyond the words of one state and after odd counts."""

import numpy as np
import pytest
from written_out import compiled

from whorl.ops.random.distributions import draw_classes
from whorl.ops.random.streams import DrawClasses, DrawNormal, DrawUniform, generator_at, stream_of


def stream_after(count: int) -> np.ndarray:
    generator = np.random.RandomState(11)
    generator.standard_normal(count)
    return stream_of(generator)


@pytest.mark.parametrize("op", [DrawUniform(), DrawNormal()], ids=["uniform", "normal"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (0, 2), (5, 7), (1000, 3)])
@pytest.mark.parametrize("drawn", [0, 1, 311])
def test_numbers_and_stream_equal_numpy(op, shape, drawn):
    stream = stream_after(drawn)
    for actual, expected in zip(
        compiled(op, [stream, shape_of(shape)], 2), op.run(stream, shape_of(shape)), strict=True
    ):
        np.testing.assert_array_equal(actual, expected)


def shape_of(shape: tuple[int, ...]) -> np.ndarray:
    return np.array(shape, np.int64)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_classes_equal_numpy(dtype):
    x = np.random.default_rng(0).normal(size=(4, 9)).astype(dtype)
    x[1, 3], x[2, 1:] = -np.inf, -np.inf
    drawn, stream = compiled(DrawClasses(np.dtype(np.int64), 400), [stream_after(3), x], 2)
    generator = generator_at(stream_after(3))
    np.testing.assert_array_equal(drawn, draw_classes(generator, x, 400))
    np.testing.assert_array_equal(stream, stream_of(generator))


@pytest.mark.parametrize("row", [[-np.inf, -np.inf], [np.nan, 1.0], [np.inf, 1.0], []])
def test_row_without_a_probable_class_fails(row):
    assert compiled(DrawClasses(np.dtype(np.int32), 1), [stream_after(0), np.array([row])], 2) is None
