"""Forests: decision trees as parallel arrays, walked for all rows and trees at once, level by level."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from whorl.errors import RunError

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
"""The comparisons of a node, by their number."""
MEMBER = MODES.index("BRANCH_MEMBER")
_LEAF = 255
_COMPARISONS: tuple[Callable[[Any, Any], Any], ...] = (
    operator.le,
    operator.lt,
    operator.ge,
    operator.gt,
    operator.eq,
    operator.ne,
)
_BLOCK = 1 << 20
"""How many (row, tree) pairs are walked together."""


class Forest(Struct, frozen=True):
    """Inner nodes, and leaves with a run of votes each.

    A child is the number of a node, or `~leaf` for a leaf; so is a root. Leaf k has the votes
    `first[k] .. first[k] + count[k] - 1`; a vote adds `weight` to `target`.
    """

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    mode: np.ndarray
    missing_true: np.ndarray
    true: np.ndarray
    false: np.ndarray
    first: np.ndarray
    count: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    members: dict[int, np.ndarray] = field(default_factory=dict)
    """The set of each BRANCH_MEMBER node."""

    def check(self, targets: int) -> None:
        """Refuse children, features and targets that point outside."""
        children = np.concatenate([self.roots, self.true, self.false])
        bad = children[(children >= len(self.feature)) | (~children >= len(self.count))]
        if bad.size:
            what = f"node {bad[0]}" if bad[0] >= 0 else f"leaf {~bad[0]}"
            raise RunError(f"a tree points to {what}, which is not there")
        if self.feature.size and self.feature.min() < 0:
            raise RunError(f"a node reads feature {self.feature.min()}")
        if self.target.size and not 0 <= self.target.min() <= self.target.max() < targets:
            raise RunError(f"a leaf votes for a target outside [0, {targets})")
        if self.mode.size and self.mode.max() >= len(MODES):
            raise RunError(f"a node has mode {self.mode.max()}, which is not defined")

    def scores(self, x: np.ndarray, targets: int, smallest: bool = False, largest: bool = False) -> Votes:
        """The sum of the votes for each row and target, or the smallest or largest of them."""
        if self.feature.size and self.feature.max() >= x.shape[1]:
            raise RunError(f"a node reads feature {self.feature.max()}, the input has {x.shape[1]}")
        pick = np.minimum if smallest else np.maximum if largest else None
        votes = Votes(np.zeros((len(x), targets), self.weight.dtype), np.zeros((len(x), targets), np.bool_))
        block = max(1, _BLOCK // max(1, len(self.roots)))
        for start in range(0, len(x), block):
            leaves = self.leaves(x[start : start + block])
            part = Votes(votes.score[start : start + block], votes.voted[start : start + block])
            for tree in range(len(self.roots)):
                self._add_votes(part, leaves[:, tree], pick)
        return votes

    def _add_votes(self, votes: Votes, leaves: np.ndarray, pick: np.ufunc | None) -> None:
        first, count = self.first[leaves], self.count[leaves]
        for k in range(int(count.max(initial=0))):
            rows = np.nonzero(count > k)[0]
            vote = first[rows] + k
            positions = rows, self.target[vote]
            weight = self.weight[vote]
            if pick is None:
                votes.score[positions] += weight
            else:
                votes.score[positions] = np.where(votes.voted[positions], pick(votes.score[positions], weight), weight)
            votes.voted[positions] = True

    def leaves(self, x: np.ndarray) -> np.ndarray:
        """The leaf that each row reaches in each tree, [N, T]."""
        position = np.tile(self.roots, (len(x), 1))
        rows, trees = np.nonzero(position >= 0)
        for _ in range(len(self.feature) + 1):
            if not rows.size:
                return ~position
            node = position[rows, trees]
            child = np.where(self._is_true(node, x[rows, self.feature[node]]), self.true[node], self.false[node])
            position[rows, trees] = child
            inner = child >= 0
            rows, trees = rows[inner], trees[inner]
        raise RunError("a tree has a node that leads back to itself")

    def _is_true(self, node: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Whether each node's comparison holds; a NaN goes where the node says, if it says so."""
        mode, threshold = self.mode[node], self.threshold[node]
        result = np.isnan(value) & self.missing_true[node]
        for number in np.unique(mode):
            chosen = mode == number
            if number == MEMBER:
                result[chosen] |= self._is_member(node[chosen], value[chosen])
            else:
                result |= chosen & _COMPARISONS[number](value, threshold)
        return result

    def _is_member(self, node: np.ndarray, value: np.ndarray) -> np.ndarray:
        result = np.zeros(len(node), np.bool_)
        for number in np.unique(node):
            chosen = node == number
            result[chosen] = np.isin(value[chosen], self.members[int(number)])
        return result


