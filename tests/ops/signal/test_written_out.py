"""Transforms as products and convolutions: what becomes native, at which lengths, and how close it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import session

import whorl
from whorl.ir import dims
from whorl.ops.signal.written_out import MOST, is_short

N = dims.name("n")
KINDS = {"float": np.float32, "double": np.float64, "float16": np.float16}


def check(text: str, feeds: Any, how: str = "native") -> None:
    """Native sessions give what the interpreter gives, for several feeds."""
    proto = model(text, opset=20)
    made, oracle = session(proto), session(proto, "interpreter")
    for each in feeds:
        expected, ours = (one.run(None, each)[0] for one in (oracle, made))
        assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
        most = float(np.abs(expected.astype(float)).max(initial=1))
        slack = 64 * float(np.finfo(expected.dtype).eps) * most
        np.testing.assert_allclose(ours.astype(float), expected.astype(float), rtol=0, atol=slack)
    assert {verdict.how for verdict in made.explain()} == {how}


def signals(*shapes: tuple[int, ...], dtype: Any = np.float32) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [{"x": rng.normal(size=shape).astype(dtype)} for shape in shapes]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("attributes", "parts", "results", "bins"),
    [("", 1, 2, 12), ("", 2, 2, 12), ("onesided=1", 1, 2, 7)],
)
def test_transform_of_any_number_of_signals(kind: str, attributes: str, parts: int, results: int, bins: int) -> None:
    text = f"main ({kind}[n, 12, {parts}] x) => ({kind}[n, {bins}, {results}] y) {{ y = DFT<{attributes}>(x) }}"
    check(text.replace("<>", ""), signals((3, 12, parts), (1, 12, parts), (8, 12, parts), dtype=KINDS[kind]))


@pytest.mark.parametrize("length", [5, 12, 20])
@pytest.mark.parametrize("axis", [0, 1, -2, -3])
def test_transform_of_another_length_along_any_axis(length: int, axis: int) -> None:
    text = f"""main (float[12, 12, 2] x) => (float[p, q, 2] y) {{
        l = Constant<value_int = {length}> () a = Constant<value_int = {axis}> ()
        y = DFT(x, l, a)
    }}"""
    check(text, signals((12, 12, 2)))


@pytest.mark.parametrize("onesided", [0, 1])
def test_inverse_is_left_to_numpy(onesided: int) -> None:
    """Zeros of a signal are roundings then, which ONNX's own tests expect."""
    text = f"main (float[n, 7, 2] x) => (float[n, m, k] y) {{ y = DFT<inverse = 1, onesided = {onesided}>(x) }}"
    check(text, signals((2, 7, 2), (5, 7, 2)), "interpreted")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("parts", [1, 2])
def test_frames_of_signals_of_any_length(kind: str, onesided: int, parts: int) -> None:
    text = f"""main ({kind}[b, n, {parts}] x, {kind}[16] w) => ({kind}[b, m, k, 2] y) {{
        s = Constant<value_int = 5> ()
        y = STFT<onesided = {onesided}>(x, s, w)
    }}"""
    window = np.hanning(16).astype(KINDS[kind])
    shapes = [(2, length, parts) for length in (40, 16, 20, 21, 300)]
    check(text, [each | {"w": window} for each in signals(*shapes, dtype=KINDS[kind])])


def test_frames_without_a_window_and_of_the_whole_signal() -> None:
    length = "l = Constant<value_int = 8> () s = Constant<value_int = 4> ()"
    check(f"main (float[1, n, 1] x) => (float[1, m, 5, 2] y) {{ {length} y = STFT(x, s, , l) }}", signals((1, 30, 1)))
    check(f"main (float[2, 8, 1] x) => (float[2, 1, 5, 2] y) {{ {length} y = STFT(x, s) }}", signals((2, 8, 1)))


def test_signal_shorter_than_a_frame_has_no_frames() -> None:
    text = """main (float[1, n, 1] x, float[16] w) => (float[1, m, 9, 2] y) {
        s = Constant<value_int = 5> () y = STFT(x, s, w)
    }"""
    made, window = session(model(text)), np.ones(16, np.float32)
    for length, frames in ((40, 5), (15, 0), (16, 1), (0, 0)):
        (y,) = made.run(None, {"x": np.ones((1, length, 1), np.float32), "w": window})
        assert y.shape == (1, frames, 9, 2)


def test_wrong_lengths_are_the_interpreters_errors() -> None:
    text = "main (float[1, 8, 1] x) => (float[1, m, 2] y) { l = Constant<value_int = 0> () y = DFT(x, l) }"
    with pytest.raises(whorl.RunError, match="the transform has length 0"):
        session(model(text, opset=20)).run(None, signals((1, 8, 1))[0])


def test_long_signals_are_left_to_fast_transforms() -> None:
    check("main (float[2, 2000, 1] x) => (float[2, 2000, 2] y) { y = DFT(x) }", signals((2, 2000, 1)), "interpreted")
    assert is_short(512, 1, 257) and is_short(1, 1, MOST // 2)
    assert not is_short(513, 1, 513) and not is_short(4, 1, N) and not is_short(0, 1, 1)
