"""Ops that only onnx-mlir has: what they compute, and what of them is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whorl
from whorl.formats.mlir.optimizing import TextOptions, optimize_text
from whorl.formats.options import LoadOptions

PRELUDE = """
#split = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
#turn = affine_map<(d0, d1) -> (d1, d0)>
#mixed = affine_map<(d0, d1) -> ((d0 + d1) mod 2, d1)>
#one_place = affine_map<(d0, d1) -> (d0, d0)>
"""
FUSED = "affine_map<(i, j) -> (i * 128 + j)>"


def source(operation: str, arguments: str, results: str) -> str:
    """A function with one operation, whose results it returns."""
    names = ", ".join(f"%r#{k}" for k in range(results.count("tensor")))
    count = results.count("tensor")
    return (
        f"{PRELUDE}func.func @main_graph({arguments}) -> ({results}) {{\n"
        '  %none = "onnx.NoValue"() {value} : () -> none\n'
        f"  %r:{count} = {operation}\n  onnx.Return {names} : {results}\n}}\n"
    )


def run(tmp_path: Path, text: str, *arrays: Any) -> list[np.ndarray]:
    path = tmp_path / "m.mlir"
    path.write_text(text)
    session = whorl.InferenceSession(str(path))
    return session.run(None, dict(zip((value.name for value in session.get_inputs()), arrays, strict=True)))


def spread(x: np.ndarray, strides: tuple[int, ...], pads: tuple[int, ...]) -> np.ndarray:
    """What UpsampleAndPad is, element by element."""
    count = len(strides)
    retained = x.shape[: x.ndim - count]
    lengths = [(n - 1) * s + 1 for n, s in zip(x.shape[x.ndim - count :], strides, strict=True)]
    wide = np.zeros((*retained, *lengths), x.dtype)
    wide[(..., *(slice(None, None, s) for s in strides))] = x
    return np.pad(wide, [(0, 0)] * len(retained) + list(zip(pads[:count], pads[count:], strict=True)))


@pytest.mark.parametrize("type", ["1x2x3x4xf32", "?x?x?x?xf32", "*xf32", "1x2x3x4xi32"])
@pytest.mark.parametrize(("strides", "pads"), [((2, 2), (1, 1, 1, 1)), ((3,), (0, 2)), ((1, 2, 1), (1, 0, 0, 0, 0, 4))])
def test_upsample_and_pad(tmp_path: Path, type: str, strides: tuple[int, ...], pads: tuple[int, ...]) -> None:
    element = type.rpartition("x")[2]
    x = np.arange(1, 25).reshape(1, 2, 3, 4).astype(np.float32 if element == "f32" else np.int32)
    supplied = f"{{strides = {list(strides)}, pads = {list(pads)}}}"
    operation = f'"onnx.UpsampleAndPad"(%x) {supplied} : (tensor<{type}>) -> tensor<*x{element}>'
    (y,) = run(tmp_path, source(operation, f"%x: tensor<{type}>", f"tensor<*x{element}>"), x)
    np.testing.assert_array_equal(y, spread(x, strides, pads))
    assert y.dtype == x.dtype


def test_upsample_and_pad_without_attributes_changes_nothing(tmp_path: Path) -> None:
    operation = '"onnx.UpsampleAndPad"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>'
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(run(tmp_path, source(operation, "%x: tensor<2x3xf32>", "tensor<2x3xf32>"), x)[0], x)


@pytest.mark.parametrize(("axis", "length"), [(0, 2), (1, 3), (-1, 3), (-2, 2)])
@pytest.mark.parametrize("type", ["?x?xf32", "*xf32"])
def test_dim(tmp_path: Path, axis: int, length: int, type: str) -> None:
    operation = f'"onnx.Dim"(%x) {{axis = {axis} : si64}} : (tensor<{type}>) -> tensor<1xi64>'
    (y,) = run(tmp_path, source(operation, f"%x: tensor<{type}>", "tensor<1xi64>"), np.ones((2, 3), np.float32))
    assert y.tolist() == [length]


def test_concat_shape_transpose(tmp_path: Path) -> None:
    types = "(tensor<2x3xf32>, tensor<2x1xf32>) -> (tensor<1xi64>, tensor<4x2xf32>)"
    operation = f'"onnx.ConcatShapeTranspose"(%a, %b) {{axis = -1 : si64, start = 1 : si64}} : {types}'
    text = source(operation, "%a: tensor<2x3xf32>, %b: tensor<2x1xf32>", "tensor<1xi64>, tensor<4x2xf32>")
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([[7], [8]])
    shape, transposed = run(tmp_path, text, a, b)
    assert shape.tolist() == [4]
    np.testing.assert_array_equal(transposed, np.concatenate([a, b], 1).T)


@pytest.mark.parametrize(("axis", "type"), [(-1, "2x3x4xf32"), (1, "2x3x4xf32"), (-2, "*xf32"), (0, "2x3x4xf32")])
def test_rms_layer_normalization(tmp_path: Path, axis: int, type: str) -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    scale, shift = np.float32([1, 2, 3, 4]), np.float32([0, 1, 0, 1])
    attributes = f"{{axis = {axis} : si64, epsilon = 1.0e-3 : f32, stash_type = 1 : si64}}"
    types = f"(tensor<{type}>, tensor<4xf32>, tensor<4xf32>) -> (tensor<{type}>, tensor<*xf32>)"
    operation = f'"onnx.RMSLayerNormalization"(%x, %s, %b) {attributes} : {types}'
    arguments = f"%x: tensor<{type}>, %s: tensor<4xf32>, %b: tensor<4xf32>"
    y, inverse = run(tmp_path, source(operation, arguments, f"tensor<{type}>, tensor<*xf32>"), x, scale, shift)
    axes = tuple(range(axis % 3, 3))
    expected = 1 / np.sqrt(np.mean(x.astype(float) ** 2, axes, keepdims=True) + 1e-3)
    np.testing.assert_allclose(inverse, expected, rtol=1e-6)
    np.testing.assert_allclose(y, x * expected * scale + shift, rtol=1e-5, atol=1e-6)


def test_rms_layer_normalization_of_halves_is_computed_in_floats(tmp_path: Path) -> None:
    x, scale = np.float16([[300, 400]]), np.float16([1, 1])
    types = "(tensor<1x2xf16>, tensor<2xf16>, none) -> (tensor<1x2xf16>, none)"
    operation = f'"onnx.RMSLayerNormalization"(%x, %s, %none) : {types}'
    text = source(operation, "%x: tensor<1x2xf16>, %s: tensor<2xf16>", "tensor<1x2xf16>").replace("%r:1", "%r:2")
    (y,) = run(tmp_path, text, x, scale)
    np.testing.assert_array_equal(y, (np.float32([[300, 400]]) / np.sqrt(np.float32(125000))).astype(np.float16))


def test_group_normalization_18_scales_whole_groups(tmp_path: Path) -> None:
    types = "(tensor<1x4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x4x2xf32>"
    operation = f'"onnx.GroupNormalizationV18"(%x, %s, %b) {{num_groups = 2 : si64}} : {types}'
    text = source(operation, "%x: tensor<1x4x2xf32>, %s: tensor<2xf32>, %b: tensor<2xf32>", "tensor<1x4x2xf32>")
    x = np.arange(8, dtype=np.float32).reshape(1, 4, 2) ** 2
    (y,) = run(tmp_path, text, x, np.float32([1, 2]), np.float32([3, 4]))
    groups = x.reshape(2, 4)
    normal = (groups - groups.mean(1, keepdims=True)) / np.sqrt(groups.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y.reshape(2, 4), normal * [[1], [2]] + [[3], [4]], rtol=1e-5)


def test_layout_transform_keeps_the_elements(tmp_path: Path) -> None:
    layout = '#onnx.layout<{dataLayout = "NCHW4C"}>'
    types = f"(tensor<2xf32>) -> tensor<2xf32, {layout}>"
    operation = f'"onnx.LayoutTransform"(%x) {{target_layout = {layout}}} : {types}'
    x = np.float32([1, 2])
    np.testing.assert_array_equal(run(tmp_path, source(operation, "%x: tensor<2xf32>", "tensor<2xf32>"), x)[0], x)


def shape_transform(map: str, type: str = "3x128xf32") -> str:
    operation = f'"onnx.ShapeTransform"(%x) {{index_map = {map}}} : (tensor<{type}>) -> tensor<*xf32>'
    return source(operation, f"%x: tensor<{type}>", "tensor<*xf32>")


@pytest.mark.parametrize("map", ["#split", "#turn", FUSED, "affine_map<(a, b) -> (b, 2 - a)>"])
def test_shape_transform_takes_each_element_to_its_position(tmp_path: Path, map: str) -> None:
    x = np.arange(384, dtype=np.float32).reshape(3, 128)
    (y,) = run(tmp_path, shape_transform(map), x)
    positions = {
        "#split": lambda i, j: (j // 64, i, j % 64),
        "#turn": lambda i, j: (j, i),
        FUSED: lambda i, j: (i * 128 + j,),
    }.get(map, lambda i, j: (j, 2 - i))
    assert y.size == x.size and all(y[positions(i, j)] == x[i, j] for i in range(3) for j in range(128))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (shape_transform("#one_place"), "it does not give each of 384 elements a place of its own in [3, 3]"),
        (shape_transform("#mixed", "2x2xf32").replace("mod 2", "mod 1"), "a place of its own in [1, 2]"),
        (shape_transform("affine_map<(a, b) -> (a - 1, b)>"), "it does not give each of 384 elements"),
        (shape_transform("affine_map<(a) -> (a)>"), "index_map: it has the dims (a) for 2 axes"),
        (shape_transform("affine_map<(a, b)[s] -> (a, b)>"), "index_map: expected affine_map<(dims) -> (expressions)>"),
        (shape_transform("affine_map<(a, b) -> (a $ b)>"), "index_map: '$ b' is not understood"),
        (shape_transform("affine_map<(a, b) -> (a b)>"), "index_map: ',' is expected behind 'a'"),
        (shape_transform("affine_map<(a, b) -> (c)>"), "index_map: 'c' is no dim and no number"),
        (shape_transform("affine_map<(a, b) -> (a mod b)>"), "index_map: mod needs a positive divisor"),
        (shape_transform("affine_map<(a, b) -> (a * 999999999 * 999999999)>"), "index_map: an index is too large"),
        (shape_transform("#turn", "?x2xf32"), "ShapeTransform needs an operand of a static shape"),
        (shape_transform("#turn", "3000x3000xf32"), "ShapeTransform of 9000000 elements; up to 4194304 are read"),
        (shape_transform("3"), "ShapeTransform lacks the affine map 'index_map'"),
        (
            source('"onnx.Dim"(%x) {axis = 2} : (tensor<f32>) -> tensor<1xi64>', "%x: tensor<f32>", "tensor<1xi64>"),
            "axis 2 is outside [0, -1]",
        ),
        (
            source('"onnx.Dim"() : () -> tensor<1xi64>', "", "tensor<1xi64>"),
            "Dim has 0 operands, expected 1",
        ),
        (
            source(
                '"onnx.UpsampleAndPad"(%x) {strides = [0]} : (tensor<2xf32>) -> tensor<2xf32>',
                "%x: tensor<2xf32>",
                "tensor<2xf32>",
            ),
            "strides are [0], expected positive numbers",
        ),
        (
            source(
                '"onnx.UpsampleAndPad"(%x) {strides = [1], pads = [1]} : (tensor<2xf32>) -> tensor<2xf32>',
                "%x: tensor<2xf32>",
                "tensor<2xf32>",
            ),
            "there are 1 pads, expected two for each of 1 axes",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(text)
    with pytest.raises(whorl.LoadError) as refused:
        whorl.load(path)
    assert message in str(refused.value) and "m.mlir:" in str(refused.value)


def test_text_of_own_ops_is_a_fixed_point() -> None:
    text = shape_transform("#split")
    once = optimize_text(text, "m", TextOptions(), LoadOptions()).text
    assert optimize_text(once, "m", TextOptions(), LoadOptions()).text == once
