"""What the leaves of a forest add, as tables for native code, and which targets surely get a vote."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from whorl.errors import RunError
from whorl.ir.cached_property import cached_property
from whorl.ops.ml.forest import Forest
from whorl.ops.ml.forest_tables import ForestTable, forest_table, key_type

MOST_TARGETS = 1 << 16
"""Targets of a forest that is walked by native code."""


class VotingForest(Struct, frozen=True, dict=True):
    """A forest with its tables, for so many targets."""

    forest: Forest
    table: ForestTable
    targets: int

    @classmethod
    def of(cls, read: Callable[[], Forest], targets: int) -> VotingForest | None:
        """None where the forest cannot be read, has no tables, or has too many targets."""
        if targets > MOST_TARGETS:
            return None
        try:
            forest = read()
        except RunError:
            return None
        table = forest_table(forest) if len(forest.roots) else None
        return None if table is None else cls(forest, table, targets)

    @cached_property
    def votes_each(self) -> int | None:
        """How many votes every leaf has, if they have as many."""
        count = self.forest.count
        return int(count[0]) if (count == count[0]).all() else None

    @cached_property
    def is_dense(self) -> bool:
        """Whether each leaf votes for all targets in order."""
        leaves = len(self.forest.count)
        return self.votes_each == self.targets and bool(
            (self.forest.target.reshape(leaves, -1) == np.arange(self.targets)).all()
        )

    @property
    def has_weights_inside(self) -> bool:
        """Whether the nodes hold the one weight of each leaf, as its bits, instead of the leaf's number."""
        return self.is_dense and self.targets == 1

    @cached_property
    def nodes(self) -> np.ndarray:
        """The nodes of the walk; a leaf has its weight, or where its votes begin."""
        if self.has_weights_inside:
            return self.table.with_leaves(self.forest.weight.view(key_type(self.forest.weight.dtype)))
        if self.votes_each is not None:
            return self.table.with_leaves(self.forest.first)
        return self.table.nodes

    @cached_property
    def first(self) -> np.ndarray:
        """Where the votes of each leaf begin, and where the last ones end."""
        return np.append(self.forest.first, len(self.forest.weight))

    @cached_property
    def always(self) -> np.ndarray:
        """Whether every row has a vote for a target: all leaves of some tree vote for it."""
        if self.is_dense:
            return np.ones(self.targets, np.bool_)
        tree_of_leaf, count = self.table.tree_of_leaf, self.forest.count
        leaf = np.repeat(np.arange(len(count)), count)
        pairs = np.unique(leaf * self.targets + self.forest.target)
        voters, target = tree_of_leaf[pairs // self.targets], pairs % self.targets
        trees = len(self.forest.roots)
        is_alone = np.isin(np.arange(trees), tree_of_leaf[tree_of_leaf >= 0]) & ~self._has_shared_leaf
        leaves = np.bincount(tree_of_leaf[tree_of_leaf >= 0], minlength=trees)
        votes = np.bincount((voters * self.targets + target)[voters >= 0], minlength=trees * self.targets).reshape(
            trees, self.targets
        )
        return ((votes == leaves[:, None]) & is_alone[:, None]).any(axis=0)

    @property
    def _has_shared_leaf(self) -> bool:
        return bool((self.table.tree_of_leaf < 0).any())

    @cached_property
    def never(self) -> np.ndarray:
        """Whether no row has a vote for a target."""
        return ~np.isin(np.arange(self.targets), self.forest.target)
