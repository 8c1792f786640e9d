"""Ops that write elements at indices: reductions, slices, caches, and what they refuse."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import listed, shaped
from named_dims import K, M, N, known_of, shape_of
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.ir.types import Known, TensorType
from whorl.ops.movement.scattering import ScatterElements, ScatterND, TensorScatter

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def ints(*numbers):
    return np.array(numbers, np.int64)


def indices(*shape):
    return shaped(*shape, dtype=np.int64)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("axis", [0, -1])
def test_scatter_elements_as_onnxruntime(reduction, axis):
    rng = np.random.default_rng(3)
    index = rng.permuted(np.array([[0, 1, 2, 3]] * 2), axis=1)[:, : 3 + axis] if axis else ints(1, -1).reshape(1, 2)
    if reduction != "none":
        index = np.concatenate([index, index], axis=axis)[: X.shape[0], : X.shape[1]]
    inputs = [X, index, rng.integers(-3, 9, index.shape).astype(np.float32)]
    expected = onnxruntime_run(
        single_node("ScatterElements", inputs, 18, axis=axis, reduction=reduction), feeds(inputs)
    )
    np.testing.assert_array_equal(ScatterElements(axis, reduction).run(*inputs), expected[0])


@pytest.mark.parametrize(
    ("dtype", "reduction", "expected"),
    [
        (np.bool_, "add", [True, False]),
        (np.bool_, "mul", [True, False]),
        (np.bool_, "max", [True, False]),
        (np.bool_, "min", [True, False]),
        (np.int8, "add", [1 + 100 + 100 - 256, 0]),
        (np.uint8, "mul", [(1 * 100 * 100) % 256, 0]),
        (np.float16, "max", [100, 0]),
        (ml_dtypes.bfloat16, "min", [1, 0]),
        (ml_dtypes.int4, "add", [1 + 4 + 4 - 16, 0]),
    ],
)
def test_scatter_reductions_combine_updates_one_by_one(dtype, reduction, expected):
    data, updates = np.array([1, 0]).astype(dtype), np.array([100, 100]).astype(dtype)
    for actual in (
        ScatterElements(0, reduction).run(data, ints(0, -2), updates),
        ScatterND(reduction).run(data, ints(0, -2).reshape(2, 1), updates),
    ):
        assert actual.dtype == dtype and actual.tolist() == np.array(expected).astype(dtype).tolist()
    assert data.tolist() == np.array([1, 0]).astype(dtype).tolist()


def test_scatter_nd_writes_slices():
    actual = ScatterND().run(X, np.array([[-1], [0]]), np.zeros((2, 4), np.float32))
    assert actual.tolist() == [[0] * 4, X[1].tolist(), [0] * 4]
    actual = ScatterND().run(np.array(["a", "b"], dtype=object), ints(1), np.array("z", dtype=object))
    assert actual.tolist() == ["a", "z"]


def test_scatter_follows_known_elements():
    assert known_of(
        ScatterND(), listed(N, 3, M), Known(TensorType(np.dtype(np.int64), (1, 1)), np.array([[1]], object)), listed(K)
    ) == [N, K, M]
    assert known_of(ScatterElements(), listed(N, 3), listed(-1), listed(M)) == [N, M]
    assert shape_of(ScatterElements(), shaped(N, 3), indices(2, 1), shaped(2, 1)) == (N, 3)


@pytest.mark.parametrize(
    ("op", "data", "index", "updates", "message"),
    [
        (ScatterElements(), X, [[3]], [[1]], "index 3 is outside [-3, 3) of axis 0"),
        (ScatterElements(), X, [[0]], [[1, 2]], "updates have shape [1, 2], indices [1, 1]"),
        (ScatterND(), X, [[0, 4]], [1], "index 4 is outside [-4, 4) of axis 1"),
        (ScatterND(), X, [[0]], [1], "updates have shape [1], indices and data ask for [1, 4]"),
        (ScatterND(), X, [[0, 0, 0]], [1], "indices of shape [1, 3] do not fit data of shape [3, 4]"),
    ],
)
def test_scatter_outside_the_data_is_refused(op, data, index, updates, message):
    with pytest.raises(RunError) as caught:
        op.run(data, np.array(index), np.array(updates, np.float32))
    assert str(caught.value) == message


def test_scatter_refuses_wrong_types():
    with pytest.raises(TypeRuleError, match="reduction is 'mean'"):
        ScatterElements(0, "mean").infer(shaped(3), indices(1), shaped(1))
    with pytest.raises(TypeRuleError, match="reduction 'add' has no meaning for string"):
        ScatterND("add").infer(shaped(3, dtype=object), indices(1, 1), shaped(1, dtype=object))
    with pytest.raises(TypeRuleError, match="updates have rank 2, indices and data ask for 1"):
        ScatterND().infer(shaped(3), indices(2, 1), shaped(2, 1))
    with pytest.raises(TypeRuleError, match="axis 0 of updates is both 2 and 3"):
        ScatterND().infer(shaped(3), indices(2, 1), shaped(3))


@pytest.mark.parametrize(
    ("mode", "first", "expected"),
    [
        ("linear", None, [[-1, -2, 2, 3], [-3, -4, 6, 7]]),
        ("linear", (2, 1), [[0, 1, -1, -2], [4, -3, -4, 7]]),
        ("circular", (3, 6), [[-2, 1, 2, -1], [4, 5, -3, -4]]),
    ],
)
def test_tensor_scatter_writes_each_row_at_its_location(mode, first, expected):
    cache = np.arange(8).reshape(2, 4, 1)
    update = -np.arange(1, 5).reshape(2, 2, 1)
    actual = TensorScatter(mode=mode).run(cache, update, None if first is None else ints(*first))
    assert actual[..., 0].tolist() == expected
    assert cache[0, 0, 0] == 0


def test_tensor_scatter_refuses_locations_outside_the_cache():
    cache, update = np.zeros((1, 4, 1)), np.zeros((1, 2, 1))
    with pytest.raises(RunError, match=r"places \[3, 5\) are outside the cache's length 4"):
        TensorScatter().run(cache, update, ints(3))
    with pytest.raises(RunError, match=r"update \[1, 2, 3\] does not fit cache \[1, 4, 1\] along axis 1"):
        TensorScatter().run(cache, np.zeros((1, 2, 3)), ints(3))
    with pytest.raises(TypeRuleError, match="axis -2 is the batch axis"):
        TensorScatter().infer(shaped(2, 3), shaped(2, 3))
