"""Images sampled at points and in boxes: equal to onnxruntime."""

import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import chance, compare, configurations, floats, lengths, model_of

import whorl


def test_grid_sample_equals_onnxruntime():
    for rng in configurations():
        batch, channels, height, width = lengths(rng, 4)
        grid = rng.uniform(-1.2, 1.2, (batch, *lengths(rng, 2), 2)).astype(np.float32)
        attributes = {
            "mode": ["bilinear", "nearest", "bicubic"][rng.integers(3)],
            "padding_mode": ["zeros", "border", "reflection"][rng.integers(3)],
            "align_corners": int(chance(rng)),
        }
        compare("GridSample", [floats(rng, batch, channels, height, width), grid], tolerance=1e-4, **attributes)


def test_crop_and_resize_equals_onnxruntime():
    for rng in configurations():
        batch, channels, height, width, count = lengths(rng, 5)
        boxes = rng.uniform(-0.2, 1.2, (count, 4)).astype(np.float32)
        images = rng.integers(0, batch, count).astype(np.int32)
        size = np.array(lengths(rng, 2), np.int32)
        attributes = {"mode": ["bilinear", "nearest"][rng.integers(2)], "extrapolation_value": 0.5}
        x = floats(rng, batch, channels, height, width)
        compare("CropAndResize", [x, boxes, images, size], tolerance=1e-4, **attributes)


def test_crop_and_resize_of_another_mode_is_refused():
    inputs = [np.ones((1, 1, 2, 2), np.float32), np.ones((1, 4), np.float32), np.zeros(1, np.int32)]
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(model_of("CropAndResize", [*inputs, np.ones(2, np.int32)], mode="cubic"))
    assert str(caught.value) == "CropAndResize 'node': mode 'cubic' is not known\n  fix: bilinear or nearest"
