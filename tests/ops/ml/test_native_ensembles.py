"""Tree ensembles compiled in sessions, as users run them: other batches, other types, NaN, and errors."""

import ml_oracle
import numpy as np
import pytest
from ops.ml.test_trees import MODES, random_forest, random_rows, votes

from whorl.ir.build import Builder
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.lowering.graphs import lower_graph


def regressor(seed, **more):
    rng = np.random.default_rng(seed)
    nodes, leaves = random_forest(rng, trees=5, modes=MODES)
    attributes = nodes | votes(rng, "target", leaves, 3) | {"n_targets": 3} | more
    return ml_oracle.make_op("TreeEnsembleRegressor", attributes)


@pytest.mark.parametrize("aggregate", ["MIN", "MAX", "AVERAGE"])
def test_targets_without_votes_are_zero_in_extremes(aggregate):
    op = regressor(1, aggregate_function=aggregate, base_values=(0.5, 1.5, -1.0))
    x = random_rows(np.random.default_rng(1), 40)
    ml_oracle.result(op, x)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_inputs_of_other_types(dtype):
    op, x = regressor(2), random_rows(np.random.default_rng(2), 40)
    ml_oracle.result(op, np.nan_to_num(x).astype(dtype))


@pytest.mark.parametrize("classes", [1, 2, 3, 10])
def test_classes_of_a_forest(classes):
    rng = np.random.default_rng(classes)
    nodes, leaves = random_forest(rng, trees=7)
    attributes = nodes | votes(rng, "class", leaves, classes) | {"classlabels_int64s": [*range(5, 5 + classes)]}
    op = ml_oracle.make_op("TreeEnsembleClassifier", attributes)
    ml_oracle.result(op, random_rows(rng, 40))


def test_the_size_of_a_forest_does_not_show_in_the_program():
    counts = set()
    for trees in (10, 80):
        rng = np.random.default_rng(3)
        nodes, leaves = random_forest(rng, trees=trees)
        op = ml_oracle.make_op("TreeEnsembleRegressor", nodes | votes(rng, "target", leaves, 1) | {"n_targets": 1})
        region = Region()
        value = region.add_argument("x", TensorType(np.dtype(np.float32), (UNKNOWN, UNKNOWN)))
        region.results = Builder(region, Inference()).add_many(op, [value], ["y"])
        fact = Region().add_argument("x", TensorType(np.dtype(np.float32), (100, 4)))
        counts.add(str(lower_graph(region, [fact]).program).count("\n"))
    assert len(counts) == 1
