"""Kernels of windows over images, compiled for vectors of every width, against their meaning."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence

import numpy as np
import pytest

from whorl.codegen import convolutions, elements
from whorl.codegen.emit import emit
from whorl.codegen.target import MachineCode
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT32
from whorl.ir.native.expressions import Buffer, Expr, index_const
from whorl.kernel.program import Call, Program, Statement
from whorl.kernel.verify import verify_program
from whorl.kernels.plane.layout import PhaseSplit, split_phases
from whorl.kernels.table import KERNELS
from whorl.kernels.windows import WindowAxis

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
CHANNELS = 3
LAYOUTS = {
    "padded": [WindowAxis(9, 3, 1, 1, 1, 9), WindowAxis(21, 3, 1, 1, 1, 21)],
    "strided": [WindowAxis(9, 3, 2, 1, 1, 5), WindowAxis(40, 2, 2, 1, 0, 20)],
    "far": [WindowAxis(9, 2, 3, 2, 2, 4), WindowAxis(11, 3, 3, 3, 1, 2)],
    "deep": [WindowAxis(4, 2, 1, 1, 1, 5), WindowAxis(5, 3, 1, 1, 1, 5), WindowAxis(6, 2, 2, 1, 0, 3)],
    "one row": [WindowAxis(300, 1, 1, 1, 0, 300)],
}


@pytest.fixture(params=[16, 32, 64])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    for module in (elements, convolutions):
        monkeypatch.setattr(module, "vector_bytes", lambda: request.param)
    return request.param


def check(kernel: str, arrays: Sequence[np.ndarray], numbers: Sequence[int], tolerance: float = 0) -> None:
    """Run a kernel, whose first place is written, both ways."""
    dtype = arrays[0].dtype
    extents = KERNELS[kernel].meaning.extents(numbers, dtype)
    assert [x.size for x in arrays] == list(extents)
    buffers = [Buffer(f"b{n}", x.dtype, (x.size,)) for n, x in enumerate(arrays)]
    places: list[tuple[Buffer, tuple[Expr, ...]]] = [(buffer, (index_const(0),)) for buffer in buffers]
    body: list[Statement] = [Call(kernel, places, tuple(numbers))]
    program = Program([], buffers, [], body)
    verify_program(program)
    expected = [x.copy() for x in arrays]
    KERNELS[kernel].meaning.run(expected, numbers)
    code = MachineCode(emit(program), "whorl_run")
    cells = np.array([*(x.ctypes.data for x in arrays), 0, 0], np.int64)
    assert ENTRY(code.address)(cells.ctypes.data) == 0
    np.testing.assert_allclose(arrays[0], expected[0], rtol=tolerance, atol=tolerance)


def drawn(dtype: np.dtype, size: int) -> np.ndarray:
    return np.random.default_rng(size).standard_normal(size).astype(dtype)


def image_for(layout: PhaseSplit, dtype: np.dtype, channels: int, kernel: str, numbers: Sequence[int]) -> np.ndarray:
    return drawn(dtype, KERNELS[kernel].meaning.extents(numbers, dtype)[1])


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("fill", [0, 1])
def test_images_are_spread(width: int, name: str, fill: int) -> None:
    layout = split_phases(LAYOUTS[name], 4, may_be_direct=False)
    numbers = (fill, CHANNELS, *layout.split_numbers)
    size, given = KERNELS["split_phases"].meaning.extents(numbers, FLOAT32)
    spread = np.full(size, 7, np.float32)
    check("split_phases", [spread, drawn(FLOAT32, given)], numbers)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("features", [1, 2, 3, 5, 8, 25])
def test_convolutions_equal_their_meaning(width: int, name: str, features: int) -> None:
    dtype = FLOAT64 if features == 5 else FLOAT32
    layout = split_phases(LAYOUTS[name], dtype.itemsize)
    inner, added = CHANNELS * layout.taps, features % 2
    kernel = "convolution_sum" if added else "convolution"
    together = (1, 64, 10**6)[features % 3]
    numbers = (features, inner, 1, together, layout.reach(CHANNELS), *layout.grid)
    made = features * math.prod(layout.counts)
    arrays = [np.full(made, np.nan, dtype), image_for(layout, dtype, CHANNELS, kernel, numbers)]
    arrays += [layout.offsets(CHANNELS).astype(INT32), drawn(dtype, features * inner), drawn(dtype, features)]
    arrays += [np.array([-1, 2], dtype), *[drawn(dtype, made)] * added]
    check(kernel, arrays, numbers, 1e-5)


@pytest.mark.parametrize("name", LAYOUTS)
def test_sums_and_maxima_of_planes_equal_their_meaning(width: int, name: str) -> None:
    layout = split_phases(LAYOUTS[name], 4, may_be_direct=False)
    size, offsets = math.prod(layout.counts), layout.offsets(1).astype(INT32)
    numbers = (layout.taps, 1, layout.reach(1), *layout.grid)
    image = image_for(layout, FLOAT32, 1, "plane_sums", numbers)
    more = [drawn(FLOAT32, layout.taps), drawn(FLOAT32, 1), np.array([-1, 2], np.float32)]
    check("plane_sums", [np.zeros(size, np.float32), image, offsets, *more], numbers, 1e-5)
    image[:: max(2, image.size // 5)] = np.nan
    check("plane_maxima", [np.zeros(size, np.float32), image, offsets], (layout.taps, *numbers[2:]))
