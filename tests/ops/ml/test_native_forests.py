"""Forests in native code: blocks of rows, rows that are left over, features anywhere, and what makes a program fail."""

import ml_oracle
import numpy as np
import pytest
from one_program import OneProgram
from ops.ml.test_trees import ensemble, random_rows, stump

from whorl.ir.build import Builder
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.lowering.graphs import lower_graph


def forest(seed, targets=1, trees=9, **changed):
    rng = np.random.default_rng(seed)
    return ml_oracle.make_op("TreeEnsemble", ensemble(rng, trees, targets, np.float32) | changed)


@pytest.mark.parametrize("trees", [1, 8, 9, 20])
def test_rows_and_trees_around_whole_lanes(trees):
    op, x = forest(1, trees=trees), random_rows(np.random.default_rng(1), 600)
    program = OneProgram(op, [x])
    for rows in (2, 7, 8, 9, 15, 17, 255, 256, 257, 600):
        np.testing.assert_array_equal(program.run([x[:rows]])[0], op.run(x[:rows]))


@pytest.mark.parametrize("rows", [1, 3, 8, 300])
def test_a_number_of_rows_that_is_fixed(rows):
    op, x = forest(2, 3), random_rows(np.random.default_rng(2), rows)
    region = Region()
    build = Builder(region, Inference())
    value = region.add_argument("x", TensorType(x.dtype, x.shape))
    region.results = build.add_many(op, [value], ["y"])
    graph = lower_graph(region, [value])
    assert not graph.program.calls
    ml_oracle.check_native(op, [np.concatenate([x, x])], [op.run(x)])


def test_one_row_without_an_axis_of_rows():
    op, x = forest(3), random_rows(np.random.default_rng(3), 2)[0]
    np.testing.assert_array_equal(OneProgram(op, [x]).run([x])[0], op.run(x))


def test_features_in_any_order_and_many_of_them():
    rng = np.random.default_rng(4)
    count = len(forest(4).nodes_modes)
    op = forest(4, nodes_featureids=[int(n) for n in rng.choice([901, 7, 30], count)])
    x = rng.normal(size=(50, 1000)).astype(np.float32)
    np.testing.assert_array_equal(OneProgram(op, [x]).run([x])[0], op.run(x))


def test_a_feature_outside_fails():
    op = stump(nodes_featureids=(3,))
    x = np.zeros((5, 4), np.float32)
    program = OneProgram(op, [x])
    assert program.run([x]) is not None
    assert program.run([x[:, :3]]) is None


def test_a_forest_with_a_cycle_is_left_to_the_interpreter():
    op, region = stump(nodes_trueleafs=(0,), nodes_truenodeids=(0,)), Region()
    value = region.add_argument("x", TensorType(np.dtype(np.float32), (UNKNOWN, 1)))
    region.results = Builder(region, Inference()).add_many(op, [value], ["y"])
    fact = region.add_argument("unused", TensorType(np.dtype(np.float32), (5, 1)))
    assert [call.op.name for call in lower_graph(region, [fact, fact]).program.calls] == ["TreeEnsemble"]
