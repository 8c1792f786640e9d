"""Native forms of convolutions by transformed filters, in sessions: against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser
from ops.windows.sessions import run

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
main (float[{batch}, {channels}, {rows}, {columns}] x, int64 n) => (y) <{weights}> {{
  {body}
}}"""
ALONE = "y = Conv <pads = [1, 1, 1, 1], group = {group}> (x, w, b)"
BODIES = {
    "alone": ALONE,
    "a sum": "c = Conv <pads = [1, 1, 1, 1], group = {group}> (x, w, b)  s = Add (c, x)  y = Relu (s)",
    "a sum with what is convolved": f"r = Relu (x)  {ALONE.replace('x,', 'r,').replace('y =', 'c =')}  y = Add (c, r)",
    "a sum with what is read later": f"r = Abs (x)  {ALONE.replace('y =', 'c =')}  s = Add (c, r)  y = Mul (s, r)",
    "a sum with what ends there": f"r = Abs (x)  {ALONE.replace('y =', 'c =')}  s = Add (c, r)  y = Relu (s)",
    "joined features": ALONE.replace("y =", "c =") + "  y = Concat <axis = 1> (x, c, x)",
    "a loop": """yes = Constant <value = bool {{1}}> ()
  y = Loop (n, yes, x) <body = step (int64 i, bool d, h) => (d2, h2) {{
    d2 = Identity (d)
    k = Conv <pads = [1, 1, 1, 1], group = {group}> (h, w, b)
    h2 = Tanh (k)
  }}>""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("image", [(13, 15), (40, 34)])
@pytest.mark.parametrize(("batch", "group"), [(1, 1), (2, 1), ("N", 2)])
def test_result_is_that_of_the_interpreter(body: str, image: tuple[int, int], batch: int | str, group: int) -> None:
    channels, rng = 24 * group, np.random.default_rng(0)
    weights = {"w": 0.05 * rng.standard_normal((channels, 24, 3, 3)), "b": rng.standard_normal(channels)}
    declared = f"float[{channels}, 24, 3, 3] w, float[{channels}] b"
    rows, columns = image
    text = TEXT.format(
        batch=batch, channels=channels, rows=rows, columns=columns, weights=declared, body=body.format(group=group)
    )
    model = parser.parse_model(text)
    for name, array in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    x = rng.standard_normal((3 if batch == "N" else batch, channels, *image)).astype(np.float32)
    data, feeds = model.SerializeToString(), {"x": x, "n": np.array(3)}
    expected = run(data, "interpreter", feeds)
    results = [run(data, "native", feeds, threads) for threads in (1, 2)]
    np.testing.assert_allclose(results[0], expected, rtol=1e-4, atol=2e-5)
    np.testing.assert_array_equal(results[1], results[0])
