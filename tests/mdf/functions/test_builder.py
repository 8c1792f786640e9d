"""Operands become values of a region: numbers float64, truth values bool, lists stacked."""

import numpy as np
import pytest

from whorl.errors import UnsupportedError
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT64, INT64
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.mdf.functions.builder import NodeBuilder
from whorl.runtime.session import Session


def builder():
    region = Region("main")
    x = region.add_argument("x", TensorType(FLOAT64, (3,)))
    return NodeBuilder(Builder(region, Inference(set()))), x, region


def run(region, result):
    region.results = [result]
    return Session(Module(region, ["y"]), backend="interpreter").execute(None, {"x": np.array([1.0, 0.0, -2.0])})[0]


def test_known_operands_become_constants_of_one_element_type():
    nodes, x, _ = builder()
    assert nodes.type(nodes.value(3)).dtype == FLOAT64 and nodes.type(nodes.value(True)).dtype == BOOL
    assert nodes.type(nodes.whole(2)).dtype == INT64
    left, right = nodes.alike(True, x)
    assert nodes.type(left).dtype == nodes.type(right).dtype == FLOAT64


def test_list_is_stacked_along_a_new_first_axis():
    nodes, x, region = builder()
    np.testing.assert_array_equal(run(region, nodes.value([x, x])), [[1, 0, -2]] * 2)


def test_all_numbers_but_zero_count_as_true():
    nodes, x, region = builder()
    assert run(region, nodes.truth(x)).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("index", "expected"), [(0, 1.0), (slice(None, None, -1), [-2, 0, 1]), ((None, 1), [0.0]), (slice(1, 3), [0, -2])]
)
def test_item_takes_numbers_slices_and_new_axes(index, expected):
    nodes, x, region = builder()
    np.testing.assert_array_equal(run(region, nodes.value(nodes.item(x, index))), expected)


def test_text_and_mask_have_no_form():
    nodes, x, _ = builder()
    with pytest.raises(UnsupportedError, match="'text' is no number"):
        nodes.value("text")
    with pytest.raises(UnsupportedError, match="index of truth values"):
        nodes.item(x, nodes.truth(x))
