"""Counting n-grams natively: as the interpreter does, for every mode, any length, and strings as well as integers."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from ops.text.test_ngrams import random_case
from runtime.native_sessions import both

from whorl.ops.text.native_ngrams import Branches


def model_of(attributes, dtype, rank):
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], **attributes)
    inputs = [helper.make_tensor_value_info("x", kind, ["n", "c"][-rank:])]
    outputs = [helper.make_tensor_value_info("y", 1, None)]
    graph = helper.make_graph([node], "main", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


@pytest.mark.parametrize("dtype", ["int32", "int64", "object"])
@pytest.mark.parametrize("seed", range(12))
def test_counts_equal_the_interpreter(seed, dtype):
    attributes, rows = random_case(seed, words=dtype == "object")
    if seed % 4 == 3:  # n-grams that share a column
        attributes["ngram_indexes"] = [n % 3 for n in attributes["ngram_indexes"]]
    tokens = rows if dtype != "object" else np.array([f"w{t}" for t in rows.ravel()], object).reshape(rows.shape)
    for x in (tokens, tokens[0], tokens[:, :1], tokens[0, :0], tokens[:0], np.tile(tokens, (2, 5))):
        made = both(model_of(attributes, dtype, x.ndim), {"x": x.astype(dtype)})
        assert [verdict.how for verdict in made.explain()] == ["native"]


def test_children_lie_in_order_of_their_tokens():
    branches = Branches.of({(0, 2): 1, (1, 3): 2, (1, 0): 3, (2, 1): 4}, [-1, 0, 1, 2, 3], 4)
    assert branches.of_root.tolist() == [-1, -1, 1, -1, -1]
    assert branches.first.tolist() == [0, 0, 2, 3, 3, 3]
    assert branches.inner.tolist() == [0, 3, 1]
    assert branches.nodes.tolist() == [3, 2, 4]
