"""Nodes named by tree and node id: what is not there, and ids in any order."""

import numpy as np
import pytest
from ops.ml.test_trees import ROWS

from whorl.errors import RunError
from whorl.ops.ml.trees import TreeEnsembleRegressor

LEAVES = {
    "nodes_featureids": (0, 0, 0),
    "nodes_modes": ("BRANCH_LEQ", "LEAF", "LEAF"),
    "nodes_values": (0.5, 0.0, 0.0),
    "nodes_truenodeids": (-7, 0, 0),
    "nodes_falsenodeids": (1 << 60, 0, 0),
    "n_targets": 1,
    "target_ids": (0, 0),
    "target_weights": (1.0, 2.0),
}


def test_numbered_trees_child_that_is_missing_is_refused():
    op = TreeEnsembleRegressor(
        nodes_treeids=(0,),
        nodes_nodeids=(0,),
        nodes_featureids=(0,),
        nodes_modes=("BRANCH_LEQ",),
        nodes_values=(0.0,),
        nodes_truenodeids=(4,),
        nodes_falsenodeids=(5,),
        n_targets=1,
    )
    with pytest.raises(RunError, match="tree 0 points to node 4, which is not there"):
        op.run(ROWS)


def test_ids_may_be_any_numbers():
    op = TreeEnsembleRegressor(
        nodes_treeids=(-3,) * 3,
        nodes_nodeids=(3, -7, 1 << 60),
        target_treeids=(-3, -3),
        target_nodeids=(1 << 60, -7),
        **LEAVES,
    )
    np.testing.assert_array_equal(op.run(ROWS), [[2.0], [1.0]])


def test_two_nodes_of_a_tree_with_the_same_id_are_refused():
    op = TreeEnsembleRegressor(
        nodes_treeids=(0,) * 3, nodes_nodeids=(0, 1, 0), target_treeids=(0, 0), target_nodeids=(0, 1), **LEAVES
    )
    with pytest.raises(RunError, match="two nodes of a tree have the same id"):
        op.run(ROWS)
