"""Native forms of convolutions that normalize what they read, in sessions: against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser
from ops.windows.sessions import run

from whorl.kernels.windows import WindowAxis
from whorl.ops.windows.native_normalized import takes_in_normalization

CHANNELS = 40
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
main ({dtype}[{batch}, 40, {rows}, {columns}] x, int64 n) => (y) <{dtype}[40, 40, 1, 1] w, {dtype}[40] b,
  {dtype}[40] scale, {dtype}[40] shift, {dtype}[40] mean, {dtype}[40] variance, {dtype}[40, 1, 1] factor> {{
  {body}
}}"""
NORMAL = """m = BatchNormalization (x, scale, shift, mean, variance)  f = Mul (factor, m)  r = Relu (f)
  c = Conv (r, w, b)"""
BODIES = {
    "alone": f"{NORMAL}  y = Identity (c)",
    "a sum": f"{NORMAL}  s = Add (c, x)  y = Relu (s)",
    "one after the other": f"""{NORMAL}  m2 = BatchNormalization (c, scale, shift, mean, variance)  r2 = Relu (m2)
  c2 = Conv (r2, w)  y = Relu (c2)""",
    "a transposed image": f"t = Transpose <perm = [0, 1, 3, 2]> (x)  {NORMAL.replace('(x', '(t')}  y = Abs (c)",
    "joined features": f"""{NORMAL}  j = Concat <axis = 1> (x, c)  half = Constant <value = float {{0.5}}> ()
  h = CastLike (half, x)  a = Add (j, h)  left, right = Split <axis = 1> (a)  y = Conv (right, w)""",
    "a loop": """yes = Constant <value = bool {1}> ()
  y = Loop (n, yes, x) <body = step (int64 i, bool d, h) => (d2, h2) {
    d2 = Identity (d)
    k = BatchNormalization (h, scale, shift, mean, variance)
    r = Relu (k)
    h2 = Conv (r, w, b)
  }>""",
}


def model(body: str, batch: int | str, rows: int | str, columns: int, dtype: str, mean: float = 0) -> bytes:
    """A model with drawn weights; the means of its channels lie around a number."""
    result = parser.parse_model(TEXT.format(body=body, batch=batch, rows=rows, columns=columns, dtype=dtype))
    rng, narrow = np.random.default_rng(0), np.float32 if dtype == "float" else np.float64
    numbers = {name: rng.standard_normal(CHANNELS) for name in ("b", "scale", "shift", "mean")}
    numbers["mean"] += mean
    numbers |= {"variance": rng.uniform(0.5, 2, CHANNELS), "factor": rng.standard_normal((CHANNELS, 1, 1))}
    numbers["w"] = 0.1 * rng.standard_normal((CHANNELS, CHANNELS, 1, 1))
    for name, array in numbers.items():
        result.graph.initializer.append(numpy_helper.from_array(array.astype(narrow), name))
    return result.SerializeToString()


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize(("batch", "rows"), [(1, 13), (2, 13), ("N", 13), (1, "H"), (1, 2)])
@pytest.mark.parametrize("dtype", ["float", "double"])
def test_result_is_that_of_the_interpreter(body: str, batch: int | str, rows: int | str, dtype: str) -> None:
    data = model(body, batch, rows, 13, dtype)
    shape = (3 if batch == "N" else batch, CHANNELS, 13 if rows == "H" else rows, 13)
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32 if dtype == "float" else np.float64)
    feeds = {"x": x, "n": np.array(3)}
    expected = run(data, "interpreter", feeds)
    results = [run(data, "native", feeds, threads) for threads in (1, 2)]
    np.testing.assert_allclose(results[0], expected, rtol=1e-4, atol=2e-5)
    np.testing.assert_array_equal(results[1], results[0])


def test_what_is_no_number_is_the_interpreters() -> None:
    data = model(BODIES["alone"], 1, 13, 13, "float")
    x = np.random.default_rng(1).standard_normal((1, CHANNELS, 13, 13)).astype(np.float32)
    x[0, 3, 4, [5, 6, 7]] = np.nan, np.inf, -np.inf
    feeds = {"x": x, "n": np.array(3)}
    results = [run(data, backend, feeds) for backend in ("native", "interpreter")]
    np.testing.assert_allclose(*results, rtol=1e-4, atol=2e-5)
    assert np.isnan(results[0][0, :, 4, 5]).all() and np.isinf(results[0][0, :, 4, 6:8]).any()


def test_channels_far_from_zero_are_the_interpreters() -> None:
    data = model(BODIES["alone"], 1, 13, 13, "float", mean=1e5)
    x = (1e5 + np.random.default_rng(1).standard_normal((1, CHANNELS, 13, 13))).astype(np.float32)
    feeds = {"x": x, "n": np.array(3)}
    np.testing.assert_allclose(*(run(data, b, feeds) for b in ("native", "interpreter")), rtol=1e-5, atol=1e-5)


PLAIN = WindowAxis(8, 1, 1, 1, 0, 8)


@pytest.mark.parametrize(
    ("axes", "features", "expected"),
    [
        ([PLAIN, PLAIN], 24, True),
        ([PLAIN, PLAIN], 23, False),
        ([PLAIN], 24, False),
        ([WindowAxis(32, 1, 1, 1, 0, 32)], 24, True),
        ([PLAIN, WindowAxis(8, 1, 1, 1, 1, 10)], 24, False),
        ([PLAIN, WindowAxis(8, 1, 1, 1, 0, 9)], 24, False),
        ([PLAIN, WindowAxis(8, 1, 2, 1, 0, 4)], 24, False),
        ([PLAIN, WindowAxis(8, 3, 1, 1, 1, 8)], 24, False),
    ],
)
def test_windows_are_the_elements_themselves(axes: list[WindowAxis], features: int, expected: bool) -> None:
    assert takes_in_normalization(axes, features) == expected
