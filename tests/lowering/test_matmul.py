"""Native forms of matrix products, against `run`; kernels for every width of vectors; what is taken out of loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_text import model

import whorl
from lowering.looped import Case, check, compiled_run, draw
from whorl.kernel.program import Call
from whorl.kernels.product.layout import packed_shape, panel_width
from whorl.ops.linear.products import Gemm, MatMul

Shape = tuple[int, ...]
PAIRS: list[tuple[Shape, Shape]] = [
    ((3,), (3,)),
    ((1, 5), (5, 7)),
    ((0, 3), (3, 4)),
    ((2, 0), (0, 3)),
    ((17,), (17, 65)),
    ((1, 40), (40, 130)),
    ((2, 40), (40, 33)),
    ((9, 33), (33, 40)),
    ((9, 31), (31,)),
    ((2, 3, 4, 5), (5, 6)),
    ((1, 5, 16), (3, 16, 24)),
    ((2, 1, 5, 16), (3, 16, 24)),
    ((7, 1), (1, 40)),
    ((2, 2), (2, 2)),
    ((6,), (2, 6, 20)),
]
DTYPES = ["float32", "int32", *(pytest.param(t, marks=pytest.mark.slow) for t in ("float64", "uint8", "int64"))]


def product(op: Any, dtype: str, *shapes: Shape, **options: Any) -> Case:
    """Operands from -9 to 9, for sums whose rounding errors are bounded by the inner length."""
    inner = shapes[0][-1]
    return Case(op, lambda rng: [draw(rng, s, dtype, wild=0) for s in shapes], ulps=4 * inner + 8, **options)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fixed", [(), (1,), (0,)], ids=["neither_fixed", "right_fixed", "left_fixed"])
def test_matmul_agrees_for_all_ranks(dtype: str, fixed: tuple[int, ...]) -> None:
    check([product(MatMul(), dtype, *shapes, constants=fixed) for shapes in PAIRS])


def test_matmul_sums_half_precision_in_single() -> None:
    case = Case(MatMul(), lambda rng: [draw(rng, s, "float16", 0) for s in ((3, 40), (40, 50))], ulps=2)
    check([case])


@pytest.mark.parametrize("fixed", [(), (1,)], ids=["free", "fixed"])
def test_gemm_agrees(fixed: tuple[int, ...]) -> None:
    check(
        [
            product(Gemm(), "float32", (1, 20), (20, 36), (36,), constants=fixed),
            product(Gemm(transB=1), "float32", (4, 20), (36, 20), (4, 1), constants=fixed),
            product(Gemm(transB=1, alpha=0.5, beta=2.0), "float32", (1, 20), (36, 20), (), constants=fixed),
            Case(
                Gemm(transA=1, alpha=-1.5),
                lambda rng: [draw(rng, s, "float32", 0) for s in ((20, 5), (20, 36))],
                constants=fixed,
                ulps=90,
            ),
            product(Gemm(beta=0.0), "float64", (2, 20), (20, 36), (2, 36), constants=fixed),
            product(Gemm(alpha=2.0, beta=-1.0), "int32", (3, 4), (4, 5), (5,), constants=fixed),
            product(Gemm(), "float32", (2, 0), (0, 3), (3,), constants=fixed),
        ]
    )


def test_gemm_of_integers_with_broken_factors_is_run() -> None:
    case = product(Gemm(alpha=0.5), "int32", (3, 4), (4, 5), native=False)
    check([case])


# ---- loops ---------------------------------------------------------------------------------------------------


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
    given = feeds(steps, w=rng.standard_normal((24, 20)).astype(np.float32))
    expected, found = native(SCAN, given)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("steps", [0, 1, 40])
@pytest.mark.parametrize("trips", [0, 30])
def test_gathered_rows_and_transposed_weights_agree(steps: int, trips: int) -> None:
    rng = np.random.default_rng(2)
    weights = {"w": rng.standard_normal((20, 24)), "b": rng.standard_normal(20)}
    given = feeds(steps, **{name: x.astype(np.float32) for name, x in weights.items()}, n=np.array(trips))
    if trips > steps:
        with pytest.raises(whorl.RunError, match="outside"):
            native(LOOP, given)
        return
    expected, found = native(LOOP, given)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-5)


def test_fixed_matrix_is_laid_out_before_the_loop() -> None:
    run = compiled_run([product(MatMul(), "float32", (4, 20), (20, 36), constants=(1,))])
    (call,) = [s for s in run.compiled.program.program.body[0].body if isinstance(s, Call)]  # type: ignore[union-attr]
    buffer, _ = call.addresses[-1]
    assert buffer in run.compiled.program.program.buffers
    assert buffer.shape == packed_shape(20, 36, panel_width(4, buffer.dtype))
