"""What leaves inner loops and branches: filters and matrices that are laid out once, and products of slices."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser
from passes.bits import copied, interpreted
from passes.programs import read

import whorl
from whorl.ir.types import Known, TensorType
from whorl.lowering.graphs import lower_graph
from whorl.lowering.inner_loops import is_read, move_out, products_of_slices
from whorl.lowering.products import laid_out
from whorl.ops.control.flow import Loop

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
    filters = [array for array in graph.arrays if array.shape == (1, 4 * 4 * 9)]
    assert len(filters) == 3
    assert not graph.program.calls


INNER = """main(%n: int64[], %x: float32[{shape}], %h: float32[36], %w: float32[36, 20]) {{
  %y: float32[36], %q: float32[k, 36] = Loop({trip}, _, %h, %x, %w)
    {{carried = 1, scanned = (Scanned(axis = {axis}, reverse = {back}),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[36], %v: float32[20], %m: float32[36, 20]) {{
    %t: float32[20, 36] = Transpose(%m)
    %p: float32[36] = MatMul(%v, %t)
    %a: float32[36] = Add(%s, %p)
    return %g, %a, %p
  }}
  return y = %y, q = %q
}}"""


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize(("axis", "back"), [(0, False), (0, True), (1, False), (-1, True)])
@pytest.mark.parametrize("trip", ["_", "%n"])
def test_products_of_all_slices_are_taken_before_the_loop(steps: int, axis: int, back: bool, trip: str) -> None:
    shape = (steps, 20) if axis == 0 else (20, steps)
    text = INNER.format(shape=", ".join(map(str, shape)), axis=axis, back=back, trip=trip)
    module = read(text)
    result = copied(module)
    (node,) = result.main.nodes
    body = node.regions[0]
    transposed = body.nodes[0].outputs[0]
    body.nodes = [n for each in body.nodes for n in laid_out(each, {transposed})]
    moved = move_out(node, None)
    assert [each.op.name for each in moved] == ["Transpose", "InPanels"] and not is_read(body, transposed)
    before = products_of_slices(node) if trip == "_" else []
    assert ("PanelProduct" in {each.op.name for each in before}) is (trip == "_")
    assert isinstance(node.op, Loop) and len(node.op.scanned) == 1 + (trip == "_")
    result.main.nodes = [*moved, *before, node]
    rng = np.random.default_rng(0)
    feeds = {"x": rng.integers(-3, 4, shape), "h": rng.integers(-3, 4, 36), "w": rng.integers(-3, 4, (36, 20))}
    arrays = {"n": np.array(steps - 1), **{name: x.astype(np.float32) for name, x in feeds.items()}}
    for a, b in zip(interpreted(module, arrays) or (), interpreted(result, arrays) or (), strict=True):
        np.testing.assert_array_equal(b, a)


def test_only_matrices_that_follow_from_expected_values_move() -> None:
    module = read(INNER.format(shape="3, 20", axis=0, back=False, trip="_"))
    (node,) = module.main.nodes
    body = node.regions[0]
    body.nodes = [n for each in body.nodes for n in laid_out(each, {body.nodes[0].outputs[0]})]
    assert move_out(node, set()) == [] and len(move_out(node, {node.inputs[-1]} - {None})) == 2  # type: ignore[arg-type]
