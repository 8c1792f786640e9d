"""What a region does once instead of in every iteration: matrices in panels, products of all slices together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import numpy_helper
from onnx_text import model

import whorl
from whorl.ir.types import Known
from whorl.kernel.program import Call, Statement, While
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.graphs import lower_graph
from whorl.runtime.compiled.compile_graph import compile_graph
from whorl.runtime.compiled.launch import Launch

STEPS, WIDTH = 6, 24
TENSORS = {
    name: np.random.default_rng(n).standard_normal(shape).astype(np.float32) * 0.2
    for n, (name, shape) in enumerate({"w": (24, 24), "r": (24, 24), "wr": (48, 24), "b": (24,)}.items())
}
HEAD = "main (float[6, 1, 24] xs, float[1, 24] h0) => (float[1, 24] last, float[6, 1, 24] ys)"
SCAN = f"""{HEAD} {{
  last, ys = Scan <num_scan_inputs = 1 REVERSE, body = step (float[1, 24] h, float[1, 24] x)
    => (float[1, 24] next, float[1, 24] y) {{ BODY
    next = Tanh (s)
    y = Identity (next)
  }}> (h0, xs)
}}"""
LOOP = f"""{HEAD} {{
  n = Constant <value = int64 {{6}}> ()
  yes = Constant <value = bool {{1}}> ()
  last, ys = Loop <body = step (int64 i, bool still, float[1, 24] h) => (bool on, float[1, 24] next, float[1, 24] y) {{
    on = Identity (still)
    x = Gather <axis = 0> (xs, i) BODY
    next = Tanh (s)
    y = Identity (next)
  }}> (n, yes, h0)
}}"""
COUNTED = """first = Constant <value = int64 {0}> ()
  shape = Shape (xs)
  n = Gather (shape, first)"""
TWO_PRODUCTS = """
    p = MatMul (x, w)
    q = MatMul (h, r)
    s = Add (p, q)"""
COMBINED = """
    xh = Concat <axis = -1> (x, h)
    s = MatMul (xh, wr)"""
COMBINED_GEMM = """
    xh = Concat <axis = 1> (x, h)
    s = Gemm <alpha = 0.5, beta = 2.0> (xh, wr, b)"""


def loaded(text: str) -> whorl.Module:
    proto = model(text, opset=18)
    named = {name: array for name, array in TENSORS.items() if any(f"{c}{name}{d}" in text for c in " (" for d in ",)")}
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in named.items())
    return whorl.load(proto.SerializeToString())


def program_of(module: whorl.Module) -> GraphProgram:
    return lower_graph(module.main, [Known(v.type) for v in module.main.arguments])


def calls(statements: list[Statement]) -> Iterator[Call]:
    """The kernels that statements call outside inner loops."""
    for statement in statements:
        if isinstance(statement, Call):
            yield statement
        elif not isinstance(statement, While):
            yield from calls(getattr(statement, "body", []))


def inside(program: GraphProgram) -> list[Call]:
    """The kernels that the loop calls in every iteration."""
    (loop,) = [s for s in program.program.body if isinstance(s, While)]
    return list(calls(loop.body))


def check(
    module: whorl.Module, graph: GraphProgram, launch: Launch | None = None, steps: int = STEPS, batch: int = 1
) -> None:
    """The machine code gives what the interpreter gives."""
    rng = np.random.default_rng(9)
    feeds = {"xs": rng.standard_normal((steps, batch, 24)).astype(np.float32), "h0": np.zeros((batch, 24), np.float32)}
    options = whorl.SessionOptions()
    options.backend = "interpreter"
    expected = whorl.InferenceSession(module, options).run(None, feeds)
    launch = launch or compile_graph(graph)
    actual = launch.bind({"n": steps, "b": batch}).run([feeds[module.main.arguments[n].name] for n in graph.inputs])
    assert actual is not None
    for a, b in zip(expected, actual, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("body", [TWO_PRODUCTS, COMBINED, COMBINED_GEMM], ids=["two", "joined", "joined_gemm"])
@pytest.mark.parametrize("form", [SCAN, SCAN.replace("REVERSE", ", scan_input_directions = [1]"), LOOP])
def test_product_of_slices_is_taken_before_the_loop(form: str, body: str) -> None:
    module = loaded(form.replace("BODY", body).replace("REVERSE", ""))
    graph = program_of(module)
    (product,) = inside(graph)
    assert product.kernel == "packed_matmul"
    (before,) = calls(graph.program.body)
    assert before.numbers[0] == STEPS
    check(module, graph)


@pytest.mark.parametrize(
    ("form", "body", "rows"), [(SCAN, TWO_PRODUCTS, "1"), (LOOP, COMBINED, "b"), (SCAN, COMBINED_GEMM, "b")]
)
def test_product_of_as_many_slices_as_come_is_taken_before_the_loop(form: str, body: str, rows: str) -> None:
    text = form.replace("BODY", body).replace("REVERSE", "").replace("[6, 1,", f"[n, {rows},")
    counted = text.replace("n = Constant <value = int64 {6}> ()", COUNTED)
    module = loaded(counted.replace("[1, 24]", f"[{rows}, 24]"))
    graph = lower_graph(module.main, [Known(v.type) for v in module.main.arguments], takes_lengths=True)
    (product,) = inside(graph)
    assert product.kernel == "packed_matmul"
    (before,) = calls(graph.program.body)
    assert not isinstance(before.numbers[0], int)
    launch = compile_graph(graph)
    for steps in (0, 1, 2, 7, 40):
        check(module, graph, launch, steps, 1 if rows == "1" else 1 + steps // 2)


def test_panels_of_a_matrix_that_changes_are_made_once_for_a_loop() -> None:
    text = """main (float[6, 1, 24] xs, float[1, 24] h0) => (float[1, 24] last, float[6, 1, 24] ys) {
      changed = Add (w, h0)
      last, ys = Scan <num_scan_inputs = 1, body = step (float[1, 24] h, float[1, 24] x)
        => (float[1, 24] next, float[1, 24] y) {
        p = MatMul (h, changed)
        s = Add (p, x)
        next = Tanh (s)
        y = Identity (next)
      }> (h0, xs)
    }"""
    module = loaded(text.replace("(w, h0)", "(h0, w)"))
    graph = program_of(module)
    (product,) = inside(graph)
    assert product.kernel == "packed_matmul"
    check(module, graph)


def test_matrix_of_a_branch_is_laid_out_before_the_program() -> None:
    text = """main (float[6, 1, 24] xs, float[1, 24] h0) => (float[1, 24] last, float[6, 1, 24] ys) {
      zero = Constant <value = float {0.0}> ()
      last, ys = Scan <num_scan_inputs = 1, body = step (float[1, 24] h, float[1, 24] x)
        => (float[1, 24] next, float[1, 24] y) {
        total = ReduceSum <keepdims = 0> (x)
        positive = Greater (total, zero)
        p = If (positive) <then_branch = yes () => (float[1, 24] a) { a = MatMul (x, w) },
                           else_branch = no () => (float[1, 24] c) { c = MatMul (x, r) }>
        s = Add (p, h)
        next = Tanh (s)
        y = Identity (next)
      }> (h0, xs)
    }"""
    module = loaded(text)
    graph = program_of(module)
    assert [array.ndim for array in graph.arrays].count(3) == 2
    check(module, graph)


def test_matrix_converted_from_a_narrow_type_remains_narrow_in_panels() -> None:
    text = """main (float[6, 1, 24] xs, float[1, 24] h0) => (float[1, 24] last, float[6, 1, 24] ys) {
      half = Cast <to = 10> (w)
      last, ys = Scan <num_scan_inputs = 1, body = step (float[1, 24] h, float[1, 24] x)
        => (float[1, 24] next, float[1, 24] y) {
        single = Cast <to = 1> (half)
        p = MatMul (h, single)
        s = Add (p, x)
        next = Tanh (s)
        y = Identity (next)
      }> (h0, xs)
    }"""
    module = loaded(text)
    graph = program_of(module)
    assert [array.dtype.name for array in graph.arrays if array.ndim == 3] == ["float16"]
    check(module, graph)
