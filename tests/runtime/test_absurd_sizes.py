"""Shapes, windows and lengths beyond all memory: an error at once, wherever the numbers come from."""

import time

import numpy as np
import pytest
from onnx import numpy_helper
from onnx_text import model

import whorl

FAR, HALF = 1 << 62, 1 << 32
F32 = np.float32
ONE, TWO, IMAGE, LINE = np.ones(1, F32), np.ones(2, F32), np.ones((1, 1, 2, 2), F32), np.ones((1, 1, 4), F32)
PAIR = np.array([HALF, HALF])


def scalar(value):
    return np.array(value)


BY_INPUTS = {
    "ConstantOfShape": ("int64[2] s", "y = ConstantOfShape(s)", {"s": PAIR}),
    "Expand": ("float[1] x, int64[2] s", "y = Expand(x, s)", {"x": ONE, "s": PAIR}),
    "Pad": ("float[2] x, int64[2] p", "y = Pad(x, p)", {"x": TWO, "p": np.array([0, FAR])}),
    "Tile": ("float[2] x, int64[1] r", "y = Tile(x, r)", {"x": TWO, "r": np.array([FAR])}),
    "Range": (
        "int64 a, int64 b, int64 c",
        "y = Range(a, b, c)",
        {"a": scalar(0), "b": scalar(FAR), "c": scalar(1)},
    ),
    "Range of tiny steps": (
        "float a, float b, float c",
        "y = Range(a, b, c)",
        {"a": scalar(F32(0)), "b": scalar(F32(1)), "c": scalar(F32(1e-30))},
    ),
    "OneHot": (
        "int64[2] x, int64 d, float[2] v",
        "y = OneHot(x, d, v)",
        {"x": np.array([0, 1]), "d": scalar(FAR), "v": TWO},
    ),
    "Resize": (
        "float[1, 1, 2, 2] x, int64[4] s",
        "y = Resize(x, , , s)",
        {"x": IMAGE, "s": np.array([1, 1, HALF, HALF])},
    ),
    "ConstantOfShape, joined": (
        "int64[1] s",
        "r = ConstantOfShape(s) t = Concat<axis = 0>(r, r) y = ReduceSum<keepdims = 0>(t)",
        {"s": np.array([FAR])},
    ),
    "HannWindow": ("int64 n", "y = HannWindow(n)", {"n": scalar(FAR)}),
    "MaxUnpool": (
        "float[1, 1, 4] x, int64[1, 1, 4] i, int64[3] s",
        "y = MaxUnpool<kernel_shape = [2]>(x, i, s)",
        {"x": LINE, "i": np.zeros((1, 1, 4), np.int64), "s": np.array([1, 1, FAR])},
    ),
}
BY_ATTRIBUTES = {
    "MaxPool": f"y = MaxPool<kernel_shape = [{FAR}], pads = [{FAR // 2}, {FAR // 2}]>(x)",
    "MaxPool of near windows": f"y = MaxPool<kernel_shape = [2], strides = [{FAR}]>(x)",
    "LpPool": f"y = LpPool<kernel_shape = [{FAR}], pads = [{FAR - 1}, {FAR - 1}]>(x)",
    "AveragePool": f"y = AveragePool<kernel_shape = [{FAR}], pads = [{FAR - 1}, {FAR - 1}]>(x)",
    "Conv": f"y = Conv<pads = [{FAR}, 0]>(x, x)",
    "Conv with dilations": f"y = Conv<dilations = [{FAR}], pads = [{FAR}, {FAR}]>(x, x)",
    "ConvTranspose": f"y = ConvTranspose<strides = [{FAR}]>(x, x)",
}
SECONDS = 20.0
"""Of CPU; a few milliseconds are usual."""


def refuse(proto, feeds):
    start = time.process_time()
    with pytest.raises(whorl.WhorlError) as caught:
        whorl.InferenceSession(proto).run(None, feeds)
    assert time.process_time() - start < SECONDS
    return str(caught.value)


@pytest.mark.parametrize("name", BY_INPUTS)
def test_size_that_a_run_meets_is_an_error_that_names_the_node(name, each_backend):
    inputs, body, feeds = BY_INPUTS[name]
    assert name.split()[0].strip(",") in refuse(model(f"main ({inputs}) => (y) {{ {body} }}"), feeds)


@pytest.mark.parametrize("name", BY_INPUTS)
def test_size_that_is_constant_is_an_error_that_names_the_node(name, each_backend):
    inputs, body, feeds = BY_INPUTS[name]
    proto = model(f"main ({inputs}) => (y) {{ {body} }}")
    passed = {value.name: value for value in proto.graph.input}
    for key, array in feeds.items():
        proto.graph.initializer.append(numpy_helper.from_array(np.asarray(array), key))
        proto.graph.input.remove(passed[key])
    assert name.split()[0].strip(",") in refuse(proto, {})


@pytest.mark.parametrize("name", BY_ATTRIBUTES)
def test_window_of_absurd_size_is_an_error_that_names_the_node(name, each_backend):
    assert name.split()[0].strip(",") in refuse(
        model(f"main (float[1, 1, 4] x) => (y) {{ {BY_ATTRIBUTES[name]} }}"), {"x": LINE}
    )


def test_window_much_larger_than_the_image_is_computed_where_it_meets_it(each_backend):
    reach = 1 << 30
    proto = model(
        f"main (float[1, 1, 4] x) => (y) {{ y = MaxPool<kernel_shape = [{reach}], pads = [{reach - 3}, 0]>(x) }}"
    )
    (y,) = whorl.InferenceSession(proto).run(None, {"x": np.array([[[1, 3, 2, 5]]], F32)})
    assert y.tolist() == [[[3, 5]]]
