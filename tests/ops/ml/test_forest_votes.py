"""What native code knows of the votes of a forest before it runs."""

import numpy as np
from ops.ml.test_trees import stump

from whorl.errors import RunError
from whorl.ops.ml.forest_votes import MOST_TARGETS, VotingForest
from whorl.ops.ml.trees import TreeEnsembleRegressor


def voting(op):
    return VotingForest.of(lambda: op._forest(np.float32), op.target_count)


def numbered(targets, pairs):
    """One node with two leaves, which have votes (leaf, target)."""
    return TreeEnsembleRegressor(
        nodes_treeids=(0, 0, 0),
        nodes_nodeids=(0, 1, 2),
        nodes_featureids=(0, 0, 0),
        nodes_modes=("BRANCH_LEQ", "LEAF", "LEAF"),
        nodes_values=(0.5, 0.0, 0.0),
        nodes_truenodeids=(1, 0, 0),
        nodes_falsenodeids=(2, 0, 0),
        n_targets=targets,
        target_ids=tuple(target for _, target in pairs),
        target_nodeids=tuple(1 + leaf for leaf, _ in pairs),
        target_treeids=(0,) * len(pairs),
        target_weights=tuple(1.5 + n for n in range(len(pairs))),
    )


def test_one_vote_each_for_one_target_is_the_weight_at_the_leaf():
    forest = voting(numbered(1, [(0, 0), (1, 0)]))
    assert forest.has_weights_inside
    assert {1.5, 2.5} <= set(forest.nodes[1::4].view(np.float32).tolist())


def test_votes_for_all_targets_in_order_are_dense():
    forest = voting(numbered(2, [(0, 0), (0, 1), (1, 0), (1, 1)]))
    assert forest.is_dense and forest.votes_each == 2 and forest.always.all() and not forest.never.any()
    assert not voting(numbered(2, [(0, 0), (0, 1), (1, 1), (1, 0)])).is_dense


def test_targets_that_some_leaves_vote_for():
    forest = voting(numbered(3, [(0, 0), (0, 1), (1, 1)]))
    assert forest.votes_each is None
    assert forest.first.tolist() == [0, 2, 3]
    assert forest.always.tolist() == [False, True, False] and forest.never.tolist() == [False, False, True]


def test_shared_leaves_promise_nothing():
    assert not voting(stump(nodes_falsenodeids=(0,), n_targets=2)).always.any()


def test_a_forest_that_cannot_be_read_has_no_native_form():
    assert VotingForest.of(lambda: stump(nodes_truenodeids=(7,))._forest32, 1) is None

    def fail():
        raise RunError("no forest")

    assert VotingForest.of(fail, 1) is None


def test_very_many_targets_are_left_to_the_interpreter():
    assert voting(numbered(MOST_TARGETS, [(0, 0), (1, 5)])) is not None
    assert voting(numbered(MOST_TARGETS + 1, [(0, 0), (1, 5)])) is None
