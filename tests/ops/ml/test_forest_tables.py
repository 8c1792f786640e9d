"""Tables of forests: walked in NumPy, they lead every row to the leaf that `Forest.leaves` finds."""

import ml_oracle
import numpy as np
import pytest
from ops.ml.test_trees import ensemble, random_rows, stump

from whorl.ops.ml.forest_tables import FIELDS, LANES, ForestTable, forest_table, keys_of

NUMBERS = np.array([-np.inf, -1.5, -1e-45, -0.0, 0.0, 1e-45, 2.0, np.inf])


def leaves_by_table(table: ForestTable, x):
    """The leaf of each row and tree."""
    keys, whole = keys_of(x), np.iinfo(table.nodes.dtype)
    columns = keys[:, table.features]
    is_nan = np.isnan(x)[:, table.features]
    columns = np.where(is_nan, np.where(np.arange(len(table.features)) < table.plain, whole.max, whole.min), columns)
    node = np.tile(table.roots[: len(table.depths)], (len(x), 1))
    for _ in range(table.depths.max(initial=0)):
        is_true = columns[np.arange(len(x))[:, None], table.nodes[node]] <= table.nodes[node + 1]
        node = table.nodes[node + FIELDS - 2 + is_true]
    return table.nodes[node + 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("members", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_table_leads_to_the_leaves_of_the_forest(seed, members, dtype):
    rng = np.random.default_rng(seed)
    op = ml_oracle.make_op("TreeEnsemble", ensemble(rng, 5, 2, dtype, members))
    forest = op._forest32 if dtype == np.float32 else op._forest64
    forest.threshold[rng.random(len(forest.threshold)) < 0.1] = np.nan
    forest.threshold[rng.random(len(forest.threshold)) < 0.1] = -np.inf
    rows = random_rows(rng, 200, dtype)
    rows[rng.random(rows.shape) < 0.1] = -np.inf
    rows[rng.random(rows.shape) < 0.1] = np.inf
    np.testing.assert_array_equal(leaves_by_table(forest_table(forest), rows), forest.leaves(rows))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keys_are_in_the_order_of_the_numbers(dtype):
    numbers = NUMBERS.astype(dtype)
    keys = keys_of(numbers)
    np.testing.assert_array_equal(keys[:, None] < keys, numbers[:, None] < numbers)


def test_a_threshold_of_zero_below_tells_zeros_from_what_is_below_them():
    forest = stump(nodes_modes=np.array([1], np.uint8), nodes_splits=np.array([0.0], np.float32))._forest32
    rows = NUMBERS.astype(np.float32)[:, None]
    np.testing.assert_array_equal(leaves_by_table(forest_table(forest), rows), forest.leaves(rows))


def test_roots_are_filled_up_to_whole_lanes():
    table = forest_table(stump()._forest32)
    assert len(table.roots) == LANES and table.depths.tolist() == [1]


def test_a_node_and_its_children_lie_side_by_side():
    table = forest_table(stump()._forest32)
    assert table.nodes.tolist()[:FIELDS] == [0, int(keys_of(np.float32([0.5]))[0]), FIELDS, 2 * FIELDS]


def test_a_cycle_has_no_table():
    op = stump(nodes_trueleafs=(0,), nodes_truenodeids=(0,))
    assert forest_table(op._forest32) is None


def test_leaves_that_several_nodes_lead_to_have_no_tree():
    table = forest_table(stump(nodes_falsenodeids=(0,))._forest32)
    assert table.tree_of_leaf.tolist() == [-1, -1]


def test_other_numbers_at_the_leaves():
    table = forest_table(stump()._forest32)
    nodes = table.with_leaves(np.array([7, 9])).reshape(-1, FIELDS)
    assert nodes[table.is_leaf, 1].tolist() == [9, 7, 9]
