"""Gather, GatherElements, GatherND, and the ops that write at indices."""

import numpy as np
import pytest
from evaluation import listed, shaped
from named_dims import FLOAT32, K, M, N, check_has, known_of, scalar, shape_of
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND

X = np.arange(12, dtype=np.float32).reshape(3, 4)
UNRANKED_X = Known(TensorType(FLOAT32, UNRANKED))


def indices(*shape):
    return shaped(*shape, dtype=np.int64)


# ---- reading -------------------------------------------------------------------------------------------------------


def test_gather_puts_the_axes_of_the_indices_instead_of_the_axis():
    actual = Gather(axis=1).run(X, np.array([[0, -1], [2, 1]], np.int32))
    np.testing.assert_array_equal(actual, X[:, [[0, 3], [2, 1]]])
    assert Gather().run(X, np.array(-1)).tolist() == X[2].tolist()
    assert Gather().run(X[0], np.array(1)).shape == ()
    assert Gather().run(X, np.zeros((0, 2), np.int64)).shape == (0, 2, 4)


def test_gather_of_a_text_is_an_array():
    actual = Gather().run(np.array(["a", "b"], dtype=object), np.array(1))
    assert actual.shape == () and actual.dtype == object and actual.item() == "b"


@pytest.mark.parametrize(
    ("op", "x", "index", "message"),
    [
        (Gather(), np.zeros(12), 12, "index 12 is outside [-12, 12) of axis 0"),
        (Gather(axis=-1), X, -5, "index -5 is outside [-4, 4) of axis 1"),
        (Gather(), X[:0], 0, "index 0 is outside [0, 0) of axis 0"),
        (Gather(axis=2), X, 0, "axis 2 is outside [-2, 2) of a tensor of rank 2"),
    ],
)
def test_gather_outside_the_axis_is_refused(op, x, index, message):
    with pytest.raises(RunError) as caught:
        op.run(x, np.array(index))
    assert str(caught.value) == message


def test_gather_infers_shapes_and_elements():
    assert shape_of(Gather(axis=-1), shaped(N, M), indices(K, 2)) == (N, K, 2)
    assert shape_of(Gather(), shaped(N, M), indices()) == (M,)
    assert shape_of(Gather(), shaped(N, M), Known(TensorType(np.dtype(np.int64)))) is UNRANKED
    assert known_of(Gather(), listed(N, 3, M), scalar(-1)) == M
    assert known_of(Gather(), listed(N, 3, M), listed(2, 0)) == [M, N]
    assert known_of(Gather(), listed(N, 3, M), scalar(5)) is None
    with pytest.raises(TypeRuleError, match="indices holds float32, expected integers"):
        Gather().infer(shaped(3), shaped(2))


def test_gather_elements_reads_beside_each_index():
    actual = GatherElements(axis=1).run(X, np.array([[0, -1, 0], [1, 1, 1]]))
    assert actual.tolist() == [[0, 3, 0], [5, 5, 5]]
    assert shape_of(GatherElements(1), shaped(N, M), indices(2, K)) == (2, K)
    assert shape_of(GatherElements(1), shaped(N, M), Known(TensorType(np.dtype(np.int64)))) == (None, None)
    with pytest.raises(RunError, match=r"indices of shape \[4, 1\] exceed data of shape \[3, 4\]"):
        GatherElements(axis=1).run(X, np.zeros((4, 1), np.int64))
    with pytest.raises(TypeRuleError, match="indices has rank 1, data 2"):
        GatherElements().infer(shaped(3, 4), indices(2))


@pytest.mark.parametrize(
    ("batch_dims", "index", "expected"),
    [
        (0, [[0, 1], [-1, -1]], [1, 11]),
        (0, [[2], [0]], [[8, 9, 10, 11], [0, 1, 2, 3]]),
        (0, [1, 2], 6),
        (1, [[0], [3], [-1]], [0, 7, 11]),
        (1, [[[0], [1]], [[2], [3]], [[0], [0]]], [[0, 1], [6, 7], [8, 8]]),
    ],
)
def test_gather_nd_reads_at_tuples(batch_dims, index, expected):
    inputs = [X, np.array(index)]
    actual = GatherND(batch_dims).run(*inputs)
    assert actual.tolist() == expected
    model = single_node("GatherND", inputs, 13, batch_dims=batch_dims)
    assert onnxruntime_run(model, feeds(inputs))[0].tolist() == expected


def test_gather_nd_infers_shapes():
    assert shape_of(GatherND(), shaped(N, M, 5), indices(K, 2)) == (K, 5)
    assert shape_of(GatherND(1), shaped(N, M, 5), indices(N, K, 1)) == (N, K, 5)
    assert shape_of(GatherND(), shaped(N, M, 5), indices(K, N)) is UNRANKED
    assert check_has(GatherND(1), shaped(N, 3, M), indices(N, 2, 1), allow=lambda b: b["N"] < 2)
    with pytest.raises(TypeRuleError, match=r"indices have 3 numbers for the 2 axes of float32\[2, 3\]"):
        GatherND().infer(shaped(2, 3), indices(4, 3))
    with pytest.raises(RunError, match="do not share 1 batch axes"):
        GatherND(1).run(X, np.zeros((2, 1), np.int64))


# ---- writing -------------------------------------------------------------------------------------------------------
