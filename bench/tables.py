"""How long do models of rows of numbers take: forests, linear models and support vectors of ai.onnx.ml?

Random models in the sizes that scikit-learn's exporters write, on batches of 1, 32 and 1000 rows. whorl and onnxruntime
run in turns on one thread; the results are compared first. Target: at most 1.2 times what onnxruntime needs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from measuring import US, Measurement, cpu, in_turns, repeated, report, use_one_thread

use_one_thread()

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import whorl

ROUNDS = 9
PEER = "onnxruntime"
TIMES = 1.2
"""How much longer than onnxruntime whorl may take."""
BATCHES = (1, 32, 1000)
FEATURES = 20
RNG = np.random.default_rng(0)


def forest(trees: int, depth: int, classes: int = 0) -> onnx.NodeProto:
    """Full trees of random thresholds; a vote of each leaf for each class, or for the one target."""
    count, inner = 2 ** (depth + 1) - 1, 2**depth - 1
    each = np.arange(count)
    is_inner = each < inner
    total = trees * count
    nodes = {
        "nodes_treeids": np.repeat(np.arange(trees), count),
        "nodes_nodeids": np.tile(each, trees),
        "nodes_featureids": np.where(np.tile(is_inner, trees), RNG.integers(FEATURES, size=total), 0),
        "nodes_values": RNG.normal(size=total).astype(np.float32),
        "nodes_truenodeids": np.tile(np.where(is_inner, 2 * each + 1, 0), trees),
        "nodes_falsenodeids": np.tile(np.where(is_inner, 2 * each + 2, 0), trees),
    }
    targets = max(1, classes)
    leaves = np.repeat(np.arange(inner, count), targets)
    prefix, kind = ("class", "Classifier") if classes else ("target", "Regressor")
    votes = {
        f"{prefix}_treeids": np.repeat(np.arange(trees), len(leaves)),
        f"{prefix}_nodeids": np.tile(leaves, trees),
        f"{prefix}_ids": np.tile(np.arange(targets), trees * (count - inner)),
        f"{prefix}_weights": RNG.random(trees * len(leaves)).astype(np.float32),
    }
    more = {"classlabels_int64s": range(classes)} if classes else {"n_targets": 1}
    modes = ["BRANCH_LEQ"] * inner + ["LEAF"] * (count - inner)
    lists = {name: array.tolist() for name, array in (nodes | votes).items()}
    return node(f"TreeEnsemble{kind}", 1 + bool(classes), nodes_modes=modes * trees, **lists, **more)


def node(op: str, outputs: int, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, ["x"], ["y", "z"][:outputs], domain="ai.onnx.ml", **attributes)


def numbers(*shape: int) -> list[float]:
    return RNG.normal(size=shape).astype(np.float32).reshape(-1).tolist()


def nodes() -> Iterator[tuple[str, onnx.NodeProto]]:
    """What is measured, with its titles."""
    yield "100 trees of depth 3", forest(100, 3)
    yield "100 trees of depth 10", forest(100, 10)
    yield "100 trees of depth 10 for 3 classes", forest(100, 10, 3)
    yield "500 trees of depth 10", forest(500, 10)
    classes = {"coefficients": numbers(3, FEATURES), "intercepts": numbers(3), "classlabels_ints": range(3)}
    yield "linear model of 3 classes", node("LinearClassifier", 2, post_transform="SOFTMAX", **classes)
    for kernel in ("RBF", "POLY"):
        vectors = {"coefficients": numbers(500), "support_vectors": numbers(500, FEATURES), "n_supports": 500}
        parameters = {"kernel_type": kernel, "kernel_params": [0.05, 0.5, 3.0], "rho": [0.5]}
        yield f"500 support vectors, {kernel}", node("SVMRegressor", 1, **vectors, **parameters)
    yield "scaler", node("Scaler", 1, offset=numbers(FEATURES), scale=numbers(FEATURES))
    yield "normalizer", node("Normalizer", 1, norm="L2")


def model_of(node: onnx.NodeProto) -> bytes:
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["rows", FEATURES])
    kinds = [onnx.TensorProto.FLOAT] if len(node.output) == 1 else [onnx.TensorProto.INT64, onnx.TensorProto.FLOAT]
    results = [helper.make_tensor_value_info(name, t, None) for name, t in zip(node.output, kinds, strict=True)]
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    graph = helper.make_graph([node], "table", [x], results)
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def measured(what: str, node: onnx.NodeProto) -> Iterator[Measurement]:
    data = model_of(node)
    own, options = whorl.SessionOptions(), onnxruntime.SessionOptions()
    own.intra_op_num_threads = options.intra_op_num_threads = options.inter_op_num_threads = 1
    ours = whorl.InferenceSession(data, own)
    theirs = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    for rows in BATCHES:
        x = RNG.normal(size=(rows, FEATURES)).astype(np.float32)
        start = time.perf_counter()
        results = ours.run(None, {"x": x})
        first = time.perf_counter() - start
        for mine, other in zip(results, theirs.run(None, {"x": x}), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4, err_msg=what)
        runs = {US: partial(ours.run, None, {"x": x}), PEER: partial(theirs.run, None, {"x": x})}
        each = in_turns({name: repeated(partial(cpu, run)) for name, run in runs.items()}, ROUNDS)
        micro = {name: 1e6 * seconds for name, seconds in each.items()}
        title = f"{what}, {rows} rows (first run {1e3 * first:.0f} ms)"
        yield Measurement(title, "us", micro, TIMES * micro[PEER])


def measurements() -> Sequence[Measurement]:
    return [measurement for what, each in nodes() for measurement in measured(what, each)]


if __name__ == "__main__":
    onnxruntime.set_default_logger_severity(3)
    sys.exit(report((__doc__ or "").partition("\n")[0], measurements))
