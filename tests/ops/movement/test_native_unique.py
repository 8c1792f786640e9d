"""Different elements and slices in kernel programs, interpreted, and in sessions, against Unique's own run."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from native_forms import run_form
from onnx_text import model
from runtime.native_sessions import both

from whorl.ir.native.view import View
from whorl.lowering.builder import KernelBuilder
from whorl.ops.movement.native_unique import find_unique
from whorl.ops.movement.selection import Unique

RNG = np.random.default_rng(0)
SHAPES = [((9,), 0), ((1,), 0), ((7, 2), 0), ((3, 6, 2), 1), ((2, 5), -1), ((4, 0), 0), ((0, 3), 0)]


def draw(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    x = RNG.integers(0, 3, shape).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[RNG.random(shape) < 0.2] = np.nan
        x[RNG.random(shape) < 0.2] *= -0.0
    return x


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.int8, np.uint64, np.bool_])
def test_slices_equal_run(shape: tuple[int, ...], axis: int, dtype: type, is_sorted: bool) -> None:
    x = draw(shape, dtype)
    for n, expected in enumerate(Unique(axis, int(is_sorted)).run(x)):

        def write(k: KernelBuilder, view: View, n: int = n) -> View:
            return find_unique(k, view, axis % len(shape), is_sorted)[n]

        made = run_form(write, x)
        assert made is not None
        np.testing.assert_array_equal(made, expected)
        if made.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(made), np.signbit(expected))


@pytest.mark.parametrize("attributes", ["sorted = 0", "sorted = 1", "axis = 0", "axis = 1, sorted = 0"])
def test_each_run_has_lengths_of_its_own(attributes: str) -> None:
    proto = model(f"""main (int64[n, m] x) => (y, float[c] first, int64[k] inverse, int64[d] counts) {{
        y, index, inverse, counts = Unique <{attributes}> (x)
        first = Cast <to = 1> (index)
    }}""")
    for shape in ((3, 2), (40, 2), (1, 9), (2, 1)):
        made = both(proto, {"x": RNG.integers(0, 2, shape)})
        assert {verdict.how for verdict in made.explain()} == {"native"}


def test_words_are_numbered_as_they_are_first_seen() -> None:
    proto = model("main (string[n] x) => (string[m] y, int64[n] at) { y, first, at = Unique <sorted = 0> (x) }")
    made = both(proto, {"x": np.array(["b", "a", "b", "", "a"], object)})
    assert {verdict.how for verdict in made.explain()} == {"native"}


def test_different_elements_are_collected_by_a_loop() -> None:
    proto = model("""main (int64 n, int64[k] x) => (int64[m] y) {
        y = Loop (n, "", x) <body = b (int64 i, bool go, int64[a] h) => (bool on, int64[d] next) {
            on = Identity(go)
            three = Constant <value = int64 {3}> ()
            more = Add(h, three)
            all = Concat <axis = 0> (h, more)
            next = Unique(all)
        }>
    }""")
    both(proto, {"n": np.array(5), "x": np.array([4, 1, 4])})
