"""Phase-split inputs over dims say what `PhaseSplit` says of numbers, and convolutions take lengths as they come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from native_forms import run_form
from one_program import LENGTHS, check_one_program
from onnx import numpy_helper
from onnx_text import model

import whorl
from whorl.ir import dims
from whorl.ir.native.view import View
from whorl.kernels.plane.layout import PhaseSplit
from whorl.ops.windows.convolution import Conv, ConvInteger, QLinearConv
from whorl.ops.windows.geometry import windows_of
from whorl.ops.windows.run_time_layout import AnySplit, is_split, layout_of, span_of
from whorl.runtime.compiled.partition import CompiledSubgraph

N = dims.name("n")
OPS = (
    Conv(pads=(1, 2, 0, 1), strides=(2, 3), dilations=(1, 2)),
    Conv(auto_pad="SAME_UPPER", strides=(2, 1)),
    Conv(auto_pad="SAME_LOWER", strides=(3, 2)),
)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.auto_pad)
@pytest.mark.parametrize("length", [5, 6, 7, 40])
def test_layout_over_dims_is_that_over_numbers(op: Conv, length: int) -> None:
    windows = windows_of(op, (3, 2), op.auto_pad)
    own, fixed = (layout_of(windows.axes((n, n + 1)), 4, False) for n in (N, length))
    assert isinstance(own, AnySplit) and isinstance(fixed, PhaseSplit)
    for mine, other in ((own.grid, fixed.grid), (own.split_numbers, fixed.split_numbers), ((own.reach(3),), ())):
        numbers = [dims.evaluate(n, {"n": length}) for n in mine]
        assert numbers == list(other) if other else numbers[0] >= fixed.reach(3)
    assert dims.evaluate(span_of(own), {"n": length}) == span_of(fixed)


def test_table_that_a_program_writes_is_that_of_the_layout() -> None:
    windows = windows_of(Conv(strides=(2, 3), dilations=(3, 2)), (3, 4))
    fixed = layout_of(windows.axes((20, 30)), 4, False)
    assert isinstance(fixed, PhaseSplit)

    def write(k: Any, x: View) -> View:
        buffer, _ = AnySplit(fixed.axes).table(k, 3)
        return k.view_of(buffer)

    table = run_form(write, np.zeros(1, np.float32))
    assert table is not None and table.reshape(-1).tolist() == fixed.offsets(3).tolist()


def test_windows_over_four_axes_have_no_layout() -> None:
    assert is_split(windows_of(Conv(), (1, 1, 1)).axes((N, N, N)))
    assert not is_split(windows_of(Conv(), (1, 1, 1, 1)).axes((N, N, N, N)))


@pytest.mark.parametrize(
    ("op", "x", "w"),
    [
        (Conv(group=6, pads=(3, 0)), (1, 6, None), (6, 1, 4)),
        (Conv(pads=(1, 1)), (None, 6, None), (8, 6, 3)),
        (Conv(pads=(1, 1, 1, 1)), (None, 6, 9, 11), (8, 6, 3, 3)),
        (Conv(), (None, 6, None, None), (8, 6, 1, 1)),
        (Conv(strides=(2, 2), auto_pad="SAME_UPPER"), (1, 6, None, None), (8, 6, 3, 2)),
        (Conv(strides=(2, 2), auto_pad="SAME_LOWER", group=2), (None, 6, None, 5), (8, 3, 3, 2)),
    ],
    ids=lambda part: part.auto_pad if isinstance(part, Conv) else str(part),
)
def test_one_program_convolves_images_of_every_length(op: Conv, x: tuple[Any, ...], w: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal(shape).astype(np.float32) for shape in (w, w[:1])]
    shapes = [[n + axis if length is None else length for axis, length in enumerate(x)] for n in LENGTHS[:3]]
    cases = [[rng.standard_normal(shape).astype(np.float32), *weights] for shape in shapes]
    check_one_program(op, cases, tolerance=1e-5, constants=(1, 2))


def test_steps_after_a_convolution_are_fused_at_every_length() -> None:
    proto = model("""main (float[b, 6, h, w] x) => (float[b, 8, p, q] y) {
        c = Conv <pads = [1, 1, 1, 1]> (x, f, t)
        n = BatchNormalization (c, t, t, t, v)
        r = Relu (n)
        d = Conv <pads = [1, 1, 1, 1]> (r, g)
        s = Add (d, r)
        y = Relu (s)
    }""")
    rng = np.random.default_rng(1)
    shapes = {"f": (8, 6, 3, 3), "g": (8, 8, 3, 3), "t": (8,), "v": (8,)}
    for name, shape in shapes.items():
        array = np.abs(rng.standard_normal(shape)).astype(np.float32) * 0.3
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    options = whorl.SessionOptions()
    options.backend = "native"
    session = whorl.InferenceSession(proto.SerializeToString(), options)
    options.backend = "interpreter"
    oracle = whorl.InferenceSession(proto.SerializeToString(), options)
    for shape in ((2, 6, 5, 7), (3, 6, 9, 4), (2, 6, 30, 31)):
        x = rng.standard_normal(shape).astype(np.float32)
        np.testing.assert_allclose(session.run(None, {"x": x})[0], oracle.run(None, {"x": x})[0], 1e-4, 1e-5)
    (part,) = session.plan.parts
    assert isinstance(part, CompiledSubgraph)
    (launch,) = part.cache.programs.values()
    kernels = str(launch.graph.program)  # type: ignore[union-attr]
    assert not launch.graph.program.calls  # type: ignore[union-attr]
    assert "convolution_sum" in kernels


BYTES = np.random.default_rng(2)


def draw_bytes(dtype: str, *shape: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.asarray(BYTES.integers(limits.min, limits.max, shape, dtype, endpoint=True))


@pytest.mark.parametrize("kinds", [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")], ids=" ".join)
@pytest.mark.parametrize("channels", [3, 70])
def test_one_program_convolves_bytes_of_every_length(kinds: tuple[str, str], channels: int) -> None:
    w, zeros = draw_bytes(kinds[1], 4, channels, 3, 2), [draw_bytes(kind) for kind in kinds]
    scales = [np.array(x, np.float32) for x in (0.02, 0.03, 9.0)]
    cases = [[draw_bytes(kinds[0], n, channels, n + 2, n + 3), w, *zeros] for n in LENGTHS[:3]]
    check_one_program(ConvInteger(pads=(1, 0, 1, 2)), cases, constants=(1, 2, 3))
    parts = [[x, scales[0], zeros[0], w, scales[1], zeros[1], scales[2], zeros[0]] for x, *_ in cases]
    check_one_program(QLinearConv(strides=(2, 1)), parts, constants=range(1, 8))
