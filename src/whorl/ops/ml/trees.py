"""Tree ensembles: regression, classification with its two-class rules, and the general form of ai.onnx.ml 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from msgspec.structs import replace

from whorl.errors import RunError, TypeRuleError
from whorl.ir.cached_property import cached_property
from whorl.ir.dtypes import BY_NAME, FLOAT32, FLOAT64, INT64, STRING
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import accumulator, require_dtype
from whorl.ops.ml.forest import MEMBER, Forest, Votes
from whorl.ops.ml.forest_votes import VotingForest
from whorl.ops.ml.native_ensembles import ClassRules, classify, regress
from whorl.ops.ml.numbered_trees import AGGREGATES, NumberedTrees, aggregated, either, same_length
from whorl.ops.ml.tabular import (
    TRANSFORMS,
    both_classes,
    labels_of,
    name_classes,
    table,
    table_dims,
    transformed,
)
from whorl.ops.native.index_maps import cast_view


class TreeEnsemble(Op, frozen=True, eq=False, dict=True):
    """post_transform(aggregate of the leaves that x reaches in each tree), [N, n_targets] in the type of x.

    A child of a node is a leaf where `nodes_trueleafs` / `nodes_falseleafs` is 1, else a node. float16 is summed in
    float32. Source: ONNX-ML TreeEnsemble-5.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    leaf_targetids: tuple[int, ...]
    leaf_weights: np.ndarray
    nodes_falseleafs: tuple[int, ...]
    nodes_falsenodeids: tuple[int, ...]
    nodes_featureids: tuple[int, ...]
    nodes_modes: np.ndarray
    nodes_splits: np.ndarray
    nodes_trueleafs: tuple[int, ...]
    nodes_truenodeids: tuple[int, ...]
    tree_roots: tuple[int, ...]
    aggregate_function: int = 1
    membership_values: np.ndarray | None = None
    n_targets: int | None = None
    nodes_hitrates: np.ndarray | None = None
    nodes_missing_value_tracks_true: tuple[int, ...] = ()
    post_transform: int = 0

    @property
    def target_count(self) -> int:
        return max(self.leaf_targetids, default=0) + 1 if self.n_targets is None else self.n_targets

    def infer(self, x: Fact) -> TensorType:
        operand = tensor(x)
        require_dtype(operand.dtype, frozenset((FLOAT32, FLOAT64, BY_NAME["float16"])))
        if self.aggregate_function not in range(len(AGGREGATES)) or self.post_transform not in range(len(TRANSFORMS)):
            raise TypeRuleError(f"aggregate {self.aggregate_function} or post {self.post_transform} is not defined")
        self._check_lengths()
        rows, _ = table_dims(operand)
        return operand.with_shape((rows, self.target_count))

    def _check_lengths(self) -> None:
        node_lengths = {
            "nodes_falseleafs": len(self.nodes_falseleafs),
            "nodes_falsenodeids": len(self.nodes_falsenodeids),
            "nodes_modes": self.nodes_modes.size,
            "nodes_splits": self.nodes_splits.size,
            "nodes_trueleafs": len(self.nodes_trueleafs),
            "nodes_truenodeids": len(self.nodes_truenodeids),
        }
        if self.nodes_missing_value_tracks_true:
            node_lengths["nodes_missing_value_tracks_true"] = len(self.nodes_missing_value_tracks_true)
        same_length(node_lengths, len(self.nodes_featureids), "nodes_featureids")
        same_length({"leaf_weights": self.leaf_weights.size}, len(self.leaf_targetids), "leaf_targetids")

    def run(self, x: np.ndarray) -> np.ndarray:
        wide = accumulator(x.dtype)
        forest = self._forest64 if wide == FLOAT64 else self._forest32
        aggregate = AGGREGATES[self.aggregate_function]
        votes = aggregated(forest, table(x).astype(wide, copy=False), self.target_count, aggregate)
        kind = tuple(TRANSFORMS)[self.post_transform]
        return transformed(votes.score, kind).astype(x.dtype, copy=False)

    any_length = heavy = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        x, kind = inputs[0], tuple(TRANSFORMS)[self.post_transform]
        forest = self._native64 if x.dtype == FLOAT64 else self._native32
        if forest is None:
            return None
        scores = regress(k, x, forest, AGGREGATES[self.aggregate_function], np.array([]), kind)
        return [cast_view(k, scores, x.dtype)]

    @cached_property
    def _forest32(self) -> Forest:
        return self._forest(np.float32)

    @cached_property
    def _forest64(self) -> Forest:
        return self._forest(np.float64)

    @cached_property
    def _native32(self) -> VotingForest | None:
        return VotingForest.of(lambda: self._forest32, self.target_count)

    @cached_property
    def _native64(self) -> VotingForest | None:
        return VotingForest.of(lambda: self._forest64, self.target_count)

    def _forest(self, dtype: type[np.floating]) -> Forest:
        """The trees with thresholds and weights of one element type."""
        leaves, nodes = len(self.leaf_targetids), len(self.nodes_featureids)
        forest = Forest(
            np.array(self.tree_roots, np.int64),
            np.array(self.nodes_featureids, np.int64),
            self.nodes_splits.reshape(-1).astype(dtype),
            self.nodes_modes.reshape(-1),
            np.array(self.nodes_missing_value_tracks_true or (0,) * nodes, np.int64) == 1,
            _children(self.nodes_truenodeids, self.nodes_trueleafs),
            _children(self.nodes_falsenodeids, self.nodes_falseleafs),
            np.arange(leaves),
            np.ones(leaves, np.int64),
            np.array(self.leaf_targetids, np.int64),
            self.leaf_weights.reshape(-1).astype(dtype),
            self._members(dtype),
        )
        forest.check(self.target_count)
        return forest

    def _members(self, dtype: type[np.floating]) -> dict[int, np.ndarray]:
        """The sets of the BRANCH_MEMBER nodes, in the order of the nodes; NaN ends each."""
        nodes = np.nonzero(self.nodes_modes.reshape(-1) == MEMBER)[0].tolist()
        if not nodes:
            return {}
        values = np.array([]) if self.membership_values is None else self.membership_values.reshape(-1)
        sets = np.split(values.astype(dtype), np.nonzero(np.isnan(values))[0] + 1)
        if len(sets) < len(nodes):
            raise RunError(f"{len(nodes)} nodes test membership, membership_values has {len(sets)} sets")
        return {node: members[~np.isnan(members)] for node, members in zip(nodes, sets, strict=False)}


