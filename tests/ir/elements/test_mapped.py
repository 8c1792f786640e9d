"""Element by element computations: at once where few, else as they are read, broadcast as NumPy does."""

import numpy as np
import pytest

from whorl.ir.elements.base import Leaf
from whorl.ir.elements.mapped import SMALL, Mapped, mapped

SHAPES = [
    ((), ()),
    ((3,), ()),
    ((0, 3), (1, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((1, 1), (4,)),
    ((2, 3, 4), (3, 1)),
]


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("is_lazy", [False, True])
def test_inputs_are_broadcast_as_numpy_does(a, b, is_lazy):
    x, y = arrays(a, b)
    expected = np.subtract(x, y)
    leaves = [Leaf(np.asarray(x)), Leaf(np.asarray(y))]
    make = Mapped if is_lazy else mapped
    result = make(np.subtract, leaves, expected.dtype, expected.shape)
    assert isinstance(result, Mapped) is is_lazy
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result.numpy(), expected)
    flat = expected.reshape(-1)
    np.testing.assert_array_equal(result.flat(1, max(1, flat.size)), flat[1:])


def test_large_result_waits_until_it_is_read():
    calls = []

    def double(x):
        calls.append(x.shape)
        return x + x

    large = np.arange(SMALL + 1, dtype=np.int64)
    result = mapped(double, [Leaf(large)], large.dtype, large.shape)
    assert isinstance(result, Mapped) and not calls
    assert result.flat(7, 9).tolist() == [14, 16] and calls == [(2,)]
    assert isinstance(mapped(double, [Leaf(large[:SMALL])], large.dtype, (SMALL,)), Leaf)


def test_repeated_axes_are_computed_once():
    calls = []

    def double(x, y):
        calls.append((x.shape, y.shape))
        return x + y

    rows = np.broadcast_to(np.arange(3.0)[:, None], (1000, 3, 1000))
    scalar = np.broadcast_to(np.array(0.5), (1000,))
    result = mapped(double, [Leaf(rows), Leaf(scalar)], rows.dtype, rows.shape)
    assert isinstance(result, Leaf) and calls == [((1, 3, 1), (1,))]
    assert result.core().reshape(-1).tolist() == [0.5, 1.5, 2.5] and result.shape == rows.shape


def test_input_that_waits_makes_the_result_wait():
    inner = Mapped(np.negative, [Leaf(np.arange(3))], np.dtype(np.int64), (3,))
    result = mapped(np.add, [inner, Leaf(np.array(1))], inner.dtype, (3,))
    assert isinstance(result, Mapped) and result.numpy().tolist() == [1, 0, -1]


def test_function_may_warn_and_give_scalars():
    zero = Leaf(np.array(0.0))
    result = mapped(np.divide, [zero, zero], zero.dtype, ())
    assert result.shape == () and np.isnan(result.numpy())
