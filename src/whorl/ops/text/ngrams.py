"""TfIdfVectorizer: counting the n-grams of a pool in rows of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.errors import RunError, TypeRuleError
from whorl.ir.cached_property import cached_property
from whorl.ir.dtypes import FLOAT32, INT32, INT64, STRING, name_of
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.ml.native_lookup import Lookup
from whorl.ops.native.index_maps import embed_array, reshape_view
from whorl.ops.text.native_ngrams import Branches, Grams, count_ngrams


class Trie(Struct):
    """The n-grams of a pool as a tree of tokens: `steps[node, token]` is a node, node 0 the root.

    `numbers[node]` is the position in the pool of the n-gram that ends at a node, -1 if none does.
    """

    tokens: dict[Any, int]
    steps: dict[tuple[int, int], int]
    numbers: list[int]

    def add(self, ngram: tuple[Any, ...], number: int) -> None:
        node = 0
        for token in ngram:
            step = node, self.tokens.setdefault(token, len(self.tokens))
            if step not in self.steps:
                self.steps[step] = len(self.numbers)
                self.numbers.append(-1)
            node = self.steps[step]
        self.numbers[node] = number

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sorted step codes `node * (tokens + 1) + token`, the nodes they lead to, and the numbers of the nodes."""
        width = len(self.tokens) + 1
        codes = np.array([node * width + token for node, token in self.steps], np.int64)
        nodes = np.array(list(self.steps.values()), np.int64)
        order = codes.argsort()
        return codes[order], nodes[order], np.array(self.numbers, np.int64)


