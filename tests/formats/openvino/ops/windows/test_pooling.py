"""Pooling."""

import itertools

import numpy as np
import pytest
from formats.openvino.one_layer import check_layer, check_node

from whorl.ir.graph import Op
from whorl.ops.windows.pooling import (
    AveragePool,
    GlobalAveragePool,
    GlobalLpPool,
    GlobalMaxPool,
    LpPool,
    MaxPool,
)

X = np.random.default_rng(9).standard_normal((2, 3, 8, 7)).astype(np.float32)
PADS = [([0, 0], [0, 0]), ([1, 0], [0, 1]), ([1, 1], [1, 1])]
ROUNDED = [*itertools.product(("floor", "ceil"), PADS)]


def attributes(rounding: str, pads: tuple, auto_pad: str = "explicit", **more: object) -> dict:
    settings = {"kernel": [2, 3], "strides": [3, 2], "rounding_type": rounding, "auto_pad": auto_pad}
    return settings | {"pads_begin": pads[0], "pads_end": pads[1]} | more


@pytest.mark.parametrize(("rounding", "pads"), ROUNDED, ids=str)
def test_pools_of_opset_1(rounding: str, pads: tuple) -> None:
    check_layer("MaxPool", 1, [X], attributes(rounding, pads), dynamic=[False])
    for excludes in (True, False):
        check_layer("AvgPool", 1, [X], attributes(rounding, pads, **{"exclude-pad": excludes}), dynamic=[False])


@pytest.mark.parametrize("pads", PADS, ids=str)
@pytest.mark.parametrize("rounding", ["floor", "ceil_torch"])
def test_pools_of_opset_14_and_16(rounding: str, pads: tuple) -> None:
    positions = {"dilations": [2, 1], "index_element_type": "i32", "axis": 2}
    check_layer("MaxPool", 14, [X], attributes(rounding, pads, **positions))
    for excludes in (True, False):
        check_layer("AvgPool", 14, [X], attributes(rounding, pads, **{"exclude-pad": excludes}))
    check_layer("AvgPool", 16, [X], attributes(rounding, pads, **{"exclude-pad": False, "dilations": [2, 1]}))


@pytest.mark.parametrize("auto_pad", ["same_upper", "same_lower", "valid"])
@pytest.mark.parametrize("rounding", ["floor", "ceil"])
def test_pools_that_pad_by_themselves(auto_pad: str, rounding: str) -> None:
    settings = attributes(rounding, ([0, 0], [0, 0]), auto_pad, **{"exclude-pad": False})
    check_layer("AvgPool", 1, [X], settings, dynamic=[False])
    positions = {"dilations": [1, 1], "index_element_type": "i64", "axis": 0}
    check_layer("MaxPool", 8, [X], attributes(rounding, ([0, 0], [0, 0]), auto_pad, **positions), dynamic=[False])


def test_a_window_of_padding_alone_gives_the_least_finite_number() -> None:
    settings = attributes("ceil", ([1, 1], [1, 1])) | {"kernel": [2, 3], "strides": [3, 2]}
    check_layer("MaxPool", 1, [X], settings)


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


def test_positions_by_columns_and_small_integers_written() -> None:
    check_node(MaxPool((2, 2), strides=(2, 2), storage_order=1, output_count=2), [X], outputs=2, dynamic=[False])
    check_node(MaxPool((2, 2)), [np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4)[..., ::-1].copy()])


@pytest.mark.parametrize("op", [GlobalAveragePool(), GlobalMaxPool(), GlobalLpPool(), GlobalLpPool(p=3)], ids=repr)
def test_pools_of_whole_planes_written(op: Op) -> None:
    check_node(op, [X])
