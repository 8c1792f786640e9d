"""Forests as arrays: the leaf that a row reaches, votes, numbered nodes, and trees that are none."""

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ops.ml import forest as module
from whorl.ops.ml.forest import MEMBER, MODES, Forest, numbered_forest

NAN = np.nan


def stump(mode="BRANCH_LEQ", threshold=1.0, missing=False, members=None, dtype=np.float32) -> Forest:
    """One node on feature 0 with the leaves 0 (true) and 1 (false), which vote 10 and 20 for target 0."""
    number = MODES.index(mode)
    return Forest(
        np.array([0]),
        np.array([0]),
        np.array([threshold], dtype),
        np.array([number], np.uint8),
        np.array([missing]),
        np.array([~0]),
        np.array([~1]),
        np.array([0, 1]),
        np.array([1, 1]),
        np.array([0, 0]),
        np.array([10, 20], dtype),
        {0: np.array(members, dtype)} if number == MEMBER else {},
    )


@pytest.mark.parametrize(
    ("mode", "leaves"),
    [
        ("BRANCH_LEQ", [0, 0, 1]),
        ("BRANCH_LT", [0, 1, 1]),
        ("BRANCH_GTE", [1, 0, 0]),
        ("BRANCH_GT", [1, 1, 0]),
        ("BRANCH_EQ", [1, 0, 1]),
        ("BRANCH_NEQ", [0, 1, 0]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_comparison_leads_to_a_leaf(mode, leaves, dtype):
    x = np.array([[0], [1], [2]], dtype)
    assert stump(mode).leaves(x)[:, 0].tolist() == leaves


@pytest.mark.parametrize("mode", [m for m in MODES if m != "BRANCH_MEMBER"])
@pytest.mark.parametrize("missing", [False, True])
def test_row_without_a_number_goes_where_the_node_says(mode, missing):
    (leaf,) = stump(mode, missing=missing).leaves(np.array([[NAN]]))[:, 0]
    assert leaf == (0 if missing or mode == "BRANCH_NEQ" else 1)


def test_member_of_a_set_is_true():
    leaves = stump("BRANCH_MEMBER", members=[1, 3]).leaves(np.array([[0.0], [1], [2], [3], [NAN]]))
    assert leaves[:, 0].tolist() == [1, 0, 1, 0, 1]


def test_no_rows_reach_no_leaves():
    votes = stump().scores(np.zeros((0, 1), np.float32), 3)
    assert votes.score.shape == votes.voted.shape == (0, 3)


def forest(votes, roots=2):
    """Two trees that are a leaf each, with votes (leaf, target, weight)."""
    leaves, targets, weights = zip(*votes, strict=True)
    count = np.bincount(leaves, minlength=roots)
    empty = np.zeros(0, np.int64)
    return Forest(
        ~np.arange(roots), empty, empty.astype(float), empty.astype(np.uint8), empty.astype(bool), empty, empty,
        np.cumsum(count) - count, count, np.array(targets), np.array(weights, np.float64),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("how", "score"), [({}, [5.0, -1.0, 0.0]), ({"smallest": True}, [1.0, -1, 0]), ({"largest": True}, [4.0, -1, 0])]
)
def test_votes_are_summed_or_the_extreme_is_taken(how, score):
    votes = forest([(0, 0, 1.0), (0, 1, -1.0), (1, 0, 4.0)]).scores(np.zeros((2, 1)), 3, **how)
    assert votes.score.tolist() == [score] * 2 and votes.voted.tolist() == [[True, True, False]] * 2


def test_rows_are_walked_in_blocks(monkeypatch):
    x = np.arange(7, dtype=np.float32)[:, None] - 2
    whole = stump().scores(x, 1).score
    monkeypatch.setattr(module, "_BLOCK", 2)
    np.testing.assert_array_equal(stump().scores(x, 1).score, whole)


def test_feature_that_the_input_does_not_have_is_refused():
    with pytest.raises(RunError) as raised:
        stump().scores(np.zeros((3, 0), np.float32), 1)
    assert str(raised.value) == "a node reads feature 0, the input has 0"


BROKEN = [
    ({"true": np.array([7])}, "a tree points to node 7, which is not there"),
    ({"false": np.array([~5])}, "a tree points to leaf 5, which is not there"),
    ({"feature": np.array([-1])}, "a node reads feature -1"),
    ({"target": np.array([0, 1])}, "a leaf votes for a target outside [0, 1)"),
    ({"mode": np.array([len(MODES)], np.uint8)}, f"a node has mode {len(MODES)}, which is not defined"),
]


@pytest.mark.parametrize(("fields", "message"), BROKEN)
def test_forest_that_points_outside_is_refused(fields, message):
    sound = stump()
    sound.check(1)
    broken = Forest(**{name: getattr(sound, name) for name in sound.__struct_fields__} | fields)
    with pytest.raises(RunError) as raised:
        broken.check(1)
    assert str(raised.value) == message


def test_tree_with_a_cycle_ends_in_an_error():
    sound = stump()
    cycle = Forest(**{name: getattr(sound, name) for name in sound.__struct_fields__} | {"true": np.array([0])})
    with pytest.raises(RunError, match="a tree has a node that leads back to itself"):
        cycle.leaves(np.array([[0.0]]))


def numbered(trees, nodes, modes, true, false, votes):
    count = len(trees)
    arrays = np.zeros(count, np.int64), np.arange(count) * 1.0, np.zeros(count, bool)
    return numbered_forest(
        trees, nodes, modes, (true, false), arrays, (*votes, np.array([1.0, 2.0, 4.0][: len(votes[0])]))
    )


def test_numbered_nodes_may_come_in_any_order_and_a_tree_starts_at_its_first():
    result = numbered(
        [5, 5, 5, 2, 5, 5],
        [7, 3, 9, 7, 1, 0],
        ["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
        [9, 0, 1, 0, 0, 0],
        [3, 0, 0, 0, 0, 0],
        ([5, 2, 5], [1, 7, 3], [0, 0, 0]),
    )
    result.check(1)
    scores = result.scores(np.array([[-1.0], [0.0], [1.0], [3.0]]), 1).score[:, 0]
    assert scores.tolist() == [1 + 2, 1 + 2, 2 + 4, 2 + 4] and len(result.roots) == 2


@pytest.mark.parametrize(
    ("nodes", "true", "message"),
    [
        ([0, 0, 2], [2, 0, 0], "two nodes of a tree have the same id"),
        ([0, 1, 2], [8, 0, 0], "tree 0 points to node 8, which is not there"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(nodes, true, message):
    with pytest.raises(RunError) as raised:
        numbered([0, 0, 0], nodes, ["BRANCH_LEQ", "LEAF", "LEAF"], true, [2, 0, 0], ([0], [2], [0]))
    assert str(raised.value) == message


def test_votes_of_inner_nodes_are_ignored():
    result = numbered(
        [0, 0, 0], [0, 1, 2], ["BRANCH_LEQ", "LEAF", "LEAF"], [1, 0, 0], [2, 0, 0], ([0, 0], [0, 2], [0, 0])
    )
    assert result.weight.tolist() == [2.0] and result.count.tolist() == [0, 1]
