"""Native form of support vector machines: kernels with fixed vectors, scores of pairs of classes, probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.dims import Dim
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import Index, View
from whorl.ops.ml.native_linear import multiply_fixed
from whorl.ops.ml.native_scores import logistic
from whorl.ops.native.index_maps import embed_array

_MOST_FACTORS = 3
"""Powers up to which a power is written as products."""
_COST = 16
"""Operations of an element of a kernel beside its product, about."""
_SWEEPS = 100
_TINY = float(np.float32(1e-7))


def kernel_view(k: NativeBuilder, rows: View, vectors: np.ndarray, kind: str, parameters: Sequence[float]) -> View:
    """kernel(row, vector) as float32 `[N, V]`, by the formulas of `svm.kernel`. Sums in any order."""
    gamma, coef0, degree = (k.const(float(np.float32(p)), FLOAT32) for p in (*parameters, 0.0, 0.0, 0.0)[:3])
    if kind == "RBF":
        distances, factor = _squared_distances(k, rows, vectors), k.apply("neg", gamma)
        return _map(k, distances, lambda x: k.apply("exp", k.mul(factor, x)))
    products = multiply_fixed(k, rows, vectors.T)
    if kind == "LINEAR":
        return products
    if kind == "SIGMOID":
        return _map(k, products, lambda x: k.apply("tanh", k.add(k.mul(gamma, x), coef0)))
    return _map(k, products, lambda x: _power(k, k.add(k.mul(gamma, x), coef0), degree))


def _map(k: NativeBuilder, x: View, function: Callable[[Expr], Expr]) -> View:
    return k.view(x.dtype, x.shape, lambda index: function(x.at(index)), x.cost + _COST)


def weigh_columns(k: NativeBuilder, x: View, weights: np.ndarray) -> View:
    """The sum of each row's elements by their weights, [N, 1]; sums in any order."""
    row_weights, (rows, columns) = embed_array(k, weights), x.shape
    result = k.temporary(FLOAT32, (rows, 1), "score")
    with k.nest((rows,)) as (row,):

        def step(total: Expr, at: Index, row: Expr = row) -> Expr:
            return k.apply("sum", total, k.mul(x.at((row, *at)), row_weights.at(at)))

        k.store(result, (row, k.const(0)), k.reduce((columns,), k.const(0.0, FLOAT32), step))
    return k.view_of(result, (rows, 1))


def _power(k: NativeBuilder, x: Expr, degree: Expr) -> Expr:
    factors = k.number(degree)
    if factors in range(1, _MOST_FACTORS + 1):
        result = x
        for _ in range(int(factors or 0) - 1):
            result = k.mul(result, x)
        return result
    return k.apply("pow", x, degree)


def _squared_distances(k: NativeBuilder, rows: View, vectors: np.ndarray) -> View:
    """|x - v|^2: `for row: for feature: for vector: d[vector] += (x[feature] - v[feature, vector])^2`."""
    rows = k.materialise_reread(rows)
    (features, count), lines = vectors.T.shape, embed_array(k, np.ascontiguousarray(vectors.T))
    result = k.temporary(FLOAT32, (rows.shape[0], count), "distances")
    with k.nest(rows.shape[:1]) as (row,):
        with k.loop(count, parallel=True) as vector:
            k.store(result, (row, vector), k.const(0.0, FLOAT32))
        with k.loop(features) as feature:
            x = k.let(rows.at((row, feature)))
            with k.loop(count, parallel=True) as vector:
                gap = k.sub(x, lines.at((feature, vector)))
                k.store(result, (row, vector), k.apply("sum", k.load(result, (row, vector)), k.mul(gap, gap)))
    return k.view_of(result, (rows.shape[0], count))


def sign_view(k: NativeBuilder, scores: View) -> View:
    """1 where a score is above 0, else -1."""
    zero, one, other = (k.const(number, FLOAT32) for number in (0.0, 1.0, -1.0))
    return k.view(
        FLOAT32,
        scores.shape,
        lambda at: k.select(k.compare("gt", scores.at(at), zero), one, other),
        scores.cost + 2,
    )


