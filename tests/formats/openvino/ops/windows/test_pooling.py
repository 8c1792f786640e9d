"""Pooling."""

import itertools

import numpy as np
import pytest
from formats.openvino.one_layer import check_layer, check_node, fixed

from whorl.ir.graph import Op
from whorl.ops.windows.pooling import (
    AveragePool,
    GlobalAveragePool,
    GlobalLpPool,
    GlobalMaxPool,
    LpPool,
    MaxPool,
)
from whorl.ops.windows.unpooling import MaxUnpool

X = np.random.default_rng(9).standard_normal((2, 3, 8, 7)).astype(np.float32)
PADS = [([0, 0], [0, 0]), ([1, 0], [0, 1]), ([1, 1], [1, 1])]
ROUNDED = [*itertools.product(("floor", "ceil"), PADS)]


def attributes(rounding: str, pads: tuple, auto_pad: str = "explicit", **more: object) -> dict:
    found = {"kernel": [2, 3], "strides": [3, 2], "rounding_type": rounding, "auto_pad": auto_pad}
    return found | {"pads_begin": pads[0], "pads_end": pads[1]} | more


@pytest.mark.parametrize(("rounding", "pads"), ROUNDED, ids=str)
def test_pools_of_opset_1(rounding: str, pads: tuple) -> None:
    check_layer("MaxPool", 1, [X], attributes(rounding, pads), dynamic=[False])
    for excludes in (True, False):
        check_layer("AvgPool", 1, [X], attributes(rounding, pads, **{"exclude-pad": excludes}), dynamic=[False])


@pytest.mark.parametrize("pads", PADS, ids=str)
@pytest.mark.parametrize("rounding", ["floor", "ceil_torch"])
def test_pools_of_opset_14_and_16(rounding: str, pads: tuple) -> None:
    places = {"dilations": [2, 1], "index_element_type": "i32", "axis": 2}
    check_layer("MaxPool", 14, [X], attributes(rounding, pads, **places))
    for excludes in (True, False):
        check_layer("AvgPool", 14, [X], attributes(rounding, pads, **{"exclude-pad": excludes}))
    check_layer("AvgPool", 16, [X], attributes(rounding, pads, **{"exclude-pad": False, "dilations": [2, 1]}))


@pytest.mark.parametrize("auto_pad", ["same_upper", "same_lower", "valid"])
@pytest.mark.parametrize("rounding", ["floor", "ceil"])
def test_pools_that_pad_by_themselves(auto_pad: str, rounding: str) -> None:
    found = attributes(rounding, ([0, 0], [0, 0]), auto_pad, **{"exclude-pad": False})
    check_layer("AvgPool", 1, [X], found, dynamic=[False])
    places = {"dilations": [1, 1], "index_element_type": "i64", "axis": 0}
    check_layer("MaxPool", 8, [X], attributes(rounding, ([0, 0], [0, 0]), auto_pad, **places), dynamic=[False])


def test_a_window_of_padding_alone_gives_the_least_finite_number() -> None:
    found = attributes("ceil", ([1, 1], [1, 1])) | {"kernel": [2, 3], "strides": [3, 2]}
    check_layer("MaxPool", 1, [X], found)


@pytest.mark.parametrize("ceil", [0, 1])
@pytest.mark.parametrize("pads", [None, (1, 0, 0, 1), (1, 1, 1, 1)], ids=str)
def test_pools_written(pads: tuple | None, ceil: int) -> None:
    fields = {"kernel_shape": (2, 3), "strides": (3, 2), "ceil_mode": ceil, "pads": pads}
    check_node(MaxPool(**fields, dilations=(2, 1), output_count=2), [X], outputs=2)
    check_node(AveragePool(**fields, dilations=(2, 1)), [X])
    check_node(AveragePool(**fields, count_include_pad=1), [X], dynamic=[False])
    check_node(LpPool(**fields, p=2), [X], dynamic=[False])


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_pools_that_pad_by_themselves_written(auto_pad: str) -> None:
    fields = {"kernel_shape": (2, 3), "strides": (3, 2), "auto_pad": auto_pad}
    check_node(MaxPool(**fields), [X])
    check_node(MaxPool(**fields, output_count=2), [X], outputs=2, dynamic=[False])
    check_node(AveragePool(**fields, count_include_pad=1), [X], dynamic=[False])
    check_node(LpPool(**fields, p=3), [X], dynamic=[False])


def test_places_by_columns_and_small_integers_written() -> None:
    check_node(MaxPool((2, 2), strides=(2, 2), storage_order=1, output_count=2), [X], outputs=2, dynamic=[False])
    check_node(MaxPool((2, 2)), [np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4)[..., ::-1].copy()])


@pytest.mark.parametrize("op", [GlobalAveragePool(), GlobalMaxPool(), GlobalLpPool(), GlobalLpPool(p=3)], ids=repr)
def test_pools_of_whole_planes_written(op: Op) -> None:
    check_node(op, [X])


@pytest.mark.parametrize("sizes", [(3, 2), (7, 9)], ids=str)
def test_pools_to_a_number_of_windows(sizes: tuple[int, ...]) -> None:
    check_layer("AdaptiveAvgPool", 8, [X, fixed(*sizes)], rtol=1e-4)
    check_layer("AdaptiveMaxPool", 8, [X, fixed(*sizes)], {"index_element_type": "i32"})


def test_pools_of_other_ranks_to_a_number_of_windows() -> None:
    check_layer("AdaptiveAvgPool", 8, [X[0], fixed(3)], rtol=1e-4)
    check_layer("AdaptiveMaxPool", 8, [X[None], fixed(2, 3, 4)], {"index_element_type": "i32"}, dynamic=[False])


def test_maxima_put_back_written() -> None:
    x, places = np.array([[[[5, 6], [7, 8]]]], np.float32), np.array([[[[5, 7], [13, 15]]]])
    check_node(MaxUnpool((2, 2), strides=(2, 2)), [x, places], dynamic=[False])
    check_node(MaxUnpool((2, 2), strides=(2, 2)), [x, places, np.array([1, 1, 5, 6])], (2,), dynamic=[False])
