"""Models that the tests score, and tables for them."""

from __future__ import annotations

import numpy as np
import onnx
import pyarrow as pa

PERCEPTRON = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
perceptron (float[n, 4] x) => (float[n, 3] y, float[n] z) {
  w = Constant <value = float[4, 3] {1, -1, 0.5, 2, 0.25, -0.5, 1, 1, -2, 0.5, -1, 1}> ()
  last = Constant <value = int64[1] {1}> ()
  y = MatMul (x, w)
  z = ReduceSum <keepdims = 0> (x, last)
}
""")
HALVES = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
halves (float x, int64 count) => (float y) {
  yes = Constant <value = bool {1}> ()
  y = Loop (count, yes, x) <body = body (int64 i, bool go, float before) => (bool on, float after) {
    on = Identity (go)
    half = Constant <value = float {0.5}> ()
    product = Mul (before, half)
    after = Add (product, half)
  }>
}
""")
"""A loop of as many iterations as a row says."""
RANKS = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
ranks (float[n] x) => (float[n] y) {
  total = ReduceSum (x)
  y = Div (x, total)
}
""")
"""A model whose rows meet, though its axis has a name."""
ROOTS = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
roots (float[n, t] x, int64[n] k) => (float[n] y) {
  last = Constant <value = int64[1] {1}> ()
  column = Unsqueeze (k, last)
  chosen = GatherElements <axis = 1> (x, column)
  y = Squeeze (chosen, last)
}
""")
"""Element k of each row's list: a row fails where there is none."""


def numbers(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, 4)).astype(np.float32)


def lists(array: np.ndarray) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])


def table(rows: int) -> pa.Table:
    return pa.table({"x": lists(numbers(rows)), "id": np.arange(rows)})


def tensors(column: pa.ChunkedArray) -> np.ndarray:
    return np.stack(column.to_numpy())
