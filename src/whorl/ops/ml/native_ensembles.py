"""Native form of what tree ensembles make of the votes of their leaves: scores, and classes with their rules."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import BOOL, FLOAT32
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import View
from whorl.ir.types import TensorType
from whorl.ops.ml.forest_votes import VotingForest
from whorl.ops.ml.native_forests import NativeVotes, collect_votes
from whorl.ops.ml.native_scores import Chosen, both_classes, first_largest, transform_rows
from whorl.ops.native.index_maps import cast_view


def regress(k: NativeBuilder, x: View, forest: VotingForest, aggregate: str, base: np.ndarray, kind: str) -> View:
    """post_transform(aggregate of the votes + base), in the type of the weights."""
    is_extreme = aggregate in ("MIN", "MAX")
    votes = collect_votes(k, x, forest, aggregate, is_extreme)
    whole = k.view_of(votes.sums)
    weights, rows = whole.dtype, whole.shape[0]
    trees = len(forest.forest.roots)
    if aggregate == "AVERAGE" or base.size or votes.voted is not None:
        base_values = k.constant(base, TensorType(base.dtype, base.shape)) if base.size else None
        with k.nest(whole.shape) as (row, target):
            score = whole.at((row, target))
            if votes.voted is not None:
                score = k.select(k.load(votes.voted, (row, target)), score, k.const(0.0, weights))
            if aggregate == "AVERAGE":
                score = k.div(score, k.const(trees, weights))
            if base_values is not None:
                score = k.add(score, base_values.at((target,)))
            k.store(votes.sums, (row, target), score)
    transform_rows(k, votes.sums, (rows, forest.targets), kind)
    return whole


class ClassRules(Struct, frozen=True):
    """What decides between classes besides the votes: base values, the post transform, and which weights there are."""

    labels: np.ndarray
    base: np.ndarray
    transform: str
    is_single: bool
    all_positive: bool


def classify(k: NativeBuilder, x: View, forest: VotingForest, rules: ClassRules) -> list[View]:
    """The labels, and the scores as float32."""
    votes = collect_votes(k, x, forest, "SUM", forest.targets > 1)
    rows = k.view_of(votes.sums).shape[0]
    chosen = Chosen.of_rows(k, rows)
    if forest.targets == 2:
        scores = _choose_of_two(k, votes, rules, chosen.buffer)
    else:
        scores = votes.sums
        _choose_of_many(k, votes, rules, chosen.buffer, forest.targets)
        transform_rows(k, scores, (rows, forest.targets), rules.transform)
    return [chosen.labels(k, rules.labels), cast_view(k, k.view_of(scores), FLOAT32)]


def _choose_of_many(k: NativeBuilder, votes: NativeVotes, rules: ClassRules, chosen: Buffer, targets: int) -> None:
    """The first of the largest scores among the classes that have one; the base values are added."""
    sums, base = votes.sums, rules.base
    least = k.const(-np.inf, sums.dtype)
    is_known = votes.voted is None and not votes.always.all()
    always = k.constant(votes.always, TensorType(BOOL, votes.always.shape)) if is_known else None
    with k.nest(k.view_of(sums).shape[:1]) as (row,):
        if base.size:
            values = k.constant(base, TensorType(base.dtype, base.shape))
            with k.nest((targets,)) as (target,):
                k.store(sums, (row, target), k.add(k.load(sums, (row, target)), values.at((target,))))

        def score(target: Expr) -> Expr:
            own = k.load(sums, (row, target))
            if base.size or targets == 1:
                return own
            if votes.voted is not None:
                return k.select(k.load(votes.voted, (row, target)), own, least)
            return own if always is None else k.select(always.at((target,)), own, least)

        k.store(chosen, (row,), first_largest(k, targets, score, sums.dtype))


def _choose_of_two(k: NativeBuilder, votes: NativeVotes, rules: ClassRules, chosen: Buffer) -> Buffer:
    """The rules of `TreeEnsembleClassifier._two_classes`; the scores of both classes."""
    sums, base, kind = votes.sums, rules.base, rules.transform
    rows, dtype = k.view_of(sums).shape[0], sums.dtype
    zero, add = k.const(0.0, dtype), [k.const(value.item(), dtype) for value in base]
    pair = k.temporary(dtype, (rows, 2), "pair")
    only = k.temporary(dtype, (rows,), "first")
    threshold = 0.5 if rules.is_single and rules.all_positive else 0.0
    with k.nest((rows,)) as (row,):
        first, second = (k.let(k.load(sums, (row, k.const(n)))) for n in (0, 1))
        has_first, has_second = (k.let(votes.has_vote(k, row, n)) for n in (0, 1))
        if len(add) == 2:
            second = k.let(k.select(has_second, k.add(add[1], first), k.add(second, add[1])))
            first = k.let(k.select(has_second, k.apply("neg", second), k.add(first, add[0])))
        elif len(add) == 1:
            first = k.let(k.add(first, add[0]))
        deciding = k.select(has_second, second, k.select(has_first, first, zero))
        is_second = k.compare("gt", deciding, k.const(threshold, dtype))
        k.store(chosen, (row,), k.select(is_second, k.const(1), k.const(0)))
        k.store(pair, (row, k.const(0)), k.select(has_first, first, zero))
        k.store(pair, (row, k.const(1)), k.select(has_second, second, zero))
        k.store(only, (row,), first)
    transform_rows(k, pair, (rows, 2), kind)
    if len(add) < 2 and (rules.is_single or not add) and not votes.always[1]:
        with k.nest((rows,)) as (row,):
            is_alone = k.apply("not", votes.has_vote(k, row, 1))
            with k.when(is_alone):
                opposite = not (rules.is_single and rules.all_positive)
                for n, score in enumerate(both_classes(k, k.load(only, (row,)), kind, opposite)):
                    k.store(pair, (row, k.const(n)), score)
    return pair
