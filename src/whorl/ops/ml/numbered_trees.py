"""Trees whose nodes are named by tree and node id, as classifiers and regressors before ai.onnx.ml 5 have them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir.cached_property import cached_property
from whorl.ir.graph import Op
from whorl.ir.types import Fact, TensorType
from whorl.ops.ml.forest import Forest, Votes, numbered_forest
from whorl.ops.ml.forest_votes import VotingForest
from whorl.ops.ml.tabular import check_transform, numbers, table

AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def aggregated(forest: Forest, x: np.ndarray, targets: int, aggregate: str) -> Votes:
    """The votes of all trees for each row and target as one score."""
    votes = forest.scores(x, targets, smallest=aggregate == "MIN", largest=aggregate == "MAX")
    if aggregate == "AVERAGE":
        return Votes(votes.score / votes.score.dtype.type(len(forest.roots)), votes.voted)
    return votes


def same_length(lengths: dict[str, int], expected: int, of: str) -> None:
    """Refuse parallel attributes of different lengths."""
    for name, length in lengths.items():
        if length != expected:
            raise TypeRuleError(f"{name} has {length} elements, {of} {expected}")


class NumberedTrees(Op, frozen=True, eq=False, dict=True):
    """What TreeEnsembleClassifier-3 and TreeEnsembleRegressor-3 share: nodes named by tree and node id.

    Numbers are compared and summed in float64 where x or an attribute `*_as_tensor` is float64, else in float32.
    """

    abstract: ClassVar[bool] = True

    domain: ClassVar[str] = "ai.onnx.ml"
    base_values: tuple[float, ...] = ()
    base_values_as_tensor: np.ndarray | None = None
    nodes_falsenodeids: tuple[int, ...] = ()
    nodes_featureids: tuple[int, ...] = ()
    nodes_hitrates: tuple[float, ...] = ()
    nodes_hitrates_as_tensor: np.ndarray | None = None
    nodes_missing_value_tracks_true: tuple[int, ...] = ()
    nodes_modes: tuple[str, ...] = ()
    nodes_nodeids: tuple[int, ...] = ()
    nodes_treeids: tuple[int, ...] = ()
    nodes_truenodeids: tuple[int, ...] = ()
    nodes_values: tuple[float, ...] = ()
    nodes_values_as_tensor: np.ndarray | None = None
    post_transform: str = "NONE"

    @property
    def target_count(self) -> int:
        """The number of targets or classes."""
        raise NotImplementedError

    @property
    def votes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], np.ndarray]:
        """Tree, node id, target and weight of every vote."""
        raise NotImplementedError

    @property
    def thresholds(self) -> np.ndarray:
        return either(self.nodes_values_as_tensor, self.nodes_values)

    @property
    def base(self) -> np.ndarray:
        return either(self.base_values_as_tensor, self.base_values)

    def check(self, x: Fact) -> TensorType:
        """The type of the input, after a look at the attributes."""
        check_transform(self.post_transform)
        names = ("falsenodeids", "featureids", "modes", "treeids", "truenodeids")
        lengths = {f"nodes_{name}": len(getattr(self, f"nodes_{name}")) for name in names}
        lengths["nodes_values"] = self.thresholds.size
        if self.nodes_missing_value_tracks_true:
            lengths["nodes_missing_value_tracks_true"] = len(self.nodes_missing_value_tracks_true)
        same_length(lengths, len(self.nodes_nodeids), "nodes_nodeids")
        trees, nodes, targets, weights = self.votes
        lengths = {"the list of target nodes": len(nodes), "of targets": len(targets), "of weights": weights.size}
        same_length(lengths, len(trees), "that of target trees")
        return numbers(x)

    def collected(self, x: np.ndarray, aggregate: str = "SUM") -> Votes:
        """The aggregated votes for every row and target."""
        double = self._is_double(x.dtype)
        rows = table(x).astype(np.float64 if double else np.float32, copy=False)
        return aggregated(self._forest64 if double else self._forest32, rows, self.target_count, aggregate)

    def _is_double(self, dtype: np.dtype) -> bool:
        return np.float64 in (dtype, self.thresholds.dtype, self.votes[3].dtype, self.base.dtype)

    any_length = heavy = True

    def native_forest(self, dtype: np.dtype) -> VotingForest | None:
        """The forest for inputs of a type, as native code walks it; None where it cannot."""
        return self._native64 if self._is_double(dtype) else self._native32

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
        missing = self.nodes_missing_value_tracks_true or (0,) * len(self.nodes_modes)
        trees, nodes, targets, weights = self.votes
        forest = numbered_forest(
            self.nodes_treeids,
            self.nodes_nodeids,
            self.nodes_modes,
            (self.nodes_truenodeids, self.nodes_falsenodeids),
            (np.array(self.nodes_featureids, np.int64), self.thresholds.astype(dtype), np.array(missing) == 1),
            (trees, nodes, targets, weights.astype(dtype)),
        )
        forest.check(self.target_count)
        return forest


def either(array: np.ndarray | None, values: tuple[float, ...]) -> np.ndarray:
    """An attribute that is given as a tensor or as floats."""
    return np.array(values, np.float32) if array is None else array.reshape(-1)
