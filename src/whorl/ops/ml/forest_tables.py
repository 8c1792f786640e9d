"""Forests as tables for native code: every comparison is `key <= threshold` of integers, and leaves lead to themselves.

The key of a number is its bits in the order of the numbers, so that `v < t` is `key(v) <= key(t) - 1`. A NaN has the
least key where its node sends it to the true branch, else the largest one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field

from whorl.ops.ml.forest import MODES, Forest

LANES = 8
"""Walks side by side, so that none waits for the memory of another."""
FIELDS = 4
"""Numbers of a node: its column, its threshold (a leaf's: its number), where false and where true lead."""
_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, _MEMBER = range(len(MODES))


class ForestTable(Struct, frozen=True):
    """Nodes, `FIELDS` numbers each; roots and children are positions among these numbers.

    Columns of keys are `features` of the input; in those from `plain` on a NaN has the least key. `roots` are filled
    up to whole `LANES` with leaves, `depths` are the levels of inner nodes in each tree. `tree_of_leaf` is -1 where no
    tree leads to a leaf, or several do.
    """

    nodes: np.ndarray
    is_leaf: np.ndarray
    roots: np.ndarray
    depths: np.ndarray
    features: np.ndarray
    plain: int
    tree_of_leaf: np.ndarray

    def with_leaves(self, numbers: np.ndarray) -> np.ndarray:
        """The nodes with other numbers at the leaves, which have the type of thresholds."""
        nodes = self.nodes.reshape(-1, FIELDS).copy()
        nodes[self.is_leaf, 1] = numbers[nodes[self.is_leaf, 1]]
        return nodes.reshape(-1)


def forest_table(forest: Forest) -> ForestTable | None:
    """The tables of a forest; None where a node has several parents: it might lead back to itself."""
    children = np.concatenate([forest.roots, forest.true, forest.false])
    if np.bincount(children[children >= 0], minlength=1).max() > 1:
        return None
    inner = _normal_form(forest)
    pairs, column = np.unique(inner.feature * 2 + inner.low, return_inverse=True)
    order = np.argsort(pairs % 2, kind="stable")
    column = np.argsort(order, kind="stable")[column] if len(order) else column
    features, plain = pairs[order] // 2, int((pairs % 2 == 0).sum())
    return _lay_out(forest, inner, column, features, plain)


def keys_of(values: np.ndarray) -> np.ndarray:
    """The integers in the order of the numbers; zeros are equal. NaN is what it is."""
    whole = key_type(values.dtype)
    bits = (values + values.dtype.type(0)).view(whole)
    return np.where(bits < 0, bits ^ np.iinfo(whole).max, bits)


def key_type(dtype: np.dtype) -> np.dtype:
    """The integers that are keys of floats."""
    return np.dtype(np.int64 if dtype == np.float64 else np.int32)


class _Comparisons(Struct):
    """Inner nodes that all ask `key <= threshold`, where a NaN is below every other number if `low`."""

    feature: np.ndarray
    threshold: np.ndarray
    low: np.ndarray
    true: np.ndarray
    false: np.ndarray
    _added: list[tuple[int, int, bool, int, int]] = field(default_factory=list[tuple[int, int, bool, int, int]])

    def add(self, feature: int, threshold: int, low: bool, true: int, false: int) -> int:
        """The number of one more node."""
        self._added.append((feature, threshold, low, true, false))
        return len(self.feature) + len(self._added) - 1

    def whole(self) -> _Comparisons:
        """The same with all nodes in the arrays."""
        if not self._added:
            return self
        arrays = (self.feature, self.threshold, self.low, self.true, self.false)
        columns = zip(arrays, zip(*self._added, strict=True), strict=True)
        feature, threshold, low, true, false = (np.append(old, np.array(new, old.dtype)) for old, new in columns)
        return _Comparisons(feature, threshold, low, true, false)


def _normal_form(forest: Forest) -> _Comparisons:
    """`not (v <= t)` with its children swapped, `v == t` as `v <= t` and not `v < t`, sets searched by halves.

    A NaN as threshold is above nothing; where the children are swapped, above all numbers.
    """
    mode, missing = forest.mode, forest.missing_true
    never = int(np.iinfo(key_type(forest.threshold.dtype)).min)
    is_swapped, is_equality = np.isin(mode, (_GTE, _GT)), np.isin(mode, (_EQ, _NEQ))
    threshold = keys_of(forest.threshold).astype(np.int64) - np.isin(mode, (_LT, _GTE))
    threshold = np.where(np.isnan(forest.threshold), np.where(is_swapped, -2 - never, never), threshold)
    result = _Comparisons(
        forest.feature,
        threshold,
        np.where(is_swapped, ~missing, missing & (mode != _NEQ)),
        np.where(is_swapped, forest.false, forest.true),
        np.where(is_swapped, forest.true, forest.false),
    )
    for node in np.nonzero(is_equality)[0].tolist():
        feature, bound, low = int(forest.feature[node]), int(threshold[node]), bool(result.low[node])
        hit, miss = int(forest.true[node]), int(forest.false[node])
        if mode[node] == _NEQ:
            hit, miss = miss, hit
        result.true[node] = result.add(feature, max(never, bound - 1), False, miss, hit)
        result.false[node] = miss
        result.low[node] = low
    for node in np.nonzero(mode == _MEMBER)[0].tolist():
        members = np.unique(keys_of(forest.members[node])).tolist()
        branches = int(forest.true[node]), int(forest.false[node])
        result.threshold[node] = members[0] if members else never
        if members:
            result.true[node] = result.false[node] = _search(result, node, members, branches)
    return result.whole()


def _search(nodes: _Comparisons, node: int, members: Sequence[int], branches: tuple[int, int]) -> int:
    """A tree that finds out whether a key is one of some, in order, at least one."""
    feature, low, (true, false) = int(nodes.feature[node]), bool(nodes.low[node]), branches
    if len(members) == 1:
        equal = nodes.add(feature, members[0] - 1, False, false, true)
        return nodes.add(feature, members[0], low, equal, false)
    half = len(members) // 2
    parts = [_search(nodes, node, part, branches) for part in (members[:half], members[half:])]
    return nodes.add(feature, members[half - 1], low, parts[0], parts[1])


def _lay_out(forest: Forest, inner: _Comparisons, column: np.ndarray, features: np.ndarray, plain: int) -> ForestTable:
    """The nodes tree by tree, a node and its children side by side in every other level."""
    count, leaves = len(inner.feature), len(forest.count)
    whole = key_type(forest.threshold.dtype)
    true, false, roots = (_number_all(x, count) for x in (inner.true, inner.false, forest.roots))
    tree, group, seen = (np.full(count + leaves + 1, -1) for _ in range(3))
    depths = np.zeros(len(roots), np.int64)
    nodes, level, total = roots, 0, 0
    tree[roots] = np.arange(len(roots))
    while nodes.size:
        seen[nodes] = total + np.arange(len(nodes))
        total += len(nodes)
        if level % 2 == 0:
            group[nodes] = seen[nodes]
        parents = nodes[nodes < count]
        level += 1
        depths[tree[parents]] = level
        sides = np.stack([false[parents], true[parents]], axis=1).reshape(-1)
        tree[sides], group[sides] = np.repeat(tree[parents], 2), np.repeat(group[parents], 2)
        nodes = sides if len(inner.feature) == len(forest.feature) else np.unique(sides)
    blank = count + leaves
    tree[blank] = len(roots)
    used = np.nonzero(tree >= 0)[0]
    order = used[np.lexsort((seen[used], group[used], tree[used]))]
    position = np.zeros(blank + 1, np.int64)
    position[order] = np.arange(len(order)) * FIELDS
    table = np.zeros((len(order), FIELDS), whole)
    is_leaf = order >= count
    table[is_leaf, 1] = np.minimum(order[is_leaf] - count, leaves - 1)
    table[is_leaf, 2] = table[is_leaf, 3] = position[order[is_leaf]]
    numbers = order[~is_leaf]
    table[~is_leaf] = np.stack(
        [column[numbers], inner.threshold[numbers], position[false[numbers]], position[true[numbers]]], axis=1
    )
    filled = np.append(roots, np.full(-len(roots) % LANES, blank))
    of_leaf = np.where(_is_shared(forest), -1, tree[count:blank])
    return ForestTable(table.reshape(-1), is_leaf, position[filled], depths, features, plain, of_leaf)


def _number_all(children: np.ndarray, count: int) -> np.ndarray:
    """Children with leaves numbered behind so many inner nodes."""
    return np.where(children >= 0, children, count + ~children)


def _is_shared(forest: Forest) -> np.ndarray:
    """Whether several nodes lead to each leaf."""
    children = np.concatenate([forest.roots, forest.true, forest.false])
    return np.bincount(~children[children < 0], minlength=len(forest.count)) > 1
