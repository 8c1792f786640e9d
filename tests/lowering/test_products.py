"""Products in a loop body: fixed matrices in panels, products of slices and gathered rows before the loop."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model
from passes.bits import copied, interpreted
from passes.programs import read

import whorl
from lowering.looped import compiled_run, product
from whorl.ir import dims
from whorl.ir.graph import Module, Value
from whorl.kernel.program import Call, While
from whorl.kernel.walk import all_statements
from whorl.kernels.product.layout import packed_shape, panel_width
from whorl.lowering.products import InPanels, PanelProduct, ProductSum, hoist_products, laid_out, slice_captured
from whorl.ops.linear.products import Gemm, MatMul

Shape = tuple[int, ...]


def native(text: str, feeds: dict[str, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The outputs by the interpreter and by native code."""
    data = model(text, opset=18).SerializeToString()
    results = []
    for backend in ("interpreter", "native"):
        options = whorl.SessionOptions()
        options.backend = backend
        session = whorl.InferenceSession(data, options)
        results.append(session.run(None, feeds))
        if backend == "native":
            results[-1] = session.run(None, feeds)
    return results[0], results[1]


SCAN = """
recurrent (float[steps, 1, 24] xs, float[1, 20] h0, float[24, 20] w, float[20, 20] r)
  => (float[1, 20] last, float[m, 1, 20] ys) {
  last, ys = Scan <num_scan_inputs = 1, body = step (float[1, 20] h, float[1, 24] x)
    => (float[1, 20] next, float[1, 20] y) {
    p = MatMul (x, w)
    q = MatMul (h, r)
    s = Add (p, q)
    next = Tanh (s)
    y = Identity (next)
  }> (h0, xs)
}
"""
LOOP = """
recurrent (int64 n, float[steps, 1, 24] xs, float[1, 20] h0, float[20, 24] w, float[20] b, float[20, 20] r)
  => (float[1, 20] last, float[m, 1, 20] ys) {
  yes = Constant <value = bool {1}> ()
  last, ys = Loop <body = step (int64 i, bool still, float[1, 20] h) => (bool on, float[1, 20] next, float[1, 20] y) {
    on = Identity (still)
    x = Gather <axis = 0> (xs, i)
    p = Gemm <transB = 1> (x, w, b)
    q = MatMul (h, r)
    s = Add (p, q)
    next = Tanh (s)
    y = Identity (next)
  }> (n, yes, h0)
}
"""


def feeds(steps: int, **more: np.ndarray) -> dict[str, np.ndarray]:
    """Inputs so small that a rounding error dies away, step by step."""
    rng = np.random.default_rng(steps)
    shapes: dict[str, Shape] = {"xs": (steps, 1, 24), "h0": (1, 20), "r": (20, 20)}
    return {name: (rng.standard_normal(s) * 0.2).astype(np.float32) for name, s in shapes.items()} | more


