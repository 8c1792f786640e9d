"""Window functions and mel weights against onnxruntime and scipy."""

import ml_dtypes
import numpy as np
import pytest
import scipy.signal
from native_forms import run_form
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.native.view import Operands
from whorl.ir.types import Known, TensorType
from whorl.ops.signal.spectral import BlackmanWindow, HammingWindow, HannWindow, MelWeightMatrix

INT64 = np.dtype(np.int64)
WINDOWS = {HannWindow: "hann", HammingWindow: ("general_hamming", 25 / 46), BlackmanWindow: "blackman"}


def scalar(value, dtype=np.int64):
    return np.array(value, dtype)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("size", [2, 5, 8])
def test_window_equals_scipy_and_onnxruntime(window, periodic, size):
    y = window(periodic=periodic).run(scalar(size))
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, scipy.signal.get_window(WINDOWS[window], size, fftbins=bool(periodic)), atol=1e-7)
    model = single_node(window.__name__, [scalar(size)], 17, periodic=periodic)
    np.testing.assert_allclose(y, onnxruntime_run(model, feeds([scalar(size)]))[0], atol=1e-6)


@pytest.mark.parametrize("window", WINDOWS)
def test_short_windows(window):
    assert window().run(scalar(0)).shape == (0,)
    assert window(periodic=0).run(scalar(1)).tolist() == [1]
    np.testing.assert_allclose(window().run(scalar(1)), window().run(scalar(7))[:1], atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64, np.int32, np.uint8])
def test_window_has_the_output_type(dtype):
    y = HannWindow(output_datatype=np.dtype(dtype), periodic=0).run(scalar(5, np.int32))
    exact = [0, 0.5, 1, 0.5, 0]
    assert y.dtype == dtype
    np.testing.assert_allclose(y.astype(float), np.array(exact).astype(dtype).astype(float), atol=1e-15)


def test_window_infer():
    n = dims.name("N")
    fact = Known(TensorType(INT64, ()), np.array(n, dtype=object))
    assert str(HannWindow(output_datatype=np.dtype(np.float64)).infer(fact)) == "float64[N]"
    assert str(HannWindow().infer(Known(TensorType(INT64)))) == "float32[?]"


def test_negative_size_is_refused():
    with pytest.raises(RunError) as caught:
        HannWindow().run(scalar(-1))
    assert str(caught.value) == "size is -1, expected 0 or more"
    with pytest.raises(TypeRuleError):
        HannWindow().infer(Known(TensorType(INT64, ()), np.array(-1, dtype=object)))


@pytest.mark.parametrize("seed", range(20))
def test_mel_weights_equal_onnxruntime(seed):
    rng = np.random.default_rng(seed)
    rate = int(rng.integers(4000, 50000))
    inputs = [scalar(rng.integers(1, 20)), scalar(rng.integers(8, 600)), scalar(rate)]
    inputs += [scalar(rng.uniform(0, 500), np.float32), scalar(rng.uniform(600, rate / 2), np.float32)]
    (expected,) = onnxruntime_run(single_node("MelWeightMatrix", inputs, 17), feeds(inputs))
    y = MelWeightMatrix().run(*inputs)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, expected, atol=1e-5)


def test_mel_bands_beyond_the_spectrum_are_refused():
    inputs = [scalar(4), scalar(16), scalar(8000), scalar(0, np.float32), scalar(16000, np.float32)]
    with pytest.raises(RunError) as caught:
        MelWeightMatrix().run(*inputs)
    assert str(caught.value) == "the bands reach from bin 0 to 19 of 9 bins"


def test_mel_weights_without_bands():
    inputs = [scalar(0), scalar(16), scalar(8000), scalar(0, np.float32), scalar(4000, np.float32)]
    assert MelWeightMatrix().run(*inputs).shape == (9, 0)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_native_window_has_any_size(window, periodic, dtype):
    op = window(periodic=periodic, output_datatype=np.dtype(dtype))
    for size in (0, 1, 2, 7, 60):
        actual = run_form(lambda k, n: op.lower(k, Operands([n]), ())[0], scalar(size))
        np.testing.assert_allclose(actual, op.run(scalar(size)), rtol=0, atol=1e-15 if dtype == np.float64 else 1e-7)
    assert run_form(lambda k, n: op.lower(k, Operands([n]), ())[0], scalar(-1)) is None
