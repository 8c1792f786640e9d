"""Reductions, and the places of extremes."""

import numpy as np
import pytest
from formats.openvino.one_layer import Input, check_layer, check_node, fixed, scalar

from whorl.ops.reduce.logarithmic_reductions import ReduceLogSum, ReduceLogSumExp
from whorl.ops.reduce.reductions import (
    ArgMax,
    ArgMin,
    ReduceL1,
    ReduceL2,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    ReduceSumSquare,
)

X = (np.arange(24, dtype=np.float32).reshape(2, 3, 4) * 7) % 11 - 4
VERSIONS = {"ReduceMax": 1, "ReduceMean": 1, "ReduceMin": 1, "ReduceProd": 1, "ReduceSum": 1}
VERSIONS |= {"ReduceL1": 4, "ReduceL2": 4}


@pytest.mark.parametrize(("type", "version"), VERSIONS.items())
@pytest.mark.parametrize("axes", [fixed(1), fixed(-1, 0), scalar(2), np.array([1])], ids=repr)
def test_reductions(type: str, version: int, axes: Input) -> None:
    check_layer(type, version, [X, axes], {"keep_dims": True})
    if not isinstance(axes, np.ndarray):
        check_layer(type, version, [X, axes], {"keep_dims": False})


@pytest.mark.parametrize(("type", "version"), VERSIONS.items())
def test_reductions_along_no_axes_give_the_input(type: str, version: int) -> None:
    check_layer(type, version, [X, fixed()], {"keep_dims": True})
    check_layer(type, version, [np.array(-3, np.float32), fixed()], {"keep_dims": False})


@pytest.mark.parametrize("type", ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_reductions_of_integers(type: str, dtype: type) -> None:
    check_layer(type, 1, [X[:, :, :2].astype(dtype), fixed(1)], {"keep_dims": False})


@pytest.mark.parametrize("type", ["ReduceMax", "ReduceSum", "ReduceMean"])
def test_reductions_of_bytes(type: str) -> None:
    check_layer(type, 1, [np.array([[1, 2], [30, 70]], np.uint8), fixed(1)], {"keep_dims": False})


@pytest.mark.parametrize("type", ["ReduceLogicalAnd", "ReduceLogicalOr"])
def test_reductions_of_truth_values(type: str) -> None:
    for axes in (fixed(1), fixed(0, 1), fixed()):
        check_layer(type, 1, [np.array([[True, False], [True, True]]), axes], {"keep_dims": True})
    check_layer(type, 1, [np.zeros((2, 0), np.bool_), fixed(1)], {"keep_dims": False})


def test_sums_and_products_of_no_elements() -> None:
    for type in ("ReduceSum", "ReduceProd"):
        check_layer(type, 1, [np.zeros((2, 0, 3), np.float32), fixed(1)], {"keep_dims": False})


OPS = [ReduceL1, ReduceL2, ReduceMax, ReduceMean, ReduceMin, ReduceProd, ReduceSum, ReduceSumSquare, ReduceLogSumExp]


@pytest.mark.parametrize("kind", OPS)
@pytest.mark.parametrize("keep", [0, 1])
def test_reductions_written(kind: type[ReduceSum], keep: int) -> None:
    check_node(kind(keep), [X, np.array([0, -1])], constants=[1])
    check_node(kind(keep), [X, np.array([2, 0])])
    check_node(kind(keep), [X])
    check_node(kind(keep, 1), [X, np.zeros(0, np.int64)], constants=[1])


def test_logarithm_of_a_sum_written() -> None:
    check_node(ReduceLogSum(), [np.abs(X), np.array([1])], constants=[1])
    check_node(ReduceLogSum(noop_with_empty_axes=1), [np.abs(X)])


def test_exponentials_far_away_written_without_overflow() -> None:
    check_node(ReduceLogSumExp(), [np.array([[1000, 1001], [-np.inf, -np.inf]], np.float32), np.array([1])], [1])


@pytest.mark.parametrize("kind", [ReduceMax, ReduceMin, ReduceSum])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_reductions_of_integers_written(kind: type[ReduceSum], dtype: type) -> None:
    check_node(kind(), [np.array([[1, 2, 3], [100, 50, 60]]).astype(dtype), np.array([1])], constants=[1])


def test_reductions_of_truth_values_written() -> None:
    x = np.array([[True, False], [True, True]])
    for kind in (ReduceMax, ReduceMin):
        check_node(kind(), [x, np.array([1])], constants=[1])
        check_node(kind(), [x, np.array([1])])


@pytest.mark.parametrize("kind", [ReduceMax, ReduceMin, ReduceSum, ReduceProd, ReduceL2])
def test_reductions_of_nothing_written(kind: type[ReduceSum]) -> None:
    check_node(kind(), [np.zeros((2, 0, 3), np.float32), np.array([1])], constants=[1])


def test_extremes_may_be_infinite() -> None:
    x = np.array([[-np.inf, -np.inf], [np.inf, np.inf], [-np.inf, 3]], np.float32)
    for kind in (ReduceMax, ReduceMin):
        check_node(kind(0), [x, np.array([1])], constants=[1])


@pytest.mark.parametrize("kind", [ArgMax, ArgMin])
@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("keep", [0, 1])
def test_positions_of_extremes_written(kind: type[ArgMax], last: int, keep: int) -> None:
    for dtype in (np.float32, np.int64):
        check_node(kind(1, keep, last), [(X % 3).astype(dtype)])
    check_node(kind(-1, keep, last), [X % 3])
