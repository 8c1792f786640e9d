"""Depthwise convolutions of images that lie channel by channel, in sessions: against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser
from ops.windows.sessions import run

from whorl.kernels.windows import WindowAxis
from whorl.ops.windows.native_planes import MOST_TAPS, goes_by_planes

CHANNELS = 6
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
main (float[{x}] x, float[N, 6, {y}] r) => (y) <float[6, 1, {kernel}] w, float[6] b> {{
  {body}
}}"""
CONV = "c = Conv <group = 6, {attributes}> (x, w, b)"
BODIES = {
    "alone": "y = Identity (c)",
    "limits": "y = Relu (c)",
    "a sum": "s = Add (c, r)  y = Relu (s)",
    "a sum over what is read no more": "a = Abs (r)  s = Add (c, a)  y = Relu (s)",
    "joined features": "y = Concat <axis = 1> (r, c)",
}
IMAGES = {
    "rows and columns": ((9, 21), (3, 3), "pads = [1, 1, 1, 1]", (9, 21)),
    "steps of two": ((10, 35), (5, 5), "pads = [2, 2, 2, 2], strides = [2, 2]", (5, 18)),
    "a row": ((40,), (4,), "pads = [3, 0], dilations = [1]", (40,)),
    "steps of three": ((4, 40), (2, 3), "strides = [1, 3]", (3, 13)),
    "a kernel as large as the image": ((7, 11), (7, 11), "", (1, 1)),
    "many taps": ((12, 13), (10, 10), "", (3, 4)),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("lengths", ["known", "any batch", "any length"])
def test_result_is_that_of_the_interpreter(body: str, image: str, lengths: str) -> None:
    x, kernel, attributes, y = IMAGES[image]
    shape = [str(n) for n in (2, CHANNELS, *x)]
    if lengths != "known":
        shape[0] = "N"
    made = [str(n) for n in y]
    if lengths == "any length":
        shape[-1], made[-1] = "L", "M"
    conv = CONV.format(attributes=attributes).replace(", >", ">")
    text = TEXT.format(
        x=", ".join(shape), y=", ".join(made), kernel=", ".join(map(str, kernel)), body=f"{conv}  {body}"
    )
    model, rng = parser.parse_model(text), np.random.default_rng(0)
    for name, length in (("w", (CHANNELS, 1, *kernel)), ("b", (CHANNELS,))):
        model.graph.initializer.append(numpy_helper.from_array(rng.standard_normal(length).astype(np.float32), name))
    feeds = {"x": (2, CHANNELS, *x), "r": (2, CHANNELS, *y)}
    feeds = {name: rng.standard_normal(length).astype(np.float32) for name, length in feeds.items()}
    data = model.SerializeToString()
    expected = run(data, "interpreter", feeds)
    results = [run(data, "native", feeds, threads) for threads in (1, 2)]
    np.testing.assert_allclose(results[0], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(results[1], results[0])


@pytest.mark.parametrize(
    ("kernel", "stride", "depth", "features", "expected"),
    [(3, 1, 1, 1, True), (3, 2, 1, 1, True), (3, 3, 1, 1, False), (3, 1, 2, 1, False), (3, 1, 1, 2, False)],
)
def test_windows_over_one_channel_by_steps_of_two_at_most(
    kernel: int, stride: int, depth: int, features: int, expected: bool
) -> None:
    axis = WindowAxis(30, kernel, stride, 1, 0, 9)
    assert goes_by_planes([axis], depth, features) == goes_by_planes([axis, axis], depth, features) == expected
    assert not goes_by_planes([axis, axis, axis], depth, features)
    assert not goes_by_planes([WindowAxis(200, MOST_TAPS + 1, stride, 1, 0, 9)], depth, features)