class TfIdfVectorizer(Op, frozen=True, dict=True):
    """How often each n-gram of the pool occurs in a row: TF count, IDF weight if it does, TFIDF count * weight.

    Tokens of an n-gram stand 1 .. max_skip_count + 1 positions apart, evenly; single tokens count once. What n-gram k
    gives is added to column ngram_indexes[k]. Shapes: [C] gives [M], [N, C] gives [N, M], M = max(ngram_indexes) + 1.
    Source: ONNX TfIdfVectorizer-9.
    """

    max_gram_length: int
    max_skip_count: int
    min_gram_length: int
    mode: str
    ngram_counts: tuple[int, ...]
    ngram_indexes: tuple[int, ...]
    pool_int64s: tuple[int, ...] = ()
    pool_strings: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    def infer(self, x: Fact) -> TensorType:
        operand = tensor(x)
        if operand.dtype not in ((STRING,) if self.pool_strings else (INT32, INT64)):
            raise TypeRuleError(f"does not accept {name_of(operand.dtype)} with this pool")
        self._check()
        if isinstance(operand.shape, AnyShape):
            return TensorType(FLOAT32)
        if len(operand.shape) > 2:
            raise TypeRuleError(f"input is {operand}, expected [C] or [N, C]")
        return TensorType(FLOAT32, (*operand.shape[:-1], self.width))

    def _check(self) -> None:
        if self.mode not in ("TF", "IDF", "TFIDF"):
            raise TypeRuleError(f"mode {self.mode!r} is none of TF, IDF, TFIDF")
        if not self.ngram_indexes or min(self.ngram_indexes) < 0:
            raise TypeRuleError("ngram_indexes is empty or has a negative element")
        starts = [*self.ngram_counts, len(self.pool_strings or self.pool_int64s)]
        if not self.ngram_counts or starts[0] < 0 or starts != sorted(starts):
            raise TypeRuleError(f"ngram_counts {list(self.ngram_counts)} does not divide a pool of {starts[-1]}")
        count = sum((end - start) // size for size, start, end in self._sections)
        if count != len(self.ngram_indexes):
            raise TypeRuleError(f"the pool has {count} n-grams, ngram_indexes {len(self.ngram_indexes)} elements")
        if self.weights and len(self.weights) != len(self.ngram_indexes):
            raise TypeRuleError(f"has {len(self.weights)} weights for {len(self.ngram_indexes)} n-grams")

    @property
    def width(self) -> int:
        """The number of output columns."""
        return max(self.ngram_indexes) + 1

    @property
    def _sections(self) -> list[tuple[int, int, int]]:
        """The parts of the pool: (length of its n-grams, start, end)."""
        ends = (*self.ngram_counts[1:], len(self.pool_strings or self.pool_int64s))
        return [(k + 1, start, end) for k, (start, end) in enumerate(zip(self.ngram_counts, ends, strict=True))]

    @cached_property
    def _trie(self) -> Trie:
        pool = self.pool_strings or self.pool_int64s
        trie, number = Trie({}, {}, [-1]), 0
        for size, start, end in self._sections:
            for at in range(start, end - size + 1, size):
                if self.min_gram_length <= size <= self.max_gram_length:
                    trie.add(tuple(pool[at : at + size]), number)
                number += 1
        return trie

    def run(self, x: np.ndarray) -> np.ndarray:
        if x.ndim > 2:
            raise RunError(f"input has shape {list(x.shape)}, expected [C] or [N, C]")
        known = self._trie.tokens
        unknown = len(known)
        flat = [known.get(token, unknown) for token in x.reshape(-1).tolist()]
        rows = np.array(flat, np.int64).reshape((1, x.size) if x.ndim < 2 else x.shape)
        amounts = self._counts(rows)
        if self.mode == "IDF":
            amounts = amounts > 0
        amounts = amounts.astype(np.float32)
        if self.mode != "TF" and self.weights:
            amounts *= np.array(self.weights, np.float32)
        result = np.zeros((self.width, len(rows)), np.float32)
        np.add.at(result, np.array(self.ngram_indexes), amounts.T)
        return result.T.reshape((*x.shape[:-1], self.width))

    any_length = heavy = True

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        return replace(self, pool_strings=(), pool_int64s=tuple(map(number, self.pool_strings)))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        x, trie = inputs[0], self._trie
        lookup = Lookup.of(trie.tokens, len(trie.tokens), x.dtype, INT64)
        if lookup is None or len(x.shape) not in (1, 2):
            return None
        tokens = lookup.view(k, reshape_view(k, x, (1, *x.shape)[-2:]))
        branches = Branches.of(trie.steps, trie.numbers, len(trie.tokens))
        grams = Grams(self.min_gram_length, self.max_gram_length, self.max_skip_count + 1)
        counts = count_ngrams(k, tokens, branches, grams, len(self.ngram_indexes))
        sums = k.temporary(FLOAT32, (tokens.shape[0], self.width), "sums")
        columns = embed_array(k, np.array(self.ngram_indexes))
        weights = embed_array(k, np.array(self.weights, np.float32)) if self.weights and self.mode != "TF" else None
        with k.loop(tokens.shape[0], hint="row") as row:
            with k.loop(self.width, parallel=True) as column:
                k.store(sums, (row, column), k.const(0, FLOAT32))
            with k.loop(len(self.ngram_indexes), hint="number") as n:
                count = k.load(counts, (row, n))
                amount = k.cast(k.compare("gt", count, k.const(0)) if self.mode == "IDF" else count, FLOAT32)
                amount = amount if weights is None else k.mul(amount, weights.at((n,)))
                column = k.let(columns.at((n,)))
                k.store(sums, (row, column), k.add(k.load(sums, (row, column)), amount))
        return [k.view_of(sums, (*x.shape[:-1], self.width))]

    def _counts(self, rows: np.ndarray) -> np.ndarray:
        """How often each row has each n-gram of the pool."""
        codes, nodes, numbers = self._trie.tables()
        counts = np.zeros((len(rows), len(self.ngram_indexes)), np.int64)
        for distance in range(1, min(self.max_skip_count + 1, max(1, rows.shape[1])) + 1):
            node = np.zeros(rows.shape, np.int64)
            for size in range(1, self.max_gram_length + 1):
                windows = rows.shape[1] - (size - 1) * distance
                if windows <= 0 or not codes.size:
                    break
                keys = node[:, :windows] * (len(self._trie.tokens) + 1) + rows[:, rows.shape[1] - windows :]
                at = codes.searchsorted(keys).clip(max=len(codes) - 1)
                alive = (node[:, :windows] >= 0) & (codes[at] == keys)
                node = np.where(alive, nodes[at], -1)
                if size < self.min_gram_length or (size == 1 and distance > 1):
                    continue
                count = np.where(alive, numbers[node], -1)
                row, _ = hits = np.nonzero(count >= 0)
                np.add.at(counts, (row, count[hits]), 1)
        return counts