def _children(numbers: Sequence[int], leaves: Sequence[int]) -> np.ndarray:
    children = np.array(numbers, np.int64)
    return np.where(np.array(leaves, np.bool_), ~children, children)


class TreeEnsembleRegressor(NumberedTrees, frozen=True, eq=False):
    """post_transform(aggregate of the votes + base_values), float32 [N, n_targets].

    Source: ONNX-ML TreeEnsembleRegressor-3, deprecated in ai.onnx.ml 5.
    """

    aggregate_function: str = "SUM"
    n_targets: int | None = None
    target_ids: tuple[int, ...] = ()
    target_nodeids: tuple[int, ...] = ()
    target_treeids: tuple[int, ...] = ()
    target_weights: tuple[float, ...] = ()
    target_weights_as_tensor: np.ndarray | None = None

    @property
    def target_count(self) -> int:
        return max(self.target_ids, default=0) + 1 if self.n_targets is None else self.n_targets

    @property
    def votes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], np.ndarray]:
        weights = either(self.target_weights_as_tensor, self.target_weights)
        return self.target_treeids, self.target_nodeids, self.target_ids, weights

    def infer(self, x: Fact) -> TensorType:
        rows, _ = table_dims(self.check(x))
        if self.aggregate_function not in AGGREGATES:
            raise TypeRuleError(f"aggregate_function {self.aggregate_function!r} is none of {', '.join(AGGREGATES)}")
        if self.base.size not in (0, self.target_count):
            raise TypeRuleError(f"base_values has {self.base.size} elements for {self.target_count} targets")
        return TensorType(FLOAT32, (rows, self.target_count))

    def run(self, x: np.ndarray) -> np.ndarray:
        score = self.collected(x, self.aggregate_function).score
        if self.base.size:
            score = score + self.base.astype(score.dtype)
        return transformed(score, self.post_transform).astype(np.float32, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        forest = self.native_forest(inputs[0].dtype)
        if forest is None:
            return None
        base = self.base.astype(forest.forest.weight.dtype)
        return [
            cast_view(k, regress(k, inputs[0], forest, self.aggregate_function, base, self.post_transform), FLOAT32)
        ]


class TreeEnsembleClassifier(NumberedTrees, frozen=True, eq=False, dict=True):
    """The class with the largest sum of votes + base_values, and post_transform of these sums.

    Outputs: labels [N], scores float32 [N, E]. Source: ONNX-ML TreeEnsembleClassifier-3, deprecated in ai.onnx.ml 5;
    the rules for two classes: onnxruntime.
    """

    class_ids: tuple[int, ...] = ()
    class_nodeids: tuple[int, ...] = ()
    class_treeids: tuple[int, ...] = ()
    class_weights: tuple[float, ...] = ()
    class_weights_as_tensor: np.ndarray | None = None
    classlabels_int64s: tuple[int, ...] = ()
    classlabels_strings: tuple[str, ...] = ()

    @property
    def target_count(self) -> int:
        return len(self.classlabels_strings or self.classlabels_int64s)

    @property
    def votes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], np.ndarray]:
        weights = either(self.class_weights_as_tensor, self.class_weights)
        return self.class_treeids, self.class_nodeids, self.class_ids, weights

    def infer(self, x: Fact) -> tuple[TensorType, TensorType]:
        rows, _ = table_dims(self.check(x))
        if not self.target_count:
            raise TypeRuleError("has no class labels")
        if self.base.size not in ((0, 1, 2) if self.target_count == 2 else (0, self.target_count)):
            raise TypeRuleError(f"base_values has {self.base.size} elements for {self.target_count} classes")
        label = TensorType(STRING if self.classlabels_strings else INT64, (rows,))
        return label, TensorType(FLOAT32, (rows, self.target_count))

    def run(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        votes = self.collected(x)
        choose = {1: self._one_class, 2: self._two_classes}.get(self.target_count, self._classes)
        chosen, scores = choose(votes)
        return self._labels[chosen], scores.astype(np.float32, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        forest = self.native_forest(inputs[0].dtype)
        if forest is None:
            return None
        weights = self.votes[3]
        single, positive = len(set(self.class_ids)) == 1, bool((weights >= 0).all())
        base = self.base.astype(forest.forest.weight.dtype)
        return classify(k, inputs[0], forest, ClassRules(self._labels, base, self.post_transform, single, positive))

    def separate_strings(self, inputs: Sequence[Value | None], build: NodeBuilder) -> Sequence[Value] | None:
        numbers = replace(self, classlabels_strings=(), classlabels_int64s=tuple(range(self.target_count)))
        return name_classes(numbers, self.classlabels_strings, inputs, build) if self.classlabels_strings else None

    @cached_property
    def _labels(self) -> np.ndarray:
        return labels_of(self.classlabels_strings, self.classlabels_int64s)

    def _classes(self, votes: Votes) -> tuple[np.ndarray, np.ndarray]:
        """Three classes or more: the first of the largest scores among the classes that have one."""
        score, voted = votes.score, votes.voted
        if self.base.size:
            score, voted = score + self.base.astype(score.dtype), np.ones_like(voted)
        chosen = np.where(voted, score, -np.inf).argmax(axis=1)
        return chosen, transformed(score, self.post_transform)

    def _one_class(self, votes: Votes) -> tuple[np.ndarray, np.ndarray]:
        score = votes.score + self.base.astype(votes.score.dtype)[:1].sum()
        return np.zeros(len(score), np.int64), transformed(score, self.post_transform)

    def _two_classes(self, votes: Votes) -> tuple[np.ndarray, np.ndarray]:
        """The rules of onnxruntime for two classes.

        The second class is chosen where the deciding score (its own, else the first one's) is above 0, or above 1/2
        where all votes are for one class and none is negative. A row with votes for the first class only gives both
        scores.
        """
        (first, second), (has_first, has_second) = votes.score.T, votes.voted.T
        base = self.base.astype(first.dtype)
        if base.size == 2:
            second = np.where(has_second, base[1] + first, second + base[1])
            first = np.where(has_second, -second, first + base[0])
        elif base.size == 1:
            first = first + base[0]
        single = len(set(self.class_ids)) == 1
        all_positive = bool((self.votes[3] >= 0).all())
        deciding = np.where(has_second, second, np.where(has_first, first, 0))
        chosen = (deciding > (0.5 if single and all_positive else 0)).astype(np.int64)
        pair = np.stack([np.where(has_first, first, 0), np.where(has_second, second, 0)], axis=1)
        scores = transformed(pair, self.post_transform)
        alone = ~has_second if base.size < 2 and (single or not base.size) else np.zeros_like(has_second)
        both = both_classes(first, self.post_transform, opposite=not (single and all_positive))
        return chosen, np.where(alone[:, None], both, scores)
