"""DFT and STFT against onnxruntime and the sums that define them."""

import ml_dtypes
import numpy as np
import pytest
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.signal.fourier import DFT, STFT

REAL_AGAIN = DFT(onesided=1, inverse=1)
FLOAT32, INT64 = np.dtype(np.float32), np.dtype(np.int64)


def scalar(value, dtype=np.int64):
    return np.array(value, dtype)


def normal(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("seed", range(40))
def test_dft_equals_onnxruntime(seed):
    rng = np.random.default_rng(seed)
    shape, parts, inverse = rng.integers(1, 7, 3).tolist(), int(rng.integers(1, 3)), int(rng.integers(2))
    onesided = int(rng.integers(2)) if parts == 1 and not inverse else 0
    length = scalar(rng.integers(1, 9)) if rng.integers(2) else None
    inputs = [normal(rng, *shape, parts), length, scalar(rng.choice([0, 1, 2, -2, -3, -4]))]
    model = single_node("DFT", inputs, 20, inverse=inverse, onesided=onesided)
    (expected,) = onnxruntime_run(model, feeds(inputs))
    y = DFT(inverse=inverse, onesided=onesided).run(*inputs)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [5, 6])
def test_onesided_inverse_undoes_the_onesided_transform(length):
    x = normal(np.random.default_rng(0), 2, length, 1)
    spectrum = DFT(onesided=1).run(x)
    assert spectrum.shape == (2, length // 2 + 1, 2)
    back = DFT(onesided=1, inverse=1).run(spectrum, scalar(length))
    np.testing.assert_allclose(back, x, atol=1e-6)
    assert DFT(onesided=1, inverse=1).run(spectrum).shape == (2, 2 * (length // 2), 1)


@pytest.mark.parametrize("inverse", [0, 1])
def test_dft_is_its_sum(inverse):
    x = np.random.default_rng(1).normal(size=(3, 5, 2))
    y = DFT(inverse=inverse).run(x)
    n = np.arange(5)
    turns = np.exp((2j if inverse else -2j) * np.pi * np.outer(n, n) / 5) / (5 if inverse else 1)
    np.testing.assert_allclose(y[..., 0] + 1j * y[..., 1], (x[..., 0] + 1j * x[..., 1]) @ turns, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_dft_keeps_the_element_type(dtype):
    x = np.random.default_rng(2).normal(size=(8, 1)).astype(dtype)
    y = DFT().run(x)
    assert y.dtype == dtype
    wide = np.fft.fft(x.astype(np.float64)[:, 0])
    np.testing.assert_allclose(y.astype(float), np.stack([wide.real, wide.imag], -1), rtol=0.02, atol=0.01)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize(("windowed", "sized"), [(False, True), (True, False), (True, True)])
def test_stft_equals_onnxruntime(parts, onesided, windowed, sized):
    rng = np.random.default_rng(3)
    window = rng.uniform(0.5, 1, 4).astype(np.float32) if windowed else None
    inputs = [normal(rng, 2, 11, parts), scalar(3), window, scalar(4) if sized else None]
    (expected,) = onnxruntime_run(single_node("STFT", inputs, 17, onesided=onesided), feeds(inputs))
    y = STFT(onesided=onesided).run(*inputs)
    assert y.shape == (2, 3, 3 if onesided else 4, 2)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_stft_without_lengths_is_one_frame():
    x = normal(np.random.default_rng(4), 2, 6, 1)
    np.testing.assert_allclose(STFT().run(x, scalar(2))[:, 0], DFT(onesided=1).run(x), atol=1e-6)


def test_stft_of_a_signal_shorter_than_a_frame_has_no_frames():
    assert STFT().run(np.ones((2, 3, 1), np.float32), scalar(1), None, scalar(4)).shape == (2, 0, 3, 2)


# ---- types ---------------------------------------------------------------------------------------------------------


def fact(*shape, dtype=FLOAT32):
    return Known(TensorType(dtype, shape))


def known(*elements):
    return Known(TensorType(INT64, ()), np.array(elements, dtype=object).reshape(()))


def test_dft_infer_follows_named_dims():
    n = dims.name("N")
    assert str(DFT(onesided=1).infer(fact(3, n, 1))) == "float32[3, floor(N, 2)+1, 2]"
    assert str(DFT(onesided=1, inverse=1).infer(fact(3, n, 2))) == "float32[3, 2*N-2, 1]"
    assert str(DFT().infer(fact(n, 4, 1), known(8), known(0))) == "float32[8, 4, 2]"
    assert str(DFT().infer(fact(n, 4, 1), None, fact(dtype=INT64))) == "float32[?, ?, 2]"


def test_dft_infer_of_an_unranked_input_is_unranked():
    unranked = Known(TensorType(FLOAT32, UNRANKED))
    assert DFT().infer(unranked) == unranked.type


def test_stft_infer_follows_named_dims():
    b = dims.name("B")
    assert str(STFT().infer(fact(b, 11, 1), known(3), fact(4))) == "float32[B, 3, 3, 2]"
    assert str(STFT(onesided=0).infer(fact(b, 11, 1), known(3), None, known(5))) == "float32[B, 3, 5, 2]"
    assert str(STFT(onesided=0).infer(fact(b, b, 1), known(3))) == "float32[B, 1, B, 2]"


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        (DFT(), (fact(4, 3),), "x has shape [4, 3], expected [..., signal, 1 or 2]"),
        (DFT(onesided=1), (fact(4, 2),), "the onesided transform takes real input, the last axis has length 2"),
        (REAL_AGAIN, (fact(4, 1),), "the onesided inverse takes complex input, the last axis has length 1"),
        (DFT(), (fact(4, 1), None, known(-1)), "axis -1 holds the real and imaginary parts"),
        (DFT(), (fact(4, 1), None, known(2)), "axis 2 is outside [-2, 2) of a tensor of rank 2"),
        (STFT(), (fact(1, 8, 3), known(1)), "the last axis of signal has length 3, expected 1 or 2"),
        (STFT(), (fact(1, 8, 1), known(1), fact(4), known(5)), "frame length is both 4 and 5"),
        (STFT(), (fact(1, 8, 1), known(0), fact(4)), "frame_step is 0, expected 1 or more"),
    ],
)
def test_infer_refuses(op, inputs, message):
    with pytest.raises(TypeRuleError) as caught:
        op.infer(*inputs)
    assert caught.value.message == message


def test_transform_of_nothing_is_refused():
    with pytest.raises(RunError) as caught:
        DFT().run(np.ones((0, 1), np.float32))
    assert str(caught.value) == "the transform has length 0, expected 1 or more"
    with pytest.raises(RunError) as caught:
        STFT().run(np.ones((1, 0, 1), np.float32), scalar(1))
    assert str(caught.value) == "frame_step is 1 and frame_length 0, expected 1 or more"
