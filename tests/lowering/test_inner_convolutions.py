"""Filters that an inner loop or a branch captures are laid out once, before the outermost loop."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper, parser

import whorl
from whorl.ir.types import Known, TensorType
from whorl.lowering.graphs import lower_graph

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
nested (float[1, 4, 6, 6] x, int64 n) => (float[1, 4, 6, 6] y) <float[4, 4, 3, 3] w, float[4] b, float[4] v> {
  yes = Constant <value = bool {1}> ()
  y = Loop (n, yes, x) <body = outer (int64 i, bool c, float[1, 4, 6, 6] h) => (bool c2, float[1, 4, 6, 6] h2) {
    c2 = Identity (c)
    g = Loop (n, yes, h) <body = inner (int64 j, bool d, float[1, 4, 6, 6] k) => (bool d2, float[1, 4, 6, 6] k2) {
      d2 = Identity (d)
      p = Conv <pads = [1, 1, 1, 1]> (k, w, b)
      q = BatchNormalization (p, v, b, b, v)
      k2 = Relu (q)
    }>
    two = Constant <value = int64 {2}> ()
    z = Mod (i, two)
    odd = Cast <to = 9> (z)
    h2 = If (odd) <
      then_branch = left () => (a1) { a1 = Conv <pads = [1, 1, 1, 1]> (g, w, b) },
      else_branch = right () => (a2) { a3 = Conv <pads = [1, 1, 1, 1]> (g, w) a2 = Tanh (a3) }
    >
  }>
}"""


def test_filters_of_inner_loops_and_branches_are_laid_out_before() -> None:
    rng, model = np.random.default_rng(0), parser.parse_model(TEXT)
    weights = {"w": 0.2 * rng.standard_normal((4, 4, 3, 3)), "b": rng.standard_normal(4), "v": rng.uniform(1, 2, 4)}
    for name, array in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    feeds = {"x": rng.standard_normal((1, 4, 6, 6)).astype(np.float32), "n": np.array(3)}
    results = []
    for backend in ("interpreter", "native"):
        options = whorl.SessionOptions()
        options.backend = backend
        results.append(whorl.InferenceSession(model, options).run(None, feeds)[0])
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-4)
    region = whorl.load(model).main
    facts = [Known(TensorType(feeds[a.name].dtype, feeds[a.name].shape)) for a in region.arguments]
    graph = lower_graph(region, facts)
    filters = [array for array in graph.constants if array.shape == (1, 4 * 4 * 9)]
    assert len(filters) == 3
    assert not graph.program.calls
