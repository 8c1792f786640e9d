"""Compiled NonMaxSuppression against `run`: equal scores, numbers that are none, limits, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz.cell_runs import run, session
from onnx_text import model

TEXT = """main (float[n, b, 4] x, float[n, c, b] s, int64[k] most, float[j] over, float[l] least) => (y) {{
    y = NonMaxSuppression<center_point_box = {centred}>(x, s, most, over, least)
}}"""
SCORES = [0.1, 0.2, 0.3, -1, 0, -0.0, np.nan, np.inf, -np.inf, 0.7]
OVERLAPS = [0, 0.3, 0.5, 0.5, 1, 1, 1.5, -0.1, np.nan]


def feeds_of(rng: np.random.Generator) -> dict[str, np.ndarray]:
    images, classes, count = rng.integers(0, 4), rng.integers(0, 4), rng.choice([0, 1, 2, 3, 7, 16, 31, 64, 65, 200])
    boxes = rng.integers(0, 6, (images, count, 4)) + rng.choice([0, 0.5], (images, count, 4))
    boxes[rng.random(boxes.shape) < 0.02] = np.nan
    boxes[rng.random(boxes.shape) < 0.02] = np.inf
    scores = rng.choice(SCORES, (images, classes, count - (count > 0 and rng.random() < 0.1)))
    most = rng.choice([0, 1, 2, 5, -1, 1 << 62], rng.choice([1, 1, 1, 1, 0, 2]))
    least = np.array([rng.choice([0, 0.15, -2, np.nan, -np.inf])])
    over = np.array([rng.choice(OVERLAPS)])
    floats = {"x": boxes, "s": scores, "over": over, "least": least}
    return {"most": most, **{name: array.astype(np.float32) for name, array in floats.items()}}


@pytest.mark.parametrize("centred", [0, 1])
def test_rows_and_errors_equal_run(centred: int) -> None:
    proto = model(TEXT.format(centred=centred)).SerializeToString()
    native, oracle, rng = session(proto, "native"), session(proto, "interpreter"), np.random.default_rng(centred)
    chosen = 0
    for _ in range(150):
        feeds = feeds_of(rng)
        expected, actual = run(oracle, feeds), run(native, feeds)
        assert actual.error == expected.error, f"{actual.text or 'values'} instead of {expected.text or 'values'}"
        for e, a in zip(expected.outputs or (), actual.outputs or (), strict=True):
            np.testing.assert_array_equal(a, e)
            chosen += len(e)
    assert chosen > 50


def test_more_boxes_than_blocks_have_entries() -> None:
    rng = np.random.default_rng(3)
    corners = rng.uniform(0, 300, (1, 4200, 2))
    feeds = {
        "x": np.concatenate([corners, corners + rng.uniform(1, 40, corners.shape)], -1).astype(np.float32),
        "s": rng.choice(np.linspace(-1, 1, 900), (1, 2, 4200)).astype(np.float32),
        "most": np.array([60]),
        "over": np.array([0.1], np.float32),
        "least": np.array([0.0], np.float32),
    }
    proto = model(TEXT.format(centred=0)).SerializeToString()
    expected, actual = (run(session(proto, backend), feeds).outputs for backend in ("interpreter", "native"))
    assert expected is not None
    assert actual is not None
    assert len(expected[0]) == 120
    np.testing.assert_array_equal(actual[0], expected[0])
