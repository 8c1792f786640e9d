"""Regions built node by node: types, names, positions and constants."""

import numpy as np
import pytest

from whorl.errors import TypeRuleError
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import Module, Node, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ir.verify import verify
from whorl.ops.control.flow import If
from whorl.ops.elementwise.arithmetic import Add, Neg
from whorl.ops.movement.axes import Split
from whorl.ops.movement.shapes import Shape


@pytest.fixture
def build() -> Builder:
    return Builder(Region("main"), Inference())


def test_value_is_typed_as_soon_as_it_exists(build):
    x = build.region.add_argument("x", TensorType(FLOAT32, (2, 1)))
    y = build.region.add_argument("y", TensorType(FLOAT32, (3,)))
    total = build.add(Add(), x, y, name="total")
    assert (total.name, str(total.type)) == ("total", "float32[2, 3]")
    shape = build.add(Shape(), total)
    assert (shape.name, shape.known.tolist()) == ("Shape", [2, 3])
    assert isinstance(shape.owner, Node) and shape.owner.name == ""


def test_node_has_its_outputs_in_order(build):
    x = build.region.add_argument("x", TensorType(FLOAT32, (4,)))
    parts = build.add_many(Split(output_count=2), [x], ["a", "b"], name="halves")
    assert [(v.name, v.index, str(v.type)) for v in parts] == [("a", 0, "float32[2]"), ("b", 1, "float32[2]")]
    (node,) = build.region.nodes
    assert node.name == "halves" and node.outputs == parts and node.outputs is not parts


def test_node_that_does_not_fit_is_not_added(build):
    x = build.region.add_argument("x", TensorType(FLOAT32, (2,)))
    y = build.region.add_argument("y", TensorType(INT64, (2,)))
    with pytest.raises(TypeRuleError, match="inputs have different element types: float32, int64"):
        build.add(Add(), x, y)
    assert not build.region.nodes


@pytest.mark.parametrize("value", [np.array(1.5), np.zeros((2, 0), np.int8), np.array(["a"], object)])
def test_constant_is_the_array(build, value):
    constant = build.constant(value)
    assert constant.owner.op.run() is value and constant.name == "const"
    assert constant.type == TensorType(value.dtype, value.shape)


@pytest.mark.parametrize("elements", [(), (3,), (-1, 1 << 62)])
def test_whole_numbers_are_a_vector(build, elements):
    constant = build.int64(*elements, name="axes")
    assert constant.name == "axes" and constant.type == TensorType(INT64, (len(elements),))
    assert constant.known.tolist() == list(elements)


def test_regions_of_a_node_are_typed_with_it(build):
    condition = build.region.add_argument("c", TensorType(np.dtype(bool), ()))
    x = build.region.add_argument("x", TensorType(FLOAT32, (2,)))
    branches = []
    for name in ("then_branch", "else_branch"):
        region = Region(name)
        argument = region.add_argument("a", TensorType(FLOAT32, ()))
        region.results = [Builder(region, build.inference).add(Neg(), argument)]
        branches.append(region)
    (y,) = build.add_many(If(), [condition, x], ["y"], branches)
    assert str(y.type) == "float32[2]" and str(branches[0].results[0].type) == "float32[2]"
    build.region.results = [y]
    verify(Module(build.region, ["y"]))
