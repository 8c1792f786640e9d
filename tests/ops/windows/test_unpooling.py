"""Unpooling, against onnxruntime and beyond."""

import numpy as np
import pytest
from evaluation import evaluate, floats
from peer import assert_same

from whorl.errors import RunError
from whorl.ops.windows.pooling import MaxPool
from whorl.ops.windows.unpooling import MaxUnpool


@pytest.mark.parametrize("seed", range(5))
def test_unpooling_puts_the_maxima_back(seed):
    rng = np.random.default_rng(seed)
    x = rng.random((2, 3, 6, 4)).astype(np.float32)
    pool = {"kernel_shape": (2, 2), "strides": (2, 2)}
    values, indices = evaluate(MaxPool(**pool, output_count=2), x)
    result = evaluate(MaxUnpool(**pool), values, indices)
    np.testing.assert_array_equal(evaluate(MaxPool(**pool), result), values)
    assert np.count_nonzero(result) == values.size
    assert_same("MaxUnpool", [values, indices], 11, **pool)


def test_unpooling_to_a_larger_shape_ends_in_zeros():
    x, indices = floats([[1, 2]]), np.array([[[1, 3]]])
    result = evaluate(MaxUnpool((2,), strides=(2,)), x, indices, np.array([1, 1, 6]))
    assert result.tolist() == [[[0, 1, 0, 2, 0, 0]]]


@pytest.mark.parametrize(
    ("indices", "shape", "message"),
    [
        ([[[0, 4]]], None, "index 4 is outside [0, 4) of the pooled shape [1, 1, 4]"),
        ([[[0, -1]]], None, "index -1 is outside [0, 4) of the pooled shape [1, 1, 4]"),
        ([[[0, 1]]], [1, 1, 3], "output_shape [1, 1, 3] is smaller than what was pooled, [1, 1, 4]"),
        ([[[0, 1]]], [1, 4], "output_shape has 2 entries, expected 3"),
    ],
)
def test_impossible_unpooling_says_why(indices, shape, message):
    x = np.ones((1, 1, 2), np.float32)
    with pytest.raises(RunError) as raised:
        evaluate(MaxUnpool((2,), strides=(2,)), x, np.array(indices), None if shape is None else np.array(shape))
    assert str(raised.value) == message