class Pairs(Struct, frozen=True):
    """Pairs of classes in the order of their `rho`: the classes, and the coefficients of their vectors.

    `bounds` are where the vectors of each class begin, and where the last ones end.
    """

    classes: np.ndarray
    weights: np.ndarray
    bounds: np.ndarray
    rho: np.ndarray

    @property
    def class_count(self) -> int:
        return len(self.bounds) - 1

    def scores(self, k: NativeBuilder, kernels: View) -> tuple[Buffer, Buffer]:
        """The score of each pair, and how many pairs each class has won, both as float32 and by row.

        Products of float32 are summed as float64, in any order.
        """
        kernels = k.materialise(kernels)
        rows: Dim = kernels.shape[0]
        weights, bounds, rho = (embed_array(k, x) for x in (self.weights, self.bounds, self.rho))
        classes = embed_array(k, self.classes)
        scores = k.temporary(FLOAT32, (rows, len(self.rho)), "scores")
        votes = k.temporary(FLOAT32, (rows, self.class_count), "wins")
        with k.nest((rows,)) as (row,):
            with k.loop(self.class_count, parallel=True) as number:
                k.store(votes, (row, number), k.const(0.0, FLOAT32))
            with k.loop(len(self.rho)) as pair:
                first, second = (k.let(classes.at((pair, k.const(n)))) for n in (0, 1))

                def total(own: Expr, line: Expr, row: Expr = row) -> Expr:
                    start, end = (k.let(bounds.at((k.add(own, k.const(n)),))) for n in (0, 1))

                    def step(acc: Expr, at: tuple[Expr, ...]) -> Expr:
                        vector = k.add(start, at[0])
                        product = k.mul(kernels.at((row, vector)), weights.at((line, vector)))
                        return k.apply("sum", acc, k.cast(product, FLOAT64))

                    return k.reduce((k.new_length(k.let(k.sub(end, start))),), k.const(0.0, FLOAT64), step)

                score = k.add(total(first, k.sub(second, k.const(1))), total(second, first))
                score = k.let(k.add(score, rho.at((pair,))))
                k.store(scores, (row, pair), k.cast(score, FLOAT32))
                is_first = k.compare("gt", score, k.const(0.0, FLOAT64))
                winner = k.let(k.select(is_first, first, second))
                k.store(votes, (row, winner), k.add(k.load(votes, (row, winner)), k.const(1.0, FLOAT32)))
        return scores, votes

    def probabilities(self, k: NativeBuilder, scores: Buffer, rows: Dim, a: np.ndarray, b: np.ndarray) -> Buffer:
        """Probabilities of the classes from logistic functions of the scores of pairs, by row."""
        count = self.class_count
        slopes, offsets, classes = (embed_array(k, x) for x in (a, b, self.classes))
        result = k.temporary(FLOAT32, (rows, count), "probabilities")
        wins = k.temporary(FLOAT32, (count, count), "pairwise")
        coupling = _Coupling(k, wins, result, count)
        one = k.const(1.0, FLOAT32)
        with k.nest((rows,), parallel=False) as (row,):
            with k.nest((count, count)) as index:
                k.store(wins, index, k.const(0.0, FLOAT32))
            with k.loop(len(self.rho)) as pair:
                first, second = (k.let(classes.at((pair, k.const(n)))) for n in (0, 1))
                x = k.add(k.mul(k.load(scores, (row, pair)), slopes.at((pair,))), offsets.at((pair,)))
                win = k.apply("max", k.sub(one, logistic(k, k.let(x))), k.const(_TINY, FLOAT32))
                win = k.let(k.apply("min", win, k.const(float(np.float32(1) - np.float32(_TINY)), FLOAT32)))
                k.store(wins, (first, second), win)
                k.store(wins, (second, first), k.sub(one, win))
            coupling.write(row)
        return result


