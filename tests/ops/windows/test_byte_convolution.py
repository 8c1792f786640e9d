"""Convolutions by constant filters of bytes by dot products of channels: exact, whatever surrounds the image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from runtime.native_sessions import both, session

from whorl.ops.windows.byte_convolution import ByteConvolution, FilterSums, FilterWords
from whorl.ops.windows.convolution import ConvInteger

U8, I8 = np.uint8, np.int8
KINDS = {U8: TensorProto.UINT8, I8: TensorProto.INT8}


def draw(dtype: Any, *shape: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    values = np.random.default_rng(sum(shape)).integers(limits.min, limits.max + 1, shape).astype(dtype)
    values.reshape(-1)[::3] = limits.max
    return values


def model(op: str, x: np.ndarray, names: list[str], constants: dict[str, Any], **attributes: Any) -> ModelProto:
    """One node on X of any batch and lengths, a zero point "z" and constants."""
    inputs = [helper.make_tensor_value_info("x", KINDS[x.dtype.type], ["n", x.shape[1], *"hwd"[: x.ndim - 2]])]
    if "z" in names:
        inputs.append(helper.make_tensor_value_info("z", KINDS[x.dtype.type], []))
    kind = TensorProto.INT32 if op == "ConvInteger" else TensorProto.UINT8
    outputs = [helper.make_tensor_value_info("y", kind, None)]
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "g", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("left", [U8, I8])
@pytest.mark.parametrize(("right", "centre"), [(I8, None), (I8, 0), (U8, 128)])
@pytest.mark.parametrize("attributes", [{}, {"pads": [1, 2, 0, 1]}, {"strides": [2, 1], "dilations": [1, 2]}])
def test_sums_are_exact_for_every_pair_of_types(left: Any, right: Any, centre: Any, attributes: dict[str, Any]) -> None:
    x, w = draw(left, 2, 9, 7, 8), draw(right, 13, 9, 3, 2)
    constants = {"w": w} | ({} if centre is None else {"c": right(centre)})
    made = both(model("ConvInteger", x, ["x", "w", "z", *constants][:3] + [*constants][1:], constants, **attributes),
                {"x": x, "z": np.array(left(77))})  # fmt: skip
    for lengths in ((1, 5, 5), (3, 30, 31)):
        other, zero = draw(left, lengths[0], 9, *lengths[1:]), np.array(left(3))
        sums = ConvInteger(**{name: tuple(value) for name, value in attributes.items()}).run(
            other, w, zero, np.array(right(centre or 0))
        )
        assert (made.run(None, {"x": other, "z": zero})[0] == sums).all()


@pytest.mark.parametrize("shape", [(1, 8, 20), (1, 12, 4, 5, 6), (0, 8, 5), (1, 8, 3)])
def test_lines_and_volumes(shape: tuple[int, ...]) -> None:
    x, w = draw(U8, *shape), draw(I8, 4, shape[1], *(3,) * (len(shape) - 2))
    both(model("ConvInteger", x, ["x", "w"], {"w": w}, pads=[1] * (2 * (len(shape) - 2))), {"x": x})


def test_small_images_of_known_lengths_are_exact() -> None:
    x, w = draw(U8, 1, 64, 7, 7), draw(I8, 30, 64, 1, 1)
    sized = model("ConvInteger", x, ["x", "w"], {"w": w})
    for dim, length in zip(sized.graph.input[0].type.tensor_type.shape.dim, x.shape, strict=True):
        dim.dim_value = length
    both(sized, {"x": x})


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scales", [1, 16])
def test_scaled_sums_are_rounded_alike(bias: bool, scales: int) -> None:
    x, w, f32 = draw(U8, 1, 8, 6, 6), draw(I8, 16, 8, 3, 3), np.float32
    zeros = np.zeros(scales, I8) if scales > 1 else np.array(0, I8)
    constants = {"s": f32(0.02), "w": w, "t": np.linspace(0.001, 0.02, scales, dtype=f32), "c": zeros, "u": f32(1.5),
                 "v": U8(120), "b": draw(I8, 16).astype(np.int32) * 99}  # fmt: skip
    names = ["x", "s", "z", "w", "t", "c", "u", "v", *["b"] * bias]
    used = {name: value for name, value in constants.items() if name in names}
    made = both(model("QLinearConv", x, names, used, pads=[1, 1, 1, 1]), {"x": x, "z": np.array(U8(131))})
    assert [(verdict.how, verdict.calls) for verdict in made.explain()] == [("native", [])]


@pytest.mark.parametrize(
    ("depth", "names", "more"),
    [
        (4, ["x", "w"], {}),
        (8, ["x", "w", "", "c"], {"c": I8(3)}),
        (8, ["x", "w"], {"auto_pad": "SAME_UPPER"}),
    ],
)
def test_other_convolutions_are_sums_of_floats(depth: int, names: list[str], more: dict[str, Any]) -> None:
    x, w = draw(U8, 1, depth, 6, 6), draw(I8, 5, depth, 3, 3)
    attributes = {name: value for name, value in more.items() if name == "auto_pad"}
    constants = {"w": w} | {name: value for name, value in more.items() if name != "auto_pad"}
    both(model("ConvInteger", x, names, constants, **attributes), {"x": x})
    assert session(model("ConvInteger", x, names, constants, **attributes)).run(None, {"x": x})[0].dtype == np.int32


@pytest.mark.parametrize("dtype", [U8, I8])
def test_words_and_sums_are_of_filters_with_sign(dtype: Any) -> None:
    x, w, zero = draw(U8, 1, 9, 5, 5), draw(dtype, 6, 9, 3, 3), np.array(7, U8)
    words, sums = FilterWords().run(w), FilterSums().run(w)
    assert words.shape == (1, 6 * 3 * 9) and words.dtype == sums.dtype == np.int32
    signed = w.astype(np.int64) - (128 if dtype == U8 else 0)
    assert sums.tolist() == signed.sum((1, 2, 3)).tolist()
    y = ByteConvolution(ConvInteger()).run(x, zero, w, words, sums)
    assert y[0, 0, 0, 0] == ((x[0, :, :3, :3].astype(np.int64) - 7) * signed[0]).sum()
