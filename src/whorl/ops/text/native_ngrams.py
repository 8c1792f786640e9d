"""Native form of counting n-grams: a walk down the tree of the pool from every token of a row.

```
for row:
    for distance between tokens:
        for first token:
            node = root
            while the next token has a child: node = child; count the n-gram that ends there, if any
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import View
from whorl.ops.native.index_maps import embed_array

_NONE = -1


class Branches(Struct, frozen=True):
    """`of_root` has the child of the root for each token, -1 for none, as for the token that is unknown.

    The children of another node n are those from `first[n]` to `first[n + 1]`, in order of their tokens, `inner`. The
    n-gram that ends at a node has one of `numbers`, -1 where none does.
    """

    of_root: np.ndarray
    first: np.ndarray
    inner: np.ndarray
    nodes: np.ndarray
    numbers: np.ndarray

    @classmethod
    def of(cls, steps: Mapping[tuple[int, int], int], numbers: Sequence[int], tokens: int) -> Branches:
        """Those of a tree whose steps go from (node, token) to nodes, 0 the root."""
        of_root = np.full(tokens + 1, _NONE, np.int64)
        for (node, token), child in steps.items():
            if not node:
                of_root[token] = child
        deeper = sorted((node, token, child) for (node, token), child in steps.items() if node)
        parents, inner, nodes = np.array(deeper, np.int64).reshape(-1, 3).T
        first = np.searchsorted(parents, np.arange(len(numbers) + 1))
        return cls(of_root, first.astype(np.int64), inner, nodes, np.array(numbers, np.int64))


class Grams(Struct, frozen=True):
    """Which n-grams are counted: their lengths, and how far apart their tokens may stand."""

    shortest: int
    longest: int
    furthest: int


def count_ngrams(k: NativeBuilder, tokens: View, branches: Branches, grams: Grams, count: int) -> Buffer:
    """How often each of `count` n-grams occurs in the rows of a matrix of tokens, none of which is less than 0."""
    rows, columns = tokens.shape
    counts = k.temporary(INT64, (rows, count), "counts")
    width = k.let(k.length(columns))
    furthest = 1 if grams.longest == 1 else grams.furthest
    distances = k.let(k.apply("max", k.const(1), k.apply("min", k.const(furthest), width)))
    of_root = embed_array(k, branches.of_root)
    with k.loop(rows, hint="row") as row:
        with k.loop(count, parallel=True) as number:
            k.store(counts, (row, number), k.const(0))
        with k.loop(distances, hint="distance") as less, k.loop(width, hint="first") as first:
            node = k.variable(INT64, "node", once=False)
            k.assign(node, of_root.at((tokens.at((row, first)),)))
            walk = _Walk(k, branches, grams, node, k.let(k.add(less, k.const(1))))
            with k.repeat_while(lambda walk=walk: k.compare("ge", walk.node, k.const(0))):
                number = walk.number()
                with k.when(k.compare("ge", number, k.const(0))):
                    k.store(counts, (row, number), k.add(k.load(counts, (row, number)), k.const(1)))
                walk.step(row, first, tokens, width)
    return counts


class _Walk:
    """Writes a walk down from a node, which is -1 once it has ended."""

    def __init__(self, k: NativeBuilder, branches: Branches, grams: Grams, node: Var, distance: Expr) -> None:
        self.k, self.grams, self.node, self.distance = k, grams, node, distance
        self.branches = branches
        self.size = k.variable(INT64, "size", once=False)
        k.assign(self.size, k.const(1))

    def number(self) -> Expr:
        """The n-gram that ends here and counts; single tokens do for one distance alone."""
        k, grams = self.k, self.grams
        is_long = k.compare("ge", self.size, k.const(grams.shortest))
        is_new = k.apply("or", k.compare("gt", self.size, k.const(1)), k.compare("eq", self.distance, k.const(1)))
        number = embed_array(k, self.branches.numbers).at((self.node,))
        return k.let(k.select(k.apply("and", is_long, is_new), number, k.const(_NONE)))

    def step(self, row: Expr, first: Expr, tokens: View, width: Expr) -> None:
        """Go to the child for the next token."""
        k = self.k
        if not len(self.branches.inner):
            k.assign(self.node, k.const(_NONE))
            return
        position = k.let(k.add(first, k.mul(self.size, self.distance)))
        is_inside = k.compare("lt", position, width)
        goes_on = k.let(k.apply("and", is_inside, k.compare("lt", self.size, k.const(self.grams.longest))))
        k.assign(self.size, k.add(self.size, k.const(1)))
        with k.when(k.apply("not", goes_on)):
            k.assign(self.node, k.const(_NONE))
        with k.when(goes_on):
            k.assign(self.node, self._child(k.let(tokens.at((row, position)))))

    def _child(self, token: Expr) -> Expr:
        """The child of the node for a token, found by halves."""
        k = self.k
        first, inner, nodes = (
            embed_array(k, a) for a in (self.branches.first, self.branches.inner, self.branches.nodes)
        )
        low, high = (k.variable(INT64, hint, once=False) for hint in ("low", "high"))
        end = k.let(first.at((k.add(self.node, k.const(1)),)))
        k.assign(low, first.at((self.node,)))
        k.assign(high, end)
        with k.repeat_while(lambda: k.compare("lt", low, high)):
            middle = k.let(k.apply("shr", k.add(low, high), k.const(1)))
            is_below = k.let(k.compare("lt", inner.at((middle,)), token))
            k.assign(low, k.select(is_below, k.add(middle, k.const(1)), low))
            k.assign(high, k.select(is_below, high, middle))
        position = k.let(k.apply("min", low, k.const(len(self.branches.inner) - 1)))
        is_child = k.apply("and", k.compare("lt", low, end), k.compare("eq", inner.at((position,)), token))
        return k.let(k.select(is_child, nodes.at((position,)), k.const(_NONE)))
