"""ImageDecoder with Pillow and without it."""

import io
import sys

import numpy as np
import pytest
from evaluation import evaluate, shaped, types, unranked

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.image.decoding import ImageDecoder

PIXELS = np.random.default_rng(0).integers(0, 256, (3, 5, 3)).astype(np.uint8)


def encoded(pixels, kind="PNG"):
    """An image file as a tensor."""
    image = pytest.importorskip("PIL.Image")
    buffer = io.BytesIO()
    image.fromarray(pixels).save(buffer, kind)
    return np.frombuffer(buffer.getvalue(), np.uint8)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM"])
def test_lossless_files_give_their_pixels(kind):
    stream = encoded(PIXELS, kind)
    np.testing.assert_array_equal(evaluate(ImageDecoder(), stream), PIXELS)
    np.testing.assert_array_equal(evaluate(ImageDecoder("BGR"), stream), PIXELS[:, :, ::-1])
    assert evaluate(ImageDecoder("Grayscale"), stream).shape == (3, 5, 1)


def test_gray_file_is_passed_in_the_channels_requested_for():
    stream = encoded(PIXELS[:, :, 0])
    np.testing.assert_array_equal(evaluate(ImageDecoder(), stream), np.repeat(PIXELS[:, :, :1], 3, axis=2))


def test_what_cannot_be_decoded_gives_no_pixels():
    pytest.importorskip("PIL.Image")
    for stream in (np.zeros(0, np.uint8), np.arange(50, dtype=np.uint8), encoded(PIXELS)[:40]):
        assert evaluate(ImageDecoder(), stream).shape == (0, 0, 3)


def test_without_pillow_the_error_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(RunError) as raised:
        evaluate(ImageDecoder(), np.zeros(3, np.uint8))
    assert str(raised.value) == "decoding images needs Pillow\n  fix: pip install pillow"


def test_types():
    assert types(ImageDecoder(), shaped(dims.name("N"), dtype=np.uint8)) == "uint8[?, ?, 3]"
    assert types(ImageDecoder("Grayscale"), unranked(np.uint8)) == "uint8[?, ?, 1]"
    with pytest.raises(TypeRuleError) as raised:
        ImageDecoder("CMYK").infer(unranked(np.uint8))
    assert str(raised.value) == "pixel_format is 'CMYK'\n  fix: one of RGB, BGR, Grayscale"
