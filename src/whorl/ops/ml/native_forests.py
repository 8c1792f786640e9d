"""Native form of forests: rows in blocks, trees one after the other, and in a tree several rows side by side.

```
for block of rows:
    keys = the integers of its rows
    for tree:
        for rows, LANES at once: walk down, then add the votes of the leaves
    for each row that is left:
        for trees, LANES at once: walk down
        for tree: add the votes of the leaf
```

A row's votes are added tree by tree either way, as `Forest.scores` adds them. Nothing of the forest is code but whether
all leaves have as many votes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import View
from whorl.ir.types import TensorType
from whorl.ops.ml.forest_tables import FIELDS, LANES
from whorl.ops.ml.forest_votes import VotingForest
from whorl.ops.ml.native_linear import table_view

_BLOCK_BYTES = 1 << 17
"""Memory for the keys of a block of rows, about."""
_MOST_ROWS = 256
_STEPS = {"MIN": "min", "MAX": "max"}


class NativeVotes(Struct, frozen=True):
    """The sums of the votes by row and target; `voted` says whether any leaf voted, a constant where that is known."""

    sums: Buffer
    voted: Buffer | None
    always: np.ndarray

    def has_vote(self, k: NativeBuilder, row: Expr, target: int) -> Expr:
        """Whether a leaf voted for a target."""
        if self.voted is None:
            return k.const(bool(self.always[target]), BOOL)
        return k.load(self.voted, (row, k.const(target)))


def collect_votes(k: NativeBuilder, x: View, forest: VotingForest, aggregate: str, tells_voted: bool) -> NativeVotes:
    """The votes of all trees for each row and target as one number, but that an average is not divided yet."""
    writer = _Writer(k, k.materialise_costly(table_view(k, x)), forest, aggregate, tells_voted)
    writer.write()
    return NativeVotes(writer.sums, writer.voted, forest.always if tells_voted else np.zeros(0, np.bool_))


class _Writer:
    """Writes the loops over one forest."""

    def __init__(self, k: NativeBuilder, x: View, forest: VotingForest, aggregate: str, tells_voted: bool) -> None:
        self.k, self.x, self.forest, self.table = k, x, forest, forest.table
        self.step = _STEPS.get(aggregate, "add")
        self.weights, self.targets = forest.forest.weight.dtype, forest.targets
        self.keys_type = forest.table.nodes.dtype
        self.columns = len(self.table.features)
        shape = (x.shape[0], self.targets)
        self.sums = k.temporary(self.weights, shape, "votes")
        needs_voted = tells_voted and not (forest.always | forest.never).all()
        self.voted = k.temporary(BOOL, shape, "voted") if needs_voted else None
        self._constants: dict[int, tuple[np.ndarray, Buffer]] = {}
        self.nodes = self._constant(forest.nodes)

    def _constant(self, array: np.ndarray) -> Buffer:
        if id(array) not in self._constants:
            buffer = self.k.constant(array, TensorType(array.dtype, array.shape)).buffer
            assert buffer is not None
            self._constants[id(array)] = array, buffer
        return self._constants[id(array)][1]

    def write(self) -> None:
        """The sums of all rows."""
        k, count, table = self.k, self.x.shape[0], self.table
        self._clear()
        self._require_features()
        rows = self._rows_at_once(count)
        keys = k.temporary(self.keys_type, (rows, max(1, self.columns)), "keys")
        roots, depths = self._constant(table.roots), self._constant(table.depths)
        reached = k.temporary(self.keys_type, (max(len(table.roots), LANES),), "reached")
        total = k.let(k.length(count))
        blocks = k.div(k.add(total, k.const(rows - 1)), k.const(rows))
        with k.loop(1 if rows == count else k.let(blocks), hint="block") as block:
            start = k.let(k.mul(block, k.const(rows)))
            here = k.let(k.apply("min", k.const(rows), k.sub(total, start)))
            self._fill_keys(keys, start, here)
            done: Expr = k.const(0)
            if rows >= LANES:
                groups = k.let(k.div(here, k.const(LANES)))
                done = k.let(k.mul(groups, k.const(LANES)))
                with k.loop(len(table.depths), hint="tree") as tree:
                    root, depth = k.let(k.load(roots, (tree,))), k.let(k.load(depths, (tree,)))
                    with k.loop(groups, hint="group") as group:
                        first = k.let(k.mul(group, k.const(LANES)))
                        lanes = [k.add(first, k.const(n)) for n in range(LANES)]
                        self._walk(keys, lanes, [root] * LANES, depth, reached, k.const(0))
                        with k.loop(LANES, hint="lane") as lane:
                            self._vote(k.add(k.add(start, first), lane), k.load(reached, (lane,)))
            with k.loop(k.sub(here, done), hint="row") as rest:
                row = k.let(k.add(done, rest))
                with k.loop(len(table.roots) // LANES, hint="group") as group:
                    first = k.let(k.mul(group, k.const(LANES)))
                    starts = [k.let(k.load(roots, (k.add(first, k.const(n)),))) for n in range(LANES)]
                    depth = k.const(int(table.depths.max(initial=0)))
                    self._walk(keys, [row] * LANES, starts, depth, reached, first)
                with k.loop(len(table.depths), hint="tree") as tree:
                    self._vote(k.add(start, row), k.load(reached, (tree,)))

    def _rows_at_once(self, count: Dim) -> int:
        """Rows whose keys are made together."""
        each = max(1, self.columns) * self.keys_type.itemsize
        rows = max(LANES, min(_MOST_ROWS, _BLOCK_BYTES // each // LANES * LANES))
        return min(rows, count) if isinstance(count, int) else rows

    def _clear(self) -> None:
        """Sums of nothing; extremes that lose against every vote where there will be one."""
        k, shape = self.k, (self.x.shape[0], self.targets)
        nothing = {"add": 0.0, "min": np.inf, "max": -np.inf}[self.step]
        first = None if not nothing else self._constant(np.where(self.forest.never, 0.0, nothing).astype(self.weights))
        with k.nest(shape) as (row, target):
            value = k.const(0.0, self.weights) if first is None else k.load(first, (target,))
            k.store(self.sums, (row, target), value)
            if self.voted is not None:
                k.store(self.voted, (row, target), k.const(False, BOOL))

    def _require_features(self) -> None:
        """The program fails where a node reads a feature that the input does not have."""
        most = int(self.table.features.max(initial=-1))
        self.k.fail_unless(self.k.compare("lt", self.k.const(most), self.k.length(self.x.shape[1])))

    def _fill_keys(self, keys: Buffer, start: Expr, count: Expr) -> None:
        """The keys of so many rows from one on."""
        k, plain, features = self.k, self.table.plain, self.table.features
        parts = [(0, features[:plain], False), (plain, features[plain:], True)]
        for first, part, is_low in parts:
            if not len(part):
                continue
            is_all = bool((part == np.arange(len(part)) + part[0]).all())
            numbers = None if is_all else self._constant(part)
            with k.loop(count, hint="row") as row, k.loop(len(part), parallel=True, hint="column") as column:
                feature = k.add(column, k.const(int(part[0]))) if numbers is None else k.load(numbers, (column,))
                value = self._value(self.x.at((k.add(start, row), feature)))
                k.store(keys, (row, k.add(k.const(first), column)), self._key(value, is_low))

    def _value(self, element: Expr) -> Expr:
        """An element in the type in which the forest compares."""
        return self.k.cast(element, FLOAT64 if self.keys_type == INT64 else FLOAT32)

    def _key(self, value: Expr, is_low: bool) -> Expr:
        """`forest_tables.keys_of` of a number, NaN the largest or the least of all."""
        k, whole = self.k, self.keys_type
        limits = np.iinfo(whole)
        bits = k.apply("bits", k.add(value, k.const(0.0, value.dtype)), dtype=whole)
        is_negative = k.compare("lt", bits, k.const(0, whole))
        key = k.select(is_negative, k.apply("xor", bits, k.const(limits.max, whole)), bits)
        nan = k.const(limits.min if is_low else limits.max, whole)
        return k.select(k.apply("isnan", value, dtype=BOOL), nan, key)

    def _walk(
        self, keys: Buffer, rows: Sequence[Expr], roots: Sequence[Expr], depth: Expr, reached: Buffer, first: Expr
    ) -> None:
        """Go down from roots, each for its row, for so many levels; what the leaves hold goes to `reached`."""
        k = self.k
        nodes = [k.variable(INT64, "node", once=False) for _ in roots]
        level = k.variable(INT64, "level", once=False)
        k.assign(level, k.const(0))
        for node, root in zip(nodes, roots, strict=True):
            k.assign(node, root)
        most = k.const(int(self.table.depths.max(initial=0)))

        def is_inside() -> Expr:
            return k.apply("and", k.compare("lt", level, most), k.compare("lt", level, depth))

        with k.repeat_while(is_inside):
            for node, row in zip(nodes, rows, strict=True):
                column, threshold = (k.load(self.nodes, (k.add(node, k.const(n)),)) for n in (0, 1))
                is_true = k.compare("le", k.load(keys, (row, k.cast(column, INT64))), threshold)
                side = k.add(k.const(FIELDS - 2), k.cast(is_true, INT64))
                k.assign(node, k.cast(k.load(self.nodes, (k.add(node, side),)), INT64))
            k.assign(level, k.add(level, k.const(1)))
        for n, node in enumerate(nodes):
            k.store(reached, (k.add(first, k.const(n)),), k.load(self.nodes, (k.add(node, k.const(1)),)))

    def _vote(self, row: Expr, reached: Expr) -> None:
        """Add the votes of a leaf to the sums of a row."""
        k, forest = self.k, self.forest.forest
        row, reached = k.let(row), k.let(reached)
        if self.forest.has_weights_inside:
            self._add(row, k.const(0), k.apply("bits", reached, dtype=self.weights))
            return
        weight = self._constant(forest.weight)
        start, count = k.cast(reached, INT64), self.forest.votes_each
        if count is None:
            first = self._constant(self.forest.first)
            start, end = (k.let(k.load(first, (k.add(start, k.const(n)),))) for n in (0, 1))
        target = None if self.forest.is_dense else self._constant(forest.target)
        with k.loop(k.sub(end, start) if count is None else count, hint="vote") as number:
            vote = k.let(k.add(start, number))
            self._add(row, number if target is None else k.load(target, (vote,)), k.load(weight, (vote,)))

    def _add(self, row: Expr, target: Expr, weight: Expr) -> None:
        k = self.k
        target = k.let(target)
        k.store(self.sums, (row, target), k.apply(self.step, k.load(self.sums, (row, target)), weight))
        if self.voted is not None:
            k.store(self.voted, (row, target), k.const(True, BOOL))