class Votes(Struct, frozen=True):
    """The score of every row and target, and whether any leaf voted for it."""

    score: np.ndarray
    voted: np.ndarray


def numbered_forest(
    trees: Sequence[int],
    nodes: Sequence[int],
    modes: Sequence[str],
    children: tuple[Sequence[int], Sequence[int]],
    arrays: tuple[np.ndarray, np.ndarray, np.ndarray],
    votes: tuple[Sequence[int], Sequence[int], Sequence[int], np.ndarray],
) -> Forest:
    """The forest of a TreeEnsembleClassifier or TreeEnsembleRegressor.

    Every node, leaves included, is named by (tree, node id); `children` are the ids of the true and false branches,
    `arrays` features, thresholds and where NaN goes, `votes` (tree, node id, target, weight). A tree starts at the
    node that is listed first. Votes of inner nodes are ignored.
    """
    ids = _NodeIds(np.array(trees, np.int64), np.array(nodes, np.int64))
    numbers = {name: number for number, name in enumerate(MODES)} | {"LEAF": _LEAF}
    mode = np.array([numbers.get(name, len(MODES)) for name in modes], np.uint8)
    is_leaf = mode == _LEAF
    code = np.where(is_leaf, ~(np.cumsum(is_leaf) - 1), np.cumsum(~is_leaf) - 1)
    inner = np.nonzero(~is_leaf)[0]
    true, false = (code[ids.find(ids.trees[inner], np.array(side, np.int64)[inner])] for side in children)
    feature, threshold, missing = (array[inner] for array in arrays)
    first, count, target, weight = _leaf_votes(ids, code, votes)
    roots = code[ids.starts]
    return Forest(roots, feature, threshold, mode[inner], missing, true, false, first, count, target, weight)


class _NodeIds:
    """Nodes by the number of their tree and their own."""

    def __init__(self, trees: np.ndarray, nodes: np.ndarray) -> None:
        self.trees = trees
        self._trees, starts = np.unique(trees, return_index=True)
        self._nodes = np.unique(nodes)
        self.starts = np.sort(starts)
        keys = self._keys(trees, nodes)[0]
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]
        if (self._sorted[1:] == self._sorted[:-1]).any():
            raise RunError("two nodes of a tree have the same id")

    def _keys(self, trees: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One number for each pair, and whether both of them are known."""
        parts = [_find(self._trees, trees), _find(self._nodes, nodes)]
        (tree, has_tree), (node, has_node) = parts
        return tree * len(self._nodes) + node, has_tree & has_node

    def find(self, trees: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """The position of each node in the lists. Errors: one that is not there."""
        keys, is_known = self._keys(trees, nodes)
        index, is_there = _find(self._sorted, keys)
        missing = np.nonzero(~(is_known & is_there))[0]
        if missing.size:
            raise RunError(f"tree {trees[missing[0]]} points to node {nodes[missing[0]]}, which is not there")
        return self._order[index]


def _find(members: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each value stands among members in order, and whether it is one of them."""
    if not len(members):
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    index = np.minimum(np.searchsorted(members, values), len(members) - 1)
    return index, members[index] == values


def _leaf_votes(
    ids: _NodeIds,
    code: np.ndarray,
    votes: tuple[Sequence[int], Sequence[int], Sequence[int], np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The votes grouped by leaf, in their order: first and count of each leaf, then target and weight of each vote."""
    trees, nodes, targets, weights = votes
    indices = ids.find(np.array(trees, np.int64), np.array(nodes, np.int64))
    leaf = ~code[indices]
    order = np.argsort(leaf, kind="stable")
    order = order[leaf[order] >= 0]
    count = np.bincount(leaf[order], minlength=int((code < 0).sum()))
    return np.cumsum(count) - count, count, np.array(targets, np.int64)[order], weights[order]
