"""Fourier transforms."""

import numpy as np
import pytest
from formats.openvino.one_layer import Fixed, check_layer, check_node, fixed, scalar

from whorl.ops.signal.fourier import DFT, STFT

NUMBERS = np.random.default_rng(23)
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("axes", [(1,), (-1,), (1, 2), (-2, 0)], ids=str)
def test_transforms(axes: tuple[int, ...]) -> None:
    for type, version, shape in (
        ("DFT", 7, (2, 3, 6, 2)),
        ("IDFT", 7, (2, 3, 6, 2)),
        ("RDFT", 9, (2, 3, 6)),
        ("IRDFT", 9, (2, 3, 6, 2)),
    ):
        check_layer(type, version, [normal(*shape), fixed(*axes)], dynamic=[False], **CLOSE)


def test_transforms_of_other_lengths() -> None:
    check_layer("DFT", 7, [normal(2, 5, 6, 2), fixed(1, 2), fixed(4, -1)], **CLOSE)
    check_layer("RDFT", 9, [normal(2, 5), fixed(1), fixed(4)], **CLOSE)
    check_layer("IRDFT", 9, [normal(2, 5, 2), fixed(1), fixed(9)], **CLOSE)


@pytest.mark.parametrize("length", [8, 5])
@pytest.mark.parametrize("turned", [True, False])
def test_transforms_of_frames(turned: bool, length: int) -> None:
    inputs = [normal(2, 20), Fixed(normal(length)), scalar(8), scalar(4)]
    check_layer("STFT", 15, inputs, {"transpose_frames": turned}, dynamic=[False], **CLOSE)


@pytest.mark.parametrize(
    ("op", "parts", "axis"),
    [(DFT(), 1, 1), (DFT(inverse=1), 2, -2), (DFT(onesided=1), 1, 1), (DFT(onesided=1, inverse=1), 2, 1)],
    ids=["forward", "inverse", "half", "inverse of half"],
)
def test_transforms_written(op: DFT, parts: int, axis: int) -> None:
    inputs = [normal(2, 6, 5, parts), None, np.array(axis)]
    check_node(op, inputs, (2,), dynamic=[False], **CLOSE)
    if not op.inverse:
        check_node(op, inputs, dynamic=[False], **CLOSE)


def test_transforms_of_frames_written() -> None:
    inputs = [normal(2, 20, 1), np.array(4), normal(8), np.array(8)]
    check_node(STFT(), inputs, (1, 2, 3), dynamic=[False], **CLOSE)
    check_node(STFT(), [*inputs[:2], None, inputs[3]], (1, 3), dynamic=[False], **CLOSE)
