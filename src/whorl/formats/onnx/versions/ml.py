"""ai.onnx.ml: LabelEncoder before version 4, tree ensembles before 3 and 5, and attributes that must stay away."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import asdict

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64, STRING, name_of
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import tensor
from whorl.ops.ml.forest import MEMBER, MODES
from whorl.ops.ml.labels import LabelEncoder
from whorl.ops.ml.tabular import TRANSFORMS
from whorl.ops.ml.trees import AGGREGATES, TreeEnsemble

DOMAIN = "ai.onnx.ml"
KINDS = {STRING: "strings", INT64: "int64s", FLOAT32: "floats"}


@importer("LabelEncoder", until=1, domain=DOMAIN)
def label_encoder_1(node: OnnxNode, build: Builder) -> list[Value]:
    """A class stands for its number: strings become numbers, numbers strings."""
    classes = node.attribute("classes_strings", ())
    numbers = tuple(range(len(classes)))
    if tensor(node.required(0)).dtype == STRING:
        tables: dict[str, Any] = {"keys_strings": classes, "values_int64s": numbers}
    else:
        tables = {"keys_int64s": numbers, "values_strings": classes}
    op = make_op(node, classes_strings=None, **tables)
    return build.add_many(op, node.inputs, node.outputs, name=node.name)


@importer("LabelEncoder", since=2, until=3, domain=DOMAIN)
def label_encoder_2(node: OnnxNode, build: Builder) -> list[Value]:
    """Of equal keys the first counts, from version 4 on the last."""
    keys = next((k for k in node.attributes if k.startswith("keys_") and node.attributes[k]), "")
    values = next((k for k in node.attributes if k.startswith("values_") and node.attributes[k]), "")
    changed: dict[str, Any] = {}
    if keys and values and len(node.attributes[keys]) == len(node.attributes[values]):
        first: dict[Any, Any] = {}
        for key, value in zip(node.attributes[keys], node.attributes[values], strict=True):
            first.setdefault(key, value)
        changed = {keys: tuple(first), values: tuple(first.values())}
    return build.add_many(make_op(node, **changed), node.inputs, node.outputs, name=node.name)


def explicit_attributes(op: Op) -> dict[str, Any]:
    """The fields of an op but for lists that are empty: to other readers their presence alone means something."""
    values = asdict(op)
    return {k: v for k, v in values.items() if v is not None and not (isinstance(v, tuple) and not v)}


def write_explicit(node: Node, write: NodeWriter, **changed: Any) -> None:
    """By field names, without empty lists; `changed` replaces attributes (None drops one)."""
    attributes = explicit_attributes(node.op) | changed
    inputs = [write.name(x) for x in node.inputs]
    write.node(node.op.name, inputs, write.outputs(node), node.op.domain, node.name, **attributes)


for _name in (
    "CategoryMapper",
    "DictVectorizer",
    "FeatureVectorizer",
    "Imputer",
    "LabelEncoder",
    "LinearClassifier",
    "LinearRegressor",
    "OneHotEncoder",
    "SVMClassifier",
    "SVMRegressor",
    "Scaler",
    "StringNormalizer",
    "TfIdfVectorizer",
    "TreeEnsemble",
    "TreeEnsembleClassifier",
    "TreeEnsembleRegressor",
    "ZipMap",
):
    exporter(_name)(write_explicit)


@exporter("LabelEncoder", until=3)
def label_encoder_3(node: Node, write: NodeWriter) -> None:
    """Keys and values as lists; equal keys but the last are dropped, since here the first would count."""
    op = node.op
    assert isinstance(op, LabelEncoder)
    (keys, values), default = _tables(op), op.default
    entries = dict(zip(keys[1], values[1], strict=True))
    lists = {f"keys_{keys[0]}": tuple(entries), f"values_{values[0]}": tuple(entries.values())}
    defaults = {f"default_{values[0].removesuffix('s')}": default}
    write.node(op.name, [write.name(node.inputs[0])], write.outputs(node), DOMAIN, node.name, **lists, **defaults)


@exporter("LabelEncoder", until=1)
def label_encoder_1_out(node: Node, write: NodeWriter) -> None:
    """Only strings to their numbers 0, 1, 2..., or back."""
    op = node.op
    assert isinstance(op, LabelEncoder)
    keys, values = _tables(op)
    numbers = list(range(len(keys[1])))
    if (keys[0], values[0], list(values[1])) == ("strings", "int64s", numbers) and len(set(keys[1])) == len(numbers):
        attributes = {"classes_strings": tuple(keys[1]), "default_int64": op.default}
    elif (keys[0], values[0], list(keys[1])) == ("int64s", "strings", numbers):
        attributes = {"classes_strings": tuple(values[1]), "default_string": op.default}
    else:
        raise SaveError("does not map strings to 0, 1, 2... or back", fix="ai.onnx.ml 2 or later can say it")
    write.node(op.name, [write.name(node.inputs[0])], write.outputs(node), DOMAIN, node.name, **attributes)


def _tables(op: LabelEncoder) -> tuple[tuple[str, Any], tuple[str, Any]]:
    """Keys and values, each with the name of its kind of list."""
    for dtype, _ in (op.keys, op.values):
        if dtype not in KINDS:
            raise SaveError(f"has keys or values of type {name_of(dtype)}", fix="ai.onnx.ml 4 or later can say it")
    return (KINDS[op.keys[0]], op.keys[1]), (KINDS[op.values[0]], op.values[1])


@exporter("TreeEnsembleClassifier", until=2)
@exporter("TreeEnsembleRegressor", until=2)
def tree_ensemble_2(node: Node, write: NodeWriter) -> None:
    """Tensors become lists of floats."""
    changed: dict[str, Any] = {}
    for name, value in explicit_attributes(node.op).items():
        if not name.endswith("_as_tensor"):
            continue
        if value.dtype != np.float32:
            raise SaveError(f"{name} is {name_of(value.dtype)}", fix="ai.onnx.ml 3 or later can say it")
        changed |= {name: None, name.removesuffix("_as_tensor"): value.reshape(-1).tolist()}
    write_explicit(node, write, **changed)


@exporter("TreeEnsemble", until=4)
def tree_ensemble_4(node: Node, write: NodeWriter) -> None:
    """As a TreeEnsembleRegressor, which tells leaves by their mode, and knows neither sets nor outputs but float32."""
    op, (x,) = node.op, node.inputs
    assert isinstance(op, TreeEnsemble) and x is not None
    if tensor(x).dtype != FLOAT32 or {op.nodes_splits.dtype, op.leaf_weights.dtype} != {FLOAT32}:
        raise SaveError("computes in another type than float32", fix="ai.onnx.ml 5 can say it")
    if (op.nodes_modes == MEMBER).any():
        raise SaveError("tests membership in sets", fix="ai.onnx.ml 5 can say it")
    write.node(
        "TreeEnsembleRegressor",
        [write.name(x)],
        write.outputs(node),
        DOMAIN,
        node.name,
        aggregate_function=AGGREGATES[op.aggregate_function],
        post_transform=tuple(TRANSFORMS)[op.post_transform],
        n_targets=op.target_count,
        **_numbered(op),
    )


def _numbered(op: TreeEnsemble) -> dict[str, list[Any]]:
    """The attributes of nodes and votes, every node named by its tree and its place in a walk from the root."""
    splits, modes = op.nodes_splits.reshape(-1).tolist(), op.nodes_modes.reshape(-1).tolist()
    missing = op.nodes_missing_value_tracks_true or (0,) * len(modes)
    weights = op.leaf_weights.reshape(-1).tolist()
    nodes: list[tuple[int, int, int, str, float, int, int, int]] = []
    votes: list[tuple[int, int, int, float]] = []
    for tree, root in enumerate(op.tree_roots):
        walk = [(root, 0)]
        for number, (index, is_leaf) in enumerate(walk):
            if is_leaf:
                nodes.append((tree, number, 0, "LEAF", 0.0, 0, 0, 0))
                votes.append((tree, number, op.leaf_targetids[index], weights[index]))
                continue
            if len(walk) > 2 * len(modes) + 1:
                raise SaveError("has a tree in which a node has two parents")
            children = len(walk), len(walk) + 1
            walk += [(op.nodes_truenodeids[index], op.nodes_trueleafs[index])]
            walk += [(op.nodes_falsenodeids[index], op.nodes_falseleafs[index])]
            feature, mode = op.nodes_featureids[index], MODES[modes[index]]
            nodes.append((tree, number, feature, mode, splits[index], *children, missing[index]))
    columns = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    columns = (*columns, "missing_value_tracks_true")
    tables = {f"nodes_{name}": list(column) for name, column in zip(columns, zip(*nodes, strict=True), strict=True)}
    voted = zip(("treeids", "nodeids", "ids", "weights"), zip(*votes, strict=True), strict=True)
    return tables | {f"target_{name}": list(column) for name, column in voted}