@pytest.mark.parametrize("steps", [0, 1, 2, 17, 100])
def test_scanned_products_taken_before_the_loop_agree(steps: int) -> None:
    rng = np.random.default_rng(1)
    arrays = feeds(steps, w=rng.standard_normal((24, 20)).astype(np.float32))
    expected, outcome = native(SCAN, arrays)
    for a, b in zip(expected, outcome, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("steps", [0, 1, 40])
@pytest.mark.parametrize("trips", [0, 30])
def test_gathered_rows_and_transposed_weights_agree(steps: int, trips: int) -> None:
    rng = np.random.default_rng(2)
    weights = {"w": rng.standard_normal((20, 24)), "b": rng.standard_normal(20)}
    arrays = feeds(steps, **{name: x.astype(np.float32) for name, x in weights.items()}, n=np.array(trips))
    if trips > steps:
        with pytest.raises(whorl.RunError, match="outside"):
            native(LOOP, arrays)
        return
    expected, outcome = native(LOOP, arrays)
    for a, b in zip(expected, outcome, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-5)


def test_fixed_matrix_is_laid_out_before_the_loop() -> None:
    launch, _ = compiled_run([product(MatMul(), "float32", (4, 20), (20, 36), constants=(1,))])
    (loop,) = [s for s in launch.graph.program.body if isinstance(s, While)]
    (call,) = [s for s in all_statements(loop.body) if isinstance(s, Call)]
    buffer, _ = call.addresses[-1]
    assert buffer in launch.graph.program.buffers
    assert buffer.shape == packed_shape(20, 36, panel_width(4, buffer.dtype))


PRODUCTS = {
    "right": ("float32[N, 20]", "float32[20, 36]", "float32[N, 36]", "MatMul(%x, %w)", ["InPanels", "PanelProduct"]),
    "vector": ("float32[20]", "float32[20, 36]", "float32[36]", "MatMul(%x, %w)", ["InPanels", "PanelProduct"]),
    "ranks": (
        "float32[2, N, 20]",
        "float32[20, 36]",
        "float32[2, N, 36]",
        "MatMul(%x, %w)",
        ["InPanels", "PanelProduct"],
    ),
    "left": (
        "float32[20, N]",
        "float32[36, 20]",
        "float32[36, N]",
        "MatMul(%w, %x)",
        ["InPanels", "Transpose", "PanelProduct", "Transpose"],
    ),
    "left_of_vector": ("float32[20]", "float32[36, 20]", "float32[36]", "MatMul(%w, %x)", ["InPanels", "PanelProduct"]),
    "gemm": (
        "float32[N, 20]",
        "float32[36, 20]",
        "float32[N, 36]",
        "Gemm(%x, %w) {transB = 1, alpha = 0.5}",
        ["InPanels", "PanelProduct", "ProductSum"],
    ),
    "half": ("float16[N, 20]", "float16[20, 36]", "float16[N, 36]", "MatMul(%x, %w)", ["InPanels", "PanelProduct"]),
    "small": ("float32[2, 2]", "float32[2, 2]", "float32[2, 2]", "MatMul(%x, %w)", ["MatMul"]),
    "integers": ("int32[N, 20]", "int32[20, 36]", "int32[N, 36]", "MatMul(%x, %w)", ["MatMul"]),
    "turned_gemm": ("float32[20, N]", "float32[20, 36]", "float32[N, 36]", "Gemm(%x, %w) {transA = 1}", ["Gemm"]),
}


@pytest.mark.parametrize(("x", "w", "y", "op", "kinds"), PRODUCTS.values(), ids=PRODUCTS)
def test_product_by_a_fixed_matrix_reads_it_in_panels(x: str, w: str, y: str, op: str, kinds: list[str]) -> None:
    module = read(f"main(%x: {x}, %w: {w}) {{\n  %y: {y} = {op}\n  return y = %y\n}}")
    outcome = copied(module)
    (node,) = outcome.main.nodes
    outcome.main.nodes = laid_out(node, {outcome.main.arguments[1]})
    assert [node.op.name for node in outcome.main.nodes] == kinds
    rng = np.random.default_rng(0)
    shapes = [[3 if n == "N" else n for n in map(str, v.type.shape)] for v in module.main.arguments]  # type: ignore[union-attr]
    arrays = [rng.integers(-3, 4, [int(n) for n in shape]) for shape in shapes]
    feeds = {v.name: a.astype(v.type.dtype) for v, a in zip(module.main.arguments, arrays, strict=True)}  # type: ignore[union-attr]
    for a, b in zip(interpreted(module, feeds) or (), interpreted(outcome, feeds) or (), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(b, a)
    assert laid_out(node, set()) == [node], "a matrix that changes is read as it is"


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("width", [4, 16])
def test_panels_hold_the_matrix(transposed: bool, width: int) -> None:
    matrix = np.arange(35, dtype=np.float32).reshape(5, 7)
    panels = InPanels(width, transposed).run(matrix)
    other = matrix.T if transposed else matrix
    eye = np.eye(other.shape[0], dtype=np.float32)
    np.testing.assert_array_equal(PanelProduct(other.shape[1]).run(eye, panels), other)


def test_sum_after_a_product_is_that_of_gemm() -> None:
    a, b, c = (np.arange(n, dtype=np.float32).reshape(shape) for n, shape in ((6, (2, 3)), (12, (3, 4)), (4, (4,))))
    op = Gemm(alpha=0.5, beta=2.0)
    np.testing.assert_array_equal(ProductSum(op, a.dtype).run(MatMul().run(a, b), c), op.run(a, b, c))


GATHERED = """main(%n: int64[], %x: {x}, %h: float32[2]) {{
  %y: float32[2] = Loop(%n, _, %h, %x) {{carried = 1}}
  body(%i: int64[], %g: bool[], %s: float32[2], %d: {x}) {{
    %k: int64[] = Constant() {{value = int64[] <1>}}
    %j: int64[] = {index}
    %r: float32[2] = Gather(%d, {row}) {{axis = {axis}}}
    %t: float32[2] = Add(%s, %r)
    return %g, %t
  }}
  return y = %y
}}"""


def taken(length: int | Value, **how: object) -> list[int]:
    """The numbers of the captured values whose rows may be scanned."""
    fields = {"x": "float32[4, 2]", "index": "Identity(%i)", "row": "%i", "axis": 0} | how
    module: Module = read(GATHERED.format(**fields))
    (node,) = module.main.nodes
    body = node.regions[0]
    count = len(body.nodes)
    rows = slice_captured(body, body.arguments[3:], length)  # type: ignore[arg-type]
    assert len(body.nodes) == count - len(rows)
    return [number for number, _ in rows]


def test_row_of_each_iteration_is_a_slice() -> None:
    assert taken(4) == [0] and taken(4, axis=-2) == [0]


@pytest.mark.parametrize(
    ("length", "how"),
    [
        (5, {}),
        (3, {}),
        (4, {"row": "%k"}),
        (4, {"row": "%j", "index": "Add(%i, %k)"}),
        (2, {"axis": 1, "x": "float32[2, 4]"}),
    ],
    ids=["too few rows", "other rows", "one row", "next row", "columns"],
)
def test_row_that_is_none_of_its_iteration_is_gathered(length: int, how: dict) -> None:
    assert taken(length, **how) == []


@pytest.mark.parametrize(
    ("rows", "inner", "columns", "length", "count"),
    [
        (1, 20, 36, "3", 1),
        (1, 20, 36, "t", 1),
        (500, 20, 36, "3", 0),
        (32, 512, 1024, "3", 1),
        (32, 512, 1000, "3", 0),
        (300, 512, 1024, "3", 0),
        (32, 512, 1024, "t", 0),
        (32, 512, 1024, "1025", 0),
    ],
    ids=[
        "few rows",
        "few rows of any length",
        "many rows",
        "large matrix",
        "matrix near a core",
        "products larger than the matrix",
        "large matrix for any length",
        "products that take much",
    ],
)
def test_product_is_hoisted_where_less_memory_is_read(
    rows: int, inner: int, columns: int, length: str, count: int
) -> None:
    module = read(f"""main(%x: float32[{length}, {rows}, {inner}], %w: float32[{inner}, {columns}]) {{
  %y: float32[{length}, {rows}, {columns}] = Loop(_, _, %x, %w) {{scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[{rows}, {inner}], %m: float32[{inner}, {columns}]) {{
    %p: float32[{rows}, {columns}] = MatMul(%s, %m)
    return %g, %p
  }}
  return y = %y
}}""")
    body = module.main.nodes[0].regions[0]
    _, _, s, m = body.arguments
    body.nodes = [each for node in body.nodes for each in laid_out(node, {m})]
    (panels,) = (v for node in body.nodes for v in node.outputs if isinstance(node.op, InPanels))
    iterations = int(length) if length.isdecimal() else dims.name(length)
    hoisted = hoist_products(body, [s], [m], iterations, {panels}, frozenset())
    assert len(hoisted) == count and [each.columns for each in hoisted] == [columns] * count
