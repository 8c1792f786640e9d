"""Sums and products that run along an axis."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of, refused_to_write
from formats.openvino.one_layer import check_layer, check_node, scalar

from whorl.ops.reduce.cumulative import CumProd, CumSum

X = (np.arange(24, dtype=np.float32).reshape(2, 3, 4) * 7) % 11 - 4


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums(exclusive: bool, reverse: bool) -> None:
    check_layer("CumSum", 3, [X, scalar(1)], {"exclusive": exclusive, "reverse": reverse})
    check_layer("CumSum", 3, [np.array([1, 2, 3, 4]), scalar(-1)], {"exclusive": exclusive, "reverse": reverse})


def test_running_sums_along_the_first_axis_or_one_known_at_run_time() -> None:
    check_layer("CumSum", 3, [X, np.array(1)])


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_running_totals_written(exclusive: int, reverse: int) -> None:
    for op in (CumSum(exclusive, reverse), CumProd(exclusive, reverse)):
        check_node(op, [X, np.array(1)], constants=[1])
        check_node(op, [X[0, 0].astype(np.int32), np.array([-1])], constants=[1])
        check_node(op, [X, np.array(-1)])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.float16])
def test_running_sums_of_other_types(dtype: type) -> None:
    x = np.array([[1, 2, 3], [100, 50, 60]]).astype(dtype)
    check_layer("CumSum", 3, [x, scalar(1)])
    check_layer("CumSum", 3, [x, scalar(-2, np.int32)])


def test_running_sums_without_an_axis_go_along_the_first() -> None:
    layers = [parameter(0, "2,3", name="x"), layer(1, "CumSum", 1, version="opset3", name="c"), result(2)]
    assert program_of(net(layers, "0:0-1:0 1:1-2:0")) == (
        "n(%x: float32[2, 3]) {\n"
        '  %const: int64[1] = Constant "const" () {value = int64[1] <0>}\n'
        '  %c: float32[2, 3] = CumSum "c" (%x, %const)\n'
        "  return c = %c\n"
        "}\n"
    )


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.float16])
def test_running_totals_of_other_types_written(dtype: type) -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]]).astype(dtype)
    check_node(CumSum(), [x, np.array(1, np.int32)], (1,))
    check_node(CumProd(1, 1), [x, np.array(-2, np.int32)], (1,))


def test_running_totals_of_nothing_written() -> None:
    check_node(CumSum(), [np.zeros((0, 3), np.float32), np.array(0)], (1,))
    check_node(CumProd(), [np.zeros((2, 0), np.float32), np.array(0)], (1,))


@pytest.mark.parametrize("axis", ["%axis: int64[]", "%unused: int64[]"])
def test_running_products_of_any_rank_are_refused(axis: str) -> None:
    constant = "" if "axis" in axis else "%axis: int64[] = Constant() {value = int64[] <0>}"
    text = f"""
        main(%x: float32[*], {axis}) {{
            {constant}
            %y: float32[*] = CumProd "c" (%x, %axis)
            return y = %y
        }}"""
    assert refused_to_write(text) == "CumProd 'c': the rank of the input is not known\n  fix: declare its shape"
