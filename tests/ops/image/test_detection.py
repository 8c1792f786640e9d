"""Boxes that overlap, against onnxruntime and beyond."""

import numpy as np
import pytest
from evaluation import evaluate, floats
from peer import assert_same

from whorl.errors import RunError
from whorl.ops.image.detection import NonMaxSuppression


@pytest.mark.parametrize("centred", [0, 1])
@pytest.mark.parametrize("seed", range(15))
def test_non_max_suppression_is_onnxruntimes(centred, seed):
    rng = np.random.default_rng(seed)
    boxes = rng.uniform(0, 4, (2, 12, 4)).astype(np.float32)
    scores = rng.random((2, 3, 12)).astype(np.float32).round(1)
    numbers = [np.array([rng.integers(0, 6)]), floats(rng.random()), floats(0.3) if seed % 2 else None]
    assert_same("NonMaxSuppression", [boxes, scores, *numbers], 11, [np.int64], center_point_box=centred)


def test_omitted_numbers_keep_nothing():
    boxes, scores = np.ones((1, 2, 4), np.float32), np.ones((1, 1, 2), np.float32)
    result = evaluate(NonMaxSuppression(), boxes, scores)
    assert result.dtype == np.int64 and result.shape == (0, 3)


def test_numbers_may_be_scalars_and_equal_scores_keep_their_order():
    boxes = floats([0, 0, 1, 1], [2, 2, 3, 3], [0, 0, 1, 1])[None]
    result = evaluate(NonMaxSuppression(), boxes, floats([[1, 1, 1]]), np.array(9), np.array(0.5, np.float32))
    assert result.tolist() == [[0, 0, 0], [0, 0, 1]]


def test_threshold_outside_its_range_is_a_run_error():
    boxes, scores = np.ones((1, 2, 4), np.float32), np.ones((1, 1, 2), np.float32)
    with pytest.raises(RunError) as raised:
        evaluate(NonMaxSuppression(), boxes, scores, np.array([1]), floats(1.5))
    assert str(raised.value) == "iou_threshold is 1.5, expected a number between 0 and 1"
