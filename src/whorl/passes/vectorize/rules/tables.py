"""Batching rules of ai.onnx.ml: rows of tables of features are more rows of one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op, Value
from whorl.ops.ml.features import (
    ArrayFeatureExtractor,
    Binarizer,
    FeatureVectorizer,
    Imputer,
    Normalizer,
    Scaler,
)
from whorl.ops.ml.labels import CategoryMapper, LabelEncoder, OneHotEncoder
from whorl.ops.ml.linear_models import LinearClassifier, LinearRegressor
from whorl.ops.ml.svm import SVMClassifier, SVMRegressor
from whorl.ops.ml.trees import TreeEnsemble, TreeEnsembleClassifier, TreeEnsembleRegressor
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Flatten, Squeeze, Unsqueeze
from whorl.ops.text.ngrams import TfIdfVectorizer
from whorl.passes.vectorize.batched import Batched, CannotVectorize, Operands
from whorl.passes.vectorize.rules.elementwise import batch_broadcasting
from whorl.passes.vectorize.rules.folding import batch_folded
from whorl.passes.vectorize.rules.indexing import batch_gather
from whorl.passes.vectorize.rules.rule import Rule
from whorl.passes.vectorize.rules.shapes import batch_flatten


def batch_table(op: Op, operands: Operands, build: Builder) -> Sequence[Batched]:
    """A vector is a table of one row."""
    tables = [_table(x, build) for x in operands if x is not None]
    return batch_folded(op, tables, (0,) * len(tables), None, build)


def _table(x: Batched, build: Builder) -> Batched:
    if x.rank != 1:
        return x
    return Batched(build.add(Unsqueeze(), x.value, build.int64(x.is_mapped), name=x.value.name), x.is_mapped)


def batch_lines(op: Op, operands: Operands, build: Builder) -> Sequence[Batched]:
    """For ops on a table whose result is a vector where the table is."""
    (x,) = operands
    assert x is not None
    (result,) = batch_table(op, operands, build)
    return [Batched(build.add(Squeeze(), result.value, build.int64(1))) if x.rank == 1 else result]


def batch_features(op: Scaler | Imputer, operands: Operands, build: Builder) -> Sequence[Batched]:
    """What is said of each feature is said of the last axis, which a number does not have."""
    (x,) = operands
    assert x is not None
    if x.rank:
        return [Batched(build.add(op, x.value))]
    column = build.add(Unsqueeze(), x.value, build.int64(1))
    return [Batched(build.add(Squeeze(), build.add(op, column), build.int64(1)))]


def batch_extractor(op: ArrayFeatureExtractor, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Columns that rows share are extracted from all; others are gathered."""
    x, indices = operands
    assert x is not None and indices is not None
    if not x.rank:
        raise CannotVectorize("an ArrayFeatureExtractor of numbers fails")
    if indices.is_mapped:
        columns = _line(indices, build)
        (picked,) = batch_gather(Gather(x.rank - 1), (x, Batched(columns)), build)
    else:
        whole = x.value
        picked = Batched(build.add(op, whole, indices.value))
    return [Batched(build.add(Unsqueeze(), picked.value, build.int64(1))) if x.rank == 1 else picked]


def _line(indices: Batched, build: Builder) -> Value:
    """The indices of each row as a vector."""
    if indices.rank == 1:
        return indices.value
    (flat,) = batch_flatten(Flatten(0), [indices], build)
    return build.add(Squeeze(), flat.value, build.int64(1))


_TABLES: tuple[type[Op], ...] = (
    FeatureVectorizer,
    LinearClassifier,
    LinearRegressor,
    SVMClassifier,
    SVMRegressor,
    TreeEnsemble,
    TreeEnsembleClassifier,
    TreeEnsembleRegressor,
)

RULES: Mapping[type[Op], Rule] = {
    **dict[type[Op], Rule].fromkeys((Binarizer, CategoryMapper, LabelEncoder, OneHotEncoder), batch_broadcasting),
    **dict[type[Op], Rule].fromkeys(_TABLES, batch_table),
    **dict[type[Op], Rule].fromkeys((Normalizer, TfIdfVectorizer), batch_lines),
    **dict[type[Op], Rule].fromkeys((Scaler, Imputer), batch_features),
    ArrayFeatureExtractor: batch_extractor,
}
