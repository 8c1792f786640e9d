"""Values that several nests read: extremes found with their places, costly elements computed once, copies left out."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import whorl
from whorl.ir.native.expressions import Apply
from whorl.ir.types import Known, TensorType
from whorl.kernel.program import For, While
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import all_statements, expressions
from whorl.lowering.graphs import lower_graph

HEADER = '<ir_version: 8, opset_import: ["" : 18]>'
COLUMNS = """columns (float[24] s0, float[20, 30, 24] xs) => (float[24] s, float[20, 24] best, int64[20, 24] place) {{
  axis = Constant <value = int64[1] {{0}}> ()
  s, best, place = Scan (s0, xs) <num_scan_inputs = 1, body = step (float[24] s, float[30, 24] x)
    => (float[24] s_out, float[24] b, int64[24] p) {{
    y = Add (x, s)
    b = Reduce{what} <keepdims = 0> (y, axis)
    p = Arg{what} <axis = 0, keepdims = 0, select_last_index = {last}> (y)
    s_out = Identity (b)
  }}>
}}"""
DECAY = """decay (float[6, 16] h0, float[9, 16] xs) => (float[6, 16] h, float[9, 6] ys) {
  axis = Constant <value = int64[1] {1}> ()
  h, ys = Scan (h0, xs) <num_scan_inputs = 1, body = step (float[6, 16] h, float[16] x)
    => (float[6, 16] h_out, float[6] y) {
    e = Exp (h)
    u = Mul (e, x)
    h_out = Tanh (u)
    w = Mul (h_out, x)
    y = ReduceSum <keepdims = 0> (w, axis)
  }>
}"""


def both(text: str, feeds: dict[str, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The outputs by the interpreter, and by native code."""
    data = onnx.parser.parse_model(f"{HEADER} {text}").SerializeToString()
    actual = []
    for backend in ("interpreter", "native"):
        options = whorl.SessionOptions()
        options.backend = backend
        actual.append(whorl.InferenceSession(data, options).run(None, feeds))
    return actual[0], actual[1]


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("what", ["Max", "Min"])
def test_extremes_of_columns_with_their_locations_equal_the_interpreter(what: str, last: int) -> None:
    rng = np.random.default_rng(last)
    xs = np.trunc(rng.standard_normal((20, 30, 24)) * 2).astype(np.float32)
    xs[5, 7, 3] = xs[5, 9, 3] = np.nan
    xs[6, :, 4] = -np.inf
    feeds = {"s0": np.zeros(24, np.float32), "xs": xs}
    expected, actual = both(COLUMNS.format(what=what, last=last), feeds)
    for a, b in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(a, b)


def test_costly_state_that_a_sum_reads_is_computed_once() -> None:
    module = whorl.load(onnx.parser.parse_model(f"{HEADER} {DECAY}").SerializeToString())
    facts = [Known(TensorType(np.dtype(np.float32), shape)) for shape in ((6, 16), (9, 16))]
    program = lower_graph(module.main, facts).program
    parts = {p for s in all_statements(program.body) for e in expressions(s) for p in parts_in_order(e)}
    assert sum(isinstance(p, Apply) and p.op == "tanh" for p in parts) == 1
    assert "swap" not in str(program)


def test_costly_state_that_a_sum_reads_equals_the_interpreter() -> None:
    rng = np.random.default_rng(0)
    feeds = {name: rng.standard_normal(s).astype(np.float32) for name, s in (("h0", (6, 16)), ("xs", (9, 16)))}
    expected, actual = both(DECAY, feeds)
    for a, b in zip(expected, actual, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


RESET = """reset (double[16] v0, double[16] u0, double[4] xs) => (double[16] v, double[16] u, double[4, 16] rows) {
  v, u, rows = Scan (v0, u0, xs) <num_scan_inputs = 1, body = step (double[16] v, double[16] u, double x)
    => (double[16] v_out, double[16] u_out, double[16] row) {
    top = Constant <value = double {1.5}> ()
    low = Constant <value = double {-0.5}> ()
    a = Mul (v, v)
    b = Sub (a, u)
    c = Add (b, x)
    d = Div (c, top)
    e = Add (v, d)
    high = Greater (e, top)
    v_out = Where (high, low, e)
    f = Sub (v_out, low)
    g = Mul (f, x)
    h = Sub (g, u)
    i = Add (u, h)
    j = Mul (i, v_out)
    again = Greater (v_out, low)
    k = Add (j, top)
    l = Where (again, k, j)
    m = Mul (l, l)
    n = Add (m, l)
    o = Sub (n, l)
    u_out = Where (high, o, l)
    row = Add (u_out, v_out)
  }>
}"""


def test_states_that_read_each_other_are_computed_in_one_nest() -> None:
    module = whorl.load(onnx.parser.parse_model(f"{HEADER} {RESET}").SerializeToString())
    facts = [Known(TensorType(np.dtype(np.float64), shape)) for shape in ((16,), (16,), (4,))]
    program = lower_graph(module.main, facts).program
    (loop,) = [s for s in all_statements(program.body) if isinstance(s, While)]
    (nest,) = [s for s in loop.body if isinstance(s, For)]
    parts = {p for s in all_statements(nest.body) for e in expressions(s) for p in parts_in_order(e)}
    assert sum(isinstance(p, Apply) and p.op == "div" for p in parts) == 1
    rng = np.random.default_rng(0)
    feeds = {"v0": rng.normal(size=16), "u0": rng.normal(size=16), "xs": rng.normal(size=4)}
    expected, actual = both(RESET, feeds)
    for a, b in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(a, b)