class _Coupling:
    """`svm.coupled_probabilities` of the pairwise ones in memory."""

    def __init__(self, k: NativeBuilder, wins: Buffer, result: Buffer, count: int) -> None:
        self.k, self.wins, self.result, self.count = k, wins, result, count
        self.q = k.temporary(FLOAT32, (count, count), "q")
        self.qp = k.temporary(FLOAT32, (count,), "qp")
        self.zero, self.one = k.const(0.0, FLOAT32), k.const(1.0, FLOAT32)

    def write(self, row: Expr) -> None:
        """The probabilities of one row."""
        k = self.k
        self._fill_q()
        start = np.float32(1) / np.float32(self.count)
        with k.loop(self.count) as number:
            k.store(self.result, (row, number), k.const(float(start), FLOAT32))
        limit = k.const(float(np.float32(0.005) / np.float32(self.count)), FLOAT32)
        sweep, pqp = k.variable(INT64, "sweep", once=False), k.variable(FLOAT32, "pqp", once=False)
        k.assign(sweep, k.const(0))

        def is_open() -> Expr:
            k.assign(pqp, self._products(row))
            gap = self._largest_gap(pqp)
            return k.apply("and", k.compare("lt", sweep, k.const(_SWEEPS)), k.compare("ge", gap, limit))

        with k.repeat_while(is_open):
            self._sweep(row, pqp)
            k.assign(sweep, k.add(sweep, k.const(1)))

    def _fill_q(self) -> None:
        k = self.k
        with k.nest((self.count, self.count), parallel=False) as (i, j):
            other = k.mul(k.apply("neg", k.load(self.wins, (j, i))), k.load(self.wins, (i, j)))
            k.store(self.q, (i, j), other)
        with k.loop(self.count) as i:

            def add_square(total: Expr, at: tuple[Expr, ...], i: Expr = i) -> Expr:
                own = k.load(self.wins, (at[0], i))
                return k.add(total, k.mul(own, own))

            k.store(self.q, (i, i), k.reduce((self.count,), self.zero, add_square))

    def _products(self, row: Expr) -> Expr:
        """q @ p, stored, and p @ q @ p."""
        k = self.k
        with k.loop(self.count) as i:

            def add_product(total: Expr, at: tuple[Expr, ...], i: Expr = i) -> Expr:
                return k.add(total, k.mul(k.load(self.q, (i, at[0])), k.load(self.result, (row, at[0]))))

            k.store(self.qp, (i,), k.reduce((self.count,), self.zero, add_product))
        return k.reduce(
            (self.count,),
            self.zero,
            lambda total, at: k.add(total, k.mul(k.load(self.result, (row, *at)), k.load(self.qp, at))),
        )

    def _largest_gap(self, pqp: Var) -> Expr:
        k = self.k
        return k.reduce(
            (self.count,),
            self.zero,
            lambda most, at: k.apply("max", most, k.apply("abs", k.sub(k.load(self.qp, at), pqp))),
        )

    def _sweep(self, row: Expr, pqp: Var) -> None:
        """Each probability moves to its best value, then all are scaled to sum to 1."""
        k = self.k
        with k.loop(self.count) as i:
            own, product = k.let(k.load(self.q, (i, i))), k.let(k.load(self.qp, (i,)))
            step = k.let(k.div(k.sub(pqp, product), own))
            whole = k.let(k.add(self.one, step))
            k.store(self.result, (row, i), k.add(k.load(self.result, (row, i)), step))
            change = k.mul(step, k.add(k.mul(step, own), k.mul(k.const(2.0, FLOAT32), product)))
            k.assign(pqp, k.div(k.div(k.add(pqp, change), whole), whole))
            with k.loop(self.count) as j:
                moved = k.add(k.load(self.qp, (j,)), k.mul(step, k.load(self.q, (i, j))))
                k.store(self.qp, (j,), k.div(moved, whole))
                k.store(self.result, (row, j), k.div(k.load(self.result, (row, j)), whole))
